/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pooling over three spatial dims (leading ones of size 1 are added). KIND is MAX, AVG or
 * AVG_NO_PAD as 1, 2, 3. A work-item does
 * a row of the result. The gradient is gathered: each input looks for the windows it was in.
 *
 * Numbers: planes, out and in sizes (3 each), kernel, stride, pad, dilation (3 each; kernel 0 is
 * adaptive); maps of the planes, of the windows of y and index, of the places of x, each of three
 * operands.
 */
#define OUT_DIM(d) ((int)P[1 + (d)])
#define IN_DIM(d) ((int)P[4 + (d)])
#define KERNEL(d) ((int)P[7 + (d)])
#define STRIDE(d) ((int)P[10 + (d)])
#define PAD(d) ((int)P[13 + (d)])
#define DILATION(d) ((int)P[16 + (d)])
#define PLANES (P + 19)
#define SPACE_Y (PLANES + MAP_SIZE(3))
#define SPACE_X (SPACE_Y + MAP_SIZE(3))

/* The taps first, first + step, ... below limit lie inside the input; `padded` counts those that
 * lie in the padded input. */
typedef struct range {
    int first, limit, step, padded;
} range;

static range range_of(__constant const long *P, int d, int i)
{
    range r;
#if SPATIAL < 3
    if (d < 3 - SPATIAL) {
        r.first = 0;
        r.limit = r.step = r.padded = 1;
        return r;
    }
#endif
    if (KERNEL(d) == 0) {
        r.first = (int)((long)i * IN_DIM(d) / OUT_DIM(d));
        r.limit = (int)((((long)i + 1) * IN_DIM(d) + OUT_DIM(d) - 1) / OUT_DIM(d));
        r.step = 1;
        r.padded = r.limit - r.first;
        return r;
    }
    const int start = i * STRIDE(d) - PAD(d), step = DILATION(d);
    const int end = min(start + (KERNEL(d) - 1) * step + 1, IN_DIM(d) + PAD(d));
    r.step = step;
    r.padded = end > start ? (end - start + step - 1) / step : 0;
    r.first = start < 0 ? start + (-start + step - 1) / step * step : start;
    r.limit = min(end, IN_DIM(d));
    return r;
}

static int taps_of(range r)
{
    return r.limit > r.first ? (r.limit - r.first + r.step - 1) / r.step : 0;
}

/* Planes' map: y, index, x. Spaces' maps: of y's dims y and index; of x's dims x. */
__kernel void pool(TABLE, IN(TX, x), OUT(TX, y), OUT(i32, index))
{
    ENTER;
    OPERAND(x);
    OPERAND(y);
    OPERAND(index);
    const int rows = OUT_DIM(0) * OUT_DIM(1);
    const long id = get_global_id(0), p = id / rows;
    if (p >= P[0])
        return;
    const int o0 = (int)(id - p * rows) / OUT_DIM(1), o1 = (int)(id - p * rows) % OUT_DIM(1);
    const range a = range_of(P, 0, o0), b = range_of(P, 1, o1);
    __constant const long *out = SPACE_Y + 1 + MAP_DIMS;
    y += map_place(PLANES, 0, p) + o0 * out[0] + o1 * out[1];
#if KIND == 1 && defined(INDEX)
    index += map_place(PLANES, 1, p) + o0 * out[MAP_DIMS] + o1 * out[MAP_DIMS + 1];
#endif
    const long from = map_place(PLANES, 2, p);
    __constant const long *step = SPACE_X + 1 + MAP_DIMS;
    for (int o2 = 0; o2 < OUT_DIM(2); o2++) {
        const range c = range_of(P, 2, o2);
#if KIND == 1
        real best = -INFINITY;
        int where = -1;
#else
        wide sum = 0;
#endif
        for (int i = a.first; i < a.limit; i += a.step)
            for (int j = b.first; j < b.limit; j += b.step)
                for (int k = c.first; k < c.limit; k += c.step) {
                    const real v = LOAD(TX, x, from + i * step[0] + j * step[1] + k * step[2]);
#if KIND == 1
                    if (where < 0 || v > best || (v != v && best == best)) {
                        best = v;
                        where = (i * IN_DIM(1) + j) * IN_DIM(2) + k;
                    }
#else
                    sum += v;
#endif
                }
#if KIND == 1
        STORE(TX, y, o2 * out[2], best);
#ifdef INDEX
        index[o2 * out[MAP_DIMS + 2]] = where;
#endif
#elif KIND == 2
        const int divisor = a.padded * b.padded * c.padded;
        STORE(TX, y, o2 * out[2], (real)(divisor ? sum / (wide)divisor : 0));
#else
        const int divisor = taps_of(a) * taps_of(b) * taps_of(c);
        STORE(TX, y, o2 * out[2], (real)(divisor ? sum / (wide)divisor : 0));
#endif
    }
}

/* The windows of a dim that may hold input q are [low, high]. */
static void windows(__constant const long *P, int d, int q, int *low, int *high)
{
#if SPATIAL < 3
    if (d < 3 - SPATIAL) {
        *low = *high = 0;
        return;
    }
#endif
    const int n = IN_DIM(d), out = OUT_DIM(d);
    if (KERNEL(d) == 0) {
        *low = max((int)((long)q * out / n) - 1, 0);
        *high = min((int)((((long)q + 1) * out + n - 1) / n), out - 1);
        return;
    }
    const int reach = (KERNEL(d) - 1) * DILATION(d), end = q + PAD(d);
    *low = end > reach ? (end - reach + STRIDE(d) - 1) / STRIDE(d) : 0;
    *high = min(end / STRIDE(d), out - 1);
}

static int holds(range r, int q)
{
    return q >= r.first && q < r.limit && (q - r.first) % r.step == 0;
}

/* x and y are gradients: the planes' map is of dy, index, dx. */
__kernel void pool_backward(TABLE, IN(TX, y), IN(i32, index), OUT(TX, x), FAULT)
{
    ENTER;
    OPERAND(y);
    OPERAND(index);
    OPERAND(x);
    const int rows = IN_DIM(0) * IN_DIM(1), plane = rows * IN_DIM(2);
    const long id = get_global_id(0), p = id / rows;
    if (p >= P[0])
        return;
    const int q0 = (int)(id - p * rows) / IN_DIM(1), q1 = (int)(id - p * rows) % IN_DIM(1);
    const long from = map_place(PLANES, 0, p);
    int low0, high0, low1, high1, low2, high2;
    windows(P, 0, q0, &low0, &high0);
    windows(P, 1, q1, &low1, &high1);
    __constant const long *step = SPACE_Y + 1 + MAP_DIMS;
#if KIND == 1
    __constant const long *other = step + MAP_DIMS;
    index += map_place(PLANES, 1, p);
#endif
    __constant const long *to = SPACE_X + 1 + MAP_DIMS;
    x += map_place(PLANES, 2, p) + q0 * to[0] + q1 * to[1];
    for (int q2 = 0; q2 < IN_DIM(2); q2++) {
        wide sum = 0;
        windows(P, 2, q2, &low2, &high2);
        for (int i = low0; i <= high0; i++)
            for (int j = low1; j <= high1; j++)
                for (int k = low2; k <= high2; k++) {
                    const wide g = LOAD(TX, y, from + i * step[0] + j * step[1] + k * step[2]);
#if KIND == 1
                    const int where = index[i * other[0] + j * other[1] + k * other[2]];
                    if (where < -1 || where >= plane)
                        raise(faults, OP, where, plane);
                    if (where == (q0 * IN_DIM(1) + q1) * IN_DIM(2) + q2)
                        sum += g;
#else
                    const range a = range_of(P, 0, i), b = range_of(P, 1, j);
                    const range c = range_of(P, 2, k);
                    if (!holds(a, q0) || !holds(b, q1) || !holds(c, q2))
                        continue;
#if KIND == 2
                    sum += g / (wide)(a.padded * b.padded * c.padded);
#else
                    sum += g / (wide)(taps_of(a) * taps_of(b) * taps_of(c));
#endif
#endif
                }
        STORE(TX, x, q2 * to[2], (real)sum);
    }
}
