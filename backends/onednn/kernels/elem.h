/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementwise operators over operands of any strides and element types.
 *
 * A plan sorts and merges the dims, then cuts the elements into blocks of at most ELEM_BLOCK. An
 * operand whose block is dense and of the type the loop wants is used where it lies; others are
 * brought into a small buffer first. A block that an operand repeats (a bias, a constant) is
 * brought once. Where everything is dense, the loop runs straight over the operands.
 */
#ifndef AXLE_ONEDNN_ELEM_H
#define AXLE_ONEDNN_ELEM_H

#include "kernel.h"

enum { ELEM_INPUTS = 6, ELEM_BLOCK = 512 };

typedef struct elem_operand {
    int64_t stride[AXLE_MAX_RANK]; /* elements */
    int64_t size;                  /* bytes of an element; 0 where the operand is absent */
    int64_t width;                 /* bytes of an element as the loop sees it */
    int native;                    /* of the type that the loop wants */
    load_loop load;
    store_loop store;
} elem_operand;

typedef struct elem_plan {
    elem_loop loop;
    elem_params params;
    int64_t count;
    int direct; /* all operands dense and native */
    int weight; /* cost of an element; 1 is bound by memory */
    uint32_t n_in;
    int32_t rank;
    int64_t dim[AXLE_MAX_RANK];
    elem_operand in[ELEM_INPUTS], out;
    /* A piece of work is `block_rows` rows of the inner dim, or `segment` elements of one row. */
    int64_t cols, rows, block_rows, segment, pieces_per_outer, items;
} elem_plan;

/* How operands are brought to the loop. */
enum {
    ELEM_CONVERT = 0,        /* inputs and output as elements of the domain */
    ELEM_CONVERT_INPUTS = 1, /* the loop writes the output's own type */
    ELEM_RAW = 2             /* elements are moved unchanged */
};

/* Views have equal dims. Absent inputs are NULL and stay NULL in the loop. */
void elem_plan_init(elem_plan *plan, const cpu_loops *loops, elem_loop loop, uint32_t n_in,
                    const axle_view *const *in, const axle_view *out, int mode);
void elem_plan_run(const elem_plan *plan, const void *const *in, void *out);

/* A prepared operator that is nothing but a plan, and its run function. */
typedef struct elem_op {
    axle_be_op base;
    elem_plan plan;
} elem_op;

axle_status elem_op_run(axle_be_op *op, const axle_op_args *args, axle_error *error);

#endif
