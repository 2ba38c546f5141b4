/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution and transposed convolution: each is the other's gradient. */
#include "axle/ops.h"

#include <string.h>

#include "autograd/autocast.h"
#include "autograd/node.h"
#include "tensor/elementwise.h"
#include "tensor/layout.h"
#include "tensor/run.h"
#include "tensor/shape.h"

/* A call whose result is laid out as the device likes. `dims` are the result's. */
static axle_tensor *run_conv(const char *who, axle__call *call, const axle_tensor *where, int rank,
                             const int64_t *dims)
{
    axle_view asked = {.dtype = axle__dtype(where), .rank = (uint32_t)rank};
    memcpy(asked.dim, dims, (size_t)rank * sizeof(*dims));
    axle__row_major_strides(rank, dims, asked.stride);
    axle__call question = *call;
    axle__call_view_out(&question, &asked);
    uint32_t layout = axle__dispatch_layout(where->device, &question);
    axle_tensor *y =
        axle__picture_result(who, where->device, (int)axle__dtype(where), rank, dims, layout);
    if (!y)
        return NULL;
    axle__call_out(call, y);
    return axle__checked(axle__run(call, y), y);
}

static axle_tensor *conv_forward(const axle_conv_attrs *attrs, axle_tensor *x, axle_tensor *weight,
                                 axle_tensor *bias, const int64_t *dims)
{
    axle__call call = AXLE__CALL(AXLE_OP_CONV, *attrs);
    axle__call_in(&call, x);
    axle__call_in(&call, weight);
    axle__call_in(&call, bias);
    return run_conv("conv", &call, x, axle__rank(x), dims);
}

static axle_tensor *conv_data(const axle_conv_attrs *attrs, axle_tensor *dy, axle_tensor *weight,
                              axle_tensor *bias, const int64_t *dims)
{
    axle_conv_attrs plain = *attrs;
    plain.activation = 0;
    axle__call call = AXLE__CALL(AXLE_OP_CONV_BACKWARD_DATA, plain);
    axle__call_in(&call, dy);
    axle__call_in(&call, weight);
    axle__call_in(&call, bias);
    return run_conv("conv", &call, dy, axle__rank(dy), dims);
}

/* Gradients of weight (and bias, from dy) where they are wanted. */
static int conv_weight(axle__node *node, const axle_conv_attrs *attrs, axle_tensor *dy,
                       axle_tensor *x, axle_tensor *bias_source, axle_tensor **dx)
{
    axle_conv_attrs plain = *attrs;
    plain.activation = 0;
    axle_tensor *weight = axle__saved(node, 1);
    int dtype = (int)axle__dtype(weight);
    bool bias = bias_source == dy && axle__wanted(node, 2);
    if (axle__wanted(node, 1) && !(dx[1] = axle__grad_target(node, 1, dy->device, dtype,
                                                             axle__rank(weight), weight->view.dim)))
        return axle_error_code();
    if (bias && !(dx[2] = axle__grad_target(node, 2, dy->device, dtype, 1, &weight->view.dim[0])))
        return axle_error_code();
    if (!dx[1] && !bias)
        return AXLE_OK;
    axle__call call = AXLE__CALL(AXLE_OP_CONV_BACKWARD_WEIGHT, plain);
    axle__call_in(&call, dy);
    axle__call_in(&call, x);
    axle__call_out(&call, dx[1]);
    axle__call_out(&call, bias ? dx[2] : NULL);
    return axle__run(&call, dy);
}

/* The gradient of the bias: dy summed over all but channels. */
static axle_tensor *channel_sums(axle_tensor *dy)
{
    int axes[AXLE_MAX_RANK], n = 0;
    for (int k = 0; k < axle__rank(dy); k++)
        if (k != 1)
            axes[n++] = k;
    return axle_sum(dy, n, axes, 0);
}

/* An empty batch or plane reaches no kernel: its share of the gradients is zero, but for the bias
 * of what is not empty. */
static int empty_gradients(axle__node *node, axle_tensor *dy, axle_tensor **dx)
{
    for (int k = 0; k < 3; k++) {
        axle_tensor *like = axle__saved(node, k);
        if (!axle__wanted(node, k))
            continue;
        dx[k] = axle__grad_target(node, k, like->device, (int)axle__dtype(like), axle__rank(like),
                                  like->view.dim);
        if (!dx[k] || axle__fill(dx[k], 0.0))
            return axle_error_code();
    }
    if (!axle__wanted(node, 2) || dy->count == 0)
        return AXLE_OK;
    dx[2] = channel_sums(dy);
    return axle__given(dx[2]);
}

static int conv_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const axle_conv_attrs *attrs = node->attrs;
    axle_tensor *x = axle__saved(node, 0), *weight = axle__saved(node, 1), *g = dy[0];
    if (attrs->activation)
        g = axle__unary_backward(attrs->activation, 0.0, 0.0, g, axle__saved(node, 3));
    if (!g)
        return axle_error_code();
    if (x->count == 0 || g->count == 0 || weight->count == 0)
        return empty_gradients(node, g, dx);
    if (axle__wanted(node, 0) && !(dx[0] = conv_data(attrs, g, weight, NULL, x->view.dim)))
        return axle_error_code();
    return conv_weight(node, attrs, g, x, g, dx);
}

static const axle__rule conv_rule = {"conv", conv_backward, NULL};

static int transpose_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const axle_conv_attrs *attrs = node->attrs;
    axle_tensor *x = axle__saved(node, 0), *weight = axle__saved(node, 1);
    if (x->count == 0 || dy[0]->count == 0 || weight->count == 0)
        return empty_gradients(node, dy[0], dx);
    if (axle__wanted(node, 0) && !(dx[0] = conv_forward(attrs, dy[0], weight, NULL, x->view.dim)))
        return axle_error_code();
    if (axle__wanted(node, 2) && !(dx[2] = channel_sums(dy[0])))
        return axle_error_code();
    return conv_weight(node, attrs, x, dy[0], NULL, dx);
}

static const axle__rule transpose_rule = {"conv_transpose", transpose_backward, NULL};

static bool fail_shape(const char *who, const char *why, const axle_tensor *x, const axle_tensor *w)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    axle_error_set(AXLE_ERR_SHAPE, "%s: %s: input %s, weight %s", who, why, axle__shape_text(x, ta),
                   axle__shape_text(w, tb));
    return false;
}

/* Checks common to both directions; `channels` is the dim of the weight that counts groups' input.
 */
static bool check_operands(const char *who, const axle_tensor *x, const axle_tensor *w,
                           const axle_tensor *bias, int64_t bias_size)
{
    if (axle__check_float(who, x) || axle__check_pair(who, x, w) ||
        (bias && axle__check_pair(who, x, bias)))
        return false;
    if (axle__rank(x) < 3 || axle__rank(x) > 2 + AXLE_MAX_SPATIAL || axle__rank(w) != axle__rank(x))
        return fail_shape(who, "wants 1 to 3 spatial dims", x, w);
    for (int k = 2; k < axle__rank(w); k++)
        if (w->view.dim[k] < 1)
            return fail_shape(who, "the kernel is empty", x, w);
    if (bias && (axle__rank(bias) != 1 || bias->view.dim[0] != bias_size))
        return fail_shape(who, "the bias does not fit", x, bias);
    return true;
}

static bool attrs_from(const char *who, const axle_conv_params *p, int n_spatial,
                       axle_conv_attrs *attrs)
{
    *attrs = (axle_conv_attrs){.struct_size = sizeof(*attrs),
                               .n_spatial = (uint32_t)n_spatial,
                               .groups = (uint32_t)p->groups,
                               .activation = p->relu ? AXLE_UNARY_RELU : 0};
    for (int k = 0; k < n_spatial; k++) {
        attrs->stride[k] = p->stride[k];
        attrs->pad[k] = p->padding[k];
        attrs->dilation[k] = p->dilation[k];
        if (p->groups >= 1 && p->stride[k] >= 1 && p->padding[k] >= 0 && p->dilation[k] >= 1 &&
            p->output_padding[k] >= 0)
            continue;
        axle_error_set(AXLE_ERR_INVALID,
                       "%s: groups, stride and dilation are at least 1, padding at least 0; got "
                       "groups %d and, for spatial dim %d, stride %d, padding %d, dilation %d, "
                       "output padding %d",
                       who, p->groups, k, p->stride[k], p->padding[k], p->dilation[k],
                       p->output_padding[k]);
        return false;
    }
    return true;
}

axle_tensor *axle_conv(axle_tensor *x, axle_tensor *weight, axle_tensor *bias,
                       const axle_conv_params *params)
{
    axle_conv_params defaults = AXLE_CONV_PARAMS_INIT;
    axle_conv_attrs attrs;
    int64_t dims[AXLE_MAX_RANK];
    if (!AXLE__AUTOCAST(conv, &x, &weight, &bias) || !x || !weight ||
        !check_operands("conv", x, weight, bias, weight->view.dim[0]))
        return NULL;
    const axle_conv_params *p = params ? params : &defaults;
    if (!attrs_from("conv", p, axle__rank(x) - 2, &attrs))
        return NULL;
    if (x->view.dim[1] % p->groups || x->view.dim[1] / p->groups != weight->view.dim[1] ||
        weight->view.dim[0] % p->groups)
        return fail_shape("conv", "channels do not fit", x, weight), NULL;
    dims[0] = x->view.dim[0];
    dims[1] = weight->view.dim[0];
    for (int k = 2; k < axle__rank(x); k++) {
        int64_t window = (int64_t)p->dilation[k - 2] * (weight->view.dim[k] - 1) + 1;
        int64_t room = x->view.dim[k] + 2 * (int64_t)p->padding[k - 2] - window;
        if (room < 0)
            return fail_shape("conv", "the kernel is larger than the padded input", x, weight),
                   NULL;
        dims[k] = room / p->stride[k - 2] + 1;
    }
    axle_tensor *y = conv_forward(&attrs, x, weight, bias, dims);
    axle_tensor *in[] = {x, weight, bias}, *keep[] = {x, weight, bias, attrs.activation ? y : NULL};
    return axle__record(&conv_rule, y, in, 3, keep, 4, &attrs, sizeof(attrs));
}

axle_tensor *axle_conv_transpose(axle_tensor *x, axle_tensor *weight, axle_tensor *bias,
                                 const axle_conv_params *params)
{
    axle_conv_params defaults = AXLE_CONV_PARAMS_INIT;
    axle_conv_attrs attrs;
    int64_t dims[AXLE_MAX_RANK];
    const axle_conv_params *p = params ? params : &defaults;
    if (!AXLE__AUTOCAST(conv_transpose, &x, &weight, &bias) || !x || !weight ||
        !check_operands("conv_transpose", x, weight, bias,
                        axle__rank(weight) > 1 ? weight->view.dim[1] * p->groups : 0))
        return NULL;
    if (!attrs_from("conv_transpose", p, axle__rank(x) - 2, &attrs))
        return NULL;
    if (x->view.dim[1] != weight->view.dim[0] || x->view.dim[1] % p->groups)
        return fail_shape("conv_transpose", "channels do not fit", x, weight), NULL;
    dims[0] = x->view.dim[0];
    dims[1] = weight->view.dim[1] * p->groups;
    for (int k = 2; k < axle__rank(x); k++) {
        int j = k - 2;
        dims[k] = (x->view.dim[k] - 1) * p->stride[j] - 2 * (int64_t)p->padding[j] +
                  p->dilation[j] * (weight->view.dim[k] - 1) + p->output_padding[j] + 1;
        if (dims[k] < 1 ||
            p->output_padding[j] >= (p->stride[j] > p->dilation[j] ? p->stride[j] : p->dilation[j]))
            return fail_shape("conv_transpose",
                              "padding leaves no output or output padding is too "
                              "large",
                              x, weight),
                   NULL;
    }
    attrs.activation = 0;
    axle_tensor *y = conv_data(&attrs, x, weight, bias, dims);
    axle_tensor *in[] = {x, weight, bias};
    return axle__record(&transpose_rule, y, in, 3, in, 3, &attrs, sizeof(attrs));
}
