/* SPDX-License-Identifier: Apache-2.0 */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

#include "aligned.h"

/* About 2 MB, of which the pages that are used count. */
enum { SLOTS = 1 << 15, MOST_WORDS = SLOTS / 2, MOST_BYTES = 1 << 19, MOST_TOKENS = 1 << 16 };
enum { LONGEST = 64 };

typedef struct slot {
    uint64_t hash;
    uint32_t word, tokens; /* where they begin */
    uint16_t length;       /* 0: the slot is free */
    uint16_t count;
} slot;

struct axle__cache {
    size_t words, bytes, tokens; /* used */
    slot slots[SLOTS];
    axle__token_end token[MOST_TOKENS];
    char byte[MOST_BYTES];
};

axle__cache *axle__cache_create(void)
{
    axle__cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        axle__tokenizer_out_of_memory();
    return cache;
}

void axle__cache_free(axle__cache *cache)
{
    free(cache);
}

const axle__token_end *axle__cache_find(const axle__cache *cache, uint64_t hash, const char *word,
                                        size_t length, size_t *count)
{
    for (uint64_t k = hash;; k++) {
        const slot *slot = &cache->slots[k % SLOTS];
        if (slot->length == 0)
            return NULL;
        if (slot->hash == hash && slot->length == length &&
            memcmp(cache->byte + slot->word, word, length) == 0) {
            *count = slot->count;
            return cache->token + slot->tokens;
        }
    }
}

static void forget(axle__cache *cache)
{
    memset(cache->slots, 0, sizeof(cache->slots));
    cache->words = cache->bytes = cache->tokens = 0;
}

void axle__cache_keep(axle__cache *cache, uint64_t hash, const char *word, size_t length,
                      const axle__token_end *tokens, size_t count)
{
    if (length > LONGEST)
        return;
    if (cache->words == MOST_WORDS || cache->bytes + length > MOST_BYTES ||
        cache->tokens + count > MOST_TOKENS)
        forget(cache);
    uint64_t k = hash;
    while (cache->slots[k % SLOTS].length)
        k++;
    cache->slots[k % SLOTS] = (slot){hash, (uint32_t)cache->bytes, (uint32_t)cache->tokens,
                                     (uint16_t)length, (uint16_t)count};
    memcpy(cache->byte + cache->bytes, word, length);
    if (count)
        memcpy(cache->token + cache->tokens, tokens, count * sizeof(*tokens));
    cache->words++;
    cache->bytes += length;
    cache->tokens += count;
}
