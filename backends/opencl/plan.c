/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_OPTIONS = 512, WORK_ALIGN = 128 };

static ocl_step *current(ocl_plan *plan)
{
    return &plan->prepared->steps[plan->prepared->n_steps - 1];
}

static void stick(ocl_plan *plan, axle_status status)
{
    if (plan->status == AXLE_OK)
        plan->status = status;
}

static void add_arg(ocl_plan *plan, ocl_arg arg)
{
    if (plan->skip || plan->dry || plan->status != AXLE_OK)
        return;
    ocl_step *step = current(plan);
    if (step->n_args == OCL_MOST_ARGS)
        stick(plan, ocl_fail(plan->error, AXLE_ERR_INTERNAL, "opencl: too many arguments"));
    else
        step->args[step->n_args++] = arg;
}

/* Groups of `local` work-items, fewer where device or kernel allow no more, or of the one size that
 * the kernel takes. */
static void set_sizes(ocl_plan *plan, ocl_step *step, int64_t items, uint32_t local)
{
    const ocl_description *about = &plan->device->about;
    size_t limit = 0, size = local, fixed[3] = {0};
    if (clGetKernelWorkGroupInfo(step->kernel, about->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof(limit),
                                 &limit, NULL) == CL_SUCCESS &&
        limit > 0 && size > limit)
        size = limit;
    if (size > about->max_local)
        size = about->max_local;
    /* A unit of a CPU does a whole group, so small launches are cut into groups for all of them. */
    while (ocl_on_cpu(plan) && size > 1 && items / (int64_t)size < (int64_t)about->units * 4)
        size /= 2;
    if (clGetKernelWorkGroupInfo(step->kernel, about->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                 sizeof(fixed), fixed, NULL) == CL_SUCCESS &&
        fixed[0] > 0)
        size = fixed[0];
    step->local = size > 0 ? size : 1;
    step->global = ((size_t)items + step->local - 1) / step->local * step->local;
}

/* Whether a kernel is built alone: files of large kernels, of which an operator needs few. */
static int is_alone(const char *files)
{
    static const char *const large[] = {"product", "flat", "conv", "attention", "attend"};
    const char *last = strrchr(files, ' ');
    for (size_t k = 0; last && k < sizeof(large) / sizeof(large[0]); k++)
        if (strcmp(last + 1, large[k]) == 0)
            return 1;
    return 0;
}

static void compile(ocl_plan *plan, ocl_step *step, const char *files, const char *kernel,
                    const char *options)
{
    char all[MOST_OPTIONS], alone[64] = "";
    cl_program program;
    cl_int code;
    if (is_alone(files))
        snprintf(alone, sizeof(alone), " -DONE_KERNEL -DWITH_%s=1", kernel);
    snprintf(all, sizeof(all), "-DREAL=%s%s%s", plan->real == AXLE_DTYPE_F64 ? "f64" : "f32", alone,
             options);
    stick(plan, ocl_program_get(plan->device, files, all, &program, plan->error));
    if (plan->status != AXLE_OK)
        return;
    step->kernel = clCreateKernel(program, kernel, &code);
    if (!step->kernel)
        stick(plan, ocl_fail_cl(plan->error, code, kernel));
}

void ocl_step_begin(ocl_plan *plan, const char *files, const char *kernel, int64_t items,
                    uint32_t local, const char *options, ...)
{
    char text[MOST_OPTIONS - 96];
    plan->skip = items <= 0;
    if (plan->skip || plan->dry || plan->status != AXLE_OK)
        return;
    if (plan->prepared->n_steps == OCL_MOST_STEPS) {
        stick(plan, ocl_fail(plan->error, AXLE_ERR_INTERNAL, "opencl: too many steps"));
        return;
    }
    va_list args;
    va_start(args, options);
    text[0] = ' ';
    vsnprintf(text + 1, sizeof(text) - 1, options, args);
    va_end(args);

    ocl_step *step = &plan->prepared->steps[plan->prepared->n_steps++];
    compile(plan, step, files, kernel, text);
    if (plan->status != AXLE_OK)
        return;
    set_sizes(plan, step, items, local);
    add_arg(plan, (ocl_arg){.kind = OCL_ARG_TABLE, .offset = (uint64_t)plan->n_numbers});
}

void ocl_step_gemm(ocl_plan *plan, const ocl_gemm *gemm)
{
    plan->skip = 1;
    if (!plan->dry && plan->status == AXLE_OK)
        plan->prepared->steps[plan->prepared->n_steps++].gemm = *gemm;
}

void ocl_put(ocl_plan *plan, int64_t number)
{
    if (plan->skip || plan->dry || plan->status != AXLE_OK)
        return;
    if (plan->n_numbers == OCL_MOST_NUMBERS)
        stick(plan, ocl_fail(plan->error, AXLE_ERR_INTERNAL, "opencl: too many numbers"));
    else
        plan->numbers[plan->n_numbers++] = number;
}

void ocl_put_map(ocl_plan *plan, const ocl_map *map)
{
    int64_t numbers[OCL_MAP_NUMBERS];
    const int n = ocl_map_write(map, numbers);
    for (int k = 0; k < n; k++)
        ocl_put(plan, numbers[k]);
}

void ocl_arg_in(ocl_plan *plan, uint32_t k)
{
    add_arg(plan, (ocl_arg){.kind = OCL_ARG_IN, .index = k});
}

void ocl_arg_out(ocl_plan *plan, uint32_t k)
{
    add_arg(plan, (ocl_arg){.kind = OCL_ARG_OUT, .index = k});
}

void ocl_arg_work(ocl_plan *plan, uint64_t offset, uint32_t element)
{
    add_arg(plan, (ocl_arg){.kind = OCL_ARG_WORK, .index = element, .offset = offset});
}

void ocl_arg_fault(ocl_plan *plan)
{
    plan->prepared->may_fault = 1;
    add_arg(plan, (ocl_arg){.kind = OCL_ARG_FAULT});
}

void ocl_arg_real(ocl_plan *plan, double value)
{
    add_arg(plan, (ocl_arg){.kind = OCL_ARG_REAL, .index = ocl_real_size(plan), .real = value});
}

void ocl_arg_wide(ocl_plan *plan, double value)
{
    add_arg(plan, (ocl_arg){.kind = OCL_ARG_REAL, .index = ocl_wide_size(plan), .real = value});
}

void ocl_arg_random(ocl_plan *plan)
{
    add_arg(plan, (ocl_arg){.kind = OCL_ARG_RANDOM});
}

void ocl_arg_scalars(ocl_plan *plan, ocl_scalars_fn fn)
{
    plan->prepared->scalars = fn;
    add_arg(plan, (ocl_arg){.kind = OCL_ARG_SCALARS});
}

uint64_t ocl_work(ocl_plan *plan, int64_t count, uint32_t element)
{
    const uint64_t offset = plan->workspace;
    const uint64_t bytes = (uint64_t)(count > 0 ? count : 1) * element;
    plan->workspace = (offset + bytes + WORK_ALIGN - 1) / WORK_ALIGN * WORK_ALIGN;
    return offset;
}

int64_t ocl_busy(const ocl_plan *plan)
{
    return (int64_t)plan->device->about.units * (ocl_on_cpu(plan) ? 8 : 2048);
}

uint32_t ocl_dtype_size(uint32_t dtype)
{
    static const uint8_t size[] = {
#define SIZE(name, number, bytes, text) [number] = bytes,
        AXLE_DTYPE_LIST(SIZE)
#undef SIZE
    };
    return dtype < sizeof(size) ? size[dtype] : 0;
}

const char *ocl_dtype(const axle_view *view)
{
    static const char *const names[] = {
#define NAME(name, number, bytes, text) [number] = text,
        AXLE_DTYPE_LIST(NAME)
#undef NAME
    };
    return names[view->dtype];
}

const char *ocl_dtype_or(const axle_view *view, const char *absent)
{
    return view ? ocl_dtype(view) : absent;
}

const char *ocl_bits(const axle_view *view)
{
    static const char *const names[9] = {[1] = "b1", [2] = "b2", [4] = "b4", [8] = "b8"};
    return names[ocl_dtype_size(view->dtype)];
}

static int letter_fits(char letter, const axle_view *view, uint32_t base)
{
    const uint32_t stat = base == AXLE_DTYPE_F64 ? AXLE_DTYPE_F64 : AXLE_DTYPE_F32;
    switch (letter) {
    case 'f':
        return view->dtype == base;
    case 'r':
        return ocl_is(view, OCL_FLOATS);
    case 's':
        return view->dtype == stat;
    case 'i':
        return ocl_is(view, OCL_INDICES);
    case 'j':
        return view->dtype == AXLE_DTYPE_I32;
    default:
        return view->dtype == AXLE_DTYPE_BOOL || view->dtype == base;
    }
}

static int operands_fit(const char *letters, const axle_view *const *views, uint32_t n,
                        uint32_t base)
{
    uint32_t k = 0;
    for (; *letters; letters++, k++) {
        const char letter = *letters;
        const int optional = letters[1] == '?';
        const axle_view *view = k < n ? views[k] : NULL;
        if (view ? !letter_fits(letter, view, base) : !optional)
            return 0;
        letters += optional;
    }
    for (; k < n; k++)
        if (views[k])
            return 0;
    return 1;
}

int ocl_signature_fits(const ocl_plan *plan, const char *in, const char *out)
{
    if (!ocl_is(plan->in[0], OCL_FLOATS))
        return 0;
    const uint32_t base = plan->in[0]->dtype;
    return operands_fit(in, plan->in, AXLE_OP_MAX_IN, base) &&
           operands_fit(out, plan->out, AXLE_OP_MAX_OUT, base);
}
