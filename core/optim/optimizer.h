/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optimizers inside. Parameters, gradients and moments of an optimizer lie in flat arenas of one
 * layout: the last registered parameter first, each beginning at a multiple of 16 elements. A step
 * is one fused operator for each run of neighbours that share hyper-parameters and age.
 */
#ifndef AXLE_OPTIM_OPTIMIZER_H
#define AXLE_OPTIM_OPTIMIZER_H

#include "axle/optim.h"
#include "base/object.h"
#include "tensor/run.h"

enum { AXLE__MOST_MOMENTS = 3 };

typedef struct axle__group {
    double lr, initial_lr, weight_decay;
} axle__group;

typedef struct axle__slot {
    axle_tensor *tensor; /* retained */
    char *name;          /* "" where it came without a module */
    int group;
    int64_t offset, count; /* elements in the arenas */
    int64_t age;           /* updates that this parameter took part in */
} axle__slot;

/* Neighbouring slots updated by one operator. */
typedef struct axle__span {
    int64_t offset, count;
    int64_t place; /* where its moments begin */
    int group;
    int64_t age; /* including the update under way */
} axle__span;

/* A stretch of the arenas that this process updates, where processes share the work. */
typedef struct axle__piece {
    int64_t offset, count;
    int64_t place; /* in the arenas of the moments, which hold nothing else */
} axle__piece;

/* Fill attributes and per-call values into a call and send it off: operands are (grad) -> (param,
 * moments...). */
typedef int (*axle__update_fn)(axle_optimizer *optimizer, const axle__span *span, axle__call *call);

struct axle_optimizer {
    axle_object object;
    const char *name;
    axle__update_fn update;
    int moment_count;
    axle__group *groups;
    int group_count;
    axle__slot *slots; /* in the order in which parameters were added */
    int slot_count;
    int64_t arena_size;
    axle_tensor *params, *grads,
        *moments[AXLE__MOST_MOMENTS]; /* arenas; NULL before the first layout */
    bool laid_out;
    axle__piece *pieces; /* in rising order; NULL: this process updates everything */
    int piece_count;
    int64_t updates;
    bool skipped;    /* the last step did nothing */
    bool overflowed; /* for its gradients were not finite */
    /* The accelerator's: */
    bool suspended; /* inside an accumulation window: steps do nothing */
    bool holding;   /* gradients are of a window that goes on: zero_grad does nothing */
    bool stale;     /* they are of a window that is over, until zero_grad */
    int64_t
        alike_every; /* processes have the same parameters after so many updates; 0: after each */
    int (*before_step)(axle_optimizer *optimizer, void *user); /* clipping */
    int (*after_step)(axle_optimizer *optimizer, void *user);  /* keeping replicas equal */
    int (*sum_up)(double *sum, void *user); /* a sum over the processes' pieces */
    void *step_user;
    union {
        axle_sgd_options sgd;
        axle_adam_options adam;
        axle_rmsprop_options rmsprop;
    } options;
    bool decoupled; /* AdamW */
};

/* A new optimizer with the module's parameters in group 0. */
int axle__optimizer_create(const char *name, axle__update_fn update, int moments,
                           axle_module *module, double lr, double weight_decay,
                           axle_optimizer **out);
/* Bring parameters, gradients and moments into the arenas, on the device of the parameters; quick
 * when they are there already. */
int axle__optimizer_lay_out(axle_optimizer *optimizer);
/* Update only these pieces from now on; the array is taken over. Moments that have values already
 * lose them, so it is for an optimizer that has made no update: AXLE_ERR_STATE. */
int axle__optimizer_shard(axle_optimizer *optimizer, axle__piece *pieces, int count);
/* Elements of each arena of moments. */
int64_t axle__optimizer_moment_size(const axle_optimizer *optimizer);
/* Called for each span of parameters that have a gradient; `age` counts this update. */
typedef int (*axle__span_fn)(axle_optimizer *optimizer, const axle__span *span, void *user);
/* Walk the spans that this process updates; by_group false merges across groups and ages. */
int axle__optimizer_each_span(axle_optimizer *optimizer, bool by_group, axle__span_fn fn,
                              void *user);
/* A span of an arena as a vector. */
axle_view axle__span_view(const axle_tensor *arena, const axle__span *span);
/* Whether all gradients are finite: of the pieces that this process updates. */
int axle__optimizer_check_finite(axle_optimizer *optimizer, bool *finite);
/* Multiply all present gradients that this process updates. */
int axle__optimizer_scale_grads(axle_optimizer *optimizer, double factor);
/* Multiply all, also those that other processes update. */
int axle__optimizer_scale_arena(axle_optimizer *optimizer, double factor);

#endif
