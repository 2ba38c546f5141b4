/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step of Adam over many parameters, against memory's bandwidth. The limit is the time that the
 * step's 28 bytes a parameter (it reads value, gradient and two moments, and writes value and
 * moments) take at the speed of a plain triad, a = b + s * c, counted with 12 bytes an element.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdlib.h>

#include "bench.h"

enum { STEP_BYTES = 28, TRIAD_BYTES = 12, BLOCK = 1024, MOST_THREADS = 256, ALIGNMENT = 64 };

/* ------------------------------------------------------------------ the triad */

typedef struct triad {
    float *a, *b, *c;
    int64_t blocks;    /* of BLOCK elements */
    int threads, fill; /* fill: give the arrays their first values instead */
} triad;

typedef struct triad_part {
    const triad *whole;
    pthread_t thread;
    int64_t first, end;
} triad_part;

/* The length of the inner loop is known, so that a compiler makes vector code of it. */
static void add_scaled(float *restrict a, const float *restrict b, const float *restrict c)
{
    for (int k = 0; k < BLOCK; k++)
        a[k] = b[k] + 3.0f * c[k];
}

static void fill_block(float *a, float *b, float *c)
{
    for (int k = 0; k < BLOCK; k++) {
        a[k] = 0.0f;
        b[k] = 1.0f;
        c[k] = 2.0f;
    }
}

static void *run_part(void *user)
{
    const triad_part *part = user;
    const triad *t = part->whole;
    for (int64_t k = part->first * BLOCK; k < part->end * BLOCK; k += BLOCK) {
        if (t->fill)
            fill_block(t->a + k, t->b + k, t->c + k);
        else
            add_scaled(t->a + k, t->b + k, t->c + k);
    }
    return NULL;
}

/* Each thread has its share of the blocks, the same in every run. */
static int run_triad(void *user)
{
    triad *t = user;
    triad_part part[MOST_THREADS];
    int started = 1, failed = 0;
    for (int k = 0; k < t->threads; k++)
        part[k] = (triad_part){.whole = t,
                               .first = t->blocks * k / t->threads,
                               .end = t->blocks * (k + 1) / t->threads};
    for (; started < t->threads && !failed; started++)
        failed = pthread_create(&part[started].thread, NULL, run_part, &part[started]) != 0;
    started -= failed;
    run_part(&part[0]);
    for (int k = 1; k < started; k++)
        pthread_join(part[k].thread, NULL);
    return failed;
}

static float *allocate(int64_t count)
{
    return aligned_alloc(ALIGNMENT, (size_t)count * sizeof(float));
}

static void triad_release(triad *t)
{
    free(t->a);
    free(t->b);
    free(t->c);
}

static int triad_create(triad *t, int64_t elements)
{
    int threads = bench_threads();
    int64_t blocks = (elements + BLOCK - 1) / BLOCK;
    *t = (triad){.a = allocate(blocks * BLOCK),
                 .b = allocate(blocks * BLOCK),
                 .c = allocate(blocks * BLOCK),
                 .blocks = blocks,
                 .threads = threads < MOST_THREADS ? threads : MOST_THREADS,
                 .fill = 1};
    int failed = !t->a || !t->b || !t->c || run_triad(t);
    t->fill = 0;
    return failed ? axle_error_set(AXLE_ERR_NOMEM, "out of memory or threads") : AXLE_OK;
}

/* ------------------------------------------------------------------ the step */

/* A module whose one parameter has that many elements, and a gradient. */
static int create_module(int64_t elements, axle_module **out)
{
    static const axle_module_class parameters = {
        .struct_size = sizeof(axle_module_class),
        .name = "parameters",
        .instance_size = sizeof(axle_module),
    };
    axle_module *module;
    axle_tensor *value = axle_full(AXLE_DTYPE_F32, AXLE_DIMS(elements), 0.5);
    axle_tensor *gradient = axle_full(AXLE_DTYPE_F32, AXLE_DIMS(elements), 1e-3);
    if (!value || !gradient)
        return axle_error_code();
    int code = axle_module_new(&parameters, &module);
    if (code)
        return code;
    code = axle_module_add_parameter(module, "weight", axle_tensor_retain(value));
    if (!code)
        code = axle_tensor_set_grad(value, gradient);
    if (code)
        axle_module_release(module);
    else
        *out = module;
    return code;
}

typedef struct stepper {
    axle_optimizer *optimizer;
    axle_device *device;
} stepper;

static int step(void *user)
{
    const stepper *s = user;
    int code = axle_optimizer_step(s->optimizer);
    return code ? code : axle_device_synchronize(s->device);
}

/* What was made to build the optimizer goes before anything is measured. */
static int create_stepper(int64_t elements, stepper *out)
{
    axle_module *module = NULL;
    int code = axle_scope_push();
    if (code)
        return code;
    code = create_module(elements, &module);
    if (!code) {
        code = axle_adam_create(module, NULL, &out->optimizer);
        axle_module_release(module);
    }
    axle_scope_pop();
    out->device = axle_device_current();
    return code;
}

static int measure(const bench_settings *settings, stepper *s)
{
    double elements = (double)settings->parameters;
    triad t;
    bench_times times;
    int code = triad_create(&t, settings->parameters / 2);
    if (!code)
        code = bench_measure((bench_work){step, s}, (bench_work){run_triad, &t}, settings->repeat,
                             &times);
    triad_release(&t);
    if (code)
        return code;
    double bandwidth = (double)t.blocks * BLOCK * TRIAD_BYTES / times.limit;
    times.limit = elements * STEP_BYTES / bandwidth;
    json_t *more = json_pack("{s:I, s:f, s:f}", "parameters", (json_int_t)settings->parameters,
                             "bytes_per_second", elements * STEP_BYTES / times.subject,
                             "triad_bytes_per_second", bandwidth);
    return bench_report(settings, "optimizer", "adam", BENCH_MS, times, "a triad's bandwidth",
                        more);
}

int bench_optimizer(const bench_settings *settings)
{
    stepper s = {NULL, NULL};
    int code = create_stepper(settings->parameters, &s);
    if (!code)
        code = measure(settings, &s);
    axle_optimizer_release(s.optimizer);
    return code;
}
