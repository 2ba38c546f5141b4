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

/* Panels keep numbers in the type PANEL, f32 where no element has more bits. WIDEN: REAL is f64
 * all the same. */
#ifdef WIDEN
#define PANEL_LOAD(i, p) convert_double8(vload8(i, p))
#else
#define PANEL_LOAD(i, p) VLOAD(i, p)
#endif

/*
 * Numbers: batches, M, N, K, strides of row and column of a, of y, of bias, whether there is a
 * bias, panel elements from batch to batch, chunks of K, items of a chunk, map of batch dims (a,
 * bias, y). PLACED: columns of y lie where `places` says. PARTIAL: sums go to `piece` (chunks,
 * batches, M, N).
 */
__kernel void product(TABLE, IN(TA, a), IN(PANEL, panels), IN(TY, bias), OUT(TY, y),
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
    __global const STORED(PANEL) *right = panels + batch * P[11] + block * depth * WIDTH;
    VECTOR s00 = 0, s10 = 0, s20 = 0, s30 = 0, s40 = 0, s50 = 0, s60 = 0, s70 = 0;
    VECTOR s01 = 0, s11 = 0, s21 = 0, s31 = 0, s41 = 0, s51 = 0, s61 = 0, s71 = 0;
    for (long k = first; k < last; k++) {
        const VECTOR b0 = PANEL_LOAD(0, right + k * WIDTH);
        const VECTOR b1 = PANEL_LOAD(1, right + k * WIDTH);
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
__kernel void pack(TABLE, IN(TA, b), OUT(PANEL, panels))
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

/* Numbers: runs, elements of a run, runs of a row, elements of a row, map. A dense copy of an
 * operand in the map's order; a row is the last dim, a run a part of it. */
__kernel void flatten(TABLE, IN(TA, x), OUT(REAL, y))
{
    ENTER;
    OPERAND(x);
    OPERAND(y);
    const long id = get_global_id(0);
    if (id >= P[0])
        return;
    __constant const long *map = P + 4;
    const long row = id / P[2], first = (id - row * P[2]) * P[1], last = min(first + P[1], P[3]);
    const long at = map_place(map, 0, row * P[3] + first);
    const long step = map[0] > 0 ? map[MAP_DIMS + map[0]] : 0;
    y += row * P[3];
    for (long j = first; j < last; j++)
        y[j] = LOAD(TA, x, at + (j - first) * step);
}

/*
 * Convolutions. Two tables, one of (sample, position) pairs and one of (channel, tap) pairs, say
 * where an element of the unfolded input is: its coordinates and its place are the sums of the
 * two. Each is four rows of `pitch` numbers: three coordinates and the place. What a table has
 * beyond its pairs lies outside any input.
 *
 * Numbers: pairs of samples and positions, pairs of channels and taps, positions (3), factor and
 * shift of their coordinates (3 each), taps (3), factor of their coordinates (3), strides of
 * sample, channel and coordinates in what is read (2 + 3), pitches of both tables, map of the
 * result's positions.
 */
enum { OUTSIDE = -(1 << 30) };
__kernel void conv_tables(TABLE, OUT(i32, origins), OUT(i32, taps), OUT(i64, places))
{
    ENTER;
    OPERAND(origins);
    OPERAND(taps);
    OPERAND(places);
    const long i = get_global_id(0), pitch = P[22], tap_pitch = P[23];
    if (i < P[0]) {
        const long p2 = i % P[4], p1 = i / P[4] % P[3], p0 = i / P[4] / P[3] % P[2];
        const long n = i / P[4] / P[3] / P[2];
        const long c0 = p0 * P[5] + P[8], c1 = p1 * P[6] + P[9], c2 = p2 * P[7] + P[10];
        origins[i] = (int)c0;
        origins[pitch + i] = (int)c1;
        origins[2 * pitch + i] = (int)c2;
        origins[3 * pitch + i] = (int)(n * P[17] + c0 * P[19] + c1 * P[20] + c2 * P[21]);
        places[i] = map_place(P + 24, 0, i);
    } else if (i < pitch) {
        origins[i] = OUTSIDE;
    }
    if (i < P[1]) {
        const long c0 = i / P[13] / P[12] % P[11] * P[14];
        const long c1 = i / P[13] % P[12] * P[15], c2 = i % P[13] * P[16];
        const long c = i / P[13] / P[12] / P[11];
        taps[i] = (int)c0;
        taps[tap_pitch + i] = (int)c1;
        taps[2 * tap_pitch + i] = (int)c2;
        taps[3 * tap_pitch + i] = (int)(c * P[18] + c0 * P[19] + c1 * P[20] + c2 * P[21]);
    } else if (i < tap_pitch) {
        taps[i] = OUTSIDE;
    }
}

/*
 * Numbers: groups, N, K, sizes of what is read (3), elements from group to group, pitches of the
 * tables of columns and of K, and for STRIDED: stride of the convolution (3), strides of the
 * coordinates (3). STRIDED: what is read is dy, at coordinates that the stride divides; the sums
 * of the tables are coordinates times stride, and places that leave them out.
 */
__kernel void conv_pack(TABLE, IN(TA, x), IN(i32, columns), IN(i32, rows), OUT(PANEL, panels))
{
    ENTER;
    OPERAND(x);
    OPERAND(columns);
    OPERAND(rows);
    OPERAND(panels);
    const long n = P[1], depth = P[2], blocks = (n + WIDTH - 1) / WIDTH;
    const long id = get_global_id(0);
    if (id >= P[0] * blocks * depth)
        return;
    const long k = id % depth, column = id / depth % blocks * WIDTH, group = id / depth / blocks;
    const long pitch = P[7], row_pitch = P[8];
    const uint d0 = (uint)P[3], d1 = (uint)P[4], d2 = (uint)P[5];
    const int r0 = rows[k], r1 = rows[row_pitch + k], r2 = rows[2 * row_pitch + k];
    const int place = rows[3 * row_pitch + k];
    x += group * P[6];
    columns += column;
    panels += id * WIDTH;
    STORED(PANEL) values[WIDTH];
    for (int c = 0; c < WIDTH; c++) {
        int c0 = columns[c] + r0, c1 = columns[pitch + c] + r1, c2 = columns[2 * pitch + c] + r2;
        int at = columns[3 * pitch + c] + place;
#ifdef STRIDED
        const int q0 = c0 / (int)P[9], q1 = c1 / (int)P[10], q2 = c2 / (int)P[11];
        if (c0 < 0 || c1 < 0 || c2 < 0 || q0 * (int)P[9] != c0 || q1 * (int)P[10] != c1 ||
            q2 * (int)P[11] != c2)
            c0 = OUTSIDE;
        else
            c0 = q0;
        c1 = q1;
        c2 = q2;
        at += q0 * (int)P[12] + q1 * (int)P[13] + q2 * (int)P[14];
#endif
        const int inside = ((uint)c0 < d0) & ((uint)c1 < d1) & ((uint)c2 < d2);
        const STORED(PANEL) v = LOAD(TA, x, inside ? at : 0);
        values[c] = inside ? v : 0;
    }
    VSTORE(VLOAD(0, values), 0, panels);
    VSTORE(VLOAD(1, values), 1, panels);
}
