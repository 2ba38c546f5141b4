/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of few rows with weights stored by columns, x . W^T of a small batch: every element is a
 * dot product of two dense rows. oneDNN would first rearrange the weights, which takes longer than
 * the product itself when so few rows share the effort.
 */
#include "activation.h"
#include "matmul_shape.h"
#include "primitives.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

/* Tiles of y, floats of a vector, and where the advantage ends. */
enum { TILE = 4, LANES = 16, MOST_ROWS = 24, LEAST_TERMS = 64, PARALLEL_TERMS = 200000 };

typedef float lanes __attribute__((vector_size(64), aligned(4)));

#define AVX512 __attribute__((target("avx512f,avx2,fma")))

typedef struct dots_op {
    axle_be_op base;
    matmul_shape shape;
    float alpha;
    activation_fn activation; /* NULL: none */
    int accumulate;
} dots_op;

/* Four rows of each operand that meet in a tile. */
typedef struct tile_rows {
    const float *a[TILE], *b[TILE];
} tile_rows;

/* The 16 sums of a tile, still spread over the lanes. */
typedef struct tile_sums {
    lanes sum[TILE * TILE];
} tile_sums;

AVX512 static inline __attribute__((always_inline)) lanes load(const float *from)
{
    return *(const lanes *)from;
}

/* Named accumulators, so that all of them stay in registers whatever the compiler unrolls. */
#define ROW(i)                                                                                     \
    do {                                                                                           \
        const lanes a = load(rows->a[i] + p);                                                      \
        s##i##0 += a * b0;                                                                         \
        s##i##1 += a * b1;                                                                         \
        s##i##2 += a * b2;                                                                         \
        s##i##3 += a * b3;                                                                         \
    } while (0)
#define DECLARE(i)                                                                                 \
    lanes s##i##0 = sums->sum[4 * i], s##i##1 = sums->sum[4 * i + 1],                              \
          s##i##2 = sums->sum[4 * i + 2], s##i##3 = sums->sum[4 * i + 3]
#define STORE(i)                                                                                   \
    sums->sum[4 * i] = s##i##0, sums->sum[4 * i + 1] = s##i##1, sums->sum[4 * i + 2] = s##i##2,    \
                  sums->sum[4 * i + 3] = s##i##3

AVX512 static inline __attribute__((always_inline)) void add_terms(tile_sums *sums,
                                                                   const tile_rows *rows, int64_t k)
{
    DECLARE(0);
    DECLARE(1);
    DECLARE(2);
    DECLARE(3);
    for (int64_t p = 0; p < k; p += LANES) {
        const lanes b0 = load(rows->b[0] + p), b1 = load(rows->b[1] + p);
        const lanes b2 = load(rows->b[2] + p), b3 = load(rows->b[3] + p);
        ROW(0);
        ROW(1);
        ROW(2);
        ROW(3);
    }
    STORE(0);
    STORE(1);
    STORE(2);
    STORE(3);
}

/* The terms that do not fill a vector, from copies that zeros fill up. */
AVX512 static void add_tail(tile_sums *sums, const tile_rows *rows, int64_t done, int64_t count)
{
    float room[2 * TILE][LANES] = {{0}};
    tile_rows padded;
    for (int i = 0; i < TILE; i++) {
        memcpy(room[i], rows->a[i] + done, (size_t)count * sizeof(float));
        memcpy(room[TILE + i], rows->b[i] + done, (size_t)count * sizeof(float));
        padded.a[i] = room[i];
        padded.b[i] = room[TILE + i];
    }
    add_terms(sums, &padded, LANES);
}

/* Sum each of 16 vectors over its lanes: adjacent vectors are interleaved and added, four times, so
 * that in the end lane t holds the sum of vector t. */
AVX512 static void reduce_tile(const tile_sums *sums, float *out)
{
    __m512 pair[8], four[4];
    for (int t = 0; t < 8; t++)
        pair[t] = _mm512_add_ps(
            _mm512_unpacklo_ps((__m512)sums->sum[2 * t], (__m512)sums->sum[2 * t + 1]),
            _mm512_unpackhi_ps((__m512)sums->sum[2 * t], (__m512)sums->sum[2 * t + 1]));
    for (int t = 0; t < 4; t++) {
        const __m512d a = _mm512_castps_pd(pair[2 * t]), b = _mm512_castps_pd(pair[2 * t + 1]);
        four[t] = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)),
                                _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
    }
    const __m512 low = _mm512_add_ps(_mm512_shuffle_f32x4(four[0], four[1], 0x88),
                                     _mm512_shuffle_f32x4(four[0], four[1], 0xdd));
    const __m512 high = _mm512_add_ps(_mm512_shuffle_f32x4(four[2], four[3], 0x88),
                                      _mm512_shuffle_f32x4(four[2], four[3], 0xdd));
    _mm512_storeu_ps(out, _mm512_add_ps(_mm512_shuffle_f32x4(low, high, 0x88),
                                        _mm512_shuffle_f32x4(low, high, 0xdd)));
}

static void finish(const dots_op *op, int64_t i, int64_t j, float sum, const float *bias, float *y)
{
    const matmul_operand *b = &op->shape.operand[MATMUL_BIAS], *o = &op->shape.operand[MATMUL_Y];
    float value = op->alpha * sum;
    if (bias)
        value += bias[i * b->row + j * b->column];
    float *to = y + i * o->row + j * o->column;
    if (op->accumulate)
        value += *to;
    *to = op->activation ? op->activation(value) : value;
}

/* Where the operands of a run are. */
typedef struct operands {
    const float *a, *b, *bias;
    float *y;
} operands;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows beyond the last one repeat it, and their sums are dropped. */
AVX512 static void run_tile(const dots_op *op, const operands *at, int64_t i, int64_t j)
{
    const matmul_shape *s = &op->shape;
    tile_rows rows;
    for (int64_t t = 0; t < TILE; t++) {
        rows.a[t] = at->a + least(i + t, s->m - 1) * s->operand[MATMUL_A].row;
        rows.b[t] = at->b + least(j + t, s->n - 1) * s->operand[MATMUL_B].column;
    }
    tile_sums sums;
    memset(&sums, 0, sizeof(sums));
    const int64_t whole = s->k / LANES * LANES;
    add_terms(&sums, &rows, whole);
    if (whole < s->k)
        add_tail(&sums, &rows, whole, s->k - whole);
    float total[TILE * TILE];
    reduce_tile(&sums, total);
    for (int64_t r = 0; r < least(TILE, s->m - i); r++)
        for (int64_t c = 0; c < least(TILE, s->n - j); c++)
            finish(op, i + r, j + c, total[TILE * r + c], at->bias, at->y);
}

static axle_status run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    (void)error;
    const dots_op *op = (const dots_op *)base;
    const matmul_shape *s = &op->shape;
    const operands at = {
        .a = cpu_data(args->in[s->operand[MATMUL_A].index]),
        .b = cpu_data(args->in[s->operand[MATMUL_B].index]),
        .bias = s->operand[MATMUL_BIAS].dtype ? cpu_data(args->in[2]) : NULL,
        .y = cpu_data(args->out[0]),
    };
    const int parallel = s->m * s->n * s->k >= PARALLEL_TERMS;
#pragma omp parallel for if (parallel)
    for (int64_t j = 0; j < s->n; j += TILE)
        for (int64_t i = 0; i < s->m; i += TILE)
            run_tile(op, &at, i, j);
    return AXLE_OK;
}

static int is_suited(const matmul_shape *s)
{
    const matmul_operand *a = &s->operand[MATMUL_A], *b = &s->operand[MATMUL_B];
    return s->n_batch == 0 && s->m <= MOST_ROWS && s->k >= LEAST_TERMS && s->n > 1 &&
           a->column == 1 && b->row == 1 && b->column >= s->k;
}

static axle_status query(const axle_op_desc *desc, axle_op_info *info)
{
    const axle_matmul_attrs *attrs = desc->attrs;
    if (desc->out[0]->dtype != AXLE_DTYPE_F32 || !activation_is_known(attrs->activation) ||
        !__builtin_cpu_supports("avx512f"))
        return AXLE_OK;
    matmul_shape shape;
    matmul_shape_read(&shape, desc);
    if (!is_suited(&shape))
        return AXLE_OK;
    info->support = AXLE_SUPPORT_YES;
    snprintf(info->impl, sizeof(info->impl), "openmp:matmul_dots");
    return AXLE_OK;
}

static axle_status prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                           axle_error *error)
{
    const axle_matmul_attrs *attrs = desc->attrs;
    dots_op *op = malloc(sizeof(*op));
    if (!op)
        return cpu_fail(error, AXLE_ERR_NOMEM, "onednn: no memory for a prepared product");
    *op = (dots_op){.base = {.kernel = &cpu_matmul_dots, .device = device},
                    .alpha = (float)attrs->alpha,
                    .activation = attrs->activation ? activation_function(attrs->activation) : NULL,
                    .accumulate = attrs->accumulate != 0};
    matmul_shape_read(&op->shape, desc);
    *out = &op->base;
    return AXLE_OK;
}

static void release(axle_be_op *op)
{
    free(op);
}

#else

static axle_status query(const axle_op_desc *desc, axle_op_info *info)
{
    (void)desc, (void)info;
    return AXLE_OK;
}

#define prepare NULL
#define run NULL
#define release NULL

#endif

const cpu_kernel cpu_matmul_dots = {
    .op = AXLE_OP_MATMUL, .query = query, .prepare = prepare, .run = run, .release = release};
