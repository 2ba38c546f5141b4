/* SPDX-License-Identifier: Apache-2.0 */
#include "product.h"

#include <stdio.h>

enum { WIDE_TERMS = 1 << 26 };

int ocl_product_is_wide(const ocl_plan *plan, int64_t terms)
{
    return plan->device->about.has_f64 && terms <= WIDE_TERMS;
}

void ocl_product_widen(ocl_plan *plan, int64_t terms)
{
    if (ocl_product_is_wide(plan, terms))
        plan->real = AXLE_DTYPE_F64;
}

static const char *panel_options(const ocl_plan *plan, uint32_t panel_size)
{
    if (panel_size == 8)
        return " -DPANEL=f64";
    return plan->real == AXLE_DTYPE_F64 ? " -DPANEL=f32 -DWIDEN" : " -DPANEL=f32";
}

void ocl_product_options(const ocl_plan *plan, const axle_view *operand, char *out, size_t size)
{
    const int same = operand->dtype == AXLE_DTYPE_F32 || operand->dtype == AXLE_DTYPE_F64;
    snprintf(out, size, "-DTA=%s -DTY=%s -DACTIVATION=NONE%s%s%s", ocl_dtype(operand),
             ocl_dtype(operand), panel_options(plan, ocl_panel_size(operand)),
             same ? " -DSAME_TYPE" : "", plan->real == AXLE_DTYPE_F64 ? " -DCOMPENSATE" : "");
}

static int64_t blocks(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/* Row blocks of a work-item: as many as leave the device busy. */
static int64_t blocks_of_item(const ocl_plan *plan, int64_t rows, int64_t columns)
{
    const int64_t busy = ocl_busy(plan), many = rows * columns / (busy > 0 ? busy : 1);
    return many < 1 ? 1 : many < OCL_PRODUCT_BLOCKS ? many : OCL_PRODUCT_BLOCKS;
}

void ocl_step_product(ocl_plan *plan, const ocl_product *p)
{
    const int64_t columns = blocks(p->n, ocl_panel_width(plan)) * p->batches * p->chunks;
    const int64_t rows = blocks(p->m, OCL_PRODUCT_ROWS), many = blocks_of_item(plan, rows, columns);
    const int64_t numbers[] = {p->batches,
                               p->m,
                               p->n,
                               p->k,
                               p->a_row,
                               p->a_column,
                               p->y_row,
                               p->y_column,
                               p->bias_row,
                               p->bias_column,
                               p->bias_operand >= 0,
                               p->panel_batch,
                               p->chunks,
                               blocks(p->k, p->chunks),
                               many};
    const uint32_t size = ocl_real_size(plan);
    ocl_step_begin(plan, "prelude functions vectors product", "product",
                   blocks(rows, many) * columns, 1, "-DTA=%s -DTY=%s -DACTIVATION=%s%s%s%s%s%s",
                   p->a_type, p->y_type, p->activation, p->a_packed ? " -DPACKED_LEFT" : "",
                   p->placed ? " -DPLACED" : "", p->accumulate ? " -DACCUMULATE" : "",
                   p->partial ? " -DPARTIAL" : "", panel_options(plan, p->panel_size));
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
        ocl_put(plan, numbers[k]);
    ocl_put_map(plan, &p->map);
    if (p->a_in_work)
        ocl_arg_work(plan, p->a_work, size);
    else
        ocl_arg_in(plan, p->a_operand);
    ocl_arg_work(plan, p->panels, p->panel_size);
    ocl_arg_in(plan, p->bias_operand >= 0 ? (uint32_t)p->bias_operand : AXLE_OP_MAX_IN);
    ocl_arg_out(plan, 0);
    ocl_arg_work(plan, p->places, 8);
    ocl_arg_work(plan, p->pieces, size);
    ocl_arg_real(plan, p->alpha);
}

void ocl_step_pack(ocl_plan *plan, uint32_t operand, const axle_view *b, int64_t batches,
                   uint64_t panels)
{
    const uint32_t row = b->rank - 2, column = b->rank - 1;
    const int64_t n = b->dim[column], k = b->dim[row], width = ocl_panel_width(plan);
    ocl_map map = {0};
    char options[128];
    ocl_product_options(plan, b, options, sizeof(options));
    ocl_map_views(&map, &b, 1, 0, row);
    ocl_map_merge(&map);
    ocl_step_begin(plan, "prelude functions vectors product", "pack",
                   batches * ((n + width - 1) / width) *
                       ((k + OCL_PACK_DEPTH - 1) / OCL_PACK_DEPTH),
                   1, "%s", options);
    ocl_put(plan, batches);
    ocl_put(plan, n);
    ocl_put(plan, k);
    ocl_put(plan, b->stride[row]);
    ocl_put(plan, b->stride[column]);
    ocl_put(plan, OCL_PACK_DEPTH);
    ocl_put_map(plan, &map);
    ocl_arg_in(plan, operand);
    ocl_arg_work(plan, panels, ocl_panel_size(b));
}
