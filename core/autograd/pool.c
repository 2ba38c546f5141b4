/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling and interpolation. */
#include "axle/ops.h"

#include <string.h>

#include "autograd/node.h"
#include "tensor/layout.h"
#include "tensor/run.h"

typedef struct pool_record {
    axle_pool_attrs attrs;
    int rank;
    int64_t dims[AXLE_MAX_RANK]; /* of the input */
    uint32_t layout;
} pool_record;

static int pool_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const pool_record *r = node->attrs;
    dx[0] = axle__picture_result(node->rule->name, dy[0]->device, (int)axle__dtype(dy[0]), r->rank,
                                 r->dims, r->layout);
    if (!dx[0])
        return axle_error_code();
    axle__call call = AXLE__CALL(AXLE_OP_POOL_BACKWARD, r->attrs);
    axle__call_in(&call, dy[0]);
    axle__call_in(&call, axle__saved(node, 0));
    axle__call_out(&call, dx[0]);
    return axle__run(&call, dx[0]);
}

static const axle__rule max_rule = {"max_pool", pool_backward, NULL};
static const axle__rule avg_rule = {"avg_pool", pool_backward, NULL};

static int check_picture(const char *who, const axle_tensor *x)
{
    char text[AXLE__DIMS_TEXT];
    int status = axle__check_float(who, x);
    if (status)
        return status;
    if (axle__rank(x) >= 3 && axle__rank(x) <= 2 + AXLE_MAX_SPATIAL)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_SHAPE, "%s: wants (N, C, ...) with 1 to 3 spatial dims, got %s",
                          who, axle__shape_text(x, text));
}

static axle_tensor *pool(const char *who, const axle_pool_attrs *attrs, axle_tensor *x,
                         const int64_t *spatial)
{
    bool max = attrs->kind == AXLE_POOL_MAX;
    int64_t dims[AXLE_MAX_RANK] = {x->view.dim[0], x->view.dim[1]};
    pool_record record = {.attrs = *attrs, .rank = axle__rank(x), .layout = axle__layout_of(x)};
    for (int k = 0; k < axle__rank(x); k++) {
        record.dims[k] = x->view.dim[k];
        if (k >= 2)
            dims[k] = spatial[k - 2];
    }
    axle_tensor *y = axle__picture_result(who, x->device, (int)axle__dtype(x), axle__rank(x), dims,
                                          record.layout);
    bool keep = max && axle__recording(&x, 1);
    axle_tensor *index = keep ? axle__picture_result(who, x->device, AXLE_DTYPE_I32, axle__rank(x),
                                                     dims, record.layout)
                              : NULL;
    if (!y || (keep && !index))
        return NULL;
    axle__call call = AXLE__CALL(AXLE_OP_POOL, record.attrs);
    axle__call_in(&call, x);
    axle__call_out(&call, y);
    axle__call_out(&call, index);
    if (axle__run(&call, y))
        return NULL;
    return axle__record(max ? &max_rule : &avg_rule, y, &x, 1, &index, 1, &record, sizeof(record));
}

/* Output size of one dim; -1 and an error where the window does not fit. */
static int64_t window_count(const char *who, int64_t in, const axle_pool_attrs *a, int k,
                            bool ceil_mode)
{
    int64_t window = (int64_t)a->dilation[k] * (a->kernel[k] - 1) + 1;
    int64_t room = in + 2 * (int64_t)a->pad[k] - window;
    if (a->kernel[k] < 1 || a->stride[k] < 1 || a->dilation[k] < 1 || a->pad[k] < 0 ||
        a->pad[k] > a->kernel[k] / 2 || in < 1 || room < 0) {
        axle_error_set(AXLE_ERR_SHAPE,
                       "%s: kernel %d, stride %d, padding %d, dilation %d do not fit size %lld "
                       "(padding is at most half the kernel)",
                       who, a->kernel[k], a->stride[k], a->pad[k], a->dilation[k], (long long)in);
        return -1;
    }
    int64_t n = room / a->stride[k] + 1;
    /* A last window may begin inside the padded input only, not in the padding after it. */
    if (ceil_mode && room % a->stride[k] != 0 && n * a->stride[k] < in + a->pad[k])
        n++;
    return n;
}

static axle_tensor *window_pool(const char *who, uint32_t kind, axle_tensor *x,
                                const axle_pool_params *params)
{
    axle_pool_params defaults = AXLE_POOL_PARAMS_INIT;
    const axle_pool_params *p = params ? params : &defaults;
    if (!x || check_picture(who, x))
        return NULL;
    axle_pool_attrs attrs = {
        .struct_size = sizeof(attrs), .n_spatial = (uint32_t)axle__rank(x) - 2, .kind = kind};
    int64_t spatial[AXLE_MAX_SPATIAL];
    for (int k = 0; k < axle__rank(x) - 2; k++) {
        attrs.kernel[k] = p->kernel[k];
        attrs.stride[k] = p->stride[k] ? p->stride[k] : p->kernel[k];
        attrs.pad[k] = p->padding[k];
        attrs.dilation[k] = p->dilation[k];
        spatial[k] = window_count(who, x->view.dim[k + 2], &attrs, k, p->ceil_mode != 0);
        if (spatial[k] < 0)
            return NULL;
    }
    return pool(who, &attrs, x, spatial);
}

axle_tensor *axle_max_pool(axle_tensor *x, const axle_pool_params *params)
{
    return window_pool("max_pool", AXLE_POOL_MAX, x, params);
}

axle_tensor *axle_avg_pool(axle_tensor *x, const axle_pool_params *params)
{
    bool exclude = params && params->exclude_padding;
    return window_pool("avg_pool", exclude ? AXLE_POOL_AVG_NO_PAD : AXLE_POOL_AVG, x, params);
}

static axle_tensor *adaptive_pool(const char *who, uint32_t kind, axle_tensor *x,
                                  const int64_t *size)
{
    if (!x || check_picture(who, x) || axle__check_array(who, axle__rank(x) - 2, size))
        return NULL;
    axle_pool_attrs attrs = {.struct_size = sizeof(attrs),
                             .n_spatial = (uint32_t)axle__rank(x) - 2,
                             .kind = kind,
                             .adaptive = 1};
    for (int k = 2; k < axle__rank(x); k++) {
        if (size[k - 2] >= 1 && x->view.dim[k] >= 1)
            continue;
        axle_error_set(AXLE_ERR_SHAPE, "%s: cannot make %lld of %lld", who, (long long)size[k - 2],
                       (long long)x->view.dim[k]);
        return NULL;
    }
    return pool(who, &attrs, x, size);
}

axle_tensor *axle_adaptive_avg_pool(axle_tensor *x, const int64_t *size)
{
    return adaptive_pool("adaptive_avg_pool", AXLE_POOL_AVG, x, size);
}

axle_tensor *axle_adaptive_max_pool(axle_tensor *x, const int64_t *size)
{
    return adaptive_pool("adaptive_max_pool", AXLE_POOL_MAX, x, size);
}

/* ------------------------------------------------------------------ interpolate */

static int interpolate_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const pool_record *r = node->attrs;
    dx[0] = axle__picture_result("interpolate", dy[0]->device, (int)axle__dtype(dy[0]), r->rank,
                                 r->dims, r->layout);
    axle__call call = {.op = AXLE_OP_INTERPOLATE_BACKWARD};
    axle__call_in(&call, dy[0]);
    axle__call_out(&call, dx[0]);
    return dx[0] ? axle__run(&call, dx[0]) : axle_error_code();
}

static const axle__rule interpolate_rule = {"interpolate", interpolate_backward, NULL};

axle_tensor *axle_interpolate(axle_tensor *x, const int64_t *size)
{
    if (!x || check_picture("interpolate", x) ||
        axle__check_array("interpolate", axle__rank(x) - 2, size))
        return NULL;
    pool_record record = {.rank = axle__rank(x), .layout = axle__layout_of(x)};
    int64_t dims[AXLE_MAX_RANK] = {x->view.dim[0], x->view.dim[1]};
    memcpy(record.dims, x->view.dim, sizeof(record.dims));
    for (int k = 2; k < axle__rank(x); k++) {
        dims[k] = size[k - 2];
        if (dims[k] >= 1 && x->view.dim[k] >= 1)
            continue;
        axle_error_set(AXLE_ERR_SHAPE, "interpolate: cannot make %lld of %lld", (long long)dims[k],
                       (long long)x->view.dim[k]);
        return NULL;
    }
    axle_tensor *y = axle__picture_result("interpolate", x->device, (int)axle__dtype(x),
                                          axle__rank(x), dims, record.layout);
    axle__call call = {.op = AXLE_OP_INTERPOLATE};
    axle__call_in(&call, x);
    axle__call_out(&call, y);
    if (!y || axle__run(&call, y))
        return NULL;
    return axle__record(&interpolate_rule, y, &x, 1, NULL, 0, &record, sizeof(record));
}
