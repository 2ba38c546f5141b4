/* SPDX-License-Identifier: Apache-2.0 */
/* Words that were cut into tokens already. */
#ifndef AXLE_TOKENIZERS_CACHE_H
#define AXLE_TOKENIZERS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A token of a word: it ends at that byte, and begins where the one before it ends. */
typedef struct axle__token_end {
    int32_t id;
    uint32_t end;
} axle__token_end;

typedef struct axle__cache axle__cache;

/* NULL: out of memory, and recorded. */
axle__cache *axle__cache_create(void);
void axle__cache_free(axle__cache *cache);
/* Tokens of a word, *count of them; NULL: it is not there. Valid until the next one is kept. */
const axle__token_end *axle__cache_find(const axle__cache *cache, uint64_t hash, const char *word,
                                        size_t length, size_t *count);
/* Long words are not kept, and when it is full all are dropped. */
void axle__cache_keep(axle__cache *cache, uint64_t hash, const char *word, size_t length,
                      const axle__token_end *tokens, size_t count);

#endif
