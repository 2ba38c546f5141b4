/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices; in f32 against the same oneDNN primitive called directly. */
#define _GNU_SOURCE 1
#include <stdlib.h>

#include "bench.h"

typedef struct product {
    axle_tensor *a, *b;
    axle_device *device;
} product;

typedef struct sizes {
    int dtype;
    int64_t size[3];
} sizes;

static int multiply(void *user)
{
    const product *p = user;
    if (axle_scope_push())
        return -1;
    axle_no_grad_push();
    int failed = !axle_matmul(p->a, p->b) || axle_device_synchronize(p->device);
    axle_no_grad_pop();
    axle_scope_pop();
    return failed;
}

static int create(const bench_subject *subject, const bench_backend *backend, bench_pair *out)
{
    const sizes *s = subject->params;
    product *p = malloc(sizeof(*p));
    if (!p)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    p->device = backend->device;
    p->a = axle_cast(axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(s->size[0], s->size[1])), s->dtype);
    p->b = axle_cast(axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(s->size[1], s->size[2])), s->dtype);
    out->work = (bench_work){multiply, p, backend->device};
    out->flops = 2.0 * (double)s->size[0] * (double)s->size[1] * (double)s->size[2];
    if (s->dtype == AXLE_DTYPE_F32)
        out->limit = bench_direct_create("matmul", s->size);
    return p->a && p->b ? AXLE_OK : axle_error_code();
}

static void release(bench_pair *pair)
{
    bench_direct_release(pair->limit);
    free(pair->work.user);
}

static int measure(const bench_settings *settings, const char *shape)
{
    sizes s = {.dtype = bench_dtype(settings)};
    int count = bench_parse_shape(shape, 3, 3, "512x768x3072", s.size);
    if (count < 0)
        return count;
    bench_subject subject = {.what = "matmul",
                             .about = shape,
                             .unit = BENCH_MS,
                             .params = &s,
                             .create = create,
                             .release = release,
                             .limit = "the oneDNN primitive"};
    return bench_compare(settings, &subject);
}

/* Those of a transformer's layers, and a large square one. */
static const option_list usual = {
    4, {"512x768x768", "512x768x3072", "512x3072x768", "2048x2048x2048"}};

int bench_matmul(const bench_settings *settings)
{
    const option_list *shapes = settings->shapes.count ? &settings->shapes : &usual;
    int code = AXLE_OK;
    for (int k = 0; k < shapes->count && !code; k++)
        code = measure(settings, shapes->item[k]);
    return code;
}
