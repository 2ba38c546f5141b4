/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of calls that covers every differentiable operator, over odd, empty, scalar, strided
 * and broadcast operands. Gradients are checked over it, and devices are compared.
 */
#ifndef AXLE_TESTS_OP_CASES_H
#define AXLE_TESTS_OP_CASES_H

#include <stdbool.h>

#include "axle/axle.h"

/* Operands are normal numbers; these keep an operator away from its poles and corners. */
typedef enum op_domain { ANY, POSITIVE, UNIT, SPREAD } op_domain;

typedef struct op_operand {
    int rank;
    int64_t dims[5];
    op_domain domain;
    bool transposed; /* its last two dims are stored swapped */
} op_operand;

typedef struct op_case {
    const char *name;
    axle_tensor_fn fn;
    int n;
    op_operand operand[3];
    bool large; /* too large for finite differences */
} op_case;

extern const op_case op_cases[];
extern const int op_case_count;

/* Element type of the constants that some cases make: that of their operands. */
extern int op_case_dtype;

/* Operand of a case in op_case_dtype on the current device, of the current scope; it requires a
 * gradient. The values follow the thread's random stream. NULL on error. */
axle_tensor *op_case_operand(const op_operand *operand);

#endif
