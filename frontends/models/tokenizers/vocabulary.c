/* SPDX-License-Identifier: Apache-2.0 */
#include "vocabulary.h"

#include <stdlib.h>
#include <string.h>

#include "aligned.h"
#include "axle/status.h"

enum { FIRST_SIZE = 1024 };

uint64_t axle__word_hash(const char *text, size_t length)
{
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = length * odd, word;
    for (; length >= 8; length -= 8, text += 8) {
        memcpy(&word, text, 8);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, text, length);
    hash = (hash ^ word) * odd;
    hash ^= hash >> 29;
    return hash * odd ^ hash >> 32;
}

void axle__vocabulary_free(axle__vocabulary *vocabulary)
{
    for (int32_t k = 0; k < vocabulary->ids; k++)
        free(vocabulary->texts[k]);
    free(vocabulary->texts);
    free(vocabulary->slots);
    *vocabulary = (axle__vocabulary){0};
}

static void insert(int32_t *slots, size_t size, const char *text, int32_t id)
{
    size_t slot = axle__word_hash(text, strlen(text));
    while (slots[slot & (size - 1)] >= 0)
        slot++;
    slots[slot & (size - 1)] = id;
}

/* At most half of the table is used. */
static bool make_room(axle__vocabulary *vocabulary)
{
    if (2 * (size_t)vocabulary->count < vocabulary->size)
        return true;
    size_t size = vocabulary->size ? 2 * vocabulary->size : FIRST_SIZE;
    int32_t *slots = malloc(size * sizeof(*slots));
    if (!slots)
        return false;
    for (size_t k = 0; k < size; k++)
        slots[k] = -1;
    for (size_t k = 0; k < vocabulary->size; k++)
        if (vocabulary->slots[k] >= 0)
            insert(slots, size, vocabulary->texts[vocabulary->slots[k]], vocabulary->slots[k]);
    free(vocabulary->slots);
    vocabulary->slots = slots;
    vocabulary->size = size;
    return true;
}

/* Ids up to this one exist. */
static bool reach(axle__vocabulary *vocabulary, int32_t id)
{
    char **texts = axle__grow(vocabulary->texts, &vocabulary->room, (size_t)id + 1, sizeof(*texts));
    if (!texts)
        return false;
    vocabulary->texts = texts;
    for (; vocabulary->ids <= id; vocabulary->ids++)
        texts[vocabulary->ids] = NULL;
    return true;
}

int axle__vocabulary_add(axle__vocabulary *vocabulary, const char *text, int64_t id)
{
    if (id < 0 || id >= AXLE__MOST_IDS)
        return axle_error_set(AXLE_ERR_FORMAT, "token '%s' has the id %lld", text, (long long)id);
    if (id < vocabulary->ids && vocabulary->texts[id])
        return axle_error_set(AXLE_ERR_FORMAT, "the tokens '%s' and '%s' have the same id %lld",
                              vocabulary->texts[id], text, (long long)id);
    if (!make_room(vocabulary) || !reach(vocabulary, (int32_t)id) ||
        !(vocabulary->texts[id] = strdup(text)))
        return axle__tokenizer_out_of_memory();
    insert(vocabulary->slots, vocabulary->size, text, (int32_t)id);
    vocabulary->count++;
    return AXLE_OK;
}

int32_t axle__vocabulary_id(const axle__vocabulary *vocabulary, const char *text, size_t length)
{
    if (!vocabulary->size)
        return -1;
    for (size_t slot = axle__word_hash(text, length);; slot++) {
        int32_t id = vocabulary->slots[slot & (vocabulary->size - 1)];
        if (id < 0)
            return -1;
        if (strncmp(vocabulary->texts[id], text, length) == 0 && !vocabulary->texts[id][length])
            return id;
    }
}
