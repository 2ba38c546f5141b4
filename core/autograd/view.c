/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that look at the same storage in another way. */
#include <string.h>

#include "axle/ops.h"

#include "autograd/node.h"
#include "tensor/elementwise.h"
#include "tensor/reduce.h"
#include "tensor/shape.h"

typedef struct shape_attrs {
    int rank;
    int64_t dims[AXLE_MAX_RANK];
} shape_attrs;

static shape_attrs shape_of(const axle_tensor *x)
{
    shape_attrs attrs = {.rank = axle__rank(x)};
    memcpy(attrs.dims, x->view.dim, sizeof(attrs.dims));
    return attrs;
}

/* ------------------------------------------------------------------ reshape */

/* Strides with which a view has other dims; false where it has to be copied. */
static bool reshaped_strides(const axle_view *view, int rank, const int64_t *dims, int64_t *strides)
{
    axle_view old = *view;
    axle_view *views[] = {&old};
    axle__views_merge(views, 1, false);
    int source = (int)old.rank - 1;
    int64_t left = source >= 0 ? old.dim[source] : 1;
    int64_t stride = source >= 0 ? old.stride[source] : 1;
    for (int k = rank - 1; k >= 0; k--) {
        strides[k] = stride;
        if (dims[k] == 1)
            continue;
        if (left % dims[k] != 0)
            return false;
        left /= dims[k];
        stride *= dims[k];
        if (left == 1 && source > 0) {
            source--;
            left = old.dim[source];
            stride = old.stride[source];
        }
    }
    return true;
}

/* Replace a dim of -1; false and an error where the number of elements does not fit. */
static bool complete_dims(const char *who, const axle_tensor *x, int rank, const int64_t *dims,
                          int64_t *out)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    int open = -1;
    int64_t known = 1;
    if (rank < 0 || rank > AXLE_MAX_RANK) {
        axle_error_set(AXLE_ERR_SHAPE, "%s: rank %d is not in 0..%d", who, rank, AXLE_MAX_RANK);
        return false;
    }
    if (axle__check_array(who, rank, dims))
        return false;
    bool fits = true;
    for (int k = 0; k < rank; k++) {
        out[k] = dims[k];
        if (dims[k] == -1 && open < 0)
            open = k;
        else if (dims[k] < 0 || (dims[k] > 0 && known > INT64_MAX / dims[k]))
            fits = false;
        else
            known *= dims[k];
    }
    if (fits && open >= 0) {
        fits = known > 0 && x->count % known == 0;
        out[open] = fits ? x->count / known : 0;
    } else if (fits) {
        fits = known == x->count;
    }
    if (!fits)
        axle_error_set(AXLE_ERR_SHAPE, "%s: %s does not fit into %s", who, axle__shape_text(x, ta),
                       axle__dims_text(rank, dims, tb));
    return fits;
}

static int reshape_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const shape_attrs *attrs = node->attrs;
    dx[0] = axle_reshape(dy[0], attrs->rank, attrs->dims);
    return axle__given(dx[0]);
}

static const axle__rule reshape_rule = {"reshape", reshape_backward, NULL};

static axle_tensor *reshaped(const char *who, axle_tensor *x, int rank, const int64_t *dims)
{
    int64_t wanted[AXLE_MAX_RANK], strides[AXLE_MAX_RANK];
    if (!x || !complete_dims(who, x, rank, dims, wanted))
        return NULL;
    axle_tensor *source = x;
    if (x->count == 0) {
        axle__row_major_strides(rank, wanted, strides);
    } else if (!reshaped_strides(&x->view, rank, wanted, strides)) {
        source = axle__copy(who, x, (int)axle__dtype(x));
        axle__row_major_strides(rank, wanted, strides);
    }
    axle_tensor *y = source ? axle__reviewed(source, rank, wanted, strides) : NULL;
    shape_attrs attrs = shape_of(x);
    return axle__record(&reshape_rule, y, &x, 1, NULL, 0, &attrs, sizeof(attrs));
}

axle_tensor *axle_reshape(axle_tensor *x, int rank, const int64_t *dims)
{
    return reshaped("reshape", x, rank, dims);
}

axle_tensor *axle_flatten(axle_tensor *x, int first, int last)
{
    if (!x)
        return NULL;
    if (axle__rank(x) == 0) {
        int64_t one = 1;
        return reshaped("flatten", x, 1, &one);
    }
    first = axle__dim_index("flatten", axle__rank(x), first);
    last = axle__dim_index("flatten", axle__rank(x), last);
    if (first < 0 || last < 0)
        return NULL;
    if (first > last) {
        axle_error_set(AXLE_ERR_SHAPE, "flatten: dim %d comes after %d", first, last);
        return NULL;
    }
    int64_t dims[AXLE_MAX_RANK];
    int rank = 0;
    for (int k = 0; k < axle__rank(x); k++) {
        if (k > first && k <= last)
            dims[rank - 1] *= x->view.dim[k];
        else
            dims[rank++] = x->view.dim[k];
    }
    return reshaped("flatten", x, rank, dims);
}

axle_tensor *axle_unsqueeze(axle_tensor *x, int dim)
{
    if (!x)
        return NULL;
    int rank = axle__rank(x) + 1, place = axle__dim_index("unsqueeze", rank, dim);
    int64_t dims[AXLE_MAX_RANK + 1];
    if (place < 0)
        return NULL;
    for (int k = 0; k < rank; k++)
        dims[k] = k == place ? 1 : x->view.dim[k < place ? k : k - 1];
    return reshaped("unsqueeze", x, rank, dims);
}

axle_tensor *axle_squeeze(axle_tensor *x, int dim)
{
    int place = x ? axle__dim_index("squeeze", axle__rank(x), dim) : -1;
    int64_t dims[AXLE_MAX_RANK];
    if (place < 0)
        return NULL;
    if (x->view.dim[place] != 1) {
        axle_error_set(AXLE_ERR_SHAPE, "squeeze: dim %d is %lld, not 1", place,
                       (long long)x->view.dim[place]);
        return NULL;
    }
    int rank = 0;
    for (int k = 0; k < axle__rank(x); k++)
        if (k != place)
            dims[rank++] = x->view.dim[k];
    return reshaped("squeeze", x, rank, dims);
}

/* ------------------------------------------------------------------ permute */

typedef struct order_attrs {
    int order[AXLE_MAX_RANK];
} order_attrs;

static int permute_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const order_attrs *attrs = node->attrs;
    int inverse[AXLE_MAX_RANK];
    for (int k = 0; k < axle__rank(dy[0]); k++)
        inverse[attrs->order[k]] = k;
    dx[0] = axle_permute(dy[0], inverse);
    return axle__given(dx[0]);
}

static const axle__rule permute_rule = {"permute", permute_backward, NULL};

axle_tensor *axle_permute(axle_tensor *x, const int *order)
{
    if (!x)
        return NULL;
    order_attrs attrs = {0};
    int64_t dims[AXLE_MAX_RANK], strides[AXLE_MAX_RANK];
    uint32_t mask;
    if (axle__rank(x) > 0 &&
        !axle__dims_mask("permute", axle__rank(x), axle__rank(x), order, &mask))
        return NULL;
    for (int k = 0; k < axle__rank(x); k++) {
        attrs.order[k] = order[k] < 0 ? order[k] + axle__rank(x) : order[k];
        dims[k] = x->view.dim[attrs.order[k]];
        strides[k] = x->view.stride[attrs.order[k]];
    }
    axle_tensor *y = axle__reviewed(x, axle__rank(x), dims, strides);
    return axle__record(&permute_rule, y, &x, 1, NULL, 0, &attrs, sizeof(attrs));
}

axle_tensor *axle_transpose(axle_tensor *x, int a, int b)
{
    if (!x)
        return NULL;
    a = axle__dim_index("transpose", axle__rank(x), a);
    b = axle__dim_index("transpose", axle__rank(x), b);
    if (a < 0 || b < 0)
        return NULL;
    int order[AXLE_MAX_RANK];
    for (int k = 0; k < axle__rank(x); k++)
        order[k] = k == a ? b : k == b ? a : k;
    return axle_permute(x, order);
}

/* ------------------------------------------------------------------ expand */

static int expand_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const shape_attrs *attrs = node->attrs;
    dx[0] = axle__sum_to(dy[0], attrs->rank, attrs->dims);
    return axle__given(dx[0]);
}

static const axle__rule expand_rule = {"expand", expand_backward, NULL};

axle_tensor *axle_expand(axle_tensor *x, int rank, const int64_t *dims)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    int64_t wide[AXLE_MAX_RANK];
    int wide_rank;
    if (!x || axle__dims_count("expand", rank, dims) < 0)
        return NULL;
    if (!axle__broadcast(axle__rank(x), x->view.dim, rank, dims, &wide_rank, wide) ||
        !axle__dims_equal(wide_rank, wide, rank, dims)) {
        axle_error_set(AXLE_ERR_SHAPE, "expand: %s does not repeat to %s", axle__shape_text(x, ta),
                       axle__dims_text(rank, dims, tb));
        return NULL;
    }
    axle_view view = x->view;
    axle__view_expand(&view, rank, dims);
    axle_tensor *y = axle__scope_own(axle__tensor_alias(x, &view));
    shape_attrs attrs = shape_of(x);
    return axle__record(&expand_rule, y, &x, 1, NULL, 0, &attrs, sizeof(attrs));
}

/* ------------------------------------------------------------------ slice */

typedef struct slice_attrs {
    shape_attrs shape;
    int dim;
    int64_t start, end, step;
} slice_attrs;

/* Write dy into zeros of the source's dims. */
static int slice_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const slice_attrs *a = node->attrs;
    axle_tensor *g = axle__grad_target(node, 0, dy[0]->device, (int)axle__dtype(dy[0]),
                                       a->shape.rank, a->shape.dims);
    if (!g || axle__fill(g, 0.0))
        return axle_error_code();
    axle_tensor *part = axle_slice(g, a->dim, a->start, a->end, a->step);
    if (!part || axle__copy_into(part, dy[0]))
        return axle_error_code();
    dx[0] = g;
    return AXLE_OK;
}

static const axle__rule slice_rule = {"slice", slice_backward, NULL};

static int64_t clamped(int64_t bound, int64_t size)
{
    if (bound < 0)
        bound += size;
    return bound < 0 ? 0 : bound > size ? size : bound;
}

axle_tensor *axle_slice(axle_tensor *x, int dim, int64_t start, int64_t end, int64_t step)
{
    if (!x)
        return NULL;
    slice_attrs a = {.shape = shape_of(x), .step = step};
    a.dim = axle__dim_index("slice", axle__rank(x), dim);
    if (a.dim < 0)
        return NULL;
    if (step < 1) {
        axle_error_set(AXLE_ERR_INVALID, "slice: step %lld is not positive", (long long)step);
        return NULL;
    }
    a.start = clamped(start, x->view.dim[a.dim]);
    a.end = clamped(end, x->view.dim[a.dim]);
    axle_view view = x->view;
    int64_t length = a.end > a.start ? a.end - a.start : 0;
    view.dim[a.dim] = length / step + (length % step != 0);
    if (view.dim[a.dim] > 0 && x->count > 0)
        view.offset += (uint64_t)(a.start * view.stride[a.dim]) * axle_dtype_size((int)view.dtype);
    if (view.dim[a.dim] > 1)
        view.stride[a.dim] *= step;
    axle_tensor *y = axle__scope_own(axle__tensor_alias(x, &view));
    return axle__record(&slice_rule, y, &x, 1, NULL, 0, &a, sizeof(a));
}

axle_tensor *axle_select(axle_tensor *x, int dim, int64_t index)
{
    int place = x ? axle__dim_index("select", axle__rank(x), dim) : -1;
    if (place < 0)
        return NULL;
    int64_t size = x->view.dim[place], at = index < 0 ? index + size : index;
    if (at < 0 || at >= size) {
        axle_error_set(AXLE_ERR_INDEX, "select: index %lld is out of range for dim %d of %lld",
                       (long long)index, place, (long long)size);
        return NULL;
    }
    return axle_squeeze(axle_slice(x, place, at, at + 1, 1), place);
}
