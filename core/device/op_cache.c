/* SPDX-License-Identifier: Apache-2.0 */
#include "device/op_cache.h"

#include <string.h>

#include "base/memory.h"

enum { BUCKETS = 4096, MOST_ENTRIES = 8192 };

struct axle__op_cache {
    pthread_mutex_t lock;
    uint64_t count;
    uint32_t hand; /* bucket at which the clock stands */
    axle__op_entry *bucket[BUCKETS];
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static void add_view(axle__op_key *key, const axle_view *view)
{
    uint64_t *word = key->word + key->words;
    if (!view) {
        *word = 0;
        key->words++;
        return;
    }
    *word++ = (uint64_t)view->dtype << 8 | view->rank | UINT64_C(1) << 32;
    for (uint32_t k = 0; k < view->rank; k++) {
        *word++ = (uint64_t)view->dim[k];
        *word++ = (uint64_t)view->stride[k];
    }
    key->words += 1 + 2 * view->rank;
}

bool axle__op_key_make(axle__op_key *key, const axle__call *call)
{
    uint32_t attr_words = (call->attrs_size + 7) / 8;
    if (attr_words > 24)
        return false;
    key->word[0] = (uint64_t)call->op << 32 | call->flags;
    key->word[1] = (uint64_t)call->n_in << 48 | (uint64_t)call->n_out << 32 | call->attrs_size;
    key->words = 2;
    if (attr_words) {
        key->word[1 + attr_words] = 0; /* the last word may be filled in part */
        memcpy(key->word + 2, call->attrs, call->attrs_size);
        key->words += attr_words;
    }
    for (uint32_t k = 0; k < call->n_in; k++)
        add_view(key, call->in[k]);
    for (uint32_t k = 0; k < call->n_out; k++)
        add_view(key, call->out[k]);
    uint64_t hash = key->words;
    for (uint32_t k = 0; k < key->words; k++)
        hash = mix(hash, key->word[k]);
    key->hash = hash;
    return true;
}

int axle__op_cache_create(axle__op_cache **out)
{
    axle__op_cache *cache = axle__alloc(1, sizeof(*cache));
    if (!cache)
        return AXLE_ERR_NOMEM;
    pthread_mutex_init(&cache->lock, NULL);
    *out = cache;
    return AXLE_OK;
}

static void entry_release(axle__op_entry *entry)
{
    if (entry->op)
        entry->device->api->op_release(entry->op);
    axle__free(entry);
}

void axle__op_cache_destroy(axle__op_cache *cache)
{
    if (!cache)
        return;
    for (int k = 0; k < BUCKETS; k++) {
        while (cache->bucket[k]) {
            axle__op_entry *entry = cache->bucket[k];
            cache->bucket[k] = entry->next;
            entry_release(entry);
        }
    }
    pthread_mutex_destroy(&cache->lock);
    axle__free(cache);
}

uint64_t axle__op_cache_count(const axle__op_cache *cache)
{
    return __atomic_load_n(&cache->count, __ATOMIC_RELAXED);
}

/* Statistics read the count without the lock. */
static void set_count(axle__op_cache *cache, uint64_t count)
{
    __atomic_store_n(&cache->count, count, __ATOMIC_RELAXED);
}

static axle__op_entry *find_locked(axle__op_cache *cache, uint64_t hash, uint32_t words,
                                   const uint64_t *word)
{
    for (axle__op_entry *entry = cache->bucket[hash % BUCKETS]; entry; entry = entry->next) {
        if (entry->hash == hash && entry->words == words &&
            memcmp(entry->word, word, words * sizeof(*word)) == 0) {
            entry->users++;
            entry->recent = true;
            return entry;
        }
    }
    return NULL;
}

axle__op_entry *axle__op_cache_find(axle__op_cache *cache, const axle__op_key *key)
{
    pthread_mutex_lock(&cache->lock);
    axle__op_entry *entry = find_locked(cache, key->hash, key->words, key->word);
    pthread_mutex_unlock(&cache->lock);
    return entry;
}

axle__op_entry *axle__op_entry_create(axle_device *device, const axle__op_key *key)
{
    axle__op_entry *entry = axle__alloc(1, sizeof(*entry) + key->words * sizeof(uint64_t));
    if (!entry)
        return NULL;
    entry->device = device;
    entry->hash = key->hash;
    entry->words = key->words;
    entry->users = 1;
    memcpy(entry->word, key->word, key->words * sizeof(uint64_t));
    return entry;
}

void axle__op_cache_discard(axle__op_entry *entry)
{
    entry_release(entry);
}

/* Move the clock's hand over one bucket: drop what was not used since its last visit. */
static axle__op_entry *sweep_bucket(axle__op_cache *cache)
{
    axle__op_entry *dropped = NULL, **link = &cache->bucket[cache->hand];
    cache->hand = (cache->hand + 1) % BUCKETS;
    while (*link) {
        axle__op_entry *entry = *link;
        if (entry->users == 0 && !entry->recent) {
            *link = entry->next;
            entry->next = dropped;
            dropped = entry;
            set_count(cache, cache->count - 1);
            continue;
        }
        entry->recent = false;
        link = &entry->next;
    }
    return dropped;
}

static void release_list(axle__op_entry *list)
{
    while (list) {
        axle__op_entry *next = list->next;
        entry_release(list);
        list = next;
    }
}

axle__op_entry *axle__op_cache_insert(axle__op_cache *cache, axle__op_entry *entry)
{
    pthread_mutex_lock(&cache->lock);
    axle__op_entry *first = find_locked(cache, entry->hash, entry->words, entry->word);
    axle__op_entry *dropped = NULL;
    if (!first) {
        for (int k = 0; k < 2 * BUCKETS && cache->count >= MOST_ENTRIES && !dropped; k++)
            dropped = sweep_bucket(cache);
        axle__op_entry **bucket = &cache->bucket[entry->hash % BUCKETS];
        entry->next = *bucket;
        entry->recent = true;
        *bucket = entry;
        set_count(cache, cache->count + 1);
    }
    pthread_mutex_unlock(&cache->lock);
    release_list(dropped);
    if (!first)
        return entry;
    entry_release(entry);
    return first;
}

void axle__op_cache_leave(axle__op_cache *cache, axle__op_entry *entry)
{
    pthread_mutex_lock(&cache->lock);
    entry->users--;
    pthread_mutex_unlock(&cache->lock);
}
