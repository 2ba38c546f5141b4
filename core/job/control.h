/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control connection of a job: each process keeps one to a server in rank 0's process. It
 * serves the meeting at the start (a store of small values), tells who is lost, and who has
 * arrived at which collective, so that an error can name the process that everyone waits for.
 */
#ifndef AXLE_JOB_CONTROL_H
#define AXLE_JOB_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct axle__control axle__control;

typedef struct axle__control_config {
    int rank, size;
    const char *host;       /* where rank 0's server listens; a name or a numeric address */
    int port;               /* 0 on rank 0 alone: any free port */
    const char *rendezvous; /* where rank 0 says both to the others: file:///folder or redis://host;
                             * NULL or "" */
    int listen_fd;      /* rank 0: a listening socket, taken over even on failure; -1: make one */
    const char *job;    /* processes of another job are refused */
    const char *secret; /* shared by the job's processes; "": none */
    int64_t timeout_ns; /* for the meeting, and of silence before a process counts as lost */
    /* A process was lost: its connection broke, nothing was heard from it, or it gave up. Called
     * from the control thread, once a rank, which must not leave. This process's own rank: it
     * counts as lost to the others, after having been stopped for too long. */
    void (*lost)(void *user, int rank, const char *reason);
    void *user;
} axle__control_config;

enum { AXLE__CONTROL_TEXT = 96 };

/* What is known of a process. */
typedef struct axle__peer {
    bool lost;
    int64_t silent_ns;             /* since it was last heard; -1: not known */
    uint64_t sequence;             /* the last collective it arrived at; 0: none */
    char what[AXLE__CONTROL_TEXT]; /* that collective, with its call site */
} axle__peer;

/* Meet: returns when all processes are there. While it waits, a line in the log every few seconds
 * names who is missing. AXLE_ERR_TIMEOUT names them too; AXLE_ERR_INVALID: two processes claim one
 * rank, or disagree about the size, the job or the secret; AXLE_ERR_IO: the port is in use, the
 * host unknown, or a process was lost meanwhile. `host` may hold several addresses with commas
 * between, of which one leads to rank 0. A job of one has no use for this. */
int axle__control_join(const axle__control_config *config, axle__control **out);
/* Leave in order: the others do not call this a loss. Rank 0's server stays until all have left or
 * are lost, at most for the timeout, and for a second where a process was lost. In the child of a
 * fork it does nothing, and what is below fails with AXLE_ERR_STATE. NULL is fine. */
void axle__control_leave(axle__control *control);

/* The store. A value of up to 1 MiB is set once a key of up to 255 bytes. get waits; *value is for
 * axle__free. AXLE_ERR_TIMEOUT: nobody set it; AXLE_ERR_IO: nor will anybody, as a process is lost.
 */
int axle__control_set(axle__control *control, const char *key, const void *value, size_t size);
int axle__control_get(axle__control *control, const char *key, int64_t timeout_ns, void **value,
                      size_t *size);

/* This process's address on the route to rank 0's, numeric; never a loopback address where that
 * is on another host. On rank 0 itself: the address its peers reached. Valid until leave. */
const char *axle__control_address(const axle__control *control);
/* Port of the server. */
int axle__control_port(const axle__control *control);

/* Say where this process is. Cheap: it is sent when asked for, and with the next sign of life. */
void axle__control_report(axle__control *control, uint64_t sequence, const char *what);
/* What rank 0's server knows of all processes now, fresh where they answer; `peers` has `size`
 * places. Bounded by timeout_ns. Where the server itself is gone, rank 0 is lost; where it is gone
 * or silent, the silence of others is not known. */
int axle__control_survey(axle__control *control, int64_t timeout_ns, axle__peer *peers);
/* Tell everyone that this process gives up, so that they need not wait: they see it as lost, with
 * this reason. */
void axle__control_fail(axle__control *control, const char *reason);

#endif
