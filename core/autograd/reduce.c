/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over dims. */
#include "axle/ops.h"

#include <math.h>

#include "autograd/autocast.h"
#include "autograd/node.h"
#include "tensor/elementwise.h"
#include "tensor/reduce.h"
#include "tensor/shape.h"

typedef struct reduce_attrs {
    uint32_t mask;
    double parameter;
    int rank;
    int64_t dims[AXLE_MAX_RANK]; /* of the input */
} reduce_attrs;

/* Number of elements that go into one result. */
static int64_t reduced_count(const reduce_attrs *attrs)
{
    int64_t count = 1;
    for (int k = 0; k < attrs->rank; k++)
        count *= attrs->mask >> k & 1 ? attrs->dims[k] : 1;
    return count;
}

/* Give a result back the dims that were reduced, as 1. */
static axle_tensor *kept(const axle__node *node, axle_tensor *y)
{
    const reduce_attrs *attrs = node->attrs;
    int64_t dims[AXLE_MAX_RANK];
    for (int k = 0; k < attrs->rank; k++)
        dims[k] = attrs->mask >> k & 1 ? 1 : attrs->dims[k];
    return axle_reshape(y, attrs->rank, dims);
}

/* Repeat a result over the input's dims. */
static axle_tensor *spread(const axle__node *node, axle_tensor *g)
{
    const reduce_attrs *attrs = node->attrs;
    return axle_expand(g, attrs->rank, attrs->dims);
}

static int sum_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    dx[0] = spread(node, kept(node, dy[0]));
    return axle__given(dx[0]);
}

static int mean_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    double count = (double)reduced_count(node->attrs);
    dx[0] = spread(node, axle_mul_scalar(kept(node, dy[0]), 1.0 / count));
    return axle__given(dx[0]);
}

/* Shared evenly among the elements that equal the extreme. */
static int extreme_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const reduce_attrs *attrs = node->attrs;
    axle_tensor *x = axle__saved(node, 0), *y = kept(node, axle__saved(node, 1));
    axle_tensor *equal = y ? axle_eq(x, y) : NULL;
    axle_tensor *ones = axle_cast(equal, (int)axle__dtype(x));
    axle_tensor *n = ones ? axle__reduce(AXLE_REDUCE_SUM, attrs->mask, true, 0.0, ones) : NULL;
    axle_tensor *share = axle_div(kept(node, dy[0]), n);
    dx[0] = axle_where(equal, share, axle__constant(x, 0.0));
    return axle__given(dx[0]);
}

/* y/x, and where x is 0 the product of the others. */
static int prod_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const reduce_attrs *attrs = node->attrs;
    axle_tensor *x = axle__saved(node, 0);
    axle_tensor *zero = axle__constant(x, 0.0), *one = axle__constant(x, 1.0);
    axle_tensor *is_zero = axle_eq(x, zero);
    axle_tensor *safe = axle_where(is_zero, one, x),
                *ones = axle_cast(is_zero, (int)axle__dtype(x));
    if (!safe || !ones)
        return axle_error_code();
    axle_tensor *others = axle__reduce(AXLE_REDUCE_PROD, attrs->mask, true, 0.0, safe);
    axle_tensor *zeros = axle__reduce(AXLE_REDUCE_SUM, attrs->mask, true, 0.0, ones);
    /* Zeros among the others: all but this element itself. */
    axle_tensor *left = axle_sub(zeros, ones);
    axle_tensor *slope = axle_where(axle_eq(left, zero), axle_div(others, safe), zero);
    dx[0] = axle_mul(kept(node, dy[0]), slope);
    return axle__given(dx[0]);
}

static int var_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const reduce_attrs *attrs = node->attrs;
    double divisor = fmax(0.0, (double)reduced_count(attrs) - attrs->parameter);
    axle_tensor *x = axle__saved(node, 0);
    axle_tensor *mean = axle__reduce(AXLE_REDUCE_MEAN, attrs->mask, true, 0.0, x);
    axle_tensor *scaled = axle_mul_scalar(kept(node, dy[0]), 2.0 / divisor);
    dx[0] = axle_mul(scaled, axle_sub(x, mean));
    return axle__given(dx[0]);
}

static int norm1_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    dx[0] = axle_mul(kept(node, dy[0]), axle_sign(axle__saved(node, 0)));
    return axle__given(dx[0]);
}

static int norm2_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    axle_tensor *x = axle__saved(node, 0), *norm = kept(node, axle__saved(node, 1));
    axle_tensor *zero = norm ? axle__constant(norm, 0.0) : NULL;
    axle_tensor *share = axle_div(kept(node, dy[0]), norm);
    dx[0] = axle_mul(x, axle_where(axle_eq(norm, zero), zero, share));
    return axle__given(dx[0]);
}

static const axle__rule rules[AXLE_REDUCE_LIMIT] = {
    [AXLE_REDUCE_SUM] = {"sum", sum_backward, NULL},
    [AXLE_REDUCE_MEAN] = {"mean", mean_backward, NULL},
    [AXLE_REDUCE_PROD] = {"prod", prod_backward, NULL},
    [AXLE_REDUCE_MAX] = {"max", extreme_backward, NULL},
    [AXLE_REDUCE_MIN] = {"min", extreme_backward, NULL},
    [AXLE_REDUCE_VAR] = {"var", var_backward, NULL},
    [AXLE_REDUCE_NORM1] = {"norm", norm1_backward, NULL},
    [AXLE_REDUCE_NORM2] = {"norm", norm2_backward, NULL},
};

static bool wants_float(uint32_t kind)
{
    return kind == AXLE_REDUCE_MEAN || kind == AXLE_REDUCE_VAR || kind == AXLE_REDUCE_NORM1 ||
           kind == AXLE_REDUCE_NORM2;
}

/* any and all take every type. */
static int check_type(uint32_t kind, const axle_tensor *x)
{
    if (kind == AXLE_REDUCE_ANY || kind == AXLE_REDUCE_ALL)
        return AXLE_OK;
    const char *who = axle__reduce_name(kind);
    return wants_float(kind) ? axle__check_float(who, x) : axle__check_number(who, x);
}

static const uint8_t autocast_policy[AXLE_REDUCE_LIMIT] = {
#define POLICY(id) [AXLE_REDUCE_##id] = AXLE__CAST_FULL,
    AXLE__AUTOCAST_REDUCE_LIST(POLICY)
#undef POLICY
};

static axle_tensor *reduce(uint32_t kind, int n, const int *dims, int keepdim, double parameter,
                           axle_tensor *x)
{
    if (!axle__autocast(autocast_policy[kind], (axle_tensor * *const[]){&x, NULL}) || !x ||
        check_type(kind, x))
        return NULL;
    reduce_attrs attrs = {.parameter = parameter, .rank = axle__rank(x)};
    if (!axle__dims_mask(axle__reduce_name(kind), attrs.rank, n, dims, &attrs.mask))
        return NULL;
    for (int k = 0; k < attrs.rank; k++)
        attrs.dims[k] = x->view.dim[k];
    axle_tensor *y = axle__reduce(kind, attrs.mask, keepdim != 0, parameter, x);
    if (!y || !rules[kind].backward)
        return y;
    bool needs_none = kind == AXLE_REDUCE_SUM || kind == AXLE_REDUCE_MEAN;
    axle_tensor *keep[] = {x, y};
    return axle__record(&rules[kind], y, &x, 1, keep, needs_none ? 0 : 2, &attrs, sizeof(attrs));
}

axle_tensor *axle_sum(axle_tensor *x, int n, const int *dims, int keepdim)
{
    return reduce(AXLE_REDUCE_SUM, n, dims, keepdim, 0.0, x);
}

axle_tensor *axle_mean(axle_tensor *x, int n, const int *dims, int keepdim)
{
    return reduce(AXLE_REDUCE_MEAN, n, dims, keepdim, 0.0, x);
}

axle_tensor *axle_prod(axle_tensor *x, int n, const int *dims, int keepdim)
{
    return reduce(AXLE_REDUCE_PROD, n, dims, keepdim, 0.0, x);
}

axle_tensor *axle_max(axle_tensor *x, int n, const int *dims, int keepdim)
{
    return reduce(AXLE_REDUCE_MAX, n, dims, keepdim, 0.0, x);
}

axle_tensor *axle_min(axle_tensor *x, int n, const int *dims, int keepdim)
{
    return reduce(AXLE_REDUCE_MIN, n, dims, keepdim, 0.0, x);
}

axle_tensor *axle_var(axle_tensor *x, int n, const int *dims, int keepdim, double correction)
{
    return reduce(AXLE_REDUCE_VAR, n, dims, keepdim, correction, x);
}

axle_tensor *axle_norm(axle_tensor *x, int n, const int *dims, int keepdim, int p)
{
    if (p == 1 || p == 2)
        return reduce(p == 1 ? AXLE_REDUCE_NORM1 : AXLE_REDUCE_NORM2, n, dims, keepdim, 0.0, x);
    axle_error_set(AXLE_ERR_INVALID, "norm: p is %d, must be 1 or 2", p);
    return NULL;
}

axle_tensor *axle_any(axle_tensor *x, int n, const int *dims, int keepdim)
{
    return reduce(AXLE_REDUCE_ANY, n, dims, keepdim, 0.0, x);
}

axle_tensor *axle_all(axle_tensor *x, int n, const int *dims, int keepdim)
{
    return reduce(AXLE_REDUCE_ALL, n, dims, keepdim, 0.0, x);
}

axle_tensor *axle_sum_all(axle_tensor *x)
{
    return axle_sum(x, 0, NULL, 0);
}

axle_tensor *axle_mean_all(axle_tensor *x)
{
    return axle_mean(x, 0, NULL, 0);
}

static axle_tensor *arg_reduce(uint32_t kind, axle_tensor *x, int dim, int keepdim)
{
    const char *who = kind == AXLE_REDUCE_MAX ? "argmax" : "argmin";
    int place = x ? axle__dim_index(who, axle__rank(x), dim) : -1;
    return place < 0 ? NULL : axle__arg_reduce(kind, place, keepdim != 0, x);
}

axle_tensor *axle_argmax(axle_tensor *x, int dim, int keepdim)
{
    return arg_reduce(AXLE_REDUCE_MAX, x, dim, keepdim);
}

axle_tensor *axle_argmin(axle_tensor *x, int dim, int keepdim)
{
    return arg_reduce(AXLE_REDUCE_MIN, x, dim, keepdim);
}
