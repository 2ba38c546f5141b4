/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step of Adam over many parameters, against memory's bandwidth. The limit is the time that the
 * step's 28 bytes a parameter (it reads value, gradient and two moments, and writes value and
 * moments) take at the speed of a plain triad, a = b + s * c, counted with 12 bytes an element.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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

static int64_t blocks_of(int64_t elements)
{
    return (elements + BLOCK - 1) / BLOCK;
}

static int triad_create(triad *t, int64_t elements)
{
    int threads = bench_threads();
    int64_t blocks = blocks_of(elements);
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
    triad triad;
} stepper;

static int step(void *user)
{
    const stepper *s = user;
    int code = axle_optimizer_step(s->optimizer);
    return code ? code : axle_device_synchronize(s->device);
}

static int create_adam(axle_module *module, axle_optimizer **out)
{
    return axle_adam_create(module, NULL, out);
}

static int create_sgd(axle_module *module, axle_optimizer **out)
{
    axle_sgd_options options = AXLE_SGD_OPTIONS_INIT;
    options.momentum = 0.9;
    return axle_sgd_create(module, &options, out);
}

static int create_rmsprop(axle_module *module, axle_optimizer **out)
{
    return axle_rmsprop_create(module, NULL, out);
}

static const struct {
    const char *name;
    int (*create)(axle_module *module, axle_optimizer **out);
} rules[] = {{"sgd", create_sgd}, {"adam", create_adam}, {"rmsprop", create_rmsprop}};

static int create_rule(const char *name, axle_module *module, axle_optimizer **out)
{
    for (size_t k = 0; k < sizeof(rules) / sizeof(rules[0]); k++)
        if (strcmp(rules[k].name, name) == 0)
            return rules[k].create(module, out);
    return axle_error_set(AXLE_ERR_INTERNAL, "there is no optimizer %s", name);
}

/* What was made to build the optimizer goes before anything is measured. */
int bench_optimizer_create(const char *name, int64_t elements, axle_optimizer **out)
{
    axle_module *module = NULL;
    int code = axle_scope_push();
    if (code)
        return code;
    code = create_module(elements, &module);
    if (!code) {
        code = create_rule(name, module, out);
        axle_module_release(module);
    }
    axle_scope_pop();
    return code;
}

static int create(const bench_subject *subject, const bench_backend *backend, bench_pair *out)
{
    int64_t elements = *(const int64_t *)subject->params;
    stepper *s = calloc(1, sizeof(*s));
    if (!s)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    s->device = backend->device;
    out->work = (bench_work){step, s, backend->device};
    out->limit = (bench_work){run_triad, &s->triad, NULL};
    out->bytes = (double)elements * STEP_BYTES;
    int code = bench_optimizer_create("adam", elements, &s->optimizer);
    return code ? code : triad_create(&s->triad, elements / 2);
}

static void release(bench_pair *pair)
{
    stepper *s = pair->work.user;
    if (!s)
        return;
    triad_release(&s->triad);
    axle_optimizer_release(s->optimizer);
    free(s);
}

int bench_optimizer(const bench_settings *settings)
{
    double elements = (double)settings->parameters;
    double moved = (double)(blocks_of(settings->parameters / 2) * BLOCK) * TRIAD_BYTES;
    bench_subject subject = {
        .what = "optimizer",
        .about = "adam",
        .unit = BENCH_MS,
        .params = &settings->parameters,
        .create = create,
        .release = release,
        .limit = "a triad's bandwidth",
        .limit_factor = elements * STEP_BYTES / moved,
        .more = json_pack("{s:I}", "parameters", (json_int_t)settings->parameters)};
    int code = bench_compare(settings, &subject);
    json_decref(subject.more);
    return code;
}
