/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CROSS_ENTROPY of logits (N, C, S) with targets (N, S), and its backward pass. Losses of a block
 * of positions are summed in f64 and the blocks in their order.
 */
#include "index.h"
#include "rows.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64, STAGES = 2 };
/* Rows no longer than this are worked on a block at a time, a row a lane. */
enum { SHORT_ROW = 64 };

/* A view (N, S), or (1, 1). */
typedef struct entropy_plane {
    int64_t stride[2], size;
    uint32_t dtype;
    load_loop load;
    store_loop store;
} entropy_plane;

typedef struct entropy_op {
    axle_be_op base;
    const cpu_loops *loops;
    axle_cross_entropy_attrs attrs;
    int64_t samples, classes, space, count; /* N, C, S, N * S */
    int lanes;                              /* whether rows are short, dense and f32 */
    row_operand logits, dlogits, weight;
    int64_t logits_step[2], dlogits_step[2]; /* bytes along N and S */
    index_operand target;
    entropy_plane loss, lse, total;
    int64_t blocks;
    size_t row_size; /* a row of f32 */
    /* Layout of the workspace: targets, weights, (workers, STAGES, C), (blocks, 2) in f64. */
    size_t targets, weights, stages, partials;
} entropy_op;

static entropy_plane plane_of(const cpu_loops *loops, const axle_view *view)
{
    entropy_plane plane = {.size = 0};
    if (!view)
        return plane;
    plane.stride[0] = view->stride[0];
    plane.stride[1] = view->stride[1];
    plane.size = cpu_dtype_size(view->dtype);
    plane.dtype = view->dtype;
    const int native = view->dtype == AXLE_DTYPE_F32;
    plane.load = native ? loops->convert->load_raw[2] : loops->convert->load[view->dtype];
    plane.store = native ? loops->convert->store_raw[2] : loops->convert->store[view->dtype];
    return plane;
}

static size_t lay_out(entropy_op *op)
{
    size_t total = 0;
    op->row_size = cpu_round_up((size_t)op->classes * sizeof(float), CPU_LINE);
    op->blocks = cpu_ceil_div(op->count, BLOCK);
    op->targets = cpu_reserve(&total, (size_t)op->count * sizeof(int64_t));
    op->weights = cpu_reserve(&total, op->row_size);
    op->stages = cpu_reserve(&total, STAGES * op->row_size * (size_t)cpu_workers());
    op->partials = cpu_reserve(&total, 2 * sizeof(double) * (size_t)op->blocks);
    return total;
}

static void take_shape(entropy_op *op, const axle_view *logits)
{
    op->samples = logits->dim[0];
    op->classes = logits->dim[1];
    op->space = logits->dim[2];
    op->count = op->samples * op->space;
}

static void take_common(entropy_op *op, axle_be_device *device, const axle_op_desc *desc,
                        const axle_view *logits, const axle_view *target, const axle_view *weight)
{
    op->loops = cpu_loops_choose(device->host);
    memcpy(&op->attrs, desc->attrs, sizeof(op->attrs));
    take_shape(op, logits);
    lay_out(op);
    op->logits = cpu_row_operand(op->loops, logits, 1);
    op->logits_step[0] = logits->stride[0] * op->logits.size;
    op->logits_step[1] = logits->stride[2] * op->logits.size;
    op->weight = cpu_row_operand(op->loops, weight, 0);
    op->target = cpu_index_operand(target);
    op->lanes =
        op->logits.direct && op->logits.stride == 1 && op->space == 1 && op->classes <= SHORT_ROW;
}

static int is_f32(const axle_view *view)
{
    return !view || view->dtype == AXLE_DTYPE_F32;
}

static int is_float(const axle_view *view)
{
    return !view || cpu_is_f32_like(view->dtype);
}

static axle_status support(const axle_op_desc *desc, axle_op_info *info, const axle_view *logits,
                           const axle_view *target, const axle_view *loss, const char *name)
{
    const axle_cross_entropy_attrs *attrs = desc->attrs;
    entropy_op op = {.loops = NULL};
    if (!cpu_is_f32_like(logits->dtype) || logits->rank != 3 || !cpu_is_index(target->dtype) ||
        target->rank != 2 || loss->rank != 2 || attrs->reduction > AXLE_REDUCTION_SUM)
        return AXLE_OK;
    take_shape(&op, logits);
    return cpu_op_support(info, name, cpu_workspace_size(lay_out(&op)));
}

typedef struct entropy_call {
    const entropy_op *op;
    const unsigned char *logits, *dloss;
    unsigned char *dlogits, *loss, *workspace;
    const float *weight;
    const int64_t *target;
    float *lse;
    double *partials; /* (blocks, 2): loss, weight */
    double weight_sum, total;
} entropy_call;

static float *stage_of(const entropy_call *call, int32_t worker, int which)
{
    return (float *)(call->workspace + call->op->stages +
                     (size_t)(worker * STAGES + which) * call->op->row_size);
}

/* Element (n, s) of a plane; i counts positions. */
static int64_t plane_at(const entropy_op *op, const entropy_plane *plane, int64_t i)
{
    return i / op->space * plane->stride[0] + i % op->space * plane->stride[1];
}

static int64_t row_at(const entropy_op *op, const int64_t step[2], int64_t i)
{
    return i / op->space * step[0] + i % op->space * step[1];
}

/* The logits of position i. */
static const float *read_logits(const entropy_call *call, int64_t i, float *stage)
{
    const entropy_op *op = call->op;
    return cpu_row_read(&op->logits, call->logits + row_at(op, op->logits_step, i), op->classes,
                        stage);
}

/* Logits of up to BLOCK short rows, transposed: a row is a lane. */
typedef struct entropy_tile {
    float x[SHORT_ROW * BLOCK];
    float shift[BLOCK], sum[BLOCK];
} entropy_tile;

static void read_tile(const entropy_call *call, int64_t first, int64_t rows, entropy_tile *tile)
{
    const entropy_op *op = call->op;
    const float *x = (const float *)(call->logits + first * op->logits_step[0]);
    op->loops->attention->transpose(x, op->logits_step[0] / (int64_t)sizeof(float), rows,
                                    op->classes, 1.0f, tile->x, BLOCK);
}

/* x becomes exp(x - shift), row by row, and sum what that sums to. */
static void soften_tile(const entropy_call *call, int64_t rows, entropy_tile *tile)
{
    call->op->loops->attention->exp(tile->x, BLOCK, call->op->classes, rows, tile->shift,
                                    tile->sum);
}

/* Targets and weights, brought to the workspace. */
static axle_status call_begin(entropy_call *call, const char *name, const void *target,
                              const void *weight, axle_error *error)
{
    const entropy_op *op = call->op;
    int64_t *targets = (int64_t *)(call->workspace + op->targets);
    const axle_status status = cpu_index_load(&op->target, target, name, op->classes,
                                              &op->attrs.ignore_index, targets, error);
    if (status != AXLE_OK)
        return status;
    call->target = targets;
    call->partials = (double *)(call->workspace + op->partials);
    call->weight_sum = (double)op->classes;
    call->weight =
        cpu_row_vector(&op->weight, weight, op->classes, (float *)(call->workspace + op->weights));
    if (call->weight) {
        call->weight_sum = 0;
        for (int64_t c = 0; c < op->classes; c++)
            call->weight_sum += (double)call->weight[c];
    }
    return AXLE_OK;
}

/* An ignored position has no weight, whether or not its target would be in range. */
static double weight_of(const entropy_call *call, int64_t target)
{
    if (target == call->op->attrs.ignore_index)
        return 0;
    return call->weight ? (double)call->weight[target] : 1;
}

/* ------------------------------------------------------------------ forward */

static axle_status forward_query(const axle_op_desc *desc, axle_op_info *info)
{
    if (!is_float(cpu_in(desc, 2)) || !is_float(desc->out[0]) || !is_f32(cpu_out(desc, 1)) ||
        !is_f32(cpu_out(desc, 2)))
        return AXLE_OK;
    return support(desc, info, desc->in[0], desc->in[1], desc->out[0], "cross_entropy");
}

static axle_status forward_prepare(axle_be_device *device, const axle_op_desc *desc,
                                   axle_be_op **out, axle_error *error)
{
    entropy_op *op = cpu_op_create(device, &cpu_kernel_cross_entropy, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    take_common(op, device, desc, desc->in[0], desc->in[1], cpu_in(desc, 2));
    op->loss = plane_of(op->loops, desc->out[0]);
    op->lse = plane_of(op->loops, cpu_out(desc, 1));
    op->total = plane_of(op->loops, cpu_out(desc, 2));
    *out = &op->base;
    return AXLE_OK;
}

/* sum over c of w[c] * (lse - x[c]) */
static double smoothed_sum(const entropy_call *call, const float *x, double lse)
{
    double sum = 0;
    for (int64_t c = 0; c < call->op->classes; c++)
        sum += (call->weight ? (double)call->weight[c] : 1) * (lse - (double)x[c]);
    return sum;
}

static double position_loss(const entropy_call *call, const float *x, double lse, int64_t target)
{
    const entropy_op *op = call->op;
    const double smoothing = op->attrs.label_smoothing;
    const double weight = weight_of(call, target);
    if (target == op->attrs.ignore_index)
        return 0;
    double loss = (1 - smoothing) * weight * (lse - (double)x[target]);
    if (smoothing != 0)
        loss += smoothing / (double)op->classes * smoothed_sum(call, x, lse);
    return loss;
}

static double log_sum_exp(const entropy_op *op, const float *x)
{
    const struct softmax_loops *loops = op->loops->softmax;
    const float max = loops->max(x, op->classes);
    const double sum = loops->sum_exp(x, max, op->classes);
    if (max == -INFINITY && sum != sum)
        for (int64_t c = 0; c < op->classes; c++)
            if (x[c] != x[c])
                return (double)NAN;
    return isinf(max) ? (double)max : (double)max + log(sum);
}

static void store_position(const entropy_op *op, const entropy_plane *plane, unsigned char *data,
                           int64_t i, double value)
{
    const float narrow = (float)value;
    plane->store(&narrow, data + plane_at(op, plane, i) * plane->size, 1, 1);
}

/* log(sum(exp(x))) of the rows of a block. */
static void block_lse(const entropy_call *call, int64_t first, int64_t rows, double *lse)
{
    static const elem_params none;
    const entropy_op *op = call->op;
    entropy_tile tile;
    float logs[BLOCK];
    const void *in[1] = {tile.sum};
    read_tile(call, first, rows, &tile);
    for (int64_t r = 0; r < rows; r++)
        tile.shift[r] = -INFINITY;
    op->loops->attention->max(tile.x, BLOCK, op->classes, rows, tile.shift);
    soften_tile(call, rows, &tile);
    op->loops->unary->forward[DOMAIN_F32][AXLE_UNARY_LOG](in, logs, rows, &none);
    for (int64_t r = 0; r < rows; r++)
        lse[r] = tile.shift[r] == INFINITY ? INFINITY : (double)tile.shift[r] + (double)logs[r];
}

static void forward_blocks(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const entropy_call *call = arg;
    const entropy_op *op = call->op;
    for (int64_t block = begin; block < end; block++) {
        const int64_t first = block * BLOCK, rows = cpu_min(op->count - first, BLOCK);
        double loss = 0, weight = 0, lse[BLOCK];
        if (op->lanes)
            block_lse(call, first, rows, lse);
        for (int64_t r = 0; r < rows; r++) {
            const int64_t i = first + r, target = call->target[i];
            const float *x = read_logits(call, i, stage_of(call, worker, 0));
            if (!op->lanes)
                lse[r] = log_sum_exp(op, x);
            const double position = position_loss(call, x, lse[r], target);
            loss += position;
            weight += weight_of(call, target);
            if (call->lse)
                call->lse[plane_at(op, &op->lse, i)] = (float)lse[r];
            if (op->attrs.reduction == AXLE_REDUCTION_NONE)
                store_position(op, &op->loss, call->loss, i, position);
        }
        call->partials[2 * block] = loss;
        call->partials[2 * block + 1] = weight;
    }
}

static axle_status forward_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const entropy_op *op = (const entropy_op *)base;
    entropy_call call = {
        .op = op,
        .logits = cpu_in_data(args, 0),
        .loss = cpu_out_data(args, 0),
        .lse = cpu_out_data(args, 1),
        .workspace = cpu_workspace(args),
    };
    float *total = cpu_out_data(args, 2);
    const axle_status status =
        call_begin(&call, "cross_entropy", cpu_in_data(args, 1), cpu_in_data(args, 2), error);
    if (status != AXLE_OK)
        return status;
    cpu_parallel(op->blocks, op->count * op->classes * 4, forward_blocks, &call);
    double loss = 0, weight = 0;
    for (int64_t block = 0; block < op->blocks; block++) {
        loss += call.partials[2 * block];
        weight += call.partials[2 * block + 1];
    }
    if (op->attrs.reduction == AXLE_REDUCTION_MEAN)
        loss = weight != 0 ? loss / weight : 0;
    if (op->attrs.reduction != AXLE_REDUCTION_NONE) {
        const float narrow = (float)loss;
        op->loss.store(&narrow, call.loss, 1, 1);
    }
    if (total)
        *total = (float)weight;
    return AXLE_OK;
}

/* ------------------------------------------------------------------ backward */

static axle_status backward_query(const axle_op_desc *desc, axle_op_info *info)
{
    if (!is_float(desc->in[0]) || desc->out[0]->dtype != desc->in[1]->dtype || !cpu_in(desc, 4) ||
        !cpu_in(desc, 5) || !is_float(desc->in[3]) || !is_f32(desc->in[4]) || !is_f32(desc->in[5]))
        return AXLE_OK;
    return support(desc, info, desc->in[1], desc->in[2], desc->in[0], "cross_entropy_backward");
}

static axle_status backward_prepare(axle_be_device *device, const axle_op_desc *desc,
                                    axle_be_op **out, axle_error *error)
{
    entropy_op *op = cpu_op_create(device, &cpu_kernel_cross_entropy_backward, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const axle_view *dlogits = desc->out[0];
    take_common(op, device, desc, desc->in[1], desc->in[2], desc->in[3]);
    op->dlogits = cpu_row_operand(op->loops, dlogits, 1);
    op->dlogits_step[0] = dlogits->stride[0] * op->dlogits.size;
    op->dlogits_step[1] = dlogits->stride[2] * op->dlogits.size;
    op->loss = plane_of(op->loops, desc->in[0]);
    op->lse = plane_of(op->loops, desc->in[4]);
    *out = &op->base;
    return AXLE_OK;
}

/* The gradient with respect to the loss of position i. */
static double position_gradient(const entropy_call *call, int64_t i)
{
    const entropy_op *op = call->op;
    const int each = op->attrs.reduction == AXLE_REDUCTION_NONE;
    float g;
    op->loss.load(call->dloss + (each ? plane_at(op, &op->loss, i) * op->loss.size : 0), 1, &g, 1);
    if (op->attrs.reduction != AXLE_REDUCTION_MEAN)
        return (double)g;
    return call->total != 0 ? (double)g / call->total : 0;
}

/*
 * g * (a * p[c] - (1-s) * w[t] * [c == t] - s/C * w[c]), a being the sum of the factors of lse. lse
 * only keeps exp in range: it is rounded, so that p is divided by what its row really sums to.
 */
typedef struct entropy_factors {
    double own;   /* (1-s) * w[t] */
    float smooth; /* s/C */
    float share;  /* a / sum */
} entropy_factors;

/* Each of them times g. */
static entropy_factors factors_of(const entropy_call *call, int64_t i, int64_t target, double sum)
{
    const entropy_op *op = call->op;
    const double g = position_gradient(call, i);
    const double each = op->attrs.label_smoothing / (double)op->classes;
    const double own = (1 - op->attrs.label_smoothing) * weight_of(call, target);
    return (entropy_factors){
        .own = g * own,
        .smooth = (float)(g * each),
        .share = (float)(g * (own + each * call->weight_sum) / sum),
    };
}

/* The gradient of position i, whose exponentials are x[c * step]. */
static void position_backward(const entropy_call *call, int64_t i, const float *x, int64_t step,
                              double sum, float *dx)
{
    const entropy_op *op = call->op;
    const int64_t target = call->target[i];
    const entropy_factors f = factors_of(call, i, target, sum);
    for (int64_t c = 0; step != 1 && c < op->classes; c++)
        dx[c] = x[c * step];
    op->loops->softmax->cross_backward(f.share, f.smooth, call->weight, dx, op->classes);
    dx[target] = (float)((double)dx[target] - f.own);
}

static void block_exponentials(const entropy_call *call, int64_t first, int64_t rows,
                               entropy_tile *tile)
{
    const entropy_op *op = call->op;
    read_tile(call, first, rows, tile);
    for (int64_t r = 0; r < rows; r++)
        tile->shift[r] = call->lse[plane_at(op, &op->lse, first + r)];
    soften_tile(call, rows, tile);
}

static void backward_row(const entropy_call *call, int64_t i, const entropy_tile *tile,
                         int32_t worker)
{
    const entropy_op *op = call->op;
    unsigned char *to = call->dlogits + row_at(op, op->dlogits_step, i);
    float *dx = cpu_row_target(&op->dlogits, to, stage_of(call, worker, 1));
    if (call->target[i] == op->attrs.ignore_index) {
        memset(dx, 0, (size_t)op->classes * sizeof(float));
    } else if (op->lanes) {
        const int64_t r = i % BLOCK;
        position_backward(call, i, tile->x + r, BLOCK, (double)tile->sum[r], dx);
    } else {
        const float *x = read_logits(call, i, stage_of(call, worker, 0));
        const float lse = call->lse[plane_at(op, &op->lse, i)];
        const double sum = op->loops->softmax->exp(x, lse, dx, op->classes);
        position_backward(call, i, dx, 1, sum, dx);
    }
    cpu_row_write(&op->dlogits, to, op->classes, dx);
}

static void backward_blocks(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const entropy_call *call = arg;
    const entropy_op *op = call->op;
    entropy_tile tile;
    for (int64_t block = begin; block < end; block++) {
        const int64_t first = block * BLOCK, rows = cpu_min(op->count - first, BLOCK);
        if (op->lanes)
            block_exponentials(call, first, rows, &tile);
        for (int64_t r = 0; r < rows; r++)
            backward_row(call, first + r, &tile, worker);
    }
}

static axle_status backward_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const entropy_op *op = (const entropy_op *)base;
    entropy_call call = {
        .op = op,
        .dloss = cpu_in_data(args, 0),
        .logits = cpu_in_data(args, 1),
        .lse = cpu_in_data(args, 4),
        .dlogits = cpu_out_data(args, 0),
        .workspace = cpu_workspace(args),
    };
    const float *total = cpu_in_data(args, 5);
    const axle_status status = call_begin(&call, "cross_entropy_backward", cpu_in_data(args, 2),
                                          cpu_in_data(args, 3), error);
    if (status != AXLE_OK)
        return status;
    call.total = total ? (double)*total : 0;
    cpu_parallel(op->blocks, op->count * op->classes * 4, backward_blocks, &call);
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_cross_entropy = {
    .op = AXLE_OP_CROSS_ENTROPY,
    .query = forward_query,
    .prepare = forward_prepare,
    .run = forward_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_cross_entropy_backward = {
    .op = AXLE_OP_CROSS_ENTROPY_BACKWARD,
    .query = backward_query,
    .prepare = backward_prepare,
    .run = backward_run,
    .release = cpu_op_release,
};
