/* SPDX-License-Identifier: Apache-2.0 */
/* Combining the processes' numbers: in f64 (integers in 64 bits), in the order given, rounded once.
 */
#ifndef AXLE_GROUP_COMBINE_H
#define AXLE_GROUP_COMBINE_H

#include <stdint.h>

/* out[i] = scale * combine(parts[0][i], parts[1][i], ...) for count elements of dtype; out may be
 * one of the parts. scale counts for sums and means of floats alone. Booleans: max is "any", min
 * "all". AXLE_ERR_DTYPE, AXLE_ERR_INVALID. */
int axle__combine(int reduction, int dtype, const void *const *parts, int part_count, double scale,
                  void *out, uint64_t count);
/* Sums of f32 alone: out[i] = scale * (parts[0][i] + parts[1][i] + ...). */
void axle__sum_f32(const void *const *parts, int part_count, double scale, float *out,
                   uint64_t count);
/* Whether axle__combine knows that. */
int axle__combine_check(int reduction, int dtype);

#endif
