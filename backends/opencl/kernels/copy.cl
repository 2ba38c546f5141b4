/* SPDX-License-Identifier: Apache-2.0 */
/* COPY, WHERE, FILL and ARANGE. */

/* Toward zero; values out of range go to the nearest end, NaN to 0. */
static long to_integer(real x)
{
    if (x >= R(0x1p63))
        return LONG_MAX;
    if (x >= R(-0x1p63))
        return (long)x;
    return x != x ? 0 : LONG_MIN;
}

/* An integer as a float whose rounding to a shorter type is the only one: what the float cannot
 * hold is left as a sticky bit. */
static float sticky_float(long x)
{
    ulong magnitude = x < 0 ? 0 - (ulong)x : (ulong)x;
    int shift = 0;
    for (; magnitude >> 24; shift++)
        magnitude = magnitude >> 1 | (magnitude & 1);
    const float value = ldexp((float)magnitude, shift);
    return x < 0 ? -value : value;
}

/* Rounded to odd, so that a later rounding to fewer bits is the only one that counts. */
static float narrow_to_odd(real value)
{
#if defined(HAVE_F64)
    const float near = (float)value;
    uint bits = as_uint(near);
    if ((real)near == value || value != value)
        return near;
    if (fabs((real)near) > fabs(value))
        bits--;
    return as_float(bits | 1u);
#else
    return value;
#endif
}

/* From a float or an integer type (CAST_FROM) to the named type. */
#define float_to_f32(x) ((float)(x))
#define float_to_f64(x) ((real)(x))
#define float_to_f16(x) narrow_to_odd(x)
#define float_to_bf16(x) narrow_to_odd(x)
#define float_to_u8(x) to_integer(x)
#define float_to_i32(x) to_integer(x)
#define float_to_i64(x) to_integer(x)
#define float_to_bool(x) ((long)((x) != 0))
#define integer_to_f32(x) ((float)(x))
#define integer_to_f64(x) ((real)(x))
#define integer_to_f16(x) sticky_float(x)
#define integer_to_bf16(x) sticky_float(x)
#define integer_to_u8(x) (x)
#define integer_to_i32(x) (x)
#define integer_to_i64(x) (x)
#define integer_to_bool(x) (x)
#define bits_to_b1(x) (x)
#define bits_to_b2(x) (x)
#define bits_to_b4(x) (x)
#define bits_to_b8(x) (x)

#ifdef CAST_FROM
/* Numbers: count, map of x and y. */
__kernel void copy(TABLE, IN(TX, x), OUT(TY, y))
{
    ENTER;
    OPERAND(x);
    OPERAND(y);
    FOR_EACH(i, P[0])
    {
#ifdef DENSE
        const long ix = i, iy = i;
#else
        const long ix = map_place(P + 1, 0, i), iy = map_place(P + 1, 1, i);
#endif
        const NUMBER(TX) v = LOAD(TX, x, ix);
        STORE(TY, y, iy, JOIN(CAST_FROM, TY)(v));
    }
}
#endif

/* Numbers: count, map of condition, a, b and y. */
__kernel void where(TABLE, IN(bool, c), IN(TY, a), IN(TY, b), OUT(TY, y))
{
    ENTER;
    OPERAND(c);
    OPERAND(a);
    OPERAND(b);
    OPERAND(y);
    FOR_EACH(i, P[0])
    {
#ifdef DENSE
        const long i0 = i, i1 = i, i2 = i, i3 = i;
#else
        const long i0 = map_place(P + 1, 0, i), i1 = map_place(P + 1, 1, i);
        const long i2 = map_place(P + 1, 2, i), i3 = map_place(P + 1, 3, i);
#endif
        const NUMBER(TY) va = LOAD(TY, a, i1), vb = LOAD(TY, b, i2);
        STORE(TY, y, i3, LOAD(bool, c, i0) ? va : vb);
    }
}

/* Numbers: count, the element's bits, map of y. */
__kernel void fill(TABLE, OUT(TY, y))
{
    ENTER;
    OPERAND(y);
    FOR_EACH(i, P[0])
    {
#ifdef DENSE
        const long iy = i;
#else
        const long iy = map_place(P + 2, 0, i);
#endif
        STORE(TY, y, iy, (NUMBER(TY))P[1]);
    }
}

/* Numbers: count, start and step as integers, stride of y. */
__kernel void arange(TABLE, OUT(TY, y), wide start, wide by)
{
    ENTER;
    OPERAND(y);
    const long i = get_global_id(0);
    if (i >= P[0])
        return;
#ifdef INTEGER
    STORE(TY, y, i * P[3], (NUMBER(TY))((ulong)P[1] + (ulong)i * (ulong)P[2]));
#else
    STORE(TY, y, i * P[3], (NUMBER(TY))(start + (wide)i * by));
#endif
}
