/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/matmul.h"

#include "tensor/shape.h"

axle_view axle__view_swapped(const axle_view *view, int a, int b)
{
    axle_view swapped = *view;
    swapped.dim[a] = view->dim[b];
    swapped.dim[b] = view->dim[a];
    swapped.stride[a] = view->stride[b];
    swapped.stride[b] = view->stride[a];
    return swapped;
}

/* Let a view have the rank and leading dims of y; its last two dims stay. */
static void expand_leading(axle_view *view, const axle_view *y)
{
    int rank = (int)y->rank;
    int64_t dims[AXLE_MAX_RANK];
    for (int k = 0; k < rank - 2; k++)
        dims[k] = y->dim[k];
    for (int k = 1; k <= 2; k++)
        dims[rank - k] = view->dim[view->rank - (uint32_t)k];
    axle__view_expand(view, rank, dims);
}

/* Remove leading dim k of every view. */
static void drop_dim(axle_view *const *views, int n, int k)
{
    for (int v = 0; v < n; v++) {
        for (uint32_t j = (uint32_t)k; j + 1 < views[v]->rank; j++) {
            views[v]->dim[j] = views[v]->dim[j + 1];
            views[v]->stride[j] = views[v]->stride[j + 1];
        }
        views[v]->rank--;
        views[v]->dim[views[v]->rank] = 0;
        views[v]->stride[views[v]->rank] = 0;
    }
}

static bool outer_merges(axle_view *const *views, int n, int k)
{
    for (int v = 0; v < n; v++)
        if (views[v]->stride[k] != views[v]->stride[k + 1] * views[v]->dim[k + 1])
            return false;
    return true;
}

/* Merge batch dims, so that a product has one at most in the usual cases. */
static void merge_leading(axle_view *const *views, int n)
{
    for (int k = (int)views[0]->rank - 3; k >= 0; k--) {
        if (views[0]->dim[k] == 1) {
            drop_dim(views, n, k);
            continue;
        }
        if (k + 1 > (int)views[0]->rank - 3 || !outer_merges(views, n, k))
            continue;
        for (int v = 0; v < n; v++)
            views[v]->dim[k + 1] *= views[v]->dim[k];
        drop_dim(views, n, k);
    }
}

int axle__product(axle_device *device, const axle_view *a, const axle_view *b,
                  const axle_view *bias, const axle_view *y, uint32_t activation)
{
    axle_view view[4] = {*y, *a, *b};
    axle_view *views[4] = {&view[0], &view[1], &view[2], &view[3]};
    int n = 3;
    expand_leading(&view[1], y);
    expand_leading(&view[2], y);
    if (bias) {
        view[3] = *bias;
        axle__view_expand(&view[3], (int)y->rank, y->dim);
        n = 4;
    }
    merge_leading(views, n);
    axle_matmul_attrs attrs = {sizeof(attrs), activation, 0, 0, 1.0};
    axle__call call = AXLE__CALL(AXLE_OP_MATMUL, attrs);
    axle__call_view_in(&call, &view[1]);
    axle__call_view_in(&call, &view[2]);
    axle__call_view_in(&call, bias ? &view[3] : NULL);
    axle__call_view_out(&call, &view[0]);
    return axle__dispatch(device, &call);
}
