/* SPDX-License-Identifier: Apache-2.0 */
/* POOL_BACKWARD: gradients go back to where the maxima were, or are shared out. */
#include "pool.h"

#include <string.h>

/* Channels that one worker takes of a sample. */
enum { CHANNEL_BLOCK = 64 };

typedef struct unpool_op {
    axle_be_op base;
    const cpu_loops *loops;
    pool_geometry geometry;
    stage dx, dy;
    int channels_last;
    int tiled;  /* channels last, and windows tile the input: no element is in two of them */
    int linear; /* places of the plane are equally far apart */
    int64_t channel_block, channel_blocks, items, work;
} unpool_op;

static axle_status unpool_query(const axle_op_desc *desc, axle_op_info *info)
{
    const axle_pool_attrs *attrs = desc->attrs;
    const axle_view *index = cpu_in(desc, 1);
    size_t total = 0;
    if (!cpu_pool_accepts(desc, desc->out[0], desc->in[0], index) ||
        (attrs->kind == AXLE_POOL_MAX && !index))
        return AXLE_OK;
    stage dx, dy;
    cpu_stage_init(&dx, &cpu_loops_generic, desc->out[0], &total);
    cpu_stage_init(&dy, &cpu_loops_generic, desc->in[0], &total);
    return cpu_op_support(info, "pool_backward", cpu_workspace_size(total));
}

/* Windows side by side, a dense channels-last gradient, and indices that lie like dy. */
static int is_tiled(const unpool_op *op)
{
    const pool_geometry *g = &op->geometry;
    const pool_axis *w = &g->axis[2];
    for (int d = 0; d < POOL_DIMS; d++) {
        const pool_axis *a = &g->axis[d];
        if (a->kernel != a->stride || a->pad != 0 || a->dilation != 1 || a->out * a->kernel > a->in)
            return 0;
    }
    return op->channels_last && g->kind == AXLE_POOL_MAX && !g->adaptive &&
           w->x_stride == g->channels && w->index_stride == w->y_stride;
}

static axle_status unpool_prepare(axle_be_device *device, const axle_op_desc *desc,
                                  axle_be_op **out, axle_error *error)
{
    unpool_op *op = cpu_op_create(device, &cpu_kernel_pool_backward, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    size_t total = 0;
    op->loops = cpu_loops_choose(device->host);
    cpu_stage_init(&op->dx, op->loops, desc->out[0], &total);
    cpu_stage_init(&op->dy, op->loops, desc->in[0], &total);
    cpu_pool_geometry(&op->geometry, desc->attrs, &op->dx.view, &op->dy.view, cpu_in(desc, 1));
    const pool_geometry *g = &op->geometry;
    op->channels_last =
        g->channels > 1 && g->x_channel == 1 && g->y_channel == 1 && g->index_channel == 1;
    op->tiled = is_tiled(op);
    op->linear =
        (g->axis[1].in == 1 || g->axis[1].x_stride == g->axis[2].in * g->axis[2].x_stride) &&
        (g->axis[0].in == 1 || g->axis[0].x_stride == g->axis[1].in * g->axis[1].x_stride);
    op->channel_block = op->channels_last ? CHANNEL_BLOCK : 1;
    op->channel_blocks = op->tiled ? 1 : cpu_ceil_div(g->channels, op->channel_block);
    op->items = g->samples * op->channel_blocks;
    op->work = cpu_max(cpu_count(desc->out[0]), cpu_count(desc->in[0])) * 2;
    *out = &op->base;
    return AXLE_OK;
}

typedef struct unpool_call {
    const unpool_op *op;
    const float *dy;
    const int32_t *index;
    float *dx;
    int32_t bad; /* an index outside the plane */
    int failed;
} unpool_call;

static void report(unpool_call *call, int32_t index)
{
    __atomic_store_n(&call->bad, index, __ATOMIC_RELAXED);
    __atomic_store_n(&call->failed, 1, __ATOMIC_RELAXED);
}

/* -1 stands for a window that held padding alone. */
static int check_row(unpool_call *call, const int32_t *index, int64_t step, int64_t pixels,
                     int64_t channels)
{
    const int32_t limit = (int32_t)call->op->geometry.in_plane;
    for (int64_t p = 0; p < pixels; p++)
        for (int64_t c = 0; c < channels; c++)
            if (index[p * step + c] < -1 || index[p * step + c] >= limit) {
                report(call, index[p * step + c]);
                return 0;
            }
    return 1;
}

/* ------------------------------------------------------------------ windows that tile the input */

/* What no window covers: elements behind the last window of each dim. */
static void clear_rest(const unpool_call *call, float *dx)
{
    const pool_axis *a = call->op->geometry.axis;
    const int64_t channels = call->op->geometry.channels;
    for (int64_t d = 0; d < a[0].in; d++) {
        for (int64_t h = 0; h < a[1].in; h++) {
            const int covered = d < a[0].out * a[0].kernel && h < a[1].out * a[1].kernel;
            const int64_t first = covered ? a[2].out * a[2].kernel : 0;
            float *row = dx + d * a[0].x_stride + h * a[1].x_stride;
            memset(row + first * channels, 0,
                   sizeof(float) * (size_t)((a[2].in - first) * channels));
        }
    }
}

static void tiled_row(unpool_call *call, int64_t sample, int64_t od, int64_t oh)
{
    const pool_geometry *g = &call->op->geometry;
    const pool_axis *a = g->axis;
    const int64_t at = sample * g->y_sample + od * a[0].y_stride + oh * a[1].y_stride;
    const int64_t index_at =
        sample * g->index_sample + od * a[0].index_stride + oh * a[1].index_stride;
    unpool_window window = {
        .dy = call->dy + at,
        .index = call->index + index_at,
        .dy_step = a[2].y_stride,
        .dy_room = (a[2].out - 1) * a[2].y_stride + g->channels,
        .dx = call->dx + sample * g->x_sample + od * a[0].kernel * a[0].x_stride +
              oh * a[1].kernel * a[1].x_stride,
        .pixels = a[2].out,
        .pixel_step = a[2].kernel * g->channels,
        .pixel_place = a[2].kernel,
        .place = od * a[0].kernel * a[0].place + oh * a[1].kernel * a[1].place,
        .channels = g->channels,
        .row_room = a[2].out * a[2].kernel * g->channels,
    };
    for (int d = 0; d < POOL_DIMS; d++) {
        window.taps[d] = a[d].kernel;
        window.tap_step[d] = a[d].x_stride;
        window.tap_place[d] = a[d].place;
    }
    window.tap_step[2] = g->channels;
    if (check_row(call, window.index, window.dy_step, a[2].out, g->channels))
        call->op->loops->pool->unpool_pixels(&window);
}

static void tiled_sample(unpool_call *call, int64_t sample)
{
    const pool_geometry *g = &call->op->geometry;
    for (int64_t od = 0; od < g->axis[0].out; od++)
        for (int64_t oh = 0; oh < g->axis[1].out; oh++)
            tiled_row(call, sample, od, oh);
    clear_rest(call, call->dx + sample * g->x_sample);
}

/* ------------------------------------------------------------------ any windows */

/* Part of a sample: some of its channels. */
typedef struct unpool_part {
    const float *dy;
    const int32_t *index;
    float *dx;
    int64_t channels;
} unpool_part;

static void clear_part(const unpool_call *call, const unpool_part *part)
{
    const pool_geometry *g = &call->op->geometry;
    const pool_axis *a = g->axis;
    for (int64_t d = 0; d < a[0].in; d++)
        for (int64_t h = 0; h < a[1].in; h++)
            for (int64_t w = 0; w < a[2].in; w++) {
                float *dx = part->dx + d * a[0].x_stride + h * a[1].x_stride + w * a[2].x_stride;
                for (int64_t c = 0; c < part->channels; c++)
                    dx[c * g->x_channel] = 0.0f;
            }
}

/* Where place number `place` of the input plane lies. */
static int64_t place_at(const unpool_op *op, int64_t place)
{
    const pool_axis *a = op->geometry.axis;
    if (op->linear)
        return place * a[2].x_stride;
    const int64_t w = place % a[2].in, dh = place / a[2].in;
    return dh / a[1].in * a[0].x_stride + dh % a[1].in * a[1].x_stride + w * a[2].x_stride;
}

static void max_pixel(unpool_call *call, const unpool_part *part, const float *dy,
                      const int32_t *index)
{
    const pool_geometry *g = &call->op->geometry;
    for (int64_t c = 0; c < part->channels; c++) {
        const int64_t place = index[c * g->index_channel];
        if (place == -1)
            continue;
        if (place < -1 || place >= g->in_plane) {
            report(call, (int32_t)place);
            return;
        }
        part->dx[c * g->x_channel + place_at(call->op, place)] += dy[c * g->y_channel];
    }
}

static void mean_pixel(const unpool_call *call, const unpool_part *part, const float *dy,
                       const pool_range *d, const pool_range *h, const pool_range *w)
{
    const pool_geometry *g = &call->op->geometry;
    const pool_axis *a = g->axis;
    const int64_t divisor = cpu_pool_divisor(g, d, h, w);
    const float factor = divisor > 0 ? 1.0f / (float)divisor : 0.0f;
    float *dx =
        part->dx + d->first * a[0].x_stride + h->first * a[1].x_stride + w->first * a[2].x_stride;
    for (int64_t i = 0; i < d->count; i++) {
        for (int64_t j = 0; j < h->count; j++) {
            for (int64_t k = 0; k < w->count; k++) {
                float *to = dx + i * a[0].dilation * a[0].x_stride +
                            j * a[1].dilation * a[1].x_stride + k * a[2].dilation * a[2].x_stride;
                if (call->op->channels_last)
                    call->op->loops->pool->add_scaled(dy, factor, to, part->channels);
                else
                    *to += *dy * factor;
            }
        }
    }
}

static void unpool_row(unpool_call *call, const unpool_part *part, int64_t od, int64_t oh)
{
    const pool_geometry *g = &call->op->geometry;
    const pool_axis *a = g->axis;
    const pool_range d = cpu_pool_range(g, 0, od), h = cpu_pool_range(g, 1, oh);
    const float *dy = part->dy + od * a[0].y_stride + oh * a[1].y_stride;
    const int32_t *index = part->index;
    if (index)
        index += od * a[0].index_stride + oh * a[1].index_stride;
    for (int64_t ow = 0; ow < a[2].out; ow++, dy += a[2].y_stride) {
        if (g->kind == AXLE_POOL_MAX) {
            max_pixel(call, part, dy, index + ow * a[2].index_stride);
            continue;
        }
        const pool_range w = cpu_pool_range(g, 2, ow);
        if (d.count > 0 && h.count > 0 && w.count > 0)
            mean_pixel(call, part, dy, &d, &h, &w);
    }
}

static void unpool_items(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    unpool_call *call = arg;
    const unpool_op *op = call->op;
    const pool_geometry *g = &op->geometry;
    (void)worker;
    for (int64_t item = begin; item < end; item++) {
        if (op->tiled) {
            tiled_sample(call, item);
            continue;
        }
        const int64_t n = item / op->channel_blocks;
        const int64_t c = item % op->channel_blocks * op->channel_block;
        const unpool_part part = {
            .dy = call->dy + n * g->y_sample + c * g->y_channel,
            .index = call->index ? call->index + n * g->index_sample + c * g->index_channel : NULL,
            .dx = call->dx + n * g->x_sample + c * g->x_channel,
            .channels = cpu_min(op->channel_block, g->channels - c),
        };
        clear_part(call, &part);
        for (int64_t od = 0; od < g->axis[0].out; od++)
            for (int64_t oh = 0; oh < g->axis[1].out; oh++)
                unpool_row(call, &part, od, oh);
    }
}

static axle_status unpool_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const unpool_op *op = (const unpool_op *)base;
    unsigned char *workspace = cpu_workspace(args);
    void *dx = cpu_out_data(args, 0);
    if (op->items == 0 || op->geometry.in_plane == 0)
        return AXLE_OK;
    unpool_call call = {
        .op = op,
        .dy = cpu_stage_read(&op->dy, cpu_in_data(args, 0), workspace),
        .index = op->geometry.kind == AXLE_POOL_MAX ? cpu_in_data(args, 1) : NULL,
        .dx = cpu_stage_target(&op->dx, dx, workspace),
    };
    cpu_parallel(op->items, op->work, unpool_items, &call);
    if (call.failed)
        return cpu_fail(error, AXLE_ERR_INDEX,
                        "pool_backward: index %d is outside a plane of %lld elements", call.bad,
                        (long long)op->geometry.in_plane);
    cpu_stage_leave(&op->dx, dx, workspace);
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_pool_backward = {
    .op = AXLE_OP_POOL_BACKWARD,
    .query = unpool_query,
    .prepare = unpool_prepare,
    .run = unpool_run,
    .release = cpu_op_release,
};
