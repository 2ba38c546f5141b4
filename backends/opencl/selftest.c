/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run at the first open of a device: a product, an exponential, a sum and a draw, compared with
 * values computed here. A driver that fails has miscompiled them, and the device is not used.
 */
#include "plan.h"
#include "slots.h"

#include <math.h>
#include <string.h>

enum { SIDE = 8, COUNT = SIDE * SIDE };

typedef struct bench {
    axle_be_device *device;
    axle_be_queue *queue;
    axle_be_buffer *x, *y, *work;
    axle_error *error;
    float in[COUNT], out[COUNT];
} bench;

static axle_view matrix(axle_be_buffer *buffer)
{
    return (axle_view){.buffer = buffer,
                       .dtype = AXLE_DTYPE_F32,
                       .rank = 2,
                       .dim = {SIDE, SIDE},
                       .stride = {SIDE, 1}};
}

/* Run an operator on x (twice where it has two inputs) and read y. */
static axle_status run(bench *b, uint32_t number, uint32_t n_in, const void *attrs, axle_view y)
{
    const axle_view x = matrix(b->x), *in[2] = {&x, &x}, *out[1] = {&y};
    const axle_op_desc desc = {sizeof(desc), number, n_in, 1, in, out, attrs, 0, 0};
    const axle_op_args args = {.struct_size = sizeof(args),
                               .n_in = n_in,
                               .n_out = 1,
                               .in = in,
                               .out = out,
                               .workspace = b->work,
                               .rng_seed = 7};
    axle_be_op *op;
    axle_status status = ocl_op_prepare(b->device, &desc, &op, b->error);
    if (status != AXLE_OK)
        return status;
    status = ocl_op_run(b->queue, op, &args, b->error);
    if (status == AXLE_OK)
        status = ocl_buffer_read(b->queue, b->y, 0, b->out, sizeof(b->out), AXLE_HOST_DURING_CALL,
                                 b->error);
    if (status == AXLE_OK && b->y->host && memcmp(b->y->host, b->out, sizeof(b->out)) != 0)
        status = ocl_fail(b->error, AXLE_ERR_DEVICE,
                          "opencl: %s does not work on host memory in place, as was expected of %s",
                          b->device->about.name, b->device->about.platform_name);
    ocl_op_release(op);
    return status;
}

static axle_status wrong(const bench *b, const char *what, double got, double expected)
{
    return ocl_fail(b->error, AXLE_ERR_COMPILE,
                    "opencl: %s, driver %s, computes %s wrongly: %.9g instead of %.9g; the device "
                    "is not used (option opencl.selftest=0 leaves out this test)",
                    b->device->about.name, b->device->about.driver, what, got, expected);
}

static int differs(double got, double expected)
{
    return !(fabs(got - expected) <= 1e-5 * (1 + fabs(expected)));
}

static axle_status check_product(bench *b)
{
    const axle_matmul_attrs attrs = {.struct_size = sizeof(attrs), .alpha = 1};
    axle_status status = run(b, AXLE_OP_MATMUL, 2, &attrs, matrix(b->y));
    for (int i = 0; i < COUNT && status == AXLE_OK; i++) {
        double sum = 0;
        for (int k = 0; k < SIDE; k++)
            sum += (double)b->in[i / SIDE * SIDE + k] * b->in[k * SIDE + i % SIDE];
        if (differs(b->out[i], sum))
            status = wrong(b, "a product", b->out[i], sum);
    }
    return status;
}

static axle_status check_exponential(bench *b)
{
    const axle_unary_attrs attrs = {.struct_size = sizeof(attrs), .kind = AXLE_UNARY_EXP};
    axle_status status = run(b, AXLE_OP_UNARY, 1, &attrs, matrix(b->y));
    for (int i = 0; i < COUNT && status == AXLE_OK; i++)
        if (differs(b->out[i], exp(b->in[i])))
            status = wrong(b, "exp", b->out[i], exp(b->in[i]));
    return status;
}

static axle_status check_sum(bench *b)
{
    const axle_reduce_attrs attrs = {
        .struct_size = sizeof(attrs), .kind = AXLE_REDUCE_SUM, .axes = 3};
    axle_view one = matrix(b->y);
    double sum = 0;
    one.dim[0] = one.dim[1] = 1;
    const axle_status status = run(b, AXLE_OP_REDUCE, 1, &attrs, one);
    for (int i = 0; i < COUNT; i++)
        sum += b->in[i];
    if (status == AXLE_OK && differs(b->out[0], sum))
        return wrong(b, "a sum", b->out[0], sum);
    return status;
}

/* The first uniform numbers under seed 7. */
static axle_status check_draw(bench *b)
{
    const axle_random_attrs attrs = {.struct_size = sizeof(attrs), .low = 0, .high = 1};
    const axle_status status = run(b, AXLE_OP_RANDOM, 0, &attrs, matrix(b->y));
    for (uint32_t i = 0; i < 4 && status == AXLE_OK; i++) {
        const double expected = ocl_philox_uniform(7, i);
        if ((double)b->out[i] != expected)
            return wrong(b, "a random number", b->out[i], expected);
    }
    return status;
}

static axle_status bench_create(bench *b)
{
    axle_status status = ocl_queue_create(b->device, 0, &b->queue, b->error);
    axle_be_buffer **const buffers[] = {&b->x, &b->y, &b->work};
    for (int k = 0; k < 3 && status == AXLE_OK; k++)
        status = ocl_buffer_create(b->device, AXLE_BUFFER_DEVICE, k < 2 ? sizeof(b->in) : 1 << 16,
                                   buffers[k], b->error);
    for (int i = 0; i < COUNT; i++)
        b->in[i] = (float)((i * 37 % 64) - 32) / 16;
    if (status == AXLE_OK)
        status = ocl_buffer_write(b->queue, b->x, 0, b->in, sizeof(b->in), AXLE_HOST_DURING_CALL,
                                  b->error);
    return status;
}

axle_status ocl_selftest(axle_be_device *device, axle_error *error)
{
    static axle_status (*const checks[])(bench *) = {check_product, check_exponential, check_sum,
                                                     check_draw};
    bench b = {.device = device, .error = error};
    axle_status status = bench_create(&b);
    for (size_t k = 0; k < sizeof(checks) / sizeof(checks[0]) && status == AXLE_OK; k++)
        status = checks[k](&b);
    ocl_buffer_destroy(b.x);
    ocl_buffer_destroy(b.y);
    ocl_buffer_destroy(b.work);
    ocl_queue_destroy(b.queue);
    return status;
}
