/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of a control connection: messages over a socket that never blocks. What cannot be sent
 * at once is kept, up to a limit; what comes in is cut into messages.
 */
#ifndef AXLE_JOB_CHANNEL_H
#define AXLE_JOB_CHANNEL_H

#include <stdbool.h>

#include "job/wire.h"

typedef struct axle__channel {
    int fd;
    size_t limit; /* longest payload that is accepted */
    unsigned char *in;
    size_t in_size, in_capacity, in_used;
    axle__wire_writer out;
    size_t out_sent;
    char broken[128]; /* why it is of no use any more; "": it is */
} axle__channel;

/* A message, which lies in the channel until the next call. */
typedef struct axle__message {
    int kind;
    axle__wire_reader payload;
} axle__message;

/* Take over a connected socket. */
void axle__channel_open(axle__channel *channel, int fd, size_t limit);
/* Close the socket and free the buffers. */
void axle__channel_close(axle__channel *channel);

/* Queue a message of that payload, and release the payload. `payload` may be NULL. */
void axle__channel_send(axle__channel *channel, int kind, axle__wire_writer *payload);
/* Send what the socket takes now. */
void axle__channel_flush(axle__channel *channel);
/* Whether something waits to be sent. */
bool axle__channel_pending(const axle__channel *channel);

/* Read what has come, as far as buffers should hold at once. */
void axle__channel_fill(axle__channel *channel);
/* The next whole message; false where there is none yet, or the channel is broken. */
bool axle__channel_next(axle__channel *channel, axle__message *out);

#endif
