/* SPDX-License-Identifier: Apache-2.0 */
/* What axle bench op can measure: one line an operator in bench_op_table.c. */
#ifndef AXLE_CLI_BENCH_OP_H
#define AXLE_CLI_BENCH_OP_H

#include "bench.h"

enum { OP_MOST_OPERANDS = 5 };

typedef struct op_operands {
    int64_t dim[BENCH_MOST_NUMBERS]; /* the numbers of the shape */
    int rank, dtype;
    axle_tensor *in[OP_MOST_OPERANDS]; /* of the current scope; NULL beyond the last */
    axle_optimizer *optimizer;
} op_operands;

typedef struct op_entry {
    const char *name, *form, *shape; /* what the shape's numbers are; the default */
    int least, most;                 /* numbers of a shape */
    /* Make the operands on the current device. Those that are NULL after it are an error if
     * earlier ones depend on it; Axle's error is recorded then. */
    void (*make)(op_operands *o);
    axle_tensor *(*apply)(op_operands *o);
    double (*flops)(const op_operands *o); /* NULL: it is bound by memory */
    int gradient;                          /* NAME_backward can be measured, too */
    int passes; /* times that elements of the shape are read or written; 0: operands and result,
                   once each */
} op_entry;

extern const op_entry op_entries[];
extern const int op_entry_count;

#endif
