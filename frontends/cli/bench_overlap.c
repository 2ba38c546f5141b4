/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the gradients' way between processes hides behind backward. The same pass runs with
 * and without summing gradients up; the way alone is that of a loss whose backward is next to
 * nothing, less that backward.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_group.h"

enum { LAYERS = 5, USUAL_BATCH = 64 };

typedef struct overlap {
    axle_group *group;
    axle_accelerator *accelerator;
    axle_module *net;
    axle_optimizer *optimizer;
    axle_tensor *input, *target;
} overlap;

/* ------------------------------------------------------------------ passes */

static axle_tensor *loss_of(const overlap *o)
{
    return axle_mse_loss(axle_module_forward(o->net, o->input), o->target, AXLE_LOSS_MEAN);
}

static int add_sum(const char *path, axle_tensor *parameter, void *user)
{
    axle_tensor **sum = user, *own = axle_sum_all(parameter);
    (void)path;
    *sum = *sum ? axle_add(*sum, own) : own;
    return *sum ? AXLE_OK : axle_error_code();
}

/* A loss whose gradient is 1 everywhere. */
static axle_tensor *sum_of_parameters(const overlap *o)
{
    axle_tensor *sum = NULL;
    return axle_module_each_parameter(o->net, add_sum, &sum) ? NULL : sum;
}

static int finish(const overlap *o, int code)
{
    if (!code)
        code = axle_device_synchronize(axle_accelerator_device(o->accelerator));
    axle_scope_pop();
    return code;
}

/* The pass of a loss, with or without the other processes, and the update where `steps`. */
static int pass(const overlap *o, axle_tensor *(*loss_fn)(const overlap *), int together, int steps)
{
    int code = axle_optimizer_zero_grad(o->optimizer);
    if (!code)
        code = axle_scope_push();
    if (code)
        return code;
    axle_tensor *loss = loss_fn(o);
    if (!loss)
        code = axle_error_code();
    else
        code = together ? axle_backward(o->accelerator, loss) : axle_tensor_backward(loss, NULL, 0);
    if (!code && steps)
        code = axle_optimizer_step(o->optimizer);
    return finish(o, code);
}

static int forward_alone(void *user)
{
    int code = axle_scope_push();
    if (code)
        return code;
    return finish(user, loss_of(user) ? AXLE_OK : axle_error_code());
}

static int backward_alone(void *user)
{
    return pass(user, loss_of, 0, 0);
}

static int backward_together(void *user)
{
    return pass(user, loss_of, 1, 0);
}

static int little_alone(void *user)
{
    return pass(user, sum_of_parameters, 0, 0);
}

static int little_together(void *user)
{
    return pass(user, sum_of_parameters, 1, 0);
}

static int whole_step(void *user)
{
    return pass(user, loss_of, 1, 1);
}

/* ------------------------------------------------------------------ the model */

/* Layers of width / 2, width four times, width / 2: 4 * width^2 weights. */
static int create_net(int64_t parameters, axle_module **out)
{
    int64_t half = (int64_t)sqrt((double)parameters / 16.0), at = half > 0 ? half : 1;
    int64_t narrow = at, wide = 2 * at;
    int code = axle_sequential_create(out);
    for (int k = 0; k < LAYERS && !code; k++) {
        axle_module *layer;
        char name[24];
        snprintf(name, sizeof(name), "%d", k);
        code = axle_linear_create(k ? wide : narrow, k < LAYERS - 1 ? wide : narrow, 1, &layer);
        if (!code)
            code = axle_module_add_child(*out, name, layer);
    }
    return code;
}

static int set_up(overlap *o, const bench_settings *settings)
{
    axle_accelerator_options options = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_sgd_options sgd = AXLE_SGD_OPTIONS_INIT;
    options.quiet = 1;
    options.accumulate = 1;
    options.backend = settings->backend[0].spec;
    sgd.lr = 1e-6;
    int64_t rows = settings->batch_size ? settings->batch_size : USUAL_BATCH;
    int code = axle_accelerator_create(&options, &o->accelerator);
    if (!code)
        code = create_net(settings->parameters, &o->net);
    if (!code)
        code = axle_sgd_create(o->net, &sgd, &o->optimizer);
    if (!code)
        code = axle_prepare(o->accelerator, o->net, o->optimizer);
    if (code)
        return code;
    int64_t width = axle_tensor_dim(axle_module_parameter(o->net, "0.weight"), 1);
    o->input = axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(rows, width));
    o->target = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(rows, width));
    return o->input && o->target ? AXLE_OK : axle_error_code();
}

static void tear_down(overlap *o)
{
    axle_optimizer_release(o->optimizer);
    axle_module_release(o->net);
    axle_accelerator_release(o->accelerator);
}

/* ------------------------------------------------------------------ the result */

enum { FORWARD, ALONE, TOGETHER, LITTLE_ALONE, LITTLE_TOGETHER, STEP, WORKS };
_Static_assert(WORKS <= (int)BENCH_GROUP_WORKS, "more works than bench_group_measure() takes");

static int report(const bench_settings *settings, const overlap *o, const double *seconds)
{
    char about[64];
    double forward = seconds[FORWARD], alone = seconds[ALONE] - forward;
    double together = seconds[TOGETHER] - forward;
    double way = seconds[LITTLE_TOGETHER] - seconds[LITTLE_ALONE];
    double hidden = way > 0.0 ? (alone + way - together) / way : 0.0;
    int64_t rows = axle_tensor_dim(o->input, 0), count = axle_module_parameter_count(o->net);
    hidden = hidden < 0.0 ? 0.0 : hidden > 1.0 ? 1.0 : hidden;
    snprintf(about, sizeof(about), "%.1f M parameters, batch %lld", 1e-6 * (double)count,
             (long long)rows);
    if (axle_group_rank(o->group) != 0)
        return AXLE_OK;
    if (settings->json)
        return bench_group_json(
            settings, o->group, "overlap", about, axle_accelerator_device(o->accelerator),
            json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "parameters",
                      (json_int_t)count, "batch_size", (json_int_t)rows, "median_ms",
                      seconds[STEP] * BENCH_MS, "forward_ms", forward * BENCH_MS, "backward_ms",
                      alone * BENCH_MS, "communication_ms", way * BENCH_MS,
                      "backward_with_communication_ms", together * BENCH_MS, "step_ms",
                      seconds[STEP] * BENCH_MS, "hidden_share", hidden));
    printf("%-10s %-30s %10.3f ms   forward %.3f ms, backward %.3f ms, communication %.3f ms, both "
           "%.3f ms: %.2f hidden\n",
           "overlap", about, seconds[STEP] * BENCH_MS, forward * BENCH_MS, alone * BENCH_MS,
           way * BENCH_MS, together * BENCH_MS, hidden);
    fflush(stdout);
    return AXLE_OK;
}

static int measure(const bench_settings *settings, overlap *o)
{
    double seconds[WORKS];
    int code = set_up(o, settings);
    const bench_work work[WORKS] = {
        [FORWARD] = {forward_alone, o, NULL},           [ALONE] = {backward_alone, o, NULL},
        [TOGETHER] = {backward_together, o, NULL},      [LITTLE_ALONE] = {little_alone, o, NULL},
        [LITTLE_TOGETHER] = {little_together, o, NULL}, [STEP] = {whole_step, o, NULL},
    };
    if (!code)
        code = bench_group_measure(o->group, work, WORKS, settings->repeat, 1, seconds);
    return code ? code : report(settings, o, seconds);
}

int bench_overlap(const bench_settings *settings)
{
    overlap o = {0};
    int code = bench_group_begin("overlap", &o.group);
    if (code)
        return code;
    code = axle_scope_push();
    if (!code) {
        code = measure(settings, &o);
        tear_down(&o);
        axle_scope_pop();
    }
    int left = axle_group_leave(o.group);
    return code ? code : left;
}
