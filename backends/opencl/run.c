/* SPDX-License-Identifier: Apache-2.0 */
/* Enqueueing the steps of a prepared operator. */
#include "plan.h"
#include "slots.h"

#include <stdlib.h>

/* One call: the arguments of a step are set one after the other. */
typedef struct call {
    const axle_be_queue *queue;
    const axle_be_op *op;
    const axle_op_args *args;
    double scalars[OCL_SCALARS];
    cl_kernel kernel;
    cl_uint next;
    cl_int code;
} call;

static void set(call *c, size_t size, const void *value)
{
    if (c->code == CL_SUCCESS)
        c->code = clSetKernelArg(c->kernel, c->next++, size, value);
}

static void set_memory(call *c, cl_mem memory, uint64_t offset)
{
    const cl_ulong at = offset;
    set(c, sizeof(memory), &memory);
    set(c, sizeof(at), &at);
}

static void set_view(call *c, const axle_view *const *list, uint32_t n, uint32_t k)
{
    const axle_view *view = k < n ? list[k] : NULL;
    if (view && view->buffer)
        set_memory(c, view->buffer->handle, view->offset / ocl_dtype_size(view->dtype));
    else
        set_memory(c, NULL, 0);
}

static void set_real(call *c, uint32_t size, double value)
{
    const cl_float single = (cl_float)value;
    set(c, size, size == sizeof(value) ? (const void *)&value : (const void *)&single);
}

static void set_scalars(call *c)
{
    cl_float singles[OCL_SCALARS];
    for (int k = 0; k < OCL_SCALARS; k++)
        singles[k] = (cl_float)c->scalars[k];
    if (c->op->f64)
        set(c, sizeof(c->scalars), c->scalars);
    else
        set(c, sizeof(singles), singles);
}

static void set_random(call *c)
{
    const cl_ulong seed = c->args->rng_seed, first = c->args->rng_offset;
    set(c, sizeof(seed), &seed);
    set(c, sizeof(first), &first);
}

static void set_arg(call *c, const ocl_arg *arg)
{
    const axle_op_args *args = c->args;
    switch (arg->kind) {
    case OCL_ARG_IN:
        set_view(c, args->in, args->n_in, arg->index);
        break;
    case OCL_ARG_OUT:
        set_view(c, args->out, args->n_out, arg->index);
        break;
    case OCL_ARG_WORK:
        set_memory(c, args->workspace ? args->workspace->handle : NULL,
                   (args->workspace_offset + arg->offset) / arg->index);
        break;
    case OCL_ARG_TABLE:
        set_memory(c, c->op->table, arg->offset);
        break;
    case OCL_ARG_FAULT:
        set(c, sizeof(c->queue->fault), &c->queue->fault);
        break;
    case OCL_ARG_REAL:
        set_real(c, arg->index, arg->real);
        break;
    case OCL_ARG_RANDOM:
        set_random(c);
        break;
    case OCL_ARG_SCALARS:
        set_scalars(c);
        break;
    }
}

static ocl_matrix matrix_of(const axle_view *view)
{
    return (ocl_matrix){view->buffer->handle, view->offset / ocl_dtype_size(view->dtype)};
}

static cl_int run_step(call *c, const ocl_step *step)
{
    if (step->gemm.there)
        return ocl_clblast_run(&step->gemm, matrix_of(c->args->in[0]), matrix_of(c->args->in[1]),
                               matrix_of(c->args->out[0]), c->queue->handle);
    c->kernel = step->kernel;
    c->next = 0;
    for (int k = 0; k < step->n_args; k++)
        set_arg(c, &step->args[k]);
    if (c->code != CL_SUCCESS)
        return c->code;
    return clEnqueueNDRangeKernel(c->queue->handle, step->kernel, 1, NULL, &step->global,
                                  &step->local, 0, NULL, NULL);
}

/* Kernels hold their arguments, so whoever sets them enqueues before anybody else may. */
axle_status ocl_op_run(axle_be_queue *queue, axle_be_op *op, const axle_op_args *args,
                       axle_error *error)
{
    call c = {.queue = queue, .op = op, .args = args, .code = CL_SUCCESS};
    cl_int code = CL_SUCCESS;
    if (op->scalars)
        op->scalars(&op->attrs, args->scalars, c.scalars);
    queue->may_fault |= op->may_fault;
    pthread_mutex_lock(&op->lock);
    for (int k = 0; k < op->n_steps && code == CL_SUCCESS; k++)
        code = run_step(&c, &op->steps[k]);
    pthread_mutex_unlock(&op->lock);
    return code == CL_SUCCESS ? AXLE_OK : ocl_fail_cl(error, code, "enqueueing a kernel");
}

void ocl_op_release(axle_be_op *op)
{
    if (!op)
        return;
    for (int k = 0; k < op->n_steps; k++)
        if (op->steps[k].kernel)
            clReleaseKernel(op->steps[k].kernel);
    if (op->table)
        clReleaseMemObject(op->table);
    pthread_mutex_destroy(&op->lock);
    free(op);
}
