/* SPDX-License-Identifier: Apache-2.0 */
/* INTERPOLATE to the nearest source element, of any type, and its backward pass. */
#include "stage.h"

#include <string.h>

enum { DIMS = AXLE_MAX_SPATIAL };

/* `fine` is the output of the forward pass, `coarse` its input. */
typedef struct resize_op {
    axle_be_op base;
    const cpu_loops *loops;
    stage fine, coarse; /* backward */
    int64_t samples, channels, size;
    int64_t fine_sample, fine_channel, coarse_sample, coarse_channel;
    int64_t fine_dim[DIMS], coarse_dim[DIMS], fine_stride[DIMS], coarse_stride[DIMS];
    int channels_last;
    int64_t planes, work;
} resize_op;

static void take_shape(resize_op *op, const axle_view *coarse, const axle_view *fine)
{
    const int added = DIMS - (int)(coarse->rank - 2);
    op->samples = coarse->dim[0];
    op->channels = coarse->dim[1];
    op->size = cpu_dtype_size(coarse->dtype);
    op->fine_sample = fine->stride[0];
    op->fine_channel = fine->stride[1];
    op->coarse_sample = coarse->stride[0];
    op->coarse_channel = coarse->stride[1];
    for (int d = 0; d < DIMS; d++) {
        const int k = d - added;
        op->fine_dim[d] = k < 0 ? 1 : fine->dim[2 + k];
        op->coarse_dim[d] = k < 0 ? 1 : coarse->dim[2 + k];
        op->fine_stride[d] = k < 0 ? 0 : fine->stride[2 + k];
        op->coarse_stride[d] = k < 0 ? 0 : coarse->stride[2 + k];
    }
    op->channels_last = op->channels > 1 && op->fine_channel == 1 && op->coarse_channel == 1;
    op->planes = op->samples * (op->channels_last ? 1 : op->channels);
    op->work = cpu_max(cpu_count(fine), cpu_count(coarse)) * 2;
}

static int64_t source_of(const resize_op *op, int d, int64_t i)
{
    return i * op->coarse_dim[d] / op->fine_dim[d];
}

/* First element of a plane in either tensor. */
static int64_t plane_at(const resize_op *op, int64_t plane, int64_t sample, int64_t channel)
{
    if (op->channels_last)
        return plane * sample;
    return plane / op->channels * sample + plane % op->channels * channel;
}

static int shapes_fit(const axle_view *coarse, const axle_view *fine)
{
    return coarse->rank > 2 && coarse->rank <= 2 + DIMS && fine->rank == coarse->rank &&
           coarse->dtype == fine->dtype && cpu_dtype_size(coarse->dtype) > 0;
}

/* ------------------------------------------------------------------ forward */

static axle_status forward_query(const axle_op_desc *desc, axle_op_info *info)
{
    if (!shapes_fit(desc->in[0], desc->out[0]))
        return AXLE_OK;
    return cpu_op_support(info, "interpolate", 0);
}

static axle_status forward_prepare(axle_be_device *device, const axle_op_desc *desc,
                                   axle_be_op **out, axle_error *error)
{
    resize_op *op = cpu_op_create(device, &cpu_kernel_interpolate, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    op->loops = cpu_loops_choose(device->host);
    take_shape(op, desc->in[0], desc->out[0]);
    *out = &op->base;
    return AXLE_OK;
}

typedef struct resize_call {
    const resize_op *op;
    const unsigned char *from;
    unsigned char *to;
} resize_call;

#define DEFINE_REPEAT(bytes, type)                                                                 \
    static void repeat_##bytes(const resize_op *op, const void *from, void *to)                    \
    {                                                                                              \
        const type *x = from;                                                                      \
        type *y = to;                                                                              \
        const int64_t in = op->coarse_dim[2], out = op->fine_dim[2];                               \
        int64_t source = 0, rest = 0;                                                              \
        for (int64_t i = 0; i < out; i++) {                                                        \
            y[i * op->fine_stride[2]] = x[source * op->coarse_stride[2]];                          \
            for (rest += in; rest >= out; rest -= out)                                             \
                source++;                                                                          \
        }                                                                                          \
    }
DEFINE_REPEAT(1, uint8_t)
DEFINE_REPEAT(2, uint16_t)
DEFINE_REPEAT(4, uint32_t)
DEFINE_REPEAT(8, uint64_t)

static void (*const repeats[9])(const resize_op *, const void *, void *) = {
    [1] = repeat_1, [2] = repeat_2, [4] = repeat_4, [8] = repeat_8};

static void repeat_row(const resize_op *op, const unsigned char *from, unsigned char *to)
{
    if (!op->channels_last) {
        repeats[op->size](op, from, to);
        return;
    }
    for (int64_t i = 0; i < op->fine_dim[2]; i++)
        memcpy(to + i * op->fine_stride[2] * op->size,
               from + source_of(op, 2, i) * op->coarse_stride[2] * op->size,
               (size_t)(op->channels * op->size));
}

static void forward_rows(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const resize_call *call = arg;
    const resize_op *op = call->op;
    const int64_t rows = op->fine_dim[0] * op->fine_dim[1];
    (void)worker;
    for (int64_t item = begin; item < end; item++) {
        const int64_t plane = item / rows, d = item % rows / op->fine_dim[1];
        const int64_t h = item % op->fine_dim[1];
        const int64_t to = plane_at(op, plane, op->fine_sample, op->fine_channel) +
                           d * op->fine_stride[0] + h * op->fine_stride[1];
        const int64_t from = plane_at(op, plane, op->coarse_sample, op->coarse_channel) +
                             source_of(op, 0, d) * op->coarse_stride[0] +
                             source_of(op, 1, h) * op->coarse_stride[1];
        repeat_row(op, call->from + from * op->size, call->to + to * op->size);
    }
}

static int64_t volume(const int64_t dim[DIMS])
{
    return dim[0] * dim[1] * dim[2];
}

static axle_status forward_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const resize_op *op = (const resize_op *)base;
    resize_call call = {.op = op, .from = cpu_in_data(args, 0), .to = cpu_out_data(args, 0)};
    if (op->planes == 0 || volume(op->fine_dim) == 0)
        return AXLE_OK;
    if (volume(op->coarse_dim) == 0)
        return cpu_fail(error, AXLE_ERR_SHAPE, "interpolate: the input has no pixel to repeat");
    cpu_parallel(op->planes * op->fine_dim[0] * op->fine_dim[1], op->work, forward_rows, &call);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ backward */

static axle_status backward_query(const axle_op_desc *desc, axle_op_info *info)
{
    size_t total = 0;
    stage fine, coarse;
    if (!shapes_fit(desc->out[0], desc->in[0]) || !cpu_is_f32_like(desc->in[0]->dtype))
        return AXLE_OK;
    cpu_stage_init(&fine, &cpu_loops_generic, desc->in[0], &total);
    cpu_stage_init(&coarse, &cpu_loops_generic, desc->out[0], &total);
    return cpu_op_support(info, "interpolate_backward", cpu_workspace_size(total));
}

static axle_status backward_prepare(axle_be_device *device, const axle_op_desc *desc,
                                    axle_be_op **out, axle_error *error)
{
    resize_op *op = cpu_op_create(device, &cpu_kernel_interpolate_backward, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    size_t total = 0;
    op->loops = cpu_loops_choose(device->host);
    cpu_stage_init(&op->fine, op->loops, desc->in[0], &total);
    cpu_stage_init(&op->coarse, op->loops, desc->out[0], &total);
    take_shape(op, &op->coarse.view, &op->fine.view);
    *out = &op->base;
    return AXLE_OK;
}

/* The fine elements that took coarse element i along dim d: [*begin, *end). */
static void takers_of(const resize_op *op, int d, int64_t i, int64_t *begin, int64_t *end)
{
    *begin = cpu_ceil_div(i * op->fine_dim[d], op->coarse_dim[d]);
    *end = cpu_ceil_div((i + 1) * op->fine_dim[d], op->coarse_dim[d]);
}

enum { CHANNELS = 64 };

/* Sums over a box of fine elements, for n <= CHANNELS channels that lie together. */
static void sum_box(const resize_op *op, const float *dy, const int64_t begin[DIMS],
                    const int64_t end[DIMS], float *dx, int64_t n)
{
    const struct pool_loops *loops = op->loops->pool;
    double sum[CHANNELS] = {0};
    for (int64_t d = begin[0]; d < end[0]; d++) {
        for (int64_t h = begin[1]; h < end[1]; h++) {
            const float *row = dy + d * op->fine_stride[0] + h * op->fine_stride[1];
            for (int64_t w = begin[2]; w < end[2]; w++) {
                if (n == 1)
                    sum[0] += (double)row[w * op->fine_stride[2]];
                else
                    loops->sum_tap(row + w * op->fine_stride[2], 1, sum, n);
            }
        }
    }
    for (int64_t c = 0; c < n; c++)
        dx[c] = (float)sum[c];
}

static void sum_plane(const resize_op *op, const float *dy, float *dx)
{
    const int64_t channels = op->channels_last ? op->channels : 1;
    int64_t begin[DIMS], end[DIMS];
    for (int64_t d = 0; d < op->coarse_dim[0]; d++) {
        takers_of(op, 0, d, &begin[0], &end[0]);
        for (int64_t h = 0; h < op->coarse_dim[1]; h++) {
            takers_of(op, 1, h, &begin[1], &end[1]);
            for (int64_t w = 0; w < op->coarse_dim[2]; w++) {
                takers_of(op, 2, w, &begin[2], &end[2]);
                float *to = dx + d * op->coarse_stride[0] + h * op->coarse_stride[1] +
                            w * op->coarse_stride[2];
                for (int64_t c = 0; c < channels; c += CHANNELS)
                    sum_box(op, dy + c, begin, end, to + c, cpu_min(channels - c, CHANNELS));
            }
        }
    }
}

static void backward_planes(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const resize_call *call = arg;
    const resize_op *op = call->op;
    (void)worker;
    for (int64_t plane = begin; plane < end; plane++) {
        float *dx = (float *)call->to + plane_at(op, plane, op->coarse_sample, op->coarse_channel);
        sum_plane(
            op, (const float *)call->from + plane_at(op, plane, op->fine_sample, op->fine_channel),
            dx);
    }
}

static axle_status backward_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const resize_op *op = (const resize_op *)base;
    unsigned char *workspace = cpu_workspace(args);
    void *dx = cpu_out_data(args, 0);
    (void)error;
    if (op->planes == 0 || volume(op->coarse_dim) == 0)
        return AXLE_OK;
    resize_call call = {
        .op = op,
        .from = cpu_stage_read(&op->fine, cpu_in_data(args, 0), workspace),
        .to = cpu_stage_target(&op->coarse, dx, workspace),
    };
    cpu_parallel(op->planes, op->work, backward_planes, &call);
    cpu_stage_leave(&op->coarse, dx, workspace);
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_interpolate = {
    .op = AXLE_OP_INTERPOLATE,
    .query = forward_query,
    .prepare = forward_prepare,
    .run = forward_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_interpolate_backward = {
    .op = AXLE_OP_INTERPOLATE_BACKWARD,
    .query = backward_query,
    .prepare = backward_prepare,
    .run = backward_run,
    .release = cpu_op_release,
};
