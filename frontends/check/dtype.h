/* SPDX-License-Identifier: Apache-2.0 */
/* Element types: names, sizes, and single elements as numbers. */
#ifndef AXLE_CHECK_DTYPE_H
#define AXLE_CHECK_DTYPE_H

#include "axle/types.h"

enum { DTYPE_LIMIT = 16 };

/* All element types, ended by 0. */
extern const uint32_t dtype_all[];

/* NULL and 0 for a number that is no element type. */
const char *dtype_name(uint32_t dtype);
size_t dtype_size(uint32_t dtype);
/* 0 where there is no such name. */
uint32_t dtype_find(const char *name, size_t length);
int dtype_is_float(uint32_t dtype);

/* Rounding to nearest even; integers by truncation. */
double dtype_get(uint32_t dtype, const void *element);
void dtype_set(uint32_t dtype, void *element, double value);
int64_t dtype_get_integer(uint32_t dtype, const void *element);

#endif
