/* SPDX-License-Identifier: Apache-2.0 */
/* POOL: windows over 1 to 3 spatial dims. */
#include "pool.h"

#include <math.h>
#include <string.h>

/* Windows of one row that are held at a time where channels are not the innermost dim. */
enum { BLOCK = 256 };

typedef struct pool_op {
    axle_be_op base;
    const cpu_loops *loops;
    pool_geometry geometry;
    stage x, y;
    int channels_last;
    int has_index;
    int64_t rows; /* output rows of a sample, or of a plane */
    int64_t items, work;
} pool_op;

static axle_status pool_query(const axle_op_desc *desc, axle_op_info *info)
{
    size_t total = 0;
    if (!cpu_pool_accepts(desc, desc->in[0], desc->out[0], cpu_out(desc, 1)))
        return AXLE_OK;
    stage x, y;
    cpu_stage_init(&x, &cpu_loops_generic, desc->in[0], &total);
    cpu_stage_init(&y, &cpu_loops_generic, desc->out[0], &total);
    return cpu_op_support(info, "pool", cpu_workspace_size(total));
}

static axle_status pool_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                                axle_error *error)
{
    pool_op *op = cpu_op_create(device, &cpu_kernel_pool, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const axle_view *index = cpu_out(desc, 1);
    size_t total = 0;
    op->loops = cpu_loops_choose(device->host);
    cpu_stage_init(&op->x, op->loops, desc->in[0], &total);
    cpu_stage_init(&op->y, op->loops, desc->out[0], &total);
    cpu_pool_geometry(&op->geometry, desc->attrs, &op->x.view, &op->y.view, index);
    const pool_geometry *g = &op->geometry;
    op->has_index = index != NULL;
    op->channels_last = g->channels > 1 && g->x_channel == 1 && g->y_channel == 1 &&
                        g->index_channel == 1 && g->axis[2].index_stride == g->axis[2].y_stride;
    op->rows = g->axis[0].out * g->axis[1].out;
    op->items = g->samples * op->rows * (op->channels_last ? 1 : g->channels);
    op->work = cpu_max(cpu_count(desc->in[0]), cpu_count(desc->out[0])) * 2;
    *out = &op->base;
    return AXLE_OK;
}

typedef struct pool_call {
    const pool_op *op;
    const float *x;
    float *y;
    int32_t *index;
} pool_call;

/* One output row: its window ranges along the first two axes and where it lies. */
typedef struct pool_row {
    pool_range d, h;
    const float *x; /* of the first rows of taps */
    int64_t x_at;   /* elements before that in the tensor */
    int64_t place;
    float *y;
    int32_t *index;
} pool_row;

static pool_row locate_row(const pool_call *call, int64_t plane_x, int64_t plane_y,
                           int64_t plane_index, int64_t row)
{
    const pool_geometry *g = &call->op->geometry;
    const pool_axis *a = g->axis;
    const int64_t od = row / a[1].out, oh = row % a[1].out;
    pool_row r = {.d = cpu_pool_range(g, 0, od), .h = cpu_pool_range(g, 1, oh)};
    r.x_at = plane_x;
    if (r.d.count > 0 && r.h.count > 0)
        r.x_at += r.d.first * a[0].x_stride + r.h.first * a[1].x_stride;
    r.x = call->x + r.x_at;
    r.place = r.d.first * a[0].place + r.h.first * a[1].place;
    r.y = call->y + plane_y + od * a[0].y_stride + oh * a[1].y_stride;
    if (call->index)
        r.index = call->index + plane_index + od * a[0].index_stride + oh * a[1].index_stride;
    return r;
}

/* ------------------------------------------------------------------ channels last */

/* A window without a single tap inside: nothing is the largest, and the mean of nothing counts as
 * 0. */
static void empty_pixel(const pool_call *call, float *y, int32_t *index)
{
    const pool_geometry *g = &call->op->geometry;
    for (int64_t c = 0; c < g->channels; c++) {
        y[c] = g->kind == AXLE_POOL_MAX ? -INFINITY : 0.0f;
        if (index)
            index[c] = -1;
    }
}

/* `pixels` windows from `first` on, whose ranges along the last axis are like the first one's. */
static void run_pixels(const pool_call *call, const pool_row *row, int64_t first, int64_t pixels)
{
    const pool_geometry *g = &call->op->geometry;
    const pool_axis *a = g->axis;
    const pool_range w = cpu_pool_range(g, 2, first);
    float *y = row->y + first * a[2].y_stride;
    int32_t *index = row->index ? row->index + first * a[2].y_stride : NULL;
    if (row->d.count == 0 || row->h.count == 0 || w.count == 0) {
        for (int64_t p = 0; p < pixels; p++)
            empty_pixel(call, y + p * a[2].y_stride, index ? index + p * a[2].y_stride : NULL);
        return;
    }
    const int64_t divisor = cpu_pool_divisor(g, &row->d, &row->h, &w);
    const int64_t at = row->x_at + w.first * a[2].x_stride;
    pool_window window = {
        .x = call->x + at,
        .taps = {row->d.count, row->h.count, w.count},
        .pixels = pixels,
        .pixel_step = a[2].stride * a[2].x_stride,
        .pixel_place = a[2].stride,
        .place = row->place + w.first,
        .channels = g->channels,
        .x_room = g->x_extent - at,
        .y = y,
        .index = index,
        .y_step = a[2].y_stride,
        .y_room = a[2].y_stride == g->channels ? (a[2].out - first) * g->channels : 0,
        .divisor = (float)divisor,
    };
    for (int d = 0; d < POOL_DIMS; d++) {
        window.tap_step[d] = a[d].dilation * a[d].x_stride;
        window.tap_place[d] = a[d].dilation * a[d].place;
    }
    if (g->kind == AXLE_POOL_MAX)
        call->op->loops->pool->max_pixels(&window);
    else
        call->op->loops->pool->mean_pixels(&window);
}

/* Windows at the border differ from each other; those inside do not. */
static void run_channels_last_row(const pool_call *call, const pool_row *row)
{
    const pool_geometry *g = &call->op->geometry;
    int64_t begin, end;
    cpu_pool_interior(g, &begin, &end);
    for (int64_t i = 0; i < begin; i++)
        run_pixels(call, row, i, 1);
    if (begin < end)
        run_pixels(call, row, begin, end - begin);
    for (int64_t i = end; i < g->axis[2].out; i++)
        run_pixels(call, row, i, 1);
}

/* ------------------------------------------------------------------ rows of a plane */

/* The windows of [first, first + n) that have tap k inside: how many to skip, and how many follow.
 */
static int64_t windows_of_tap(const pool_geometry *g, int64_t k, int64_t first, int64_t n,
                              int64_t *skip)
{
    const pool_axis *a = &g->axis[2];
    const int64_t at = k * a->dilation - a->pad; /* the tap's place in window 0 */
    const int64_t begin = at < 0 ? cpu_ceil_div(-at, a->stride) : 0;
    const int64_t end = a->in > at ? cpu_ceil_div(a->in - at, a->stride) : 0;
    *skip = cpu_max(begin - first, 0);
    return cpu_min(end - first, n) - *skip;
}

/* One row of taps against a block of windows, tap by tap. */
static void max_taps(const pool_call *call, const float *x, int64_t place, int64_t first, int64_t n,
                     float *best, int32_t *index)
{
    const pool_geometry *g = &call->op->geometry;
    const pool_axis *a = &g->axis[2];
    for (int64_t k = 0; k < a->kernel; k++) {
        int64_t skip;
        const int64_t count = windows_of_tap(g, k, first, n, &skip);
        const int64_t at = (first + skip) * a->stride - a->pad + k * a->dilation;
        if (count > 0)
            call->op->loops->pool->max_tap(x + at * a->x_stride, a->stride * a->x_stride,
                                           (int32_t)(place + at), (int32_t)a->stride, best + skip,
                                           index + skip, count);
    }
}

static void sum_taps(const pool_call *call, const float *x, int64_t first, int64_t n, double *sum)
{
    const pool_geometry *g = &call->op->geometry;
    const pool_axis *a = &g->axis[2];
    for (int64_t k = 0; k < a->kernel; k++) {
        int64_t skip;
        const int64_t count = windows_of_tap(g, k, first, n, &skip);
        const int64_t at = (first + skip) * a->stride - a->pad + k * a->dilation;
        if (count > 0)
            call->op->loops->pool->sum_tap(x + at * a->x_stride, a->stride * a->x_stride,
                                           sum + skip, count);
    }
}

/* Adaptive windows have ranges of their own. */
static void adaptive_taps(const pool_call *call, const float *x, int64_t place, int64_t first,
                          int64_t n, float *best, int32_t *index, double *sum)
{
    const pool_geometry *g = &call->op->geometry;
    const pool_axis *a = &g->axis[2];
    for (int64_t i = 0; i < n; i++) {
        const pool_range w = cpu_pool_range(g, 2, first + i);
        for (int64_t k = 0; k < w.count; k++) {
            const int64_t at = w.first + k;
            call->op->loops->pool->max_tap(x + at * a->x_stride, 1, (int32_t)(place + at), 1,
                                           best + i, index + i, 1);
            sum[i] += (double)x[at * a->x_stride];
        }
    }
}

static void store_block(const pool_call *call, const pool_row *row, int64_t first, int64_t n,
                        const float *best, const int32_t *index, const double *sum)
{
    const pool_geometry *g = &call->op->geometry;
    const pool_axis *a = &g->axis[2];
    for (int64_t i = 0; i < n; i++) {
        float value = best[i];
        if (g->kind != AXLE_POOL_MAX) {
            const pool_range w = cpu_pool_range(g, 2, first + i);
            const int64_t divisor = cpu_pool_divisor(g, &row->d, &row->h, &w);
            value = divisor > 0 ? (float)(sum[i] / (double)divisor) : 0.0f;
        }
        row->y[(first + i) * a->y_stride] = value;
        if (row->index)
            row->index[(first + i) * a->index_stride] = index[i];
    }
}

static void run_block(const pool_call *call, const pool_row *row, int64_t first, int64_t n)
{
    const pool_geometry *g = &call->op->geometry;
    const pool_axis *a = g->axis;
    float best[BLOCK];
    int32_t index[BLOCK];
    double sum[BLOCK];
    for (int64_t i = 0; i < n; i++) {
        best[i] = -INFINITY;
        index[i] = -1;
        sum[i] = 0;
    }
    for (int64_t d = 0; d < row->d.count; d++) {
        for (int64_t h = 0; h < row->h.count; h++) {
            const int64_t dd = g->adaptive ? d : d * a[0].dilation;
            const int64_t hh = g->adaptive ? h : h * a[1].dilation;
            const float *x = row->x + dd * a[0].x_stride + hh * a[1].x_stride;
            const int64_t place = row->place + dd * a[0].place + hh * a[1].place;
            if (g->adaptive)
                adaptive_taps(call, x, place, first, n, best, index, sum);
            else if (g->kind == AXLE_POOL_MAX)
                max_taps(call, x, place, first, n, best, index);
            else
                sum_taps(call, x, first, n, sum);
        }
    }
    store_block(call, row, first, n, best, index, sum);
}

/* ------------------------------------------------------------------ running */

static void pool_items(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const pool_call *call = arg;
    const pool_op *op = call->op;
    const pool_geometry *g = &op->geometry;
    (void)worker;
    for (int64_t item = begin; item < end; item++) {
        const int64_t plane = item / op->rows, row = item % op->rows;
        if (op->channels_last) {
            const pool_row r = locate_row(call, plane * g->x_sample, plane * g->y_sample,
                                          plane * g->index_sample, row);
            run_channels_last_row(call, &r);
            continue;
        }
        const int64_t n = plane / g->channels, c = plane % g->channels;
        const pool_row r =
            locate_row(call, n * g->x_sample + c * g->x_channel, n * g->y_sample + c * g->y_channel,
                       n * g->index_sample + c * g->index_channel, row);
        for (int64_t first = 0; first < g->axis[2].out; first += BLOCK)
            run_block(call, &r, first, cpu_min(g->axis[2].out - first, BLOCK));
    }
}

static axle_status pool_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const pool_op *op = (const pool_op *)base;
    unsigned char *workspace = cpu_workspace(args);
    void *y = cpu_out_data(args, 0);
    (void)error;
    if (op->items == 0 || op->geometry.axis[2].out == 0)
        return AXLE_OK;
    pool_call call = {
        .op = op,
        .x = cpu_stage_read(&op->x, cpu_in_data(args, 0), workspace),
        .y = cpu_stage_target(&op->y, y, workspace),
        .index = op->has_index ? cpu_out_data(args, 1) : NULL,
    };
    cpu_parallel(op->items, op->work, pool_items, &call);
    cpu_stage_leave(&op->y, y, workspace);
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_pool = {
    .op = AXLE_OP_POOL,
    .query = pool_query,
    .prepare = pool_prepare,
    .run = pool_run,
    .release = cpu_op_release,
};
