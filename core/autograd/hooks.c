/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient hooks: lists on leaves and on nodes, in the order in which they were added. */
#include "autograd/node.h"
#include "base/memory.h"
#include "tensor/shape.h"

static axle_hook *hook_create(axle_grad_fn on_grad, axle_grad_ready_fn on_ready, void *user)
{
    axle_hook *hook = axle__alloc(1, sizeof(*hook));
    if (!hook)
        return NULL;
    hook->references = 1;
    hook->on_grad = on_grad;
    hook->on_ready = on_ready;
    hook->user = user;
    return hook;
}

static void hook_release(axle_hook *hook)
{
    if (__atomic_sub_fetch(&hook->references, 1, __ATOMIC_ACQ_REL) == 0)
        axle__free(hook);
}

static int hook_add(axle_hook **list, axle_hook *hook, axle_hook **out)
{
    if (!hook)
        return AXLE_ERR_NOMEM;
    while (*list)
        list = &(*list)->next;
    *list = hook;
    if (!out)
        return AXLE_OK;
    hook->references++;
    *out = hook;
    return AXLE_OK;
}

int axle_tensor_add_hook(axle_tensor *tensor, axle_grad_fn fn, void *user, axle_hook **out)
{
    if (axle__check_tensor("axle_tensor_add_hook", tensor))
        return axle_error_code();
    if (!tensor->requires_grad)
        return axle_error_set(AXLE_ERR_STATE, "axle_tensor_add_hook: the tensor needs no gradient");
    axle__grad *grad = axle__grad_peek(tensor);
    axle_hook *hook = hook_create(fn, NULL, user);
    if (hook)
        hook->slot = grad->node ? grad->slot : 0;
    return hook_add(grad->node ? &grad->node->hooks : &grad->hooks, hook, out);
}

int axle_tensor_add_ready_hook(axle_tensor *leaf, axle_grad_ready_fn fn, void *user,
                               axle_hook **out)
{
    if (axle__check_tensor("axle_tensor_add_ready_hook", leaf))
        return axle_error_code();
    if (!leaf->requires_grad || !axle_tensor_is_leaf(leaf))
        return axle_error_set(AXLE_ERR_STATE, "axle_tensor_add_ready_hook: wants a leaf that "
                                              "requires a gradient");
    return hook_add(&axle__grad_peek(leaf)->hooks, hook_create(NULL, fn, user), out);
}

void axle_hook_remove(axle_hook *hook)
{
    if (!hook)
        return;
    hook->removed = true;
    hook_release(hook);
}

void axle__hooks_release(axle_hook *hooks)
{
    while (hooks) {
        axle_hook *next = hooks->next;
        hook_release(hooks);
        hooks = next;
    }
}

axle_tensor *axle__hooks_run(axle_hook *hooks, uint32_t slot, axle_tensor *g)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    for (axle_hook *hook = hooks; hook; hook = hook->next) {
        if (hook->removed || !hook->on_grad || hook->slot != slot)
            continue;
        axle_tensor *replaced = hook->on_grad(g, hook->user);
        if (!replaced)
            continue;
        if (axle__check_pair("gradient hook", g, replaced))
            return NULL;
        if (!axle__dims_equal(axle__rank(g), g->view.dim, axle__rank(replaced),
                              replaced->view.dim)) {
            axle_error_set(AXLE_ERR_SHAPE, "gradient hook: gradient is %s, its replacement %s",
                           axle__shape_text(g, ta), axle__shape_text(replaced, tb));
            return NULL;
        }
        g = replaced;
    }
    return g;
}

void axle__hooks_ready(axle_hook *hooks, axle_tensor *leaf)
{
    for (axle_hook *hook = hooks; hook; hook = hook->next)
        if (!hook->removed && hook->on_ready)
            hook->on_ready(leaf, hook->user);
}
