/* SPDX-License-Identifier: Apache-2.0 */
/* What encoding works with, kept from one text to the next. */
#ifndef AXLE_TOKENIZERS_WORKSPACE_H
#define AXLE_TOKENIZERS_WORKSPACE_H

#include "tokenizer.h"

/* A token of a text. */
typedef struct axle__token {
    int32_t id;
    uint32_t begin, end; /* bytes of the text */
    uint32_t word;
    uint16_t leading, trailing; /* spaces that it has, in code points */
} axle__token;

/* Starts as {0}. */
typedef struct axle__tokens {
    axle__token *items;
    size_t count, room;
} axle__tokens;

struct axle__workspace {
    axle__workspace *next; /* idle one */
    axle__normalized normalized;
    axle__parts parts, inner;
    axle__cut cut;
    axle__cache *cache;
    axle__tokens first, second; /* of a pair */
};

/* One for a thread alone; NULL: out of memory, and recorded. */
axle__workspace *axle__workspace_take(const axle_tokenizer *tokenizer);
/* Give it back. NULL is fine. */
void axle__workspace_give(const axle_tokenizer *tokenizer, axle__workspace *workspace);
void axle__workspace_free(axle__workspace *workspace);

/* Set the tokens of a text, without those that are put around it. */
int axle__tokenize(const axle_tokenizer *tokenizer, axle__workspace *workspace, const char *text,
                   size_t length, bool specials_as_text, axle__tokens *out);

#endif
