/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of what operators did. Each recorded operator is a node: its rule, what it saved, and
 * edges to where the gradients of its inputs go. An operator's file holds its forward pass and,
 * beside it, its rule:
 *
 *     static int exp_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
 *     {
 *         dx[0] = axle_mul(dy[0], axle__saved(node, 0));
 *         return axle__given(dx[0]);
 *     }
 *     static const axle__rule exp_rule = {"exp", exp_backward, NULL};
 *     ...
 *     return axle__record(&exp_rule, y, &x, 1, &y, 1, NULL, 0);
 *
 * Rules run without recording, in a scope of their own; dy[k] is NULL where no gradient came, and
 * dx[k] may stay NULL. Sequence numbers grow as operators are recorded, so falling order is a
 * topological order of the graph.
 */
#ifndef AXLE_AUTOGRAD_NODE_H
#define AXLE_AUTOGRAD_NODE_H

#include "axle/autograd.h"
#include "tensor/tensor.h"

typedef struct axle__node axle__node;

typedef struct axle__rule {
    const char *name;
    int (*backward)(axle__node *node, axle_tensor *const *dy, axle_tensor **dx);
    void (*destroy)(axle__node *node); /* of what attrs owns; NULL is fine */
} axle__rule;

/* Where a gradient goes: to slot `slot` of a node, to a leaf, or (both NULL) nowhere. */
typedef struct axle__edge {
    axle__node *node;
    axle_tensor *leaf;
    uint32_t slot;
} axle__edge;

/* A tensor kept for backward: an alias, so that a node can keep its own output without a cycle. */
typedef struct axle__keep {
    axle_tensor *tensor;
    uint32_t version;
} axle__keep;

struct axle_hook {
    uint32_t references; /* the list's and the handle's */
    bool removed;
    uint32_t slot;
    axle_grad_fn on_grad;
    axle_grad_ready_fn on_ready;
    void *user;
    axle_hook *next;
};

struct axle__node {
    const axle__rule *rule;
    uint32_t references;
    bool freed; /* backward ran and did not retain */
    uint32_t n_in, n_out, n_kept;
    uint64_t sequence;
    axle__edge *edge; /* n_in */
    axle__keep *kept; /* n_kept */
    void *attrs;
    axle_hook *hooks;
    /* Of the backward pass under way. */
    uint64_t pass;
    axle_tensor **grad; /* n_out */
    axle__node *next;   /* of the list of nodes to destroy */
};

/* What autograd hangs on a tensor. */
typedef struct axle__grad {
    axle__node *node; /* that made it; NULL for a leaf */
    uint32_t slot;
    /* Of leaves: */
    axle_tensor *value; /* storage of the gradient */
    bool present;       /* value holds a gradient */
    axle_hook *hooks;
    uint64_t pass;
    uint32_t pending; /* contributions still to come in this pass */
    bool reached;     /* a contribution came in this pass */
} axle__grad;

/* ------------------------------------------------------------------ for operators */

/* Record y, made from `in`, if this thread records and an input requires a gradient; returns y.
 * Keeps `kept` (NULL ones, too) and a copy of `attrs`. NULL on failure and for NULL y. */
axle_tensor *axle__record(const axle__rule *rule, axle_tensor *y, axle_tensor *const *in, int n_in,
                          axle_tensor *const *kept, int n_kept, const void *attrs,
                          size_t attrs_size);
/* Whether an operator over these inputs will be recorded. NULL inputs count for nothing. */
bool axle__recording(axle_tensor *const *in, int n);
/* An operand by which no derivative is known must not ask for one. */
int axle__check_fixed(const char *who, const char *what, const axle_tensor *operand);

/* The parts of axle__record, for operators with several outputs. */
axle__node *axle__node_create(const axle__rule *rule, axle_tensor *const *in, int n_in, int n_out,
                              int n_kept, const void *attrs, size_t attrs_size);
int axle__node_keep(axle__node *node, int k, axle_tensor *tensor);
int axle__node_attach(axle__node *node, int slot, axle_tensor *y);
void axle__node_release(axle__node *node);

/* ------------------------------------------------------------------ for rules */

/* What was kept; NULL where that was NULL. */
static inline axle_tensor *axle__saved(const axle__node *node, int k)
{
    return node->kept[k].tensor;
}

/* Whether input k wants a gradient. */
static inline bool axle__wanted(const axle__node *node, int k)
{
    return node->edge[k].node || node->edge[k].leaf;
}

/* AXLE_OK for a tensor, else the recorded error. */
static inline int axle__given(const axle_tensor *x)
{
    return x ? AXLE_OK : axle_error_code();
}

/* A tensor into which a rule writes (not adds) the whole gradient of input k: the leaf's own
 * gradient storage where that is possible, else a new one of the current scope. */
axle_tensor *axle__grad_target(axle__node *node, int k, axle_device *device, int dtype, int rank,
                               const int64_t *dims);

/* ------------------------------------------------------------------ inside autograd */

/* The tensor's record, made if there is none; NULL when memory runs out. */
axle__grad *axle__grad_of(axle_tensor *tensor);
static inline axle__grad *axle__grad_peek(const axle_tensor *tensor)
{
    return tensor->grad;
}
axle__edge axle__edge_to(axle_tensor *tensor);

/* Add a contribution to a leaf's gradient. */
int axle__leaf_accumulate(axle_tensor *leaf, axle_tensor *g);
/* Run the hooks of a slot over a gradient; NULL and an error when one misbehaves. */
axle_tensor *axle__hooks_run(axle_hook *hooks, uint32_t slot, axle_tensor *g);
void axle__hooks_ready(axle_hook *hooks, axle_tensor *leaf);
void axle__hooks_release(axle_hook *hooks);

/* ------------------------------------------------------------------ for computing again */

/* Tensors that require gradients and were operands of operators that were not recorded. */
typedef struct axle__seen {
    axle_tensor **tensor; /* borrowed */
    int count, room;
    bool failed; /* memory ran out */
} axle__seen;

/* Note them in `seen` from now on, on this thread; returns what was noted in before. */
axle__seen *axle__seen_begin(axle__seen *seen);
/* Whether any are noted. */
bool axle__seen_is_on(void);
/* Record again although recording was stopped; returns how often it was, for the way back. */
int axle__recording_resume(void);
void axle__recording_stop(int depth);
/* A backward pass inside a rule: leaves are those of the pass around it, which tells when their
 * gradients are complete. References to the node and to the gradient of its output `slot` are taken
 * over, so that both may go as soon as the pass is done with them. */
int axle__backward_inside(axle__node *node, uint32_t slot, axle_tensor *gradient);

/* ------------------------------------------------------------------ for optimizers */

/* Give a leaf storage for its gradient: a tensor of its dims and dtype, retained. A gradient that
 * is present is copied there. */
int axle__grad_bind(axle_tensor *leaf, axle_tensor *storage);
/* Whether a leaf has a gradient. */
bool axle__grad_present(const axle_tensor *leaf);
/* Forget a leaf's gradient; its storage stays. */
void axle__grad_forget(axle_tensor *leaf);
/* Say that the storage bound to a leaf holds its gradient. */
void axle__grad_set_present(axle_tensor *leaf);

#endif
