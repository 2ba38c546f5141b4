/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The masked softmax of one row of logits, shared by softmax and attention.
 *
 * A masked column has no influence on the row, whatever its logit holds. A bool mask keeps what is
 * true; a float mask is added to the logits, and its -inf removes; a causal row r keeps the columns
 * up to r.
 */
#ifndef AXLE_REFERENCE_MASKING_H
#define AXLE_REFERENCE_MASKING_H

#include "reference.h"

#include <math.h>

typedef struct ref_masking {
    const double *mask; /* the row of the mask, or NULL */
    int boolean;        /* what the mask's type is */
    int64_t keep;       /* columns from here on are removed by order */
} ref_masking;

static inline int ref_masking_keeps(const ref_masking *m, int64_t column)
{
    if (column >= m->keep)
        return 0;
    if (!m->mask)
        return 1;
    return m->boolean ? m->mask[column] != 0 : m->mask[column] != -INFINITY;
}

/* Columns that a causal row keeps; all of them otherwise. */
static inline int64_t ref_masking_order(int causal, int64_t row, int64_t columns)
{
    return causal && row + 1 < columns ? row + 1 : columns;
}

/*
 * Logits to probabilities, in place; removed columns become 0. Returns log(sum(exp(logits))), -inf
 * where nothing is kept.
 */
double ref_masked_softmax(const ref_masking *m, double *row, int64_t n);

/* Logits to logarithms of probabilities, in place; removed columns become -inf. */
void ref_masked_log_softmax(const ref_masking *m, double *row, int64_t n);

#endif
