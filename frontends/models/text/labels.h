/* SPDX-License-Identifier: Apache-2.0 */
/* What the labels of rows come to. */
#ifndef AXLE_MODELS_TEXT_LABELS_H
#define AXLE_MODELS_TEXT_LABELS_H

#include "rows.h"

typedef struct text_labels {
    int kind;
    int64_t count;    /* of names; 1 for numbers; 0: there are no labels */
    char **names;     /* NULL-terminated; NULL for numbers */
    int64_t *classes; /* (rows), of classes */
    float *values;    /* (rows, count), of label sets and numbers */
} text_labels;

/* Starts as {0}, and is cleared also after failure. Without a column of labels nothing is made,
 * but names that were given are kept. */
int axle__text_labels_read(const text_rows *rows, const axle_text_options *options,
                           text_labels *labels);
void axle__text_labels_clear(text_labels *labels);

#endif
