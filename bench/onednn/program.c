/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCKS = 160, ALIGNMENT = 64 };

typedef struct step {
    dnnl_primitive_t primitive; /* NULL: call fn */
    int count;
    dnnl_exec_arg_t arg[PROGRAM_MAX_ARGS];
    program_fn fn;
    void *user;
} step;

struct program {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_status_t status;
    step steps[PROGRAM_MAX_STEPS];
    int step_count;
    dnnl_memory_t memory[PROGRAM_MAX_MEMORIES];
    int memory_count;
    dnnl_primitive_desc_t desc[PROGRAM_MAX_STEPS];
    int desc_count;
    dnnl_memory_desc_t layout[PROGRAM_MAX_MEMORIES];
    int layout_count;
    void *block[MAX_BLOCKS];
    int block_count;
};

/* Whether building goes on after that status. */
static int holds(program *p, dnnl_status_t status)
{
    if (p->status == dnnl_success)
        p->status = status;
    return p->status == dnnl_success;
}

static void *allocate(program *p, size_t size)
{
    size_t rounded = (size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    void *block = p->block_count < MAX_BLOCKS ? aligned_alloc(ALIGNMENT, rounded) : NULL;
    if (!block) {
        holds(p, dnnl_out_of_memory);
        return NULL;
    }
    memset(block, 0, rounded);
    p->block[p->block_count++] = block;
    return block;
}

float *program_floats(program *p, size_t count)
{
    return allocate(p, count * sizeof(float));
}

program *program_create(void)
{
    program *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    if (holds(p, dnnl_engine_create(&p->engine, dnnl_cpu, 0)))
        holds(p, dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags));
    return p;
}

void program_release(program *p)
{
    if (!p)
        return;
    for (int k = 0; k < p->step_count; k++)
        if (p->steps[k].primitive)
            dnnl_primitive_destroy(p->steps[k].primitive);
    for (int k = 0; k < p->memory_count; k++)
        dnnl_memory_destroy(p->memory[k]);
    for (int k = 0; k < p->desc_count; k++)
        dnnl_primitive_desc_destroy(p->desc[k]);
#if DNNL_VERSION_MAJOR >= 3
    for (int k = 0; k < p->layout_count; k++)
        dnnl_memory_desc_destroy(p->layout[k]);
#endif
    for (int k = 0; k < p->block_count; k++)
        free(p->block[k]);
    dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
    free(p);
}

dnnl_status_t program_status(const program *p)
{
    return p->status;
}

dnnl_status_t program_run(program *p)
{
    for (int k = 0; k < p->step_count; k++) {
        const step *step = &p->steps[k];
        if (!step->primitive)
            step->fn(step->user);
        else if (!holds(p,
                        dnnl_primitive_execute(step->primitive, p->stream, step->count, step->arg)))
            return p->status;
    }
    return dnnl_stream_wait(p->stream);
}

/* ------------------------------------------------------------------ where the versions differ */

#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t layout_init(dnnl_memory_desc_t *out, int rank, const dnnl_dim_t *dims,
                                 dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_create_with_tag(out, rank, dims, dnnl_f32, tag);
}

static program_desc layout_view(const dnnl_memory_desc_t *layout)
{
    return *layout;
}

static dnnl_status_t append_relu(dnnl_post_ops_t ops)
{
    return dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0.0f, 0.0f);
}

static dnnl_status_t matmul_desc(program *p, const program_desc *d, dnnl_primitive_attr_t attr,
                                 dnnl_primitive_desc_t *out)
{
    return dnnl_matmul_primitive_desc_create(out, p->engine, d[0], d[1], d[2], d[3], attr);
}

/* src, weights, bias, dst. */
static dnnl_status_t conv_desc(program *p, dnnl_prop_kind_t kind, const program_desc *d,
                               const dnnl_dim_t *stride, const dnnl_dim_t *padding,
                               dnnl_primitive_attr_t attr, dnnl_primitive_desc_t hint,
                               dnnl_primitive_desc_t *out)
{
    const dnnl_dims_t dense = {0};
    if (kind == dnnl_backward_data)
        return dnnl_convolution_backward_data_primitive_desc_create(
            out, p->engine, dnnl_convolution_direct, d[0], d[1], d[3], stride, dense, padding,
            padding, hint, attr);
    if (kind == dnnl_backward_weights)
        return dnnl_convolution_backward_weights_primitive_desc_create(
            out, p->engine, dnnl_convolution_direct, d[0], d[1], d[2], d[3], stride, dense, padding,
            padding, hint, attr);
    return dnnl_convolution_forward_primitive_desc_create(
        out, p->engine, kind, dnnl_convolution_direct, d[0], d[1], d[2], d[3], stride, dense,
        padding, padding, attr);
}

static dnnl_status_t pool_desc(program *p, program_desc src, program_desc dst,
                               const dnnl_dim_t *kernel, const dnnl_dim_t *padding,
                               dnnl_primitive_desc_t hint, dnnl_primitive_desc_t *out)
{
    const dnnl_dims_t dense = {0};
    if (hint)
        return dnnl_pooling_backward_primitive_desc_create(out, p->engine, dnnl_pooling_max, src,
                                                           dst, kernel, kernel, dense, padding,
                                                           padding, hint, NULL);
    return dnnl_pooling_forward_primitive_desc_create(out, p->engine, dnnl_forward_training,
                                                      dnnl_pooling_max, src, dst, kernel, kernel,
                                                      dense, padding, padding, NULL);
}

static dnnl_status_t relu_desc(program *p, program_desc data, dnnl_primitive_desc_t hint,
                               dnnl_primitive_desc_t *out)
{
    const dnnl_alg_kind_t relu = dnnl_eltwise_relu_use_dst_for_bwd;
    if (hint)
        return dnnl_eltwise_backward_primitive_desc_create(out, p->engine, relu, data, data, data,
                                                           0.0f, 0.0f, hint, NULL);
    return dnnl_eltwise_forward_primitive_desc_create(out, p->engine, dnnl_forward_training, relu,
                                                      data, data, 0.0f, 0.0f, NULL);
}

#else

static dnnl_status_t layout_init(dnnl_memory_desc_t *out, int rank, const dnnl_dim_t *dims,
                                 dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_init_by_tag(out, rank, dims, dnnl_f32, tag);
}

static program_desc layout_view(const dnnl_memory_desc_t *layout)
{
    return layout;
}

static dnnl_status_t append_relu(dnnl_post_ops_t ops)
{
    return dnnl_post_ops_append_eltwise(ops, 1.0f, dnnl_eltwise_relu, 0.0f, 0.0f);
}

static dnnl_status_t matmul_desc(program *p, const program_desc *d, dnnl_primitive_attr_t attr,
                                 dnnl_primitive_desc_t *out)
{
    dnnl_matmul_desc_t op;
    dnnl_status_t status = dnnl_matmul_desc_init(&op, d[0], d[1], d[2], d[3]);
    return status ? status : dnnl_primitive_desc_create(out, &op, attr, p->engine, NULL);
}

/* src, weights, bias, dst. */
static dnnl_status_t conv_desc(program *p, dnnl_prop_kind_t kind, const program_desc *d,
                               const dnnl_dim_t *stride, const dnnl_dim_t *padding,
                               dnnl_primitive_attr_t attr, dnnl_primitive_desc_t hint,
                               dnnl_primitive_desc_t *out)
{
    dnnl_convolution_desc_t op;
    dnnl_status_t status;
    if (kind == dnnl_backward_data)
        status = dnnl_convolution_backward_data_desc_init(&op, dnnl_convolution_direct, d[0], d[1],
                                                          d[3], stride, padding, padding);
    else if (kind == dnnl_backward_weights)
        status = dnnl_convolution_backward_weights_desc_init(
            &op, dnnl_convolution_direct, d[0], d[1], d[2], d[3], stride, padding, padding);
    else
        status = dnnl_convolution_forward_desc_init(&op, kind, dnnl_convolution_direct, d[0], d[1],
                                                    d[2], d[3], stride, padding, padding);
    return status ? status : dnnl_primitive_desc_create(out, &op, attr, p->engine, hint);
}

static dnnl_status_t pool_desc(program *p, program_desc src, program_desc dst,
                               const dnnl_dim_t *kernel, const dnnl_dim_t *padding,
                               dnnl_primitive_desc_t hint, dnnl_primitive_desc_t *out)
{
    dnnl_pooling_desc_t op;
    dnnl_status_t status =
        hint ? dnnl_pooling_backward_desc_init(&op, dnnl_pooling_max, src, dst, kernel, kernel,
                                               padding, padding)
             : dnnl_pooling_forward_desc_init(&op, dnnl_forward_training, dnnl_pooling_max, src,
                                              dst, kernel, kernel, padding, padding);
    return status ? status : dnnl_primitive_desc_create(out, &op, NULL, p->engine, hint);
}

static dnnl_status_t relu_desc(program *p, program_desc data, dnnl_primitive_desc_t hint,
                               dnnl_primitive_desc_t *out)
{
    const dnnl_alg_kind_t relu = dnnl_eltwise_relu_use_dst_for_bwd;
    dnnl_eltwise_desc_t op;
    dnnl_status_t status =
        hint ? dnnl_eltwise_backward_desc_init(&op, relu, data, data, 0.0f, 0.0f)
             : dnnl_eltwise_forward_desc_init(&op, dnnl_forward_training, relu, data, 0.0f, 0.0f);
    return status ? status : dnnl_primitive_desc_create(out, &op, NULL, p->engine, hint);
}

#endif

/* ------------------------------------------------------------------ tensors */

program_desc program_layout(program *p, int rank, const dnnl_dim_t *dims, dnnl_format_tag_t tag)
{
    if (p->layout_count == PROGRAM_MAX_MEMORIES)
        holds(p, dnnl_out_of_memory);
    if (p->status)
        return NULL;
    dnnl_memory_desc_t *layout = &p->layout[p->layout_count];
    if (!holds(p, layout_init(layout, rank, dims, tag)))
        return NULL;
    p->layout_count++;
    return layout_view(layout);
}

static dnnl_memory_t make_memory(program *p, program_desc desc, void *data)
{
    dnnl_memory_t memory = NULL;
    if (p->memory_count == PROGRAM_MAX_MEMORIES)
        holds(p, dnnl_out_of_memory);
    if (p->status || (!data && !(data = allocate(p, dnnl_memory_desc_get_size(desc)))))
        return NULL;
    if (!holds(p, dnnl_memory_create(&memory, desc, p->engine, data)))
        return NULL;
    return p->memory[p->memory_count++] = memory;
}

dnnl_memory_t program_tensor(program *p, int rank, const dnnl_dim_t *dims, dnnl_format_tag_t tag,
                             float *data)
{
    program_desc desc = program_layout(p, rank, dims, tag);
    return desc ? make_memory(p, desc, data) : NULL;
}

program_desc program_desc_of(program *p, dnnl_memory_t memory)
{
    program_desc desc = NULL;
    if (memory)
        holds(p, dnnl_memory_get_memory_desc(memory, &desc));
    return desc;
}

void *program_data(program *p, dnnl_memory_t memory)
{
    void *data = NULL;
    if (memory)
        holds(p, dnnl_memory_get_data_handle(memory, &data));
    return data;
}

dnnl_memory_t program_operand(program *p, dnnl_primitive_desc_t desc, dnnl_query_t query)
{
    return desc ? make_memory(p, dnnl_primitive_desc_query_md(desc, query, 0), NULL) : NULL;
}

/* ------------------------------------------------------------------ primitives */

/* Keep a descriptor until the program goes. */
static dnnl_primitive_desc_t keep(program *p, dnnl_status_t status, dnnl_primitive_desc_t desc)
{
    if (!holds(p, status))
        return NULL;
    if (p->desc_count == PROGRAM_MAX_STEPS) {
        dnnl_primitive_desc_destroy(desc);
        holds(p, dnnl_out_of_memory);
        return NULL;
    }
    return p->desc[p->desc_count++] = desc;
}

static dnnl_primitive_attr_t create_attr(program *p, int relu)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t ops = NULL;
    if (!holds(p, dnnl_primitive_attr_create(&attr)) || !relu)
        return attr;
    if (holds(p, dnnl_post_ops_create(&ops)) && holds(p, append_relu(ops)))
        holds(p, dnnl_primitive_attr_set_post_ops(attr, ops));
    dnnl_post_ops_destroy(ops);
    return attr;
}

dnnl_primitive_desc_t program_matmul(program *p, program_desc src, program_desc weights,
                                     program_desc bias, program_desc dst, int relu)
{
    dnnl_primitive_desc_t desc = NULL;
    const program_desc d[] = {src, weights, bias, dst};
    if (p->status)
        return NULL;
    dnnl_primitive_attr_t attr = create_attr(p, relu);
    dnnl_status_t status = p->status ? p->status : matmul_desc(p, d, attr, &desc);
    dnnl_primitive_attr_destroy(attr);
    return keep(p, status, desc);
}

static dnnl_primitive_desc_t conv(program *p, dnnl_prop_kind_t kind, const program_desc *d,
                                  dnnl_primitive_desc_t hint)
{
    static const dnnl_dims_t stride = {1, 1}, padding = {2, 2};
    dnnl_primitive_desc_t desc = NULL;
    if (p->status)
        return NULL;
    dnnl_primitive_attr_t attr = create_attr(p, kind == dnnl_forward_training);
    dnnl_status_t status =
        p->status ? p->status : conv_desc(p, kind, d, stride, padding, attr, hint, &desc);
    dnnl_primitive_attr_destroy(attr);
    return keep(p, status, desc);
}

dnnl_primitive_desc_t program_conv_forward(program *p, program_desc src, program_desc weights,
                                           program_desc bias, program_desc dst)
{
    const program_desc d[] = {src, weights, bias, dst};
    return conv(p, dnnl_forward_training, d, NULL);
}

dnnl_primitive_desc_t program_conv_data(program *p, program_desc src, program_desc weights,
                                        program_desc dst, dnnl_primitive_desc_t forward)
{
    const program_desc d[] = {src, weights, NULL, dst};
    return conv(p, dnnl_backward_data, d, forward);
}

dnnl_primitive_desc_t program_conv_weights(program *p, program_desc src, program_desc weights,
                                           program_desc bias, program_desc dst,
                                           dnnl_primitive_desc_t forward)
{
    const program_desc d[] = {src, weights, bias, dst};
    return conv(p, dnnl_backward_weights, d, forward);
}

static dnnl_primitive_desc_t pool(program *p, program_desc src, program_desc dst,
                                  dnnl_primitive_desc_t hint)
{
    static const dnnl_dims_t kernel = {2, 2}, padding = {0, 0};
    dnnl_primitive_desc_t desc = NULL;
    if (p->status)
        return NULL;
    dnnl_status_t status = pool_desc(p, src, dst, kernel, padding, hint, &desc);
    return keep(p, status, desc);
}

dnnl_primitive_desc_t program_pool_forward(program *p, program_desc src, program_desc dst)
{
    return pool(p, src, dst, NULL);
}

dnnl_primitive_desc_t program_pool_backward(program *p, program_desc src, program_desc dst,
                                            dnnl_primitive_desc_t forward)
{
    return pool(p, src, dst, forward);
}

dnnl_primitive_desc_t program_relu_backward(program *p, program_desc data)
{
    dnnl_primitive_desc_t forward = NULL, backward = NULL;
    if (p->status)
        return NULL;
    dnnl_status_t status = relu_desc(p, data, NULL, &forward);
    if (!keep(p, status, forward))
        return NULL;
    status = relu_desc(p, data, forward, &backward);
    return keep(p, status, backward);
}

/* ------------------------------------------------------------------ steps */

static step *append_step(program *p)
{
    if (p->step_count == PROGRAM_MAX_STEPS)
        holds(p, dnnl_out_of_memory);
    return p->status ? NULL : &p->steps[p->step_count];
}

void program_add(program *p, dnnl_primitive_desc_t desc, const program_arg *args)
{
    step *step = append_step(p);
    if (!step || !holds(p, dnnl_primitive_create(&step->primitive, desc)))
        return;
    for (; args->memory && step->count < PROGRAM_MAX_ARGS; args++)
        step->arg[step->count++] = (dnnl_exec_arg_t){args->arg, args->memory};
    p->step_count++;
}

void program_add_reorder(program *p, dnnl_memory_t from, dnnl_memory_t to)
{
    dnnl_primitive_desc_t desc = NULL;
    if (p->status)
        return;
    dnnl_status_t status = dnnl_reorder_primitive_desc_create(
        &desc, program_desc_of(p, from), p->engine, program_desc_of(p, to), p->engine, NULL);
    if (keep(p, status, desc))
        program_add(p, desc,
                    (const program_arg[]){{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {0, NULL}});
}

void program_add_function(program *p, program_fn fn, void *user)
{
    step *step = append_step(p);
    if (!step)
        return;
    step->fn = fn;
    step->user = user;
    p->step_count++;
}
