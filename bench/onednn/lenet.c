/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training step of LeNet, nhwc from end to end: conv 1-8 5x5, relu, pool 2, conv 8-16 5x5, relu,
 * pool 2, 784-128, relu, 128-10, cross-entropy, and Adam over all parameters in one pass.
 *
 * Parameters lie in one arena in plain layouts; where a primitive wants another one they are
 * copied.
 */
#include <math.h>
#include <stdlib.h>

#include "direct.h"
#include "program.h"

enum {
    SIDE = 28,
    NARROW = 8,
    WIDE = 16,
    KERNEL = 5,
    FEATURES = WIDE * (SIDE / 4) * (SIDE / 4),
    HIDDEN = 128,
    CLASSES = 10
};

/* Parameters: X(name, count). */
#define PARAMETER_LIST(X)                                                                          \
    X(conv1_weight, NARROW *KERNEL *KERNEL)                                                        \
    X(conv1_bias, NARROW)                                                                          \
    X(conv2_weight, WIDE *NARROW *KERNEL *KERNEL)                                                  \
    X(conv2_bias, WIDE)                                                                            \
    X(fc1_weight, HIDDEN *FEATURES)                                                                \
    X(fc1_bias, HIDDEN)                                                                            \
    X(fc2_weight, CLASSES *HIDDEN)                                                                 \
    X(fc2_bias, CLASSES)

typedef struct parameters {
#define FIELD(name, count) float name[count];
    PARAMETER_LIST(FIELD)
#undef FIELD
} parameters;

enum { PARAMETERS = sizeof(parameters) / sizeof(float) };

typedef struct lenet {
    direct_workload base;
    program *program;
    int64_t batch;
    parameters *value, *gradient, *moment1, *moment2;
    float *logits, *d_logits, *d_hidden;
    int *target;
    int64_t step;
} lenet;

/* ------------------------------------------------------------------ plain functions */

/* Mean cross-entropy's gradient: softmax(logits) minus one at the target, over the batch. */
static void loss_backward(void *user)
{
    lenet *net = user;
    for (int64_t i = 0; i < net->batch; i++) {
        const float *x = net->logits + i * CLASSES;
        float *d = net->d_logits + i * CLASSES, largest = x[0], sum = 0.0f;
        for (int j = 1; j < CLASSES; j++)
            largest = x[j] > largest ? x[j] : largest;
        for (int j = 0; j < CLASSES; j++)
            sum += d[j] = expf(x[j] - largest);
        for (int j = 0; j < CLASSES; j++)
            d[j] = (d[j] / sum - (j == net->target[i])) / (float)net->batch;
    }
}

/* (rows, columns) to (columns). */
static void sum_rows(const float *x, int64_t rows, int64_t columns, float *out)
{
    for (int64_t j = 0; j < columns; j++)
        out[j] = 0.0f;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            out[j] += x[i * columns + j];
}

static void bias1_backward(void *user)
{
    lenet *net = user;
    sum_rows(net->d_hidden, net->batch, HIDDEN, net->gradient->fc1_bias);
}

static void bias2_backward(void *user)
{
    lenet *net = user;
    sum_rows(net->d_logits, net->batch, CLASSES, net->gradient->fc2_bias);
}

static void adam(void *user)
{
    lenet *net = user;
    const float b1 = 0.9f, b2 = 0.999f, eps = 1e-8f;
    net->step++;
    const float rate = 1e-3f / (1.0f - powf(b1, (float)net->step));
    const float scale = 1.0f / sqrtf(1.0f - powf(b2, (float)net->step));
    float *restrict p = (float *)net->value, *restrict m = (float *)net->moment1;
    float *restrict v = (float *)net->moment2;
    const float *restrict g = (const float *)net->gradient;
#pragma omp parallel for simd
    for (int k = 0; k < PARAMETERS; k++) {
        m[k] = b1 * m[k] + (1.0f - b1) * g[k];
        v[k] = b2 * v[k] + (1.0f - b2) * g[k] * g[k];
        p[k] -= rate * m[k] / (sqrtf(v[k]) * scale + eps);
    }
}

/* ------------------------------------------------------------------ layers */

/* A convolution with its relu and pooling: what forward leaves for backward. */
typedef struct stage {
    int64_t in, out, side; /* channels, and height and width of the input */
    float *weight, *bias, *d_weight, *d_bias;
    dnnl_memory_t x, y, pooled, workspace;
    dnnl_primitive_desc_t conv, pool;
} stage;

static dnnl_memory_t picture(program *p, int64_t n, int64_t c, int64_t side)
{
    return program_tensor(p, 4, (const dnnl_dim_t[]){n, c, side, side}, dnnl_nhwc, NULL);
}

static program_desc any_weights(program *p, const stage *s)
{
    return program_layout(p, 4, (const dnnl_dim_t[]){s->out, s->in, KERNEL, KERNEL},
                          dnnl_format_tag_any);
}

static dnnl_memory_t plain_weights(program *p, const stage *s, float *data)
{
    return program_tensor(p, 4, (const dnnl_dim_t[]){s->out, s->in, KERNEL, KERNEL}, dnnl_oihw,
                          data);
}

static dnnl_memory_t vector(program *p, int64_t count, float *data)
{
    return program_tensor(p, 1, (const dnnl_dim_t[]){count}, dnnl_a, data);
}

/* x (N, in, side, side) -> pooled (N, out, side/2, side/2). */
static void stage_forward(program *p, int64_t n, stage *s)
{
    dnnl_memory_t plain = plain_weights(p, s, s->weight), bias = vector(p, s->out, s->bias);
    s->y = picture(p, n, s->out, s->side);
    s->pooled = picture(p, n, s->out, s->side / 2);
    s->conv = program_conv_forward(p, program_desc_of(p, s->x), any_weights(p, s),
                                   program_desc_of(p, bias), program_desc_of(p, s->y));
    dnnl_memory_t weights = program_operand(p, s->conv, dnnl_query_weights_md);
    program_add_reorder(p, plain, weights);
    program_add(p, s->conv,
                (const program_arg[]){{DNNL_ARG_SRC, s->x},
                                      {DNNL_ARG_WEIGHTS, weights},
                                      {DNNL_ARG_BIAS, bias},
                                      {DNNL_ARG_DST, s->y},
                                      {0, NULL}});
    s->pool = program_pool_forward(p, program_desc_of(p, s->y), program_desc_of(p, s->pooled));
    s->workspace = program_operand(p, s->pool, dnnl_query_workspace_md);
    program_add(p, s->pool,
                (const program_arg[]){{DNNL_ARG_SRC, s->y},
                                      {DNNL_ARG_DST, s->pooled},
                                      {DNNL_ARG_WORKSPACE, s->workspace},
                                      {0, NULL}});
}

static void weights_backward(program *p, const stage *s, dnnl_memory_t d_y)
{
    dnnl_memory_t bias = vector(p, s->out, s->d_bias);
    dnnl_primitive_desc_t desc =
        program_conv_weights(p, program_desc_of(p, s->x), any_weights(p, s),
                             program_desc_of(p, bias), program_desc_of(p, d_y), s->conv);
    dnnl_memory_t d_weights = program_operand(p, desc, dnnl_query_diff_weights_md);
    program_add(p, desc,
                (const program_arg[]){{DNNL_ARG_SRC, s->x},
                                      {DNNL_ARG_DIFF_DST, d_y},
                                      {DNNL_ARG_DIFF_WEIGHTS, d_weights},
                                      {DNNL_ARG_DIFF_BIAS, bias},
                                      {0, NULL}});
    program_add_reorder(p, d_weights, plain_weights(p, s, s->d_weight));
}

/* d_pooled -> d_x, unless that is NULL, and the gradients of the parameters. */
static void stage_backward(program *p, int64_t n, const stage *s, dnnl_memory_t d_pooled,
                           dnnl_memory_t d_x)
{
    dnnl_memory_t d_y = picture(p, n, s->out, s->side);
    dnnl_primitive_desc_t pool =
        program_pool_backward(p, program_desc_of(p, d_y), program_desc_of(p, d_pooled), s->pool);
    program_add(p, pool,
                (const program_arg[]){{DNNL_ARG_DIFF_DST, d_pooled},
                                      {DNNL_ARG_WORKSPACE, s->workspace},
                                      {DNNL_ARG_DIFF_SRC, d_y},
                                      {0, NULL}});
    dnnl_primitive_desc_t relu = program_relu_backward(p, program_desc_of(p, d_y));
    program_add(
        p, relu,
        (const program_arg[]){
            {DNNL_ARG_DST, s->y}, {DNNL_ARG_DIFF_DST, d_y}, {DNNL_ARG_DIFF_SRC, d_y}, {0, NULL}});
    weights_backward(p, s, d_y);
    if (!d_x)
        return;
    dnnl_primitive_desc_t data = program_conv_data(p, program_desc_of(p, d_x), any_weights(p, s),
                                                   program_desc_of(p, d_y), s->conv);
    dnnl_memory_t weights = program_operand(p, data, dnnl_query_weights_md);
    program_add_reorder(p, plain_weights(p, s, s->weight), weights);
    program_add(p, data,
                (const program_arg[]){{DNNL_ARG_DIFF_DST, d_y},
                                      {DNNL_ARG_WEIGHTS, weights},
                                      {DNNL_ARG_DIFF_SRC, d_x},
                                      {0, NULL}});
}

/* (rows, columns), or what is stored so and read as its transpose. */
static dnnl_memory_t matrix(program *p, int64_t rows, int64_t columns, float *data, int transposed)
{
    return program_tensor(p, 2, (const dnnl_dim_t[]){rows, columns}, transposed ? dnnl_ba : dnnl_ab,
                          data);
}

/* c = a . b, with bias and relu if wanted. */
static void product(program *p, dnnl_memory_t a, dnnl_memory_t b, dnnl_memory_t bias,
                    dnnl_memory_t c, int relu)
{
    dnnl_primitive_desc_t desc =
        program_matmul(p, program_desc_of(p, a), program_desc_of(p, b),
                       bias ? program_desc_of(p, bias) : NULL, program_desc_of(p, c), relu);
    program_add(p, desc,
                (const program_arg[]){{DNNL_ARG_SRC, a},
                                      {DNNL_ARG_WEIGHTS, b},
                                      {DNNL_ARG_DST, c},
                                      {bias ? DNNL_ARG_BIAS : 0, bias},
                                      {0, NULL}});
}

/* features (N, FEATURES) -> logits and back to d_features. */
static void build_head(lenet *net, float *features, float *d_features)
{
    program *p = net->program;
    int64_t n = net->batch;
    float *hidden = program_floats(p, (size_t)(n * HIDDEN));
    parameters *value = net->value, *gradient = net->gradient;
    dnnl_memory_t h = matrix(p, n, HIDDEN, hidden, 0);
    dnnl_memory_t d_h = matrix(p, n, HIDDEN, net->d_hidden, 0);
    dnnl_memory_t d_logits = matrix(p, n, CLASSES, net->d_logits, 0);

    product(p, matrix(p, n, FEATURES, features, 0),
            matrix(p, FEATURES, HIDDEN, value->fc1_weight, 1),
            program_tensor(p, 2, (const dnnl_dim_t[]){1, HIDDEN}, dnnl_ab, value->fc1_bias), h, 1);
    product(p, h, matrix(p, HIDDEN, CLASSES, value->fc2_weight, 1),
            program_tensor(p, 2, (const dnnl_dim_t[]){1, CLASSES}, dnnl_ab, value->fc2_bias),
            matrix(p, n, CLASSES, net->logits, 0), 0);
    program_add_function(p, loss_backward, net);

    product(p, matrix(p, CLASSES, n, net->d_logits, 1), h, NULL,
            matrix(p, CLASSES, HIDDEN, gradient->fc2_weight, 0), 0);
    program_add_function(p, bias2_backward, net);
    product(p, d_logits, matrix(p, CLASSES, HIDDEN, value->fc2_weight, 0), NULL, d_h, 0);
    program_add(
        p, program_relu_backward(p, program_desc_of(p, h)),
        (const program_arg[]){
            {DNNL_ARG_DST, h}, {DNNL_ARG_DIFF_DST, d_h}, {DNNL_ARG_DIFF_SRC, d_h}, {0, NULL}});
    product(p, matrix(p, HIDDEN, n, net->d_hidden, 1), matrix(p, n, FEATURES, features, 0), NULL,
            matrix(p, HIDDEN, FEATURES, gradient->fc1_weight, 0), 0);
    program_add_function(p, bias1_backward, net);
    product(p, d_h, matrix(p, HIDDEN, FEATURES, value->fc1_weight, 0), NULL,
            matrix(p, n, FEATURES, d_features, 0), 0);
}

static void build(lenet *net)
{
    program *p = net->program;
    int64_t n = net->batch;
    parameters *value = net->value, *gradient = net->gradient;
    stage first = {.in = 1,
                   .out = NARROW,
                   .side = SIDE,
                   .weight = value->conv1_weight,
                   .bias = value->conv1_bias,
                   .d_weight = gradient->conv1_weight,
                   .d_bias = gradient->conv1_bias};
    stage second = {.in = NARROW,
                    .out = WIDE,
                    .side = SIDE / 2,
                    .weight = value->conv2_weight,
                    .bias = value->conv2_bias,
                    .d_weight = gradient->conv2_weight,
                    .d_bias = gradient->conv2_bias};
    first.x = picture(p, n, 1, SIDE);
    stage_forward(p, n, &first);
    second.x = first.pooled;
    stage_forward(p, n, &second);
    dnnl_memory_t d_features = picture(p, n, WIDE, SIDE / 4);
    if (program_status(p))
        return;
    float *x = program_data(p, first.x);
    for (int64_t k = 0; k < n * SIDE * SIDE; k++)
        x[k] = (float)(k * 2654435761u >> 8 & 0xff) / 255.0f;
    build_head(net, program_data(p, second.pooled), program_data(p, d_features));
    dnnl_memory_t d_middle = picture(p, n, NARROW, SIDE / 2);
    stage_backward(p, n, &second, d_features, d_middle);
    stage_backward(p, n, &first, d_middle, NULL);
    program_add_function(p, adam, net);
}

/* ------------------------------------------------------------------ the workload */

static int run(direct_workload *base)
{
    return program_run(((lenet *)base)->program);
}

static void release(direct_workload *base)
{
    lenet *net = (lenet *)base;
    program_release(net->program);
    free(net->target);
    free(net);
}

static parameters *arena(program *p)
{
    return (parameters *)program_floats(p, PARAMETERS);
}

/* Small values of both signs: how fast a step is does not depend on them. */
static void initialise(lenet *net)
{
    float *value = (float *)net->value;
    for (uint32_t k = 0; k < PARAMETERS; k++)
        value[k] = ((float)(k * 2654435761u >> 16 & 0xff) - 127.5f) * 2e-4f;
    for (int64_t i = 0; i < net->batch; i++)
        net->target[i] = (int)(i % CLASSES);
}

direct_workload *direct_lenet_create(const int64_t sizes[3])
{
    lenet *net = calloc(1, sizeof(*net));
    if (!net)
        return NULL;
    net->base = (direct_workload){run, release};
    net->batch = sizes[0];
    net->target = calloc((size_t)net->batch, sizeof(*net->target));
    net->program = program_create();
    program *p = net->program;
    if (!net->target || !p) {
        release(&net->base);
        return NULL;
    }
    net->value = arena(p);
    net->gradient = arena(p);
    net->moment1 = arena(p);
    net->moment2 = arena(p);
    net->logits = program_floats(p, (size_t)(net->batch * CLASSES));
    net->d_logits = program_floats(p, (size_t)(net->batch * CLASSES));
    net->d_hidden = program_floats(p, (size_t)(net->batch * HIDDEN));
    if (program_status(p) == dnnl_success) {
        initialise(net);
        build(net);
    }
    if (program_status(p) != dnnl_success) {
        release(&net->base);
        return NULL;
    }
    return &net->base;
}
