/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisers. Numbers are drawn on the host in f64 and then cast, so that they do not depend on
 * the device. */
#include <math.h>

#include "base/error.h"
#include "nn/module.h"
#include "tensor/elementwise.h"
#include "tensor/random.h"

static int check_target(const char *who, const axle_tensor *tensor)
{
    if (!tensor)
        return axle__missing(who, "the tensor");
    return axle__check_float(who, tensor);
}

/* Elements number `first` to first + n - 1 of the draw with a key. */
typedef void (*draw_fn)(uint64_t key, uint64_t first, double *out, int64_t n);

/* Elements drawn at a time: their f64 need little memory beside the tensor's. */
enum { PIECE = 1 << 16 };

typedef struct drawing {
    draw_fn draw;
    double scale, shift; /* an element is shift + scale * draw */
    uint64_t key;
} drawing;

/* Rows [first, first + rows) along dim 0; one reference. */
static axle_tensor *rows_of(const axle_tensor *tensor, int64_t first, int64_t rows)
{
    axle_view view = tensor->view;
    if (view.rank > 0) {
        const int64_t size = (int64_t)axle_dtype_size((int)view.dtype);
        view.offset += (uint64_t)(first * view.stride[0] * size);
        view.dim[0] = rows;
    }
    return axle__tensor_alias(tensor, &view);
}

static int fill_rows(const char *who, axle_tensor *rows, uint64_t first, const drawing *d)
{
    axle_tensor *host = axle__tensor_new(who, axle_device_host(), AXLE_DTYPE_F64,
                                         axle_tensor_rank(rows), axle_tensor_dims(rows), NULL);
    void *data = NULL;
    int status = host ? axle_tensor_data(host, &data) : axle_error_code();
    double *value = data;
    int64_t n = axle_tensor_count(rows);
    if (!status) {
        d->draw(d->key, first, value, n);
        for (int64_t i = 0; i < n; i++)
            value[i] = d->shift + d->scale * value[i];
        status = axle_tensor_assign(rows, host);
    }
    axle_tensor_release(host);
    return status;
}

static int fill_drawn(const char *who, axle_tensor *tensor, draw_fn draw, double scale,
                      double shift)
{
    const drawing d = {draw, scale, shift, axle__random_next_key()};
    const int64_t rows = axle__rank(tensor) > 0 ? tensor->view.dim[0] : 1;
    const int64_t a_row = axle_tensor_count(tensor) / rows;
    const int64_t most = a_row < PIECE ? PIECE / a_row : 1;
    int status = AXLE_OK;
    for (int64_t first = 0; first < rows && !status; first += most) {
        axle_tensor *part = rows_of(tensor, first, rows - first < most ? rows - first : most);
        status = part ? fill_rows(who, part, (uint64_t)(first * a_row), &d) : axle_error_code();
        axle_tensor_release(part);
    }
    return status;
}

static int fill_uniform(const char *who, axle_tensor *tensor, double low, double high)
{
    if (check_target(who, tensor))
        return axle_error_code();
    if (!isfinite(low) || !isfinite(high) || low > high)
        return axle_error_set(AXLE_ERR_INVALID, "%s: there is no interval [%g, %g)", who, low,
                              high);
    if (axle_tensor_count(tensor) == 0)
        return AXLE_OK;
    return fill_drawn(who, tensor, axle__random_uniform, high - low, low);
}

static int fill_normal(const char *who, axle_tensor *tensor, double mean, double std)
{
    if (check_target(who, tensor))
        return axle_error_code();
    if (!isfinite(mean) || !isfinite(std) || std < 0.0)
        return axle_error_set(AXLE_ERR_INVALID, "%s: mean %g and deviation %g", who, mean, std);
    if (axle_tensor_count(tensor) == 0)
        return AXLE_OK;
    return fill_drawn(who, tensor, axle__random_normal, std, mean);
}

int axle_init_uniform(axle_tensor *tensor, double low, double high)
{
    return fill_uniform("axle_init_uniform", tensor, low, high);
}

int axle_init_normal(axle_tensor *tensor, double mean, double std)
{
    return fill_normal("axle_init_normal", tensor, mean, std);
}

int axle_init_constant(axle_tensor *tensor, double value)
{
    if (!tensor)
        return check_target("axle_init_constant", tensor);
    return axle__fill(tensor, value);
}

/* ------------------------------------------------------------------ by the sizes of fans */

struct fans {
    double in, out;
};

static int compute_fans(const char *who, const axle_tensor *tensor, struct fans *out)
{
    char text[AXLE__DIMS_TEXT];
    if (check_target(who, tensor))
        return axle_error_code();
    if (axle__rank(tensor) < 2)
        return axle_error_set(AXLE_ERR_SHAPE, "%s: %s has no fans, it takes two dims", who,
                              axle__shape_text(tensor, text));
    double kernel = 1.0;
    for (int k = 2; k < axle__rank(tensor); k++)
        kernel *= (double)axle_tensor_dim(tensor, k);
    *out = (struct fans){kernel * (double)axle_tensor_dim(tensor, 1),
                         kernel * (double)axle_tensor_dim(tensor, 0)};
    return AXLE_OK;
}

/* sqrt(scale / fan), and 0 for a tensor without elements. */
static double deviation(double scale, double fan)
{
    return fan > 0.0 ? sqrt(scale / fan) : 0.0;
}

int axle_init_kaiming_uniform(axle_tensor *tensor, double a)
{
    struct fans fans;
    if (compute_fans("axle_init_kaiming_uniform", tensor, &fans))
        return axle_error_code();
    double bound = deviation(6.0 / (1.0 + a * a), fans.in);
    return fill_uniform("axle_init_kaiming_uniform", tensor, -bound, bound);
}

int axle_init_kaiming_normal(axle_tensor *tensor, double a, int fan_out)
{
    struct fans fans;
    if (compute_fans("axle_init_kaiming_normal", tensor, &fans))
        return axle_error_code();
    double std = deviation(2.0 / (1.0 + a * a), fan_out ? fans.out : fans.in);
    return fill_normal("axle_init_kaiming_normal", tensor, 0.0, std);
}

int axle_init_xavier_uniform(axle_tensor *tensor, double gain)
{
    struct fans fans;
    if (compute_fans("axle_init_xavier_uniform", tensor, &fans))
        return axle_error_code();
    double bound = fabs(gain) * deviation(6.0, fans.in + fans.out);
    return fill_uniform("axle_init_xavier_uniform", tensor, -bound, bound);
}

int axle_init_xavier_normal(axle_tensor *tensor, double gain)
{
    struct fans fans;
    if (compute_fans("axle_init_xavier_normal", tensor, &fans))
        return axle_error_code();
    double std = fabs(gain) * deviation(2.0, fans.in + fans.out);
    return fill_normal("axle_init_xavier_normal", tensor, 0.0, std);
}
