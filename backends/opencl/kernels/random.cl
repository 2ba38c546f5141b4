/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RANDOM and DROPOUT. A work-item treats RUN elements, from the beginning of a block on: the first
 * may begin before the draw.
 */
#define BEGIN ((long)get_global_id(0) * RUN - (long)(first & 3))
#define FOR_DRAWN(i)                                                                               \
    _Pragma("clang loop vectorize(assume_safety)")                                                 \
    for (long i = max(at, 0L); i < min(at + DRAWN, end); i++)

/* Numbers: count, map of y. */
__kernel void random(TABLE, OUT(TY, y), real low, real width, ulong seed, ulong first)
{
    ENTER;
    OPERAND(y);
    uint bits[DRAWN];
    const long end = min(BEGIN + RUN, P[0]);
    for (long at = BEGIN; at < end; at += DRAWN) {
        draw(seed, first + (ulong)at, bits);
        FOR_DRAWN(i)
        {
#ifdef DENSE
            const long iy = i;
#else
            const long iy = map_place(P + 1, 0, i);
#endif
            const real scaled = width * ((real)bits[i - at] * R(0x1p-24));
            STORE(TY, y, iy, low + scaled);
        }
    }
}

/* Numbers: count, the least u that keeps an element, map of x and y. */
__kernel void dropout(TABLE, IN(TY, x), OUT(TY, y), wide kept, ulong seed, ulong first)
{
    ENTER;
    OPERAND(x);
    OPERAND(y);
    uint bits[DRAWN];
    const uint least = (uint)P[1];
    const long end = min(BEGIN + RUN, P[0]);
    for (long at = BEGIN; at < end; at += DRAWN) {
        draw(seed, first + (ulong)at, bits);
        FOR_DRAWN(i)
        {
#ifdef DENSE
            const long ix = i, iy = i;
#else
            const long ix = map_place(P + 2, 0, i), iy = map_place(P + 2, 1, i);
#endif
            const wide v = (wide)LOAD(TY, x, ix) / kept;
            STORE(TY, y, iy, bits[i - at] >= least ? (NUMBER(TY))v : 0);
        }
    }
}
