/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normal forms of Unicode that keep account of where characters came from.
 *
 * A text is taken apart into pieces; each says how many characters of the text before it begins
 * with: 1 - skip where it takes one itself and -skip further ones, none where skip is positive.
 * That is the account that the library `tokenizers` keeps, so that offsets are the same.
 */
#ifndef AXLE_TOKENIZERS_FORMS_H
#define AXLE_TOKENIZERS_FORMS_H

#include "aligned.h"

typedef struct axle__piece {
    int32_t c;
    int32_t change; /* 1: added; 0: in the place of one; -n: of n + 1 */
} axle__piece;

/* Starts as {0}. */
typedef struct axle__pieces {
    axle__piece *items;
    size_t count, capacity;
} axle__pieces;

/* The text's full decomposition in canonical order. */
bool axle__decompose(const axle__aligned *text, int compatible, axle__pieces *out);
/* Compose what was decomposed. */
void axle__compose(axle__pieces *pieces);
/* Append the pieces to `out`, but for BERT's marks where `strip` says so. */
bool axle__pieces_write(const axle__aligned *text, const axle__pieces *pieces, bool strip,
                        axle__aligned *out);

#endif
