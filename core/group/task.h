/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One collective, as this process asks for it. Before data moves each process sends the others a
 * header that says what it asks for; all see the same headers, so all come to the same conclusion.
 */
#ifndef AXLE_GROUP_TASK_H
#define AXLE_GROUP_TASK_H

#include <stdbool.h>

#include "axle/backend_ops.h"
#include "axle/status.h"

/* What the processes' headers must agree in. */
enum {
    AXLE__CHECK_DIMS = 1, /* element type and shape */
    AXLE__CHECK_ROWS = 2, /* element type and shape but for dim 0 */
    AXLE__CHECK_ROOT = 4,
    AXLE__CHECK_REDUCTION = 8
};
/* X(name, text, checks) */
#define AXLE__TASK_LIST(X)                                                                         \
    X(BARRIER, "barrier", 0)                                                                       \
    X(ALL_REDUCE, "all_reduce", AXLE__CHECK_DIMS | AXLE__CHECK_REDUCTION)                          \
    X(REDUCE_SCATTER, "reduce_scatter", AXLE__CHECK_DIMS | AXLE__CHECK_REDUCTION)                  \
    X(ALL_GATHER, "all_gather", AXLE__CHECK_ROWS)                                                  \
    X(GATHER, "gather", AXLE__CHECK_ROWS | AXLE__CHECK_ROOT)                                       \
    X(BROADCAST, "broadcast", AXLE__CHECK_DIMS | AXLE__CHECK_ROOT)                                 \
    X(SCATTER, "scatter", AXLE__CHECK_ROOT)                                                        \
    X(LEAVE, "leave", 0)                                                                           \
    X(JOIN, "join, its loop is over,", 0)                                                          \
    X(SEND, "send", AXLE__CHECK_DIMS)                                                              \
    X(RECEIVE, "receive", AXLE__CHECK_DIMS)

enum {
    AXLE__TASK_NONE,
#define AXLE__TASK_ENUM(name, text, checks) AXLE__TASK_##name,
    AXLE__TASK_LIST(AXLE__TASK_ENUM)
#undef AXLE__TASK_ENUM
        AXLE__TASK_LIMIT
};

enum { AXLE__SITE_SIZE = 56, AXLE__TASK_MESSAGE = 1024 };

/* Data that is absent everywhere is not moved. What is absent on some processes counts as 0 there.
 */
enum { AXLE__ABSENT_NONE, AXLE__ABSENT_PARTS, AXLE__ABSENT_ALL };

/* A loss that is not finite on one process is an error on all: it rides along. */
enum { AXLE__LOSS_FINITE, AXLE__LOSS_NAN, AXLE__LOSS_INF, AXLE__LOSS_MINUS_INF };

/* Sent as it is; a process of another byte order is recognised by the magic number. */
typedef struct axle__header {
    uint64_t magic, sequence;
    uint64_t count; /* elements that this process brings */
    double weight;  /* of this process in a weighted mean */
    int64_t dims[AXLE_MAX_RANK];
    int32_t root; /* or the peer of a message */
    uint8_t kind, reduction, dtype, rank;
    uint8_t weighted;  /* the result is divided by the sum of the weights */
    uint8_t absent;    /* AXLE__ABSENT_...: how much of the data this process has not got */
    uint8_t nonfinite; /* AXLE__LOSS_...: what became of this process's loss */
    uint8_t joining;   /* goes on without processes whose loop is over */
    uint8_t shadow;    /* one of them, in a collective of the others */
    uint8_t spare[3];
    char site[AXLE__SITE_SIZE];
} axle__header;

typedef struct axle__task axle__task;
struct axle__task {
    axle__header header;
    void *in;  /* what this process brings */
    void *out; /* where the result goes; may be `in` for reductions and broadcasts */
    /* Called on the group's thread, in this order; each may be NULL. */
    int (*prepare)(axle__task *task); /* before anything: bring the input to the host */
    int (*place)(axle__task *task, const axle__header *all, int size); /* the headers agree */
    int (*finish)(axle__task *task);                                   /* all went well */
    void *user;
    /* What came of it. */
    double weight_sum, scale;          /* of all processes; what sums are multiplied by */
    uint8_t most_absent, least_absent; /* of all processes */
    int source;                        /* join: the process that worked last */
    bool over, behind;                 /* join: all came; some did less than others */
    bool known;                        /* a failure that every process sees by itself */
    bool done;
    int status;
    char message[AXLE__TASK_MESSAGE];
    axle__task *next;
};

/* Note where this thread said that it calls; see axle_call_site(). */
void axle__header_site(axle__header *header);
/* "all_reduce". */
const char *axle__task_name(const axle__header *header);
/* "all_reduce of (3, 4) f32 at train.c:33" in `text`; returns it. */
const char *axle__header_text(const axle__header *header, char *text, size_t size);
/* AXLE__LOSS_... of a value. */
uint8_t axle__loss_kind(double loss);
/* AXLE_ERR_NONFINITE where the loss of a process is not finite; names the first. */
int axle__headers_finite(const axle__header *all, int size);
/* Whether all processes ask for the same; else an error that names two that do not, or, where
 * shapes differ, the shape of each. */
int axle__headers_agree(const axle__header *all, int size);

#endif
