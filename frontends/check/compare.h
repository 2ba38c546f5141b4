/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a result is what the reference gives, to within what its element type allows. */
#ifndef AXLE_CHECK_COMPARE_H
#define AXLE_CHECK_COMPARE_H

#include "operand.h"

/* `got` has the elements of an operand like `o`; `want` holds the expected ones, of the same type
 * or as f64. `slack` multiplies what is allowed; with `exact` nothing is. */
int compare(const operand *o, const unsigned char *got, const operand *want, double slack,
            int exact, note *n);

#endif
