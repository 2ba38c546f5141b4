/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/shape.h"

#include <string.h>

#include "axle/status.h"

int64_t axle__dims_count(const char *who, int rank, const int64_t *dims)
{
    if (rank < 0 || rank > AXLE_MAX_RANK) {
        axle_error_set(AXLE_ERR_SHAPE, "%s: rank %d is not in 0..%d", who, rank, AXLE_MAX_RANK);
        return -1;
    }
    if (rank > 0 && !dims) {
        axle_error_set(AXLE_ERR_INVALID, "%s: rank %d without dims", who, rank);
        return -1;
    }
    int64_t count = 1,
            extent = 1; /* extent leaves out zero dims: strides must not overflow either */
    for (int k = 0; k < rank; k++) {
        if (dims[k] < 0) {
            axle_error_set(AXLE_ERR_SHAPE, "%s: dim %d is negative, %lld", who, k,
                           (long long)dims[k]);
            return -1;
        }
        int64_t factor = dims[k] > 0 ? dims[k] : 1;
        if (extent > INT64_MAX / 16 / factor) {
            axle_error_set(AXLE_ERR_SHAPE, "%s: too many elements at dim %d of %lld", who, k,
                           (long long)dims[k]);
            return -1;
        }
        extent *= factor;
        count *= dims[k];
    }
    return count;
}

bool axle__dims_equal(int rank_a, const int64_t *a, int rank_b, const int64_t *b)
{
    return rank_a == rank_b && (rank_a == 0 || memcmp(a, b, (size_t)rank_a * sizeof(int64_t)) == 0);
}

void axle__row_major_strides(int rank, const int64_t *dims, int64_t *strides)
{
    int64_t stride = 1;
    for (int k = rank - 1; k >= 0; k--) {
        strides[k] = stride;
        stride *= dims[k] > 0 ? dims[k] : 1;
    }
}

void axle__channels_last_strides(int rank, const int64_t *dims, int64_t *strides)
{
    int64_t stride = dims[1] > 0 ? dims[1] : 1;
    strides[1] = 1;
    for (int k = rank - 1; k >= 2; k--) {
        strides[k] = stride;
        stride *= dims[k] > 0 ? dims[k] : 1;
    }
    strides[0] = stride;
}

/* Dims larger than 1, by falling stride; stable. Returns their number. */
static int dims_by_stride(const axle_view *view, int *order)
{
    int n = 0;
    for (int k = 0; k < (int)view->rank; k++) {
        if (view->dim[k] == 1)
            continue;
        int place = n++;
        while (place > 0 && view->stride[order[place - 1]] < view->stride[k]) {
            order[place] = order[place - 1];
            place--;
        }
        order[place] = k;
    }
    return n;
}

bool axle__view_is_dense(const axle_view *view)
{
    int order[AXLE_MAX_RANK];
    int64_t expected = 1;
    if (axle__view_count(view) == 0)
        return true;
    for (int i = dims_by_stride(view, order) - 1; i >= 0; i--) {
        if (view->stride[order[i]] != expected)
            return false;
        expected *= view->dim[order[i]];
    }
    return true;
}

int64_t axle__view_count(const axle_view *view)
{
    int64_t count = 1;
    for (uint32_t k = 0; k < view->rank; k++)
        count *= view->dim[k];
    return count;
}

bool axle__broadcast(int rank_a, const int64_t *a, int rank_b, const int64_t *b, int *rank,
                     int64_t *dims)
{
    int r = rank_a > rank_b ? rank_a : rank_b;
    for (int k = 0; k < r; k++) {
        int64_t da = k < r - rank_a ? 1 : a[k - (r - rank_a)];
        int64_t db = k < r - rank_b ? 1 : b[k - (r - rank_b)];
        if (da != db && da != 1 && db != 1)
            return false;
        dims[k] = da == 1 ? db : da;
    }
    *rank = r;
    return true;
}

void axle__view_expand(axle_view *view, int rank, const int64_t *dims)
{
    int shift = rank - (int)view->rank;
    for (int k = rank - 1; k >= 0; k--) {
        bool own = k >= shift && (view->dim[k - shift] == dims[k]);
        view->stride[k] = own ? view->stride[k - shift] : 0;
        view->dim[k] = dims[k];
    }
    view->rank = (uint32_t)rank;
}

static void move_dim(axle_view *const *views, int n, int to, int from)
{
    for (int v = 0; v < n; v++) {
        views[v]->dim[to] = views[v]->dim[from];
        views[v]->stride[to] = views[v]->stride[from];
    }
}

static void sort_dims(axle_view *const *views, int n)
{
    int order[AXLE_MAX_RANK];
    int rank = dims_by_stride(views[0], order);
    for (int v = 0; v < n; v++) {
        axle_view copy = *views[v];
        for (int k = 0; k < rank; k++) {
            views[v]->dim[k] = copy.dim[order[k]];
            views[v]->stride[k] = copy.stride[order[k]];
        }
        views[v]->rank = (uint32_t)rank;
    }
}

static void drop_ones(axle_view *const *views, int n)
{
    int kept = 0;
    for (int k = 0; k < (int)views[0]->rank; k++)
        if (views[0]->dim[k] != 1)
            move_dim(views, n, kept++, k);
    for (int v = 0; v < n; v++)
        views[v]->rank = (uint32_t)kept;
}

static bool mergeable(axle_view *const *views, int n, int outer, int inner)
{
    for (int v = 0; v < n; v++)
        if (views[v]->stride[outer] != views[v]->stride[inner] * views[v]->dim[inner])
            return false;
    return true;
}

/* Merge each dim into the one before it where that goes; returns the new rank. */
static int merge_neighbours(axle_view *const *views, int n)
{
    int rank = (int)views[0]->rank, last = 0;
    if (rank == 0)
        return 0;
    for (int k = 1; k < rank; k++) {
        if (!mergeable(views, n, last, k)) {
            move_dim(views, n, ++last, k);
            continue;
        }
        for (int v = 0; v < n; v++) {
            views[v]->dim[last] *= views[v]->dim[k];
            views[v]->stride[last] = views[v]->stride[k];
        }
    }
    return last + 1;
}

void axle__views_merge(axle_view *const *views, int n, bool reorder)
{
    int before = (int)views[0]->rank;
    if (before == 0)
        return;
    if (reorder)
        sort_dims(views, n);
    else
        drop_ones(views, n);
    int rank = merge_neighbours(views, n);
    for (int v = 0; v < n; v++) {
        views[v]->rank = (uint32_t)rank;
        for (int k = rank; k < before; k++) /* plugins rely on zeros there */
            views[v]->dim[k] = views[v]->stride[k] = 0;
    }
}

int axle__dim_index(const char *who, int rank, int k)
{
    if (k >= -rank && k < rank)
        return k < 0 ? k + rank : k;
    axle_error_set(AXLE_ERR_SHAPE, "%s: dim %d is out of range for rank %d", who, k, rank);
    return -1;
}

bool axle__dims_mask(const char *who, int rank, int n, const int *dims, uint32_t *mask)
{
    if (n == 0) {
        *mask = (1u << rank) - 1;
        return true;
    }
    if (n < 0 || !dims) {
        axle_error_set(AXLE_ERR_INVALID, "%s: %d dims wanted, got %s", who, n,
                       dims ? "some" : "none");
        return false;
    }
    uint32_t bits = 0;
    for (int i = 0; i < n; i++) {
        int k = axle__dim_index(who, rank, dims[i]);
        if (k < 0)
            return false;
        if (bits & (1u << k)) {
            axle_error_set(AXLE_ERR_SHAPE, "%s: dim %d is listed twice", who, k);
            return false;
        }
        bits |= 1u << k;
    }
    *mask = bits;
    return true;
}
