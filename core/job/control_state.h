/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a process's own end of the control connection share. */
#ifndef AXLE_JOB_CONTROL_STATE_H
#define AXLE_JOB_CONTROL_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "job/channel.h"
#include "job/control.h"
#include "job/rendezvous.h"
#include "job/server.h"
#include "job/socket.h"

/* A question that a caller waits with; it lies on the caller's stack. */
typedef struct axle__request {
    struct axle__request *next;
    uint32_t id;
    bool needs_all; /* its answer may depend on any process: a loss ends it */
    bool done;
    int code;
    char reason[AXLE__WIRE_REASON];
    void *value; /* of the store */
    size_t size;
    axle__peer *peers; /* of a survey */
} axle__request;

struct axle__control {
    int rank, size, port;
    pid_t pid;
    int64_t timeout, interval;
    axle__server *server; /* on rank 0 */
    char address[AXLE__ADDRESS_TEXT];
    void (*on_loss)(void *user, int rank, const char *reason);
    void *user;

    int wake; /* an eventfd */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;

    /* Under the lock; what the channel received belongs to the thread alone. */
    axle__channel channel;
    axle__request *requests;
    uint32_t last_request;
    bool *lost;     /* of each rank */
    int first_lost; /* -1: none is */
    char first_reason[AXLE__WIRE_REASON];
    bool stopping, leaving, bye;
    bool gone;        /* the server cannot be reached any more */
    bool is_reported; /* the server has the report below */
    int64_t heard;    /* from the server */
    uint64_t sequence;
    char what[AXLE__CONTROL_TEXT];
};

/* meeting.c: reach the server and wait until all are there, or the deadline. `fd` is rank 0's
 * socket, else -1; the rendezvous, which may be NULL, then says where the server is. */
int axle__meeting_attend(axle__control *control, const axle__control_config *config,
                         axle__rendezvous *rendezvous, int64_t deadline, int fd);

/* listener.c: the thread. */
int axle__listener_start(axle__control *control);
void axle__listener_stop(axle__control *control);
/* Queue a message, with the lock held, and have it sent. */
void axle__listener_send(axle__control *control, int kind, axle__wire_writer *payload);

/* control.c: AXLE_ERR_STATE in the child of a fork. */
int axle__control_check(const axle__control *control);

#endif
