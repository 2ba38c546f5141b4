/* SPDX-License-Identifier: Apache-2.0 */
/* Other element types, copies, other devices. */
#include "axle/ops.h"

#include "autograd/node.h"
#include "tensor/elementwise.h"

static int cast_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const int *dtype = node->attrs;
    dx[0] = axle_cast(dy[0], *dtype);
    return axle__given(dx[0]);
}

static const axle__rule cast_rule = {"cast", cast_backward, NULL};

axle_tensor *axle_cast(axle_tensor *x, int dtype)
{
    if (!x || (int)axle__dtype(x) == dtype)
        return x;
    axle_tensor *y = NULL;
    if (axle_dtype_size(dtype) == 0)
        axle_error_set(AXLE_ERR_DTYPE, "cast: there is no element type %d", dtype);
    else
        y = axle__elementwise_result("cast", dtype, axle__rank(x), x->view.dim, &x, 1);
    if (!y || axle__copy_into(y, x))
        return NULL;
    if (!axle_dtype_is_float(dtype))
        return y;
    int back = (int)axle__dtype(x);
    return axle__record(&cast_rule, y, &x, 1, NULL, 0, &back, sizeof(back));
}

static int copy_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    (void)node;
    dx[0] = dy[0];
    return AXLE_OK;
}

static const axle__rule clone_rule = {"clone", copy_backward, NULL};

axle_tensor *axle_clone(axle_tensor *x)
{
    if (!x)
        return NULL;
    return axle__record(&clone_rule, axle__copy("clone", x, (int)axle__dtype(x)), &x, 1, NULL, 0,
                        NULL, 0);
}

axle_tensor *axle_contiguous(axle_tensor *x)
{
    return !x || x->row_major ? x : axle_clone(x);
}

static int to_device_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    axle_device *const *device = node->attrs;
    dx[0] = axle_to_device(dy[0], *device);
    return axle__given(dx[0]);
}

static const axle__rule to_device_rule = {"to_device", to_device_backward, NULL};

axle_tensor *axle_to_device(axle_tensor *x, axle_device *device)
{
    if (x && !device)
        axle_error_set(AXLE_ERR_DEVICE, "to_device: no device");
    if (!x || !device || x->device == device)
        return device ? x : NULL;
    axle_tensor *y =
        axle__result("to_device", device, (int)axle__dtype(x), axle__rank(x), x->view.dim);
    if (!y || axle__copy_into(y, x))
        return NULL;
    return axle__record(&to_device_rule, y, &x, 1, NULL, 0, &x->device, sizeof(x->device));
}

axle_tensor *axle_detach(axle_tensor *x)
{
    return x ? axle__scope_own(axle__tensor_alias(x, &x->view)) : NULL;
}
