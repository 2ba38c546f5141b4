/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backward: visit the recorded nodes that the root reaches, latest first, and pass gradients along
 * their edges. One pass runs at a time in a process, since graphs may share leaves; a rule or hook
 * may start another pass inside its own.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/autocast.h"
#include "autograd/node.h"
#include "base/memory.h"
#include "device/hook.h"
#include "tensor/elementwise.h"
#include "tensor/shape.h"

static pthread_mutex_t engine_lock;
static pthread_once_t engine_once = PTHREAD_ONCE_INIT;
static uint64_t last_pass;

static void make_lock(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&engine_lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

typedef struct pass {
    axle__node **nodes;
    size_t count, room;
    uint64_t number;
    bool retain;
    bool inside; /* a rule of another pass started it, whose leaves these are */
} pass;

static int visit(pass *p, axle__node *node)
{
    if (node->pass == p->number)
        return AXLE_OK;
    if (node->freed)
        return axle_error_set(AXLE_ERR_STATE,
                              "backward: the record of %s was freed by an earlier "
                              "backward; retain the graph to run it again",
                              node->rule->name);
    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 64;
        axle__node **nodes = axle__resize(p->nodes, room, sizeof(*nodes));
        if (!nodes)
            return axle_error_code();
        p->nodes = nodes;
        p->room = room;
    }
    node->pass = p->number;
    p->nodes[p->count++] = node;
    return AXLE_OK;
}

static void expect(pass *p, axle_tensor *leaf)
{
    axle__grad *grad = axle__grad_peek(leaf);
    if (grad->pass != p->number) {
        grad->pass = p->number;
        grad->pending = 0;
        grad->reached = false;
    }
    grad->pending++;
}

static int collect(pass *p, axle__node *root)
{
    int status = visit(p, root);
    for (size_t i = 0; i < p->count && !status; i++) {
        axle__node *node = p->nodes[i];
        for (uint32_t k = 0; k < node->n_in && !status; k++) {
            if (node->edge[k].leaf && !p->inside)
                expect(p, node->edge[k].leaf);
            else if (node->edge[k].node)
                status = visit(p, node->edge[k].node);
        }
    }
    return status;
}

static int latest_first(const void *a, const void *b)
{
    uint64_t x = (*(axle__node *const *)a)->sequence, y = (*(axle__node *const *)b)->sequence;
    return (x < y) - (x > y);
}

static int check_kept(const axle__node *node)
{
    for (uint32_t k = 0; k < node->n_kept; k++) {
        const axle__keep *kept = &node->kept[k];
        if (kept->tensor && axle__storage_version(kept->tensor) != kept->version)
            return axle_error_set(AXLE_ERR_STATE,
                                  "backward: a tensor that %s saved was overwritten since",
                                  node->rule->name);
    }
    return AXLE_OK;
}

static int deliver_to_node(const axle__edge *edge, axle_tensor *g)
{
    axle_tensor **slot = &edge->node->grad[edge->slot];
    if (!*slot) {
        *slot = axle_tensor_retain(g);
        return AXLE_OK;
    }
    axle_tensor *sum = axle__binary(AXLE_BINARY_ADD, 1.0, *slot, g);
    if (!sum)
        return axle_error_code();
    axle_tensor_release(*slot);
    *slot = axle_tensor_retain(sum);
    return AXLE_OK;
}

static int deliver_to_leaf(const pass *p, axle_tensor *leaf, axle_tensor *g)
{
    axle__grad *grad = axle__grad_peek(leaf);
    int status = AXLE_OK;
    if (g) {
        status = axle__leaf_accumulate(leaf, g);
        grad->reached = true;
    }
    if (!p->inside && --grad->pending == 0 && grad->reached && !status)
        axle__hooks_ready(grad->hooks, leaf);
    return status;
}

static int deliver(const pass *p, axle__node *node, axle_tensor *const *dx)
{
    int status = AXLE_OK;
    for (uint32_t k = 0; k < node->n_in && !status; k++) {
        if (node->edge[k].leaf)
            status = deliver_to_leaf(p, node->edge[k].leaf, dx[k]);
        else if (node->edge[k].node && dx[k])
            status = deliver_to_node(&node->edge[k], dx[k]);
    }
    return status;
}

static int run_hooks(axle__node *node)
{
    for (uint32_t k = 0; node->hooks && k < node->n_out; k++) {
        if (!node->grad[k])
            continue;
        axle_tensor *g = axle__hooks_run(node->hooks, k, node->grad[k]);
        if (!g)
            return axle_error_code();
        axle_tensor_retain(g);
        axle_tensor_release(node->grad[k]);
        node->grad[k] = g;
    }
    return AXLE_OK;
}

static bool any_grad(const axle__node *node)
{
    for (uint32_t k = 0; k < node->n_out; k++)
        if (node->grad[k])
            return true;
    return false;
}

enum { FEW_INPUTS = 16 };

static int apply_rule(const pass *p, axle__node *node)
{
    axle_tensor *few[FEW_INPUTS] = {0}, **dx = few;
    if (node->n_in > FEW_INPUTS && !(dx = axle__alloc(node->n_in, sizeof(*dx))))
        return axle_error_code();
    int status = AXLE_OK;
    if (any_grad(node)) {
        status = check_kept(node);
        if (!status)
            status = run_hooks(node);
        if (!status)
            status = node->rule->backward(node, node->grad, dx);
    }
    if (!status)
        status = deliver(p, node, dx);
    if (dx != few)
        axle__free(dx);
    return status;
}

static void drop_grads(axle__node *node)
{
    for (uint32_t k = 0; k < node->n_out; k++) {
        axle_tensor_release(node->grad[k]);
        node->grad[k] = NULL;
    }
}

static void drop_kept(axle__node *node)
{
    for (uint32_t k = 0; k < node->n_kept; k++) {
        axle_tensor_release(node->kept[k].tensor);
        node->kept[k].tensor = NULL;
    }
    node->freed = true;
}

static int run_node(const pass *p, axle__node *node)
{
    int status = axle_scope_push();
    if (!status) {
        status = apply_rule(p, node);
        axle_scope_pop();
    }
    drop_grads(node);
    if (!p->retain && !status)
        drop_kept(node);
    return status;
}

/* Takes a reference to the gradient over. */
static int run_pass(pass p, axle__node *root, uint32_t slot, axle_tensor *gradient)
{
    p.number = ++last_pass;
    int status = collect(&p, root);
    if (!status) {
        qsort(p.nodes, p.count, sizeof(*p.nodes), latest_first);
        root->grad[slot] = gradient;
    } else {
        axle_tensor_release(gradient);
    }
    size_t i = 0;
    for (; i < p.count && !status; i++)
        status = run_node(&p, p.nodes[i]);
    for (; i < p.count; i++)
        drop_grads(p.nodes[i]);
    axle__free(p.nodes);
    return status;
}

/* The gradient to begin with; of the current scope. */
static axle_tensor *seed_gradient(axle_tensor *root, axle_tensor *gradient)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    if (!gradient) {
        if (root->count != 1) {
            axle_error_set(AXLE_ERR_SHAPE,
                           "backward: root %s is not one element and no gradient was given",
                           axle__shape_text(root, ta));
            return NULL;
        }
        axle_tensor *one = axle__result("backward", root->device, (int)axle__dtype(root),
                                        axle__rank(root), root->view.dim);
        return one && !axle__fill(one, 1.0) ? one : NULL;
    }
    if (axle__check_pair("backward", root, gradient))
        return NULL;
    if (axle__dims_equal(axle__rank(root), root->view.dim, axle__rank(gradient),
                         gradient->view.dim))
        return gradient;
    axle_error_set(AXLE_ERR_SHAPE, "backward: root is %s, its gradient %s",
                   axle__shape_text(root, ta), axle__shape_text(gradient, tb));
    return NULL;
}

static int run_backward(axle_tensor *root, axle_tensor *gradient, bool retain)
{
    axle__grad *grad = axle__grad_peek(root);
    axle_tensor *seed = seed_gradient(root, gradient);
    if (!seed)
        return axle_error_code();
    if (!grad->node)
        return axle__leaf_accumulate(root, seed);
    axle__node *node = grad->node;
    __atomic_add_fetch(&node->references, 1, __ATOMIC_RELAXED);
    int status = run_pass((pass){.retain = retain}, node, grad->slot, axle_tensor_retain(seed));
    axle__node_release(node);
    return status;
}

int axle__backward_inside(axle__node *node, uint32_t slot, axle_tensor *gradient)
{
    int status = run_pass((pass){.inside = true}, node, slot, gradient);
    axle__node_release(node);
    return status;
}

static int backward_from(axle_tensor *root, axle_tensor *gradient, int retain_graph)
{
    if (axle__check_tensor("backward", root))
        return axle_error_code();
    if (!root->requires_grad)
        return axle_error_set(
            AXLE_ERR_STATE, "backward: the tensor does not depend on any that requires a gradient");
    int status = axle_scope_push();
    if (status)
        return status;
    pthread_once(&engine_once, make_lock);
    pthread_mutex_lock(&engine_lock);
    axle_no_grad_push();
    axle__autocast_state region = axle__autocast_suspend();
    status = run_backward(root, gradient, retain_graph != 0);
    axle__autocast_resume(region);
    axle_no_grad_pop();
    pthread_mutex_unlock(&engine_lock);
    axle_scope_pop();
    return status;
}

int axle_tensor_backward(axle_tensor *root, axle_tensor *gradient, int retain_graph)
{
    axle__hook_point phase;
    axle__phase_begin(&phase, "backward");
    int status = backward_from(root, gradient, retain_graph);
    axle__phase_end(&phase);
    return status;
}
