/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions for CPU devices as products that unfold nothing. What is read is spread out first:
 * padded with zeros, in the type that sums are kept in, and for strides cut into phases, so that
 * a tap reads every stride-th element in order. In such planes of P0 x P1 x P2 elements the flat
 * position q of an output and the offset of a tap add up to the place of what they multiply.
 * Positions behind the end of a row of outputs come out as well, and are dropped.
 */
#pragma OPENCL FP_CONTRACT ON
#define vector8_f32 float8
#define vector8_f64 double8
#define VECTOR8 JOIN(vector8_, REAL)

#define TIMES_1(X) X(0)
#define TIMES_2(X) TIMES_1(X) X(1)
#define TIMES_3(X) TIMES_2(X) X(2)
#define TIMES_4(X) TIMES_3(X) X(3)
#define TIMES_5(X) TIMES_4(X) X(4)
#define TIMES_6(X) TIMES_5(X) X(5)
#define TIMES_7(X) TIMES_6(X) X(6)
#define TIMES_8(X) TIMES_7(X) X(7)
#define ROW_TIMES(X) SELECT(TIMES_, ROWS)(X)

/* n numbers, `by` apart, as REAL. */
static void spread_row(__global const STORED(TX) *x, __global STORED(REAL) *y, int n, long by)
{
#define GET(i) ((real)LOAD(TX, x, (i)*by))
    if (n >= 8)
        for (int i = 0; i < n; i += 8) {
            x += min(i, n - 8) * by;
            vstore8((VECTOR8)(GET(0), GET(1), GET(2), GET(3), GET(4), GET(5), GET(6), GET(7)), 0,
                    y + min(i, n - 8));
            x -= min(i, n - 8) * by;
        }
    else
        for (int i = 0; i < n; i++)
            y[i] = GET(i);
}

/*
 * Numbers of what is spread out: images (sample and channel), channels, phases (3), plane (3),
 * elements of an image, stride, padding in front, sizes of x (3 each), strides of x (sample,
 * channel, 3), elements of a sample, rows of a work-item. Rows are those of all phases.
 */
#define SPREAD_NUMBERS 25
static void spread_rows(__constant const long *P, __global const STORED(TX) *x,
                        __global STORED(REAL) *y, int channel, int from, int to)
{
    const int f1 = (int)P[3], f2 = (int)P[4], n0 = (int)P[5], n1 = (int)P[6], n2 = (int)P[7];
    const int rows = (int)P[2] * f1 * f2 * n0 * n1, step = (int)P[11], size = (int)P[17];
    const long by = step * P[22];
    int i = from * n2, end = to * n2;
    y += channel * P[8];
    x += channel * P[19];
    if (to == rows)
        end = (int)(channel == (int)P[1] - 1 ? P[23] - channel * P[8] : P[8]);
    for (; i + 8 <= end; i += 8)
        vstore8((VECTOR8)(0), 0, y + i);
    for (; i < end; i++)
        y[i] = 0;
    const int first = from % (n0 * n1);
    int i1 = first % n1, i0 = first / n1, phase = from / (n0 * n1);
    for (int row = from; row < to; phase++, i0 = i1 = 0) {
        const int before = phase % f2 - (int)P[14], second = phase / f2 % f1 - (int)P[13];
        const int begin = before < 0 ? (step - 1 - before) / step : 0;
        const int stop = size > before ? min((size - before + step - 1) / step, n2) : 0;
        for (; row < to && i0 < n0; i0++, i1 = 0)
            for (; row < to && i1 < n1; i1++, row++) {
                const int x0 = i0 * (int)P[9] + phase / f2 / f1 - (int)P[12];
                const int x1 = i1 * (int)P[10] + second;
                if (x0 >= 0 && x0 < (int)P[15] && x1 >= 0 && x1 < (int)P[16] && begin < stop)
                    spread_row(x + x0 * P[20] + x1 * P[21] + (begin * step + before) * P[22],
                               y + row * n2 + begin, stop - begin, by);
            }
    }
}

/* All channels of a sample. */
static void spread_sample(__constant const long *P, __global const STORED(TX) *x,
                          __global STORED(REAL) *y, int n)
{
    const int rows = (int)(P[2] * P[3] * P[4] * P[5] * P[6]);
    for (int c = 0; c < (int)P[1]; c++)
        spread_rows(P, x + n * P[18], y + n * P[23], c, 0, rows);
}

#if NEEDED(spread)
__kernel void spread(TABLE, IN(TX, x), OUT(REAL, y))
{
    ENTER;
    OPERAND(x);
    OPERAND(y);
    const int rows = (int)(P[2] * P[3] * P[4] * P[5] * P[6]), each = (int)P[24];
    const int items = (rows + each - 1) / each, id = (int)get_global_id(0), image = id / items;
    if (image >= (int)P[0])
        return;
    const int from = (id - image * items) * each, to = min(from + each, rows);
    const int n = image / (int)P[1], channel = image % (int)P[1];
    spread_rows(P, x + n * P[18], y + n * P[23], channel, from, to);
}
#endif

/*
 * The weights as (groups, blocks of ROWS outputs, channels, taps, ROWS), with zeros for outputs
 * beyond the last. Numbers: groups, outputs, channels, taps, sizes of the kernel behind the first
 * (2), whether taps are turned round, strides of w (group, output, channel, 3).
 */
#if defined(ROWS) && !defined(TAPS)
#if NEEDED(turn_weights)
__kernel void turn_weights(TABLE, IN(TX, w), OUT(REAL, y))
{
    ENTER;
    OPERAND(w);
    OPERAND(y);
    const int m = (int)P[1], channels = (int)P[2], taps = (int)P[3];
    const int k1 = (int)P[4], k2 = (int)P[5], blocks = (m + ROWS - 1) / ROWS;
    const int id = (int)get_global_id(0);
    if (id >= (int)P[0] * blocks * channels * taps)
        return;
    const int c = id / taps % channels, block = id / taps / channels;
    const int t = P[6] ? taps - 1 - id % taps : id % taps, row = block % blocks * ROWS;
    w += block / blocks * P[7] + row * P[8] + c * P[9] + t / k2 / k1 * P[10] +
         t / k2 % k1 * P[11] + t % k2 * P[12];
    y += (long)id * ROWS;
    for (int r = 0; r < ROWS; r++)
        y[r] = row + r < m ? LOAD(TX, w, r * P[8]) : 0;
}
#endif

/*
 * Numbers of a product: samples, groups, outputs, channels, taps, positions, sizes of the result
 * (3), plane (3), elements of an image and of a sample, strides of y (sample, output, 3), whether
 * there is a bias, its stride, samples of a work-item, offsets of the taps. A tile is ROWS outputs
 * by WIDTH positions.
 */
#define BLOCKS(n, size) (((int)(n) + (size)-1) / (size))
static void product_tile(__constant const long *P, __global const STORED(REAL) *left,
                         __global const STORED(REAL) *right, __global const STORED(TX) *bias,
                         __global STORED(TX) *y, int n, int tile)
{
    const int m = (int)P[2], channels = (int)P[3], taps = (int)P[4], positions = (int)P[5];
    const int blocks = BLOCKS(positions, WIDTH), row_blocks = BLOCKS(m, ROWS);
    const int first = tile % blocks * WIDTH, last = min(first + WIDTH, positions);
    const int row = tile / blocks % row_blocks * ROWS, g = tile / blocks / row_blocks;
    const long image = P[12];
    __constant const long *offset = P + 22;
    left += (long)(tile / blocks) * channels * taps * ROWS;
    right += n * P[13] + (long)g * channels * image + first;
#define SUMS(r) VECTOR s##r##0 = 0, s##r##1 = 0;
    ROW_TIMES(SUMS)
    for (int c = 0; c < channels; c++, right += image)
        for (int t = 0; t < taps; t++, left += ROWS) {
            const VECTOR b0 = VLOAD(0, right + offset[t]), b1 = VLOAD(1, right + offset[t]);
#define ROW_ADD(r)                                                                                 \
    {                                                                                              \
        const VECTOR v = (VECTOR)(left[r]);                                                        \
        s##r##0 += v * b0;                                                                         \
        s##r##1 += v * b1;                                                                         \
    }
            ROW_TIMES(ROW_ADD)
        }
    real sums[ROWS * WIDTH];
#define ROW_KEEP(r)                                                                                \
    VSTORE(s##r##0, 2 * r, sums);                                                                  \
    VSTORE(s##r##1, 2 * r + 1, sums);
    ROW_TIMES(ROW_KEEP)
    const int rows = min(ROWS, m - row), o1 = (int)P[7], o2 = (int)P[8];
    const int n1 = (int)P[10], n2 = (int)P[11];
    const long step = P[18];
    y += n * P[14] + (g * m + row) * P[15];
    bias += (g * m + row) * P[20];
    for (int q = first; q < last;) {
        const int p2 = q % n2, p1 = q / n2 % n1, p0 = q / n2 / n1;
        const int run = min(o2 - p2, last - q);
        for (int r = 0; r < rows && p1 < o1 && run > 0; r++) {
            const real added = P[19] ? LOAD(TX, bias, r * P[20]) : 0;
            const real *from = sums + r * WIDTH + (q - first);
            __global STORED(TX) *to = y + r * P[15] + p0 * P[16] + p1 * P[17] + p2 * step;
            if (step == 1)
                for (int i = 0; i < run; i++)
                    STORE(TX, to, i, ACTIVATE(from[i] + added));
            else
                for (int i = 0; i < run; i++)
                    STORE(TX, to, i * step, ACTIVATE(from[i] + added));
        }
        q += n2 - p2;
    }
}

/* A tile a work-item, from what was spread out before. */
#if NEEDED(flat_product)
__kernel void flat_product(TABLE, IN(REAL, left), IN(REAL, right), IN(TX, bias), OUT(TX, y))
{
    ENTER;
    OPERAND(left);
    OPERAND(right);
    OPERAND(bias);
    OPERAND(y);
    P += SPREAD_NUMBERS;
    const int tiles = (int)P[1] * BLOCKS(P[2], ROWS) * BLOCKS(P[5], WIDTH);
    const int id = (int)get_global_id(0);
    if (id < (int)P[0] * tiles)
        product_tile(P, left, right, bias, y, id / tiles, id % tiles);
}
#endif

/* Some samples a work-item, which spreads one after the other out and uses it while it is in a
 * cache. */
#if NEEDED(flat_samples)
__kernel void flat_samples(TABLE, IN(TX, x), IN(REAL, left), OUT(REAL, right), IN(TX, bias),
                           OUT(TX, y))
{
    ENTER;
    OPERAND(x);
    OPERAND(left);
    OPERAND(right);
    OPERAND(bias);
    OPERAND(y);
    __constant const long *Q = P + SPREAD_NUMBERS;
    const int tiles = (int)Q[1] * BLOCKS(Q[2], ROWS) * BLOCKS(Q[5], WIDTH);
    const int first = (int)get_global_id(0) * (int)Q[21], last = min(first + (int)Q[21], (int)Q[0]);
    for (int n = first; n < last; n++) {
        spread_sample(P, x, right, n);
        for (int tile = 0; tile < tiles; tile++)
            product_tile(Q, left, right, bias, y, n, tile);
    }
}
#endif
#endif

/*
 * The gradient of the weight: pieces (chunks, groups, outputs, channels and taps) over the samples
 * of a chunk. A tile is ROWS outputs by TAPS pairs of channel and tap. Numbers: samples, groups,
 * outputs, channels, taps, positions in whole vectors, elements of an image of y and of x, and of
 * a sample of both, chunks, samples of a chunk, offsets of the taps.
 */
#ifdef TAPS
#define TAP_TIMES(X) SELECT(TIMES_, TAPS)(X)
#define BLOCKS(n, size) (((int)(n) + (size)-1) / (size))
static void weight_tile(__constant const long *P, __global const STORED(REAL) *y,
                        __global const STORED(REAL) *x, __global STORED(REAL) *piece, int chunk,
                        int tile)
{
    const int groups = (int)P[1], m = (int)P[2], channels = (int)P[3], taps = (int)P[4];
    const int positions = (int)P[5], pairs = channels * taps;
    const int blocks = BLOCKS(pairs, TAPS), row_blocks = BLOCKS(m, ROWS);
    const long y_image = P[6], x_image = P[7];
    const int pair = tile % blocks * TAPS, row = tile / blocks % row_blocks * ROWS;
    const int g = tile / blocks / row_blocks;
    const int first = chunk * (int)P[11], last = min(first + (int)P[11], (int)P[0]);
    __constant const long *offset = P + 12;
    /* What lies beyond the last repeats it, and is not stored; nor is another tile's row. */
#define ROW_FROM(r) __global const STORED(REAL) *y##r = y + (g * m + min(row + r, m - 1)) * y_image;
#define TAP_FROM(j)                                                                                \
    const int pair##j = min(pair + j, pairs - 1);                                                  \
    __global const STORED(REAL) *x##j =                                                            \
        x + (g * channels + pair##j / taps) * x_image + offset[pair##j % taps];
    ROW_TIMES(ROW_FROM)
    TAP_TIMES(TAP_FROM)
#define TAP_SUMS(j) VECTOR s0##j = 0, s1##j = 0, s2##j = 0, s3##j = 0;
    TAP_TIMES(TAP_SUMS)
    for (int n = first; n < last; n++) {
        const long from = n * P[8], at = n * P[9];
        for (int q = 0; q < positions; q += LANES) {
#define ROW_LOAD(r) const VECTOR d##r = VLOAD(0, y##r + from + q);
            ROW_TIMES(ROW_LOAD)
#define TAP_ADD(j)                                                                                 \
    {                                                                                              \
        const VECTOR v = VLOAD(0, x##j + at + q);                                                  \
        TAP_ROWS(j)                                                                                \
    }
#define TAP_ROW_1(j) s0##j += d0 * v;
#define TAP_ROW_2(j) TAP_ROW_1(j) s1##j += d1 * v;
#define TAP_ROW_3(j) TAP_ROW_2(j) s2##j += d2 * v;
#define TAP_ROW_4(j) TAP_ROW_3(j) s3##j += d3 * v;
#define TAP_ROWS(j) JOIN(TAP_ROW_, ROWS)(j)
            TAP_TIMES(TAP_ADD)
        }
    }
    real lanes[LANES];
    piece += ((long)(chunk * groups + g) * m + row) * pairs + pair;
#define KEEP(r, j)                                                                                 \
    if (r < ROWS && row + r < m && pair + j < pairs) {                                             \
        real sum = 0;                                                                              \
        VSTORE(s##r##j, 0, lanes);                                                                 \
        for (int i = 0; i < LANES; i++)                                                            \
            sum += lanes[i];                                                                       \
        piece[r * pairs + j] = sum;                                                                \
    }
#define TAP_KEEP(j) KEEP(0, j) KEEP(1, j) KEEP(2, j) KEEP(3, j)
    TAP_TIMES(TAP_KEEP)
}

#if NEEDED(flat_weight)
__kernel void flat_weight(TABLE, IN(REAL, y), IN(REAL, x), OUT(REAL, piece))
{
    ENTER;
    OPERAND(y);
    OPERAND(x);
    OPERAND(piece);
    P += 2 * SPREAD_NUMBERS;
    const int tiles = (int)P[1] * BLOCKS(P[2], ROWS) * BLOCKS(P[3] * P[4], TAPS);
    const int id = (int)get_global_id(0);
    if (id < (int)P[10] * tiles)
        weight_tile(P, y, x, piece, id / tiles, id % tiles);
}
#endif

/* A chunk a work-item, which spreads its samples out first. */
#if NEEDED(flat_weight_samples)
__kernel void flat_weight_samples(TABLE, IN(TX, dy), IN(TX, in), OUT(REAL, y), OUT(REAL, x),
                                  OUT(REAL, piece))
{
    ENTER;
    OPERAND(dy);
    OPERAND(in);
    OPERAND(y);
    OPERAND(x);
    OPERAND(piece);
    __constant const long *Q = P + 2 * SPREAD_NUMBERS;
    const int tiles = (int)Q[1] * BLOCKS(Q[2], ROWS) * BLOCKS(Q[3] * Q[4], TAPS);
    const int chunk = (int)get_global_id(0);
    const int last = min((chunk + 1) * (int)Q[11], (int)Q[0]);
    if (chunk >= (int)Q[10])
        return;
    for (int n = chunk * (int)Q[11]; n < last; n++) {
        spread_sample(P, dy, y, n);
        spread_sample(P + SPREAD_NUMBERS, in, x, n);
    }
    for (int tile = 0; tile < tiles; tile++)
        weight_tile(Q, y, x, piece, chunk, tile);
}
#endif
#endif
