/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accelerator inside. A window is the stretch of batches whose gradients make one update: the
 * batches' gradients, each weighted by the number of terms its loss is the mean of, are summed and
 * divided by the sum of the weights once, when the window's last batch runs backward.
 */
#ifndef AXLE_TRAIN_ACCELERATOR_H
#define AXLE_TRAIN_ACCELERATOR_H

#include "axle/accelerator.h"
#include "axle/group.h"
#include "base/object.h"
#include "train/reducer.h"
#include "train/scaler.h"

typedef struct axle__prepared {
    axle_object *object;    /* retained */
    bool clipped;           /* optimizers: the gradients of this update were clipped already */
    bool stepped;           /* optimizers: in the window under way, or skipped it */
    axle__verdict verdict;  /* optimizers: on their gradients, where losses are scaled */
    axle__reducer *reducer; /* optimizers of a job of several processes */
} axle__prepared;

/* A loop under way over a prepared loader; an evaluation inside training makes two. */
typedef struct axle__loop {
    axle_loader *loader; /* borrowed: it says when the loop ends */
    double rows;         /* of the batch under way */
    bool first, last;    /* of its epoch */
    bool counted;        /* the batch is part of the window: a backward ran */
} axle__loop;

enum { AXLE__MOST_LOOPS = 8 };

typedef struct axle__window {
    int64_t batches; /* counted so far */
    bool ends;       /* the last of them ends the window */
    bool averages; /* gradients become means with the last of them: it ends the window, or each does
                    */
    bool reduced;  /* a pass of the last batch was summed over the processes */
    double sum;    /* weights of this process's batches whose gradients were not averaged yet */
    double held;   /* weight that the means in the arenas stand for; 0: there are sums */
    double spent;  /* of the budget, by all processes */
} axle__window;

/* Checkpoints: what is registered, when to save, and the thread that writes. */
typedef struct axle__checkpoints axle__checkpoints;
/* Waits for the thread. NULL is fine. */
void axle__checkpoints_destroy(axle__checkpoints *checkpoints);
/* Wait for the thread; the outcome of what it wrote, unless it was told. NULL is fine. */
int axle__checkpoints_settle(axle__checkpoints *checkpoints);

struct axle_accelerator {
    axle_accelerator_options options;
    axle_device *device;
    axle_group *group;
    bool mixed; /* processes compute on different backends */
    bool triggered;
    bool trial; /* of a batch size: processes do not meet */
    axle__prepared *prepared;
    int count;
    axle__loop loops[AXLE__MOST_LOOPS]; /* the innermost last */
    int loop_count;
    axle__loop block; /* of axle_accumulate_begin() */
    int blocks;       /* open */
    int no_sync;      /* open */
    axle__comm_hook comm_hook;
    bool last; /* the next batch to be counted ends the window */
    axle__window window;
    int precision; /* element type of products; 0: that of their operands */
    bool joined;   /* the precision of the process's accelerators */
    axle__scaler scaler;
    char *plan;
    axle__checkpoints *checkpoints; /* NULL as long as nothing asks for it */
};

/* ------------------------------------------------------------------ updates of one's own */

/* Whether updates follow this process's gradients alone. */
bool axle__is_alone(const axle_accelerator *accelerator);
int axle__check_local(const axle_accelerator_options *options);
/* After an update by this process's own gradients. */
int axle__local_after_step(axle_accelerator *accelerator, axle_optimizer *optimizer);

/* ------------------------------------------------------------------ loops */

/* The loader's observer; user is the accelerator. */
void axle__loop_observe(void *user, axle_loader *loader, const axle_batch *batch, int is_last);

/* The same for streams: whether all processes read alike; user is the accelerator. */
int axle__loop_agree(void *user, int status, int64_t samples, bool ends);

/* Forget the window under way, gradients and all; optimizers do not step before the next one. */
void axle__window_abandon(axle_accelerator *accelerator);

/* The innermost loop under way, or the block; NULL where there is neither. */
axle__loop *axle__current_loop(const axle_accelerator *accelerator);

bool axle__is_prepared(const axle_accelerator *accelerator, const axle_object *object);

/* Combine numbers of the host over all processes, in place. */
int axle__reduce_numbers(axle_accelerator *accelerator, int dtype, void *numbers, int64_t count,
                         int op);

/* The batch under way is over, and with it the window, where that ends. */
void axle__window_close(axle_accelerator *accelerator);

/* The next prepared optimizer after place *at, which starts from 0; NULL at the end. */
axle_optimizer *axle__next_optimizer(axle_accelerator *accelerator, int *at);

/* What was prepared for an optimizer; NULL for strangers. */
axle__prepared *axle__prepared_of(axle_accelerator *accelerator, const axle_optimizer *optimizer);

/* The optimizer's before_step; user is the accelerator. */
int axle__clip_before_step(axle_optimizer *optimizer, void *user);

#endif
