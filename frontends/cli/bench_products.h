/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix products of a training step of a language model, and nothing else: what limits it. */
#ifndef AXLE_CLI_BENCH_PRODUCTS_H
#define AXLE_CLI_BENCH_PRODUCTS_H

#include "bench.h"
#include "text_model.h"

/* Operands are made by the first run, so that measures of memory before it do not count them.
 * `dtype` is that of the operands. */
int bench_products_create(const text_sizes *sizes, int64_t rows, int64_t length, int dtype,
                          axle_device *device, bench_work *out);
/* Whether there was a run. */
int bench_products_began(bench_work work);
void bench_products_release(bench_work work);

#endif
