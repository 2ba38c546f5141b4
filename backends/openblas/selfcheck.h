/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of small integers, which floating point computes exactly in any order, compared with
 * sums computed here. A library that fails was built for another processor or is broken otherwise,
 * and would train to nonsense without a word.
 */
#ifndef AXLE_OPENBLAS_SELFCHECK_H
#define AXLE_OPENBLAS_SELFCHECK_H

#include "library.h"

/* AXLE_ERR_DEVICE where a product is wrong; the message says which and by how much. */
axle_status blas_selfcheck(const blas_library *library, axle_error *error);

#endif
