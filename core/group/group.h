/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The group inside. All that a group does is done by one thread of its own, in the order in which
 * it was asked for, so that every process numbers its collectives alike; SIGPIPE is blocked there,
 * and nowhere else. A group of one has no thread: the caller does the work.
 */
#ifndef AXLE_GROUP_GROUP_H
#define AXLE_GROUP_GROUP_H

#include <pthread.h>

#include "axle/collective.h"
#include "axle/group.h"
#include "device/device.h"
#include "job/control.h"
#include "job/membership.h"
#include "group/task.h"

struct axle_group {
    int rank, size, joins;
    axle__membership membership;
    int64_t timeout_ns;
    /* The caller's thread's, for the headers of what it submits. */
    uint8_t nonfinite;   /* AXLE__LOSS_... */
    bool joining;        /* loops may be of unequal length */
    uint64_t join_count; /* collectives since that began */
    axle__control *control;
    const axle_collective *transport;
    axle_cl_group *link;

    /* The group thread's. */
    uint64_t sequence;
    axle__header *headers;     /* one a process */
    uint64_t *sent, *received; /* messages to and from each process */
    unsigned char *scratch;
    size_t scratch_size;

    pthread_t thread;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    axle__task *first, *last; /* tasks waiting */
    bool stopping;
    int64_t waited_ns; /* by those who asked, for what was not yet done */
    int lost_rank;     /* the first process that was lost; -1 */
    char lost_reason[256];
    bool poisoned;
    char poison[AXLE__TASK_MESSAGE];
};

/* Hand a task over; it stays valid until it is done. */
void axle__group_submit(axle_group *group, axle__task *task);
/* Wait until a task is done; its error becomes the calling thread's. */
int axle__group_wait(axle_group *group, axle__task *task);
/* Both. */
int axle__group_run(axle_group *group, axle__task *task);

/* Do a task, on the group's thread. */
int axle__task_run(axle_group *group, axle__task *task);

/* ------------------------------------------------------------------ for collectives */

/* Messages under way, to be waited for together. Starts zeroed. */
typedef struct axle__messages {
    struct axle__message {
        axle_cl_request *request;
        int peer;
    } * item;
    size_t count, waited, capacity;
} axle__messages;

/* Tags of a collective's messages: its sequence number and a number of its own. */
uint64_t axle__tag(const axle_group *group, uint32_t number);
/* Start a message of `size` bytes; 0 bytes are no message. */
int axle__send_start(axle_group *group, axle__messages *messages, int peer, uint64_t tag,
                     const void *data, uint64_t size);
int axle__recv_start(axle_group *group, axle__messages *messages, int peer, uint64_t tag,
                     void *data, uint64_t size);
/* Wait for the messages started first, until `count` were waited for. */
int axle__messages_wait(axle_group *group, axle__messages *messages, size_t count);
/* Empty the list: wait for all where `status`, that of starting them, is AXLE_OK. After a failure
 * requests stay with the transport. Returns the status of the whole. */
int axle__messages_finish(axle_group *group, axle__messages *messages, int status);
/* After a failure. Requests stay with the transport. */
void axle__messages_drop(axle__messages *messages);

/* The group thread's memory, of at least that size; NULL when memory runs out. */
void *axle__scratch(axle_group *group, size_t size);

/* Everyone's headers, in group->headers. */
int axle__headers_exchange(axle_group *group, const axle__header *mine);

/* The part of a vector of `count` elements that a process combines, or owns. */
typedef struct axle__range {
    uint64_t first, count;
} axle__range;
axle__range axle__piece_of(uint64_t count, int rank, int size);

/* Where loops may be of unequal length: let the others' collective go on, in which those whose loop
 * is over bring nothing. Returns false where all are over, or none. */
bool axle__join_hide(axle_group *group);
/* The task of a process whose loop is over: it gives the others a hand. */
int axle__join_data(axle_group *group, axle__task *task, bool hidden);
/* Do so until all are over. */
int axle__group_shadow(axle_group *group, int *source, bool *behind);
/* Processes that bring something to the collective under way. */
int axle__active_count(const axle_group *group);

/* The data of a task whose headers agree. */
int axle__all_reduce_data(axle_group *group, axle__task *task);
int axle__reduce_scatter_data(axle_group *group, axle__task *task);
/* What sums are multiplied by. */
double axle__task_scale(const axle_group *group, const axle__task *task);
int axle__gather_data(axle_group *group, axle__task *task);
int axle__broadcast_data(axle_group *group, axle__task *task);
int axle__scatter_data(axle_group *group, axle__task *task);
/* A whole message between two processes, headers included. */
int axle__point_to_point(axle_group *group, axle__task *task);

/* A message failed: find out who is to blame, record it, and make the group useless. */
int axle__group_failed(axle_group *group, const axle__header *header, int peer, axle_status status,
                       const char *text);

/* ------------------------------------------------------------------ parts of joining */

/* Load the transport of AXLE_TRANSPORT. */
int axle__transport_load(const axle_collective **out);
/* Part with the transport, on the group's thread: from here on it leaves all memory alone. */
void axle__group_unlink(axle_group *group);
/* Whether a process was lost, or is within a moment; who, and why. */
bool axle__group_lost(axle_group *group, char *text, size_t size);
/* Make the group useless; `reason` goes to the others, too. */
void axle__group_poison(axle_group *group, const char *reason);

#endif
