/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the gradients' way between processes hides behind backward. The same pass runs with
 * and without summing gradients up; the way alone is the sum of one vector of as many numbers,
 * which is as fast as it goes. What the way costs the processor is taken from backward where there
 * is no idle core, so that time of the processor is measured, too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_group.h"
#include "clock.h"

/* A usual batch is the tokens of four short texts. Sizes of layers are multiples of GRAIN. */
enum { LAYERS = 12, WIDENING = 4, GRAIN = 8, USUAL_BATCH = 512 };

typedef struct overlap {
    axle_group *group;
    axle_accelerator *accelerator;
    axle_module *net;
    axle_optimizer *optimizer;
    axle_tensor *input, *target;
    axle_tensor *vector; /* of as many zeros as there are parameters */
    double *together;    /* seconds from a step's beginning to its update, the last `repeat` ones */
    int64_t repeat, steps;
} overlap;

/* ------------------------------------------------------------------ passes */

static axle_tensor *loss_of(const overlap *o)
{
    return axle_mse_loss(axle_module_forward(o->net, o->input), o->target, AXLE_LOSS_MEAN);
}

static int finish(const overlap *o, int code)
{
    if (!code)
        code = axle_device_synchronize(axle_accelerator_device(o->accelerator));
    axle_scope_pop();
    return code;
}

/* The gradients of a pass, with or without the other processes. */
static int pass(const overlap *o, int together)
{
    int code = axle_optimizer_zero_grad(o->optimizer);
    axle_tensor *loss = code ? NULL : loss_of(o);
    if (!loss)
        return code ? code : axle_error_code();
    code = together ? axle_backward(o->accelerator, loss) : axle_tensor_backward(loss, NULL, 0);
    return code ? code : axle_device_synchronize(axle_accelerator_device(o->accelerator));
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
    int code = axle_scope_push();
    return code ? code : finish(user, pass(user, 0));
}

static int way_alone(void *user)
{
    const overlap *o = user;
    return axle_all_reduce(o->group, o->vector, AXLE_REDUCE_MEAN);
}

/* Backward with communication is timed here: without the update that follows, the next pass would
 * be added to this one's gradients. */
static int whole_step(void *user)
{
    overlap *o = user;
    int code = axle_scope_push();
    if (code)
        return code;
    double start = clock_seconds();
    code = pass(o, 1);
    o->together[o->steps++ % o->repeat] = clock_seconds() - start;
    return finish(o, code ? code : axle_optimizer_step(o->optimizer));
}

/* ------------------------------------------------------------------ the model */

/* Layers that widen and narrow in turns, as those of a transformer do; each has
 * WIDENING * narrow^2 weights, so that it is about a bucket. */
static int create_net(int64_t parameters, axle_module **out)
{
    int64_t narrow = (int64_t)sqrt((double)parameters / (LAYERS * WIDENING));
    narrow = narrow < GRAIN ? narrow + (narrow < 1) : (narrow + GRAIN / 2) / GRAIN * GRAIN;
    int code = axle_sequential_create(out);
    for (int k = 0; k < LAYERS && !code; k++) {
        axle_module *layer;
        char name[24];
        int64_t wide = WIDENING * narrow;
        snprintf(name, sizeof(name), "%d", k);
        code = axle_linear_create(k % 2 ? wide : narrow, k % 2 ? narrow : wide, 1, &layer);
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
    o->vector = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(axle_module_parameter_count(o->net)));
    return o->input && o->target && o->vector ? AXLE_OK : axle_error_code();
}

static void tear_down(overlap *o)
{
    axle_optimizer_release(o->optimizer);
    axle_module_release(o->net);
    axle_accelerator_release(o->accelerator);
}

/* ------------------------------------------------------------------ the result */

enum { STEP, FORWARD, ALONE, WAY, WORKS };
_Static_assert(WORKS <= (int)BENCH_GROUP_WORKS, "more works than bench_group_measure() takes");

/* A process alone has a step, and nothing to hide. */
static json_t *to_json(const overlap *o, const bench_time *time, double together, double hidden)
{
    double forward = time[FORWARD].wall, step = time[STEP].wall * BENCH_MS;
    json_t *more = json_pack(
        "{s:I, s:I, s:f, s:f}", "parameters", (json_int_t)axle_module_parameter_count(o->net),
        "batch_size", (json_int_t)axle_tensor_dim(o->input, 0), "median_ms", step, "step_ms", step);
    if (more && axle_group_size(o->group) > 1)
        json_object_update_new(
            more, json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "forward_ms", forward * BENCH_MS,
                            "backward_ms", (time[ALONE].wall - forward) * BENCH_MS,
                            "communication_ms", time[WAY].wall * BENCH_MS, "communication_cpu_ms",
                            time[WAY].busy * BENCH_MS, "backward_with_communication_ms",
                            (together - forward) * BENCH_MS, "hidden_share", hidden));
    return more;
}

static int report(const bench_settings *settings, const overlap *o, const bench_time *time)
{
    char about[64];
    double forward = time[FORWARD].wall, alone = time[ALONE].wall, way = time[WAY].wall;
    double together = bench_median(o->together, o->repeat);
    double hidden = way > 0.0 ? (alone + way - together) / way : 0.0;
    hidden = hidden < 0.0 ? 0.0 : hidden > 1.0 ? 1.0 : hidden;
    snprintf(about, sizeof(about), "%.1f M parameters, batch %lld",
             1e-6 * (double)axle_module_parameter_count(o->net),
             (long long)axle_tensor_dim(o->input, 0));
    if (axle_group_rank(o->group) != 0)
        return AXLE_OK;
    if (settings->json)
        return bench_group_json(settings, o->group, "overlap", about,
                                axle_accelerator_device(o->accelerator),
                                to_json(o, time, together, hidden));
    printf("%-10s %-30s %10.3f ms", "overlap", about, time[STEP].wall * BENCH_MS);
    if (axle_group_size(o->group) > 1)
        printf("   forward %.3f ms, backward %.3f ms, communication %.3f ms (%.3f ms of the "
               "processor), both %.3f ms: %.2f hidden",
               forward * BENCH_MS, (alone - forward) * BENCH_MS, way * BENCH_MS,
               time[WAY].busy * BENCH_MS, (together - forward) * BENCH_MS, hidden);
    putchar('\n');
    fflush(stdout);
    return AXLE_OK;
}

static int measure(const bench_settings *settings, overlap *o)
{
    bench_time time[WORKS] = {{0.0, 0.0}};
    int code = set_up(o, settings);
    const bench_work work[WORKS] = {
        [STEP] = {whole_step, o, NULL},
        [FORWARD] = {forward_alone, o, NULL},
        [ALONE] = {backward_alone, o, NULL},
        [WAY] = {way_alone, o, NULL},
    };
    int works = axle_group_size(o->group) > 1 ? WORKS : 1;
    if (!code)
        code = bench_group_measure(o->group, work, works, settings->repeat, 1, time);
    return code ? code : report(settings, o, time);
}

/* A process alone measures what the same step takes without others. */
int bench_overlap(const bench_settings *settings)
{
    overlap o = {.repeat = settings->repeat};
    int code = axle_group_join(&o.group);
    if (code)
        return code;
    o.together = calloc((size_t)o.repeat, sizeof(*o.together));
    code = o.together ? axle_scope_push() : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    if (!code) {
        code = measure(settings, &o);
        tear_down(&o);
        axle_scope_pop();
    }
    free(o.together);
    int left = axle_group_leave(o.group);
    return code ? code : left;
}
