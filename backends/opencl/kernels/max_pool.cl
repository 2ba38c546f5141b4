/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max pooling on CPU devices where windows of K1 x K2 lie side by side inside the input. A
 * work-item does some rows of windows, in loops that compilers turn into vectors.
 *
 * Numbers: planes, rows and columns of windows, rows and columns of the input, strides from row to
 * row of y, index and x, rows of an item, map of the planes (y, index, x).
 */
#define PLANES (P + 9)
#define ROWS_OF_ITEM                                                                               \
    const int each = (int)P[8], items = (height + each - 1) / each;                                \
    const long id = get_global_id(0), p = id / items;                                              \
    if (p >= P[0])                                                                                 \
        return;                                                                                    \
    const int from = (int)(id - p * items) * each, to = min(from + each, height)

/* Windows are written out, since not every compiler unrolls loops. */
#define TAP(a, b)                                                                                  \
    {                                                                                              \
        const real v = LOAD(TX, in, (a)*line + i * K2 + (b));                                      \
        const int better = (v > best) | ((v != v) & (best == best));                               \
        best = better ? v : best;                                                                  \
        tap = better ? R(1.0) * ((a)*K2 + (b)) : tap;                                              \
    }
#define TAPS_1(a) TAP(a, 0)
#define TAPS_2(a) TAPS_1(a) TAP(a, 1)
#define TAPS_3(a) TAPS_2(a) TAP(a, 2)
#define LINE(a) TAPS_OF(K2)(a)
#define TAPS_OF(n) TAPS_OF_(n)
#define TAPS_OF_(n) TAPS_##n
#define LINES_1 LINE(0)
#define LINES_2 LINES_1 LINE(1)
#define LINES_3 LINES_2 LINE(2)
#define LINES SELECT(LINES_, K1)
#define PARTS_1 STORE(TX, dx, i * K2, tap == 0 ? g : 0)
#define PARTS_2 PARTS_1, STORE(TX, dx, i * K2 + 1, tap == 1 ? g : 0)
#define PARTS_3 PARTS_2, STORE(TX, dx, i * K2 + 2, tap == 2 ? g : 0)
#define PARTS SELECT(PARTS_, K2)

/* Windows of 2 x 2 of f32 in vectors; the last one of a row begins early enough to fit. What comes
 * back is the number of windows done: all, or none of fewer than 4. */
#ifdef BLOCKS
#define TRY(LANES, value, k)                                                                       \
    {                                                                                              \
        const float##LANES v = value;                                                              \
        const int##LANES better = (v > best) | ((v != v) & (best == best));                        \
        best = select(best, v, better);                                                            \
        tap = select(tap, (int##LANES)(k), better);                                                \
    }
#define BLOCK_LOOP(LANES, DOUBLE, NUMBERS)                                                         \
    for (int i = 0; i < n; i += LANES) {                                                           \
        const int at = min(i, n - LANES);                                                          \
        const float##DOUBLE a = vload##DOUBLE(0, in + 2 * at);                                     \
        const float##DOUBLE b = vload##DOUBLE(0, in + line + 2 * at);                              \
        float##LANES best = a.even;                                                                \
        int##LANES tap = 0;                                                                        \
        TRY(LANES, a.odd, 1)                                                                       \
        TRY(LANES, b.even, 2)                                                                      \
        TRY(LANES, b.odd, 3)                                                                       \
        vstore##LANES(best, 0, y + at);                                                            \
        PLACES(LANES, NUMBERS)                                                                     \
    }
#ifdef INDEX
#define PLACES(LANES, NUMBERS)                                                                     \
    tap = (tap >> 1) * width + (tap & 1) + 2 * (int##LANES)NUMBERS;                                \
    vstore##LANES(tap + 2 * (o * width + at), 0, index + at);
#else
#define PLACES(LANES, NUMBERS)
#endif
static int pool_row(__global const float *in, int line, int n, int width, int o,
                    __global float *y, __global int *index)
{
    if (n < 4)
        return 0;
    if (n < 8) {
        BLOCK_LOOP(4, 8, (0, 1, 2, 3))
    } else {
        BLOCK_LOOP(8, 16, (0, 1, 2, 3, 4, 5, 6, 7))
    }
    return n;
}
#endif

__kernel void max_pool(TABLE, IN(TX, x), OUT(TX, y), OUT(i32, index))
{
    ENTER;
    OPERAND(x);
    OPERAND(y);
    OPERAND(index);
    const int height = (int)P[1], n = (int)P[2], width = (int)P[4], line = (int)P[7];
    ROWS_OF_ITEM;
    y += map_place(PLANES, 0, p);
    x += map_place(PLANES, 2, p);
    index += map_place(PLANES, 1, p);
    for (int o = from; o < to; o++) {
        __global const STORED(TX) *in = x + o * K1 * line;
        int i = 0;
#ifdef BLOCKS
        i = pool_row(in, line, n, width, o, y + o * (int)P[5], index + o * (int)P[6]);
#endif
        for (; i < n; i++) {
            real best = LOAD(TX, in, i * K2), tap = 0;
            LINES;
            STORE(TX, y, o * (int)P[5] + i, best);
#ifdef INDEX
            const int a = (int)tap / K2, b = (int)tap % K2;
            index[o * (int)P[6] + i] = (o * K1 + a) * width + i * K2 + b;
#endif
        }
    }
}

/* y and x are gradients. */
__kernel void max_pool_backward(TABLE, IN(TX, y), IN(i32, index), OUT(TX, x), FAULT)
{
    ENTER;
    OPERAND(y);
    OPERAND(index);
    OPERAND(x);
    const int height = (int)P[1], n = (int)P[2], lines = (int)P[3], width = (int)P[4];
    const int line = (int)P[7], plane = lines * width;
    ROWS_OF_ITEM;
    y += map_place(PLANES, 0, p);
    index += map_place(PLANES, 1, p);
    x += map_place(PLANES, 2, p);
    uint most = 0;
    for (int o = from; o < to; o++) {
        __global const STORED(TX) *dy = y + o * (int)P[5];
        __global const int *places = index + o * (int)P[6];
        for (int a = 0; a < K1; a++) {
            __global STORED(TX) *dx = x + (o * K1 + a) * line;
            const int first = (o * K1 + a) * width;
            for (int i = 0; i < n; i++) {
                const real g = LOAD(TX, dy, i);
                const int tap = places[i] - (first + i * K2);
                PARTS;
            }
            for (int k = n * K2; k < width; k++)
                STORE(TX, dx, k, 0);
        }
        /* -1 is allowed, so that numbers from 0 to the plane's size are. */
        for (int i = 0; i < n; i++)
            most = max(most, (uint)places[i] + 1);
    }
    for (int q = to * K1; to == height && q < lines; q++)
        for (int k = 0; k < width; k++)
            STORE(TX, x, q * line + k, 0);
    if (most > (uint)plane)
        raise(faults, OP, (long)(int)(most - 1), plane);
}
