/* SPDX-License-Identifier: Apache-2.0 */
/* RANDOM and DROPOUT. Philox words are numbered by element. */

/* Numbers: count, map of y. */
__kernel void random(TABLE, OUT(TY, y), real low, real width, ulong seed, ulong first)
{
    ENTER;
    OPERAND(y);
    FOR_EACH(i, P[0])
    {
#ifdef DENSE
        const long iy = i;
#else
        const long iy = map_place(P + 1, 0, i);
#endif
        const real u = (real)random_bits(seed, first + (ulong)i) * R(0x1p-24);
        const real scaled = width * u;
        STORE(TY, y, iy, low + scaled);
    }
}

/* Numbers: count, the least u that keeps an element, map of x and y. */
__kernel void dropout(TABLE, IN(TY, x), OUT(TY, y), wide kept, ulong seed, ulong first)
{
    ENTER;
    OPERAND(x);
    OPERAND(y);
    FOR_EACH(i, P[0])
    {
#ifdef DENSE
        const long ix = i, iy = i;
#else
        const long ix = map_place(P + 2, 0, i), iy = map_place(P + 2, 1, i);
#endif
        const int keep = random_bits(seed, first + (ulong)i) >= P[1];
        const wide v = LOAD(TY, x, ix);
        STORE(TY, y, iy, keep ? (NUMBER(TY))(v / kept) : 0);
    }
}
