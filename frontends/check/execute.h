/* SPDX-License-Identifier: Apache-2.0 */
/* Running one operator on one device, with everything around it watched. */
#ifndef AXLE_CHECK_EXECUTE_H
#define AXLE_CHECK_EXECUTE_H

#include "operand.h"

/* What to run. Absent operands are NULL. */
typedef struct execution {
    uint32_t op, n_in, n_out;
    const operand *in[AXLE_OP_MAX_IN], *out[AXLE_OP_MAX_OUT];
    int shares[AXLE_OP_MAX_OUT]; /* 1 + the input whose storage an output is; 0: none */
    operand_layout in_layout, out_layout;
    int expand; /* write repeating dims out */
    int twice;  /* ask for determinism, run twice, and compare bits */
    const void *attrs, *scalars;
    uint64_t rng_seed, rng_offset;
    axle_status expected; /* AXLE_OK, or what the run or the queue has to report */
} execution;

/* What came of it. */
typedef struct outcome {
    uint32_t support;                       /* AXLE_SUPPORT_NO: nothing was run */
    unsigned char *result[AXLE_OP_MAX_OUT]; /* elements of the outputs */
} outcome;

/* Run and fetch the outputs. 0 and a note where anything is wrong. */
int execute(const machine *m, const execution *e, outcome *out, note *n);
/* What the device makes of it, without running anything. */
uint32_t execution_support(const machine *m, const execution *e);
void outcome_free(outcome *out);

#endif
