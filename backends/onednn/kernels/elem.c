/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operators over operands of any strides and element types. */
#include "elem.h"

#include <string.h>

/* Elements of a direct piece: large enough to make its overhead vanish, small enough to balance. */
enum { DIRECT_PIECE = 8192 };
/* Rows shorter than this are worked on several at a time. */
enum { SHORT_ROW = 256 };

static void swap_dims(elem_plan *plan, int32_t i, int32_t j)
{
    const int64_t dim = plan->dim[i];
    plan->dim[i] = plan->dim[j];
    plan->dim[j] = dim;
    for (uint32_t k = 0; k <= plan->n_in; k++) {
        int64_t *stride = k < plan->n_in ? plan->in[k].stride : plan->out.stride;
        const int64_t kept = stride[i];
        stride[i] = stride[j];
        stride[j] = kept;
    }
}

/* Outermost first by the output's stride, so that the output is written in the order of memory. */
static void sort_dims(elem_plan *plan)
{
    for (int32_t i = 1; i < plan->rank; i++)
        for (int32_t j = i; j > 0 && plan->out.stride[j - 1] < plan->out.stride[j]; j--)
            swap_dims(plan, j - 1, j);
}

static int can_merge(const elem_plan *plan, int32_t outer, int32_t inner)
{
    for (uint32_t k = 0; k <= plan->n_in; k++) {
        const int64_t *stride = k < plan->n_in ? plan->in[k].stride : plan->out.stride;
        if (stride[outer] != stride[inner] * plan->dim[inner])
            return 0;
    }
    return 1;
}

static void merge_dims(elem_plan *plan)
{
    int32_t last = 0;
    for (int32_t k = 1; k < plan->rank; k++) {
        if (can_merge(plan, last, k)) {
            const int64_t dim = plan->dim[last] * plan->dim[k];
            swap_dims(plan, last, k);
            plan->dim[last] = dim;
        } else {
            swap_dims(plan, ++last, k);
        }
    }
    plan->rank = plan->rank > 0 ? last + 1 : 0;
}

static void take_dims(elem_plan *plan, const axle_view *const *in, const axle_view *out)
{
    for (uint32_t d = 0; d < out->rank; d++) {
        if (out->dim[d] == 1)
            continue;
        plan->dim[plan->rank] = out->dim[d];
        plan->out.stride[plan->rank] = out->stride[d];
        for (uint32_t k = 0; k < plan->n_in; k++)
            plan->in[k].stride[plan->rank] = in[k] ? in[k]->stride[d] : 0;
        plan->rank++;
    }
}

static int is_domain_type(uint32_t dtype)
{
    return dtype == AXLE_DTYPE_F32 || dtype == AXLE_DTYPE_F64 || dtype == AXLE_DTYPE_I64;
}

static void take_type(elem_operand *operand, const struct convert_loops *convert, uint32_t dtype,
                      int native)
{
    operand->size = cpu_dtype_size(dtype);
    operand->native = native;
    operand->width = native ? operand->size : cpu_is_f32_like(dtype) ? 4 : 8;
    operand->load = native ? convert->load_raw[cpu_dtype_log2(dtype)] : convert->load[dtype];
    operand->store = native ? convert->store_raw[cpu_dtype_log2(dtype)] : convert->store[dtype];
}

static void take_types(elem_plan *plan, const cpu_loops *loops, const axle_view *const *in,
                       const axle_view *out, int mode)
{
    for (uint32_t k = 0; k < plan->n_in; k++)
        if (in[k])
            take_type(&plan->in[k], loops->convert, in[k]->dtype,
                      mode == ELEM_RAW || is_domain_type(in[k]->dtype));
    take_type(&plan->out, loops->convert, out->dtype,
              mode != ELEM_CONVERT || is_domain_type(out->dtype));
}

/* After merging, operands that are all dense leave one dim of unit stride, or none. */
static int is_direct(const elem_plan *plan)
{
    int direct = plan->out.native && (plan->rank == 0 || plan->out.stride[0] == 1);
    for (uint32_t k = 0; k < plan->n_in; k++)
        direct &= plan->in[k].size == 0 ||
                  (plan->in[k].native && (plan->rank == 0 || plan->in[k].stride[0] == 1));
    return direct && plan->rank <= 1;
}

static void cut(elem_plan *plan)
{
    const int32_t rank = plan->rank;
    plan->cols = rank > 0 ? plan->dim[rank - 1] : 1;
    plan->rows = rank > 1 ? plan->dim[rank - 2] : 1;
    int64_t outer = 1;
    for (int32_t k = 0; k < rank - 2; k++)
        outer *= plan->dim[k];
    if (plan->count == 0)
        return;
    if (plan->cols >= SHORT_ROW) {
        plan->block_rows = 1;
        plan->segment = DIRECT_PIECE;
        plan->pieces_per_outer = plan->rows * cpu_ceil_div(plan->cols, plan->segment);
    } else {
        plan->segment = plan->cols;
        plan->block_rows = ELEM_BLOCK / plan->cols;
        plan->pieces_per_outer = cpu_ceil_div(plan->rows, plan->block_rows);
    }
    plan->items = outer * plan->pieces_per_outer;
}

void elem_plan_init(elem_plan *plan, const cpu_loops *loops, elem_loop loop, uint32_t n_in,
                    const axle_view *const *in, const axle_view *out, int mode)
{
    memset(plan, 0, sizeof(*plan));
    plan->loop = loop;
    plan->n_in = n_in;
    plan->count = cpu_count(out);
    plan->weight = 1;
    take_types(plan, loops, in, out, mode);
    take_dims(plan, in, out);
    sort_dims(plan);
    merge_dims(plan);
    plan->direct = is_direct(plan);
    cut(plan);
}

typedef struct elem_call {
    const elem_plan *plan;
    const void *const *in;
    void *out;
} elem_call;

/* Buffers of one worker, and which block of the operand each holds. */
typedef struct elem_stage {
    const unsigned char *held[ELEM_INPUTS];
    int64_t held_count[ELEM_INPUTS];
    _Alignas(CPU_LINE) unsigned char data[ELEM_INPUTS + 1][ELEM_BLOCK * 8];
} elem_stage;

static int is_block_dense(const elem_operand *operand, int32_t rank, int64_t rows, int64_t cols)
{
    return operand->native && (cols == 1 || operand->stride[rank - 1] == 1) &&
           (rows == 1 || operand->stride[rank - 2] == cols);
}

/* The block of operand k that begins at `from`, dense and of the loop's type. */
static const void *bring(const elem_plan *plan, uint32_t k, elem_stage *stage,
                         const unsigned char *from, int64_t rows, int64_t cols)
{
    const elem_operand *operand = &plan->in[k];
    const int32_t rank = plan->rank;
    if (operand->size == 0 || is_block_dense(operand, rank, rows, cols))
        return from;
    unsigned char *to = stage->data[k];
    if (stage->held[k] == from && stage->held_count[k] >= rows * cols)
        return to;
    const int64_t col_stride = rank > 0 ? operand->stride[rank - 1] : 0;
    const int64_t row_step = rank > 1 ? operand->stride[rank - 2] * operand->size : 0;
    const int64_t loaded = row_step == 0 ? 1 : rows, row_size = cols * operand->width;
    for (int64_t r = 0; r < loaded; r++)
        operand->load(from + r * row_step, col_stride, to + r * row_size, cols);
    for (int64_t r = loaded; r < rows; r *= 2)
        memcpy(to + r * row_size, to, (size_t)(cpu_min(r, rows - r) * row_size));
    stage->held[k] = from;
    stage->held_count[k] = rows * cols;
    return to;
}

static void run_block(const elem_plan *plan, elem_stage *stage, const unsigned char *const *in,
                      unsigned char *out, int64_t rows, int64_t cols)
{
    const void *operands[ELEM_INPUTS];
    for (uint32_t k = 0; k < plan->n_in; k++)
        operands[k] = bring(plan, k, stage, in[k], rows, cols);
    const elem_operand *target = &plan->out;
    const int32_t rank = plan->rank;
    if (is_block_dense(target, rank, rows, cols)) {
        plan->loop(operands, out, rows * cols, &plan->params);
        return;
    }
    unsigned char *from = stage->data[ELEM_INPUTS];
    plan->loop(operands, from, rows * cols, &plan->params);
    const int64_t col_stride = rank > 0 ? target->stride[rank - 1] : 0;
    const int64_t row_step = rank > 1 ? target->stride[rank - 2] * target->size : 0;
    for (int64_t r = 0; r < rows; r++)
        target->store(from + r * cols * target->width, out + r * row_step, col_stride, cols);
}

/* Move every operand by `index` along dim d. */
static void advance(const elem_plan *plan, const unsigned char **in, unsigned char **out, int32_t d,
                    int64_t index)
{
    for (uint32_t k = 0; k < plan->n_in; k++)
        in[k] += index * plan->in[k].stride[d] * plan->in[k].size;
    *out += index * plan->out.stride[d] * plan->out.size;
}

/* Columns [start, start + count) of one row, block by block. */
static void run_segment(const elem_plan *plan, elem_stage *stage, const unsigned char **in,
                        unsigned char *out, int64_t start, int64_t count)
{
    const int32_t inner = plan->rank - 1;
    if (inner >= 0)
        advance(plan, in, &out, inner, start);
    for (int64_t done = 0; done < count; done += ELEM_BLOCK) {
        run_block(plan, stage, in, out, 1, cpu_min(count - done, ELEM_BLOCK));
        if (inner >= 0)
            advance(plan, in, &out, inner, ELEM_BLOCK);
    }
}

static void run_item(const elem_call *call, elem_stage *stage, int64_t item)
{
    const elem_plan *plan = call->plan;
    const unsigned char *in[ELEM_INPUTS];
    unsigned char *out = call->out;
    for (uint32_t k = 0; k < plan->n_in; k++)
        in[k] = call->in[k];
    int64_t outer = item / plan->pieces_per_outer;
    const int64_t piece = item % plan->pieces_per_outer;
    for (int32_t d = plan->rank - 3; d >= 0; d--) {
        advance(plan, in, &out, d, outer % plan->dim[d]);
        outer /= plan->dim[d];
    }
    if (plan->block_rows > 1) {
        const int64_t row = piece * plan->block_rows;
        if (plan->rank > 1)
            advance(plan, in, &out, plan->rank - 2, row);
        run_block(plan, stage, in, out, cpu_min(plan->block_rows, plan->rows - row), plan->cols);
        return;
    }
    const int64_t segments = cpu_ceil_div(plan->cols, plan->segment);
    const int64_t start = piece % segments * plan->segment;
    if (plan->rank > 1)
        advance(plan, in, &out, plan->rank - 2, piece / segments);
    run_segment(plan, stage, in, out, start, cpu_min(plan->segment, plan->cols - start));
}

static void run_items(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    elem_stage stage;
    (void)worker;
    memset(stage.held, 0, sizeof(stage.held));
    for (int64_t item = begin; item < end; item++)
        run_item(arg, &stage, item);
}

static void run_direct(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const elem_call *call = arg;
    const elem_plan *plan = call->plan;
    const int64_t start = begin * DIRECT_PIECE;
    const void *in[ELEM_INPUTS];
    (void)worker;
    for (uint32_t k = 0; k < plan->n_in; k++)
        in[k] = (const unsigned char *)call->in[k] + start * plan->in[k].size;
    plan->loop(in, (unsigned char *)call->out + start * plan->out.size,
               cpu_min(end * DIRECT_PIECE, plan->count) - start, &plan->params);
}

void elem_plan_run(const elem_plan *plan, const void *const *in, void *out)
{
    if (plan->count == 0)
        return;
    if (plan->direct && plan->count <= DIRECT_PIECE) {
        plan->loop(in, out, plan->count, &plan->params);
        return;
    }
    elem_call call = {.plan = plan, .in = in, .out = out};
    const int64_t work = plan->count * plan->weight;
    if (plan->direct)
        cpu_parallel(cpu_ceil_div(plan->count, DIRECT_PIECE), work, run_direct, &call);
    else
        cpu_parallel(plan->items, work, run_items, &call);
}

axle_status elem_op_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const elem_op *op = (const elem_op *)base;
    const void *in[ELEM_INPUTS];
    (void)error;
    for (uint32_t k = 0; k < op->plan.n_in; k++)
        in[k] = cpu_in_data(args, k);
    elem_plan_run(&op->plan, in, cpu_out_data(args, 0));
    return AXLE_OK;
}
