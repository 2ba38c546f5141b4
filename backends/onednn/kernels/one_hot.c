/* SPDX-License-Identifier: Apache-2.0 */
/* ONE_HOT: ids (...) -> y (..., C). */
#include "index.h"

#include <string.h>

typedef struct hot_op {
    axle_be_op base;
    index_operand ids;
    int32_t rank; /* of ids, as given */
    int64_t dim[AXLE_MAX_RANK], stride[AXLE_MAX_RANK];
    int64_t classes, class_stride, size;
    unsigned char one[8];
} hot_op;

static axle_status hot_query(const axle_op_desc *desc, axle_op_info *info)
{
    const axle_view *ids = desc->in[0], *y = desc->out[0];
    if (!cpu_is_index(ids->dtype) || !cpu_dtype_size(y->dtype) || y->rank != ids->rank + 1)
        return AXLE_OK;
    return cpu_op_support(info, "one_hot", cpu_workspace_size(cpu_index_list_size(ids)));
}

static axle_status hot_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                               axle_error *error)
{
    hot_op *op = cpu_op_create(device, &cpu_kernel_one_hot, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const axle_view *ids = desc->in[0], *y = desc->out[0];
    const int64_t one = 1;
    const void *from = &one;
    op->ids = cpu_index_operand(ids);
    op->rank = (int32_t)ids->rank;
    memcpy(op->dim, ids->dim, sizeof(op->dim));
    memcpy(op->stride, y->stride, sizeof(op->stride));
    op->classes = y->dim[ids->rank];
    op->class_stride = y->stride[ids->rank];
    op->size = cpu_dtype_size(y->dtype);
    cpu_loops_generic.convert->cast[AXLE_DTYPE_I64][y->dtype](&from, op->one, 1, NULL);
    *out = &op->base;
    return AXLE_OK;
}

typedef struct hot_call {
    const hot_op *op;
    const int64_t *list;
    unsigned char *y;
} hot_call;

static void hot_rows(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const hot_call *call = arg;
    const hot_op *op = call->op;
    const size_t size = (size_t)op->size;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        unsigned char *y = call->y;
        int64_t rest = row;
        for (int32_t d = op->rank - 1; d >= 0; d--) {
            y += rest % op->dim[d] * op->stride[d] * op->size;
            rest /= op->dim[d];
        }
        if (op->class_stride == 1)
            memset(y, 0, (size_t)op->classes * size);
        for (int64_t c = 0; op->class_stride != 1 && c < op->classes; c++)
            memset(y + c * op->class_stride * op->size, 0, size);
        memcpy(y + call->list[row] * op->class_stride * op->size, op->one, size);
    }
}

static axle_status hot_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const hot_op *op = (const hot_op *)base;
    int64_t *list = (int64_t *)cpu_workspace(args);
    const axle_status status =
        cpu_index_load(&op->ids, cpu_in_data(args, 0), "one_hot", op->classes, NULL, list, error);
    if (status != AXLE_OK)
        return status;
    hot_call call = {.op = op, .list = list, .y = cpu_out_data(args, 0)};
    cpu_parallel(op->ids.count, op->ids.count * op->classes, hot_rows, &call);
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_one_hot = {
    .op = AXLE_OP_ONE_HOT,
    .query = hot_query,
    .prepare = hot_prepare,
    .run = hot_run,
    .release = cpu_op_release,
};
