/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products as oneDNN primitives. Layouts are described, not copied, as long as one of the last two
 * strides is 1; batch dims that oneDNN cannot describe are looped over.
 */
#include "activation.h"
#include "matmul_shape.h"
#include "primitives.h"
#include "program.h"

#include <math.h>
#include <string.h>

/* How the bias reaches the result. */
enum {
    BIAS_NONE,
    BIAS_NATIVE, /* one row that every row of y gets */
    BIAS_FIRST   /* y starts from the bias, and the product is added to it */
};

/* A product on its way into a program. */
typedef struct builder {
    program *p;
    const axle_matmul_attrs *attrs;
    matmul_shape shape;
    int slot[MATMUL_OPERANDS]; /* what the primitive works on */
    int y;                     /* the result, where it is not slot[MATMUL_Y] */
} builder;

/* ------------------------------------------------------------------ support */

static int is_empty(const matmul_shape *shape)
{
    int64_t count = shape->m * shape->n * shape->k;
    for (uint32_t k = 0; k < shape->n_batch; k++)
        count *= shape->batch[k];
    return count == 0;
}

/* Alpha is undone for what y holds, so its reciprocal has to be a number. What is not taken here
 * the direct products take. */
static int is_supported(const axle_op_desc *desc)
{
    const axle_matmul_attrs *attrs = desc->attrs;
    if (!cpu_is_float(desc->out[0]->dtype) || !activation_is_known(attrs->activation) ||
        !isfinite(1.0f / (float)attrs->alpha))
        return 0;
    matmul_shape shape;
    matmul_shape_read(&shape, desc);
    return !is_empty(&shape);
}

/* ------------------------------------------------------------------ operands */

/* The view of a normalised operand: (batch..., rows, columns). */
static axle_view operand_view(const matmul_shape *shape, int operand)
{
    const matmul_operand *o = &shape->operand[operand];
    axle_view view = {.dtype = o->dtype, .rank = shape->n_batch + 2};
    for (uint32_t k = 0; k < shape->n_batch; k++) {
        view.dim[k] = shape->batch[k];
        view.stride[k] = o->batch[k];
    }
    view.dim[view.rank - 2] = matmul_rows(shape, operand);
    view.stride[view.rank - 2] = o->row;
    view.dim[view.rank - 1] = matmul_columns(shape, operand);
    view.stride[view.rank - 1] = o->column;
    return view;
}

/* Give an operand dense matrices of another type. An input stays stored by columns where it was,
 * and is held once where the batch repeats it. */
static void operand_make_dense(matmul_shape *shape, int operand, uint32_t dtype)
{
    matmul_operand *o = &shape->operand[operand];
    const int64_t rows = matmul_rows(shape, operand), columns = matmul_columns(shape, operand);
    const int by_columns = operand < MATMUL_BIAS && columns > 1 && o->row < o->column;
    o->dtype = dtype;
    o->row = by_columns ? 1 : columns;
    o->column = by_columns ? rows : 1;
    int64_t extent = rows * columns;
    for (uint32_t k = shape->n_batch; k-- > 0;) {
        if (o->batch[k] == 0)
            continue;
        o->batch[k] = extent;
        extent *= shape->batch[k];
    }
}

/* A copy need not repeat what the batch repeats. */
static axle_view without_repeats(axle_view view)
{
    for (uint32_t k = 0; k + 2 < view.rank; k++)
        if (view.stride[k] == 0)
            view.dim[k] = 1;
    return view;
}

static int needs_copy(const builder *b, int operand, uint32_t dtype)
{
    return b->shape.operand[operand].dtype != dtype || !matmul_is_plain(&b->shape, operand);
}

static void bring_input(builder *b, int operand, uint32_t dtype, int always)
{
    const axle_view given = operand_view(&b->shape, operand);
    const uint32_t index = b->shape.operand[operand].index;
    if (!always && !needs_copy(b, operand, dtype)) {
        b->slot[operand] = program_input(b->p, index, &given);
        return;
    }
    operand_make_dense(&b->shape, operand, dtype);
    const axle_view from = without_repeats(given);
    const axle_view to = without_repeats(operand_view(&b->shape, operand));
    const int source = program_input(b->p, index, &from);
    b->slot[operand] = program_temporary(b->p, &to);
    program_move(b->p, source, b->slot[operand]);
}

/* A bias that is added in a step of its own must not be rounded twice. */
static void bring_output(builder *b, uint32_t dtype, int bias_mode, int always)
{
    const axle_view given = operand_view(&b->shape, MATMUL_Y);
    const uint32_t wanted = bias_mode == BIAS_FIRST ? AXLE_DTYPE_F32 : dtype;
    b->y = program_output(b->p, 0, &given);
    b->slot[MATMUL_Y] = b->y;
    if (!always && given.dtype == wanted && matmul_is_plain(&b->shape, MATMUL_Y))
        return;
    operand_make_dense(&b->shape, MATMUL_Y, wanted);
    const axle_view dense = operand_view(&b->shape, MATMUL_Y);
    b->slot[MATMUL_Y] = program_temporary(b->p, &dense);
    if (b->attrs->accumulate)
        program_move(b->p, b->y, b->slot[MATMUL_Y]);
}

/* ------------------------------------------------------------------ bias */

static int bias_mode(const builder *b)
{
    const matmul_operand *bias = &b->shape.operand[MATMUL_BIAS];
    if (bias->dtype == 0)
        return BIAS_NONE;
    int one_row = bias->row == 0 && (bias->column == 1 || b->shape.n == 1);
    for (uint32_t k = 0; k < b->shape.n_batch; k++)
        one_row &= bias->batch[k] == 0;
    return one_row && b->attrs->alpha == 1.0 ? BIAS_NATIVE : BIAS_FIRST;
}

/* The bias row in the type of the other operands. */
static int bring_row(builder *b, uint32_t dtype)
{
    matmul_operand *bias = &b->shape.operand[MATMUL_BIAS];
    const axle_view given = {
        .dtype = bias->dtype, .rank = 1, .dim = {b->shape.n}, .stride = {bias->column}};
    const int from = program_input(b->p, bias->index, &given);
    if (given.dtype == dtype)
        return from;
    const axle_view row = {.dtype = dtype, .rank = 1, .dim = {b->shape.n}, .stride = {1}};
    const int to = program_temporary(b->p, &row);
    program_move(b->p, from, to);
    bias->dtype = dtype;
    return to;
}

static void bring_bias(builder *b, int mode, uint32_t dtype)
{
    b->slot[MATMUL_BIAS] = PROGRAM_NONE;
    if (mode == BIAS_NONE)
        return;
    if (mode == BIAS_NATIVE) {
        b->slot[MATMUL_BIAS] = bring_row(b, dtype);
        return;
    }
    const axle_view view = operand_view(&b->shape, MATMUL_BIAS);
    const int bias = program_input(b->p, b->shape.operand[MATMUL_BIAS].index, &view);
    const int y = b->slot[MATMUL_Y];
    if (!b->attrs->accumulate) {
        program_call(b->p, AXLE_OP_COPY, NULL, bias, PROGRAM_NONE, y);
        return;
    }
    int addend = bias;
    if (view.dtype != AXLE_DTYPE_F32) {
        axle_view dense = *program_view(b->p, y);
        addend = program_temporary(b->p, &dense);
        program_call(b->p, AXLE_OP_COPY, NULL, bias, PROGRAM_NONE, addend);
    }
    const axle_binary_attrs add = {
        .struct_size = sizeof(add), .kind = AXLE_BINARY_ADD, .alpha = 1.0};
    program_call(b->p, AXLE_OP_BINARY, &add, y, addend, y);
}

/* ------------------------------------------------------------------ the primitive */

/* The innermost `inner` batch dims of an operand and its matrices. */
static dnn_layout inner_layout(const builder *b, int operand, uint32_t inner)
{
    axle_view view = operand_view(&b->shape, operand);
    const uint32_t outer = b->shape.n_batch - inner;
    for (uint32_t k = outer; k < view.rank; k++) {
        view.dim[k - outer] = view.dim[k];
        view.stride[k - outer] = view.stride[k];
    }
    view.rank -= outer;
    for (uint32_t k = 0; k < inner; k++)
        if (view.stride[k] == 0)
            view.dim[k] = 1;
    if (operand == MATMUL_BIAS)
        view.dim[inner] = 1;
    return program_layout(&view);
}

static dnn_post_ops post_ops(const builder *b, int mode)
{
    dnn_post_ops post = {.count = 0};
    const float alpha = (float)b->attrs->alpha;
    if (b->attrs->accumulate || mode == BIAS_FIRST)
        post.op[post.count++] = (dnn_post_op){.kind = dnnl_sum, .alpha = 1.0f / alpha};
    if (alpha != 1.0f)
        post.op[post.count++] = (dnn_post_op){dnnl_eltwise, dnnl_eltwise_linear, alpha, 0.0f};
    activation_append(&post, b->attrs->activation);
    return post;
}

static dnn_plan *plan_of(const dnn_matmul_spec *spec)
{
    dnn_plan *plan;
    if (dnn_plan_matmul(spec, &plan) != dnnl_success)
        return NULL;
    if (!dnn_plan_is_slow(plan))
        return plan;
    dnn_plan_release(plan);
    return NULL;
}

/*
 * Large matrices B whose rows lie whole pages apart: read where they are, they take a page a row,
 * and a product can take twice its time, depending on where the system put the pages.
 */
static int wants_packing(const matmul_shape *shape)
{
    enum { LARGE = 256, PAGE = 4096 / sizeof(float) };
    const matmul_operand *weights = &shape->operand[MATMUL_B];
    return weights->dtype == AXLE_DTYPE_F32 && weights->column == 1 && weights->row % PAGE == 0 &&
           shape->m >= LARGE && shape->n >= LARGE && shape->k >= LARGE;
}

/* Instead of `plan` one of those that pack their operands, which is as fast, if there is one. */
static dnn_plan *prefer_packing(dnn_plan *plan, dnn_matmul_spec *spec)
{
    enum { MOST_IMPLS = 8 };
    static const char packs[] = "gemm:jit";
    for (spec->skip = 1; spec->skip < MOST_IMPLS; spec->skip++) {
        if (strncmp(dnn_plan_impl(plan), packs, sizeof(packs) - 1) == 0)
            return plan;
        dnn_plan *next = plan_of(spec);
        if (next && strncmp(dnn_plan_impl(next), packs, sizeof(packs) - 1) == 0) {
            dnn_plan_release(plan);
            return next;
        }
        if (next)
            dnn_plan_release(next);
    }
    return plan;
}

static dnn_plan *plan_inner(const builder *b, int mode, uint32_t inner)
{
    dnn_matmul_spec spec = {.src = inner_layout(b, MATMUL_A, inner),
                            .weights = inner_layout(b, MATMUL_B, inner),
                            .dst = inner_layout(b, MATMUL_Y, inner),
                            .post = post_ops(b, mode)};
    if (mode == BIAS_NATIVE)
        spec.bias = inner_layout(b, MATMUL_BIAS, inner);
    dnn_plan *plan = plan_of(&spec);
    return plan && wants_packing(&b->shape) ? prefer_packing(plan, &spec) : plan;
}

static program_loops outer_loops(const builder *b, uint32_t inner)
{
    static const int operands[DNN_OPERANDS] = {MATMUL_A, MATMUL_B, MATMUL_BIAS, MATMUL_Y};
    program_loops loops = {.count = (int)(b->shape.n_batch - inner)};
    for (int k = 0; k < loops.count; k++) {
        loops.dim[k] = b->shape.batch[k];
        for (int o = 0; o < DNN_OPERANDS; o++)
            loops.stride[o][k] = b->shape.operand[operands[o]].batch[k];
    }
    return loops;
}

/* The plan that takes as many batch dims at once as oneDNN has fast code for; *inner says how
 * many. */
static dnn_plan *plan_product(const builder *b, int mode, uint32_t *inner)
{
    for (uint32_t dims = b->shape.n_batch + 1; dims-- > 0;) {
        dnn_plan *plan = plan_inner(b, mode, dims);
        if (plan) {
            *inner = dims;
            return plan;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------ the program */

static void store_result(builder *b)
{
    const uint32_t kind = b->attrs->activation;
    const int y = b->slot[MATMUL_Y];
    if (!activation_is_fused(kind)) {
        const axle_unary_attrs attrs = {.struct_size = sizeof(attrs), .kind = kind};
        program_call(b->p, AXLE_OP_UNARY, &attrs, y, PROGRAM_NONE, y);
    }
    if (y != b->y)
        program_move(b->p, y, b->y);
}

static void build_product(builder *b, uint32_t dtype, int always_copy)
{
    const int mode = bias_mode(b);
    bring_input(b, MATMUL_A, dtype, always_copy);
    bring_input(b, MATMUL_B, dtype, always_copy);
    bring_output(b, dtype, mode, always_copy);
    bring_bias(b, mode, dtype);
    uint32_t inner = 0;
    dnn_plan *plan = program_failed(b->p) ? NULL : plan_product(b, mode, &inner);
    if (!plan) {
        program_fail(b->p, AXLE_ERR_UNSUPPORTED);
        return;
    }
    const program_loops loops = outer_loops(b, inner);
    const int slot[DNN_OPERANDS] = {b->slot[MATMUL_A], b->slot[MATMUL_B], b->slot[MATMUL_BIAS],
                                    b->slot[MATMUL_Y]};
    program_name(b->p, dnn_plan_impl(plan));
    program_primitive(b->p, plan, slot, &loops);
    store_result(b);
}

static program *build(axle_be_device *device, const axle_op_desc *desc, uint32_t dtype,
                      int always_copy)
{
    builder b = {.p = program_create(&cpu_matmul, device), .attrs = desc->attrs};
    if (!b.p)
        return NULL;
    matmul_shape_read(&b.shape, desc);
    build_product(&b, dtype, always_copy);
    return b.p;
}

/* First as the operands are, then after copies of all of them, which oneDNN always serves. */
static program *build_any(axle_be_device *device, const axle_op_desc *desc)
{
    const int native = desc->out[0]->dtype == AXLE_DTYPE_BF16 && dnn_has_bf16();
    program *p = build(device, desc, native ? AXLE_DTYPE_BF16 : AXLE_DTYPE_F32, 0);
    if (!p || !program_failed(p))
        return p;
    program_release((axle_be_op *)p);
    return build(device, desc, AXLE_DTYPE_F32, 1);
}

static axle_status query(const axle_op_desc *desc, axle_op_info *info)
{
    if (!is_supported(desc))
        return AXLE_OK;
    program *p = build_any(NULL, desc);
    return p ? program_answer(p, info) : AXLE_ERR_NOMEM;
}

static axle_status prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                           axle_error *error)
{
    program *p = build_any(device, desc);
    if (!p)
        return cpu_fail(error, AXLE_ERR_NOMEM, "onednn: no memory for a prepared product");
    return program_finish(p, out, error);
}

const cpu_kernel cpu_matmul = {.op = AXLE_OP_MATMUL,
                               .query = query,
                               .prepare = prepare,
                               .run = program_run,
                               .release = program_release,
                               .suits = is_supported};
