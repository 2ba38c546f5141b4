/* SPDX-License-Identifier: Apache-2.0 */
#include "autograd/node.h"

#include <string.h>

#include "base/memory.h"

static _Thread_local int no_grad_depth;
static _Thread_local axle__seen *seen_here;
static uint64_t last_sequence;

void axle_no_grad_push(void)
{
    no_grad_depth++;
}

void axle_no_grad_pop(void)
{
    if (no_grad_depth > 0)
        no_grad_depth--;
}

int axle_grad_enabled(void)
{
    return no_grad_depth == 0;
}

/* ------------------------------------------------------------------ for computing again */

axle__seen *axle__seen_begin(axle__seen *seen)
{
    axle__seen *before = seen_here;
    seen_here = seen;
    return before;
}

bool axle__seen_is_on(void)
{
    return seen_here != NULL;
}

int axle__recording_resume(void)
{
    int depth = no_grad_depth;
    no_grad_depth = 0;
    return depth;
}

void axle__recording_stop(int depth)
{
    no_grad_depth = depth;
}

static void see(axle__seen *seen, axle_tensor *tensor)
{
    for (int k = 0; k < seen->count; k++)
        if (seen->tensor[k] == tensor)
            return;
    if (seen->count == seen->room) {
        int room = seen->room ? 2 * seen->room : 16;
        axle_tensor **larger = axle__resize(seen->tensor, (size_t)room, sizeof(axle_tensor *));
        seen->failed = seen->failed || !larger;
        if (!larger)
            return;
        seen->tensor = larger;
        seen->room = room;
    }
    seen->tensor[seen->count++] = tensor;
}

/* ------------------------------------------------------------------ recording */

bool axle__recording(axle_tensor *const *in, int n)
{
    for (int k = 0; seen_here && k < n; k++)
        if (in[k] && in[k]->requires_grad)
            see(seen_here, in[k]);
    if (no_grad_depth > 0)
        return false;
    for (int k = 0; k < n; k++)
        if (in[k] && in[k]->requires_grad)
            return true;
    return false;
}

int axle__check_fixed(const char *who, const char *what, const axle_tensor *operand)
{
    if (no_grad_depth > 0 || !operand || !operand->requires_grad)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_UNSUPPORTED,
                          "%s: there is no gradient for the %s; see axle_detach", who, what);
}

axle__edge axle__edge_to(axle_tensor *tensor)
{
    axle__edge edge = {0};
    if (!tensor || !tensor->requires_grad)
        return edge;
    axle__grad *grad = axle__grad_peek(tensor);
    if (!grad->node) {
        edge.leaf = axle_tensor_retain(tensor);
        return edge;
    }
    edge.node = grad->node;
    edge.slot = grad->slot;
    __atomic_add_fetch(&edge.node->references, 1, __ATOMIC_RELAXED);
    return edge;
}

static size_t aligned(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

/* One allocation holds the node and its arrays. */
axle__node *axle__node_create(const axle__rule *rule, axle_tensor *const *in, int n_in, int n_out,
                              int n_kept, const void *attrs, size_t attrs_size)
{
    size_t edges = aligned(sizeof(axle__node));
    size_t kept = edges + aligned((size_t)n_in * sizeof(axle__edge));
    size_t grads = kept + aligned((size_t)n_kept * sizeof(axle__keep));
    size_t tail = grads + aligned((size_t)n_out * sizeof(axle_tensor *));
    unsigned char *memory = axle__alloc(1, tail + attrs_size);
    if (!memory)
        return NULL;
    axle__node *node = (axle__node *)memory;
    node->rule = rule;
    node->references = 1;
    node->n_in = (uint32_t)n_in;
    node->n_out = (uint32_t)n_out;
    node->n_kept = (uint32_t)n_kept;
    node->sequence = __atomic_add_fetch(&last_sequence, 1, __ATOMIC_RELAXED);
    node->edge = (axle__edge *)(memory + edges);
    node->kept = (axle__keep *)(memory + kept);
    node->grad = (axle_tensor **)(memory + grads);
    node->attrs = memory + tail;
    if (attrs_size)
        memcpy(node->attrs, attrs, attrs_size);
    for (int k = 0; k < n_in; k++)
        node->edge[k] = axle__edge_to(in[k]);
    return node;
}

int axle__node_keep(axle__node *node, int k, axle_tensor *tensor)
{
    if (!tensor)
        return AXLE_OK;
    axle_tensor *alias = axle__tensor_alias(tensor, &tensor->view);
    if (!alias)
        return axle_error_code();
    node->kept[k].tensor = alias;
    node->kept[k].version = axle__storage_version(tensor);
    return AXLE_OK;
}

/* Release what a node holds; nodes that this leaves without references join the list. */
static axle__node *dismantle(axle__node *node, axle__node *list)
{
    if (node->rule->destroy)
        node->rule->destroy(node);
    for (uint32_t k = 0; k < node->n_kept; k++)
        axle_tensor_release(node->kept[k].tensor);
    for (uint32_t k = 0; k < node->n_out; k++)
        axle_tensor_release(node->grad[k]);
    axle__hooks_release(node->hooks);
    for (uint32_t k = 0; k < node->n_in; k++) {
        axle__node *next = node->edge[k].node;
        axle_tensor_release(node->edge[k].leaf);
        if (!next || __atomic_sub_fetch(&next->references, 1, __ATOMIC_ACQ_REL) != 0)
            continue;
        next->next = list;
        list = next;
    }
    axle__free(node);
    return list;
}

/* Iterative: graphs can be deeper than the stack. */
void axle__node_release(axle__node *node)
{
    if (!node || __atomic_sub_fetch(&node->references, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    axle__node *list = dismantle(node, NULL);
    while (list) {
        axle__node *first = list;
        list = dismantle(first, first->next);
    }
}

static void grad_release(axle_tensor *tensor)
{
    axle__grad *grad = tensor->grad;
    axle__node_release(grad->node);
    axle_tensor_release(grad->value);
    axle__hooks_release(grad->hooks);
    axle__free(grad);
}

axle__grad *axle__grad_of(axle_tensor *tensor)
{
    if (tensor->grad)
        return tensor->grad;
    tensor->grad = axle__alloc(1, sizeof(axle__grad));
    if (tensor->grad)
        tensor->grad_release = grad_release;
    return tensor->grad;
}

int axle__node_attach(axle__node *node, int slot, axle_tensor *y)
{
    axle__grad *grad = axle__grad_of(y);
    if (!grad)
        return axle_error_code();
    __atomic_add_fetch(&node->references, 1, __ATOMIC_RELAXED);
    grad->node = node;
    grad->slot = (uint32_t)slot;
    y->requires_grad = true;
    return AXLE_OK;
}

axle_tensor *axle__record(const axle__rule *rule, axle_tensor *y, axle_tensor *const *in, int n_in,
                          axle_tensor *const *kept, int n_kept, const void *attrs,
                          size_t attrs_size)
{
    if (!y || !axle__recording(in, n_in))
        return y;
    axle__node *node = axle__node_create(rule, in, n_in, 1, n_kept, attrs, attrs_size);
    int status = node ? AXLE_OK : AXLE_ERR_NOMEM;
    for (int k = 0; k < n_kept && !status; k++)
        status = axle__node_keep(node, k, kept[k]);
    if (!status)
        status = axle__node_attach(node, 0, y);
    axle__node_release(node);
    return status ? NULL : y;
}
