/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a result is what the reference gives, to within what its element type allows. */
#ifndef AXLE_CHECK_COMPARE_H
#define AXLE_CHECK_COMPARE_H

#include "operand.h"

/* What is allowed beyond the usual. */
typedef struct allowance {
    double slack; /* factor of everything */
    int exact;    /* nothing is */
    int rounded;  /* inputs are results that went through their type: an error of all elements' size
                   */
} allowance;

/* `got` has the elements of an operand like `o`; `want` holds the expected ones, of the same type
 * or as f64. */
int compare(const operand *o, const unsigned char *got, const operand *want, allowance how,
            note *n);

#endif
