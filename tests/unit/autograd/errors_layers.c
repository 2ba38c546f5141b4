/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products, layers, losses, indexing and gradients with operands that do not fit: NULL, a code, and
 * a message that names the operator and the values. NULL operands give NULL and no error of their
 * own.
 */
#include "autograd/refusals.h"

/* ------------------------------------------------------------------ products */

static void test_matmul(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_matmul(NULL, F(2)));
    PASSES_NOTHING(axle_matmul(F(2), NULL));
    REFUSES(axle_matmul(F(2, 3), F(4, 5)), SHAPE,
            "matmul: inner sizes differ, 3 and 4, in (2, 3) and (4, 5)");
    REFUSES(axle_matmul(F(2, 0), F(1, 3)), SHAPE, "matmul: inner sizes differ, 0 and 1");
    REFUSES(axle_matmul(F(2), F(3)), SHAPE, "matmul: inner sizes differ, 2 and 3");
    REFUSES(axle_matmul(F(2, 3, 4), F(5, 4, 6)), SHAPE,
            "matmul: leading dims of (2, 3, 4) and (5, 4, 6) do not broadcast");
    REFUSES(axle_matmul(SCALAR(), F(2)), SHAPE, "matmul: wants at least 1 dims, got ()");
    REFUSES(axle_matmul(F(2), SCALAR()), SHAPE, "matmul: wants at least 1 dims, got ()");
    REFUSES(axle_matmul(I(2, 2), I(2, 2)), DTYPE, "matmul: wants a float tensor, got i64");
    REFUSES(axle_matmul(F(2, 2), F32(2, 2)), DTYPE, "matmul: element types differ, f64 and f32");
    REFUSES(axle_matmul(F(2, 2), FAR(2, 2)), DEVICE, "matmul: tensors are on different devices");
}

#define LINEAR(name)                                                                               \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        PASSES_NOTHING(axle_##name(NULL, F(2, 3), NULL));                                          \
        PASSES_NOTHING(axle_##name(F(2, 3), NULL, NULL));                                          \
        REFUSES(axle_##name(F(2, 3), F(4, 2), NULL), SHAPE,                                        \
                "linear: input (2, 3) does not fit weight (4, 2)");                                \
        REFUSES(axle_##name(F(3), F(3), NULL), SHAPE,                                              \
                "linear: input (3) does not fit weight (3)");                                      \
        REFUSES(axle_##name(F(2, 3), F(4, 3), F(3)), SHAPE,                                        \
                "linear: bias (3) does not fit weight (4, 3)");                                    \
        REFUSES(axle_##name(SCALAR(), F(4, 3), NULL), SHAPE, "linear: wants at least 1 dims");     \
        REFUSES(axle_##name(I(2, 3), I(4, 3), NULL), DTYPE, "linear: wants a float tensor");       \
        REFUSES(axle_##name(F(2, 3), F32(4, 3), NULL), DTYPE, "linear: element types differ");     \
        REFUSES(axle_##name(F(2, 3), F(4, 3), F32(4)), DTYPE, "linear: element types differ");     \
        REFUSES(axle_##name(F(2, 3), F(4, 3), FAR(4)), DEVICE, "linear: tensors are on");          \
    }
LINEAR(linear)
LINEAR(linear_relu)

/* ------------------------------------------------------------------ convolution and pooling */

static axle_conv_params conv_params(int stride, int padding, int dilation, int groups)
{
    axle_conv_params p = AXLE_CONV_PARAMS_INIT;
    p.stride[1] = stride;
    p.padding[1] = padding;
    p.dilation[1] = dilation;
    p.groups = groups;
    return p;
}

/* What convolution and its transpose have in common. */
static void conv_common(axle_tensor *(*conv)(axle_tensor *, axle_tensor *, axle_tensor *,
                                             const axle_conv_params *),
                        const char *name)
{
    char text[80];
    snprintf(text, sizeof(text), "%s: ", name);
    axle_conv_params bad[] = {conv_params(0, 0, 1, 1), conv_params(1, -1, 1, 1),
                              conv_params(1, 0, 0, 1), conv_params(1, 0, 1, 0)};
    PASSES_NOTHING(conv(NULL, F(3, 3, 2, 2), NULL, NULL));
    PASSES_NOTHING(conv(F(1, 3, 4, 4), NULL, NULL, NULL));
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        REFUSES(conv(F(1, 3, 4, 4), F(3, 3, 2, 2), NULL, &bad[k]), INVALID, text);
    REFUSES(conv(F(1, 3, 4, 4), F(3, 3, 2, 2), NULL, &bad[1]), INVALID,
            "for spatial dim 1, stride 1, padding -1, dilation 1");
    REFUSES(conv(F(1, 3, 4, 4), F(4, 4, 2, 2), NULL, NULL), SHAPE,
            "channels do not fit: input (1, 3, 4, 4), weight (4, 4, 2, 2)");
    REFUSES(conv(F(1, 3), F(3, 3), NULL, NULL), SHAPE, "wants 1 to 3 spatial dims");
    REFUSES(conv(SCALAR(), SCALAR(), NULL, NULL), SHAPE, text);
    REFUSES(conv(F(1, 3, 4), F(3, 3, 2, 2), NULL, NULL), SHAPE, text);
    REFUSES(conv(F(1, 3, 4, 4), F(3, 3, 0, 2), NULL, NULL), SHAPE, "the kernel is empty");
    REFUSES(conv(F(1, 3, 4, 4), F(3, 3, 2, 2), F(4), NULL), SHAPE, "the bias does not fit");
    REFUSES(conv(I(1, 3, 4, 4), I(3, 3, 2, 2), NULL, NULL), DTYPE, "wants a float tensor");
    REFUSES(conv(F(1, 3, 4, 4), F32(3, 3, 2, 2), NULL, NULL), DTYPE, "element types differ");
    REFUSES(conv(F(1, 3, 4, 4), F(3, 3, 2, 2), FAR(3), NULL), DEVICE, text);
}

static void test_conv(void **state)
{
    (void)state;
    conv_common(axle_conv, "conv");
    axle_conv_params groups = conv_params(1, 0, 1, 2);
    REFUSES(axle_conv(F(1, 4, 4, 4), F(3, 2, 2, 2), NULL, &groups), SHAPE, "channels do not fit");
    REFUSES(axle_conv(F(1, 3, 4, 4), F(3, 3, 5, 2), NULL, NULL), SHAPE,
            "conv: the kernel is larger than the padded input: input (1, 3, 4, 4)");
}

static void test_conv_transpose(void **state)
{
    (void)state;
    conv_common(axle_conv_transpose, "conv_transpose");
    axle_conv_params p = AXLE_CONV_PARAMS_INIT;
    p.output_padding[0] = 1;
    REFUSES(axle_conv_transpose(F(1, 3, 4, 4), F(3, 3, 2, 2), NULL, &p), SHAPE, "output padding");
    p = (axle_conv_params)AXLE_CONV_PARAMS_INIT;
    p.padding[0] = 9;
    REFUSES(axle_conv_transpose(F(1, 3, 4, 4), F(3, 3, 2, 2), NULL, &p), SHAPE, "conv_transpose: ");
}

static axle_pool_params pool_params(int kernel, int stride, int padding, int dilation)
{
    axle_pool_params p = AXLE_POOL_PARAMS_INIT;
    p.kernel[0] = kernel;
    p.stride[0] = stride;
    p.padding[0] = padding;
    p.dilation[0] = dilation;
    return p;
}

#define POOL(name)                                                                                 \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        axle_pool_params bad[] = {pool_params(0, 1, 0, 1),  pool_params(2, -1, 0, 1),              \
                                  pool_params(2, 1, -1, 1), pool_params(2, 1, 0, 0),               \
                                  pool_params(2, 1, 2, 1),  pool_params(9, 1, 0, 1)};              \
        PASSES_NOTHING(axle_##name(NULL, NULL));                                                   \
        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)                                  \
            REFUSES(axle_##name(F(1, 1, 4), &bad[k]), SHAPE, #name ": kernel ");                   \
        REFUSES(axle_##name(F(1, 1, 4), &bad[5]), SHAPE, "kernel 9, stride 1, padding 0");         \
        REFUSES(axle_##name(F(2, 4), NULL), SHAPE, #name ": wants (N, C, ...)");                   \
        REFUSES(axle_##name(F(1, 1, 1, 1, 1, 4), NULL), SHAPE, "got (1, 1, 1, 1, 1, 4)");          \
        REFUSES(axle_##name(I(1, 1, 4), NULL), DTYPE, #name ": wants a float tensor, got i64");    \
        axle_pool_params padded = pool_params(2, 1, 1, 1);                                         \
        REFUSES(axle_##name(F(1, 1, 0), &padded), SHAPE, "size 0");                                \
    }
POOL(max_pool)
POOL(avg_pool)

#define SIZED(name)                                                                                \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        const int64_t good[] = {2}, bad[] = {0};                                                   \
        PASSES_NOTHING(axle_##name(NULL, good));                                                   \
        REFUSES(axle_##name(F(1, 1, 4), bad), SHAPE, #name ": cannot make 0 of 4");                \
        REFUSES(axle_##name(F(1, 1, 0), good), SHAPE, #name ": cannot make 2 of 0");               \
        REFUSES(axle_##name(F(1, 4), good), SHAPE, #name ": wants (N, C, ...)");                   \
        REFUSES(axle_##name(I(1, 1, 4), good), DTYPE, #name ": wants a float tensor, got i64");    \
        REFUSES(axle_##name(F(1, 1, 4), NULL), INVALID, #name ": 1 numbers wanted, got none");     \
    }
SIZED(adaptive_avg_pool)
SIZED(adaptive_max_pool)
SIZED(interpolate)

/* ------------------------------------------------------------------ normalisation */

static void test_layer_norm(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_layer_norm(NULL, 1, NULL, NULL, 1e-5));
    REFUSES(axle_layer_norm(F(2, 3), 0, NULL, NULL, 1e-5), SHAPE,
            "layer_norm: 0 dims of a tensor of rank 2");
    REFUSES(axle_layer_norm(F(2, 3), 3, NULL, NULL, 1e-5), SHAPE, "layer_norm: 3 dims");
    REFUSES(axle_layer_norm(F(2, 3), 1, F(2), NULL, 1e-5), SHAPE,
            "layer_norm: scale (2) does not fit the last 1 dims of (2, 3)");
    REFUSES(axle_layer_norm(F(2, 3), 1, NULL, F(2, 3), 1e-5), SHAPE, "layer_norm: scale (2, 3)");
    REFUSES(axle_layer_norm(I(2, 3), 1, NULL, NULL, 1e-5), DTYPE, "layer_norm: wants a float");
    REFUSES(axle_layer_norm(F(2, 3), 1, F32(3), NULL, 1e-5), DTYPE, "layer_norm: element types");
    REFUSES(axle_layer_norm(F(2, 3), 1, NULL, FAR(3), 1e-5), DEVICE, "layer_norm: tensors");
}

static void test_rms_norm(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_rms_norm(NULL, NULL, 1e-5));
    REFUSES(axle_rms_norm(SCALAR(), NULL, 1e-5), SHAPE, "rms_norm: 1 dims of a tensor of rank 0");
    REFUSES(axle_rms_norm(F(2, 3), F(2), 1e-5), SHAPE, "rms_norm: scale (2)");
    REFUSES(axle_rms_norm(I(2), NULL, 1e-5), DTYPE, "rms_norm: wants a float tensor, got i64");
}

#define BATCH_NORM(x, g, b, m, v, t) axle_batch_norm(x, g, b, m, v, t, 0.1, 1e-5)

static void test_batch_norm(void **state)
{
    (void)state;
    axle_tensor *x = F(4, 3), *c = F(3);
    PASSES_NOTHING(BATCH_NORM(NULL, NULL, NULL, NULL, NULL, 1));
    REFUSES(BATCH_NORM(x, NULL, NULL, NULL, NULL, 0), INVALID, "batch_norm: running mean");
    REFUSES(BATCH_NORM(x, NULL, NULL, c, NULL, 1), INVALID, "batch_norm: running mean");
    REFUSES(BATCH_NORM(x, F(4), NULL, NULL, NULL, 1), SHAPE,
            "batch_norm: (4) does not hold one number a channel of (4, 3)");
    REFUSES(BATCH_NORM(x, NULL, NULL, c, F(1, 3), 1), SHAPE, "batch_norm: (1, 3)");
    REFUSES(BATCH_NORM(F(3), NULL, NULL, NULL, NULL, 1), SHAPE, "batch_norm: wants at least 2");
    REFUSES(BATCH_NORM(F(1, 3), NULL, NULL, NULL, NULL, 1), SHAPE,
            "batch_norm: training wants more than one value a channel, got (1, 3)");
    REFUSES(BATCH_NORM(I(4, 3), NULL, NULL, NULL, NULL, 1), DTYPE, "batch_norm: wants a float");
    REFUSES(BATCH_NORM(x, F32(3), NULL, NULL, NULL, 1), DTYPE, "batch_norm: element types");
    REFUSES(BATCH_NORM(x, FAR(3), NULL, NULL, NULL, 1), DEVICE, "batch_norm: tensors are on");
    axle_tensor *repeated = axle_expand(F(1), AXLE_DIMS(3));
    REFUSES(BATCH_NORM(x, NULL, NULL, repeated, c, 1), INVALID, "batch_norm: elements of (3)");
}

static void test_group_norm(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_group_norm(NULL, 1, NULL, NULL, 1e-5));
    REFUSES(axle_group_norm(F(2, 4), 3, NULL, NULL, 1e-5), SHAPE,
            "group_norm: 4 channels do not divide into 3 groups");
    REFUSES(axle_group_norm(F(2, 4), 0, NULL, NULL, 1e-5), SHAPE, "into 0 groups");
    REFUSES(axle_group_norm(F(4), 1, NULL, NULL, 1e-5), SHAPE, "group_norm: wants at least 2");
    REFUSES(axle_group_norm(F(2, 4), 2, F(2), NULL, 1e-5), SHAPE, "group_norm: (2) does not");
    REFUSES(axle_group_norm(I(2, 4), 2, NULL, NULL, 1e-5), DTYPE, "group_norm: wants a float");
    REFUSES(axle_group_norm(F(2, 4), 2, NULL, FAR(4), 1e-5), DEVICE, "group_norm: tensors");
}

/* ------------------------------------------------------------------ softmax and attention */

#define SOFTMAX(name)                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        PASSES_NOTHING(axle_##name(NULL, 0));                                                      \
        REFUSES(axle_##name(F(2, 3), 2), SHAPE, #name ": dim 2 is out of range for rank 2");       \
        REFUSES(axle_##name(SCALAR(), 0), SHAPE, #name ": dim 0 is out of range for rank 0");      \
        REFUSES(axle_##name(I(2), 0), DTYPE, #name ": wants a float tensor, got i64");             \
    }
SOFTMAX(softmax)
SOFTMAX(log_softmax)

static void test_masked_softmax(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_masked_softmax(NULL, B(2), 0));
    PASSES_NOTHING(axle_masked_softmax(F(2), NULL, 0));
    REFUSES(axle_masked_softmax(F(2, 3), B(2), 1), SHAPE,
            "masked_softmax: mask (2) does not repeat to (2, 3)");
    REFUSES(axle_masked_softmax(F(3), B(2, 3), 0), SHAPE, "mask (2, 3) does not repeat to (3)");
    REFUSES(axle_masked_softmax(F(3), I(3), 0), DTYPE, "masked_softmax: the mask must be bool");
    REFUSES(axle_masked_softmax(F(3), F(3), 0), DTYPE, "masked_softmax: the mask must be bool");
    REFUSES(axle_masked_softmax(F(3), B(3), -2), SHAPE, "masked_softmax: dim -2 is out of range");
    REFUSES(axle_masked_softmax(F(3), far(AXLE_DTYPE_BOOL, AXLE_DIMS(3)), 0), DEVICE,
            "masked_softmax: tensors are on different devices");
}

static void test_attention(void **state)
{
    (void)state;
    axle_tensor *q = F(1, 2, 3, 4), *k = F(1, 2, 5, 4), *v = F(1, 2, 5, 6);
    axle_attention_params p = AXLE_ATTENTION_PARAMS_INIT;
    PASSES_NOTHING(axle_attention(NULL, k, v, NULL, NULL));
    PASSES_NOTHING(axle_attention(q, NULL, v, NULL, NULL));
    PASSES_NOTHING(axle_attention(q, k, NULL, NULL, NULL));
    REFUSES(axle_attention(q, F(1, 2, 5, 3), v, NULL, NULL), SHAPE,
            "attention: query (1, 2, 3, 4), key (1, 2, 5, 3) and value (1, 2, 5, 6)");
    REFUSES(axle_attention(q, k, F(1, 2, 4, 6), NULL, NULL), SHAPE, "value (1, 2, 4, 6)");
    REFUSES(axle_attention(F(3, 4), F(5, 4), F(5, 6), NULL, NULL), SHAPE, "attention: query");
    REFUSES(axle_attention(q, k, v, B(4, 5), NULL), SHAPE,
            "attention: mask (4, 5) does not repeat to (1, 2, 3, 5)");
    REFUSES(axle_attention(q, k, v, I(3, 5), NULL), DTYPE, "attention: element types differ");
    REFUSES(axle_attention(q, k, v, FAR(3, 5), NULL), DEVICE, "attention: tensors are on");
    REFUSES(axle_attention(I(1, 1, 1, 1), I(1, 1, 1, 1), I(1, 1, 1, 1), NULL, NULL), DTYPE,
            "attention: wants a float tensor");
    REFUSES(axle_attention(q, k, F32(1, 2, 5, 6), NULL, NULL), DTYPE, "attention: element types");
    REFUSES(axle_attention(q, FAR(1, 2, 5, 4), v, NULL, NULL), DEVICE, "attention: tensors");
    p.dropout = 1.5;
    REFUSES(axle_attention(q, k, v, NULL, &p), INVALID, "attention: dropout 1.5 is not in [0, 1]");
    p.dropout = NAN;
    REFUSES(axle_attention(q, k, v, NULL, &p), INVALID, "attention: dropout nan");
    REFUSES(axle_attention(q, k, v, tensors_leaf(F(3, 5)), NULL), UNSUPPORTED,
            "attention: there is no gradient for the mask");
}

/* ------------------------------------------------------------------ losses and dropout */

static void test_cross_entropy(void **state)
{
    (void)state;
    axle_cross_entropy_params p = AXLE_CROSS_ENTROPY_PARAMS_INIT;
    axle_tensor *x = F(2, 3), *t = I(2);
    PASSES_NOTHING(axle_cross_entropy(NULL, t, NULL));
    PASSES_NOTHING(axle_cross_entropy(x, NULL, NULL));
    REFUSES(axle_cross_entropy(x, I(3), NULL), SHAPE,
            "cross_entropy: target (3) does not fit logits (2, 3)");
    REFUSES(axle_cross_entropy(x, I(2, 3), NULL), SHAPE, "target (2, 3)");
    REFUSES(axle_cross_entropy(F(2, 3, 4), I(2, 5), NULL), SHAPE, "target (2, 5)");
    REFUSES(axle_cross_entropy(F(3), I(1), NULL), SHAPE, "cross_entropy: wants at least 2 dims");
    REFUSES(axle_cross_entropy(x, F(2), NULL), DTYPE,
            "cross_entropy: indices must be i64 or i32, got f64");
    REFUSES(axle_cross_entropy(I(2, 3), t, NULL), DTYPE, "cross_entropy: wants a float tensor");
    REFUSES(axle_cross_entropy(x, FAR_I(2), NULL), DEVICE, "cross_entropy: tensors are on");
    REFUSES(axle_cross_entropy(x, index_of(AXLE_DIMS(2), 3), NULL), INDEX, "3");
    REFUSES(axle_cross_entropy(x, index_of(AXLE_DIMS(2), -1), NULL), INDEX, "-1");
    p.reduction = 3;
    REFUSES(axle_cross_entropy(x, t, &p), INVALID, "cross_entropy: reduction 3");
    p.reduction = AXLE_LOSS_SUM;
    p.label_smoothing = -0.5;
    REFUSES(axle_cross_entropy(x, t, &p), INVALID, "label smoothing -0.5");
    p.label_smoothing = NAN;
    REFUSES(axle_cross_entropy(x, t, &p), INVALID, "label smoothing nan");
    p.label_smoothing = 0;
    p.weight = F(2);
    REFUSES(axle_cross_entropy(x, t, &p), SHAPE, "weight (2) does not fit logits (2, 3)");
    p.weight = F32(3);
    REFUSES(axle_cross_entropy(x, t, &p), DTYPE, "cross_entropy: element types differ");
    p.weight = tensors_leaf(F(3));
    REFUSES(axle_cross_entropy(x, t, &p), UNSUPPORTED,
            "cross_entropy: there is no gradient for the weight");
}

static void test_bce_with_logits(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_bce_with_logits(NULL, F(2), NULL, NULL, 1));
    PASSES_NOTHING(axle_bce_with_logits(F(2), NULL, NULL, NULL, 1));
    REFUSES(axle_bce_with_logits(F(2), F(3), NULL, NULL, 1), SHAPE,
            "bce_with_logits: dims (2) and (3) do not broadcast");
    REFUSES(axle_bce_with_logits(F(2), F(2), F(3), NULL, 1), SHAPE, "bce_with_logits: dims");
    REFUSES(axle_bce_with_logits(F(2), F(2), NULL, F(3), 1), SHAPE, "bce_with_logits: dims");
    REFUSES(axle_bce_with_logits(I(2), I(2), NULL, NULL, 1), DTYPE, "bce_with_logits: wants");
    REFUSES(axle_bce_with_logits(F(2), I(2), NULL, NULL, 1), DTYPE,
            "bce_with_logits: element types differ, f64 and i64");
    REFUSES(axle_bce_with_logits(F(2), FAR(2), NULL, NULL, 1), DEVICE, "bce_with_logits: ");
    REFUSES(axle_bce_with_logits(F(2), F(2), NULL, NULL, 9), INVALID,
            "bce_with_logits: there is no reduction 9");
}

#define DISTANCE(name)                                                                             \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        PASSES_NOTHING(axle_##name(NULL, F(2), 1));                                                \
        PASSES_NOTHING(axle_##name(F(2), NULL, 1));                                                \
        REFUSES(axle_##name(F(2), F(3), 1), SHAPE, #name ": dims (2) and (3) do not broadcast");   \
        REFUSES(axle_##name(I(2), I(2), 1), DTYPE, #name ": wants a float tensor, got i64");       \
        REFUSES(axle_##name(F(2), F32(2), 1), DTYPE, #name ": element types differ");              \
        REFUSES(axle_##name(F(2), FAR(2), 1), DEVICE, #name ": tensors are on");                   \
        REFUSES(axle_##name(F(2), F(2), -1), INVALID, #name ": there is no reduction -1");         \
    }
DISTANCE(mse_loss)
DISTANCE(l1_loss)

static void test_dropout(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_dropout(NULL, 0.5));
    REFUSES(axle_dropout(F(2), -0.1), INVALID, "dropout: probability -0.1 is not in [0, 1]");
    REFUSES(axle_dropout(F(2), 1.5), INVALID, "dropout: probability 1.5");
    REFUSES(axle_dropout(F(2), NAN), INVALID, "dropout: probability nan");
    REFUSES(axle_dropout(I(2), 0.5), DTYPE, "dropout: wants a float tensor, got i64");
}

/* ------------------------------------------------------------------ indexing */

static void test_embedding(void **state)
{
    (void)state;
    axle_tensor *w = F(3, 2);
    PASSES_NOTHING(axle_embedding(NULL, I(2), -1));
    PASSES_NOTHING(axle_embedding(w, NULL, -1));
    REFUSES(axle_embedding(F(3), I(2), -1), SHAPE, "embedding: weight (3) is no matrix");
    REFUSES(axle_embedding(w, F(2), -1), DTYPE, "embedding: indices must be i64 or i32, got f64");
    REFUSES(axle_embedding(I(3, 2), I(2), -1), DTYPE, "embedding: wants a float tensor, got i64");
    REFUSES(axle_embedding(w, FAR_I(2), -1), DEVICE, "embedding: tensors are on");
    REFUSES(axle_embedding(w, I(2), 3), INDEX, "embedding: padding_idx 3 is not a row of (3, 2)");
    REFUSES(axle_embedding(w, I(2), -2), INDEX, "embedding: padding_idx -2");
    REFUSES(axle_embedding(w, index_of(AXLE_DIMS(2), 3), -1), INDEX, "3");
    REFUSES(axle_embedding(w, index_of(AXLE_DIMS(2), -1), -1), INDEX, "-1");
    REFUSES(axle_embedding(axle_zeros(AXLE_DTYPE_F64, AXLE_DIMS(0, 2)), I(1), -1), INDEX, "0");
    REFUSES(axle_embedding(w, I(1, 1, 1, 1, 1, 1, 1, 1), -1), SHAPE, "ids have 8 dims");
}

static void test_gather(void **state)
{
    (void)state;
    axle_tensor *x = F(2, 3);
    PASSES_NOTHING(axle_gather(NULL, 0, I(2)));
    PASSES_NOTHING(axle_gather(x, 0, NULL));
    REFUSES(axle_gather(x, 0, I(2)), SHAPE, "gather: index (2) does not fit (2, 3)");
    REFUSES(axle_gather(x, 0, I(2, 4)), SHAPE, "gather: index (2, 4) does not fit (2, 3)");
    REFUSES(axle_gather(x, 2, I(2, 3)), SHAPE, "gather: dim 2 is out of range for rank 2");
    REFUSES(axle_gather(x, 0, F(2, 3)), DTYPE, "gather: indices must be i64 or i32, got f64");
    REFUSES(axle_gather(x, 0, FAR_I(2, 3)), DEVICE, "gather: tensors are on");
    REFUSES(axle_gather(x, 0, index_of(AXLE_DIMS(1, 3), 2)), INDEX, "gather");
    REFUSES(axle_gather(x, 0, index_of(AXLE_DIMS(1, 3), -1)), INDEX, "-1");
    REFUSES(axle_gather(axle_zeros(AXLE_DTYPE_F64, AXLE_DIMS(0, 3)), 0, I(1, 3)), INDEX, "gather");
}

#define SCATTER(name)                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        axle_tensor *x = F(2, 3);                                                                  \
        PASSES_NOTHING(axle_##name(NULL, 0, I(2, 3), x));                                          \
        PASSES_NOTHING(axle_##name(x, 0, NULL, x));                                                \
        PASSES_NOTHING(axle_##name(x, 0, I(2, 3), NULL));                                          \
        REFUSES(axle_##name(x, 0, I(2, 4), F(2, 4)), SHAPE, #name ": index (2, 4) does not fit");  \
        REFUSES(axle_##name(x, 0, I(2, 2), x), SHAPE,                                              \
                #name ": index (2, 2) and source (2, 3) differ");                                  \
        REFUSES(axle_##name(x, -3, I(2, 3), x), SHAPE, #name ": dim -3 is out of range");          \
        REFUSES(axle_##name(x, 0, F(2, 3), x), DTYPE, #name ": indices must be i64 or i32");       \
        REFUSES(axle_##name(x, 0, I(2, 3), F32(2, 3)), DTYPE, #name ": element types differ");     \
        REFUSES(axle_##name(x, 0, I(2, 3), FAR(2, 3)), DEVICE, #name ": tensors are on");          \
        REFUSES(axle_##name(x, 0, index_of(AXLE_DIMS(2, 3), 2), x), INDEX, "scatter");             \
        REFUSES(axle_##name(x, 0, index_of(AXLE_DIMS(2, 3), -5), x), INDEX, "-5");                 \
        EXPECT(x, 1, 1, 1, 1, 1, 1);                                                               \
    }
SCATTER(scatter)
SCATTER(scatter_add)

static void test_index_select(void **state)
{
    (void)state;
    axle_tensor *x = F(2, 3);
    PASSES_NOTHING(axle_index_select(NULL, 0, I(2)));
    PASSES_NOTHING(axle_index_select(x, 0, NULL));
    REFUSES(axle_index_select(x, 0, I(2, 1)), SHAPE, "index_select: index (2, 1) is not a vector");
    REFUSES(axle_index_select(x, 2, I(2)), SHAPE, "index_select: dim 2 is out of range");
    REFUSES(axle_index_select(SCALAR(), 0, I(2)), SHAPE, "index_select: dim 0 is out of range");
    REFUSES(axle_index_select(x, 0, F(2)), DTYPE, "index_select: indices must be i64 or i32");
    REFUSES(axle_index_select(x, 0, FAR_I(2)), DEVICE, "index_select: tensors are on");
    REFUSES(axle_index_select(x, 1, index_of(AXLE_DIMS(1), 3)), INDEX, "index_select");
    REFUSES(axle_index_select(x, 1, index_of(AXLE_DIMS(1), -1)), INDEX, "-1");
}

static void test_one_hot(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_one_hot(NULL, 3, AXLE_DTYPE_F32));
    REFUSES(axle_one_hot(F(2), 3, AXLE_DTYPE_F32), DTYPE, "one_hot: indices must be i64 or i32");
    REFUSES(axle_one_hot(I(2), -3, AXLE_DTYPE_F32), SHAPE, "one_hot: dim 1 is negative, -3");
    REFUSES(axle_one_hot(I(2), 3, 42), DTYPE, "one_hot: there is no element type 42");
    REFUSES(axle_one_hot(I(2), 1, AXLE_DTYPE_F32), INDEX, "one_hot");
    REFUSES(axle_one_hot(index_of(AXLE_DIMS(2), -1), 3, AXLE_DTYPE_F32), INDEX, "-1");
    REFUSES(axle_one_hot(I(1, 1, 1, 1, 1, 1, 1, 1), 3, AXLE_DTYPE_F32), SHAPE, "one_hot: rank 9");
}

/* ------------------------------------------------------------------ gradients */

static void test_gradients_of_nothing(void **state)
{
    (void)state;
    axle_tensor *x = F(2);
    assert_int_equal(axle_tensor_backward(NULL, NULL, 0), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "backward: no tensor");
    assert_int_equal(axle_tensor_set_requires_grad(NULL, 1), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "axle_tensor_set_requires_grad: no tensor");
    assert_int_equal(axle_tensor_set_grad(NULL, x), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "axle_tensor_set_grad: no tensor");
    assert_int_equal(axle_tensor_set_grad(x, F(3)), AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "axle_tensor_set_grad: tensor is (2), its gradient (3)");
    assert_int_equal(axle_tensor_set_grad(x, F32(2)), AXLE_ERR_DTYPE);
    unit_expect_error(AXLE_ERR_DTYPE, "axle_tensor_set_grad: element types differ");
    assert_int_equal(axle_tensor_add_hook(NULL, NULL, NULL, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "axle_tensor_add_hook: no tensor");
    assert_int_equal(axle_tensor_add_ready_hook(NULL, NULL, NULL, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "axle_tensor_add_ready_hook: no tensor");
    axle_hook_remove(NULL);
}

/* One error in the middle of an expression is told once, by whoever met it. */
static void test_the_first_error_stays(void **state)
{
    (void)state;
    axle_tensor *x = tensors_leaf(F(2, 3));
    axle_tensor *y = axle_relu(axle_linear(axle_exp(axle_matmul(x, F(4, 5))), F(1, 5), NULL));
    REFUSES(axle_mean_all(axle_add(y, axle_sqrt(I(1)))), SHAPE, "matmul: inner sizes differ");
}

static const struct CMUnitTest tests[] = {
    // clang-format off
    ONE(matmul) ONE(linear) ONE(linear_relu) ONE(conv) ONE(conv_transpose)
    ONE(max_pool) ONE(avg_pool) ONE(adaptive_avg_pool) ONE(adaptive_max_pool) ONE(interpolate)
    ONE(layer_norm) ONE(rms_norm) ONE(batch_norm) ONE(group_norm)
    ONE(softmax) ONE(log_softmax) ONE(masked_softmax) ONE(attention)
    ONE(cross_entropy) ONE(bce_with_logits) ONE(mse_loss) ONE(l1_loss) ONE(dropout)
    ONE(embedding) ONE(gather) ONE(scatter) ONE(scatter_add) ONE(index_select) ONE(one_hot)
    // clang-format on
    TENSORS("functions of gradients tell what is missing", test_gradients_of_nothing),
    TENSORS("the first error of an expression stays", test_the_first_error_stays),
};

REFUSALS_MAIN(tests)
