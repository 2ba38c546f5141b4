/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte-level byte-pair encoding: a word begins as the tokens of its bytes, and as long as there are
 * neighbours that make a token together, those whose merge comes first in the list do; of equal
 * ones the leftmost.
 */
#include <stdlib.h>
#include <string.h>

#include "aligned.h"
#include "axle/status.h"
#include "model.h"

typedef struct axle__symbol {
    int32_t id;
    uint32_t end;       /* byte of the word */
    int32_t last, next; /* neighbours; -1: none */
    bool gone;
} axle__symbol;

typedef struct axle__candidate {
    int32_t rank, position, id;
} axle__candidate;

/* ---- the table of merges */

static size_t pair_hash(int32_t left, int32_t right)
{
    uint64_t hash =
        ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(hash ^ hash >> 32);
}

/* Where a pair is, or would be. */
static axle__merge *slot_of(const axle__model *model, int32_t left, int32_t right)
{
    for (size_t k = pair_hash(left, right);; k++) {
        axle__merge *slot = &model->merges[k & (model->merge_slots - 1)];
        if (slot->left < 0 || (slot->left == left && slot->right == right))
            return slot;
    }
}

int axle__bpe_prepare(axle__model *model, const int32_t (*merges)[3], int32_t count)
{
    size_t size = 16;
    while (size < 2 * (size_t)count)
        size *= 2;
    model->merges = malloc(size * sizeof(*model->merges));
    if (!model->merges)
        return axle__tokenizer_out_of_memory();
    for (size_t k = 0; k < size; k++)
        model->merges[k] = (axle__merge){-1, -1, 0, 0};
    model->merge_slots = size;
    model->merge_count = count;
    /* Of equal pairs the last counts. */
    for (int32_t k = 0; k < count; k++)
        *slot_of(model, merges[k][0], merges[k][1]) =
            (axle__merge){merges[k][0], merges[k][1], k, merges[k][2]};
    return AXLE_OK;
}

/* ---- candidates: a heap whose first is the next to be merged */

static bool precedes(axle__candidate a, axle__candidate b)
{
    return a.rank != b.rank ? a.rank < b.rank : a.position < b.position;
}

static void heap_push(axle__candidate *heap, size_t *count, axle__candidate item)
{
    size_t k = (*count)++;
    for (; k > 0 && precedes(item, heap[(k - 1) / 2]); k = (k - 1) / 2)
        heap[k] = heap[(k - 1) / 2];
    heap[k] = item;
}

static axle__candidate heap_pop(axle__candidate *heap, size_t *count)
{
    axle__candidate first = heap[0], item = heap[--*count];
    size_t k = 0;
    for (size_t child; (child = 2 * k + 1) < *count; k = child) {
        if (child + 1 < *count && precedes(heap[child + 1], heap[child]))
            child++;
        if (!precedes(heap[child], item))
            break;
        heap[k] = heap[child];
    }
    heap[k] = item;
    return first;
}

/* ---- words */

/* Room for a word: each merge takes a symbol away and adds two candidates at most. */
static bool make_room(axle__cut *cut, size_t length)
{
    axle__symbol *symbols = axle__grow(cut->symbols, &cut->symbol_room, length, sizeof(*symbols));
    if (!symbols)
        return false;
    cut->symbols = symbols;
    axle__candidate *heap = axle__grow(cut->heap, &cut->heap_room, 3 * length, sizeof(*heap));
    if (!heap)
        return false;
    cut->heap = heap;
    return true;
}

/* Symbols of the word's bytes; those that the vocabulary lacks are the unknown token, or left out
 * where there is none. */
static int32_t begin(const axle__model *model, const char *word, size_t length,
                     axle__symbol *symbols)
{
    int32_t count = 0;
    for (size_t k = 0; k < length; k++) {
        int32_t id = model->bytes[(unsigned char)word[k]];
        id = id < 0 ? model->unknown : id;
        if (id >= 0) {
            symbols[count] = (axle__symbol){id, (uint32_t)(k + 1), count - 1, count + 1, false};
            count++;
        } else if (count) {
            symbols[count - 1].end = (uint32_t)(k + 1);
        }
    }
    if (count)
        symbols[count - 1].next = -1;
    return count;
}

static void consider(const axle__model *model, const axle__symbol *symbols, int32_t position,
                     axle__candidate *heap, size_t *count)
{
    const axle__symbol *left = &symbols[position];
    if (left->next < 0)
        return;
    const axle__merge *merge = slot_of(model, left->id, symbols[left->next].id);
    if (merge->left >= 0)
        heap_push(heap, count, (axle__candidate){merge->rank, position, merge->id});
}

/* Whether the symbols are still those that the candidate was made of. */
static bool holds(const axle__model *model, const axle__symbol *symbols, axle__candidate candidate)
{
    const axle__symbol *left = &symbols[candidate.position];
    if (left->gone || left->next < 0)
        return false;
    const axle__merge *merge = slot_of(model, left->id, symbols[left->next].id);
    return merge->left >= 0 && merge->id == candidate.id;
}

static void merge_all(const axle__model *model, axle__symbol *symbols, int32_t n,
                      axle__candidate *heap)
{
    size_t count = 0;
    for (int32_t k = 0; k < n; k++)
        consider(model, symbols, k, heap, &count);
    while (count) {
        axle__candidate best = heap_pop(heap, &count);
        if (!holds(model, symbols, best))
            continue;
        axle__symbol *left = &symbols[best.position], *right = &symbols[left->next];
        left->id = best.id;
        left->end = right->end;
        left->next = right->next;
        right->gone = true;
        if (left->next >= 0)
            symbols[left->next].last = best.position;
        if (left->last >= 0)
            consider(model, symbols, left->last, heap, &count);
        consider(model, symbols, best.position, heap, &count);
    }
}

bool axle__bpe_cut(const axle__model *model, const char *word, size_t length, axle__cut *cut)
{
    cut->count = 0;
    if (!make_room(cut, length))
        return false;
    int32_t n = begin(model, word, length, cut->symbols);
    merge_all(model, cut->symbols, n, cut->heap);
    for (int32_t k = n ? 0 : -1; k >= 0; k = cut->symbols[k].next)
        if (!axle__cut_push(cut, cut->symbols[k].id, cut->symbols[k].end))
            return false;
    return true;
}
