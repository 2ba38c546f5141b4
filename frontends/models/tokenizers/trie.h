/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of byte strings in which the longest one that a text begins with is found. */
#ifndef AXLE_TOKENIZERS_TRIE_H
#define AXLE_TOKENIZERS_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct axle__edge {
    uint32_t key; /* node << 8 | byte, plus 1; 0: none */
    uint32_t child;
} axle__edge;

/* Starts as {0}; node 0 is the root. */
typedef struct axle__trie {
    axle__edge *edges; /* a hash table of `size`, a power of two */
    int32_t *values;   /* of each node; -1: no string ends there */
    size_t size, nodes, capacity;
} axle__trie;

void axle__trie_free(axle__trie *trie);
/* false: out of memory, or more nodes than there can be, and recorded. Of equal strings the last
 * counts. */
bool axle__trie_add(axle__trie *trie, const char *text, size_t length, int32_t value);

enum { AXLE__NO_NODE = -1 };

static inline uint32_t axle__edge_hash(uint32_t key)
{
    key *= 0x9E3779B1u;
    return key ^ key >> 15;
}

/* The node that a byte leads to. */
static inline int64_t axle__trie_step(const axle__trie *trie, int64_t node, unsigned char byte)
{
    uint32_t key = ((uint32_t)node << 8 | byte) + 1;
    for (size_t slot = axle__edge_hash(key);; slot++) {
        const axle__edge *edge = &trie->edges[slot & (trie->size - 1)];
        if (edge->key == key)
            return edge->child;
        if (edge->key == 0)
            return AXLE__NO_NODE;
    }
}

/* Value of the longest string, not empty, that continues what leads to `node`; its length, from
 * there, in *end. -1: there is none. */
int32_t axle__trie_longest(const axle__trie *trie, int64_t node, const char *text, size_t length,
                           size_t *end);
/* Node that a string leads to. */
int64_t axle__trie_walk(const axle__trie *trie, const char *text, size_t length);

#endif
