/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From tensors to dispatch. A call is begun with AXLE__CALL, operands are added, and axle__run
 * sends it off:
 *
 *     axle_reduce_attrs attrs = {sizeof(attrs), kind, mask, 0, 0.0};
 *     axle__call call = AXLE__CALL(AXLE_OP_REDUCE, attrs);
 *     axle__call_in(&call, x);
 *     axle__call_out(&call, y);
 *     return axle__run(&call, y);
 */
#ifndef AXLE_TENSOR_RUN_H
#define AXLE_TENSOR_RUN_H

#include "device/dispatch.h"
#include "tensor/tensor.h"

#define AXLE__CALL(number, attributes)                                                             \
    (axle__call)                                                                                   \
    {                                                                                              \
        .op = (number), .attrs = &(attributes), .attrs_size = sizeof(attributes)                   \
    }

/* Add an operand; NULL is an absent one. */
static inline void axle__call_in(axle__call *call, const axle_tensor *tensor)
{
    call->in[call->n_in++] = tensor ? &tensor->view : NULL;
}

static inline void axle__call_out(axle__call *call, const axle_tensor *tensor)
{
    call->out[call->n_out++] = tensor ? &tensor->view : NULL;
}

static inline void axle__call_view_in(axle__call *call, const axle_view *view)
{
    call->in[call->n_in++] = view;
}

static inline void axle__call_view_out(axle__call *call, const axle_view *view)
{
    call->out[call->n_out++] = view;
}

/* Dispatch on the device of `where`. */
static inline int axle__run(const axle__call *call, const axle_tensor *where)
{
    return axle__dispatch(where->device, call);
}

/* A row-major tensor as a matrix of rows * columns elements, and as a vector of all its elements.
 */
static inline axle_view axle__matrix_view(const axle_tensor *x, int64_t rows, int64_t columns)
{
    return (axle_view){.buffer = x->view.buffer,
                       .offset = x->view.offset,
                       .dtype = x->view.dtype,
                       .rank = 2,
                       .dim = {rows, columns},
                       .stride = {columns > 0 ? columns : 1, 1}};
}

static inline axle_view axle__vector_view(const axle_tensor *x)
{
    return (axle_view){.buffer = x->view.buffer,
                       .offset = x->view.offset,
                       .dtype = x->view.dtype,
                       .rank = 1,
                       .dim = {x->count},
                       .stride = {1}};
}

/* `y` where status is AXLE_OK, else NULL. */
static inline axle_tensor *axle__checked(int status, axle_tensor *y)
{
    return status == AXLE_OK ? y : NULL;
}

#endif
