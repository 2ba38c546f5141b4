/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the server share. All of it belongs to the server's thread but for the two
 * fields that say so. Connections that are done with are marked, and freed at the end of a turn.
 */
#ifndef AXLE_JOB_SERVER_STATE_H
#define AXLE_JOB_SERVER_STATE_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "job/channel.h"
#include "job/server.h"
#include "job/store.h"

enum { AXLE__JOB_TEXT = 128, AXLE__WHO_TEXT = 128 };

/* A connection's way: who it is must be said and proved before anything else is listened to. */
typedef enum axle__stage {
    AXLE__STAGE_NEW,        /* nothing was said yet */
    AXLE__STAGE_CHALLENGED, /* it has to prove that it knows the secret */
    AXLE__STAGE_MEMBER,     /* of the job */
    AXLE__STAGE_ENDING,     /* its last words are on the way */
    AXLE__STAGE_OVER        /* to be freed */
} axle__stage;

typedef struct axle__connection {
    axle__channel channel;
    axle__stage stage;
    int rank;      /* of a member */
    bool is_own;   /* rank 0's, which nobody else can have */
    bool is_shut;  /* ending, and all is sent */
    int64_t since; /* of the stage */
    unsigned char client_nonce[AXLE__WIRE_NONCE], server_nonce[AXLE__WIRE_NONCE];
} axle__connection;

/* What is known of a rank. */
typedef struct axle__seat {
    axle__connection *connection; /* NULL: not there */
    bool joined, left, lost;
    int64_t heard;
    uint64_t answered; /* the last round of a survey */
    uint64_t sequence;
    char what[AXLE__CONTROL_TEXT];
    char who[AXLE__WHO_TEXT];
} axle__seat;

typedef enum axle__phase {
    AXLE__PHASE_MEETING,
    AXLE__PHASE_MET,
    AXLE__PHASE_FAILED /* the processes will not meet */
} axle__phase;

/* A member waits for a key, or for what all say to a survey. */
typedef struct axle__wish {
    int rank;
    uint32_t request;
    int64_t deadline;
    uint64_t round; /* of a survey; 0: for a key */
    char *key;
} axle__wish;

struct axle__server {
    int size, port;
    int listener, wake; /* wake: an eventfd */
    int64_t timeout, interval;
    char job[AXLE__JOB_TEXT], secret[AXLE__JOB_TEXT];
    pthread_t thread;
    atomic_bool stopping; /* shared with who stops the server */

    axle__connection **connections;
    size_t connection_count, connection_capacity;
    struct pollfd *items; /* two places more than the capacity */
    axle__seat *seats;
    axle__store store;
    axle__wish *wishes;
    size_t wish_count, wish_capacity;
    uint64_t round; /* of the last survey */

    axle__phase phase;
    int64_t now, started, deadline; /* deadline: of the meeting */
    int64_t looked;                 /* when the last look at what had come began */
    int64_t next_line, next_ping, accept_after;
    int64_t broken; /* when the first loss was noticed; 0: none was */
    int failure;    /* why they will not meet, for who comes later */
    char reason[AXLE__WIRE_REASON];
};

/* admission.c: from the first word to the meeting. */
void axle__admission_take(axle__server *server, axle__connection *connection,
                          axle__message *message);
/* Time passes: refuse who is slow, tell who is missing, give up. */
void axle__admission_tick(axle__server *server);
/* Write the missing ranks, as in "ranks 1, 4-7". */
void axle__admission_missing(const axle__server *server, char *text, size_t size);
/* The processes will not meet: tell all. */
void axle__meeting_fail(axle__server *server, int code, const char *reason);

/* service.c: what members ask for. */
void axle__service_take(axle__server *server, axle__connection *connection, axle__message *message);
/* Signs of life, silence, and wishes whose time is over. */
void axle__service_tick(axle__server *server);
/* A member is lost: tell the others, and end its connection. */
void axle__service_lose(axle__server *server, int rank, const char *reason);
/* When something is due next. */
int64_t axle__service_next(const axle__server *server);
void axle__service_free(axle__server *server);

/* server.c */
/* Whether it still has to say and prove who it is. */
bool axle__connection_is_stranger(const axle__connection *connection);
/* End a connection once what is queued for it is sent. */
void axle__connection_end(axle__server *server, axle__connection *connection);

#endif
