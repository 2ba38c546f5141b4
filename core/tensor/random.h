/* SPDX-License-Identifier: Apache-2.0 */
/* Philox4x32-10 on the host, and the thread's stream of draws. */
#ifndef AXLE_TENSOR_RANDOM_H
#define AXLE_TENSOR_RANDOM_H

#include "axle/random.h"

/* Block of a 128-bit counter (high half 0) under a key. */
void axle__philox(uint64_t seed, uint64_t counter, uint32_t out[4]);
/* Uniform in [0, 1) of element `element` of the draw with that key. */
double axle__philox_uniform(uint64_t seed, uint64_t element);

/* Key of the thread's next draw; counts it. */
uint64_t axle__random_next_key(void);
/* Uniforms in [0, 1), or standard normals, number `first` to first + n - 1 of the draw with that
 * key. */
void axle__random_uniform(uint64_t key, uint64_t first, double *out, int64_t n);
void axle__random_normal(uint64_t key, uint64_t first, double *out, int64_t n);
/* Normals of the thread's next draw. */
void axle__random_normal_from(uint64_t first, double *out, int64_t n);
/* Number of a tensor's first element in its draw, where dim 0 counts the rows of the batch: draws
 * are made for the global batch, and this process takes its rows. */
uint64_t axle__random_first(int rank, const int64_t *dims);

#endif
