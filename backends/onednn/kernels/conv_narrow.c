/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV with few channels, summed in f64 and rounded once.
 *
 * ReLU and max-pooling turn a difference in the last bit of a convolution into another choice, from
 * which training runs diverge. Sums in f64 hardly ever differ from the exact ones once they are
 * rounded, and where there are few channels, there are few terms to pay for.
 *
 * The input rows that a few output rows need are widened into a frame with the padding written out:
 *
 *     frame (rows, C, phases, columns)
 *
 * Column s of the padded input lies in phase s % stride at s / stride, so that neighbouring output
 * pixels are neighbours in the frame whatever the stride.
 */
#include "../primitives.h"
#include "kernel.h"

#include <string.h>

enum { MOST_INPUTS = 15, MOST_OUTPUTS = 32 };

/* Numbers: the frame of one output row at most, and the frame that stays in the first-level cache
 * beside the weights. */
enum { MOST_FRAME = 1 << 16, GOOD_FRAME = 3072, MOST_TAPS = 4096 };

/* Multiplications that take about as long as an element of a simple operator. */
enum { TERMS_PER_WORK = 8 };

typedef struct narrow_axis {
    int64_t in, out, kernel, stride, pad, dilation;
    int64_t x, y, w; /* strides of the operands */
} narrow_axis;

typedef struct narrow_shape {
    int64_t samples, inputs, outputs, taps;
    int64_t x_sample, x_channel, y_sample, y_channel, w_output, w_input;
    narrow_axis h, w;
    int64_t columns, row; /* of the frame: columns of a phase, numbers of a row of all channels */
    int64_t rows_each;    /* output rows worked on at a time */
    size_t weights_at, bias_at, frames_at; /* in the workspace */
    size_t frame, total;                   /* numbers, bytes */
} narrow_shape;

typedef struct narrow_op {
    axle_be_op base;
    const cpu_loops *loops;
    narrow_shape shape;
    int relu;
    int64_t bias_step;
    int64_t *offset, *tap; /* of each tap in the frame and in the weights */
    int64_t table[];
} narrow_op;

/* ------------------------------------------------------------------ shapes */

/* Axis d of n; a missing leading one has size 1. */
static narrow_axis axis_of(const axle_op_desc *desc, uint32_t d, uint32_t n)
{
    const axle_conv_attrs *attrs = desc->attrs;
    const axle_view *x = desc->in[0], *w = desc->in[1], *y = desc->out[0];
    if (d + n < 2)
        return (narrow_axis){.in = 1, .out = 1, .kernel = 1, .stride = 1, .dilation = 1};
    const uint32_t k = d + n - 2;
    return (narrow_axis){
        .in = x->dim[2 + k],
        .out = y->dim[2 + k],
        .kernel = w->dim[2 + k],
        .stride = attrs->stride[k],
        .pad = attrs->pad[k],
        .dilation = attrs->dilation[k],
        .x = x->stride[2 + k],
        .y = y->stride[2 + k],
        .w = w->stride[2 + k],
    };
}

/* Padded input positions that n outputs in a row need. */
static int64_t span_of(const narrow_axis *a, int64_t n)
{
    return (n - 1) * a->stride + (a->kernel - 1) * a->dilation + 1;
}

static int accepts(const axle_op_desc *desc)
{
    const axle_conv_attrs *attrs = desc->attrs;
    const axle_view *x = desc->in[0], *w = desc->in[1], *y = desc->out[0], *bias = cpu_in(desc, 2);
    const int f32 = x->dtype == AXLE_DTYPE_F32 && w->dtype == AXLE_DTYPE_F32 &&
                    y->dtype == AXLE_DTYPE_F32 && (!bias || bias->dtype == AXLE_DTYPE_F32);
    return f32 && attrs->groups == 1 && attrs->n_spatial >= 1 && attrs->n_spatial <= 2 &&
           (attrs->activation == 0 || attrs->activation == AXLE_UNARY_RELU) &&
           x->dim[1] <= MOST_INPUTS && y->dim[1] <= MOST_OUTPUTS && cpu_count(x) > 0 &&
           cpu_count(w) > 0 && cpu_count(y) > 0 && cpu_count(w) / y->dim[1] <= MOST_TAPS;
}

/* As many output rows as fit in a good frame, but enough pieces for all workers. */
static int64_t choose_rows(const narrow_shape *s)
{
    const int64_t fit = (GOOD_FRAME / s->row - span_of(&s->h, 1)) / s->h.stride + 1;
    const int64_t fair = cpu_ceil_div(s->samples * s->h.out, 2 * cpu_workers());
    return cpu_max(1, cpu_min(cpu_min(fit, fair), s->h.out));
}

static void lay_out(narrow_shape *s)
{
    const size_t padded = cpu_round_up((size_t)s->outputs, CONV_WIDEST);
    s->rows_each = choose_rows(s);
    s->frame = (size_t)(span_of(&s->h, s->rows_each) * s->row) + CONV_OVERREAD;
    s->frame = cpu_round_up(s->frame, CPU_LINE / sizeof(double));
    s->weights_at = cpu_reserve(&s->total, padded * (size_t)s->taps * sizeof(double));
    s->bias_at = cpu_reserve(&s->total, padded * sizeof(double));
    s->frames_at = cpu_reserve(&s->total, s->frame * (size_t)cpu_workers() * sizeof(double));
}

/* Whether this kernel takes the operator, and how. */
static int read_shape(narrow_shape *s, const axle_op_desc *desc)
{
    if (!accepts(desc))
        return 0;
    const axle_conv_attrs *attrs = desc->attrs;
    const axle_view *x = desc->in[0], *w = desc->in[1], *y = desc->out[0];
    *s = (narrow_shape){
        .samples = y->dim[0],
        .inputs = x->dim[1],
        .outputs = y->dim[1],
        .x_sample = x->stride[0],
        .x_channel = x->stride[1],
        .y_sample = y->stride[0],
        .y_channel = y->stride[1],
        .w_output = w->stride[0],
        .w_input = w->stride[1],
        .h = axis_of(desc, 0, attrs->n_spatial),
        .w = axis_of(desc, 1, attrs->n_spatial),
    };
    s->taps = s->inputs * s->h.kernel * s->w.kernel;
    s->columns = cpu_ceil_div(span_of(&s->w, s->w.out), s->w.stride);
    if (s->columns > MOST_FRAME || s->w.stride > MOST_FRAME)
        return 0;
    s->row = s->inputs * s->w.stride * s->columns;
    if (s->row > MOST_FRAME || span_of(&s->h, 1) > MOST_FRAME / s->row)
        return 0;
    lay_out(s);
    return 1;
}

static axle_status narrow_query(const axle_op_desc *desc, axle_op_info *info)
{
    narrow_shape shape;
    if (!read_shape(&shape, desc))
        return AXLE_OK;
    info->layout = AXLE_LAYOUT_CHANNELS_LAST;
    return cpu_op_support(info, "conv_narrow", cpu_workspace_size(shape.total));
}

/* Taps in the order in which a frame holds what they meet. */
static void fill_tables(narrow_op *op)
{
    const narrow_shape *s = &op->shape;
    int64_t t = 0;
    for (int64_t i = 0; i < s->h.kernel; i++)
        for (int64_t c = 0; c < s->inputs; c++)
            for (int64_t j = 0; j < s->w.kernel; j++, t++) {
                const int64_t at = j * s->w.dilation;
                op->tap[t] = i * s->h.w + c * s->w_input + j * s->w.w;
                op->offset[t] = i * s->h.dilation * s->row + at / s->w.stride +
                                (c * s->w.stride + at % s->w.stride) * s->columns;
            }
}

static axle_status narrow_prepare(axle_be_device *device, const axle_op_desc *desc,
                                  axle_be_op **out, axle_error *error)
{
    narrow_shape shape;
    if (!read_shape(&shape, desc))
        return AXLE_ERR_UNSUPPORTED;
    const axle_conv_attrs *attrs = desc->attrs;
    const size_t table = 2 * (size_t)shape.taps * sizeof(int64_t);
    narrow_op *op = cpu_op_create(device, &cpu_conv_narrow, sizeof(*op) + table, error);
    if (!op)
        return AXLE_ERR_NOMEM;
    op->loops = cpu_loops_choose(device->host);
    op->shape = shape;
    op->relu = attrs->activation == AXLE_UNARY_RELU;
    op->bias_step = cpu_in(desc, 2) ? desc->in[2]->stride[0] : 0;
    op->offset = op->table;
    op->tap = op->table + shape.taps;
    fill_tables(op);
    *out = &op->base;
    return AXLE_OK;
}

/* ------------------------------------------------------------------ running */

typedef struct narrow_call {
    const narrow_op *op;
    const float *x;
    float *y;
    double *weights, *bias, *frames;
} narrow_call;

static void zero(double *to, int64_t n)
{
    memset(to, 0, (size_t)n * sizeof(double));
}

/* Every stride-th column of a channel's row from column `phase` of the padded input on. */
static void fill_phase(const narrow_op *op, const float *x, int64_t phase, double *to)
{
    const narrow_axis *a = &op->shape.w;
    const int64_t ahead = a->pad - phase, n = op->shape.columns;
    const int64_t begin = ahead > 0 ? cpu_min(cpu_ceil_div(ahead, a->stride), n) : 0;
    const int64_t inside = a->in + ahead > 0 ? cpu_ceil_div(a->in + ahead, a->stride) : 0;
    const int64_t end = cpu_max(begin, cpu_min(inside, n));
    zero(to, begin);
    if (begin < end)
        op->loops->conv->widen(x + (begin * a->stride - ahead) * a->x, a->stride * a->x, to + begin,
                               end - begin);
    zero(to + end, n - end);
}

/* The rows that output rows from `first` on need. */
static void fill_frame(const narrow_call *call, const float *x, int64_t first, int64_t rows,
                       double *frame)
{
    const narrow_op *op = call->op;
    const narrow_shape *s = &op->shape;
    const int64_t span = span_of(&s->h, rows);
    int64_t i = first * s->h.stride - s->h.pad;
    for (int64_t r = 0; r < span; r++, i++) {
        if (i < 0 || i >= s->h.in) {
            zero(frame, s->row);
            frame += s->row;
            continue;
        }
        for (int64_t c = 0; c < s->inputs; c++)
            for (int64_t phase = 0; phase < s->w.stride; phase++, frame += s->columns)
                fill_phase(op, x + c * s->x_channel + i * s->h.x, phase, frame);
    }
    zero(frame, CONV_OVERREAD);
}

static void run_piece(const narrow_call *call, int64_t sample, int64_t first, double *frame)
{
    const narrow_op *op = call->op;
    const narrow_shape *s = &op->shape;
    const int64_t rows = cpu_min(s->rows_each, s->h.out - first);
    fill_frame(call, call->x + sample * s->x_sample, first, rows, frame);
    conv_row row = {
        .weights = call->weights,
        .bias = call->bias,
        .offset = op->offset,
        .taps = s->taps,
        .pixels = s->w.out,
        .channels = s->outputs,
        .y_pixel = s->w.y,
        .y_channel = s->y_channel,
        .relu = op->relu,
    };
    for (int64_t r = 0; r < rows; r++) {
        row.frame = frame + r * s->h.stride * s->row;
        row.y = call->y + sample * s->y_sample + (first + r) * s->h.y;
        op->loops->conv->run(&row);
    }
}

static void run_pieces(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const narrow_call *call = arg;
    const narrow_shape *s = &call->op->shape;
    const int64_t each = cpu_ceil_div(s->h.out, s->rows_each);
    double *frame = call->frames + (size_t)worker * s->frame;
    for (int64_t piece = begin; piece < end; piece++)
        run_piece(call, piece / each, piece % each * s->rows_each, frame);
}

static void widen_parameters(const narrow_call *call, const float *w, const float *bias)
{
    const narrow_op *op = call->op;
    const narrow_shape *s = &op->shape;
    op->loops->conv->pack(w, s->outputs, s->w_output, s->taps, op->tap, call->weights);
    zero(call->bias, (int64_t)cpu_round_up((size_t)s->outputs, CONV_WIDEST));
    if (bias)
        op->loops->conv->widen(bias, op->bias_step, call->bias, s->outputs);
}

static axle_status narrow_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const narrow_op *op = (const narrow_op *)base;
    const narrow_shape *s = &op->shape;
    unsigned char *workspace = cpu_workspace(args);
    (void)error;
    const narrow_call call = {
        .op = op,
        .x = cpu_in_data(args, 0),
        .y = cpu_out_data(args, 0),
        .weights = (double *)(workspace + s->weights_at),
        .bias = (double *)(workspace + s->bias_at),
        .frames = (double *)(workspace + s->frames_at),
    };
    widen_parameters(&call, cpu_in_data(args, 1), cpu_in_data(args, 2));
    const int64_t pieces = s->samples * cpu_ceil_div(s->h.out, s->rows_each);
    const int64_t terms = s->samples * s->h.out * s->w.out * s->outputs * s->taps;
    cpu_parallel(pieces, terms / TERMS_PER_WORK, run_pieces, (void *)&call);
    return AXLE_OK;
}

const cpu_kernel cpu_conv_narrow = {
    .op = AXLE_OP_CONV,
    .query = narrow_query,
    .prepare = narrow_prepare,
    .run = narrow_run,
    .release = cpu_op_release,
};
