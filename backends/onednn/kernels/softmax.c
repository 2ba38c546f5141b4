/* SPDX-License-Identifier: Apache-2.0 */
/* SOFTMAX and its backward pass, a row at a time. */
#include "rows.h"

#include <math.h>
#include <string.h>

typedef struct softmax_op {
    axle_be_op base;
    const cpu_loops *loops;
    axle_softmax_attrs attrs;
    row_operand x, mask, y;
    int boolean; /* what the mask is */
    row_walk walk;
    int64_t n;
    size_t stage_size; /* bytes of one row of f32 */
} softmax_op;

/* A worker's share of the workspace: rows of x, mask and y. */
enum { STAGES = 3 };

static size_t stage_size(int64_t n)
{
    return cpu_round_up((size_t)n * sizeof(float), CPU_LINE);
}

static uint64_t workspace_size(const axle_op_desc *desc)
{
    const axle_softmax_attrs *attrs = desc->attrs;
    const size_t row = stage_size(desc->out[0]->dim[attrs->axis]);
    return cpu_workspace_size(STAGES * row * (size_t)cpu_workers());
}

static int axis_fits(const axle_op_desc *desc)
{
    const axle_softmax_attrs *attrs = desc->attrs;
    const uint32_t rank = desc->out[0]->rank;
    return attrs->axis < rank && (!attrs->causal || (attrs->axis == rank - 1 && rank > 1));
}

static axle_status softmax_query(const axle_op_desc *desc, axle_op_info *info)
{
    const uint32_t dtype = desc->in[0]->dtype;
    const axle_view *mask = cpu_in(desc, 1);
    if (!cpu_is_f32_like(dtype) || desc->out[0]->dtype != dtype || !axis_fits(desc))
        return AXLE_OK;
    if (mask && mask->dtype != AXLE_DTYPE_BOOL && mask->dtype != dtype)
        return AXLE_OK;
    return cpu_op_support(info, "softmax", workspace_size(desc));
}

static axle_status create(axle_be_device *device, const cpu_kernel *kernel,
                          const axle_op_desc *desc, const axle_view *const views[ROW_OPERANDS],
                          axle_be_op **out, axle_error *error)
{
    softmax_op *op = cpu_op_create(device, kernel, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    memcpy(&op->attrs, desc->attrs, sizeof(op->attrs));
    const uint32_t axis = op->attrs.axis;
    op->loops = cpu_loops_choose(device->host);
    op->x = cpu_row_operand(op->loops, views[0], axis);
    op->mask = cpu_row_operand(op->loops, views[1], axis);
    op->y = cpu_row_operand(op->loops, views[2], axis);
    cpu_row_walk_init(&op->walk, axis, views);
    op->n = views[0]->dim[axis];
    op->stage_size = stage_size(op->n);
    if (views[1] && views[1]->dtype == AXLE_DTYPE_BOOL) {
        op->boolean = 1;
        op->mask.direct = op->mask.stride == 1;
        op->mask.load = op->loops->convert->load_raw[0];
    }
    *out = &op->base;
    return AXLE_OK;
}

static axle_status softmax_prepare(axle_be_device *device, const axle_op_desc *desc,
                                   axle_be_op **out, axle_error *error)
{
    const axle_view *views[ROW_OPERANDS] = {desc->in[0], cpu_in(desc, 1), desc->out[0]};
    return create(device, &cpu_kernel_softmax, desc, views, out, error);
}

typedef struct softmax_call {
    const softmax_op *op;
    const unsigned char *x, *mask;
    unsigned char *y, *workspace;
} softmax_call;

typedef struct softmax_masks {
    const float *add;
    const uint8_t *keep;
    int64_t limit;
} softmax_masks;

/* A row without a proper sum: what is kept is NaN (all of it -inf, or a NaN among it). */
static void improper_row(const softmax_masks *masks, float removed, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const int kept = i < masks->limit && (!masks->keep || masks->keep[i]) &&
                         (!masks->add || masks->add[i] != -INFINITY);
        y[i] = kept ? NAN : removed;
    }
}

/* x and y may be the same row. */
static void softmax_row(const softmax_op *op, const float *x, const softmax_masks *masks, float *y)
{
    const struct softmax_loops *loops = op->loops->softmax;
    const int64_t n = op->n;
    const float *v = x;
    if (masks->add || masks->keep || masks->limit < n || op->attrs.scale != 1.0) {
        loops->prepare(x, masks->add, masks->keep, (float)op->attrs.scale, masks->limit, y, n);
        v = y;
    }
    const float max = loops->max(v, n);
    const float removed = op->attrs.log ? -INFINITY : 0.0f;
    if (op->attrs.log) {
        const double sum = loops->sum_exp(v, max, n);
        if (max == -INFINITY || sum != sum)
            improper_row(masks, removed, y, n);
        else
            loops->log(v, max, (float)log(sum), y, n);
    } else {
        const double sum = loops->exp(v, max, y, n);
        if (max == -INFINITY || sum != sum)
            improper_row(masks, removed, y, n);
        else
            loops->scale(y, (float)(1.0 / sum), y, n);
    }
}

static float *stage_of(const softmax_call *call, int32_t worker, int which)
{
    return (float *)(call->workspace + (size_t)(worker * STAGES + which) * call->op->stage_size);
}

static void softmax_rows(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const softmax_call *call = arg;
    const softmax_op *op = call->op;
    for (int64_t row = begin; row < end; row++) {
        int64_t offset[ROW_OPERANDS];
        const int64_t index = cpu_row_locate(&op->walk, row, offset);
        softmax_masks masks = {.limit = op->attrs.causal ? cpu_min(index + 1, op->n) : op->n};
        if (call->mask) {
            const void *mask =
                cpu_row_read(&op->mask, call->mask + offset[1], op->n, stage_of(call, worker, 1));
            masks.keep = op->boolean ? mask : NULL;
            masks.add = op->boolean ? NULL : mask;
        }
        const float *x =
            cpu_row_read(&op->x, call->x + offset[0], op->n, stage_of(call, worker, 0));
        float *y = cpu_row_target(&op->y, call->y + offset[2], stage_of(call, worker, 2));
        softmax_row(op, x, &masks, y);
        cpu_row_write(&op->y, call->y + offset[2], op->n, y);
    }
}

static axle_status softmax_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const softmax_op *op = (const softmax_op *)base;
    softmax_call call = {
        .op = op,
        .x = cpu_in_data(args, 0),
        .mask = cpu_in_data(args, 1),
        .y = cpu_out_data(args, 0),
        .workspace = cpu_workspace(args),
    };
    (void)error;
    if (op->n > 0)
        cpu_parallel(op->walk.rows, op->walk.rows * op->n * 4, softmax_rows, &call);
    return AXLE_OK;
}

static axle_status backward_query(const axle_op_desc *desc, axle_op_info *info)
{
    const uint32_t dtype = desc->out[0]->dtype;
    if (!cpu_is_f32_like(dtype) || desc->in[0]->dtype != dtype || desc->in[1]->dtype != dtype ||
        !axis_fits(desc))
        return AXLE_OK;
    return cpu_op_support(info, "softmax_backward", workspace_size(desc));
}

/* The operands x, mask and y of the struct are dy, y and dx. */
static axle_status backward_prepare(axle_be_device *device, const axle_op_desc *desc,
                                    axle_be_op **out, axle_error *error)
{
    const axle_view *views[ROW_OPERANDS] = {desc->in[0], desc->in[1], desc->out[0]};
    return create(device, &cpu_kernel_softmax_backward, desc, views, out, error);
}

static void backward_rows(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const softmax_call *call = arg;
    const softmax_op *op = call->op;
    const struct softmax_loops *loops = op->loops->softmax;
    const float scale = (float)op->attrs.scale;
    for (int64_t row = begin; row < end; row++) {
        int64_t offset[ROW_OPERANDS];
        cpu_row_locate(&op->walk, row, offset);
        const float *dy =
            cpu_row_read(&op->x, call->x + offset[0], op->n, stage_of(call, worker, 0));
        const float *y =
            cpu_row_read(&op->mask, call->mask + offset[1], op->n, stage_of(call, worker, 1));
        float *dx = cpu_row_target(&op->y, call->y + offset[2], stage_of(call, worker, 2));
        if (op->attrs.log)
            loops->log_backward(dy, y, (float)loops->sum_kept(dy, y, op->n), scale, dx, op->n);
        else
            loops->backward(dy, y, (float)loops->dot(dy, y, op->n), scale, dx, op->n);
        cpu_row_write(&op->y, call->y + offset[2], op->n, dx);
    }
}

static axle_status backward_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const softmax_op *op = (const softmax_op *)base;
    softmax_call call = {
        .op = op,
        .x = cpu_in_data(args, 0),
        .mask = cpu_in_data(args, 1),
        .y = cpu_out_data(args, 0),
        .workspace = cpu_workspace(args),
    };
    (void)error;
    if (op->n > 0)
        cpu_parallel(op->walk.rows, op->walk.rows * op->n * 2, backward_rows, &call);
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_softmax = {
    .op = AXLE_OP_SOFTMAX,
    .query = softmax_query,
    .prepare = softmax_prepare,
    .run = softmax_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_softmax_backward = {
    .op = AXLE_OP_SOFTMAX_BACKWARD,
    .query = backward_query,
    .prepare = backward_prepare,
    .run = backward_run,
    .release = cpu_op_release,
};
