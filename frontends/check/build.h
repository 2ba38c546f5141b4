/* SPDX-License-Identifier: Apache-2.0 */
/* From a case's text to operands, and what the reference makes of them. */
#ifndef AXLE_CHECK_BUILD_H
#define AXLE_CHECK_BUILD_H

#include "case.h"
#include "execute.h"

/* The operands of a case with one shape. */
typedef struct operands {
    uint32_t n_in, n_out;
    operand in[AXLE_OP_MAX_IN], out[AXLE_OP_MAX_OUT];
    int has_in[AXLE_OP_MAX_IN], has_out[AXLE_OP_MAX_OUT];
    int shares[AXLE_OP_MAX_OUT]; /* as in execution */
    uint32_t most_dims;
    int repeats; /* whether any dim does */
} operands;

/* Make the operands, those that a forward step computes included; `s` says what they hold. */
int operands_create(const machine *reference, const op_case *c, const char *shape, uint32_t dtype,
                    uint64_t rng_seed, stream *s, operands *out, note *n);
/* What the outputs should hold: in `want`, as f64, or in exact cases as they are. */
int operands_expect(const machine *reference, const op_case *c, const operands *o,
                    uint64_t rng_seed, operands *want, note *n);
void operands_free(operands *o);

execution execution_of(const op_case *c, const operands *o, uint64_t rng_seed);

#endif
