/* SPDX-License-Identifier: Apache-2.0 */
/* The blocked product for CPU devices (kernels/product.cl), which matmul and conv share. */
#ifndef AXLE_OPENCL_PRODUCT_H
#define AXLE_OPENCL_PRODUCT_H

#include "plan.h"

/* Rows of a block, most blocks of a work-item, and how much of K one packs. */
enum { OCL_PRODUCT_ROWS = 8, OCL_PRODUCT_BLOCKS = 4, OCL_PACK_DEPTH = 64 };

/* What is multiplied: y (m, n) = a (m, k) . b (k, n), in batches. */
typedef struct ocl_product {
    int64_t batches, m, n, k;
    int64_t a_row, a_column, y_row, y_column, bias_row, bias_column;
    ocl_map map; /* of the batches: a, bias, y */
    const char *a_type, *y_type, *activation;
    uint32_t panel_size;
    int a_in_work; /* a is dense in the workspace, at a_work, else input `a_operand` */
    int a_packed;  /* and in blocks of rows */
    uint32_t a_operand;
    uint64_t a_work, panels, places, pieces;
    int64_t panel_batch; /* panel elements from batch to batch */
    int bias_operand;    /* an input, or -1 */
    int placed, accumulate;
    int64_t chunks; /* of k */
    int partial;    /* the sums of the chunks go to `pieces` (chunks, batches, m, n) */
    double alpha;
} ocl_product;

/*
 * Small products cost little and are summed in f64 where the device has it: their results are then
 * the correctly rounded ones, and training follows the reference backend's path through maxima and
 * rectifiers.
 */
int ocl_product_is_wide(const ocl_plan *plan, int64_t terms);
void ocl_product_widen(ocl_plan *plan, int64_t terms);

/* Columns of a panel. */
static inline int64_t ocl_panel_width(const ocl_plan *plan)
{
    return plan->real == AXLE_DTYPE_F64 ? 16 : 32;
}

/* Bytes of a number in a panel, for operands of this type. */
static inline uint32_t ocl_panel_size(const axle_view *operand)
{
    return operand->dtype == AXLE_DTYPE_F64 ? 8 : 4;
}

/* Elements of the panels of one batch. */
static inline int64_t ocl_panel_elements(const ocl_plan *plan, int64_t n, int64_t k)
{
    const int64_t width = ocl_panel_width(plan);
    return (n + width - 1) / width * width * k;
}

void ocl_step_product(ocl_plan *plan, const ocl_product *p);

/* The panels of a matrix, of the last two dims of an input seen as `b`, in so many batches. */
void ocl_step_pack(ocl_plan *plan, uint32_t operand, const axle_view *b, int64_t batches,
                   uint64_t panels);

/* Options of the kernels that make ready what a product reads. */
void ocl_product_options(const ocl_plan *plan, const axle_view *operand, char *out, size_t size);

#endif
