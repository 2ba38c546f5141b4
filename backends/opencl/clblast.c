/* SPDX-License-Identifier: Apache-2.0 */
#include "clblast.h"

#include <dlfcn.h>

/* Numbers of CLBlast's interface, which are those of CBLAS. */
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TURNED = 112 };

#define GEMM(name, real)                                                                           \
    typedef int (*name)(int layout, int a_turned, int b_turned, size_t m, size_t n, size_t k,      \
                        real alpha, cl_mem a, size_t a_first, size_t a_row, cl_mem b,              \
                        size_t b_first, size_t b_row, real beta, cl_mem y, size_t y_first,         \
                        size_t y_row, cl_command_queue *queue, cl_event *event)
GEMM(sgemm_fn, float);
GEMM(dgemm_fn, double);

static sgemm_fn sgemm;
static dgemm_fn dgemm;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void look(void)
{
    void *library = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    sgemm = (sgemm_fn)(uintptr_t)dlsym(library, "CLBlastSgemm");
    dgemm = (dgemm_fn)(uintptr_t)dlsym(library, "CLBlastDgemm");
}

int ocl_clblast_is_there(void)
{
    pthread_once(&once, look);
    return sgemm && dgemm;
}

int ocl_clblast_run(const ocl_gemm *g, ocl_matrix a, ocl_matrix b, ocl_matrix y,
                    cl_command_queue queue)
{
    const int a_turned = g->a_turned ? TURNED : AS_IT_IS,
              b_turned = g->b_turned ? TURNED : AS_IT_IS;
    if (g->f64)
        return dgemm(ROW_MAJOR, a_turned, b_turned, g->m, g->n, g->k, g->alpha, a.memory, a.first,
                     g->a_row, b.memory, b.first, g->b_row, g->beta, y.memory, y.first, g->y_row,
                     &queue, NULL);
    return sgemm(ROW_MAJOR, a_turned, b_turned, g->m, g->n, g->k, (float)g->alpha, a.memory,
                 a.first, g->a_row, b.memory, b.first, g->b_row, (float)g->beta, y.memory, y.first,
                 g->y_row, &queue, NULL);
}
