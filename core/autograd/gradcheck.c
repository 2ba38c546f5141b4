/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of gradients with central finite differences. */
#include <math.h>
#include <string.h>

#include "autograd/node.h"
#include "axle/ops.h"
#include "base/memory.h"
#include "base/options_copy.h"

typedef struct check {
    axle_tensor_fn fn;
    axle_tensor *const *in;
    int n_in;
    void *user;
    axle_gradcheck_options options;
    double *weight; /* of each output element */
    double *output; /* scratch */
    int64_t n_out;
} check;

/* sum(weight * fn(in)), without recording. */
static int weighted_value(check *c, double *value)
{
    int status = axle_scope_push();
    if (status)
        return status;
    axle_no_grad_push();
    axle_tensor *y = c->fn(c->in, c->n_in, c->user);
    axle_no_grad_pop();
    status = axle__given(y);
    if (!status)
        status = axle_tensor_read(y, c->output, (size_t)c->n_out * sizeof(double));
    axle_scope_pop();
    *value = 0.0;
    for (int64_t i = 0; i < c->n_out && !status; i++)
        *value += c->weight[i] * c->output[i];
    return status;
}

static int compare(const check *c, int input, int64_t element, double numeric, double analytic)
{
    double allowed = c->options.absolute + c->options.relative * fabs(numeric);
    if (fabs(numeric - analytic) <= allowed)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID,
                          "axle_gradcheck: input %d, element %lld: finite differences give %.12g, "
                          "backward %.12g",
                          input, (long long)element, numeric, analytic);
}

static int check_element(check *c, int input, double *values, int64_t element, double analytic)
{
    axle_tensor *x = c->in[input];
    size_t size = (size_t)axle_tensor_count(x) * sizeof(double);
    double centre = values[element], above, below;
    values[element] = centre + c->options.step;
    int status = axle_tensor_write(x, values, size);
    if (!status)
        status = weighted_value(c, &above);
    values[element] = centre - c->options.step;
    if (!status)
        status = axle_tensor_write(x, values, size);
    if (!status)
        status = weighted_value(c, &below);
    values[element] = centre;
    int restored = axle_tensor_write(x, values, size);
    if (status || restored)
        return status ? status : restored;
    return compare(c, input, element, (above - below) / (2.0 * c->options.step), analytic);
}

static int check_input(check *c, int input)
{
    axle_tensor *x = c->in[input], *grad = axle_tensor_grad(x);
    int64_t n = axle_tensor_count(x);
    size_t size = (size_t)n * sizeof(double);
    double *values = axle__alloc((size_t)n, 2 * sizeof(double)), *analytic = values + n;
    if (!values)
        return axle_error_code();
    int status = axle_tensor_read(x, values, size);
    if (!status && grad)
        status = axle_tensor_read(grad, analytic, size);
    for (int64_t i = 0; i < n && !status; i++)
        status = check_element(c, input, values, i, analytic[i]);
    axle__free(values);
    return status;
}

/* Weights that differ from element to element, so that errors do not cancel. */
static int run_backward(check *c)
{
    axle_tensor *y = c->fn(c->in, c->n_in, c->user);
    if (!y)
        return axle_error_code();
    if (axle_tensor_dtype(y) != AXLE_DTYPE_F64)
        return axle_error_set(AXLE_ERR_DTYPE, "axle_gradcheck: the function gives %s, not f64",
                              axle_dtype_name(axle_tensor_dtype(y)));
    c->n_out = axle_tensor_count(y);
    c->weight = axle__alloc((size_t)c->n_out, 2 * sizeof(double));
    if (!c->weight)
        return axle_error_code();
    c->output = c->weight + c->n_out;
    for (int64_t i = 0; i < c->n_out; i++)
        c->weight[i] = 0.5 + (double)((i * 7) % 11) / 7.0 * (i % 2 ? -1.0 : 1.0);
    axle_tensor *g = axle__result("axle_gradcheck", axle_tensor_device(y), AXLE_DTYPE_F64,
                                  axle_tensor_rank(y), axle_tensor_dims(y));
    int status =
        g ? axle_tensor_write(g, c->weight, (size_t)c->n_out * sizeof(double)) : axle_error_code();
    return status ? status : axle_tensor_backward(y, g, 0);
}

int axle_gradcheck(axle_tensor_fn fn, axle_tensor *const *in, int n_in, void *user,
                   const axle_gradcheck_options *options)
{
    check c = {
        .fn = fn, .in = in, .n_in = n_in, .user = user, .options = AXLE_GRADCHECK_OPTIONS_INIT};
    int status = axle__options_copy("axle_gradcheck", options, &c.options, sizeof(c.options));
    if (status)
        return status;
    for (int k = 0; k < n_in; k++) {
        if (!in[k])
            continue;
        axle__grad_forget(in[k]);
        if (in[k]->requires_grad && axle_tensor_dtype(in[k]) != AXLE_DTYPE_F64)
            return axle_error_set(AXLE_ERR_DTYPE, "axle_gradcheck: input %d is %s, not f64", k,
                                  axle_dtype_name(axle_tensor_dtype(in[k])));
    }
    status = axle_scope_push();
    if (status)
        return status;
    status = run_backward(&c);
    for (int k = 0; k < n_in && !status; k++)
        if (in[k] && in[k]->requires_grad)
            status = check_input(&c, k);
    axle_scope_pop();
    axle__free(c.weight);
    return status;
}
