/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/unbind.h"

#include "axle/autograd.h"
#include "base/memory.h"
#include "nn/module.h"

static int dim_of(axle_function_context *context)
{
    return (int)(intptr_t)axle_function_user(context);
}

static int unbind_forward(axle_function_context *context, axle_tensor *const *in, int n_in,
                          axle_tensor **out, int n_out)
{
    (void)n_in;
    for (int k = 0; k < n_out; k++) {
        out[k] = axle_select(in[0], dim_of(context), k);
        if (!out[k])
            return axle_error_code();
    }
    return AXLE_OK;
}

/* Zeros like the gradients that came; backward runs only where one did. */
static axle_tensor *zeros_like_some(axle_tensor *const *grad, int n)
{
    int k = 0;
    while (k < n - 1 && !grad[k])
        k++;
    return axle__filled("unbind", axle_tensor_device(grad[k]), axle_tensor_dtype(grad[k]),
                        axle_tensor_rank(grad[k]), axle_tensor_dims(grad[k]), 0.0);
}

static int unbind_backward(axle_function_context *context, axle_tensor *const *grad_out, int n_out,
                           axle_tensor **grad_in, int n_in)
{
    (void)n_in;
    axle_tensor **slice = axle__alloc((size_t)n_out, sizeof(*slice)), *zeros = NULL;
    if (!slice)
        return axle_error_code();
    int status = AXLE_OK;
    for (int k = 0; k < n_out && !status; k++) {
        if (!grad_out[k] && !zeros)
            zeros = zeros_like_some(grad_out, n_out);
        slice[k] = grad_out[k] ? grad_out[k] : zeros;
        status = slice[k] ? AXLE_OK : axle_error_code();
    }
    if (!status) {
        grad_in[0] = axle_stack(slice, n_out, dim_of(context));
        status = grad_in[0] ? AXLE_OK : axle_error_code();
    }
    axle__free(slice);
    return status;
}

int axle__unbind(axle_tensor *x, int dim, int n, axle_tensor **out)
{
    axle_function function = AXLE_FUNCTION_INIT;
    function.name = "unbind";
    function.forward = unbind_forward;
    function.backward = unbind_backward;
    if (!x)
        return axle_error_code();
    return axle_function_apply(&function, &x, 1, out, n, (void *)(intptr_t)dim);
}
