/* SPDX-License-Identifier: Apache-2.0 */
/* What is put around the tokens of texts. */
#ifndef AXLE_TOKENIZERS_TEMPLATE_H
#define AXLE_TOKENIZERS_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

enum { AXLE__MOST_PLACES = 32 };
enum { AXLE__FIRST_TEXT = -1, AXLE__SECOND_TEXT = -2 };

/* A special token, or a text. */
typedef struct axle__place {
    int32_t id; /* or AXLE__FIRST_TEXT, AXLE__SECOND_TEXT */
    int32_t type;
} axle__place;

typedef struct axle__template {
    axle__place places[AXLE__MOST_PLACES];
    int count;
} axle__template;

/* Starts as axle__layout_plain. */
typedef struct axle__layout {
    axle__template single, pair;
    bool trims;      /* spaces that a token begins or ends with are not in its offsets */
    bool adds_space; /* and one in front of a text is not the text's own */
} axle__layout;

extern const axle__layout axle__layout_plain;

/* false: there are too many. */
bool axle__template_put(axle__template *template, int32_t id, int32_t type);
/* How many special tokens it has. */
int axle__template_specials(const axle__template *template);

#endif
