/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of operands of any stride and float type. */
#include "rows.h"

#include <string.h>

row_operand cpu_row_operand(const cpu_loops *loops, const axle_view *view, uint32_t axis)
{
    row_operand operand = {.size = 0};
    if (!view)
        return operand;
    const int native = view->dtype == AXLE_DTYPE_F32;
    operand.size = cpu_dtype_size(view->dtype);
    operand.stride = axis < view->rank ? view->stride[axis] : 1;
    operand.direct = native && (operand.stride == 1 || axis >= view->rank || view->dim[axis] == 1);
    operand.load = native ? loops->convert->load_raw[2] : loops->convert->load[view->dtype];
    operand.store = native ? loops->convert->store_raw[2] : loops->convert->store[view->dtype];
    return operand;
}

void cpu_row_walk_init(row_walk *walk, uint32_t axis, const axle_view *const views[ROW_OPERANDS])
{
    const axle_view *shape = views[0];
    memset(walk, 0, sizeof(*walk));
    walk->rows = 1;
    for (uint32_t d = 0; d < shape->rank; d++) {
        if (d == axis)
            continue;
        walk->dim[walk->rank] = shape->dim[d];
        walk->rows *= shape->dim[d];
        for (int k = 0; k < ROW_OPERANDS; k++)
            if (views[k])
                walk->stride[k][walk->rank] = views[k]->stride[d] * cpu_dtype_size(views[k]->dtype);
        walk->rank++;
    }
}

int64_t cpu_row_locate(const row_walk *walk, int64_t row, int64_t offset[ROW_OPERANDS])
{
    int64_t last = 0;
    memset(offset, 0, sizeof(int64_t) * ROW_OPERANDS);
    for (int32_t d = walk->rank - 1; d >= 0; d--) {
        const int64_t i = row % walk->dim[d];
        row /= walk->dim[d];
        last = d == walk->rank - 1 ? i : last;
        for (int k = 0; k < ROW_OPERANDS; k++)
            offset[k] += i * walk->stride[k][d];
    }
    return last;
}
