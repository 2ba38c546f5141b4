/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums the gradients of an optimizer over all processes while backward runs. Buckets are stretches
 * of the optimizer's gradient arena, in the order in which backward fills it: when the last
 * gradient of a bucket is there, and all buckets before it were handed over, the bucket goes to the
 * group's thread.
 *
 * Each process brings sum(w_i * grad_i) over the batches of its window, and their weights w ride
 * along; what comes back is the mean over the whole window of all processes.
 */
#ifndef AXLE_TRAIN_REDUCER_H
#define AXLE_TRAIN_REDUCER_H

#include <stdbool.h>

#include "axle/accelerator.h"
#include "optim/optimizer.h"

typedef struct axle__reducer axle__reducer;

/* What the user put in place of the collective; fn NULL: nothing. */
typedef struct axle__comm_hook {
    axle_comm_hook_fn fn;
    void *user;
} axle__comm_hook;

/* For an optimizer that was laid out; hooks its parameters. `sharded`: of each bucket this process
 * gets the mean of its own piece alone, and updates that alone (the first stage of ZeRO,
 * arXiv:1910.02054).
 * `wire`: element type in which gradients travel, AXLE_DTYPE_BF16 or _F16; 0: their own. */
int axle__reducer_create(axle_group *group, axle_optimizer *optimizer, bool sharded, int wire,
                         axle__reducer **out);
void axle__reducer_destroy(axle__reducer *reducer);
/* Call that for each bucket; borrowed, and looked at anew in each pass. Gradients are then this
 * process's share of the mean, and `weight` counts for nothing. */
void axle__reducer_set_hook(axle__reducer *reducer, const axle__comm_hook *hook);
/* The pieces of the arenas that a process updates in a sharded reducer: piece k of that rank. */
int axle__reducer_piece_count(const axle__reducer *reducer);
axle__piece axle__reducer_piece(const axle__reducer *reducer, int k, int rank);
/* After a sharded step: everyone's pieces of the parameters to all. */
int axle__reducer_gather_parameters(axle__reducer *reducer);

/* Means in the arena are to become a part of sums to come, in which they must count once: whoever
 * owns them keeps them, rank 0 where nobody does, and the others have 0. */
int axle__reducer_keep_once(axle__reducer *reducer);

/* Before the backward pass that ends a window. `before`: the reducer that began before this one in
 * the same pass, or NULL; all processes begin theirs in the same order. `weight` is that of this
 * process's window. `again`: a pass of this window was summed already, and gradients in the arena
 * are means; the ones to come are shares of the mean, to be added. */
int axle__reducer_begin(axle__reducer *reducer, axle__reducer *before, double weight, bool again);
/* After it: hand over the rest, unless `status` of the pass is an error; returns that or a new one.
 */
int axle__reducer_finish(axle__reducer *reducer, int status);
/* After all reducers of the pass finished: wait for what was handed over. After a failed pass that
 * is all. */
int axle__reducer_end(axle__reducer *reducer, int status);
/* Sum of the weights of all processes, as the last pass found it. */
double axle__reducer_weight_sum(const axle__reducer *reducer);

#endif
