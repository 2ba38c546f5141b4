/* SPDX-License-Identifier: Apache-2.0 */
#include "device/op_text.h"

#define UNARY_LABEL(number, name, text, saved) [number] = "unary:" text,
#define BACKWARD_LABEL(number, name, text, saved) [number] = "unary_backward:" text,
#define BINARY_LABEL(number, name, text, result) [number] = "binary:" text,
#define REDUCE_LABEL(number, name, text) [number] = "reduce:" text,

static const char *const unary[AXLE_UNARY_LIMIT] = {AXLE_UNARY_LIST(UNARY_LABEL)};
static const char *const backward[AXLE_UNARY_LIMIT] = {AXLE_UNARY_LIST(BACKWARD_LABEL)};
static const char *const binary[AXLE_BINARY_LIMIT] = {AXLE_BINARY_LIST(BINARY_LABEL)};
static const char *const reduce[AXLE_REDUCE_LIMIT] = {AXLE_REDUCE_LIST(REDUCE_LABEL)};

/* Operators whose attributes begin with struct_size and kind. */
static const struct {
    const char *const *label;
    uint32_t limit;
} kinds[AXLE_OP_LIMIT] = {
    [AXLE_OP_UNARY] = {unary, AXLE_UNARY_LIMIT},
    [AXLE_OP_UNARY_BACKWARD] = {backward, AXLE_UNARY_LIMIT},
    [AXLE_OP_BINARY] = {binary, AXLE_BINARY_LIMIT},
    [AXLE_OP_REDUCE] = {reduce, AXLE_REDUCE_LIMIT},
};

const char *axle__call_label(const axle__call *call)
{
    const uint32_t *head = call->attrs;
    if (call->op < AXLE_OP_LIMIT && kinds[call->op].label && head &&
        head[1] < kinds[call->op].limit && kinds[call->op].label[head[1]])
        return kinds[call->op].label[head[1]];
    return axle__op_name(call->op);
}

static void view_text(axle__text *text, const axle_view *view)
{
    if (!view) {
        axle__text_add(text, "-");
        return;
    }
    axle__text_add(text, "(");
    for (uint32_t k = 0; k < view->rank; k++)
        axle__text_add(text, "%s%lld", k ? ", " : "", (long long)view->dim[k]);
    axle__text_add(text, ") %s", axle_dtype_name((int)view->dtype));
}

void axle__views_text(axle__text *text, uint32_t n, const axle_view *const *view)
{
    for (uint32_t k = 0; k < n; k++) {
        axle__text_add(text, k ? ", " : "");
        view_text(text, view[k]);
    }
}

uint64_t axle__view_elements(const axle_view *view)
{
    uint64_t count = 1;
    for (uint32_t k = 0; k < view->rank; k++)
        count *= (uint64_t)view->dim[k];
    return count;
}

uint64_t axle__view_bytes(const axle_view *view)
{
    int64_t last = 0;
    for (uint32_t k = 0; k < view->rank; k++) {
        if (view->dim[k] == 0)
            return 0;
        last += (view->dim[k] - 1) * view->stride[k];
    }
    return (uint64_t)(last + 1) * axle_dtype_size((int)view->dtype);
}
