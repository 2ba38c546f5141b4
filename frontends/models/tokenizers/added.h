/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens that are looked for in texts before those are cut into words. */
#ifndef AXLE_TOKENIZERS_ADDED_H
#define AXLE_TOKENIZERS_ADDED_H

#include "normalizer.h"
#include "trie.h"

typedef struct axle__added_token {
    char *text;
    int32_t id;
    bool special;
    bool normalized;  /* looked for in what the normaliser makes of the text, likewise normalised */
    bool single_word; /* not as a part of one */
    bool left, right; /* with the spaces on that side */
} axle__added_token;

/* Starts as {0}. */
typedef struct axle__added {
    axle__added_token *tokens;
    size_t count, room;
    axle__trie plain, normalized;                 /* their values are positions in tokens */
    bool first_plain[256], first_normalized[256]; /* bytes that one begins with */
} axle__added;

void axle__added_free(axle__added *added);
/* Copies the text. Of tokens with equal ids the first stays. */
int axle__added_put(axle__added *added, const axle__added_token *token);
/* Of the id; NULL: there is none. */
const axle__added_token *axle__added_find(const axle__added *added, int32_t id);
/* Make what looking for them needs, once all are there. */
int axle__added_prepare(axle__added *added, const axle__normalizer *normalizer);

/* A part of a text: a token, or what is between tokens. */
typedef struct axle__part {
    const axle__added_token *token; /* NULL: none */
    size_t begin, end;
} axle__part;

/* Starts as {0}. */
typedef struct axle__parts {
    axle__part *items;
    size_t count, room;
} axle__parts;

/* Set the parts of a text, leftmost and longest tokens first; false: out of memory, and recorded.
 * @param normalized       which of the tokens are looked for.
 * @param specials_as_text  special ones are not. */
bool axle__added_split(const axle__added *added, bool normalized, bool specials_as_text,
                       const char *text, size_t length, axle__parts *out);

#endif
