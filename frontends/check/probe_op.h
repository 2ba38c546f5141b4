/* SPDX-License-Identifier: Apache-2.0 */
/* An operator that most devices have: y = factor * x over a few numbers of f32, for rows that are
 * about something else. */
#ifndef AXLE_CHECK_PROBE_OP_H
#define AXLE_CHECK_PROBE_OP_H

#include "machine.h"

enum { PROBE_COUNT = 37 };

typedef struct probe_op {
    axle_unary_attrs attrs;
    axle_view x, y;
    const axle_view *in[1], *out[1];
    axle_op_desc desc;
    double factor;
    axle_be_op *op; /* once it is prepared */
    axle_be_buffer *workspace;
} probe_op;

void probe_op_describe(probe_op *p, double factor);
int probe_op_offered(const machine *m);

int probe_op_prepare(const machine *m, probe_op *p, double factor, note *n);
/* Enqueue y = factor * x, from and to the beginnings of buffers. */
int probe_op_run(const machine *m, axle_be_queue *queue, const probe_op *p, axle_be_buffer *x,
                 axle_be_buffer *y, note *n);
void probe_op_release(const machine *m, probe_op *p);

/* Buffers of so many numbers; x holds 1, 2, 3 and so on. */
int probe_buffers_create(const machine *m, axle_be_queue *queue, axle_be_buffer **x,
                         axle_be_buffer **y, note *n);
/* Whether y holds factor times x. */
int probe_result_holds(const machine *m, axle_be_queue *queue, axle_be_buffer *y, double factor,
                       note *n);

/* Everything from buffers to the result; where the device does not have the operator, the memory
 * alone. The second with attributes and arguments that end later than they do today. */
int probe_op_works(const machine *m, note *n);
int probe_op_works_longer(const machine *m, note *n);

#endif
