/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/elementwise.h"

#include <string.h>

#include "base/memory.h"
#include "tensor/shape.h"

typedef struct kind_info {
    const char *name;
    char trait;
} kind_info;

static const kind_info unary_kinds[AXLE_UNARY_LIMIT] = {
#define KIND(number, id, text, saved) [number] = {text, #saved[0]},
    AXLE_UNARY_LIST(KIND)
#undef KIND
};

static const kind_info binary_kinds[AXLE_BINARY_LIMIT] = {
#define KIND(number, id, text, result) [number] = {text, #result[0]},
    AXLE_BINARY_LIST(KIND)
#undef KIND
};

char axle__unary_saves(uint32_t kind)
{
    return unary_kinds[kind].trait;
}

const char *axle__unary_name(uint32_t kind)
{
    return unary_kinds[kind].name;
}

bool axle__binary_is_boolean(uint32_t kind)
{
    return binary_kinds[kind].trait == 'B';
}

const char *axle__binary_name(uint32_t kind)
{
    return binary_kinds[kind].name;
}

int axle__elementwise(axle__call *call, axle_tensor *out, axle_tensor *const *in, int n,
                      bool ordered)
{
    if (out->count == 0)
        return AXLE_OK;
    axle_view view[AXLE_OP_MAX_IN + 1];
    axle_view *views[AXLE_OP_MAX_IN + 1];
    view[0] = out->view;
    views[0] = &view[0];
    int used = 1;
    for (int k = 0; k < n; k++) {
        if (!in[k]) {
            axle__call_view_in(call, NULL);
            continue;
        }
        view[used] = in[k]->view;
        axle__view_expand(&view[used], axle__rank(out), out->view.dim);
        views[used] = &view[used];
        axle__call_view_in(call, &view[used++]);
    }
    axle__call_view_out(call, &view[0]);
    axle__views_merge(views, used, !ordered);
    return axle__run(call, out);
}

axle_tensor *axle__elementwise_result(const char *who, int dtype, int rank, const int64_t *dims,
                                      axle_tensor *const *in, int n)
{
    const int64_t *strides = NULL;
    for (int k = 0; k < n && !strides; k++) {
        if (!in[k] || !axle__dims_equal(rank, dims, axle__rank(in[k]), in[k]->view.dim))
            continue;
        if (in[k]->row_major)
            break;
        if (axle__view_is_dense(&in[k]->view))
            strides = in[k]->view.stride;
    }
    return axle__scope_own(axle__tensor_new(who, in[0]->device, dtype, rank, dims, strides));
}

static axle_tensor *like(const char *who, int dtype, axle_tensor *x)
{
    return axle__elementwise_result(who, dtype, axle__rank(x), x->view.dim, &x, 1);
}

axle_tensor *axle__unary(uint32_t kind, double alpha, double beta, axle_tensor *x)
{
    int dtype = axle__unary_saves(kind) == 'B' ? AXLE_DTYPE_BOOL : (int)axle__dtype(x);
    axle_unary_attrs attrs = {sizeof(attrs), kind, alpha, beta};
    axle__call call = AXLE__CALL(AXLE_OP_UNARY, attrs);
    axle_tensor *y = like(axle__unary_name(kind), dtype, x);
    return y ? axle__checked(axle__elementwise(&call, y, &x, 1, false), y) : NULL;
}

axle_tensor *axle__unary_backward(uint32_t kind, double alpha, double beta, axle_tensor *dy,
                                  axle_tensor *saved)
{
    axle_unary_attrs attrs = {sizeof(attrs), kind, alpha, beta};
    axle__call call = AXLE__CALL(AXLE_OP_UNARY_BACKWARD, attrs);
    axle_tensor *in[] = {dy, saved};
    axle_tensor *dx = like(axle__unary_name(kind), (int)axle__dtype(dy), saved ? saved : dy);
    return dx ? axle__checked(axle__elementwise(&call, dx, in, 2, false), dx) : NULL;
}

static bool broadcast_dims(const char *who, const axle_tensor *a, const axle_tensor *b, int *rank,
                           int64_t *dims)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    if (axle__broadcast(axle__rank(a), a->view.dim, axle__rank(b), b->view.dim, rank, dims))
        return true;
    axle_error_set(AXLE_ERR_SHAPE, "%s: dims %s and %s do not broadcast", who,
                   axle__shape_text(a, ta), axle__shape_text(b, tb));
    return false;
}

axle_tensor *axle__binary(uint32_t kind, double alpha, axle_tensor *a, axle_tensor *b)
{
    const char *who = axle__binary_name(kind);
    int rank;
    int64_t dims[AXLE_MAX_RANK];
    if (axle__check_pair(who, a, b) || !broadcast_dims(who, a, b, &rank, dims))
        return NULL;
    int dtype = axle__binary_is_boolean(kind) ? AXLE_DTYPE_BOOL : (int)axle__dtype(a);
    axle_binary_attrs attrs = {sizeof(attrs), kind, alpha};
    axle__call call = AXLE__CALL(AXLE_OP_BINARY, attrs);
    axle_tensor *in[] = {a, b};
    axle_tensor *y = axle__elementwise_result(who, dtype, rank, dims, in, 2);
    return y ? axle__checked(axle__elementwise(&call, y, in, 2, false), y) : NULL;
}

int axle__add_into(axle_tensor *a, axle_tensor *b, double alpha)
{
    axle_binary_attrs attrs = {sizeof(attrs), AXLE_BINARY_ADD, alpha};
    axle__call call = AXLE__CALL(AXLE_OP_BINARY, attrs);
    axle_tensor *in[] = {a, b};
    axle__tensor_touch(a);
    return axle__elementwise(&call, a, in, 2, false);
}

axle_tensor *axle__choose(axle_tensor *condition, axle_tensor *a, axle_tensor *b)
{
    int rank;
    int64_t pair[AXLE_MAX_RANK], dims[AXLE_MAX_RANK];
    if (axle__check_pair("where", a, b) || axle__check_same_device("where", condition, a))
        return NULL;
    if (axle__dtype(condition) != AXLE_DTYPE_BOOL) {
        axle_error_set(AXLE_ERR_DTYPE, "where: the condition must be bool, got %s",
                       axle_dtype_name((int)axle__dtype(condition)));
        return NULL;
    }
    if (!broadcast_dims("where", a, b, &rank, pair))
        return NULL;
    if (!axle__broadcast(rank, pair, axle__rank(condition), condition->view.dim, &rank, dims)) {
        char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
        axle_error_set(AXLE_ERR_SHAPE, "where: condition %s does not broadcast with %s",
                       axle__shape_text(condition, ta), axle__dims_text(rank, pair, tb));
        return NULL;
    }
    axle_tensor *in[] = {condition, a, b};
    axle_tensor *y = axle__elementwise_result("where", (int)axle__dtype(a), rank, dims, in, 3);
    axle__call call = {.op = AXLE_OP_WHERE};
    return y ? axle__checked(axle__elementwise(&call, y, in, 3, false), y) : NULL;
}

/* Bytes in row-major order through host memory. */
static int copy_across(axle_tensor *to, const axle_tensor *from)
{
    size_t size = (size_t)from->count * axle_dtype_size((int)axle__dtype(from));
    void *bytes = axle__alloc(1, size);
    if (!bytes)
        return AXLE_ERR_NOMEM;
    int status = axle_tensor_read(from, bytes, size);
    if (!status)
        status = axle_tensor_write(to, bytes, size);
    axle__free(bytes);
    return status;
}

/* Whether writing one tensor might change what another one reads next. */
static bool may_overlap(const axle_tensor *to, const axle_tensor *from)
{
    return to->storage == from->storage && memcmp(&to->view, &from->view, sizeof(to->view)) != 0;
}

int axle__copy_into(axle_tensor *to, const axle_tensor *from)
{
    if (to->device != from->device) {
        axle_tensor *same = (axle_tensor *)from;
        if (axle__dtype(to) != axle__dtype(from))
            same = axle__copy("copy", same, (int)axle__dtype(to));
        return same ? copy_across(to, same) : axle_error_code();
    }
    if (may_overlap(to, from) &&
        !(from = axle__copy("copy", (axle_tensor *)from, (int)axle__dtype(from))))
        return axle_error_code();
    axle__call call = {.op = AXLE_OP_COPY};
    axle_tensor *in[] = {(axle_tensor *)from};
    axle__tensor_touch(to);
    return axle__elementwise(&call, to, in, 1, false);
}

/* The integer towards zero; what int64_t cannot hold becomes its nearest end, NaN 0. */
static int64_t truncated(double value)
{
    if (value != value)
        return 0;
    return value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

int axle__fill(axle_tensor *tensor, double value)
{
    axle_fill_attrs attrs = {sizeof(attrs), 0, value, 0};
    if (!axle_dtype_is_float((int)axle__dtype(tensor)))
        attrs.integer = axle__dtype(tensor) == AXLE_DTYPE_BOOL ? value != 0 : truncated(value);
    axle__call call = AXLE__CALL(AXLE_OP_FILL, attrs);
    axle__tensor_touch(tensor);
    return axle__elementwise(&call, tensor, NULL, 0, false);
}

axle_tensor *axle__constant(const axle_tensor *like, double value)
{
    axle_tensor *y = axle__result("constant", like->device, (int)axle__dtype(like), 0, NULL);
    return y ? axle__checked(axle__fill(y, value), y) : NULL;
}

axle_tensor *axle__copy(const char *who, axle_tensor *x, int dtype)
{
    axle_tensor *y = axle__result(who, x->device, dtype, axle__rank(x), x->view.dim);
    return y ? axle__checked(axle__copy_into(y, x), y) : NULL;
}

axle_tensor *axle__row_major(const char *who, axle_tensor *x)
{
    return x->row_major ? x : axle__copy(who, x, (int)axle__dtype(x));
}
