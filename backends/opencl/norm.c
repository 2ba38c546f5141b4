/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planners of LAYER_NORM, BATCH_NORM, GROUP_NORM and their gradients. They describe to the kernels
 * of kernels/norm.cl which elements form a set, and which a channel.
 */
#include "planners.h"

#include <stdio.h>

enum { LOCAL = 64, ELEMENT_LOCAL = 256, LEAST_CHUNK = 64 };

/* Larger than any count, so that a division by it gives 0. */
static const int64_t ALL = INT64_MAX;

/* A way to see (items, elements): sets with their elements, or channels with theirs. */
typedef struct partition {
    int64_t items, n, number[3]; /* P[2] to P[4] of the kernels */
    int64_t chunks, each;
    ocl_map map;
} partition;

typedef struct norm {
    const axle_view *views[3]; /* x, y; or x, dy, dx */
    int n_views;
    const axle_view *mean, *rstd; /* out or saved */
    int64_t inner;                /* G of their dims (N, G) */
    int rms, depends;             /* the statistics depend on x */
    partition sets, channels;
    uint64_t moments, pieces, means;
    char options[160];
} norm;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void partition_finish(const ocl_plan *plan, partition *p, int64_t items)
{
    const int64_t count = ocl_map_count(&p->map), busy = ocl_busy(plan);
    p->items = items;
    p->n = items > 0 ? count / items : 0;
    p->chunks = items > 0 ? smaller((busy + items - 1) / items, p->n / LEAST_CHUNK + 1) : 1;
    p->each = (p->n + p->chunks - 1) / p->chunks;
    ocl_map_merge(&p->map);
}

static void dims(ocl_map *map, const norm *k, uint32_t first, uint32_t last)
{
    ocl_map_views(map, k->views, k->n_views, first, last);
}

/* One dim of the views cut in two, of which the inner one has `inner` places; `part` 0 is the
 * outer. */
static void dim_part(ocl_map *map, const norm *k, uint32_t d, int64_t inner, int part)
{
    int64_t strides[3] = {0};
    for (int v = 0; v < k->n_views; v++)
        if (k->views[v])
            strides[v] = k->views[v]->stride[d] * (part ? 1 : inner);
    ocl_map_dim(map, part ? inner : k->views[0]->dim[d] / inner, strides, k->n_views);
}

/* x (R, D): a row is a set, a column a channel. */
static void layer_partition(const ocl_plan *plan, norm *k)
{
    dims(&k->sets.map, k, 0, 2);
    partition_finish(plan, &k->sets, k->views[0]->dim[0]);
    k->sets.number[0] = 1, k->sets.number[1] = 0, k->sets.number[2] = 1;
    dims(&k->channels.map, k, 1, 2);
    dims(&k->channels.map, k, 0, 1);
    partition_finish(plan, &k->channels, k->views[0]->dim[1]);
    k->channels.number[0] = 1, k->channels.number[1] = ALL, k->channels.number[2] = 1;
    k->inner = 1;
}

/* x (N, C, ...): a channel is a set. */
static void batch_partition(const ocl_plan *plan, norm *k)
{
    const axle_view *x = k->views[0];
    dims(&k->sets.map, k, 1, 2);
    dims(&k->sets.map, k, 0, 1);
    dims(&k->sets.map, k, 2, x->rank);
    k->channels.map = k->sets.map;
    partition_finish(plan, &k->sets, x->dim[1]);
    partition_finish(plan, &k->channels, x->dim[1]);
    k->sets.number[0] = x->dim[1], k->sets.number[1] = 1, k->sets.number[2] = ALL;
    k->channels.number[0] = 0, k->channels.number[1] = 1, k->channels.number[2] = ALL;
    k->inner = 1;
}

/* x (N, C, ...): C/G channels of a sample are a set. */
static void group_partition(const ocl_plan *plan, norm *k, int64_t groups)
{
    const axle_view *x = k->views[0];
    const int64_t each = x->dim[1] / groups;
    int64_t plane = 1;
    for (uint32_t d = 2; d < x->rank; d++)
        plane *= x->dim[d];
    dims(&k->sets.map, k, 0, 1);
    dim_part(&k->sets.map, k, 1, each, 0);
    dim_part(&k->sets.map, k, 1, each, 1);
    dims(&k->sets.map, k, 2, x->rank);
    partition_finish(plan, &k->sets, x->dim[0] * groups);
    k->sets.number[0] = groups, k->sets.number[1] = each, k->sets.number[2] = plane;
    dims(&k->channels.map, k, 1, 2);
    dims(&k->channels.map, k, 0, 1);
    dims(&k->channels.map, k, 2, x->rank);
    partition_finish(plan, &k->channels, x->dim[1]);
    k->channels.number[0] = groups, k->channels.number[1] = each, k->channels.number[2] = plane;
    k->inner = groups;
}

static void put_partition(ocl_plan *plan, const partition *p)
{
    ocl_put(plan, p->items);
    ocl_put(plan, p->n);
    for (int k = 0; k < 3; k++)
        ocl_put(plan, p->number[k]);
    ocl_put(plan, p->chunks);
    ocl_put(plan, p->each);
    ocl_put_map(plan, &p->map);
}

static void begin(ocl_plan *plan, const norm *k, const partition *p, const char *kernel,
                  int64_t items, uint32_t local)
{
    ocl_step_begin(plan, "prelude norm", kernel, items, local, "%s", k->options);
    put_partition(plan, p);
}

static void put_vector(ocl_plan *plan, const axle_view *view)
{
    ocl_put(plan, view != NULL);
    ocl_put(plan, view ? view->stride[0] : 0);
}

static int64_t second_stride(const axle_view *view)
{
    return view && view->rank > 1 ? view->stride[1] : 0;
}

/* The one type of gamma, beta, running statistics or their gradients; 0 where they differ. */
static int parameter_type(const axle_view *const *views, int n, const char **out)
{
    const axle_view *found = NULL;
    for (int k = 0; k < n; k++) {
        if (!views[k])
            continue;
        if (found && found->dtype != views[k]->dtype)
            return 0;
        found = views[k];
    }
    *out = ocl_dtype_or(found, "f32");
    return 1;
}

static void set_options(const ocl_plan *plan, norm *k, const char *parameters)
{
    const axle_view *x = k->views[0];
    snprintf(k->options, sizeof(k->options), "-DTX=%s -DTP=%s -DTS=%s -DWIDE=%s%s%s", ocl_dtype(x),
             parameters, x->dtype == AXLE_DTYPE_F64 ? "f64" : "f32",
             plan->device->about.has_f64 ? "f64" : "f32", k->rms ? " -DRMS" : "",
             plan->real == AXLE_DTYPE_F64 ? " -DCOMPENSATE" : "");
}

static void take_work(ocl_plan *plan, norm *k)
{
    const uint32_t size = ocl_wide_size(plan);
    int64_t pieces = k->sets.items * k->sets.chunks;
    if (k->channels.items * k->channels.chunks > pieces)
        pieces = k->channels.items * k->channels.chunks;
    k->moments = ocl_work(plan, 2 * k->sets.items, size);
    k->pieces = ocl_work(plan, 2 * pieces, size);
    k->means = ocl_work(plan, 2 * k->sets.items, size);
}

/* Statistics of the sets from x, in two passes. */
static void steps_moments(ocl_plan *plan, const norm *k)
{
    const partition *p = &k->sets;
    const uint32_t size = ocl_wide_size(plan);
    if (!k->rms) {
        begin(plan, k, p, "norm_sums", p->items * p->chunks, LOCAL);
        ocl_arg_in(plan, 0);
        ocl_arg_work(plan, k->pieces, size);
    }
    begin(plan, k, p, "norm_means", p->items, LOCAL);
    ocl_arg_work(plan, k->pieces, size);
    ocl_arg_work(plan, k->moments, size);
    begin(plan, k, p, "norm_squares", p->items * p->chunks, LOCAL);
    ocl_arg_in(plan, 0);
    ocl_arg_work(plan, k->moments, size);
    ocl_arg_work(plan, k->pieces, size);
}

/* What is in front of and behind norm_moments: running statistics are operands in 3, 4 and out 3,
 * 4, where there are any. */
static void step_finish(ocl_plan *plan, const norm *k, int from_x, double eps, double momentum)
{
    const uint32_t size = ocl_wide_size(plan);
    begin(plan, k, &k->sets, "norm_moments", k->sets.items, LOCAL);
    ocl_put(plan, from_x);
    put_vector(plan, k->mean);
    put_vector(plan, k->rstd);
    for (int v = 3; v < 5; v++)
        put_vector(plan, plan->in[v]);
    for (int v = 3; v < 5; v++)
        put_vector(plan, plan->out[v]);
    ocl_put(plan, k->inner);
    ocl_put(plan, second_stride(k->mean));
    ocl_put(plan, second_stride(k->rstd));
    ocl_arg_work(plan, k->pieces, size);
    ocl_arg_work(plan, k->moments, size);
    ocl_arg_out(plan, 1);
    ocl_arg_out(plan, 2);
    ocl_arg_in(plan, 3);
    ocl_arg_in(plan, 4);
    ocl_arg_out(plan, 3);
    ocl_arg_out(plan, 4);
    ocl_arg_wide(plan, eps);
    ocl_arg_wide(plan, momentum);
}

static void step_apply(ocl_plan *plan, const norm *k)
{
    begin(plan, k, &k->sets, "norm_apply", k->sets.items * k->sets.n, ELEMENT_LOCAL);
    put_vector(plan, plan->in[1]);
    put_vector(plan, plan->in[2]);
    ocl_arg_in(plan, 0);
    ocl_arg_work(plan, k->moments, ocl_wide_size(plan));
    ocl_arg_in(plan, 1);
    ocl_arg_in(plan, 2);
    ocl_arg_out(plan, 0);
}

static void forward(ocl_plan *plan, norm *k, int from_x, double eps, double momentum)
{
    take_work(plan, k);
    if (from_x)
        steps_moments(plan, k);
    step_finish(plan, k, from_x, eps, momentum);
    step_apply(plan, k);
}

static void step_saved(ocl_plan *plan, const norm *k)
{
    begin(plan, k, &k->sets, "norm_saved", k->sets.items, LOCAL);
    ocl_put(plan, k->mean != NULL);
    ocl_put(plan, k->mean ? k->mean->stride[0] : 0);
    ocl_put(plan, second_stride(k->mean));
    ocl_put(plan, k->rstd->stride[0]);
    ocl_put(plan, second_stride(k->rstd));
    ocl_put(plan, k->inner);
    ocl_arg_in(plan, 3);
    ocl_arg_in(plan, 4);
    ocl_arg_work(plan, k->moments, ocl_wide_size(plan));
}

static void steps_dx(ocl_plan *plan, const norm *k)
{
    const partition *p = &k->sets;
    const uint32_t size = ocl_wide_size(plan);
    if (k->depends) {
        begin(plan, k, p, "norm_slopes", p->items * p->chunks, LOCAL);
        put_vector(plan, plan->in[2]);
        ocl_arg_in(plan, 1);
        ocl_arg_in(plan, 0);
        ocl_arg_work(plan, k->moments, size);
        ocl_arg_in(plan, 2);
        ocl_arg_work(plan, k->pieces, size);
        begin(plan, k, p, "norm_slope_means", p->items, LOCAL);
        ocl_arg_work(plan, k->pieces, size);
        ocl_arg_work(plan, k->means, size);
    }
    begin(plan, k, p, "norm_backward", p->items * p->n, ELEMENT_LOCAL);
    put_vector(plan, plan->in[2]);
    ocl_put(plan, k->depends);
    ocl_arg_in(plan, 1);
    ocl_arg_in(plan, 0);
    ocl_arg_work(plan, k->moments, size);
    ocl_arg_in(plan, 2);
    ocl_arg_work(plan, k->means, size);
    ocl_arg_out(plan, 0);
}

static void steps_parameters(ocl_plan *plan, const norm *k)
{
    const partition *p = &k->channels;
    const uint32_t size = ocl_wide_size(plan);
    begin(plan, k, p, "norm_channels", p->items * p->chunks, LOCAL);
    ocl_arg_in(plan, 1);
    ocl_arg_in(plan, 0);
    ocl_arg_work(plan, k->moments, size);
    ocl_arg_work(plan, k->pieces, size);
    begin(plan, k, p, "norm_channel_sums", p->items, LOCAL);
    put_vector(plan, plan->out[1]);
    put_vector(plan, plan->out[2]);
    ocl_arg_work(plan, k->pieces, size);
    ocl_arg_out(plan, 1);
    ocl_arg_out(plan, 2);
}

static void backward(ocl_plan *plan, norm *k)
{
    take_work(plan, k);
    step_saved(plan, k);
    if (plan->out[0])
        steps_dx(plan, k);
    if (plan->out[1] || plan->out[2])
        steps_parameters(plan, k);
}

/* Operands of the forward passes; `letters` name the inputs' types. */
static int forward_read(ocl_plan *plan, norm *k, const char *in, const char *out)
{
    const axle_view *parameters[] = {plan->in[1], plan->in[2],  plan->in[3],
                                     plan->in[4], plan->out[3], plan->out[4]};
    const char *type;
    if (!ocl_signature_fits(plan, in, out) || plan->in[0]->rank < 2 ||
        plan->in[0]->rank != plan->out[0]->rank || !parameter_type(parameters, 6, &type))
        return 0;
    k->views[0] = plan->in[0];
    k->views[1] = plan->out[0];
    k->n_views = 2;
    k->mean = plan->out[1];
    k->rstd = plan->out[2];
    set_options(plan, k, type);
    return 1;
}

static int backward_read(ocl_plan *plan, norm *k, const char *in)
{
    const axle_view *parameters[] = {plan->in[2], plan->out[1], plan->out[2]};
    const char *type;
    if (!ocl_signature_fits(plan, in, "f?r?r?") || plan->in[0]->rank < 2 ||
        plan->in[0]->rank != plan->in[1]->rank || !parameter_type(parameters, 3, &type))
        return 0;
    k->views[0] = plan->in[1];
    k->views[1] = plan->in[0];
    k->views[2] = plan->out[0];
    k->n_views = 3;
    k->mean = plan->in[3];
    k->rstd = plan->in[4];
    set_options(plan, k, type);
    return 1;
}

int ocl_plan_layer_norm(ocl_plan *plan)
{
    const axle_layer_norm_attrs *attrs = &plan->attrs.layer_norm;
    norm k = {.rms = attrs->kind == AXLE_NORM_RMS};
    if (!forward_read(plan, &k, "fr?r?", "fs?s?") || k.views[0]->rank != 2)
        return 0;
    layer_partition(plan, &k);
    forward(plan, &k, 1, attrs->eps, 0);
    return 1;
}

int ocl_plan_layer_norm_backward(ocl_plan *plan)
{
    norm k = {.rms = plan->attrs.layer_norm.kind == AXLE_NORM_RMS, .depends = 1};
    if (!backward_read(plan, &k, "ffr?s?s") || k.views[0]->rank != 2 || (!k.rms && !k.mean))
        return 0;
    if (k.rms)
        k.mean = NULL;
    layer_partition(plan, &k);
    backward(plan, &k);
    return 1;
}

int ocl_plan_batch_norm(ocl_plan *plan)
{
    const axle_batch_norm_attrs *attrs = &plan->attrs.batch_norm;
    norm k = {.rms = 0};
    if (!forward_read(plan, &k, "fr?r?r?r?", "fs?s?r?r?") ||
        (!attrs->training && (!plan->in[3] || !plan->in[4])))
        return 0;
    batch_partition(plan, &k);
    forward(plan, &k, attrs->training != 0, attrs->eps, attrs->momentum);
    return 1;
}

int ocl_plan_batch_norm_backward(ocl_plan *plan)
{
    norm k = {.depends = plan->attrs.batch_norm.training != 0};
    if (!backward_read(plan, &k, "ffr?ss"))
        return 0;
    batch_partition(plan, &k);
    backward(plan, &k);
    return 1;
}

static int groups_fit(const ocl_plan *plan, const axle_view *x)
{
    const uint32_t groups = plan->attrs.group_norm.groups;
    return x && x->rank >= 2 && groups > 0 && x->dim[1] >= groups && x->dim[1] % groups == 0;
}

int ocl_plan_group_norm(ocl_plan *plan)
{
    const axle_group_norm_attrs *attrs = &plan->attrs.group_norm;
    norm k = {.rms = 0};
    if (!groups_fit(plan, plan->in[0]) || !forward_read(plan, &k, "fr?r?", "fs?s?"))
        return 0;
    group_partition(plan, &k, attrs->groups);
    forward(plan, &k, 1, attrs->eps, 0);
    return 1;
}

int ocl_plan_group_norm_backward(ocl_plan *plan)
{
    norm k = {.depends = 1};
    if (!groups_fit(plan, plan->in[0]) || !backward_read(plan, &k, "ffr?ss"))
        return 0;
    group_partition(plan, &k, plan->attrs.group_norm.groups);
    backward(plan, &k);
    return 1;
}
