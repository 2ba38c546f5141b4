/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ATTENTION and its gradient for CPU devices: ROWS rows of a head a work-item, in vectors. Numbers
 * and rules are those of attention.cl; keys, values, queries and dy lie packed in panels, which
 * product.cl makes (heads, panels, length, WIDTH).
 *
 * p and g are (heads, row blocks, ROWS, PITCH). `keep` (heads, row blocks, PITCH) has a bit a row of
 * the block: whether it keeps that column. Tiles of ROWS by ROWS that are kept or removed as a
 * whole need not look at single bits.
 */
#pragma OPENCL FP_CONTRACT ON
#define ROWS 8
#define ROW_TIMES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define ALL 255u
#define PITCH ((S + WIDTH - 1) / WIDTH * WIDTH)
#define ROW_BLOCKS ((L + ROWS - 1) / ROWS)
#define KEY_BLOCKS ((S + ROWS - 1) / ROWS)

/* Whether a mask removes anything, and adds anything. */
#define REMOVES_NONE 0
#define REMOVES_BOOL 1
#define REMOVES_FLOAT 1
#define ADDS_NONE 0
#define ADDS_BOOL 0
#define ADDS_FLOAT 1

#define BLOCK_HEAD                                                                                 \
    const long id = get_global_id(0), h = id / ROW_BLOCKS, i = id % ROW_BLOCKS * ROWS;             \
    if (h >= P[0])                                                                                 \
        return;                                                                                    \
    const long pitch = PITCH;                                                                      \
    keep += id * pitch;                                                                            \
    p += id * ROWS * pitch

/* The eight columns from j on, and whether all rows keep them, or none does. */
#define GROUP(keep, j) as_ulong(vload8(0, (keep) + (j)))
#define WHOLE (~0ul)

static void find_kept(__constant const long *P, __global const STORED(TM) *mask, long h, long i,
                      __global uchar *keep)
{
    const uint all = ALL >> (ROWS - min((long)ROWS, L - i));
    const long pitch = PITCH;
    for (long j = 0; j < pitch; j++) {
        const long before = j - i;
        const uint late = !CAUSAL || before <= 0 ? ALL : before < ROWS ? ALL << before : 0;
        keep[j] = (uchar)(j < S ? all & late : 0);
    }
#define KEEPS_ROW(r) ((uint)(JOIN(KEEPS_, MASK)(h, i + (r), j) != 0) << (r))
    for (long j = 0; j < S && JOIN(REMOVES_, MASK); j++) {
        if (keep[j] == 0)
            continue;
        uint bits = 0;
        if (ROW(3) == 0)
            bits = KEEPS_ROW(0) ? ALL : 0;
        else
            for (long r = 0; r < ROWS && i + r < L; r++)
                bits |= KEEPS_ROW(r);
        keep[j] &= (uchar)bits;
    }
}

/* out (ROWS, pitch) = factor * rows of x . panels (panels, depth, WIDTH). What no row keeps is 0. */
static void products(__global const STORED(TX) *x, long row, long rows, long step, long depth,
                     __global const STORED(PANEL) *panels, __global const uchar *keep, long pitch,
                     real factor, __global STORED(REAL) *out)
{
#define ROW_FROM(r) __global const STORED(TX) *x##r = x + min((long)r, rows - 1) * row;
    ROW_TIMES(ROW_FROM)
    for (long j = 0; j < pitch; j += WIDTH, panels += depth * WIDTH) {
        ulong kept = 0;
        for (int c = 0; c < WIDTH; c += ROWS)
            kept |= GROUP(keep, j + c);
#define SUMS(r) VECTOR s##r##0 = 0, s##r##1 = 0;
        ROW_TIMES(SUMS)
        for (long d = 0; d < depth && kept; d++) {
            const VECTOR b0 = PANEL_LOAD(0, panels + d * WIDTH);
            const VECTOR b1 = PANEL_LOAD(1, panels + d * WIDTH);
#define ROW_ADD(r)                                                                                 \
    {                                                                                              \
        const VECTOR v = (VECTOR)(LOAD(TX, x##r, d * step));                                       \
        s##r##0 += v * b0;                                                                         \
        s##r##1 += v * b1;                                                                         \
    }
            ROW_TIMES(ROW_ADD)
        }
#define ROW_KEEP(r)                                                                                \
    VSTORE(s##r##0 * factor, 0, out + r * pitch + j);                                              \
    VSTORE(s##r##1 * factor, 1, out + r * pitch + j);
        ROW_TIMES(ROW_KEEP)
    }
}

/* Which of the columns from j on row r keeps. */
#define convert_f32 convert_int16
#define convert_f64 convert_long8
#define KEPT(r, j) ((JOIN(convert_, REAL)(VLOAD(0, keep + (j))) & (MASKS)(1 << (r))) != (MASKS)(0))

static real sum_of(VECTOR v)
{
    real lanes[LANES], sum = 0;
    VSTORE(v, 0, lanes);
    for (int k = 0; k < LANES; k++)
        sum += lanes[k];
    return sum;
}

/* Row r of scores becomes probabilities; its logarithm of the sum of exponentials. */
static real probabilities(__global const uchar *keep, int r, long pitch, __global STORED(REAL) *p)
{
    VECTOR most = -INFINITY, sums = 0;
    for (long j = 0; j < pitch; j += LANES) {
        const VECTOR v = VLOAD(0, p + j);
        most = select(most, v, KEPT(r, j) & ((v > most) | (v != v)));
    }
    real lanes[LANES], largest = -INFINITY;
    VSTORE(most, 0, lanes);
    for (int k = 0; k < LANES; k++)
        largest = lanes[k] > largest || lanes[k] != lanes[k] ? lanes[k] : largest;
    for (long j = 0; j < pitch; j += LANES) {
        const VECTOR v =
            select((VECTOR)(0), exp(VLOAD(0, p + j) - (VECTOR)(largest)), KEPT(r, j));
        VSTORE(v, 0, p + j);
        sums += v;
    }
    const real sum = sum_of(sums);
    for (long j = 0; j < pitch; j += LANES)
        VSTORE(select((VECTOR)(0), VLOAD(0, p + j) / (VECTOR)(sum), KEPT(r, j)), 0, p + j);
    return isinf(largest) ? largest : largest + log(sum);
}

/* What dropout makes of n numbers, the first of which belongs to this element. */
static void drop(__global STORED(REAL) *x, long n, ulong seed, ulong element, uint least, real gain)
{
    uint bits[DRAWN];
    for (long at = -(long)(element & 3); at < n; at += DRAWN) {
        draw(seed, element + (ulong)at, bits);
        for (long j = max(at, 0L); j < min(at + DRAWN, n); j++)
            x[j] *= bits[j - at] >= least ? gain : 0;
    }
}
#define DROP(x, r)                                                                                 \
    drop(x, S, seed, first + (ulong)((h * L + i + (r)) * S), (uint)KEPT_FROM, gain)

/* `keep` and the scores of a block with the mask added. */
static void scores_of(__constant const long *P, __global const STORED(TX) *q,
                      __global const STORED(PANEL) *keys, __global const STORED(TM) *mask, long h,
                      long i, real scale, __global uchar *keep, __global STORED(REAL) *p)
{
    const long pitch = PITCH;
    find_kept(P, mask, h, i, keep);
    products(q + map_place(HEADS, 0, h) + i * ROW(0), ROW(0), min((long)ROWS, L - i), COLUMN(0), D,
             keys + h * D * pitch, keep, pitch, scale, p);
    for (long r = 0; r < ROWS && i + r < L && JOIN(ADDS_, MASK); r++)
        for (long j = 0; j < S; j++)
            if (keep[j] >> r & 1)
                p[r * pitch + j] += (real)ADDED(h, i + r, j);
}

/* Columns [at, n) of the sums: the rows of a block of `out`. */
#define PUT_SUMS(rows)                                                                             \
    {                                                                                              \
        real sums[ROWS * WIDTH];                                                                   \
        ROW_TIMES(SUMS_KEEP)                                                                       \
        const long count = min((long)WIDTH, n - at);                                               \
        for (long r = 0; r < (rows); r++) {                                                        \
            __global STORED(TX) *to = out + r * row + at * step;                                   \
            if (step == 1)                                                                         \
                for (long e = 0; e < count; e++)                                                   \
                    STORE(TX, to, e, (NUMBER(TX))sums[r * WIDTH + e]);                             \
            else                                                                                   \
                for (long e = 0; e < count; e++)                                                   \
                    STORE(TX, to, e * step, (NUMBER(TX))sums[r * WIDTH + e]);                      \
        }                                                                                          \
    }
#define SUMS_KEEP(r)                                                                               \
    VSTORE(s##r##0, 2 * r, sums);                                                                  \
    VSTORE(s##r##1, 2 * r + 1, sums);

/* One line of a panel goes into the sums of all rows, or of those that keep it. */
#define LINE(k)                                                                                    \
    const VECTOR b0 = PANEL_LOAD(0, panels + (k)*WIDTH);                                           \
    const VECTOR b1 = PANEL_LOAD(1, panels + (k)*WIDTH)
#define TAKE(r)                                                                                    \
    {                                                                                              \
        const VECTOR v = (VECTOR)(WEIGHT(r));                                                      \
        s##r##0 += v * b0;                                                                         \
        s##r##1 += v * b1;                                                                         \
    }
#define TAKE_KEPT(r)                                                                               \
    if (KEEPS_IT(r))                                                                               \
        TAKE(r)

/* out (rows, n) = sums over j of w (ROWS, pitch) times panels (panels, S, WIDTH). */
static void sums_of_columns(__global const STORED(REAL) *w, __global const uchar *keep, long pitch,
                            __global const STORED(PANEL) *panels, long depth, long n, long rows,
                            long row, long step, __global STORED(TX) *out)
{
    for (long at = 0; at < n; at += WIDTH, panels += depth * WIDTH) {
        ROW_TIMES(SUMS)
#define WEIGHT(r) w[r * pitch + j]
#define KEEPS_IT(r) (keep[j] >> r & 1)
        for (long from = 0; from < depth; from += ROWS) {
            const ulong group = GROUP(keep, from);
            if (group == WHOLE)
                for (long j = from; j < from + ROWS; j++) {
                    LINE(j);
                    ROW_TIMES(TAKE)
                }
            else if (group != 0)
                for (long j = from; j < min(from + ROWS, depth); j++) {
                    LINE(j);
                    ROW_TIMES(TAKE_KEPT)
                }
        }
#undef WEIGHT
#undef KEEPS_IT
        PUT_SUMS(rows)
    }
}

#if NEEDED(attend)
__kernel void attend(TABLE, IN(TX, q), IN(PANEL, keys), IN(PANEL, values), IN(TM, mask),
                     OUT(u8, keep), OUT(REAL, p), OUT(TX, y), OUT(TS, lse), real wants_lse,
                     real scale, real gain, ulong seed, ulong first)
{
    ENTER;
    OPERAND(q);
    OPERAND(keys);
    OPERAND(values);
    OPERAND(mask);
    OPERAND(keep);
    OPERAND(p);
    OPERAND(y);
    OPERAND(lse);
    BLOCK_HEAD;
    const long rows = min((long)ROWS, L - i), panels = (E + WIDTH - 1) / WIDTH;
    scores_of(P, q, keys, mask, h, i, scale, keep, p);
    for (int r = 0; r < rows; r++) {
        const real sum = probabilities(keep, r, pitch, p + r * pitch);
        if (wants_lse != 0)
            STORE(TS, lse, map_place(HEADS, 5, h) + (i + r) * ROW(5), (NUMBER(TS))sum);
#ifdef DROPOUT
        DROP(p + r * pitch, r);
#endif
    }
    sums_of_columns(p, keep, pitch, values + h * panels * S * WIDTH, S, E, rows, ROW(4), COLUMN(4),
                    y + map_place(HEADS, 4, h) + i * ROW(4));
}
#endif

/*
 * The gradient up to sums over rows: g becomes the slopes of the scores times scale, p what dropout
 * leaves of the probabilities, dq is done. Numbers that follow are those of attention.cl's outputs.
 */
#if NEEDED(attend_slopes)
__kernel void attend_slopes(TABLE, IN(TX, q), IN(TX, dy), IN(PANEL, keys), IN(PANEL, turned),
                            IN(PANEL, values), IN(TM, mask), OUT(u8, keep), OUT(REAL, p),
                            OUT(REAL, g), OUT(TX, dq), real scale, real gain, ulong seed,
                            ulong first)
{
    ENTER;
    OPERAND(q);
    OPERAND(dy);
    OPERAND(keys);
    OPERAND(turned);
    OPERAND(values);
    OPERAND(mask);
    OPERAND(keep);
    OPERAND(p);
    OPERAND(g);
    OPERAND(dq);
    BLOCK_HEAD;
    g += id * ROWS * pitch;
    const long rows = min((long)ROWS, L - i), panels = (D + WIDTH - 1) / WIDTH;
    scores_of(P, q, turned, mask, h, i, scale, keep, p);
    products(dy + map_place(HEADS, 4, h) + i * ROW(4), ROW(4), rows, COLUMN(4), E,
             values + h * E * pitch, keep, pitch, 1, g);
    for (int r = 0; r < rows; r++) {
        __global STORED(REAL) *pr = p + r * pitch, *gr = g + r * pitch;
        VECTOR sums = 0;
        probabilities(keep, r, pitch, pr);
#ifdef DROPOUT
        DROP(gr, r);
#endif
        for (long j = 0; j < pitch; j += LANES)
            sums += select((VECTOR)(0), VLOAD(0, pr + j) * VLOAD(0, gr + j), KEPT(r, j));
        const VECTOR sum = sum_of(sums);
        for (long j = 0; j < pitch; j += LANES)
            VSTORE(select((VECTOR)(0), scale * VLOAD(0, pr + j) * (VLOAD(0, gr + j) - sum),
                          KEPT(r, j)),
                   0, gr + j);
#ifdef DROPOUT
        DROP(pr, r);
#endif
    }
    if (TAIL[1] > 0)
        sums_of_columns(g, keep, pitch, keys + h * panels * S * WIDTH, S, D, rows, TAIL[4],
                        TAIL[5], dq + OUT_AT(h) + i * TAIL[4]);
}
#endif

/* out (heads, S, n): sums over rows of w times panels (heads, panels, L, WIDTH). */
#if NEEDED(attend_keys)
__kernel void attend_keys(TABLE, IN(REAL, w), IN(u8, keep), IN(PANEL, panels), OUT(TX, out))
{
    ENTER;
    OPERAND(w);
    OPERAND(keep);
    OPERAND(panels);
    OPERAND(out);
    const long id = get_global_id(0), h = id / KEY_BLOCKS, from = id % KEY_BLOCKS * ROWS;
    if (h >= P[0])
        return;
    const long n = TAIL[1], row = TAIL[4], step = TAIL[5], pitch = PITCH, blocks = ROW_BLOCKS;
    const long rows = min((long)ROWS, S - from);
    w += h * blocks * ROWS * pitch + from;
    keep += h * blocks * pitch + from;
    panels += h * ((n + WIDTH - 1) / WIDTH) * L * WIDTH;
    out += OUT_AT(h) + from * row;
    for (long at = 0; at < n; at += WIDTH, panels += L * WIDTH) {
        ROW_TIMES(SUMS)
#define WEIGHT(r) w[i * pitch + r]
#define KEEPS_IT(r) (keep[block * pitch + r] >> (i - block * ROWS) & 1)
        for (long block = 0; block < blocks; block++) {
            const ulong group = GROUP(keep, block * pitch);
            const long last = min((block + 1) * ROWS, L);
            if (group == WHOLE)
                for (long i = block * ROWS; i < last; i++) {
                    LINE(i);
                    ROW_TIMES(TAKE)
                }
            else if (group != 0)
                for (long i = block * ROWS; i < last; i++) {
                    LINE(i);
                    ROW_TIMES(TAKE_KEPT)
                }
        }
#undef WEIGHT
#undef KEEPS_IT
        PUT_SUMS(rows)
    }
}
#endif
