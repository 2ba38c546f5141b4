/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of operands of any stride and float type, as dense f32: used where they lie if they are
 * that already, else brought into a buffer and written back.
 */
#ifndef AXLE_ONEDNN_ROWS_H
#define AXLE_ONEDNN_ROWS_H

#include "kernel.h"

/* How the rows of one operand lie. */
typedef struct row_operand {
    int64_t size;   /* bytes of an element; 0 where the operand is absent */
    int64_t stride; /* elements, along the row */
    int direct;     /* dense f32 */
    load_loop load;
    store_loop store;
} row_operand;

row_operand cpu_row_operand(const cpu_loops *loops, const axle_view *view, uint32_t axis);

/* Rows of a rank that is known at prepare: the dims of an operand but for one. */
enum { ROW_OPERANDS = 3 };
typedef struct row_walk {
    int32_t rank;
    int64_t dim[AXLE_MAX_RANK];
    int64_t stride[ROW_OPERANDS][AXLE_MAX_RANK]; /* bytes */
    int64_t rows;
} row_walk;

/* Views of equal dims; absent ones are NULL. */
void cpu_row_walk_init(row_walk *walk, uint32_t axis, const axle_view *const views[ROW_OPERANDS]);

/* Byte offsets of a row in every operand; returns its index along the last dim of the walk. */
int64_t cpu_row_locate(const row_walk *walk, int64_t row, int64_t offset[ROW_OPERANDS]);

static inline const float *cpu_row_read(const row_operand *operand, const void *row, int64_t n,
                                        float *stage)
{
    if (operand->direct)
        return row;
    operand->load(row, operand->stride, stage, n);
    return stage;
}

/* Where to write a row; cpu_row_write brings it home. */
static inline float *cpu_row_target(const row_operand *operand, void *row, float *stage)
{
    return operand->direct ? row : stage;
}

static inline void cpu_row_write(const row_operand *operand, void *row, int64_t n,
                                 const float *stage)
{
    if (!operand->direct)
        operand->store(stage, row, operand->stride, n);
}

/* A vector of parameters as dense f32: where it lies, or in `stage`. NULL where it is absent. */
static inline const float *cpu_row_vector(const row_operand *operand, const void *data, int64_t n,
                                          float *stage)
{
    return operand->size > 0 && data ? cpu_row_read(operand, data, n, stage) : NULL;
}

#endif
