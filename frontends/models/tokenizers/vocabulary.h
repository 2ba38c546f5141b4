/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens and their ids, which are below AXLE__MOST_IDS and may have gaps. */
#ifndef AXLE_TOKENIZERS_VOCABULARY_H
#define AXLE_TOKENIZERS_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AXLE__MOST_IDS = 1 << 24 };

/* Starts as {0}. */
typedef struct axle__vocabulary {
    char **texts;   /* by id; NULL: none has it */
    int32_t *slots; /* hash table of ids, -1 where there is none */
    size_t size;    /* of the table, a power of two */
    size_t room;    /* of texts */
    int32_t ids;    /* one more than the largest */
    int32_t count;  /* of tokens */
} axle__vocabulary;

void axle__vocabulary_free(axle__vocabulary *vocabulary);
/* AXLE_OK; AXLE_ERR_FORMAT where the id is taken or cannot be; AXLE_ERR_NOMEM. The token must be
 * new. */
int axle__vocabulary_add(axle__vocabulary *vocabulary, const char *text, int64_t id);
/* -1: there is none. */
int32_t axle__vocabulary_id(const axle__vocabulary *vocabulary, const char *text, size_t length);

/* Of up to a few hundred bytes. */
uint64_t axle__word_hash(const char *text, size_t length);

#endif
