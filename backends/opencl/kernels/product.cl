/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products for CPU devices: a tile of ROWS by WIDTH elements in vector registers a work-item. The
 * right-hand matrix lies packed in panels (batches, panels, K, WIDTH), padded with zeros, so that
 * the inner loop reads it in order; the left one is read in place. No local memory, no barrier.
 */
#pragma OPENCL FP_CONTRACT ON
#define ROWS 8
#define vector_f32 float16
#define vector_f64 double8
#define VECTOR JOIN(vector_, REAL)
#define LANES_f32 16
#define LANES_f64 8
#define LANES JOIN(LANES_, REAL)
#define WIDTH (2 * LANES)
#define VLOAD_f32 vload16
#define VLOAD_f64 vload8
#define VLOAD JOIN(VLOAD_, REAL)
#define VSTORE_f32 vstore16
#define VSTORE_f64 vstore8
#define VSTORE JOIN(VSTORE_, REAL)

/*
 * Numbers: batches, M, N, K, strides of row and column of a, of y, of bias, whether there is a
 * bias, panel elements from batch to batch, chunks of K, items of a chunk, map of batch dims (a,
 * bias, y). PLACED: columns of y lie where `places` says. PARTIAL: sums go to `piece` (chunks,
 * batches, M, N).
 */
__kernel void product(TABLE, IN(TA, a), IN(REAL, panels), IN(TY, bias), OUT(TY, y),
                      IN(i64, places), OUT(REAL, piece), real alpha)
{
    ENTER;
    OPERAND(a);
    OPERAND(panels);
    OPERAND(bias);
    OPERAND(y);
    OPERAND(places);
    OPERAND(piece);
    const long batches = P[0], m = P[1], n = P[2], depth = P[3], chunks = P[12];
    const long row_blocks = (m + ROWS - 1) / ROWS, blocks = (n + WIDTH - 1) / WIDTH;
    long id = get_global_id(0);
    if (id >= row_blocks * blocks * batches * chunks)
        return;
    const long row = id % row_blocks * ROWS;
    id /= row_blocks;
    const long block = id % blocks, batch = id / blocks % batches, chunk = id / blocks / batches;
    const long first = chunk * P[13], last = min(first + P[13], depth);
    __constant const long *map = P + 14;

    __global const STORED(TA) *left = a + map_place(map, 0, batch);
    const long step = P[5];
    /* Rows beyond the last repeat it; they are not stored. */
#define ROW_AT(r) const long at##r = min(row + r, m - 1) * P[4]
    ROW_AT(0);
    ROW_AT(1);
    ROW_AT(2);
    ROW_AT(3);
    ROW_AT(4);
    ROW_AT(5);
    ROW_AT(6);
    ROW_AT(7);
    __global const real *right = panels + batch * P[11] + block * depth * WIDTH;
    VECTOR s00 = 0, s10 = 0, s20 = 0, s30 = 0, s40 = 0, s50 = 0, s60 = 0, s70 = 0;
    VECTOR s01 = 0, s11 = 0, s21 = 0, s31 = 0, s41 = 0, s51 = 0, s61 = 0, s71 = 0;
    for (long k = first; k < last; k++) {
        const VECTOR b0 = VLOAD(0, right + k * WIDTH), b1 = VLOAD(1, right + k * WIDTH);
        const long ak = k * step;
#define ROW_ADD(r)                                                                                 \
    {                                                                                              \
        const VECTOR v = (VECTOR)(LOAD(TA, left, at##r + ak));                                     \
        s##r##0 += v * b0;                                                                         \
        s##r##1 += v * b1;                                                                         \
    }
        ROW_ADD(0)
        ROW_ADD(1)
        ROW_ADD(2)
        ROW_ADD(3)
        ROW_ADD(4)
        ROW_ADD(5)
        ROW_ADD(6)
        ROW_ADD(7)
    }

    real sums[ROWS * WIDTH];
#define ROW_KEEP(r)                                                                                \
    VSTORE(s##r##0, 2 * r, sums);                                                                  \
    VSTORE(s##r##1, 2 * r + 1, sums);
    ROW_KEEP(0)
    ROW_KEEP(1)
    ROW_KEEP(2)
    ROW_KEEP(3)
    ROW_KEEP(4)
    ROW_KEEP(5)
    ROW_KEEP(6)
    ROW_KEEP(7)
    const int rows = (int)min((long)ROWS, m - row);
    const int columns = (int)min((long)WIDTH, n - block * WIDTH);
#ifdef PARTIAL
    piece += ((chunk * batches + batch) * m + row) * n + block * WIDTH;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            piece[r * n + c] = sums[r * WIDTH + c];
#else
    y += map_place(map, 2, batch);
    bias += map_place(map, 1, batch);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            const long column = block * WIDTH + c;
            real v = alpha * sums[r * WIDTH + c];
            if (P[10])
                v += LOAD(TY, bias, (row + r) * P[8] + column * P[9]);
#ifdef PLACED
            const long at = (row + r) * P[6] + places[column];
#else
            const long at = (row + r) * P[6] + column * P[7];
#endif
#ifdef ACCUMULATE
            STORE(TY, y, at, LOAD(TY, y, at) + v);
#else
            STORE(TY, y, at, ACTIVATE(v));
#endif
        }
#endif
}

/* Numbers: batches, N, K, strides of row and column of b, map of the batch dims (b). */
__kernel void pack(TABLE, IN(TA, b), OUT(REAL, panels))
{
    ENTER;
    OPERAND(b);
    OPERAND(panels);
    const long n = P[1], depth = P[2], blocks = (n + WIDTH - 1) / WIDTH;
    const long id = get_global_id(0);
    if (id >= P[0] * blocks * depth)
        return;
    const long k = id % depth, column = id / depth % blocks * WIDTH, batch = id / depth / blocks;
    b += map_place(P + 5, 0, batch) + k * P[3] + column * P[4];
    panels += id * WIDTH;
    const long step = P[4];
    const int used = (int)min((long)WIDTH, n - column);
    if (used == WIDTH && step == 1)
        for (int c = 0; c < WIDTH; c++)
            panels[c] = LOAD(TA, b, c);
    else
        for (int c = 0; c < WIDTH; c++)
            panels[c] = c < used ? LOAD(TA, b, c * step) : 0;
}

/* Numbers: elements, chunks, map of y in the order of the pieces. */
__kernel void join_pieces(TABLE, IN(REAL, piece), OUT(TY, y))
{
    ENTER;
    OPERAND(piece);
    OPERAND(y);
    const long i = get_global_id(0);
    if (i >= P[0])
        return;
    total t = {0, 0};
    for (long c = 0; c < P[1]; c++)
        TOTAL_ADD(t, (wide)piece[c * P[0] + i]);
    STORE(TY, y, map_place(P + 2, 0, i), (NUMBER(TY))TOTAL(t));
}

/* Numbers: elements, map. A dense copy of an operand in the map's order. */
__kernel void flatten(TABLE, IN(TA, x), OUT(REAL, y))
{
    ENTER;
    OPERAND(x);
    OPERAND(y);
    const long i = get_global_id(0);
    if (i < P[0])
        y[i] = LOAD(TA, x, map_place(P + 1, 0, i));
}

/*
 * Convolutions. Two tables, one of (sample, position) pairs and one of (channel, tap) pairs, say
 * where an element of the unfolded input is: its coordinates are the sum of the two.
 *
 * Numbers: pairs of samples and positions, pairs of channels and taps, positions (3), factor and
 * shift of their coordinates (3 each), taps (3), dilation (3), map of the result's positions.
 */
__kernel void conv_tables(TABLE, OUT(i32, origins), OUT(i32, taps), OUT(i64, places))
{
    ENTER;
    OPERAND(origins);
    OPERAND(taps);
    OPERAND(places);
    const long i = get_global_id(0);
    if (i < P[0]) {
        const long p2 = i % P[4], p1 = i / P[4] % P[3], p0 = i / P[4] / P[3] % P[2];
        const long n = i / P[4] / P[3] / P[2];
        origins[4 * i] = (int)(p0 * P[5] + P[8]);
        origins[4 * i + 1] = (int)(p1 * P[6] + P[9]);
        origins[4 * i + 2] = (int)(p2 * P[7] + P[10]);
        origins[4 * i + 3] = (int)n;
        places[i] = map_place(P + 17, 0, i);
    }
    if (i < P[1]) {
        taps[4 * i] = (int)(i / P[13] / P[12] % P[11] * P[14]);
        taps[4 * i + 1] = (int)(i / P[13] % P[12] * P[15]);
        taps[4 * i + 2] = (int)(i % P[13] * P[16]);
        taps[4 * i + 3] = (int)(i / P[13] / P[12] / P[11]);
    }
}

/*
 * Numbers: groups, N, K, sizes of what is read (3), strides of samples, channels and coordinates
 * (2 + 3), elements from group to group, stride of the convolution (3). BY_TAP: columns are
 * (channel, tap) pairs and K goes over positions; else the other way round. TRANSPOSED: what is
 * read is dy, at (origin - tap) / stride where that is whole.
 */
__kernel void conv_pack(TABLE, IN(TA, x), IN(i32, origins), IN(i32, taps), OUT(REAL, panels))
{
    ENTER;
    OPERAND(x);
    OPERAND(origins);
    OPERAND(taps);
    OPERAND(panels);
    const long n = P[1], depth = P[2], blocks = (n + WIDTH - 1) / WIDTH;
    const long id = get_global_id(0);
    if (id >= P[0] * blocks * depth)
        return;
    const long k = id % depth, column = id / depth % blocks * WIDTH, group = id / depth / blocks;
    const int d0 = (int)P[3], d1 = (int)P[4], d2 = (int)P[5];
    const long s_n = P[6], s_c = P[7], s0 = P[8], s1 = P[9], s2 = P[10];
    x += group * P[11];
    panels += id * WIDTH;
#ifdef BY_TAP
    const int4 fixed = vload4(k, origins);
    __global const int *varying = taps;
#else
    const int4 fixed = vload4(k, taps);
    __global const int *varying = origins;
#endif
    const int used = (int)min((long)WIDTH, n - column);
    for (int c = 0; c < WIDTH; c++) {
        real v = 0;
        if (c < used) {
            const int4 other = vload4(column + c, varying);
#ifdef BY_TAP
            const long sample = fixed.w, channel = other.w;
#else
            const long sample = other.w, channel = fixed.w;
#endif
#ifdef TRANSPOSED
            int4 at = other - fixed;
            int whole = 1;
            if (P[12] != 1 || P[13] != 1 || P[14] != 1) {
                const int4 stride = (int4)((int)P[12], (int)P[13], (int)P[14], 1);
                const int4 q = at / stride;
                whole = at.x == q.x * stride.x && at.y == q.y * stride.y && at.z == q.z * stride.z;
                whole = whole && at.x >= 0 && at.y >= 0 && at.z >= 0;
                at = q;
            }
#else
            const int4 at = other + fixed;
            const int whole = 1;
#endif
            if (whole && at.x >= 0 && at.x < d0 && at.y >= 0 && at.y < d1 && at.z >= 0 &&
                at.z < d2)
                v = LOAD(TA, x, sample * s_n + channel * s_c + at.x * s0 + at.y * s1 + at.z * s2);
        }
        panels[c] = v;
    }
}
