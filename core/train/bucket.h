/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bucket of a reducer, and its way: from the gradient arena to the host, where the device's
 * memory is elsewhere; into the element type of the wire, where that is another; to the group; and
 * back.
 */
#ifndef AXLE_TRAIN_BUCKET_H
#define AXLE_TRAIN_BUCKET_H

#include "axle/autograd.h"
#include "group/group.h"
#include "train/reducer.h"

typedef struct axle__bucket axle__bucket;

struct axle__bucket {
    axle__task task;
    axle__reducer *reducer;
    int first_slot, last_slot; /* from first_slot down to last_slot */
    int64_t offset, count;     /* elements of the arena */
    int slots, waiting;        /* parameters; those whose gradient is still to come */
    bool handed_over;
};

typedef struct axle__slot_hook {
    axle__reducer *reducer;
    axle_hook *hook;
    int bucket;
} axle__slot_hook;

struct axle__reducer {
    axle_group *group;
    axle_optimizer *optimizer;
    axle__bucket *buckets;
    int bucket_count;
    int next; /* the first bucket that was not handed over */
    /* Of the same pass. Their buckets take turns in one order, the same on every process, whichever
     * gradients come first. */
    axle__reducer *before, *after;
    axle__slot_hook *hooks; /* one a slot */
    bool armed, again, sharded;
    double weight, weight_sum;
    const axle__comm_hook *hook; /* in place of the collective; fn NULL: none */
    int wire; /* element type on the wire: AXLE_DTYPE_BF16 or _F16; 0: that of the gradients */
    unsigned char *staging; /* a bucket in host memory, for devices whose memory is elsewhere */
    uint16_t *packed;       /* a bucket in the element type of the wire */
};

/* A process's piece of a bucket; this one's. */
axle__range axle__bucket_piece_of(const axle__bucket *bucket, int rank);
axle__range axle__bucket_piece(const axle__bucket *bucket);
/* Memory for the way of the longest bucket. */
int axle__bucket_room(axle__reducer *reducer);
/* Give a bucket's gradients to the group; `absent` is an AXLE__ABSENT_.... */
void axle__bucket_hand_over(axle__bucket *bucket, uint8_t absent);
/* The same, by the user's function; the task is done when it returns. */
void axle__bucket_call(axle__bucket *bucket);
/* Give this process's piece of the parameters to all, and take theirs. */
void axle__bucket_gather(axle__bucket *bucket);

#endif
