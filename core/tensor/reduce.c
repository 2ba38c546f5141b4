/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/reduce.h"

#include <string.h>

#include "tensor/elementwise.h"
#include "tensor/shape.h"

const char *axle__reduce_name(uint32_t kind)
{
    static const char *const names[AXLE_REDUCE_LIMIT] = {
#define KIND(number, id, text) [number] = text,
        AXLE_REDUCE_LIST(KIND)
#undef KIND
    };
    return names[kind];
}

/* Merge neighbouring dims that are both reduced or both kept; returns the mask of the merged dims.
 */
static uint32_t merge_dims(axle_view *x, axle_view *y, uint32_t mask)
{
    uint32_t rank = 0, merged = 0, before = 0; /* dims so far; their mask; the last one's bit */
    for (uint32_t k = 0; k < x->rank; k++) {
        uint32_t reduced = mask >> k & 1;
        if (x->dim[k] == 1)
            continue;
        if (rank > 0 && reduced == before && x->stride[rank - 1] == x->stride[k] * x->dim[k] &&
            (reduced || y->stride[rank - 1] == y->stride[k] * y->dim[k])) {
            x->dim[rank - 1] *= x->dim[k];
            y->dim[rank - 1] *= y->dim[k];
        } else {
            x->dim[rank] = x->dim[k];
            y->dim[rank] = y->dim[k];
            merged |= reduced << rank++;
        }
        x->stride[rank - 1] = x->stride[k];
        y->stride[rank - 1] = y->stride[k];
        before = reduced;
    }
    for (uint32_t k = rank; k < x->rank; k++)
        x->dim[k] = x->stride[k] = y->dim[k] = y->stride[k] = 0;
    x->rank = y->rank = rank;
    return merged;
}

int axle__reduce_into(uint32_t kind, uint32_t mask, double parameter, const axle_tensor *x,
                      axle_tensor *y)
{
    axle_view from = x->view, to = y->view;
    axle_reduce_attrs attrs = {sizeof(attrs), kind, 0, 0, parameter};
    attrs.axes = merge_dims(&from, &to, mask);
    axle__call call = AXLE__CALL(AXLE_OP_REDUCE, attrs);
    axle__call_view_in(&call, &from);
    axle__call_view_out(&call, &to);
    axle__tensor_touch(y);
    return axle__run(&call, y);
}

axle_tensor *axle__reviewed(axle_tensor *x, int rank, const int64_t *dims, const int64_t *strides)
{
    axle_view view = x->view;
    view.rank = (uint32_t)rank;
    memset(view.dim, 0, sizeof(view.dim));
    memset(view.stride, 0, sizeof(view.stride));
    for (int k = 0; k < rank; k++) {
        view.dim[k] = dims[k];
        view.stride[k] = strides[k];
    }
    return axle__scope_own(axle__tensor_alias(x, &view));
}

/* Drop the dims of `mask`, which are 1. */
static axle_tensor *without_dims(axle_tensor *y, uint32_t mask)
{
    int64_t dims[AXLE_MAX_RANK], strides[AXLE_MAX_RANK];
    int rank = 0;
    for (int k = 0; k < axle__rank(y); k++) {
        if (mask >> k & 1)
            continue;
        dims[rank] = y->view.dim[k];
        strides[rank++] = y->view.stride[k];
    }
    return axle__reviewed(y, rank, dims, strides);
}

static axle_tensor *reduced_result(const char *who, const axle_tensor *x, uint32_t mask, int dtype)
{
    int64_t dims[AXLE_MAX_RANK];
    for (int k = 0; k < axle__rank(x); k++)
        dims[k] = mask >> k & 1 ? 1 : x->view.dim[k];
    return axle__result(who, x->device, dtype, axle__rank(x), dims);
}

static bool extreme_of_nothing(uint32_t kind, uint32_t mask, const axle_tensor *x)
{
    if (kind != AXLE_REDUCE_MAX && kind != AXLE_REDUCE_MIN)
        return false;
    for (int k = 0; k < axle__rank(x); k++)
        if ((mask >> k & 1) && x->view.dim[k] == 0)
            return true;
    return false;
}

axle_tensor *axle__reduce(uint32_t kind, uint32_t mask, bool keepdim, double parameter,
                          axle_tensor *x)
{
    const char *who = axle__reduce_name(kind);
    bool boolean = kind == AXLE_REDUCE_ANY || kind == AXLE_REDUCE_ALL;
    char text[AXLE__DIMS_TEXT];
    if (extreme_of_nothing(kind, mask, x)) {
        axle_error_set(AXLE_ERR_SHAPE, "%s: no element to choose from in %s", who,
                       axle__shape_text(x, text));
        return NULL;
    }
    axle_tensor *y = reduced_result(who, x, mask, boolean ? AXLE_DTYPE_BOOL : (int)axle__dtype(x));
    if (!y || axle__reduce_into(kind, mask, parameter, x, y))
        return NULL;
    return keepdim ? y : without_dims(y, mask);
}

axle_tensor *axle__arg_reduce(uint32_t kind, int dim, bool keepdim, axle_tensor *x)
{
    const char *who = kind == AXLE_REDUCE_MAX ? "argmax" : "argmin";
    uint32_t mask = 1u << dim;
    char text[AXLE__DIMS_TEXT];
    if (extreme_of_nothing(kind, mask, x)) {
        axle_error_set(AXLE_ERR_SHAPE, "%s: no element to choose from in %s", who,
                       axle__shape_text(x, text));
        return NULL;
    }
    axle_tensor *y = reduced_result(who, x, mask, AXLE_DTYPE_I64);
    axle_arg_reduce_attrs attrs = {sizeof(attrs), kind, (uint32_t)dim, 0};
    axle__call call = AXLE__CALL(AXLE_OP_ARG_REDUCE, attrs);
    axle__call_in(&call, x);
    axle__call_out(&call, y);
    if (!y || axle__run(&call, y))
        return NULL;
    return keepdim ? y : without_dims(y, mask);
}

axle_tensor *axle__sum_to(axle_tensor *g, int rank, const int64_t *dims)
{
    if (!g || axle__dims_equal(axle__rank(g), g->view.dim, rank, dims))
        return g;
    int shift = axle__rank(g) - rank;
    uint32_t mask = 0, leading = (1u << shift) - 1;
    for (int k = 0; k < axle__rank(g); k++)
        if (k < shift || (dims[k - shift] == 1 && g->view.dim[k] != 1))
            mask |= 1u << k;
    axle_tensor *y = axle__reduce(AXLE_REDUCE_SUM, mask, true, 0.0, g);
    return y && leading ? without_dims(y, leading) : y;
}
