/* SPDX-License-Identifier: Apache-2.0 */
/* Products of f32 matrices, against the same oneDNN primitive called directly. */
#define _GNU_SOURCE 1
#include <stdio.h>

#include "bench.h"

typedef struct product {
    axle_tensor *a, *b;
    axle_device *device;
} product;

static int multiply(void *user)
{
    const product *p = user;
    if (axle_scope_push())
        return -1;
    int failed = !axle_matmul(p->a, p->b) || axle_device_synchronize(p->device);
    axle_scope_pop();
    return failed;
}

static int measure(const bench_settings *settings, const char *shape, const int64_t size[3])
{
    int64_t m = size[0], k = size[1], n = size[2];
    product p = {axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(m, k)),
                 axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(k, n)), axle_device_current()};
    if (!p.a || !p.b)
        return axle_error_code();
    bench_work limit = bench_direct_create("matmul", size);
    bench_times times;
    int code = bench_measure((bench_work){multiply, &p}, limit, settings->repeat, &times);
    bench_direct_release(limit);
    if (code)
        return code;
    double gflops = 2e-9 * (double)m * (double)k * (double)n / times.subject;
    return bench_report(settings, "matmul", shape, BENCH_MS, times, "the oneDNN primitive",
                        json_pack("{s:f}", "gflops", gflops));
}

static int parse_shape(const char *text, int64_t size[3])
{
    long long m, k, n;
    int end = 0;
    if (sscanf(text, "%lldx%lldx%lld%n", &m, &k, &n, &end) != 3 || text[end] != '\0' || m < 1 ||
        k < 1 || n < 1)
        return axle_error_set(AXLE_ERR_INVALID, "--shape: '%s' is not of the form 512x768x3072",
                              text);
    size[0] = m;
    size[1] = k;
    size[2] = n;
    return AXLE_OK;
}

/* Those of a transformer's layers, and a large square one. */
static const option_list usual = {
    4, {"512x768x768", "512x768x3072", "512x3072x768", "2048x2048x2048"}};

int bench_matmul(const bench_settings *settings)
{
    const option_list *shapes = settings->shapes.count ? &settings->shapes : &usual;
    int64_t size[3];
    for (int k = 0; k < shapes->count; k++) {
        int code = parse_shape(shapes->item[k], size);
        if (code)
            return code;
    }
    axle_no_grad_push();
    int code = AXLE_OK;
    for (int k = 0; k < shapes->count && !code; k++) {
        parse_shape(shapes->item[k], size);
        code = axle_scope_push();
        if (code)
            break;
        code = measure(settings, shapes->item[k], size);
        axle_scope_pop();
    }
    axle_no_grad_pop();
    return code;
}
