/* SPDX-License-Identifier: Apache-2.0 */
/* From an operator's number to its planner, for op_query and op_prepare alike. */
#include "planners.h"
#include "slots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct op_row {
    const char *name;
    ocl_planner plan;
    uint32_t most_in, most_out, attrs_size;
    int computes;
} op_row;

static const char *const names[AXLE_OP_LIMIT] = {
#define NAME(number, name, text, n_in, n_out) [number] = text,
    AXLE_OP_LIST(NAME)
#undef NAME
};

static op_row row_of(uint32_t op)
{
    static const op_row rows[AXLE_OP_LIMIT] = {
#define ROW(NAME, name, attrs, f64)                                                                \
    [AXLE_OP_##NAME] = {.plan = ocl_plan_##name,                                                   \
                        .attrs_size = sizeof(attrs) > sizeof(uint32_t) ? sizeof(attrs) : 0,        \
                        .computes = OCL_##f64},
        OCL_PLANNERS(ROW)
#undef ROW
    };
    static const uint8_t most[AXLE_OP_LIMIT][2] = {
#define MOST(number, name, text, n_in, n_out) [number] = {n_in, n_out},
        AXLE_OP_LIST(MOST)
#undef MOST
    };
    op_row row = {0};
    if (op > 0 && op < AXLE_OP_LIMIT) {
        row = rows[op];
        row.name = names[op];
        row.most_in = most[op][0];
        row.most_out = most[op][1];
    }
    return row;
}

/* Copy the description: absent operands and attributes that it lacks become NULL and 0. */
static int plan_read(ocl_plan *plan, const op_row *row, const axle_op_desc *desc)
{
    if (!row->plan || desc->n_in > row->most_in || desc->n_out > row->most_out ||
        (row->attrs_size && !desc->attrs))
        return 0;
    plan->desc = desc;
    plan->op = desc->op;
    plan->n_in = desc->n_in;
    plan->n_out = desc->n_out;
    for (uint32_t k = 0; k < desc->n_in; k++)
        plan->in[k] = desc->in[k];
    for (uint32_t k = 0; k < desc->n_out; k++)
        plan->out[k] = desc->out[k];
    if (row->attrs_size) {
        const uint32_t given = *(const uint32_t *)desc->attrs;
        memcpy(&plan->attrs, desc->attrs, given < row->attrs_size ? given : row->attrs_size);
    }
    return 1;
}

static int any_f64(const ocl_plan *plan)
{
    int found = 0;
    for (uint32_t k = 0; k < plan->n_in; k++)
        found |= ocl_is(plan->in[k], 1 << AXLE_DTYPE_F64);
    for (uint32_t k = 0; k < plan->n_out; k++)
        found |= ocl_is(plan->out[k], 1 << AXLE_DTYPE_F64);
    return found;
}

/* Run the planner; 0 where the operator is not for us. */
static int make(ocl_plan *plan, const axle_op_desc *desc)
{
    const op_row row = row_of(desc->op);
    if (!plan_read(plan, &row, desc))
        return 0;
    const int f64 = any_f64(plan);
    if (f64 && row.computes && !plan->device->about.has_f64)
        return 0;
    plan->real = f64 && plan->device->about.has_f64 ? AXLE_DTYPE_F64 : AXLE_DTYPE_F32;
    plan->prepared->op = desc->op;
    plan->prepared->f64 = plan->real == AXLE_DTYPE_F64;
    plan->prepared->attrs = plan->attrs;
    plan->impl = row.name;
    return row.plan(plan);
}

axle_status ocl_op_query(axle_be_device *device, const axle_op_desc *desc, axle_op_info *info)
{
    axle_be_op op = {.device = device};
    ocl_plan plan = {.device = device, .dry = 1, .prepared = &op};
    info->support = make(&plan, desc) ? AXLE_SUPPORT_YES : AXLE_SUPPORT_NO;
    if (info->support != AXLE_SUPPORT_YES)
        return AXLE_OK;
    if (info->struct_size >= AXLE_FIELD_END(axle_op_info, workspace_size))
        info->workspace_size = plan.workspace;
    if (info->struct_size >= AXLE_FIELD_END(axle_op_info, impl))
        snprintf(info->impl, sizeof(info->impl), "cl:%s", plan.impl);
    return AXLE_OK;
}

static axle_status table_create(ocl_plan *plan)
{
    cl_int code;
    if (plan->n_numbers == 0)
        plan->n_numbers = 1; /* a buffer cannot be empty */
    plan->prepared->table =
        clCreateBuffer(plan->device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                       (size_t)plan->n_numbers * sizeof(plan->numbers[0]), plan->numbers, &code);
    return plan->prepared->table ? AXLE_OK : ocl_fail_cl(plan->error, code, "clCreateBuffer");
}

axle_status ocl_op_prepare_as(axle_be_device *device, const axle_op_desc *desc, uint32_t only,
                              axle_be_op **out, axle_error *error)
{
    axle_be_op *op = calloc(1, sizeof(*op));
    if (!op)
        return ocl_fail(error, AXLE_ERR_NOMEM, "opencl: no memory to prepare an operator");
    op->device = device;
    pthread_mutex_init(&op->lock, NULL);
    ocl_plan plan = {.device = device, .error = error, .only = only, .prepared = op};
    axle_status status = AXLE_OK;
    if (!make(&plan, desc))
        status =
            ocl_fail(error, AXLE_ERR_UNSUPPORTED,
                     "opencl: operator %" PRIu32 " is not supported for these operands", desc->op);
    else if (plan.status != AXLE_OK)
        status = plan.status;
    else
        status = table_create(&plan);
    if (status != AXLE_OK) {
        ocl_op_release(op);
        return status;
    }
    *out = op;
    return AXLE_OK;
}

axle_status ocl_op_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                           axle_error *error)
{
    return ocl_op_prepare_as(device, desc, 0, out, error);
}
