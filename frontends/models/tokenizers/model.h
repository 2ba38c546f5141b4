/* SPDX-License-Identifier: Apache-2.0 */
/* How a word becomes tokens. */
#ifndef AXLE_TOKENIZERS_MODEL_H
#define AXLE_TOKENIZERS_MODEL_H

#include "cache.h"
#include "trie.h"
#include "vocabulary.h"

typedef enum axle__model_kind { AXLE__WORDPIECE, AXLE__BPE } axle__model_kind;

/* Pairs of tokens that make a third one; a hash table. */
typedef struct axle__merge {
    int32_t left, right; /* left -1: the slot is free */
    int32_t rank, id;
} axle__merge;

/* Starts as {0}. */
typedef struct axle__model {
    axle__model_kind kind;
    axle__vocabulary words; /* without added tokens that are not in it */
    int32_t unknown;        /* -1: none, which BPE may do without */
    /* WordPiece */
    char *prefix; /* of tokens that continue a word */
    axle__trie trie;
    int64_t continued; /* the node that the prefix leads to; AXLE__NO_NODE */
    int64_t longest;   /* word in code points that is looked at */
    /* BPE */
    axle__merge *merges;
    size_t merge_slots; /* a power of two */
    int32_t merge_count;
    int32_t bytes[256]; /* token of each byte; -1: none */
} axle__model;

void axle__model_free(axle__model *model);

/* Tokens of a word, and what cutting it takes. Starts as {0}. */
typedef struct axle__cut {
    axle__token_end *tokens;
    size_t count, room;
    struct axle__symbol *symbols;
    size_t symbol_room;
    struct axle__candidate *heap;
    size_t heap_room;
} axle__cut;

void axle__cut_free(axle__cut *cut);
bool axle__cut_push(axle__cut *cut, int32_t id, size_t end);

/* Set the tokens of a word that is not empty; false: out of memory, and recorded. */
bool axle__wordpiece_cut(const axle__model *model, const char *word, size_t length, axle__cut *cut);
bool axle__bpe_cut(const axle__model *model, const char *word, size_t length, axle__cut *cut);

/* Of a complete vocabulary, make what cutting needs. */
int axle__wordpiece_prepare(axle__model *model);
/* Set the table of merges: `pairs` has `count` times the ids of two tokens and of the third. */
int axle__bpe_prepare(axle__model *model, const int32_t (*merges)[3], int32_t count);

#endif
