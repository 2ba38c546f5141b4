/* SPDX-License-Identifier: Apache-2.0 */
/* BINARY: KIND names the function of x and y, CLASS its family. */
#define FLOAT_ADD (x + alpha * y)
#define FLOAT_SUB (x - y)
#define FLOAT_MUL (x * y)
#define FLOAT_DIV (x / y)
#define FLOAT_MAXIMUM (x > y || x != x ? x : y)
#define FLOAT_MINIMUM (x < y || x != x ? x : y)
#define FLOAT_POW pow(x, y)
#define FLOAT_ATAN2 atan2(x, y)
#define FLOAT_REMAINDER python_remainder(x, y)
#define FLOAT_FMOD fmod(x, y)
#define FLOAT_BCE_WITH_LOGITS ((x > 0 ? x : 0) - x * y + log1p(exp(-fabs(x))))

#define TRUTH_EQ (x == y)
#define TRUTH_NE (x != y)
#define TRUTH_LT (x < y)
#define TRUTH_LE (x <= y)
#define TRUTH_GT (x > y)
#define TRUTH_GE (x >= y)
#define TRUTH_LOGICAL_AND ((x != 0) & (y != 0))
#define TRUTH_LOGICAL_OR ((x != 0) | (y != 0))
#define TRUTH_LOGICAL_XOR ((x != 0) ^ (y != 0))

#define INTEGER_ADD ((long)((ulong)x + (ulong)ialpha * (ulong)y))
#define INTEGER_SUB ((long)((ulong)x - (ulong)y))
#define INTEGER_MUL ((long)((ulong)x * (ulong)y))
#define INTEGER_DIV floor_divide(x, y)
#define INTEGER_POW integer_power(x, y)
#define INTEGER_MAXIMUM max(x, y)
#define INTEGER_MINIMUM min(x, y)
#define INTEGER_REMAINDER integer_remainder(x, y)
#define INTEGER_FMOD (y == 0 || y == -1 ? 0 : x % y)

static real python_remainder(real x, real y)
{
    const real r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static long floor_divide(long x, long y)
{
    if (y == 0)
        return 0;
    if (y == -1)
        return (long)(0 - (ulong)x);
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}
static long integer_remainder(long x, long y)
{
    return y == 0 ? 0 : (long)((ulong)x - (ulong)floor_divide(x, y) * (ulong)y);
}
static long integer_power(long x, long y)
{
    ulong power = y >= 0, base = (ulong)x;
    for (; y > 0; y /= 2) {
        if (y % 2)
            power *= base;
        base *= base;
    }
    return (long)power;
}

/* Numbers: count, alpha as an integer, map of a, b and y. */
__kernel void binary(TABLE, IN(TX, pa), IN(TX, pb), OUT(TY, py), real alpha)
{
    ENTER;
    OPERAND(pa);
    OPERAND(pb);
    OPERAND(py);
    const long ialpha = P[1];
    FOR_EACH(i, P[0])
    {
#ifdef DENSE
        const long i0 = i, i1 = i, i2 = i;
#else
        const long i0 = map_place(P + 2, 0, i), i1 = map_place(P + 2, 1, i);
        const long i2 = map_place(P + 2, 2, i);
#endif
        const NUMBER(TX) x = LOAD(TX, pa, i0), y = LOAD(TX, pb, i1);
        STORE(TY, py, i2, SELECT(CLASS, KIND));
    }
}
