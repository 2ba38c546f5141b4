/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program gets that calls oneDNN itself: the limit that `axle bench` measures beside Axle.
 * The command opens this module if it is there.
 */
#ifndef AXLE_BENCH_ONEDNN_DIRECT_H
#define AXLE_BENCH_ONEDNN_DIRECT_H

#include <stdint.h>

#define DIRECT_API __attribute__((visibility("default")))

/*
 * Make a workload for so many threads, NULL on failure:
 *   "matmul"  sizes M, K, N: a row-major f32 product (M, K) x (K, N)
 *   "lenet"   sizes batch, 0, 0: a training step of the LeNet of libaxle-models with Adam
 */
DIRECT_API void *axle_bench_create(const char *what, const int64_t sizes[3], int threads);
/* Run it once, to its end. Returns 0 on success. */
DIRECT_API int axle_bench_run(void *workload);
DIRECT_API void axle_bench_release(void *workload);

/* Inside the module: each workload begins with this. */
typedef struct direct_workload {
    int (*run)(struct direct_workload *workload);
    void (*release)(struct direct_workload *workload);
} direct_workload;

direct_workload *direct_matmul_create(const int64_t sizes[3]);
direct_workload *direct_lenet_create(const int64_t sizes[3]);

#endif
