/* SPDX-License-Identifier: Apache-2.0 */
/* What operands hold: numbers that follow from a seed, in the domains that operators take. */
#ifndef AXLE_CHECK_VALUES_H
#define AXLE_CHECK_VALUES_H

#include "spec.h"

/* A stream of random numbers. */
typedef struct stream {
    uint64_t state;
} stream;
stream stream_of(uint64_t seed, const char *name);
uint64_t stream_next(stream *s);

int64_t spec_count(const operand_spec *spec);
/* Fill the elements in row-major order of the dims; along repeating dims they are the same. 0 where
 * there is no such domain. */
int values_fill(const operand_spec *spec, stream *s, unsigned char *elements);

#endif
