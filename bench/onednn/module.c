/* SPDX-License-Identifier: Apache-2.0 */
#include <omp.h>
#include <stddef.h>
#include <string.h>

#include "direct.h"

static const struct {
    const char *name;
    direct_workload *(*create)(const int64_t sizes[3]);
} workloads[] = {
    {"matmul", direct_matmul_create},
    {"lenet", direct_lenet_create},
};

void *axle_bench_create(const char *what, const int64_t sizes[3], int threads)
{
    omp_set_num_threads(threads);
    for (size_t k = 0; k < sizeof(workloads) / sizeof(workloads[0]); k++)
        if (strcmp(workloads[k].name, what) == 0)
            return workloads[k].create(sizes);
    return NULL;
}

int axle_bench_run(void *workload)
{
    direct_workload *w = workload;
    return w->run(w);
}

void axle_bench_release(void *workload)
{
    direct_workload *w = workload;
    if (w)
        w->release(w);
}
