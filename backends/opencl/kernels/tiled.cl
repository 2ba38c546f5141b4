/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MATMUL for GPUs: groups of SIDE x SIDE work-items, each with 4 x 4 sums in registers, over tiles
 * of both matrices in local memory. Each sum takes its products in the order of K, as the product
 * of CPU devices does.
 */
#pragma OPENCL FP_CONTRACT ON
#define TILE (4 * SIDE)
#define STEP 8
#define ITEMS (SIDE * SIDE)

/* Numbers: batches, M, N, K, strides of row and column of a, b, bias, y, whether there is a bias,
 * map of the batch dims (a, b, bias, y). */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
tiled(TABLE, IN(T, a), IN(T, b), IN(T, bias), OUT(T, y), real alpha)
{
    __local real left[STEP * TILE], right[STEP * TILE];
    ENTER;
    OPERAND(a);
    OPERAND(b);
    OPERAND(bias);
    OPERAND(y);
    const long m = P[1], n = P[2], depth = P[3];
    const long down = (m + TILE - 1) / TILE, across = (n + TILE - 1) / TILE;
    const long group = get_group_id(0), batch = group / across / down;
    const long row = group / across % down * TILE, column = group % across * TILE;
    const int item = (int)get_local_id(0), i = item / SIDE, j = item % SIDE;
    __constant const long *stride = P + 4, *map = P + 13;
    a += map_place(map, 0, batch) + row * stride[0];
    b += map_place(map, 1, batch) + column * stride[3];
    real s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
    real s20 = 0, s21 = 0, s22 = 0, s23 = 0, s30 = 0, s31 = 0, s32 = 0, s33 = 0;
    for (long first = 0; first < depth; first += STEP) {
        for (int e = item; e < STEP * TILE; e += ITEMS) {
            const int k = e % STEP, r = e / STEP, kk = e / TILE, c = e % TILE;
            left[k * TILE + r] = first + k < depth && row + r < m
                                     ? LOAD(T, a, r * stride[0] + (first + k) * stride[1])
                                     : 0;
            right[e] = first + kk < depth && column + c < n
                           ? LOAD(T, b, (first + kk) * stride[2] + c * stride[3])
                           : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        /* Products with what lies beyond K are left out, since 0 times infinity is no number. */
        const int last = (int)min((long)STEP, depth - first);
        for (int k = 0; k < last; k++) {
            const real b0 = right[k * TILE + j], b1 = right[k * TILE + j + SIDE];
            const real b2 = right[k * TILE + j + 2 * SIDE], b3 = right[k * TILE + j + 3 * SIDE];
#define ROW_ADD(r)                                                                                 \
    {                                                                                              \
        const real v = left[k * TILE + i + r * SIDE];                                              \
        s##r##0 += v * b0;                                                                         \
        s##r##1 += v * b1;                                                                         \
        s##r##2 += v * b2;                                                                         \
        s##r##3 += v * b3;                                                                         \
    }
            ROW_ADD(0)
            ROW_ADD(1)
            ROW_ADD(2)
            ROW_ADD(3)
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    bias += map_place(map, 2, batch);
    y += map_place(map, 3, batch);
#ifdef ACCUMULATE
#define PUT(at, v) STORE(T, y, at, LOAD(T, y, at) + (v))
#else
#define PUT(at, v) STORE(T, y, at, ACTIVATE(v))
#endif
#define KEEP(r, c)                                                                                 \
    {                                                                                              \
        const long p = row + i + r * SIDE, q = column + j + c * SIDE;                              \
        if (p < m && q < n) {                                                                      \
            real v = alpha * s##r##c;                                                              \
            if (P[12])                                                                             \
                v += LOAD(T, bias, p * stride[4] + q * stride[5]);                                 \
            PUT(p * stride[6] + q * stride[7], v);                                                 \
        }                                                                                          \
    }
#define ROW_KEEP(r) KEEP(r, 0) KEEP(r, 1) KEEP(r, 2) KEEP(r, 3)
    ROW_KEEP(0)
    ROW_KEEP(1)
    ROW_KEEP(2)
    ROW_KEEP(3)
}
