/* SPDX-License-Identifier: Apache-2.0 */
/* Joining tensors, and padding. */
#include <string.h>

#include "axle/ops.h"

#include "autograd/autocast.h"
#include "autograd/node.h"
#include "base/memory.h"
#include "tensor/elementwise.h"
#include "tensor/shape.h"

/* Attributes are the dim and, for each tensor, its size there: the tensors need not be kept. */
static int concat_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const int64_t *dim = node->attrs;
    int64_t start = 0;
    for (uint32_t k = 0; k < node->n_in; k++) {
        int64_t size = dim[1 + k];
        if (axle__wanted(node, (int)k)) {
            dx[k] = axle_slice(dy[0], (int)*dim, start, start + size, 1);
            if (!dx[k])
                return axle_error_code();
        }
        start += size;
    }
    return AXLE_OK;
}

static const axle__rule concat_rule = {"concat", concat_backward, NULL};

static int check_parts(const char *who, axle_tensor *const *x, int n, int dim, int64_t *dims)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    memcpy(dims, x[0]->view.dim, AXLE_MAX_RANK * sizeof(*dims));
    for (int i = 1; i < n; i++) {
        bool fits = axle__rank(x[i]) == axle__rank(x[0]);
        for (int k = 0; k < axle__rank(x[0]) && fits; k++)
            fits = k == dim || x[i]->view.dim[k] == dims[k];
        if (!fits)
            return axle_error_set(AXLE_ERR_SHAPE, "%s: %s and %s differ outside dim %d", who,
                                  axle__shape_text(x[0], ta), axle__shape_text(x[i], tb), dim);
        int status = axle__check_pair(who, x[0], x[i]);
        if (status)
            return status;
        dims[dim] += x[i]->view.dim[dim];
    }
    return AXLE_OK;
}

static int copy_parts(axle_tensor *y, axle_tensor *const *x, int n, int dim)
{
    axle_view view = y->view;
    size_t item = axle_dtype_size((int)view.dtype);
    for (int i = 0; i < n; i++) {
        if (x[i]->count == 0)
            continue;
        view.dim[dim] = x[i]->view.dim[dim];
        axle_tensor *part = axle__tensor_alias(y, &view);
        int status = part ? axle__copy_into(part, x[i]) : axle_error_code();
        axle_tensor_release(part);
        if (status)
            return status;
        view.offset += (uint64_t)(view.dim[dim] * view.stride[dim]) * item;
    }
    return AXLE_OK;
}

/* Record the join of x; n + 1 numbers as concat_backward wants them. */
static axle_tensor *record_join(axle_tensor *y, axle_tensor *const *x, int n, int dim)
{
    if (!axle__recording(x, n))
        return y;
    size_t room = (size_t)n + 1;
    int64_t *attrs = axle__alloc(room, sizeof(*attrs));
    if (!attrs)
        return NULL;
    attrs[0] = dim;
    for (int k = 0; k < n; k++)
        attrs[1 + k] = x[k]->view.dim[dim];
    y = axle__record(&concat_rule, y, x, n, NULL, 0, attrs, room * sizeof(*attrs));
    axle__free(attrs);
    return y;
}

/* False where an input is NULL; an error where there is none. */
static bool check_list(const char *who, axle_tensor *const *x, int n)
{
    if (n < 1 || !x) {
        axle_error_set(AXLE_ERR_INVALID, "%s: no tensors to join", who);
        return false;
    }
    for (int i = 0; i < n; i++)
        if (!x[i])
            return false;
    return true;
}

static axle_tensor *join_alike(const char *who, axle_tensor *const *x, int n, int dim)
{
    int64_t dims[AXLE_MAX_RANK];
    if (axle__check_rank_at_least(who, x[0], 1))
        return NULL;
    dim = axle__dim_index(who, axle__rank(x[0]), dim);
    if (dim < 0 || check_parts(who, x, n, dim, dims))
        return NULL;
    axle_tensor *y =
        axle__result(who, x[0]->device, (int)axle__dtype(x[0]), axle__rank(x[0]), dims);
    return y && !copy_parts(y, x, n, dim) ? record_join(y, x, n, dim) : NULL;
}

static axle_tensor *join(const char *who, axle_tensor *const *x, int n, int dim)
{
    axle_tensor **owned = NULL;
    axle_tensor *const *parts = axle__autocast_list(AXLE__AUTOCAST_join, x, n, &owned);
    axle_tensor *y = parts ? join_alike(who, parts, n, dim) : NULL;
    axle__free(owned);
    return y;
}

axle_tensor *axle_concat(axle_tensor *const *x, int n, int dim)
{
    return check_list("concat", x, n) ? join("concat", x, n, dim) : NULL;
}

axle_tensor *axle_stack(axle_tensor *const *x, int n, int dim)
{
    if (!check_list("stack", x, n))
        return NULL;
    int place = axle__dim_index("stack", axle__rank(x[0]) + 1, dim);
    axle_tensor **rows = place < 0 ? NULL : axle__alloc((size_t)n, sizeof(*rows));
    if (!rows)
        return NULL;
    bool complete = true;
    for (int i = 0; i < n && complete; i++) {
        rows[i] = axle_unsqueeze(x[i], place <= axle__rank(x[i]) ? place : -1);
        complete = rows[i] != NULL;
    }
    axle_tensor *y = complete ? join("stack", rows, n, place) : NULL;
    axle__free(rows);
    return y;
}

/* ------------------------------------------------------------------ pad */

typedef struct pad_attrs {
    int64_t before[AXLE_MAX_RANK], dims[AXLE_MAX_RANK];
} pad_attrs;

/* The part of y that holds x; of the current scope. */
static axle_tensor *inside(axle_tensor *y, const pad_attrs *attrs)
{
    for (int k = 0; k < axle__rank(y); k++)
        y = axle_slice(y, k, attrs->before[k], attrs->before[k] + attrs->dims[k], 1);
    return y;
}

static int pad_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    dx[0] = inside(dy[0], node->attrs);
    return axle__given(dx[0]);
}

static const axle__rule pad_rule = {"pad", pad_backward, NULL};

axle_tensor *axle_pad(axle_tensor *x, const int64_t *before, const int64_t *after, double value)
{
    if (!x || axle__check_array("pad", axle__rank(x), before) ||
        axle__check_array("pad", axle__rank(x), after))
        return NULL;
    pad_attrs attrs = {0};
    int64_t dims[AXLE_MAX_RANK];
    for (int k = 0; k < axle__rank(x); k++) {
        if (before[k] < 0 || after[k] < 0 || before[k] > INT32_MAX || after[k] > INT32_MAX) {
            axle_error_set(AXLE_ERR_INVALID, "pad: dim %d by %lld and %lld", k,
                           (long long)before[k], (long long)after[k]);
            return NULL;
        }
        attrs.before[k] = before[k];
        attrs.dims[k] = x->view.dim[k];
        dims[k] = before[k] + x->view.dim[k] + after[k];
    }
    axle_tensor *y = axle__result("pad", x->device, (int)axle__dtype(x), axle__rank(x), dims);
    if (!y || axle__fill(y, value))
        return NULL;
    axle_no_grad_push();
    axle_tensor *part = inside(y, &attrs);
    axle_no_grad_pop();
    if (!part || axle__copy_into(part, x))
        return NULL;
    return axle__record(&pad_rule, y, &x, 1, NULL, 0, &attrs, sizeof(attrs));
}
