/* SPDX-License-Identifier: Apache-2.0 */
/* UNARY relu and its gradient, over elements in a row: the simplest kernels there are. Operands
 * with other strides are copied by the core, because support is AXLE_SUPPORT_CONTIGUOUS. */
#include "template.h"

static int accepts(const template_attrs *attrs)
{
    return attrs->unary.kind == AXLE_UNARY_RELU;
}

static int64_t count_of(const axle_view *view)
{
    int64_t count = 1; /* of rank 0, too */
    for (uint32_t k = 0; k < view->rank; k++)
        count *= view->dim[k];
    return count;
}

/* x (n) -> y (n); NaN stays NaN. */
static void forward(const template_attrs *attrs, const axle_op_args *args)
{
    const float *x = template_data(args->in[0]);
    float *y = template_data(args->out[0]);
    (void)attrs;
    for (int64_t k = 0, n = count_of(args->out[0]); k < n; k++)
        y[k] = x[k] < 0 ? 0 : x[k];
}

/* dy (n), y (n) -> dx (n); AXLE_UNARY_LIST says that this gradient is computed from y. */
static void backward(const template_attrs *attrs, const axle_op_args *args)
{
    const float *dy = template_data(args->in[0]), *y = template_data(args->in[1]);
    float *dx = template_data(args->out[0]);
    (void)attrs;
    for (int64_t k = 0, n = count_of(args->out[0]); k < n; k++)
        dx[k] = y[k] > 0 ? dy[k] : 0;
}

const template_kernel template_relu = {AXLE_OP_UNARY, AXLE_SUPPORT_CONTIGUOUS, accepts, forward};
const template_kernel template_relu_backward = {AXLE_OP_UNARY_BACKWARD, AXLE_SUPPORT_CONTIGUOUS,
                                                accepts, backward};
