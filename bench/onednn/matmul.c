/* SPDX-License-Identifier: Apache-2.0 */
/* A product of row-major matrices. */
#include <stdlib.h>

#include "direct.h"
#include "program.h"

typedef struct matmul {
    direct_workload base;
    program *program;
} matmul;

static int run(direct_workload *base)
{
    return program_run(((matmul *)base)->program);
}

static void release(direct_workload *base)
{
    program_release(((matmul *)base)->program);
    free(base);
}

/* Values in [-1, 1), so that no operand is zero or denormal. */
static void fill(float *data, int64_t count)
{
    uint32_t state = 1;
    for (int64_t k = 0; k < count; k++) {
        state = state * 1664525u + 1013904223u;
        data[k] = (float)(state >> 8) * 0x1p-23f - 1.0f;
    }
}

static void build(program *p, int64_t m, int64_t k, int64_t n)
{
    dnnl_memory_t src = program_tensor(p, 2, (const dnnl_dim_t[]){m, k}, dnnl_ab, NULL);
    dnnl_memory_t weights = program_tensor(p, 2, (const dnnl_dim_t[]){k, n}, dnnl_ab, NULL);
    dnnl_memory_t dst = program_tensor(p, 2, (const dnnl_dim_t[]){m, n}, dnnl_ab, NULL);
    dnnl_primitive_desc_t desc = program_matmul(
        p, program_desc_of(p, src), program_desc_of(p, weights), NULL, program_desc_of(p, dst), 0);
    if (program_status(p))
        return;
    fill(program_data(p, src), m * k);
    fill(program_data(p, weights), k * n);
    program_add(
        p, desc,
        (const program_arg[]){
            {DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, dst}, {0, NULL}});
}

direct_workload *direct_matmul_create(const int64_t sizes[3])
{
    matmul *self = calloc(1, sizeof(*self));
    if (!self)
        return NULL;
    self->base = (direct_workload){run, release};
    self->program = program_create();
    if (self->program)
        build(self->program, sizes[0], sizes[1], sizes[2]);
    if (!self->program || program_status(self->program)) {
        release(&self->base);
        return NULL;
    }
    return &self->base;
}
