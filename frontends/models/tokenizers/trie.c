/* SPDX-License-Identifier: Apache-2.0 */
#include "trie.h"

#include <stdlib.h>

#include "aligned.h"
#include "axle/status.h"

enum { FIRST_SIZE = 256, MOST_NODES = (1 << 24) - 1 };

void axle__trie_free(axle__trie *trie)
{
    free(trie->edges);
    free(trie->values);
    *trie = (axle__trie){0};
}

static void insert(axle__edge *edges, size_t size, axle__edge edge)
{
    size_t slot = axle__edge_hash(edge.key);
    while (edges[slot & (size - 1)].key)
        slot++;
    edges[slot & (size - 1)] = edge;
}

/* At most half of the table is used. */
static bool make_room(axle__trie *trie)
{
    if (2 * trie->nodes < trie->size)
        return true;
    size_t size = trie->size ? 2 * trie->size : FIRST_SIZE;
    axle__edge *edges = calloc(size, sizeof(*edges));
    if (!edges) {
        axle__tokenizer_out_of_memory();
        return false;
    }
    for (size_t k = 0; k < trie->size; k++)
        if (trie->edges[k].key)
            insert(edges, size, trie->edges[k]);
    free(trie->edges);
    trie->edges = edges;
    trie->size = size;
    return true;
}

static int64_t new_node(axle__trie *trie)
{
    if (trie->nodes >= MOST_NODES) {
        axle_error_set(AXLE_ERR_UNSUPPORTED, "tokenizer: the vocabulary is too large");
        return AXLE__NO_NODE;
    }
    int32_t *values =
        axle__grow(trie->values, &trie->capacity, trie->nodes + 1, sizeof(*trie->values));
    if (!values)
        return AXLE__NO_NODE;
    trie->values = values;
    values[trie->nodes] = -1;
    return (int64_t)trie->nodes++;
}

static int64_t child_of(axle__trie *trie, int64_t node, unsigned char byte)
{
    int64_t child = axle__trie_step(trie, node, byte);
    if (child != AXLE__NO_NODE)
        return child;
    if (!make_room(trie) || (child = new_node(trie)) == AXLE__NO_NODE)
        return AXLE__NO_NODE;
    insert(trie->edges, trie->size,
           (axle__edge){((uint32_t)node << 8 | byte) + 1, (uint32_t)child});
    return child;
}

bool axle__trie_add(axle__trie *trie, const char *text, size_t length, int32_t value)
{
    if (!make_room(trie) || (trie->nodes == 0 && new_node(trie) == AXLE__NO_NODE))
        return false;
    int64_t node = 0;
    for (size_t k = 0; k < length; k++)
        if ((node = child_of(trie, node, (unsigned char)text[k])) == AXLE__NO_NODE)
            return false;
    trie->values[node] = value;
    return true;
}

int32_t axle__trie_longest(const axle__trie *trie, int64_t node, const char *text, size_t length,
                           size_t *end)
{
    int32_t found = -1;
    if (!trie->size)
        return -1;
    for (size_t k = 0; k < length; k++) {
        node = axle__trie_step(trie, node, (unsigned char)text[k]);
        if (node == AXLE__NO_NODE)
            break;
        if (trie->values[node] >= 0) {
            found = trie->values[node];
            *end = k + 1;
        }
    }
    return found;
}

int64_t axle__trie_walk(const axle__trie *trie, const char *text, size_t length)
{
    int64_t node = trie->size ? 0 : AXLE__NO_NODE;
    for (size_t k = 0; k < length && node != AXLE__NO_NODE; k++)
        node = axle__trie_step(trie, node, (unsigned char)text[k]);
    return node;
}
