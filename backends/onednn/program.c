/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SLOTS = 12, MAX_STEPS = 10, LINE = 64 };

enum { FROM_INPUT, FROM_OUTPUT, FROM_WORKSPACE };

typedef struct slot {
    axle_view view;
    int source;
    uint32_t index;  /* of the input or output */
    uint64_t offset; /* in the workspace */
} slot;

/* Either a primitive or an operator of the OpenMP kernels. */
typedef struct step {
    dnn_plan *plan;
    axle_be_op *op;
    int operand[DNN_OPERANDS];
    program_loops loops;
} step;

struct program {
    axle_be_op base;
    axle_status status;
    int n_slots, n_steps;
    uint64_t workspace; /* bytes of all temporaries */
    uint64_t scratch;   /* bytes that the neediest step takes behind them */
    char impl[64];
    slot slots[MAX_SLOTS];
    step steps[MAX_STEPS];
};

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static uint64_t dtype_size(uint32_t dtype)
{
    return dtype == AXLE_DTYPE_F32 ? 4 : 2;
}

/* ------------------------------------------------------------------ life */

program *program_create(const cpu_kernel *kernel, axle_be_device *device)
{
    program *p = calloc(1, sizeof(*p));
    if (p)
        *p = (program){.base = {.kernel = kernel, .device = device}, .impl = "openmp"};
    return p;
}

void program_release(axle_be_op *op)
{
    program *p = (program *)op;
    if (!p)
        return;
    for (int k = 0; k < p->n_steps; k++) {
        dnn_plan_release(p->steps[k].plan);
        if (p->steps[k].op)
            p->steps[k].op->kernel->release(p->steps[k].op);
    }
    free(p);
}

void program_fail(program *p, axle_status status)
{
    if (p->status == AXLE_OK)
        p->status = status;
}

int program_failed(const program *p)
{
    return p->status != AXLE_OK;
}

void program_name(program *p, const char *impl)
{
    snprintf(p->impl, sizeof(p->impl), "dnnl:%s", impl);
}

/* What the core lends need not begin on a cache line, so a line more is asked for. */
axle_status program_answer(program *p, axle_op_info *info)
{
    const axle_status status = p->status;
    if (status == AXLE_OK) {
        const uint64_t bytes = p->workspace + p->scratch;
        info->support = AXLE_SUPPORT_YES;
        info->workspace_size = bytes > 0 ? bytes + LINE : 0;
        memcpy(info->impl, p->impl, sizeof(info->impl));
    }
    program_release(&p->base);
    return status;
}

axle_status program_finish(program *p, axle_be_op **out, axle_error *error)
{
    const axle_status status = p->status;
    if (status == AXLE_OK) {
        *out = &p->base;
        return AXLE_OK;
    }
    program_release(&p->base);
    return cpu_fail(error, status, "onednn: no primitive could be made for these operands");
}

/* ------------------------------------------------------------------ slots */

static int slot_add(program *p, int source, uint32_t index, const axle_view *view)
{
    if (program_failed(p) || p->n_slots == MAX_SLOTS) {
        program_fail(p, AXLE_ERR_INTERNAL);
        return PROGRAM_NONE;
    }
    p->slots[p->n_slots] = (slot){.source = source, .index = index};
    if (view) {
        p->slots[p->n_slots].view = *view;
        p->slots[p->n_slots].view.offset = 0;
    }
    return p->n_slots++;
}

int program_input(program *p, uint32_t index, const axle_view *view)
{
    return slot_add(p, FROM_INPUT, index, view);
}

int program_output(program *p, uint32_t index, const axle_view *view)
{
    return slot_add(p, FROM_OUTPUT, index, view);
}

static int temporary_add(program *p, const axle_view *view, uint64_t bytes)
{
    const int added = slot_add(p, FROM_WORKSPACE, 0, view);
    if (added != PROGRAM_NONE) {
        p->slots[added].offset = p->workspace;
        p->workspace += round_up(bytes);
    }
    return added;
}

/* A temporary spans its last element; views of temporaries leave no holes worth mentioning. */
int program_temporary(program *p, const axle_view *view)
{
    uint64_t last = 0;
    for (uint32_t k = 0; k < view->rank; k++)
        last += view->dim[k] > 0 ? (uint64_t)((view->dim[k] - 1) * view->stride[k]) : 0;
    return temporary_add(p, view, (last + 1) * dtype_size(view->dtype));
}

int program_bytes(program *p, uint64_t bytes)
{
    return temporary_add(p, NULL, bytes);
}

int program_alias(program *p, int slot, const axle_view *view)
{
    if (program_failed(p))
        return PROGRAM_NONE;
    const int added = slot_add(p, p->slots[slot].source, p->slots[slot].index, view);
    if (added != PROGRAM_NONE)
        p->slots[added].offset = p->slots[slot].offset;
    return added;
}

const axle_view *program_view(const program *p, int slot)
{
    return &p->slots[slot].view;
}

/* ------------------------------------------------------------------ steps */

static void need_scratch(program *p, uint64_t bytes)
{
    if (bytes > p->scratch)
        p->scratch = round_up(bytes);
}

static step *step_add(program *p)
{
    if (p->n_steps == MAX_STEPS) {
        program_fail(p, AXLE_ERR_INTERNAL);
        return NULL;
    }
    step *added = &p->steps[p->n_steps++];
    *added = (step){.operand = {PROGRAM_NONE, PROGRAM_NONE, PROGRAM_NONE, PROGRAM_NONE}};
    return added;
}

void program_call(program *p, uint32_t op, const void *attrs, int a, int b, int y)
{
    step *added = program_failed(p) ? NULL : step_add(p);
    if (!added)
        return;
    const axle_view *in[] = {a == PROGRAM_NONE ? NULL : program_view(p, a),
                             b == PROGRAM_NONE ? NULL : program_view(p, b)};
    const axle_view *out[] = {program_view(p, y)};
    const axle_op_desc desc = {.struct_size = sizeof(desc),
                               .op = op,
                               .n_in = b != PROGRAM_NONE   ? 2
                                       : a != PROGRAM_NONE ? 1
                                                           : 0,
                               .n_out = 1,
                               .in = in,
                               .out = out,
                               .attrs = attrs};
    axle_op_info info = {.struct_size = sizeof(info)};
    const cpu_kernel *kernel = cpu_kernel_find(cpu_openmp_kernels, &desc, &info);
    if (!kernel) {
        program_fail(p, AXLE_ERR_UNSUPPORTED);
        return;
    }
    need_scratch(p, info.workspace_size);
    memcpy(added->operand, (int[DNN_OPERANDS]){a, b, PROGRAM_NONE, y}, sizeof(added->operand));
    if (p->base.device)
        program_fail(p, kernel->prepare(p->base.device, &desc, &added->op, NULL));
}

void program_primitive(program *p, dnn_plan *plan, const int slot[DNN_OPERANDS],
                       const program_loops *loops)
{
    step *added = program_failed(p) ? NULL : step_add(p);
    if (!added) {
        dnn_plan_release(plan);
        return;
    }
    added->plan = plan;
    memcpy(added->operand, slot, sizeof(added->operand));
    if (loops)
        added->loops = *loops;
    need_scratch(p, dnn_plan_scratch(plan));
    if (p->base.device)
        program_fail(p, dnn_axle_status(dnn_plan_compile(plan)));
}

dnnl_data_type_t program_dnn_type(uint32_t dtype)
{
    return dtype == AXLE_DTYPE_F32    ? dnnl_f32
           : dtype == AXLE_DTYPE_BF16 ? dnnl_bf16
                                      : dnnl_data_type_undef;
}

/* Strides of dims with one element mean nothing to us, but oneDNN compares them. */
dnn_layout program_layout(const axle_view *view)
{
    dnn_layout layout = {.rank = (int)view->rank, .type = program_dnn_type(view->dtype)};
    int64_t extent = 1;
    for (int k = layout.rank; k-- > 0;) {
        layout.dim[k] = view->dim[k];
        layout.stride[k] = view->dim[k] == 1 ? extent : view->stride[k];
        if (layout.stride[k] * layout.dim[k] > extent)
            extent = layout.stride[k] * layout.dim[k];
    }
    return layout;
}

static int is_describable(const axle_view *view)
{
    if (program_dnn_type(view->dtype) == dnnl_data_type_undef || view->rank == 0)
        return 0;
    for (uint32_t k = 0; k < view->rank; k++)
        if (view->dim[k] != 1 && view->stride[k] == 0)
            return 0;
    return 1;
}

/* oneDNN's generated copies are the fastest at transposing. Conversions, and strides that it does
 * not know, go through the COPY operator. */
static dnn_plan *plan_move(const axle_view *from, const axle_view *to)
{
    if (from->dtype != to->dtype || !is_describable(from) || !is_describable(to))
        return NULL;
    const dnn_layout source = program_layout(from), target = program_layout(to);
    dnn_plan *plan;
    if (dnn_plan_reorder(&source, &target, &plan) != dnnl_success)
        return NULL;
    if (!dnn_plan_is_slow(plan))
        return plan;
    dnn_plan_release(plan);
    return NULL;
}

void program_move(program *p, int from, int to)
{
    if (program_failed(p))
        return;
    dnn_plan *plan = plan_move(program_view(p, from), program_view(p, to));
    if (!plan) {
        program_call(p, AXLE_OP_COPY, NULL, from, PROGRAM_NONE, to);
        return;
    }
    const int operand[DNN_OPERANDS] = {
        [DNN_SRC] = from, [DNN_WEIGHTS] = PROGRAM_NONE, [DNN_BIAS] = PROGRAM_NONE, [DNN_DST] = to};
    program_primitive(p, plan, operand, NULL);
}

static void append_reorder(program *p, dnnl_status_t status, dnn_plan *reorder, int from, int to)
{
    if (status != dnnl_success) {
        program_fail(p, dnn_axle_status(status));
        return;
    }
    const int operand[DNN_OPERANDS] = {
        [DNN_SRC] = from, [DNN_WEIGHTS] = PROGRAM_NONE, [DNN_BIAS] = PROGRAM_NONE, [DNN_DST] = to};
    program_primitive(p, reorder, operand, NULL);
}

void program_reorder_to(program *p, int from, const dnn_plan *plan, int operand, int to)
{
    if (program_failed(p))
        return;
    const dnn_layout layout = program_layout(program_view(p, from));
    dnn_plan *reorder = NULL;
    const dnnl_status_t status = dnn_plan_reorder_to(&layout, plan, operand, &reorder);
    append_reorder(p, status, reorder, from, to);
}

void program_reorder_from(program *p, const dnn_plan *plan, int operand, int from, int to)
{
    if (program_failed(p))
        return;
    const dnn_layout layout = program_layout(program_view(p, to));
    dnn_plan *reorder = NULL;
    const dnnl_status_t status = dnn_plan_reorder_from(plan, operand, &layout, &reorder);
    append_reorder(p, status, reorder, from, to);
}

/* ------------------------------------------------------------------ runs */

/* What a run needs to know: where each slot lies, and where the scratch memory does. */
typedef struct frame {
    unsigned char *data[MAX_SLOTS];
    unsigned char *scratch;
    uint64_t scratch_size;
} frame;

static axle_status frame_init(frame *f, const program *p, const axle_op_args *args,
                              axle_error *error)
{
    unsigned char *work = NULL;
    if (p->workspace + p->scratch > 0) {
        if (!args->workspace)
            return cpu_fail(error, AXLE_ERR_INVALID, "onednn: the workspace is missing");
        work = args->workspace->data + args->workspace_offset;
        work += (LINE - (uintptr_t)work % LINE) % LINE;
        f->scratch = work + p->workspace;
    }
    f->scratch_size = p->scratch;
    for (int k = 0; k < p->n_slots; k++) {
        const slot *s = &p->slots[k];
        f->data[k] = s->source == FROM_WORKSPACE ? work + s->offset
                     : s->source == FROM_INPUT   ? cpu_data(args->in[s->index])
                                                 : cpu_data(args->out[s->index]);
    }
    return AXLE_OK;
}

static axle_status run_operator(const program *p, const step *s, const frame *f, axle_error *error)
{
    axle_be_buffer buffer[DNN_OPERANDS], scratch = {.data = f->scratch, .size = f->scratch_size};
    axle_view view[DNN_OPERANDS];
    const axle_view *operand[DNN_OPERANDS] = {NULL};
    for (int k = 0; k < DNN_OPERANDS; k++) {
        if (s->operand[k] == PROGRAM_NONE)
            continue;
        buffer[k] = (axle_be_buffer){.data = f->data[s->operand[k]], .size = UINT64_MAX};
        view[k] = p->slots[s->operand[k]].view;
        view[k].buffer = &buffer[k];
        operand[k] = &view[k];
    }
    const axle_op_args args = {.struct_size = sizeof(args),
                               .n_in = operand[1]   ? 2
                                       : operand[0] ? 1
                                                    : 0,
                               .n_out = 1,
                               .in = operand,
                               .out = &operand[DNN_DST],
                               .workspace = f->scratch ? &scratch : NULL};
    return s->op->kernel->run(s->op, &args, error);
}

static axle_status primitive_failed(dnnl_status_t status, axle_error *error)
{
    if (error)
        error->native_code = status;
    return cpu_fail(error, dnn_axle_status(status), "onednn: a primitive failed with status %d",
                    (int)status);
}

static axle_status run_once(const step *s, void *const *data, void *scratch, axle_error *error)
{
    const dnnl_status_t status = dnn_run(s->plan, data, scratch);
    return status == dnnl_success ? AXLE_OK : primitive_failed(status, error);
}

/* Repeat a primitive over the loops from `level` inwards; data is where the operands are now. */
static axle_status run_loops(const program *p, const step *s, int level, void *const *data,
                             void *scratch, axle_error *error)
{
    if (level == s->loops.count)
        return run_once(s, data, scratch, error);
    unsigned char *at[DNN_OPERANDS];
    memcpy(at, data, sizeof(at));
    for (int64_t i = 0; i < s->loops.dim[level]; i++) {
        const axle_status status = run_loops(p, s, level + 1, (void *const *)at, scratch, error);
        if (status != AXLE_OK)
            return status;
        for (int k = 0; k < DNN_OPERANDS; k++)
            if (at[k])
                at[k] += (uint64_t)s->loops.stride[k][level] *
                         dtype_size(p->slots[s->operand[k]].view.dtype);
    }
    return AXLE_OK;
}

static axle_status run_primitive(const program *p, const step *s, const frame *f, axle_error *error)
{
    void *data[DNN_OPERANDS];
    for (int k = 0; k < DNN_OPERANDS; k++)
        data[k] = s->operand[k] == PROGRAM_NONE ? NULL : f->data[s->operand[k]];
    return run_loops(p, s, 0, data, f->scratch, error);
}

axle_status program_run(axle_be_op *op, const axle_op_args *args, axle_error *error)
{
    const program *p = (const program *)op;
    frame f = {.scratch = NULL};
    axle_status status = frame_init(&f, p, args, error);
    for (int k = 0; k < p->n_steps && status == AXLE_OK; k++) {
        const step *s = &p->steps[k];
        status = s->plan ? run_primitive(p, s, &f, error) : run_operator(p, s, &f, error);
    }
    return status;
}
