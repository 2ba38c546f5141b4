/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that look elements up by index. */
#include "axle/ops.h"

#include <string.h>

#include "autograd/autocast.h"
#include "autograd/node.h"
#include "tensor/elementwise.h"
#include "tensor/reduce.h"
#include "tensor/run.h"
#include "tensor/shape.h"

static int check_index(const char *who, const axle_tensor *x, const axle_tensor *index)
{
    int status = axle__check_index_dtype(who, index);
    return status ? status : axle__check_same_device(who, x, index);
}

/* ------------------------------------------------------------------ embedding */

/* A row-major tensor as rows of that many columns. */
static axle_view rows_of(const axle_tensor *x, int64_t columns)
{
    return axle__matrix_view(x, columns ? x->count / columns : 0, columns);
}

/* Kept: weight, ids. */
static int embedding_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    axle_embedding_attrs attrs = *(const axle_embedding_attrs *)node->attrs;
    axle_tensor *weight = axle__saved(node, 0), *ids = axle__saved(node, 1);
    axle_tensor *g = axle__row_major("embedding", dy[0]);
    dx[0] =
        axle__grad_target(node, 0, weight->device, (int)axle__dtype(weight), 2, weight->view.dim);
    if (!g || !dx[0])
        return axle_error_code();
    axle_view gv = rows_of(g, weight->view.dim[1]), iv = axle__vector_view(ids);
    axle__call call = AXLE__CALL(AXLE_OP_EMBEDDING_BACKWARD, attrs);
    axle__call_view_in(&call, &gv);
    axle__call_view_in(&call, &iv);
    axle__call_out(&call, dx[0]);
    return axle__run(&call, weight);
}

static const axle__rule embedding_rule = {"embedding", embedding_backward, NULL};

axle_tensor *axle_embedding(axle_tensor *weight, axle_tensor *ids, int64_t padding_idx)
{
    char text[AXLE__DIMS_TEXT];
    if (!weight || !ids || axle__check_float("embedding", weight) ||
        check_index("embedding", weight, ids))
        return NULL;
    if (axle__rank(weight) != 2 || axle__rank(ids) >= AXLE_MAX_RANK) {
        axle_error_set(AXLE_ERR_SHAPE, "embedding: weight %s is no matrix, or ids have %d dims",
                       axle__shape_text(weight, text), axle__rank(ids));
        return NULL;
    }
    if (padding_idx < -1 || padding_idx >= weight->view.dim[0]) {
        axle_error_set(AXLE_ERR_INDEX, "embedding: padding_idx %lld is not a row of %s",
                       (long long)padding_idx, axle__shape_text(weight, text));
        return NULL;
    }
    if (!(ids = axle__row_major("embedding", ids)))
        return NULL;
    int64_t dims[AXLE_MAX_RANK];
    memcpy(dims, ids->view.dim, sizeof(dims));
    dims[axle__rank(ids)] = weight->view.dim[1];
    axle_embedding_attrs attrs = {sizeof(attrs), 0, padding_idx};
    axle_tensor *y = axle__result("embedding", weight->device, (int)axle__dtype(weight),
                                  axle__rank(ids) + 1, dims);
    if (!y)
        return NULL;
    axle_view iv = axle__vector_view(ids), yv = rows_of(y, weight->view.dim[1]);
    axle__call call = AXLE__CALL(AXLE_OP_EMBEDDING, attrs);
    axle__call_in(&call, weight);
    axle__call_view_in(&call, &iv);
    axle__call_view_out(&call, &yv);
    if (axle__run(&call, y))
        return NULL;
    axle_tensor *keep[] = {weight, ids};
    return axle__record(&embedding_rule, y, &weight, 1, keep, 2, &attrs, sizeof(attrs));
}

/* ------------------------------------------------------------------ gather and scatter */

static int run_gather(const axle_index_attrs *attrs, axle_tensor *x, axle_tensor *index,
                      axle_tensor *y)
{
    axle__call call = AXLE__CALL(AXLE_OP_GATHER, *attrs);
    axle__call_in(&call, x);
    axle__call_in(&call, index);
    axle__call_out(&call, y);
    return axle__run(&call, y);
}

static int run_scatter(uint32_t op, const axle_index_attrs *attrs, axle_tensor *index,
                       axle_tensor *src, axle_tensor *y)
{
    if (index->count == 0)
        return AXLE_OK;
    axle__call call = AXLE__CALL(op, *attrs);
    axle__call_in(&call, index);
    axle__call_in(&call, src);
    axle__call_out(&call, y);
    axle__tensor_touch(y);
    return axle__run(&call, y);
}

typedef struct index_record {
    axle_index_attrs attrs;
    int rank;
    int64_t dims[AXLE_MAX_RANK]; /* of x */
} index_record;

static index_record record_of(const axle_tensor *x, int axis, bool accumulate)
{
    index_record r = {.attrs = {sizeof(r.attrs), (uint32_t)axis, accumulate, 0},
                      .rank = axle__rank(x)};
    memcpy(r.dims, x->view.dim, sizeof(r.dims));
    return r;
}

/* Zeros of x's dims, with dy added at the indices. */
static int add_back(axle__node *node, uint32_t op, axle_tensor *const *dy, axle_tensor **dx)
{
    const index_record *r = node->attrs;
    axle_index_attrs attrs = r->attrs;
    attrs.accumulate = op == AXLE_OP_SCATTER;
    dx[0] = axle__grad_target(node, 0, dy[0]->device, (int)axle__dtype(dy[0]), r->rank, r->dims);
    if (!dx[0] || axle__fill(dx[0], 0.0))
        return axle_error_code();
    return run_scatter(op, &attrs, axle__saved(node, 0), dy[0], dx[0]);
}

static int gather_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    return add_back(node, AXLE_OP_SCATTER, dy, dx);
}

static const axle__rule gather_rule = {"gather", gather_backward, NULL};

/* Index and source may be smaller than x outside the axis, never larger. */
static bool check_inside(const char *who, const axle_tensor *x, int axis, const axle_tensor *index)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    bool fits = axle__rank(index) == axle__rank(x);
    for (int k = 0; k < axle__rank(x) && fits; k++)
        fits = k == axis || index->view.dim[k] <= x->view.dim[k];
    if (!fits)
        axle_error_set(AXLE_ERR_SHAPE, "%s: index %s does not fit %s", who,
                       axle__shape_text(index, ta), axle__shape_text(x, tb));
    return fits;
}

axle_tensor *axle_gather(axle_tensor *x, int dim, axle_tensor *index)
{
    if (!x || !index || check_index("gather", x, index))
        return NULL;
    int axis = axle__dim_index("gather", axle__rank(x), dim);
    if (axis < 0 || !check_inside("gather", x, axis, index))
        return NULL;
    index_record r = record_of(x, axis, false);
    axle_tensor *y =
        axle__result("gather", x->device, (int)axle__dtype(x), axle__rank(x), index->view.dim);
    if (!y || run_gather(&r.attrs, x, index, y))
        return NULL;
    return axle__record(&gather_rule, y, &x, 1, &index, 1, &r, sizeof(r));
}

/* Kept: index. Inputs: x, src. */
static int scatter_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const index_record *r = node->attrs;
    axle_tensor *index = axle__saved(node, 0);
    if (axle__wanted(node, 0)) {
        dx[0] = dy[0];
        if (!r->attrs.accumulate) {
            axle_tensor *zeros = axle__result("scatter", dy[0]->device, (int)axle__dtype(dy[0]),
                                              r->rank, index->view.dim);
            dx[0] = axle__copy("scatter", dy[0], (int)axle__dtype(dy[0]));
            if (!zeros || !dx[0] || axle__fill(zeros, 0.0) ||
                run_scatter(AXLE_OP_SCATTER, &r->attrs, index, zeros, dx[0]))
                return axle_error_code();
        }
    }
    if (axle__wanted(node, 1)) {
        dx[1] = axle__result("scatter", dy[0]->device, (int)axle__dtype(dy[0]), r->rank,
                             index->view.dim);
        axle_index_attrs attrs = r->attrs;
        attrs.accumulate = 0;
        return dx[1] ? run_gather(&attrs, dy[0], index, dx[1]) : axle_error_code();
    }
    return AXLE_OK;
}

static const axle__rule scatter_rule = {"scatter", scatter_backward, NULL};

static axle_tensor *scatter(axle_tensor *x, int dim, axle_tensor *index, axle_tensor *src,
                            bool accumulate)
{
    const char *who = accumulate ? "scatter_add" : "scatter";
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    if (!AXLE__AUTOCAST(scatter, &x, &src) || !x || !index || !src || check_index(who, x, index) ||
        axle__check_pair(who, x, src))
        return NULL;
    int axis = axle__dim_index(who, axle__rank(x), dim);
    if (axis < 0 || !check_inside(who, x, axis, index))
        return NULL;
    if (!axle__dims_equal(axle__rank(index), index->view.dim, axle__rank(src), src->view.dim)) {
        axle_error_set(AXLE_ERR_SHAPE, "%s: index %s and source %s differ", who,
                       axle__shape_text(index, ta), axle__shape_text(src, tb));
        return NULL;
    }
    index_record r = record_of(x, axis, accumulate);
    axle_tensor *y = axle__copy(who, x, (int)axle__dtype(x));
    if (!y || run_scatter(AXLE_OP_SCATTER, &r.attrs, index, src, y))
        return NULL;
    axle_tensor *in[] = {x, src};
    return axle__record(&scatter_rule, y, in, 2, &index, 1, &r, sizeof(r));
}

axle_tensor *axle_scatter(axle_tensor *x, int dim, axle_tensor *index, axle_tensor *src)
{
    return scatter(x, dim, index, src, false);
}

axle_tensor *axle_scatter_add(axle_tensor *x, int dim, axle_tensor *index, axle_tensor *src)
{
    return scatter(x, dim, index, src, true);
}

/* ------------------------------------------------------------------ index_select, one_hot */

static int select_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    return add_back(node, AXLE_OP_INDEX_ADD, dy, dx);
}

static const axle__rule select_rule = {"index_select", select_backward, NULL};

axle_tensor *axle_index_select(axle_tensor *x, int dim, axle_tensor *index)
{
    char text[AXLE__DIMS_TEXT];
    if (!x || !index || check_index("index_select", x, index))
        return NULL;
    int axis = axle__dim_index("index_select", axle__rank(x), dim);
    if (axis < 0)
        return NULL;
    if (axle__rank(index) != 1) {
        axle_error_set(AXLE_ERR_SHAPE, "index_select: index %s is not a vector",
                       axle__shape_text(index, text));
        return NULL;
    }
    index_record r = record_of(x, axis, false);
    int64_t dims[AXLE_MAX_RANK];
    memcpy(dims, x->view.dim, sizeof(dims));
    dims[axis] = index->count;
    axle_tensor *y =
        axle__result("index_select", x->device, (int)axle__dtype(x), axle__rank(x), dims);
    axle__call call = AXLE__CALL(AXLE_OP_INDEX_SELECT, r.attrs);
    axle__call_in(&call, x);
    axle__call_in(&call, index);
    axle__call_out(&call, y);
    if (!y || axle__run(&call, y))
        return NULL;
    return axle__record(&select_rule, y, &x, 1, &index, 1, &r, sizeof(r));
}

axle_tensor *axle_one_hot(axle_tensor *ids, int64_t classes, int dtype)
{
    if (!ids || axle__check_index_dtype("one_hot", ids))
        return NULL;
    int64_t dims[AXLE_MAX_RANK + 1];
    memcpy(dims, ids->view.dim, AXLE_MAX_RANK * sizeof(*dims));
    dims[axle__rank(ids)] = classes;
    axle_tensor *y = axle__result("one_hot", ids->device, dtype, axle__rank(ids) + 1, dims);
    axle__call call = {.op = AXLE_OP_ONE_HOT};
    axle__call_in(&call, ids);
    axle__call_out(&call, y);
    return y ? axle__checked(axle__run(&call, y), y) : NULL;
}
