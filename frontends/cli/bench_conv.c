/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of pictures: forward, and the backward pass to input, weight and bias. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

/* The numbers of a shape, in its order. */
enum { ROWS, CHANNELS, HEIGHT, WIDTH, FILTERS, KERNEL, STRIDE, PAD, GROUPS };

typedef struct conv_wish {
    int64_t size[BENCH_MOST_NUMBERS];
    int dtype, backward;
} conv_wish;

typedef struct conv_call {
    axle_tensor *x, *weight, *bias, *y, *dy;
    axle_conv_params params;
    axle_device *device;
} conv_call;

static axle_tensor *apply(const conv_call *c)
{
    return axle_conv(c->x, c->weight, c->bias, &c->params);
}

static int forward(void *user)
{
    const conv_call *c = user;
    if (axle_scope_push())
        return -1;
    axle_no_grad_push();
    int failed = !apply(c) || axle_device_synchronize(c->device);
    axle_no_grad_pop();
    axle_scope_pop();
    return failed;
}

static int backward(void *user)
{
    const conv_call *c = user;
    axle_tensor *const leaf[] = {c->x, c->weight, c->bias};
    int code = AXLE_OK;
    for (int k = 0; k < 3 && !code; k++)
        code = axle_tensor_set_grad(leaf[k], NULL);
    if (!code)
        code = axle_tensor_backward(c->y, c->dy, 1);
    return code ? code : axle_device_synchronize(c->device);
}

static int record(conv_call *c)
{
    axle_tensor *const leaf[] = {c->x, c->weight, c->bias};
    int code = AXLE_OK;
    for (int k = 0; k < 3 && !code; k++)
        code = axle_tensor_set_requires_grad(leaf[k], 1);
    if (code)
        return code;
    c->y = apply(c);
    if (c->y)
        c->dy =
            axle_full(axle_tensor_dtype(c->y), axle_tensor_rank(c->y), axle_tensor_dims(c->y), 0.5);
    return c->dy ? AXLE_OK : axle_error_code();
}

static int64_t output_side(int64_t side, const int64_t *s)
{
    return (side + 2 * s[PAD] - s[KERNEL]) / s[STRIDE] + 1;
}

static double flops_of(const conv_wish *wish)
{
    const int64_t *s = wish->size;
    double outputs = (double)s[ROWS] * (double)s[FILTERS] * (double)output_side(s[HEIGHT], s) *
                     (double)output_side(s[WIDTH], s);
    double each = 2.0 * (double)(s[CHANNELS] / s[GROUPS]) * (double)s[KERNEL] * (double)s[KERNEL];
    return outputs * each * (wish->backward ? 2.0 : 1.0);
}

static axle_tensor *normal(int dtype, int rank, const int64_t *dims)
{
    return axle_cast(axle_randn(AXLE_DTYPE_F32, rank, dims), dtype);
}

static int create(const bench_subject *subject, const bench_backend *backend, bench_pair *out)
{
    const conv_wish *wish = subject->params;
    const int64_t *s = wish->size;
    conv_call *c = calloc(1, sizeof(*c));
    if (!c)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    axle_conv_params params = AXLE_CONV_PARAMS_INIT;
    for (int k = 0; k < 3; k++) {
        params.stride[k] = (int)s[STRIDE];
        params.padding[k] = (int)s[PAD];
    }
    params.groups = (int)s[GROUPS];
    c->params = params;
    c->device = backend->device;
    c->x = normal(wish->dtype, AXLE_DIMS(s[ROWS], s[CHANNELS], s[HEIGHT], s[WIDTH]));
    c->weight =
        normal(wish->dtype, AXLE_DIMS(s[FILTERS], s[CHANNELS] / s[GROUPS], s[KERNEL], s[KERNEL]));
    c->bias = normal(wish->dtype, AXLE_DIMS(s[FILTERS]));
    out->work = (bench_work){wish->backward ? backward : forward, c, backend->device};
    out->flops = flops_of(wish);
    if (!c->x || !c->weight || !c->bias)
        return axle_error_code();
    return wish->backward ? record(c) : AXLE_OK;
}

static void release(bench_pair *pair)
{
    free(pair->work.user);
}

static int measure(const bench_settings *settings, const char *shape, int backward)
{
    conv_wish wish = {.dtype = bench_dtype(settings), .backward = backward};
    char about[96];
    int count =
        bench_parse_shape(shape, 6, 9, "NxCxHxWxFILTERSxKERNEL[xSTRIDE[xPAD[xGROUPS]]]", wish.size);
    if (count < 0)
        return count;
    if (count <= STRIDE)
        wish.size[STRIDE] = 1;
    if (count <= PAD)
        wish.size[PAD] = wish.size[KERNEL] / 2;
    if (count <= GROUPS)
        wish.size[GROUPS] = 1;
    snprintf(about, sizeof(about), "%s %s", backward ? "backward" : "forward", shape);
    bench_subject subject = {.what = "conv",
                             .about = about,
                             .unit = BENCH_MS,
                             .params = &wish,
                             .create = create,
                             .release = release};
    return bench_compare(settings, &subject);
}

/* The two of LeNet, a block of ResNet's in its first and its last stage, and one by depth. */
static const option_list usual = {5,
                                  {"64x1x28x28x8x5", "64x8x14x14x16x5", "16x64x56x56x64x3",
                                   "16x512x7x7x512x3", "16x128x28x28x128x3x1x1x128"}};

int bench_conv(const bench_settings *settings)
{
    const option_list *shapes = settings->shapes.count ? &settings->shapes : &usual;
    int code = AXLE_OK;
    for (int k = 0; k < shapes->count && !code; k++)
        for (int backward = 0; backward < 2 && !code; backward++)
            code = measure(settings, shapes->item[k], backward);
    return code;
}
