/* SPDX-License-Identifier: Apache-2.0 */
/* Folding many elements into one state: the inner loops of the reductions. */
#ifndef AXLE_REFERENCE_FOLD_H
#define AXLE_REFERENCE_FOLD_H

#include "reference.h"

/* A fold under way. Floats use high and low, integers and truth values use integer. */
typedef struct ref_state {
    double high, low;
    int64_t integer;
} ref_state;

/* Fold n elements, `step` bytes apart, into a state. `center` is what deviations are taken from. */
typedef void (*ref_fold)(ref_state *s, const unsigned char *x, int64_t n, int64_t step,
                         double center);

/* What is folded; several kinds of reduction may share a fold. */
enum {
    REF_FOLD_SUM,
    REF_FOLD_PROD,
    REF_FOLD_MAX,
    REF_FOLD_MIN,
    REF_FOLD_ABS,
    REF_FOLD_SQUARE,
    REF_FOLD_DEVIATION,
    REF_FOLD_ANY,
    REF_FOLD_ALL,
    REF_FOLD_LIMIT
};

/* NULL where the fold does not take the type. */
ref_fold ref_fold_of(uint32_t what, uint32_t dtype);
/* The state of no element. */
ref_state ref_fold_start(uint32_t what, uint32_t dtype);
/* Join the states of n consecutive pieces, in their order. */
ref_state ref_fold_join(uint32_t what, uint32_t dtype, const ref_state *pieces, int64_t n);
/* The value of a float's state. */
double ref_fold_value(const ref_state *s);

#endif
