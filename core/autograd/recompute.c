/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computing again in backward. What is recorded is one node, with an edge for each input and each
 * leaf that the function used by itself, so that a pass knows what leads to a leaf. Its rule calls
 * the function anew, recorded this time, and runs backward through that record.
 *
 * Contributions to the gradient of an input are added in the order in which they would be added
 * without all this: the sum so far moves into the pass inside, and comes back with what it adds.
 */
#include "autograd/autocast.h"
#include "autograd/node.h"
#include "axle/random.h"
#include "base/memory.h"
#include "tensor/shape.h"

typedef struct recompute_record {
    axle_tensor_fn fn;
    void *user;
    void (*destroy)(void *user);
    axle_random_state random;
    int region; /* type of the autocast region around the call; 0: there was none */
    int n_in;
    int twin[]; /* of each input: the first one that is the same tensor, maybe itself */
} recompute_record;

static _Thread_local int recomputing;

int axle_recomputing(void)
{
    return recomputing > 0;
}

/* ------------------------------------------------------------------ backward */

/* An input as a leaf of the record inside, which begins with the gradient so far. */
static axle_tensor *leaf_for(axle__node *node, int k)
{
    axle__edge *edge = &node->edge[k];
    axle_tensor **sum = &edge->node->grad[edge->slot], *saved = axle__saved(node, k);
    axle_tensor *leaf = axle__scope_own(axle__tensor_alias(saved, &saved->view));
    if (!leaf || axle_tensor_set_requires_grad(leaf, 1))
        return NULL;
    if (*sum && axle_tensor_set_grad(leaf, *sum))
        return NULL;
    axle_tensor_release(*sum);
    *sum = NULL;
    return leaf;
}

static int make_inputs(axle__node *node, axle_tensor **in)
{
    const recompute_record *record = node->attrs;
    for (int k = 0; k < record->n_in; k++) {
        if (record->twin[k] < k)
            in[k] = in[record->twin[k]];
        else if (node->edge[k].leaf)
            in[k] = node->edge[k].leaf;
        else if (!node->edge[k].node)
            in[k] = axle__saved(node, k);
        else if (!(in[k] = leaf_for(node, k)))
            return axle_error_code();
    }
    return AXLE_OK;
}

static axle_tensor *call_again(const recompute_record *record, axle_tensor *const *in)
{
    if (record->region && axle_autocast_push(record->region))
        return NULL;
    axle_random_state before = axle_random_get();
    int depth = axle__recording_resume();
    axle__seen *seen = axle__seen_begin(NULL);
    axle_random_set(record->random);
    recomputing++;
    axle_tensor *y = record->fn(in, record->n_in, record->user);
    recomputing--;
    axle_random_set(before);
    axle__seen_begin(seen);
    axle__recording_stop(depth);
    if (record->region)
        axle_autocast_pop();
    return y;
}

static void hand_out(const axle__node *node, axle_tensor *const *in, axle_tensor **dx)
{
    const recompute_record *record = node->attrs;
    for (int k = 0; k < record->n_in; k++)
        if (record->twin[k] == k && node->edge[k].node)
            dx[k] = axle_tensor_grad(in[k]);
}

/* The gradient of a result that no recorded operator made: an input, or a leaf. */
static int pass_on(axle_tensor *y, axle_tensor *dy)
{
    if (!y->requires_grad)
        return AXLE_OK;
    axle__grad_peek(y)->reached = true;
    return axle__leaf_accumulate(y, dy);
}

/* A result that stayed while backward runs through its record would cost the memory that this is
 * to save; so would its gradient, which is why the node gives that away. */
static int run_inside(axle__node *node, axle_tensor *const *in)
{
    axle_tensor *dy = node->grad[0];
    int status = axle_scope_push();
    if (status)
        return status;
    axle_tensor *y = call_again(node->attrs, in);
    const axle__grad *grad = y ? axle__grad_peek(y) : NULL;
    axle__node *inside = grad ? grad->node : NULL;
    uint32_t slot = grad ? grad->slot : 0;
    if (inside)
        __atomic_add_fetch(&inside->references, 1, __ATOMIC_RELAXED);
    if (!y)
        status = axle_error_code();
    else if (axle__dtype(y) != axle__dtype(dy) ||
             !axle__dims_equal(axle__rank(y), y->view.dim, axle__rank(dy), dy->view.dim))
        status = axle_error_set(AXLE_ERR_STATE,
                                "axle_checkpoint: the second call gave another shape or type");
    else if (!inside)
        status = pass_on(y, dy);
    axle_scope_pop();
    if (status || !inside) {
        axle__node_release(inside);
        return status;
    }
    node->grad[0] = NULL;
    return axle__backward_inside(inside, slot, dy);
}

static int recompute_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const recompute_record *record = node->attrs;
    axle_tensor **in = axle__alloc((size_t)record->n_in + 1, sizeof(*in));
    (void)dy;
    if (!in)
        return axle_error_code();
    int status = make_inputs(node, in);
    if (!status)
        status = run_inside(node, in);
    if (!status)
        hand_out(node, in, dx);
    axle__free(in);
    return status;
}

static void recompute_destroy(axle__node *node)
{
    const recompute_record *record = node->attrs;
    if (record->destroy)
        record->destroy(record->user);
}

static const axle__rule recompute_rule = {"checkpoint", recompute_backward, recompute_destroy};

/* ------------------------------------------------------------------ forward */

static bool is_input(const axle_tensor *tensor, axle_tensor *const *in, int n_in)
{
    for (int k = 0; k < n_in; k++)
        if (in[k] == tensor)
            return true;
    return false;
}

/* Leave leaves alone in `seen`. */
static int drop_inputs(axle__seen *seen, axle_tensor *const *in, int n_in)
{
    int kept = 0;
    if (seen->failed)
        return axle_error_code();
    for (int k = 0; k < seen->count; k++) {
        if (is_input(seen->tensor[k], in, n_in))
            continue;
        if (!axle_tensor_is_leaf(seen->tensor[k]))
            return axle_error_set(AXLE_ERR_STATE,
                                  "axle_checkpoint: the function uses a recorded tensor that is "
                                  "none of its inputs");
        seen->tensor[kept++] = seen->tensor[k];
    }
    seen->count = kept;
    return AXLE_OK;
}

/* With casts of parameters of its own: those of the record around would lead out of this one. */
static axle_tensor *call_first(const recompute_record *record, axle_tensor *const *in,
                               axle__seen *seen)
{
    axle__autocast_state around = axle__autocast_suspend();
    axle__seen *before = axle__seen_begin(seen);
    axle_tensor *y = NULL;
    axle_no_grad_push();
    if (!record->region || axle_autocast_push(record->region) == AXLE_OK) {
        y = record->fn(in, record->n_in, record->user);
        if (record->region)
            axle_autocast_pop();
    }
    axle_no_grad_pop();
    axle__seen_begin(before);
    axle__autocast_resume(around);
    return y;
}

static size_t record_size(int n_in)
{
    return sizeof(recompute_record) + (size_t)n_in * sizeof(int);
}

/* *owned: the node destroys `user` from here on. */
static int record_node(const recompute_record *record, axle_tensor *const *all, int n,
                       axle_tensor **y, bool *owned)
{
    axle__node *node =
        axle__node_create(&recompute_rule, all, n, 1, n, record, record_size(record->n_in));
    if (!node)
        return axle_error_code();
    *owned = true;
    int status = AXLE_OK;
    for (int k = 0; k < n && !status; k++)
        status = axle__node_keep(node, k, all[k]);
    if (!status && ((*y)->grad || is_input(*y, all, n)))
        *y = axle__scope_own(axle__tensor_alias(*y, &(*y)->view));
    if (!status)
        status = *y ? axle__node_attach(node, 0, *y) : axle_error_code();
    axle__node_release(node);
    return status;
}

static int compute(const recompute_record *record, axle_tensor *const *in, axle_tensor **y,
                   bool *owned)
{
    axle__seen seen = {0};
    int n_in = record->n_in;
    *y = call_first(record, in, &seen);
    int status = *y ? drop_inputs(&seen, in, n_in) : axle_error_code();
    int n = n_in + seen.count;
    axle_tensor **all = status ? NULL : axle__alloc((size_t)n + 1, sizeof(*all));
    if (!status && !all)
        status = axle_error_code();
    for (int k = 0; k < n && !status; k++)
        all[k] = k < n_in ? in[k] : seen.tensor[k - n_in];
    if (!status && axle__recording(all, n) && axle_dtype_is_float((int)axle__dtype(*y)))
        status = record_node(record, all, n, y, owned);
    axle__free(all);
    axle__free(seen.tensor);
    return status;
}

static recompute_record *make_record(axle_tensor_fn fn, axle_tensor *const *in, int n_in,
                                     void *user, void (*destroy)(void *user))
{
    recompute_record *record = axle__alloc(1, record_size(n_in));
    if (!record)
        return NULL;
    int region = axle__autocast_is_open() ? axle_autocast_dtype() : 0;
    *record = (recompute_record){fn, user, destroy, axle_random_get(), region, n_in};
    for (int k = 0; k < n_in; k++)
        while (in[record->twin[k]] != in[k])
            record->twin[k]++;
    return record;
}

axle_tensor *axle_checkpoint(axle_tensor_fn fn, axle_tensor *const *in, int n_in, void *user,
                             void (*destroy)(void *user))
{
    bool owned = false;
    axle_tensor *y = NULL;
    recompute_record *record = make_record(fn, in, n_in, user, destroy);
    int status = record ? AXLE_OK : axle_error_code();
    if (!status && axle_grad_enabled())
        status = compute(record, in, &y, &owned);
    else if (!status)
        y = fn(in, n_in, user);
    axle__free(record);
    if (!owned && destroy)
        destroy(user);
    return status ? NULL : y;
}
