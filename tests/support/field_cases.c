/* SPDX-License-Identifier: Apache-2.0 */
#include "support/field_cases.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ what a case says */

static char complaint[512];
static int type; /* element type of the case under way */

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void complain(const char *format, ...)
{
    va_list arguments;
    if (complaint[0])
        return;
    va_start(arguments, format);
    vsnprintf(complaint, sizeof(complaint), format, arguments);
    va_end(arguments);
}

const char *field_case_run(const field_case *c, int dtype)
{
    complaint[0] = '\0';
    type = dtype;
    axle_error_clear();
    axle_scope_push();
    axle_seed(11);
    c->run(dtype);
    axle_scope_pop();
    if (axle_error_code())
        complain("%s", axle_error_message());
    axle_error_clear();
    return complaint[0] ? complaint : NULL;
}

/* All elements; for free(). NULL for NULL. */
static double *values_of(axle_tensor *x)
{
    axle_tensor *wide = axle_cast(axle_to_device(x, axle_device_host()), AXLE_DTYPE_F64);
    size_t size = wide ? (size_t)axle_tensor_count(wide) * sizeof(double) : 0;
    double *values = wide ? malloc(size + 1) : NULL;
    if (values && axle_tensor_read(wide, values, size)) {
        free(values);
        values = NULL;
    }
    return values;
}

static void expect(const char *what, axle_tensor *x, double tolerance, int n,
                   const double *expected)
{
    double *got = values_of(x);
    if (!got)
        complain("%s: %s", what, axle_error_message()[0] ? axle_error_message() : "nothing");
    else if (axle_tensor_count(x) != n)
        complain("%s: %lld elements, not %d", what, (long long)axle_tensor_count(x), n);
    for (int k = 0; got && k < n; k++) {
        bool equal = got[k] == expected[k] || (isnan(got[k]) && isnan(expected[k]));
        if (!equal && !(fabs(got[k] - expected[k]) <= tolerance))
            complain("%s: element %d is %.9g, not %.9g", what, k, got[k], expected[k]);
    }
    free(got);
}

#define LIST(...)                                                                                  \
    (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[])                            \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define EXPECT(x, ...) expect(#x, x, 0.0, LIST(__VA_ARGS__))
#define EXPECT_NEAR(x, tolerance, ...) expect(#x, x, tolerance, LIST(__VA_ARGS__))

static void expect_dims(const char *what, const axle_tensor *x, int rank, const int64_t *dims)
{
    if (!x) {
        complain("%s: %s", what, axle_error_message());
        return;
    }
    bool equal = axle_tensor_rank(x) == rank;
    for (int k = 0; k < rank && equal; k++)
        equal = axle_tensor_dim(x, k) == dims[k];
    if (!equal)
        complain("%s has other dims", what);
}

#define EXPECT_DIMS(x, ...) expect_dims(#x, x, AXLE_DIMS(__VA_ARGS__))

/* A call that has to fail with that code; an asynchronous device tells when it is waited for. */
static void expect_error(const char *what, const axle_tensor *x, int code)
{
    bool failed = axle_device_synchronize(axle_device_current()) != AXLE_OK || !x;
    if (!failed || axle_error_code() != code)
        complain("%s: %s", what, failed ? axle_error_message() : "no error");
    else
        axle_error_clear();
}

#define EXPECT_ERROR(x, code) expect_error(#x, x, AXLE_ERR_##code)

/* ------------------------------------------------------------------ operands */

static axle_tensor *tensor(int rank, const int64_t *dims, const double *values)
{
    axle_device *here = axle_device_current();
    axle_device_push(axle_device_host());
    axle_tensor *wide = axle_from_data(AXLE_DTYPE_F64, rank, dims, values);
    axle_device_pop();
    axle_tensor *x = axle_to_device(axle_cast(wide, type), here);
    if (x && axle_tensor_set_requires_grad(x, 1))
        return NULL;
    return x;
}

#define VECTOR(...)                                                                                \
    tensor(AXLE_DIMS(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})
#define MATRIX(rows, columns, ...) tensor(AXLE_DIMS(rows, columns), (double[]){__VA_ARGS__})

/* A leaf without elements. */
static axle_tensor *empty(int rank, const int64_t *dims)
{
    return tensor(rank, dims, (double[]){0});
}

#define EMPTY(...) empty(AXLE_DIMS(__VA_ARGS__))

static axle_tensor *ids_of(int n, const int64_t *ids)
{
    return axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(n), ids);
}

#define IDS(...)                                                                                   \
    ids_of((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static void backward(axle_tensor *y)
{
    axle_tensor *root = axle_sum_all(y);
    if (!root || axle_tensor_backward(root, NULL, 0))
        complain("backward: %s", axle_error_message());
}

/* Let freed memory hold NaN, so that results that are not written show. */
static void leave_nan_behind(void)
{
    axle_scope_push();
    for (int64_t n = 1; n <= 4096; n *= 4)
        axle_full(type, AXLE_DIMS(n), NAN);
    axle_scope_pop();
}

/* ------------------------------------------------------------------ empty operands */

static void sums_over_nothing(int dtype)
{
    axle_tensor *x = EMPTY(0), *m = EMPTY(0, 4), *c = EMPTY(3, 0);
    leave_nan_behind();
    EXPECT(axle_sum_all(x), 0);
    EXPECT(axle_prod(x, 0, NULL, 0), 1);
    EXPECT(axle_mean_all(x), NAN);
    EXPECT(axle_sum(m, 1, (int[]){0}, 0), 0, 0, 0, 0);
    EXPECT(axle_sum(c, 1, (int[]){1}, 0), 0, 0, 0);
    EXPECT(axle_sum(axle_transpose(c, 0, 1), 1, (int[]){0}, 1), 0, 0, 0);
    EXPECT(axle_all(x, 0, NULL, 0), 1);
    EXPECT(axle_any(x, 0, NULL, 0), 0);
    EXPECT_DIMS(axle_sum(m, 1, (int[]){1}, 0), 0);
    EXPECT_DIMS(axle_add(m, axle_ones(dtype, AXLE_DIMS(4))), 0, 4);
    EXPECT_DIMS(axle_softmax(m, 1), 0, 4);
    EXPECT_DIMS(axle_softmax(c, 1), 3, 0);
    EXPECT_DIMS(axle_concat((axle_tensor *[]){m, m}, 2, 1), 0, 8);
}

static void gradients_of_nothing_have_shape(int dtype)
{
    axle_tensor *x = EMPTY(0, 4), *b = VECTOR(1, 2, 3, 4);
    (void)dtype;
    leave_nan_behind();
    backward(axle_mul(axle_exp(x), b));
    EXPECT_DIMS(axle_tensor_grad(x), 0, 4);
    EXPECT(axle_tensor_grad(b), 0, 0, 0, 0);
}

static void empty_batches_train(int dtype)
{
    axle_tensor *x = EMPTY(0, 2), *w = MATRIX(3, 2, 1, 2, 3, 4, 5, 6), *b = VECTOR(1, 2, 3);
    axle_tensor *gamma = VECTOR(1, 1, 1), *beta = VECTOR(0, 0, 0);
    (void)dtype;
    leave_nan_behind();
    axle_tensor *y = axle_layer_norm(axle_linear_relu(x, w, b), 1, gamma, beta, 1e-5);
    EXPECT_DIMS(y, 0, 3);
    backward(axle_cross_entropy(y, axle_zeros(AXLE_DTYPE_I64, AXLE_DIMS(0)), NULL));
    EXPECT(axle_tensor_grad(w), 0, 0, 0, 0, 0, 0);
    EXPECT(axle_tensor_grad(b), 0, 0, 0);
    EXPECT(axle_tensor_grad(gamma), 0, 0, 0);
    EXPECT_DIMS(axle_tensor_grad(x), 0, 2);
}

static void empty_pictures_train(int dtype)
{
    axle_tensor *x = EMPTY(0, 1, 4, 4), *w = tensor(AXLE_DIMS(2, 1, 1, 2), (double[]){1, 2, 3, 4});
    axle_tensor *b = VECTOR(1, 2), *gamma = VECTOR(1, 1), *beta = VECTOR(0, 0);
    axle_tensor *mean = axle_zeros(dtype, AXLE_DIMS(2)), *var = axle_ones(dtype, AXLE_DIMS(2));
    leave_nan_behind();
    axle_tensor *y = axle_conv(x, w, b, NULL);
    EXPECT_DIMS(y, 0, 2, 4, 3);
    y = axle_batch_norm(y, gamma, beta, mean, var, 1, 0.1, 1e-5);
    y = axle_max_pool(y, NULL);
    EXPECT_DIMS(y, 0, 2, 2, 1);
    backward(axle_avg_pool(
        y, &(axle_pool_params){sizeof(axle_pool_params), {1, 1}, {1, 1}, {0, 0}, {1, 1}, 0, 0}));
    EXPECT(axle_tensor_grad(w), 0, 0, 0, 0);
    EXPECT(axle_tensor_grad(b), 0, 0);
    EXPECT(axle_tensor_grad(gamma), 0, 0);
    EXPECT(mean, 0, 0);
    EXPECT(var, 1, 1);
}

static void products_over_nothing(int dtype)
{
    axle_tensor *a = EMPTY(3, 0), *b = EMPTY(0, 2), *bias = VECTOR(1, 2), *w = EMPTY(2, 0);
    leave_nan_behind();
    EXPECT(axle_matmul(a, b), 0, 0, 0, 0, 0, 0);
    EXPECT(axle_matmul(axle_transpose(b, 0, 1), axle_transpose(a, 0, 1)), 0, 0, 0, 0, 0, 0);
    EXPECT(axle_matmul(EMPTY(0), EMPTY(0)), 0);
    EXPECT_DIMS(axle_matmul(EMPTY(0, 4), axle_ones(dtype, AXLE_DIMS(4, 3))), 0, 3);
    EXPECT_ERROR(axle_matmul(EMPTY(2, 0), axle_ones(dtype, AXLE_DIMS(1, 3))), SHAPE);
    axle_tensor *y = axle_linear(a, w, bias);
    EXPECT(y, 1, 2, 1, 2, 1, 2);
    backward(y);
    EXPECT(axle_tensor_grad(bias), 3, 3);
    EXPECT_DIMS(axle_tensor_grad(w), 2, 0);
    EXPECT_DIMS(axle_tensor_grad(a), 3, 0);
    axle_tensor *batch = EMPTY(2, 3, 0), *other = EMPTY(2, 0, 1);
    y = axle_matmul(batch, other);
    EXPECT(y, 0, 0, 0, 0, 0, 0);
    backward(y);
    EXPECT_DIMS(axle_tensor_grad(batch), 2, 3, 0);
}

static void results_overwrite_nan(int dtype)
{
    (void)dtype;
    axle_tensor *a = MATRIX(2, 2, 1, 2, 3, 4), *b = MATRIX(2, 2, 5, 6, 7, 8);
    leave_nan_behind();
    axle_tensor *y = axle_matmul(a, b);
    EXPECT(y, 19, 22, 43, 50);
    leave_nan_behind();
    backward(y);
    EXPECT(axle_tensor_grad(a), 11, 15, 11, 15);
    EXPECT(axle_tensor_grad(b), 4, 4, 6, 6);
    axle_tensor *x = tensor(AXLE_DIMS(1, 1, 2, 2), (double[]){1, 2, 3, 4});
    axle_tensor *w = tensor(AXLE_DIMS(1, 1, 2, 2), (double[]){1, 1, 1, 1});
    leave_nan_behind();
    y = axle_conv(x, w, NULL, NULL);
    EXPECT(y, 10);
    leave_nan_behind();
    backward(y);
    EXPECT(axle_tensor_grad(x), 1, 1, 1, 1);
    EXPECT(axle_tensor_grad(w), 1, 2, 3, 4);
}

/* ------------------------------------------------------------------ activations */

static void gelu_is_exact(int dtype)
{
    (void)dtype;
    EXPECT_NEAR(axle_gelu(VECTOR(-2.7, 1, 0)), 1e-7, -0.00936083, 0.84134475, 0);
    EXPECT_NEAR(axle_gelu_tanh(VECTOR(-2.7, 1, 0)), 1e-7, -0.00888759, 0.84119199, 0);
}

/* ------------------------------------------------------------------ losses */

static axle_cross_entropy_params entropy(int reduction, int64_t ignore, double smoothing)
{
    axle_cross_entropy_params p = AXLE_CROSS_ENTROPY_PARAMS_INIT;
    p.reduction = reduction;
    p.ignore_index = ignore;
    p.label_smoothing = smoothing;
    return p;
}

static void losses_over_nothing_are_zero(int dtype)
{
    const int reductions[] = {AXLE_LOSS_MEAN, AXLE_LOSS_SUM};
    (void)dtype;
    for (int k = 0; k < 4; k++) {
        axle_tensor *x = MATRIX(2, 3, 1, 2, 3, -4, 5, 1e30);
        axle_cross_entropy_params p = entropy(reductions[k % 2], -100, k / 2 ? 0.1 : 0.0);
        leave_nan_behind();
        axle_tensor *loss = axle_cross_entropy(x, IDS(-100, -100), &p);
        EXPECT(loss, 0);
        leave_nan_behind();
        backward(loss);
        EXPECT(axle_tensor_grad(x), 0, 0, 0, 0, 0, 0);
    }
    axle_tensor *x = MATRIX(2, 3, 1, 2, 3, 4, 5, 6), *none = EMPTY(0, 3);
    axle_cross_entropy_params p = entropy(AXLE_LOSS_NONE, 1, 0.0);
    EXPECT(axle_cross_entropy(x, IDS(1, 1), &p), 0, 0);
    EXPECT(axle_cross_entropy(none, axle_zeros(AXLE_DTYPE_I64, AXLE_DIMS(0)), NULL), 0);
}

static void labels_are_checked(int dtype)
{
    axle_tensor *x = axle_zeros(dtype, AXLE_DIMS(2, 3));
    for (int reduction = AXLE_LOSS_NONE; reduction <= AXLE_LOSS_SUM; reduction++) {
        axle_cross_entropy_params p = entropy(reduction, -100, 0.0);
        EXPECT_ERROR(axle_cross_entropy(x, IDS(0, -4), &p), INDEX);
        EXPECT_ERROR(axle_cross_entropy(x, IDS(3, 0), &p), INDEX);
        EXPECT_ERROR(axle_cross_entropy(x, IDS(0, INT64_MAX), &p), INDEX);
        p.ignore_index = 255;
        EXPECT_ERROR(axle_cross_entropy(x, IDS(0, -100), &p), INDEX);
        p.ignore_index = 0;
        EXPECT_ERROR(axle_cross_entropy(x, IDS(0, 255), &p), INDEX);
    }
}

static void any_label_can_be_ignored(int dtype)
{
    axle_tensor *x = axle_zeros(dtype, AXLE_DIMS(2, 3));
    const double one = 1.0986122886681098, tolerance = 1e-6;
    axle_cross_entropy_params p = entropy(AXLE_LOSS_NONE, 255, 0.0);
    EXPECT_NEAR(axle_cross_entropy(x, IDS(0, 255), &p), tolerance, one, 0);
    p.reduction = AXLE_LOSS_MEAN;
    EXPECT_NEAR(axle_cross_entropy(x, IDS(0, 255), &p), tolerance, one);
    p.reduction = AXLE_LOSS_SUM;
    EXPECT_NEAR(axle_cross_entropy(x, IDS(0, 255), &p), tolerance, one);
    p = entropy(AXLE_LOSS_NONE, 0, 0.0);
    EXPECT_NEAR(axle_cross_entropy(x, IDS(0, 2), &p), tolerance, 0, one);
}

static void smoothing_counts_valid_rows(int dtype)
{
    (void)dtype;
    for (int k = 0; k < 2; k++) {
        axle_tensor *x = MATRIX(3, 3, 2, 0, -1, .5, 1.5, -.5, 0, 0, 3);
        axle_tensor *two = MATRIX(2, 3, 2, 0, -1, 0, 0, 3);
        axle_cross_entropy_params p = entropy(AXLE_LOSS_MEAN, -100, k ? 0.1 : 0.0);
        axle_tensor *loss = axle_cross_entropy(x, IDS(0, -100, 2), &p);
        axle_tensor *same = axle_cross_entropy(two, IDS(0, 2), &p);
        EXPECT_NEAR(loss, 5e-7, k ? 0.31571782 : 0.13238449);
        EXPECT_NEAR(axle_sub(loss, same), 1e-7, 0);
        backward(loss);
        backward(same);
        axle_tensor *rows = axle_index_select(axle_tensor_grad(x), 0, IDS(0, 2));
        EXPECT_NEAR(axle_sub(rows, axle_tensor_grad(two)), 1e-7, 0, 0, 0, 0, 0, 0);
        EXPECT(axle_select(axle_tensor_grad(x), 0, 1), 0, 0, 0);
    }
}

/* ------------------------------------------------------------------ attention */

static axle_tensor *keep(int n, const double *flags, int rank, const int64_t *dims)
{
    unsigned char bytes[16] = {0};
    for (int k = 0; k < n && k < 16; k++)
        bytes[k] = flags[k] != 0;
    return axle_from_data(AXLE_DTYPE_BOOL, rank, dims, bytes);
}

static axle_tensor *random_leaf(int rank, const int64_t *dims)
{
    axle_tensor *x = axle_randn(type, rank, dims);
    if (x)
        axle_tensor_set_requires_grad(x, 1);
    return x;
}

static void expect_finite(const char *what, axle_tensor *x)
{
    expect(what, axle_all(axle_is_finite(x), 0, NULL, 0), 0, LIST(1));
}

static void rows_without_keys_are_zero(int dtype)
{
    axle_tensor *q = random_leaf(AXLE_DIMS(2, 1, 3, 4)), *k = random_leaf(AXLE_DIMS(2, 1, 3, 4)),
                *v = random_leaf(AXLE_DIMS(2, 1, 3, 2));
    axle_tensor *mask = keep(LIST(1, 1, 0, 0, 0, 0), AXLE_DIMS(2, 1, 1, 3));
    (void)dtype;
    leave_nan_behind();
    axle_tensor *y = axle_attention(q, k, v, mask, NULL);
    expect_finite("attention", y);
    EXPECT(axle_select(y, 0, 1), 0, 0, 0, 0, 0, 0);
    leave_nan_behind();
    backward(axle_square(y));
    expect_finite("gradient of q", axle_tensor_grad(q));
    EXPECT(axle_sum_all(axle_abs(axle_select(axle_tensor_grad(q), 0, 1))), 0);
    EXPECT(axle_sum_all(axle_abs(axle_select(axle_tensor_grad(k), 0, 1))), 0);
    EXPECT(axle_sum_all(axle_abs(axle_select(axle_tensor_grad(v), 0, 1))), 0);
    /* The other row is what it is without this one. */
    axle_tensor *alone =
        axle_attention(axle_slice(q, 0, 0, 1, 1), axle_slice(k, 0, 0, 1, 1),
                       axle_slice(v, 0, 0, 1, 1), axle_slice(mask, 0, 0, 1, 1), NULL);
    EXPECT(axle_all(axle_eq(alone, axle_slice(y, 0, 0, 1, 1)), 0, NULL, 0), 1);
}

static void additive_masks_remove_rows(int dtype)
{
    axle_tensor *q = random_leaf(AXLE_DIMS(1, 1, 2, 4)), *k = random_leaf(AXLE_DIMS(1, 1, 3, 4)),
                *v = random_leaf(AXLE_DIMS(1, 1, 3, 2));
    axle_tensor *mask = axle_detach(MATRIX(2, 3, 0, 0, -INFINITY, -INFINITY, -INFINITY, -INFINITY));
    (void)dtype;
    axle_tensor *y = axle_attention(q, k, v, mask, NULL);
    expect_finite("attention", y);
    EXPECT(axle_select(axle_select(axle_select(y, 0, 0), 0, 0), 0, 1), 0, 0);
    backward(y);
    expect_finite("gradient of q", axle_tensor_grad(q));
    expect_finite("gradient of k", axle_tensor_grad(k));
    expect_finite("gradient of v", axle_tensor_grad(v));
}

static void masked_nan_does_not_leak(int dtype)
{
    axle_tensor *q = random_leaf(AXLE_DIMS(1, 1, 2, 2)), *k = random_leaf(AXLE_DIMS(1, 1, 3, 2));
    axle_tensor *v = tensor(AXLE_DIMS(1, 1, 3, 2), (double[]){1, 2, 3, 4, NAN, NAN});
    axle_tensor *mask = keep(LIST(1, 1, 0), AXLE_DIMS(3));
    (void)dtype;
    axle_tensor *y = axle_attention(q, k, v, mask, NULL);
    expect_finite("attention", y);
    backward(y);
    expect_finite("gradient of q", axle_tensor_grad(q));
    expect_finite("gradient of k", axle_tensor_grad(k));
    EXPECT(axle_select(axle_select(axle_select(axle_tensor_grad(v), 0, 0), 0, 0), 0, 2), 0, 0);
}

static void masked_softmax_removes(int dtype)
{
    axle_tensor *x = MATRIX(2, 3, 0, 0, NAN, 1, NAN, 3);
    axle_tensor *mask = keep(LIST(1, 1, 0, 0, 0, 0), AXLE_DIMS(2, 3));
    (void)dtype;
    leave_nan_behind();
    axle_tensor *y = axle_masked_softmax(x, mask, 1);
    EXPECT(y, 0.5, 0.5, 0, 0, 0, 0);
    backward(axle_square(y));
    EXPECT(axle_tensor_grad(x), 0, 0, 0, 0, 0, 0);
}

static void attention_over_nothing_is_zero(int dtype)
{
    axle_tensor *q = random_leaf(AXLE_DIMS(1, 2, 2, 3)), *k = EMPTY(1, 2, 0, 3),
                *v = EMPTY(1, 2, 0, 1);
    (void)dtype;
    leave_nan_behind();
    axle_tensor *y = axle_attention(q, k, v, NULL, NULL);
    EXPECT(y, 0, 0, 0, 0);
    leave_nan_behind();
    backward(y);
    EXPECT(axle_sum_all(axle_abs(axle_tensor_grad(q))), 0);
    EXPECT_DIMS(axle_tensor_grad(k), 1, 2, 0, 3);
    EXPECT_DIMS(axle_attention(EMPTY(1, 1, 0, 2), EMPTY(1, 1, 0, 2), EMPTY(1, 1, 0, 3), NULL, NULL),
                1, 1, 0, 3);
}

/* ------------------------------------------------------------------ embedding */

static void padding_rows_keep_their_value(int dtype)
{
    axle_tensor *w = MATRIX(3, 2, 5, 5, 1, 2, 3, 4);
    (void)dtype;
    for (int round = 0; round < 2; round++) { /* again, into the storage of the first gradient */
        axle_tensor *y = axle_embedding(w, IDS(0, 1, 1), 0);
        EXPECT(y, 5, 5, 1, 2, 1, 2);
        leave_nan_behind();
        backward(y);
        EXPECT(axle_tensor_grad(w), 0, 0, 2, 2, 0, 0);
        axle_tensor_set_grad(w, NULL);
    }
    backward(axle_embedding(w, IDS(0, 1, 1), -1));
    EXPECT(axle_tensor_grad(w), 1, 1, 2, 2, 0, 0);
    axle_tensor_set_grad(w, NULL);
    backward(axle_embedding(w, axle_zeros(AXLE_DTYPE_I64, AXLE_DIMS(0)), 0));
    EXPECT(axle_tensor_grad(w), 0, 0, 0, 0, 0, 0);
}

/* ------------------------------------------------------------------ normalisation */

static void large_means_do_not_cancel(int dtype)
{
    axle_tensor *x = MATRIX(1, 4, 40000, 40001, 40002, 40003);
    EXPECT_NEAR(axle_layer_norm(x, 1, NULL, NULL, 1e-5), 2e-6, -1.341635, -0.447212, 0.447212,
                1.341635);
    EXPECT_NEAR(axle_layer_norm(x, 1, NULL, NULL, 1e-12), 2e-6, -1.341641, -0.447214, 0.447214,
                1.341641);
    EXPECT_NEAR(axle_group_norm(x, 1, NULL, NULL, 1e-5), 2e-6, -1.341635, -0.447212, 0.447212,
                1.341635);
    EXPECT_NEAR(
        axle_batch_norm(axle_reshape(x, AXLE_DIMS(4, 1)), NULL, NULL, NULL, NULL, 1, 0.1, 1e-5),
        2e-6, -1.341635, -0.447212, 0.447212, 1.341635);
    EXPECT_NEAR(axle_var(x, 0, NULL, 0, 0.0), 1e-6, 1.25);
    axle_tensor *flat = axle_full(dtype, AXLE_DIMS(1, 256), 1234);
    EXPECT(axle_sum_all(axle_abs(axle_layer_norm(flat, 1, NULL, NULL, 1e-12))), 0);
    EXPECT(axle_sum_all(axle_abs(axle_group_norm(flat, 16, NULL, NULL, 1e-5))), 0);
}

/* ------------------------------------------------------------------ groups of work-items, threads
 */

/* Two rows of small numbers, different ones, and their softmax. */
static void check_softmax(int width)
{
    double *x = calloc((size_t)width * 4, sizeof(double)), *y = x ? x + 2 * width : NULL, sum;
    for (int row = 0; x && row < 2; row++) {
        double *in = x + row * width, *out = y + row * width;
        sum = 0;
        for (int k = 0; k < width; k++)
            sum += out[k] = exp(in[k] = (k * 5 + row) % 7);
        for (int k = 0; k < width; k++)
            out[k] /= sum;
    }
    axle_tensor *in = x ? tensor(AXLE_DIMS(2, width), x) : NULL;
    expect("softmax", axle_softmax(in, 1), 1e-6, 2 * width, y);
    free(x);
}

static void any_size_fits_any_group(int dtype)
{
    double negative[1001];
    for (int k = 0; k <= 1000; k++)
        negative[k] = -k;
    leave_nan_behind();
    axle_tensor *x = axle_arange(dtype, 0, 1001, 1);
    EXPECT(axle_sum_all(x), 500500);
    EXPECT(axle_max(x, 0, NULL, 0), 1000);
    expect("neg", axle_neg(x), 0, 1001, negative);
    const int widths[] = {1, 3, 257, 30522};
    for (int k = 0; k < 4; k++)
        check_softmax(widths[k]);
}

/* One of several threads that run the same operator with different arguments. */
typedef struct scaling {
    pthread_t thread;
    axle_device *device;
    double factor;
    int dtype, wrong;
} scaling;

static void *scale_often(void *arg)
{
    scaling *s = arg;
    axle_device_push(s->device);
    for (int k = 0; k < 1000; k++) {
        axle_scope_push();
        double *got = values_of(axle_mul_scalar(axle_full(s->dtype, AXLE_DIMS(3), k), s->factor));
        s->wrong += !got || got[0] != s->factor * k || got[2] != s->factor * k;
        free(got);
        axle_scope_pop();
    }
    axle_device_pop();
    return NULL;
}

static void threads_do_not_mix_arguments(int dtype)
{
    axle_device *device = axle_device_current();
    scaling s[2] = {{.device = device, .factor = 2, .dtype = dtype},
                    {.device = device, .factor = 3, .dtype = dtype}};
    for (int k = 0; k < 2; k++)
        if (pthread_create(&s[k].thread, NULL, scale_often, &s[k]) != 0) {
            complain("no thread");
            s[k].thread = pthread_self();
        }
    for (int k = 0; k < 2; k++) {
        if (!pthread_equal(s[k].thread, pthread_self()))
            pthread_join(s[k].thread, NULL);
        if (s[k].wrong)
            complain("%d of 1000 results with factor %g are wrong", s[k].wrong, s[k].factor);
    }
}

const field_case field_cases[] = {
    {"sums over nothing are 0, means NaN", sums_over_nothing},
    {"gradients of nothing have their shape", gradients_of_nothing_have_shape},
    {"an empty batch gives zero gradients", empty_batches_train},
    {"an empty batch of pictures changes nothing", empty_pictures_train},
    {"products over nothing are zero, or the bias", products_over_nothing},
    {"results overwrite NaN", results_overwrite_nan},
    {"gelu is exact, its approximation another operator", gelu_is_exact},
    {"losses over no valid target are 0 with gradient 0", losses_over_nothing_are_zero},
    {"labels outside the classes are errors", labels_are_checked},
    {"any label can be ignored, by every reduction", any_label_can_be_ignored},
    {"label smoothing counts valid rows only", smoothing_counts_valid_rows},
    {"attention rows without keys are zero with gradient 0", rows_without_keys_are_zero},
    {"additive masks remove whole rows", additive_masks_remove_rows},
    {"NaN in a masked value does not leak", masked_nan_does_not_leak},
    {"masked softmax gives zeros for what is removed", masked_softmax_removes},
    {"attention over no keys is zero", attention_over_nothing_is_zero},
    {"padding rows keep their value and get no gradient", padding_rows_keep_their_value},
    {"large means do not cancel in variances", large_means_do_not_cancel},
    {"sums and softmax fit any size of work-groups", any_size_fits_any_group},
    {"threads do not mix arguments", threads_do_not_mix_arguments},
};
const int field_case_count = sizeof(field_cases) / sizeof(field_cases[0]);
