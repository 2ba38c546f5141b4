/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a Redis server, made when it is first needed, and again after it broke. hiredis
 * writes commands and reads answers; the socket is ours, so that each wait ends at its deadline, a
 * server that went away raises no signal, and children of a fork do not keep it.
 */
#ifndef AXLE_JOB_REDIS_H
#define AXLE_JOB_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct axle__redis axle__redis;

/* `url` is as redis_url.h has it. Connects to nothing yet. */
int axle__redis_open(const char *url, axle__redis **out);
/* "redis://host:port/db", for messages. */
const char *axle__redis_name(const axle__redis *redis);

enum { AXLE__REDIS_TEXT = 2048 };

typedef struct axle__redis_answer {
    bool is_set;                 /* it is neither nil nor 0 */
    char text[AXLE__REDIS_TEXT]; /* what does not fit is cut off */
} axle__redis_answer;

/*
 * Send a command of `count` words and wait for the answer, until the deadline. Records no error:
 * `reason` has the words. AXLE_ERR_NOT_READY where a later try may succeed; AXLE_ERR_INVALID for a
 * wrong password or database, AXLE_ERR_IO where the server refuses the command, is no Redis server,
 * or its name has been unknown for ten seconds; AXLE_ERR_NOMEM. A command whose connection broke
 * may have been obeyed.
 */
int axle__redis_ask(axle__redis *redis, int64_t deadline, const char **words, int count,
                    axle__redis_answer *answer, char *reason, size_t size);
/* NULL is fine. */
void axle__redis_close(axle__redis *redis);

#endif
