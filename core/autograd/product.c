/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices. */
#include "axle/ops.h"

#include <string.h>

#include "autograd/autocast.h"
#include "autograd/node.h"
#include "tensor/elementwise.h"
#include "tensor/matmul.h"
#include "tensor/reduce.h"
#include "tensor/shape.h"

/* ------------------------------------------------------------------ matmul */

/* Gradient of one operand, in its own dims: left . right, summed over what was repeated. */
static axle_tensor *product_gradient(axle__node *node, int k, const axle_view *left,
                                     const axle_view *right, const axle_tensor *operand)
{
    int rank;
    int64_t dims[AXLE_MAX_RANK];
    axle__broadcast((int)left->rank - 2, left->dim, (int)right->rank - 2, right->dim, &rank, dims);
    dims[rank] = left->dim[left->rank - 2];
    dims[rank + 1] = right->dim[right->rank - 1];
    bool same = axle__dims_equal(rank + 2, dims, axle__rank(operand), operand->view.dim);
    int dtype = (int)axle__dtype(operand);
    axle_tensor *g = same ? axle__grad_target(node, k, operand->device, dtype, rank + 2, dims)
                          : axle__result(node->rule->name, operand->device, dtype, rank + 2, dims);
    if (!g || axle__product(operand->device, left, right, NULL, &g->view, 0))
        return NULL;
    return same ? g : axle__sum_to(g, axle__rank(operand), operand->view.dim);
}

static int matmul_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    axle_tensor *a = axle__saved(node, 0), *b = axle__saved(node, 1);
    if (axle__wanted(node, 0)) {
        axle_view bt = axle__view_swapped(&b->view, axle__rank(b) - 2, axle__rank(b) - 1);
        dx[0] = product_gradient(node, 0, &dy[0]->view, &bt, a);
        if (!dx[0])
            return axle_error_code();
    }
    if (axle__wanted(node, 1)) {
        axle_view at = axle__view_swapped(&a->view, axle__rank(a) - 2, axle__rank(a) - 1);
        dx[1] = product_gradient(node, 1, &at, &dy[0]->view, b);
        if (!dx[1])
            return axle_error_code();
    }
    return AXLE_OK;
}

static const axle__rule matmul_rule = {"matmul", matmul_backward, NULL};

/* Both of rank 2 at least. */
static axle_tensor *matrices(axle_tensor *a, axle_tensor *b)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    int ra = axle__rank(a), rb = axle__rank(b), rank;
    int64_t dims[AXLE_MAX_RANK], inner = a->view.dim[ra - 1];
    if (inner != b->view.dim[rb - 2]) {
        axle_error_set(AXLE_ERR_SHAPE, "matmul: inner sizes differ, %lld and %lld, in %s and %s",
                       (long long)inner, (long long)b->view.dim[rb - 2], axle__shape_text(a, ta),
                       axle__shape_text(b, tb));
        return NULL;
    }
    if (!axle__broadcast(ra - 2, a->view.dim, rb - 2, b->view.dim, &rank, dims)) {
        axle_error_set(AXLE_ERR_SHAPE, "matmul: leading dims of %s and %s do not broadcast",
                       axle__shape_text(a, ta), axle__shape_text(b, tb));
        return NULL;
    }
    dims[rank] = a->view.dim[ra - 2];
    dims[rank + 1] = b->view.dim[rb - 1];
    axle_tensor *y = axle__result("matmul", a->device, (int)axle__dtype(a), rank + 2, dims);
    if (!y || axle__product(a->device, &a->view, &b->view, NULL, &y->view, 0))
        return NULL;
    axle_tensor *in[] = {a, b};
    return axle__record(&matmul_rule, y, in, 2, in, 2, NULL, 0);
}

axle_tensor *axle_matmul(axle_tensor *a, axle_tensor *b)
{
    if (!AXLE__AUTOCAST(matmul, &a, &b) || !a || !b || axle__check_float("matmul", a) ||
        axle__check_pair("matmul", a, b) || axle__check_rank_at_least("matmul", a, 1) ||
        axle__check_rank_at_least("matmul", b, 1))
        return NULL;
    bool row = axle__rank(a) == 1, column = axle__rank(b) == 1;
    if (row)
        a = axle_unsqueeze(a, 0);
    if (column)
        b = axle_unsqueeze(b, 1);
    if (!a || !b)
        return NULL;
    axle_tensor *y = NULL;
    if (axle__rank(b) == 2 && axle__rank(a) > 2 && a->row_major) {
        /* One product over all rows instead of a batch of them. */
        int64_t dims[AXLE_MAX_RANK];
        memcpy(dims, a->view.dim, sizeof(dims));
        dims[axle__rank(a) - 1] = b->view.dim[1];
        y = matrices(axle_flatten(a, 0, axle__rank(a) - 2), b);
        y = y ? axle_reshape(y, axle__rank(a), dims) : NULL;
    } else {
        y = matrices(a, b);
    }
    if (y && column)
        y = axle_squeeze(y, -1);
    if (y && row)
        y = axle_squeeze(y, column ? -1 : -2);
    return y;
}

/* ------------------------------------------------------------------ linear */

/* A row-major tensor as a matrix of its last dim. */
static axle_view as_rows(const axle_tensor *x)
{
    int last = axle__rank(x) - 1;
    int64_t rows = 1;
    for (int k = 0; k < last; k++)
        rows *= x->view.dim[k];
    return axle__matrix_view(x, rows, x->view.dim[last]);
}

typedef struct linear_attrs {
    uint32_t activation;
} linear_attrs;

static int linear_bias_gradient(axle__node *node, axle_tensor *rows, axle_tensor **dx)
{
    int64_t features = rows->view.dim[axle__rank(rows) - 1];
    axle_tensor *g = axle__grad_target(node, 2, rows->device, (int)axle__dtype(rows), 1, &features);
    if (!g)
        return axle_error_code();
    axle_tensor sum = *g,
                matrix = *rows; /* borrowed views with the rank that the reduction wants */
    matrix.view = as_rows(rows);
    sum.view.rank = 2;
    sum.view.dim[0] = 1;
    sum.view.dim[1] = features;
    sum.view.stride[1] = g->view.stride[0];
    sum.view.stride[0] = features;
    dx[2] = g;
    return axle__reduce_into(AXLE_REDUCE_SUM, 1, 0.0, &matrix, &sum);
}

static int linear_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const linear_attrs *attrs = node->attrs;
    axle_tensor *x = axle__saved(node, 0), *weight = axle__saved(node, 1), *g = dy[0];
    if (attrs->activation)
        g = axle__unary_backward(attrs->activation, 0.0, 0.0, g, axle__saved(node, 2));
    g = g ? axle__row_major("linear", g) : NULL;
    if (!g)
        return axle_error_code();
    axle_view rows = as_rows(g);
    axle_device *device = x->device;
    int status = AXLE_OK;
    if (axle__wanted(node, 0)) {
        dx[0] = axle__result("linear", device, (int)axle__dtype(x), axle__rank(x), x->view.dim);
        axle_view to = dx[0] ? as_rows(dx[0]) : rows;
        status =
            dx[0] ? axle__product(device, &rows, &weight->view, NULL, &to, 0) : axle_error_code();
    }
    if (!status && axle__wanted(node, 1)) {
        axle_view columns = axle__view_swapped(&rows, 0, 1), inputs = as_rows(x);
        dx[1] = axle__grad_target(node, 1, device, (int)axle__dtype(weight), 2, weight->view.dim);
        status = dx[1] ? axle__product(device, &columns, &inputs, NULL, &dx[1]->view, 0)
                       : axle_error_code();
    }
    if (!status && axle__wanted(node, 2))
        status = linear_bias_gradient(node, g, dx);
    return status;
}

static const axle__rule linear_rule = {"linear", linear_backward, NULL};

static int check_linear(const axle_tensor *x, const axle_tensor *weight, const axle_tensor *bias)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    if (axle__check_float("linear", x) || axle__check_pair("linear", x, weight) ||
        (bias && axle__check_pair("linear", x, bias)) || axle__check_rank_at_least("linear", x, 1))
        return axle_error_code();
    if (axle__rank(weight) != 2 || weight->view.dim[1] != x->view.dim[axle__rank(x) - 1])
        return axle_error_set(AXLE_ERR_SHAPE, "linear: input %s does not fit weight %s",
                              axle__shape_text(x, ta), axle__shape_text(weight, tb));
    if (bias && (axle__rank(bias) != 1 || bias->view.dim[0] != weight->view.dim[0]))
        return axle_error_set(AXLE_ERR_SHAPE, "linear: bias %s does not fit weight %s",
                              axle__shape_text(bias, ta), axle__shape_text(weight, tb));
    return AXLE_OK;
}

static axle_tensor *linear(axle_tensor *x, axle_tensor *weight, axle_tensor *bias,
                           uint32_t activation)
{
    if (!AXLE__AUTOCAST(linear, &x, &weight, &bias) || !x || !weight ||
        check_linear(x, weight, bias))
        return NULL;
    if (!x->row_major && !(x = axle_contiguous(x)))
        return NULL;
    int64_t dims[AXLE_MAX_RANK];
    memcpy(dims, x->view.dim, sizeof(dims));
    dims[axle__rank(x) - 1] = weight->view.dim[0];
    axle_tensor *y = axle__result("linear", x->device, (int)axle__dtype(x), axle__rank(x), dims);
    if (!y)
        return NULL;
    axle_view rows = as_rows(x), to = as_rows(y);
    axle_view columns = axle__view_swapped(&weight->view, 0, 1);
    if (axle__product(x->device, &rows, &columns, bias ? &bias->view : NULL, &to, activation))
        return NULL;
    axle_tensor *in[] = {x, weight, bias}, *keep[] = {x, weight, activation ? y : NULL};
    linear_attrs attrs = {activation};
    return axle__record(&linear_rule, y, in, 3, keep, 3, &attrs, sizeof(attrs));
}

axle_tensor *axle_linear(axle_tensor *x, axle_tensor *weight, axle_tensor *bias)
{
    return linear(x, weight, bias, 0);
}

axle_tensor *axle_linear_relu(axle_tensor *x, axle_tensor *weight, axle_tensor *bias)
{
    return linear(x, weight, bias, AXLE_UNARY_RELU);
}
