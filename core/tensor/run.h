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

/* `y` where status is AXLE_OK, else NULL. */
static inline axle_tensor *axle__checked(int status, axle_tensor *y)
{
    return status == AXLE_OK ? y : NULL;
}

#endif
