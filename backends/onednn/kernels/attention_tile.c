/* SPDX-License-Identifier: Apache-2.0 */
/* Operands and tiles of attention; shared by both passes. */
#include "attention.h"

#include <math.h>
#include <string.h>

attention_operand cpu_attention_operand(const cpu_loops *loops, const axle_view *view)
{
    attention_operand operand = {.size = 0};
    if (!view)
        return operand;
    memcpy(operand.stride, view->stride, sizeof(operand.stride));
    operand.size = cpu_dtype_size(view->dtype);
    operand.direct = view->dtype == AXLE_DTYPE_F32;
    if (operand.direct) {
        operand.load = loops->convert->load_raw[2];
        operand.store = loops->convert->store_raw[2];
    } else if (view->dtype == AXLE_DTYPE_BOOL) {
        operand.load = loops->convert->load_raw[0];
    } else {
        operand.load = loops->convert->load[view->dtype];
        operand.store = loops->convert->store[view->dtype];
    }
    return operand;
}

int cpu_attention_accepts(const axle_view *q, const axle_view *k, const axle_view *v,
                          const axle_view *mask)
{
    const uint32_t dtype = q->dtype;
    if (!cpu_is_f32_like(dtype) || k->dtype != dtype || v->dtype != dtype)
        return 0;
    if (q->rank != 4 || k->rank != 4 || v->rank != 4 || (mask && mask->rank != 4))
        return 0;
    return !mask || mask->dtype == AXLE_DTYPE_BOOL || mask->dtype == dtype;
}

static int64_t whole_vectors(int64_t n)
{
    return (int64_t)cpu_round_up((size_t)n, GEMM_WIDTH);
}

void cpu_attention_shape(attention_shape *shape, const cpu_loops *loops,
                         const axle_attention_attrs *attrs, const axle_view *q, const axle_view *k,
                         const axle_view *v, const axle_view *mask)
{
    const double p = attrs->dropout < 1.0 ? attrs->dropout : 1.0;
    memset(shape, 0, sizeof(*shape));
    shape->loops = loops;
    shape->causal = attrs->causal != 0;
    shape->scale = (float)attrs->scale;
    shape->threshold = p > 0.0 ? (uint32_t)ceil(p * 0x1p24) : 0;
    shape->factor = p < 1.0 ? (float)(1.0 / (1.0 - p)) : 0.0f;
    shape->batch = q->dim[0];
    shape->heads = q->dim[1];
    shape->queries = q->dim[2];
    shape->depth = q->dim[3];
    shape->keys = k->dim[2];
    shape->width = v->dim[3];
    shape->depth_padded = whole_vectors(shape->depth);
    shape->width_padded = whole_vectors(shape->width);
    shape->q = cpu_attention_operand(loops, q);
    shape->k = cpu_attention_operand(loops, k);
    shape->v = cpu_attention_operand(loops, v);
    shape->mask = cpu_attention_operand(loops, mask);
    shape->has_mask = mask != NULL;
    shape->boolean_mask = mask && mask->dtype == AXLE_DTYPE_BOOL;
    shape->mask_by_key = mask && (mask->stride[2] == 0 || mask->dim[2] == 1);
}

attention_rows cpu_attention_bring(const attention_shape *shape, const attention_operand *operand,
                                   const unsigned char *head, int64_t first, int64_t n,
                                   int64_t columns, int64_t padded, float *stage)
{
    const unsigned char *from = head + first * operand->stride[2] * operand->size;
    attention_rows rows = {.data = stage, .ld = padded};
    if (operand->direct && operand->stride[3] == 1 && columns == padded) {
        rows.data = (const float *)from;
        rows.ld = operand->stride[2];
    }
    for (int64_t r = 0; rows.data == stage && r < n; r++) {
        float *to = stage + r * padded;
        operand->load(from + r * operand->stride[2] * operand->size, operand->stride[3], to,
                      columns);
        memset(to + columns, 0, sizeof(float) * (size_t)(padded - columns));
    }
    rows.finite = (!shape->has_mask && !shape->causal) ||
                  shape->loops->attention->finite(rows.data, rows.ld, n, columns);
    return rows;
}

void cpu_attention_store(const attention_operand *operand, unsigned char *head, int64_t first,
                         int64_t n, int64_t columns, const float *rows, int64_t ld)
{
    for (int64_t r = 0; r < n; r++)
        operand->store(rows + r * ld, head + (first + r) * operand->stride[2] * operand->size,
                       operand->stride[3], columns);
}

/* One key against all queries of the tile. */
static void mask_key(const attention_shape *shape, const attention_tile *tile,
                     const unsigned char *mask_head, int64_t c, float *column)
{
    const attention_operand *mask = &shape->mask;
    const int64_t step = shape->mask_by_key ? 0 : mask->stride[2];
    const unsigned char *at =
        mask_head + ((tile->col + c) * mask->stride[3] + tile->row * step) * mask->size;
    float values[ATTENTION_ROWS];
    uint8_t keeps[ATTENTION_ROWS];
    if (shape->boolean_mask && shape->mask_by_key && *at)
        return;
    if (!shape->boolean_mask) {
        mask->load(at, step, values, tile->rows);
    } else {
        mask->load(at, step, keeps, tile->rows);
        for (int64_t r = 0; r < tile->rows; r++)
            values[r] = keeps[r] ? 0.0f : -INFINITY;
    }
    shape->loops->attention->mask_column(column, tile->rows, values);
}

void cpu_attention_mask(const attention_shape *shape, const attention_tile *tile,
                        const unsigned char *mask_head, float *scores)
{
    for (int64_t c = 0; c < tile->cols; c++) {
        float *column = scores + c * tile->ld;
        const int64_t removed = shape->causal ? cpu_min(tile->col + c - tile->row, tile->rows) : 0;
        if (shape->has_mask)
            mask_key(shape, tile, mask_head, c, column);
        for (int64_t r = 0; r < removed; r++)
            column[r] = -INFINITY;
    }
}

void cpu_attention_drop(const attention_shape *shape, const attention_tile *tile, uint64_t seed,
                        uint64_t offset, float *values)
{
    uint32_t words[ATTENTION_COLS];
    for (int64_t r = 0; r < tile->rows; r++) {
        const int64_t row = tile->head * shape->queries + tile->row + r;
        const uint64_t first = offset + (uint64_t)(row * shape->keys + tile->col);
        shape->loops->random->words(seed, first, tile->cols, words);
        shape->loops->attention->drop(values + r, tile->ld, tile->cols, words, shape->threshold,
                                      shape->factor);
    }
}
