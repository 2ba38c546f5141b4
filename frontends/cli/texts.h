/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that a command is given: as arguments, in a file, or on standard input. */
#ifndef AXLE_CLI_TEXTS_H
#define AXLE_CLI_TEXTS_H

#include "options.h"

typedef struct text_source {
    const option_list *operands; /* the model, and texts */
    const char *file;            /* NULL or "-": standard input, where there are no texts */
    int pairs;                   /* a tab separates two texts that belong together */
    int64_t most;                /* texts at a time */
} text_source;

/* Texts, and their second parts, or NULL where there are no pairs. Returns AXLE_OK or an error code
 * with Axle's error recorded, which ends the reading. */
typedef int texts_fn(void *user, const char *const *texts, const char *const *pairs, int64_t n);

/* Hand all texts on, several at a time; those of standard input one by one, since who writes into a
 * pipe may wait for the answer. */
int texts_each(const text_source *source, texts_fn *take, void *user);

#endif
