/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_products.h"

#include <stdlib.h>

/* Products of one shape: (batch, m, k) by (batch, k, n), either of them transposed in memory. */
typedef struct product {
    int64_t batch, m, k, n;
    int a_transposed, b_transposed;
    int64_t count; /* in a step */
    axle_tensor *a, *b;
} product;

enum { PASSES = 3, MOST_KINDS = 6 * PASSES };

typedef struct products {
    product kind[MOST_KINDS];
    int kinds, dtype, began;
    axle_device *device;
} products;

/* ------------------------------------------------------------------ what there is */

/* y = x W', and in backward W's gradient and x's; W is stored as (out, in), or turned. */
static void add_linear(products *p, int64_t rows, int64_t in, int64_t out, int turned,
                       int64_t count)
{
    product *to = p->kind + p->kinds;
    const product all[PASSES] = {
        {.m = rows, .k = in, .n = out, .b_transposed = !turned},
        {.m = rows, .k = out, .n = in, .b_transposed = turned},
        {.m = turned ? in : out, .k = rows, .n = turned ? out : in, .a_transposed = 1},
    };
    for (int k = 0; k < PASSES; k++) {
        to[k] = all[k];
        to[k].batch = 1;
        to[k].count = count;
    }
    p->kinds += PASSES;
}

/* Scores and the gradient of probabilities; what is attended to and the gradient of queries; those
 * of keys and values. */
static void add_attention(products *p, int64_t heads, int64_t length, int64_t width, int64_t count)
{
    product *to = p->kind + p->kinds;
    const product all[PASSES] = {
        {.m = length, .k = width, .n = length, .b_transposed = 1},
        {.m = length, .k = length, .n = width},
        {.m = length, .k = length, .n = width, .a_transposed = 1},
    };
    for (int k = 0; k < PASSES; k++) {
        to[k] = all[k];
        to[k].batch = heads;
        to[k].count = 2 * count;
    }
    p->kinds += PASSES;
}

static void list_products(products *p, const text_sizes *sizes, int64_t rows, int64_t length)
{
    const int64_t width = sizes->width, hidden = sizes->hidden, layers = sizes->layers;
    const int64_t tokens = rows * length;
    const int turned = sizes->turned;
    if (sizes->joined)
        add_linear(p, tokens, width, 3 * width, turned, layers);
    add_linear(p, tokens, width, width, turned, (sizes->joined ? 1 : 4) * layers);
    add_linear(p, tokens, width, hidden, turned, layers);
    add_linear(p, tokens, hidden, width, turned, layers);
    add_attention(p, rows * sizes->heads, length, width / sizes->heads, layers);
    if (sizes->vocabulary)
        add_linear(p, tokens, width, sizes->vocabulary, 0, 1);
}

/* ------------------------------------------------------------------ operands and runs */

static axle_tensor *make_operand(const products *p, int64_t batch, int64_t rows, int64_t columns,
                                 int transposed)
{
    axle_tensor *x = axle_rand(
        AXLE_DTYPE_F32, AXLE_DIMS(batch, transposed ? columns : rows, transposed ? rows : columns));
    x = axle_cast(x, p->dtype);
    x = transposed ? axle_permute(x, (const int[]){0, 2, 1}) : x;
    if (x)
        axle_tensor_retain(x);
    return x;
}

static int make_operands(products *p)
{
    int code = axle_scope_push();
    for (int k = 0; k < p->kinds && !code; k++) {
        product *one = &p->kind[k];
        one->a = make_operand(p, one->batch, one->m, one->k, one->a_transposed);
        one->b = make_operand(p, one->batch, one->k, one->n, one->b_transposed);
        code = one->a && one->b ? AXLE_OK : axle_error_code();
    }
    axle_scope_pop();
    return code;
}

static int multiply(const product *one)
{
    int code = axle_scope_push();
    if (code)
        return code;
    code = axle_matmul(one->a, one->b) ? AXLE_OK : axle_error_code();
    axle_scope_pop();
    return code;
}

static int run(void *user)
{
    products *p = user;
    int code = p->began ? AXLE_OK : make_operands(p);
    p->began = 1;
    axle_no_grad_push();
    for (int k = 0; k < p->kinds; k++)
        for (int64_t i = 0; i < p->kind[k].count && !code; i++)
            code = multiply(&p->kind[k]);
    axle_no_grad_pop();
    return code ? code : axle_device_synchronize(p->device);
}

int bench_products_create(const text_sizes *sizes, int64_t rows, int64_t length, int dtype,
                          axle_device *device, bench_work *out)
{
    products *p = calloc(1, sizeof(*p));
    if (!p)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    p->dtype = dtype;
    p->device = device;
    list_products(p, sizes, rows, length);
    *out = (bench_work){run, p, device};
    return AXLE_OK;
}

int bench_products_began(bench_work work)
{
    const products *p = work.user;
    return p->began;
}

void bench_products_release(bench_work work)
{
    products *p = work.user;
    if (!p)
        return;
    for (int k = 0; k < p->kinds; k++) {
        axle_tensor_release(p->kind[k].a);
        axle_tensor_release(p->kind[k].b);
    }
    free(p);
}
