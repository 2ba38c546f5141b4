/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of axle test: y = 2x + 3 is learnt by all processes as by one. The reference has no tensors:
 * the gradient of the mean squared error over a window's samples, in f64.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

/* A training of `each` samples a process and `more`. */
typedef struct lesson {
    const char *name;
    int64_t each, more, batch_size;
    int dtype, accumulate, shuffle, shard, epochs;
    double tolerance;
} lesson;

#define RATE 0.1
enum { SEED = 3 };

/* Rounding in f32 adds up over some updates. */
#define IN_F32 AXLE_DTYPE_F32
#define F32_NEAR 3e-6
#define F64_NEAR 1e-12

static double x_of(int64_t sample)
{
    return (double)(sample % 31 - 15) / 16.0;
}

static double y_of(int64_t sample)
{
    return 2.0 * x_of(sample) + 3.0;
}

/* ------------------------------------------------------------------ the reference */

typedef struct line {
    double weight, bias;
} line;

/* One update over a window's samples. */
static void update(line *line, const int64_t *samples, int64_t count)
{
    double weight = 0.0, bias = 0.0;
    for (int64_t k = 0; k < count; k++) {
        double x = x_of(samples[k]), error = line->weight * x + line->bias - y_of(samples[k]);
        weight += 2.0 * error * x;
        bias += 2.0 * error;
    }
    line->weight -= RATE * weight / (double)count;
    line->bias -= RATE * bias / (double)count;
}

/* ------------------------------------------------------------------ the training */

typedef struct school {
    self_test *test;
    const lesson *lesson;
    axle_accelerator *accelerator;
    axle_loader *loader;
    axle_module *module;
    axle_model *model;
    axle_optimizer *optimizer;
    test_order order;
    line line;
    int64_t number;       /* of the batch, over all epochs */
    int64_t window_begin; /* place of the window's first sample in the order */
} school;

static axle_output forward(axle_module *module, axle_batch *batch, void *user)
{
    (void)user;
    axle_tensor *y = axle_module_forward(module, axle_batch_get(batch, "input"));
    return (axle_output){axle_mse_loss(y, axle_batch_get(batch, "target"), AXLE_LOSS_MEAN), y};
}

static int make_set(const school *s, int64_t n, axle_dataset **out)
{
    const char *const names[] = {"input", "target"};
    double *x = malloc((size_t)(n + 1) * sizeof(*x)), *y = malloc((size_t)(n + 1) * sizeof(*y));
    int code = x && y ? axle_scope_push() : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int64_t k = 0; k < n && !code; k++) {
        x[k] = x_of(k);
        y[k] = y_of(k);
    }
    if (!code) {
        axle_tensor *const tensors[] = {test_tensor(s->test, s->lesson->dtype, AXLE_DIMS(n, 1), x),
                                        test_tensor(s->test, s->lesson->dtype, AXLE_DIMS(n, 1), y)};
        code = tensors[0] && tensors[1] ? axle_tensor_dataset_create(names, tensors, 2, out)
                                        : axle_error_code();
        axle_scope_pop();
    }
    free(x);
    free(y);
    return code;
}

static int make_loader(school *s)
{
    const lesson *l = s->lesson;
    int64_t n = l->each * s->test->size + l->more;
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    options.batch_size = l->batch_size;
    options.shuffle = l->shuffle;
    options.seed = SEED;
    axle_dataset *set = NULL;
    int code = test_order_read(s->test, n, &options, l->epochs, &s->order);
    if (!code)
        code = make_set(s, n, &set);
    if (!code)
        code = axle_loader_create(set, &options, &s->loader);
    axle_dataset_release(set);
    return code;
}

/* Parameters begin with numbers of the rank: those of rank 0 count. */
static int make_model(school *s)
{
    int before = axle_default_dtype();
    int code = axle_set_default_dtype(s->lesson->dtype);
    if (!code)
        code = axle_linear_create(1, 1, 1, &s->module);
    axle_set_default_dtype(before);
    if (code)
        return code;
    code = axle_init_constant(axle_module_parameter(s->module, "weight"), 0.5 + s->test->rank);
    if (!code)
        code = axle_init_constant(axle_module_parameter(s->module, "bias"), -0.25 * s->test->rank);
    s->line = (line){0.5, 0.0};
    axle_module_retain(s->module);
    return code ? code : axle_model_create(s->module, forward, NULL, &s->model);
}

static int open_school(school *s)
{
    axle_accelerator_options options = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_sgd_options sgd = AXLE_SGD_OPTIONS_INIT;
    options.accumulate = s->lesson->accumulate;
    options.shard_optimizer = s->lesson->shard;
    options.precision = "no";
    options.quiet = 1;
    sgd.lr = RATE;
    int code = axle_accelerator_create(&options, &s->accelerator);
    if (!code)
        code = make_loader(s);
    if (!code)
        code = make_model(s);
    if (!code)
        code = axle_sgd_create(s->module, &sgd, &s->optimizer);
    return code ? code : axle_prepare(s->accelerator, s->model, s->optimizer, s->loader);
}

static void close_school(school *s)
{
    axle_optimizer_release(s->optimizer);
    axle_model_release(s->model);
    axle_module_release(s->module);
    axle_loader_release(s->loader);
    axle_accelerator_release(s->accelerator);
    test_order_free(&s->order);
}

static int check_line(school *s)
{
    char what[2 * TEST_NAME];
    const char *const names[] = {"weight", "bias"};
    const double expected[] = {s->line.weight, s->line.bias};
    int code = AXLE_OK;
    for (int k = 0; k < 2 && !code; k++) {
        snprintf(what, sizeof(what), "%s: %s after batch %lld", s->lesson->name, names[k],
                 (long long)s->number);
        code = test_expect(s->test, what, axle_module_parameter(s->module, names[k]), &expected[k],
                           1, s->lesson->tolerance);
    }
    return code;
}

/* Whether one process alone would update after this batch. */
static int ends_window(const school *s)
{
    int64_t in_epoch = s->number % s->order.per_epoch;
    return (in_epoch + 1) % s->lesson->accumulate == 0 || in_epoch + 1 == s->order.per_epoch;
}

static int learn(school *s, axle_batch *batch)
{
    int code = axle_optimizer_zero_grad(s->optimizer);
    if (!code)
        code = axle_backward(s->accelerator, axle_model_forward(s->model, batch).loss);
    if (code || s->number >= s->order.batches)
        return code;
    int ends = ends_window(s);
    if (axle_is_update(s->accelerator) != ends)
        test_wrong(s->test, "%s: batch %lld %s an update", s->lesson->name, (long long)s->number,
                   ends ? "makes no" : "makes");
    code = axle_optimizer_step(s->optimizer);
    if (ends) {
        int64_t begin = s->window_begin, end = s->order.ends[s->number];
        update(&s->line, s->order.samples + begin, end - begin);
        s->window_begin = end;
    }
    if (!code)
        code = check_line(s);
    s->number++;
    return code;
}

static int learn_all(school *s)
{
    axle_batch *batch;
    int code = AXLE_OK;
    for (int epoch = 0; epoch < s->lesson->epochs && !code; epoch++) {
        while (!code && axle_loader_next(s->loader, &batch))
            code = learn(s, batch);
        if (code)
            axle_loader_break(s->loader);
        else
            code = axle_loader_status(s->loader);
    }
    if (!code && s->number != s->order.batches)
        test_wrong(s->test, "%s: %lld batches instead of %lld", s->lesson->name,
                   (long long)s->number, (long long)s->order.batches);
    return code;
}

/* Whether every process's device knows the type. */
static int all_support(self_test *test, int dtype, int *out)
{
    double value = axle_device_supports(test->device, dtype) ? 1.0 : 0.0;
    axle_tensor *tensor = test_tensor(test, AXLE_DTYPE_F32, 0, NULL, &value);
    int code = tensor ? axle_all_reduce(test->group, tensor, AXLE_REDUCE_MIN) : axle_error_code();
    if (!code)
        code = axle_tensor_item(tensor, &value);
    *out = value > 0.0;
    return code;
}

/* *count counts the trainings: types that a device lacks are left out. */
static int teach(self_test *test, const lesson *lesson, int *count)
{
    school s = {.test = test, .lesson = lesson};
    uint64_t sum = 0;
    int supported, code = all_support(test, lesson->dtype, &supported);
    if (code || !supported)
        return code;
    ++*count;
    code = open_school(&s);
    if (!code)
        code = learn_all(&s);
    if (!code)
        code = axle_module_checksum(s.module, &sum);
    if (!code)
        code = test_same(test, "checksum of the parameters", sum);
    close_school(&s);
    return code;
}

static int teach_all(self_test *test, const lesson *lessons, size_t count)
{
    int code = AXLE_OK, done = 0;
    for (size_t k = 0; k < count && !code; k++)
        code = teach(test, &lessons[k], &done);
    test_detail(test, "y = 2x + 3, %d of %zu trainings, equal to one process's", done, count);
    return code;
}

int test_training(self_test *test)
{
    static const lesson lessons[] = {
        {"f32", 32, 0, 8, IN_F32, 1, 0, 0, 3, F32_NEAR},
        {"f32, shuffled", 32, 0, 8, IN_F32, 1, 1, 0, 3, F32_NEAR},
        {"f32, a last batch of one", 16, 1, 8, IN_F32, 1, 0, 0, 3, F32_NEAR},
        {"f64", 32, 0, 8, AXLE_DTYPE_F64, 1, 0, 0, 3, F64_NEAR},
        {"f64, uneven and shuffled", 16, 3, 8, AXLE_DTYPE_F64, 1, 1, 0, 3, F64_NEAR},
    };
    return teach_all(test, lessons, sizeof(lessons) / sizeof(lessons[0]));
}

int test_accumulation(self_test *test)
{
    static const lesson lessons[] = {
        {"f32, 2 batches", 80, 0, 16, IN_F32, 2, 0, 0, 2, F32_NEAR},
        {"f64, 2 batches", 80, 0, 16, AXLE_DTYPE_F64, 2, 1, 0, 2, F64_NEAR},
        {"f64, 3 uneven batches", 20, 1, 4, AXLE_DTYPE_F64, 3, 0, 0, 2, F64_NEAR},
    };
    return teach_all(test, lessons, sizeof(lessons) / sizeof(lessons[0]));
}

int test_sharding(self_test *test)
{
    static const lesson lessons[] = {
        {"f32", 32, 0, 8, IN_F32, 1, 0, 1, 3, F32_NEAR},
        {"f64, 2 uneven batches", 20, 1, 4, AXLE_DTYPE_F64, 2, 1, 1, 2, F64_NEAR},
    };
    return teach_all(test, lessons, sizeof(lessons) / sizeof(lessons[0]));
}
