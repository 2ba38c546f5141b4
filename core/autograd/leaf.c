/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves: tensors that no recorded operator made, and their gradients. */
#include <string.h>

#include "autograd/node.h"
#include "tensor/elementwise.h"
#include "tensor/shape.h"

int axle_tensor_set_requires_grad(axle_tensor *tensor, int on)
{
    if (axle__check_tensor("axle_tensor_set_requires_grad", tensor))
        return axle_error_code();
    axle__grad *grad = axle__grad_peek(tensor);
    if (grad && grad->node)
        return axle_error_set(AXLE_ERR_STATE,
                              "axle_tensor_set_requires_grad: %s made this tensor; only leaves can "
                              "be switched (see axle_detach)",
                              grad->node->rule->name);
    if (on && axle__check_float("axle_tensor_set_requires_grad", tensor))
        return axle_error_code();
    if (on && !axle__grad_of(tensor))
        return axle_error_code();
    tensor->requires_grad = on != 0;
    return AXLE_OK;
}

int axle_tensor_requires_grad(const axle_tensor *tensor)
{
    return tensor->requires_grad;
}

int axle_tensor_is_leaf(const axle_tensor *tensor)
{
    const axle__grad *grad = axle__grad_peek(tensor);
    return !grad || !grad->node;
}

axle_tensor *axle_tensor_grad(const axle_tensor *tensor)
{
    const axle__grad *grad = axle__grad_peek(tensor);
    return grad && grad->present ? grad->value : NULL;
}

bool axle__grad_present(const axle_tensor *leaf)
{
    const axle__grad *grad = axle__grad_peek(leaf);
    return grad && grad->present;
}

void axle__grad_forget(axle_tensor *leaf)
{
    axle__grad *grad = axle__grad_peek(leaf);
    if (grad)
        grad->present = false;
}

void axle__grad_set_present(axle_tensor *leaf)
{
    axle__grad *grad = axle__grad_peek(leaf);
    if (grad && grad->value)
        grad->present = true;
}

static bool same_place(const axle_tensor *a, const axle_tensor *b)
{
    return a->storage == b->storage && a->view.offset == b->view.offset;
}

static int check_like(const char *who, const axle_tensor *leaf, const axle_tensor *g)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    if (axle__check_pair(who, leaf, g))
        return axle_error_code();
    if (axle__dims_equal(axle__rank(leaf), leaf->view.dim, axle__rank(g), g->view.dim))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_SHAPE, "%s: tensor is %s, its gradient %s", who,
                          axle__shape_text(leaf, ta), axle__shape_text(g, tb));
}

/* Storage for a gradient, made where there is none that fits. */
static axle_tensor *storage_of(axle_tensor *leaf, axle__grad *grad)
{
    if (grad->value && grad->value->device == leaf->device &&
        axle__dtype(grad->value) == axle__dtype(leaf))
        return grad->value;
    axle_tensor_release(grad->value);
    grad->present = false;
    const int64_t *strides = axle__view_is_dense(&leaf->view) ? leaf->view.stride : NULL;
    grad->value = axle__tensor_new("gradient", leaf->device, (int)axle__dtype(leaf),
                                   axle__rank(leaf), leaf->view.dim, strides);
    return grad->value;
}

int axle__leaf_accumulate(axle_tensor *leaf, axle_tensor *g)
{
    axle__grad *grad = axle__grad_peek(leaf);
    axle_tensor *hooked = grad->hooks ? axle__hooks_run(grad->hooks, 0, g) : g;
    if (!hooked || check_like("backward", leaf, hooked))
        return axle_error_code();
    axle_tensor *value = storage_of(leaf, grad);
    if (!value)
        return axle_error_code();
    int status = AXLE_OK;
    if (grad->present)
        status = axle__add_into(value, hooked, 1.0);
    else if (!same_place(value, hooked))
        status = axle__copy_into(value, hooked);
    grad->present = status == AXLE_OK;
    return status;
}

/* Whether input k of a node is the only one that leads to its leaf. */
static bool leads_alone(const axle__node *node, int k)
{
    for (int other = 0; other < (int)node->n_in; other++)
        if (other != k && node->edge[other].leaf == node->edge[k].leaf)
            return false;
    return true;
}

axle_tensor *axle__grad_target(axle__node *node, int k, axle_device *device, int dtype, int rank,
                               const int64_t *dims)
{
    axle_tensor *leaf = node->edge[k].leaf;
    axle__grad *grad = leaf ? axle__grad_peek(leaf) : NULL;
    if (grad && grad->value && !grad->present && leads_alone(node, k) &&
        grad->value->device == device && (int)axle__dtype(grad->value) == dtype &&
        axle__dims_equal(rank, dims, axle__rank(grad->value), grad->value->view.dim)) {
        axle__tensor_touch(grad->value);
        return grad->value;
    }
    return axle__result(node->rule->name, device, dtype, rank, dims);
}

int axle_tensor_set_grad(axle_tensor *tensor, axle_tensor *source)
{
    if (axle__check_tensor("axle_tensor_set_grad", tensor))
        return axle_error_code();
    if (!source) {
        axle__grad_forget(tensor);
        return AXLE_OK;
    }
    axle__grad *grad = axle__grad_of(tensor);
    if (!grad || check_like("axle_tensor_set_grad", tensor, source))
        return axle_error_code();
    axle_tensor *value = storage_of(tensor, grad);
    int status = value ? axle__copy_into(value, source) : axle_error_code();
    grad->present = status == AXLE_OK;
    return status;
}

int axle__grad_bind(axle_tensor *leaf, axle_tensor *storage)
{
    axle__grad *grad = axle__grad_of(leaf);
    if (!grad || check_like("gradient storage", leaf, storage))
        return axle_error_code();
    if (grad->present) {
        int status = axle__copy_into(storage, grad->value);
        if (status)
            return status;
    }
    axle_tensor_retain(storage);
    axle_tensor_release(grad->value);
    grad->value = storage;
    return AXLE_OK;
}
