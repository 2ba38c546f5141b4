/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products for CPU devices: a tile of ROWS by WIDTH elements in vector registers a work-item. The
 * right-hand matrix lies packed in panels (batches, panels, K, WIDTH), padded with zeros, so that
 * the inner loop reads it in order; the left one is read in place, or with PACKED_LEFT from blocks
 * (batches, row blocks, K, ROWS). No local memory, no barrier.
 */
#pragma OPENCL FP_CONTRACT ON
#define ROWS 8
#define ROW_TIMES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define MOST_BLOCKS 4 /* its twin is OCL_PRODUCT_BLOCKS */
#define AT_ONCE 1024
#define vector8_f32 float8
#define vector8_f64 double8
#define VECTOR8 JOIN(vector8_, REAL)
#define PANEL8 JOIN(vector8_, PANEL)

/* The rows of a block: its first element, and where the rows begin. Rows beyond the last repeat it;
 * they are not stored. */
#ifdef PACKED_LEFT
#define LEFT_ROW a + row *depth
#define LEFT_PLACES long none
#define LEFT_ROWS 0
#define LEFT(r) left[k * ROWS + r]
#else
#define LEFT_ROW a
#define LEFT_PLACES                                                                                \
    long at0, long at1, long at2, long at3, long at4, long at5, long at6, long at7
#define ROW_AT(r) min(row + r, m - 1) * P[4]
#define LEFT_ROWS                                                                                  \
    ROW_AT(0), ROW_AT(1), ROW_AT(2), ROW_AT(3), ROW_AT(4), ROW_AT(5), ROW_AT(6), ROW_AT(7)
#define LEFT(r) LOAD(TA, left, at##r + k * step)
#endif

#ifdef ACCUMULATE
#define PUT(at, v) STORE(TY, to, at, LOAD(TY, to, at) + (v))
#else
#define PUT(at, v) STORE(TY, to, at, ACTIVATE(v))
#endif

/* sums (ROWS, WIDTH) += rows of the left-hand matrix . [first, last) of a panel. */
static void add_products(__global const STORED(TA) *left, long step, LEFT_PLACES,
                         __global const STORED(PANEL) *right, long first, long last, real *sums)
{
#define ROW_BEGIN(r) VECTOR s##r##0 = VLOAD(2 * r, sums), s##r##1 = VLOAD(2 * r + 1, sums);
    ROW_TIMES(ROW_BEGIN)
    for (long k = first; k < last; k++) {
        const VECTOR b0 = PANEL_LOAD(0, right + k * WIDTH);
        const VECTOR b1 = PANEL_LOAD(1, right + k * WIDTH);
#define ROW_ADD(r)                                                                                 \
    {                                                                                              \
        const VECTOR v = (VECTOR)(LEFT(r));                                                        \
        s##r##0 += v * b0;                                                                         \
        s##r##1 += v * b1;                                                                         \
    }
        ROW_TIMES(ROW_ADD)
    }
#define ROW_KEEP(r)                                                                                \
    VSTORE(s##r##0, 2 * r, sums);                                                                  \
    VSTORE(s##r##1, 2 * r + 1, sums);
    ROW_TIMES(ROW_KEEP)
}

/*
 * Numbers: batches, M, N, K, strides of row and column of a, of y, of bias, whether there is a
 * bias, panel elements from batch to batch, chunks of K, items of a chunk, row blocks of a
 * work-item, map of batch dims (a, bias, y). PLACED: columns of y lie where `places` says.
 * PARTIAL: sums go to `piece` (chunks, batches, M, N). A part of a panel serves all row blocks of
 * a work-item while it is in a cache.
 */
#if NEEDED(product)
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
    const long batches = P[0], m = P[1], n = P[2], depth = P[3], chunks = P[12], many = P[14];
    const long row_blocks = (m + ROWS - 1) / ROWS, blocks = (n + WIDTH - 1) / WIDTH;
    const long groups = (row_blocks + many - 1) / many;
    long id = get_global_id(0);
    if (id >= groups * blocks * batches * chunks)
        return;
    const long head = id % groups * many * ROWS, end = min(head + many * ROWS, m);
    id /= groups;
    const long block = id % blocks, batch = id / blocks % batches, chunk = id / blocks / batches;
    const long first = chunk * P[13], last = min(first + P[13], depth);
    __constant const long *map = P + 15;
    a += map_place(map, 0, batch);
    panels += batch * P[11] + block * depth * WIDTH;

    real all[MOST_BLOCKS * ROWS * WIDTH];
    for (int i = 0; i < many * ROWS * WIDTH; i++)
        all[i] = 0;
    for (long k = first; k < last; k += AT_ONCE)
        for (long row = head; row < end; row += ROWS)
            add_products(LEFT_ROW, P[5], LEFT_ROWS, panels, k, min(k + AT_ONCE, last),
                         all + (row - head) * WIDTH);

    const int columns = (int)min((long)WIDTH, n - block * WIDTH);
#ifdef PARTIAL
    piece += (chunk * batches + batch) * m * n + block * WIDTH;
    for (long row = head; row < end; row++)
        for (int c = 0; c < columns; c++)
            piece[row * n + c] = all[(row - head) * WIDTH + c];
#else
    y += map_place(map, 2, batch);
    bias += map_place(map, 1, batch);
    for (long row = head; row < end; row++) {
        real *sum = all + (row - head) * WIDTH;
        if (P[10])
            for (int c = 0; c < columns; c++)
                sum[c] = alpha * sum[c] + LOAD(TY, bias, row * P[8] + (block * WIDTH + c) * P[9]);
        else
            for (int c = 0; c < columns; c++)
                sum[c] *= alpha;
        __global STORED(TY) *to = y + row * P[6];
#ifdef PLACED
        for (int c = 0; c < columns; c++)
            PUT(places[block * WIDTH + c], sum[c]);
#else
        const long by = P[7];
        to += block * WIDTH * by;
        if (by == 1)
            for (int c = 0; c < columns; c++)
                PUT(c, sum[c]);
        else
            for (int c = 0; c < columns; c++)
                PUT(c * by, sum[c]);
#endif
    }
#endif
}
#endif

/* Numbers: batches, N, K, strides of row and column of b, K of an item, map of the batch dims (b).
 * Columns beyond the last repeat it; their sums are not stored. */
#if NEEDED(pack)
__kernel void pack(TABLE, IN(TA, b), OUT(PANEL, panels))
{
    ENTER;
    OPERAND(b);
    OPERAND(panels);
    const long n = P[1], depth = P[2], row = P[3], step = P[4], each = P[5];
    const long blocks = (n + WIDTH - 1) / WIDTH, pieces = (depth + each - 1) / each;
    const long id = get_global_id(0), block = id / pieces % blocks, batch = id / pieces / blocks;
    const long first = id % pieces * each, last = min(first + each, depth);
    if (batch >= P[0])
        return;
    const int used = (int)min((long)WIDTH, n - block * WIDTH);
    b += map_place(P + 6, 0, batch) + block * WIDTH * step;
    panels += (batch * blocks + block) * depth * WIDTH;
#ifdef SAME_TYPE
    if (step == 1 && used == WIDTH) {
        for (long k = first; k < last; k++)
            for (int c = 0; c < WIDTH; c += 16)
                vstore16(vload16(0, b + k * row + c), 0, panels + k * WIDTH + c);
        return;
    }
#endif
    for (int c = 0; c < WIDTH; c += 8) {
#define COLUMN(j) __global const STORED(TA) *b##j = b + min(c + j, used - 1) * step
        COLUMN(0);
        COLUMN(1);
        COLUMN(2);
        COLUMN(3);
        COLUMN(4);
        COLUMN(5);
        COLUMN(6);
        COLUMN(7);
#define DOWN(j) ((STORED(PANEL))LOAD(TA, b##j, k * row))
        for (long k = first; k < last; k++)
            vstore8((PANEL8)(DOWN(0), DOWN(1), DOWN(2), DOWN(3), DOWN(4), DOWN(5), DOWN(6),
                             DOWN(7)),
                    0, panels + k * WIDTH + c);
    }
}
#endif

/* Numbers: batches, M, K, strides of row and column of a, K of an item, map of the batch dims (a).
 */
#if NEEDED(pack_left)
__kernel void pack_left(TABLE, IN(TA, a), OUT(REAL, blocks))
{
    ENTER;
    OPERAND(a);
    OPERAND(blocks);
    const long m = P[1], depth = P[2], step = P[4], each = P[5];
    const long row_blocks = (m + ROWS - 1) / ROWS, pieces = (depth + each - 1) / each;
    const long id = get_global_id(0), row = id / pieces % row_blocks * ROWS;
    const long batch = id / pieces / row_blocks, first = id % pieces * each;
    if (batch >= P[0])
        return;
    a += map_place(P + 6, 0, batch);
    blocks += (batch * row_blocks * ROWS + row) * depth;
#define FROM(r) __global const STORED(TA) *a##r = a + min(row + r, m - 1) * P[3]
    FROM(0);
    FROM(1);
    FROM(2);
    FROM(3);
    FROM(4);
    FROM(5);
    FROM(6);
    FROM(7);
#define NEXT(r) ((real)LOAD(TA, a##r, k * step))
    for (long k = first; k < min(first + each, depth); k++)
        vstore8((VECTOR8)(NEXT(0), NEXT(1), NEXT(2), NEXT(3), NEXT(4), NEXT(5), NEXT(6), NEXT(7)),
                k, blocks);
}
#endif

/* Numbers: elements, chunks, map of y in the order of the pieces. */
#if NEEDED(join_pieces)
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
#endif

/* Numbers: runs, elements of a run, runs of a row, elements of a row, map. A dense copy of an
 * operand in the map's order; a row is the last dim, a run a part of it. */
#if NEEDED(flatten)
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
#endif

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
#if NEEDED(conv_tables)
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
        origins[pitch + i] = origins[2 * pitch + i] = origins[3 * pitch + i] = 0;
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
        taps[tap_pitch + i] = taps[2 * tap_pitch + i] = taps[3 * tap_pitch + i] = 0;
    }
}
#endif

/*
 * Numbers: groups, N, K, sizes of what is read (3), elements from group to group, pitches of the
 * tables of columns and of K, and for STRIDED: stride of the convolution (3), strides of the
 * coordinates (3). STRIDED: what is read is dy, at coordinates that the stride divides; the sums
 * of the tables are coordinates times stride, and places that leave them out.
 */
#if NEEDED(conv_pack)
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
#endif
