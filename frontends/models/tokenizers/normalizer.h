/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to a text before it is split: steps in turn. */
#ifndef AXLE_TOKENIZERS_NORMALIZER_H
#define AXLE_TOKENIZERS_NORMALIZER_H

#include "aligned.h"
#include "forms.h"

typedef enum axle__step_kind {
    AXLE__STEP_CLEAN,   /* drop controls, make any space U+0020 */
    AXLE__STEP_CHINESE, /* put spaces around each such character */
    AXLE__STEP_STRIP,   /* NFD without marks */
    AXLE__STEP_LOWERCASE,
    AXLE__STEP_NFC,
    AXLE__STEP_NFD,
    AXLE__STEP_NFKC,
    AXLE__STEP_NFKD
} axle__step_kind;

enum { AXLE__MOST_STEPS = 16 };
typedef struct axle__normalizer {
    axle__step_kind steps[AXLE__MOST_STEPS];
    int count;
} axle__normalizer;

/* What it works with; starts as {0}. */
typedef struct axle__normalized {
    axle__aligned text; /* the result */
    axle__aligned other;
    axle__pieces pieces;
} axle__normalized;

void axle__normalized_free(axle__normalized *normalized);

/* Normalise `length` bytes at `text`, which are at `offset` of the original. One byte is kept free
 * in front of the result, which begins at result->text[1]: a splitter may put a space there. */
bool axle__normalize(const axle__normalizer *normalizer, const char *text, size_t length,
                     size_t offset, axle__normalized *result);

#endif
