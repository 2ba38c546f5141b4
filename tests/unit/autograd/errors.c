/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementwise operators, views, joins and reductions with operands that do not fit: NULL, a code,
 * and a message that names the operator and the values. NULL operands give NULL and no error of
 * their own.
 */
#include "autograd/refusals.h"

/* ------------------------------------------------------------------ elementwise */

#define FLOAT_UNARY_LIST(X)                                                                        \
    X(sqrt)                                                                                        \
    X(rsqrt)                                                                                       \
    X(reciprocal)                                                                                  \
    X(exp)                                                                                         \
    X(expm1)                                                                                       \
    X(log)                                                                                         \
    X(log1p)                                                                                       \
    X(log2)                                                                                        \
    X(log10)                                                                                       \
    X(sin)                                                                                         \
    X(cos)                                                                                         \
    X(tan)                                                                                         \
    X(asin)                                                                                        \
    X(acos)                                                                                        \
    X(atan)                                                                                        \
    X(sinh)                                                                                        \
    X(cosh)                                                                                        \
    X(tanh)                                                                                        \
    X(erf)                                                                                         \
    X(sigmoid)                                                                                     \
    X(log_sigmoid)                                                                                 \
    X(gelu)                                                                                        \
    X(gelu_tanh)                                                                                   \
    X(silu)                                                                                        \
    X(mish)                                                                                        \
    X(hard_sigmoid)                                                                                \
    X(hard_swish)

#define FLOAT_UNARY(name)                                                                          \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        PASSES_NOTHING(axle_##name(NULL));                                                         \
        REFUSES(axle_##name(I(2)), DTYPE, #name ": wants a float tensor, got i64");                \
        REFUSES(axle_##name(B(2)), DTYPE, #name ": wants a float tensor, got bool");               \
    }
FLOAT_UNARY_LIST(FLOAT_UNARY)

#define NUMBER_UNARY_LIST(X)                                                                       \
    X(neg)                                                                                         \
    X(abs)                                                                                         \
    X(sign)                                                                                        \
    X(square)                                                                                      \
    X(relu)                                                                                        \
    X(floor)                                                                                       \
    X(ceil)                                                                                        \
    X(round)                                                                                       \
    X(trunc)

#define NUMBER_UNARY(name)                                                                         \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        PASSES_NOTHING(axle_##name(NULL));                                                         \
        REFUSES(axle_##name(B(2)), DTYPE, #name ": wants numbers, got bool");                      \
    }
NUMBER_UNARY_LIST(NUMBER_UNARY)

#define ANY_UNARY_LIST(X)                                                                          \
    X(logical_not)                                                                                 \
    X(is_nan)                                                                                      \
    X(is_inf)                                                                                      \
    X(is_finite)                                                                                   \
    X(clone)                                                                                       \
    X(contiguous)                                                                                  \
    X(detach)                                                                                      \
    X(sum_all)

#define ANY_UNARY(name)                                                                            \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        PASSES_NOTHING(axle_##name(NULL));                                                         \
    }
ANY_UNARY_LIST(ANY_UNARY)

#define PARAMETER_UNARY_LIST(X)                                                                    \
    X(leaky_relu, (x, 0.1))                                                                        \
    X(elu, (x, 1.0))                                                                               \
    X(softplus, (x, 1.0, 20.0))                                                                    \
    X(pow_scalar, (x, 2.0))

#define PARAMETER_UNARY(name, arguments)                                                           \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        axle_tensor *x = NULL;                                                                     \
        PASSES_NOTHING(axle_##name arguments);                                                     \
        x = I(2);                                                                                  \
        REFUSES(axle_##name arguments, DTYPE, #name ": wants a float tensor, got i64");            \
    }
PARAMETER_UNARY_LIST(PARAMETER_UNARY)

static void test_affine(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_affine(NULL, 1, 2));
    PASSES_NOTHING(axle_add_scalar(NULL, 1));
    PASSES_NOTHING(axle_mul_scalar(NULL, 1));
    PASSES_NOTHING(axle_clip(NULL, 0, 1));
    REFUSES(axle_affine(B(2), 1, 2), DTYPE, "affine: wants numbers, got bool");
    REFUSES(axle_add_scalar(B(2), 1), DTYPE, "affine: wants numbers, got bool");
    REFUSES(axle_mul_scalar(B(2), 1), DTYPE, "affine: wants numbers, got bool");
    REFUSES(axle_clip(B(2), 0, 1), DTYPE, "clip: wants numbers, got bool");
}

#define BINARY_LIST(X)                                                                             \
    X(add, NUMBERS)                                                                                \
    X(sub, NUMBERS)                                                                                \
    X(mul, NUMBERS)                                                                                \
    X(div, NUMBERS)                                                                                \
    X(pow, NUMBERS)                                                                                \
    X(remainder, NUMBERS)                                                                          \
    X(fmod, NUMBERS)                                                                               \
    X(atan2, FLOATS)                                                                               \
    X(maximum, ALL)                                                                                \
    X(minimum, ALL)                                                                                \
    X(eq, ALL)                                                                                     \
    X(ne, ALL)                                                                                     \
    X(lt, ALL)                                                                                     \
    X(le, ALL)                                                                                     \
    X(gt, ALL)                                                                                     \
    X(ge, ALL)                                                                                     \
    X(logical_and, ALL)                                                                            \
    X(logical_or, ALL)                                                                             \
    X(logical_xor, ALL)

#define NUMBERS(name) REFUSES(name(B(2), B(2)), DTYPE, "wants numbers, got bool");
#define FLOATS(name)                                                                               \
    REFUSES(name(B(2), B(2)), DTYPE, "wants a float tensor, got bool");                            \
    REFUSES(name(I(2), I(2)), DTYPE, "wants a float tensor, got i64");
#define ALL(name) assert_non_null(name(B(2), B(2)));

#define BINARY(name, takes)                                                                        \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        PASSES_NOTHING(axle_##name(NULL, F(2)));                                                   \
        PASSES_NOTHING(axle_##name(F(2), NULL));                                                   \
        REFUSES(axle_##name(F(2, 3), F(4)), SHAPE,                                                 \
                #name ": dims (2, 3) and (4) do not broadcast");                                   \
        REFUSES(axle_##name(F(0), F(2)), SHAPE, #name ": dims (0) and (2) do not broadcast");      \
        REFUSES(axle_##name(F(2), I(2)), DTYPE, #name ": element types differ, f64 and i64");      \
        REFUSES(axle_##name(F(2), FAR(2)), DEVICE,                                                 \
                #name ": tensors are on different devices, reference and board");                  \
        takes(axle_##name)                                                                         \
    }
BINARY_LIST(BINARY)

static void test_add_scaled(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_add_scaled(NULL, F(2), 2));
    REFUSES(axle_add_scaled(F(2), F(3), 2), SHAPE, "add: dims (2) and (3)");
    REFUSES(axle_add_scaled(F(2), F32(2), 2), DTYPE, "add: element types differ, f64 and f32");
}

static void test_where(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_where(NULL, F(2), F(2)));
    PASSES_NOTHING(axle_where(B(2), NULL, F(2)));
    PASSES_NOTHING(axle_where(B(2), F(2), NULL));
    REFUSES(axle_where(F(2), F(2), F(2)), DTYPE, "where: the condition must be bool, got f64");
    REFUSES(axle_where(B(2), F(2), I(2)), DTYPE, "where: element types differ, f64 and i64");
    REFUSES(axle_where(B(2), F(2), F(3)), SHAPE, "where: dims (2) and (3) do not broadcast");
    REFUSES(axle_where(B(5), F(2), F(2)), SHAPE,
            "where: condition (5) does not broadcast with (2)");
    REFUSES(axle_where(B(2), F(2), FAR(2)), DEVICE, "where: ");
    REFUSES(axle_where(far(AXLE_DTYPE_BOOL, AXLE_DIMS(2)), F(2), F(2)), DEVICE, "where: ");
}

/* ------------------------------------------------------------------ casts and views */

static void test_cast(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_cast(NULL, AXLE_DTYPE_F32));
    REFUSES(axle_cast(F(2), 0), DTYPE, "cast: there is no element type 0");
    REFUSES(axle_cast(F(2), 5), DTYPE, "cast: there is no element type 5");
    REFUSES(axle_cast(F(2), -7), DTYPE, "cast: there is no element type -7");
    REFUSES(axle_cast(F(2), 1000), DTYPE, "1000");
}

static void test_to_device(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_to_device(NULL, axle_device_host()));
    PASSES_NOTHING(axle_to_device(NULL, NULL));
    REFUSES(axle_to_device(F(2), NULL), DEVICE, "to_device: no device");
}

static void test_reshape(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_reshape(NULL, AXLE_DIMS(1)));
    REFUSES(axle_reshape(F(2, 3), AXLE_DIMS(4)), SHAPE, "reshape: (2, 3) does not fit into (4)");
    REFUSES(axle_reshape(F(2, 3), AXLE_DIMS(-1, 4)), SHAPE, "(-1, 4)");
    REFUSES(axle_reshape(F(2, 3), AXLE_DIMS(-1, -1)), SHAPE, "(-1, -1)");
    REFUSES(axle_reshape(F(2, 3), AXLE_DIMS(-2, -3)), SHAPE, "(-2, -3)");
    REFUSES(axle_reshape(F(2, 3), AXLE_DIMS(-1, 0)), SHAPE, "(-1, 0)");
    REFUSES(axle_reshape(F(2, 3), AXLE_DIMS(INT64_MAX, 2)), SHAPE, "reshape: ");
    REFUSES(axle_reshape(F(1), 9, (int64_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1}), SHAPE,
            "reshape: rank 9");
    REFUSES(axle_reshape(F(1), -1, NULL), SHAPE, "reshape: rank -1");
    REFUSES(axle_reshape(F(1), 1, NULL), INVALID, "reshape: 1 numbers wanted, got none");
}

static void test_flatten(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_flatten(NULL, 0, 0));
    REFUSES(axle_flatten(F(2, 3), 1, 0), SHAPE, "flatten: dim 1 comes after 0");
    REFUSES(axle_flatten(F(2, 3), 0, 2), SHAPE, "flatten: dim 2 is out of range for rank 2");
    REFUSES(axle_flatten(F(2, 3), -3, 1), SHAPE, "flatten: dim -3");
}

static void test_permute(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_permute(NULL, (int[]){0}));
    REFUSES(axle_permute(F(2, 3), (int[]){0, 0}), SHAPE, "permute: dim 0 is listed twice");
    REFUSES(axle_permute(F(2, 3), (int[]){0, 2}), SHAPE, "permute: dim 2 is out of range");
    REFUSES(axle_permute(F(2, 3), NULL), INVALID, "permute: 2 dims wanted, got none");
}

static void test_transpose(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_transpose(NULL, 0, 1));
    REFUSES(axle_transpose(F(2, 3), 0, 2), SHAPE, "transpose: dim 2 is out of range for rank 2");
    REFUSES(axle_transpose(SCALAR(), 0, 0), SHAPE, "transpose: dim 0 is out of range for rank 0");
}

static void test_unsqueeze(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_unsqueeze(NULL, 0));
    REFUSES(axle_unsqueeze(F(2), 2), SHAPE, "unsqueeze: dim 2 is out of range for rank 2");
    REFUSES(axle_unsqueeze(wide(), 0), SHAPE, "unsqueeze: rank 9");
}

static void test_squeeze(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_squeeze(NULL, 0));
    REFUSES(axle_squeeze(F(1, 3), 1), SHAPE, "squeeze: dim 1 is 3, not 1");
    REFUSES(axle_squeeze(F(1, 3), 2), SHAPE, "squeeze: dim 2");
    REFUSES(axle_squeeze(SCALAR(), 0), SHAPE, "squeeze: dim 0");
}

static void test_expand(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_expand(NULL, AXLE_DIMS(2)));
    REFUSES(axle_expand(F(2), AXLE_DIMS(3)), SHAPE, "expand: (2) does not repeat to (3)");
    REFUSES(axle_expand(F(2), AXLE_DIMS(2, 1)), SHAPE, "expand: (2) does not repeat to (2, 1)");
    REFUSES(axle_expand(F(1, 2), AXLE_DIMS(2)), SHAPE, "expand: (1, 2) does not repeat to (2)");
    REFUSES(axle_expand(F(1), AXLE_DIMS(-1)), SHAPE, "expand: dim 0 is negative, -1");
    REFUSES(axle_expand(F(1), AXLE_DIMS(INT64_MAX)), SHAPE, "expand: too many elements");
    REFUSES(axle_expand(F(1), 9, (int64_t[9]){1}), SHAPE, "expand: rank 9");
    REFUSES(axle_expand(F(1), 1, NULL), INVALID, "expand: rank 1 without dims");
}

static void test_slice(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_slice(NULL, 0, 0, 1, 1));
    REFUSES(axle_slice(F(3), 0, 0, 3, 0), INVALID, "slice: step 0 is not positive");
    REFUSES(axle_slice(F(3), 0, 0, 3, -2), INVALID, "slice: step -2 is not positive");
    REFUSES(axle_slice(F(3), 1, 0, 3, 1), SHAPE, "slice: dim 1 is out of range for rank 1");
}

static void test_select(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_select(NULL, 0, 0));
    REFUSES(axle_select(F(3), 0, 3), INDEX, "select: index 3 is out of range for dim 0 of 3");
    REFUSES(axle_select(F(3), 0, INT64_MIN), INDEX, "select: index -9223372036854775808");
    REFUSES(axle_select(SCALAR(), 0, 0), SHAPE, "select: dim 0 is out of range for rank 0");
}

/* ------------------------------------------------------------------ joining */

static void test_concat(void **state)
{
    (void)state;
    axle_tensor *x[] = {F(2, 3), F(2, 4), I(2, 3), FAR(2, 3), F(2), NULL, SCALAR()};
    PASSES_NOTHING(axle_concat((axle_tensor *[]){x[0], NULL}, 2, 0));
    REFUSES(axle_concat(x, 0, 0), INVALID, "concat: no tensors to join");
    REFUSES(axle_concat(NULL, 2, 0), INVALID, "concat: no tensors to join");
    REFUSES(axle_concat(x, -1, 0), INVALID, "concat: no tensors to join");
    REFUSES(axle_concat(x, 2, 0), SHAPE, "concat: (2, 3) and (2, 4) differ outside dim 0");
    REFUSES(axle_concat(x, 1, 2), SHAPE, "concat: dim 2 is out of range for rank 2");
    REFUSES(axle_concat((axle_tensor *[]){x[0], x[2]}, 2, 0), DTYPE, "concat: element types");
    REFUSES(axle_concat((axle_tensor *[]){x[0], x[3]}, 2, 0), DEVICE, "concat: tensors are on");
    REFUSES(axle_concat((axle_tensor *[]){x[0], x[4]}, 2, 0), SHAPE, "(2, 3) and (2)");
    REFUSES(axle_concat(&x[6], 1, 0), SHAPE, "concat: wants at least 1 dims, got ()");
}

static void test_stack(void **state)
{
    (void)state;
    axle_tensor *x[] = {F(2), F(3), I(2), FAR(2), wide(), F(2, 2)};
    PASSES_NOTHING(axle_stack((axle_tensor *[]){x[0], NULL}, 2, 0));
    REFUSES(axle_stack(x, 0, 0), INVALID, "stack: no tensors to join");
    REFUSES(axle_stack(NULL, 1, 0), INVALID, "stack: no tensors to join");
    REFUSES(axle_stack(x, 2, 0), SHAPE, "stack: (1, 2) and (1, 3)");
    REFUSES(axle_stack(x, 1, 2), SHAPE, "stack: dim 2 is out of range for rank 2");
    REFUSES(axle_stack(x, 1, -3), SHAPE, "stack: dim -3");
    REFUSES(axle_stack((axle_tensor *[]){x[0], x[2]}, 2, 0), DTYPE, "stack: element types");
    REFUSES(axle_stack((axle_tensor *[]){x[0], x[3]}, 2, 0), DEVICE, "stack: tensors are on");
    REFUSES(axle_stack(&x[4], 1, 0), SHAPE, "rank 9");
    REFUSES(axle_stack((axle_tensor *[]){x[5], x[0]}, 2, 2), SHAPE, "stack: ");
}

static void test_pad(void **state)
{
    (void)state;
    const int64_t zero[] = {0, 0}, bad[] = {0, -1}, huge[] = {0, INT64_MAX};
    PASSES_NOTHING(axle_pad(NULL, zero, zero, 0));
    REFUSES(axle_pad(F(2, 3), zero, bad, 0), INVALID, "pad: dim 1 by 0 and -1");
    REFUSES(axle_pad(F(2, 3), huge, zero, 0), INVALID, "pad: dim 1 by 9223372036854775807 and 0");
    REFUSES(axle_pad(F(2, 3), NULL, zero, 0), INVALID, "pad: 2 numbers wanted, got none");
    REFUSES(axle_pad(F(2, 3), zero, NULL, 0), INVALID, "pad: 2 numbers wanted, got none");
}

/* ------------------------------------------------------------------ reductions */

#define REDUCE_LIST(X)                                                                             \
    X(sum, NUMBERS_1)                                                                              \
    X(mean, FLOATS_1)                                                                              \
    X(prod, NUMBERS_1)                                                                             \
    X(max, EXTREME)                                                                                \
    X(min, EXTREME)                                                                                \
    X(any, ALL_1)                                                                                  \
    X(all, ALL_1)

#define NUMBERS_1(name) REFUSES(axle_##name(B(2), 0, NULL, 0), DTYPE, #name ": wants numbers");
#define FLOATS_1(name)                                                                             \
    REFUSES(axle_##name(I(2), 0, NULL, 0), DTYPE, #name ": wants a float tensor, got i64");
#define EXTREME(name)                                                                              \
    NUMBERS_1(name)                                                                                \
    REFUSES(axle_##name(F(0, 3), 1, (int[]){0}, 0), SHAPE,                                         \
            #name ": no element to choose from in (0, 3)");
#define ALL_1(name) assert_non_null(axle_##name(I(2), 0, NULL, 0));

#define REDUCE(name, takes)                                                                        \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        PASSES_NOTHING(axle_##name(NULL, 0, NULL, 0));                                             \
        REFUSES(axle_##name(F(2, 3), 1, (int[]){2}, 0), SHAPE, #name ": dim 2 is out of range");   \
        REFUSES(axle_##name(F(2, 3), 2, (int[]){1, -1}, 0), SHAPE,                                 \
                #name ": dim 1 is listed twice");                                                  \
        REFUSES(axle_##name(F(2, 3), -1, (int[]){1}, 0), INVALID, #name ": -1 dims wanted");       \
        REFUSES(axle_##name(F(2, 3), 1, NULL, 0), INVALID, #name ": 1 dims wanted, got none");     \
        REFUSES(axle_##name(SCALAR(), 1, (int[]){0}, 0), SHAPE, "rank 0");                         \
        takes(name)                                                                                \
    }
REDUCE_LIST(REDUCE)

static void test_mean_all(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_mean_all(NULL));
    REFUSES(axle_mean_all(I(2)), DTYPE, "mean: wants a float tensor, got i64");
}

static void test_var(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_var(NULL, 0, NULL, 0, 1));
    REFUSES(axle_var(I(2), 0, NULL, 0, 1), DTYPE, "var: wants a float tensor, got i64");
    REFUSES(axle_var(F(2), 1, (int[]){-2}, 0, 1), SHAPE, "var: dim -2 is out of range for rank 1");
}

static void test_norm(void **state)
{
    (void)state;
    PASSES_NOTHING(axle_norm(NULL, 0, NULL, 0, 2));
    REFUSES(axle_norm(F(2), 0, NULL, 0, 3), INVALID, "norm: p is 3, must be 1 or 2");
    REFUSES(axle_norm(I(2), 0, NULL, 0, 2), DTYPE, "norm2: wants a float tensor, got i64");
    REFUSES(axle_norm(F(2), 1, (int[]){1}, 0, 1), SHAPE, "norm1: dim 1 is out of range");
}

#define ARG_REDUCE(name)                                                                           \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        PASSES_NOTHING(axle_##name(NULL, 0, 0));                                                   \
        REFUSES(axle_##name(F(2), 1, 0), SHAPE, #name ": dim 1 is out of range for rank 1");       \
        REFUSES(axle_##name(F(2, 0), 1, 0), SHAPE, #name ": no element to choose from in (2, 0)"); \
        REFUSES(axle_##name(SCALAR(), 0, 0), SHAPE, #name ": dim 0 is out of range for rank 0");   \
    }
ARG_REDUCE(argmax)
ARG_REDUCE(argmin)

static const struct CMUnitTest tests[] = {
    FLOAT_UNARY_LIST(ONE) NUMBER_UNARY_LIST(ONE) ANY_UNARY_LIST(ONE)
        PARAMETER_UNARY_LIST(ONE_OF_TWO) BINARY_LIST(ONE_OF_TWO) REDUCE_LIST(ONE_OF_TWO)
    // clang-format off
    ONE(affine) ONE(add_scaled) ONE(where) ONE(cast) ONE(to_device)
    ONE(reshape) ONE(flatten) ONE(permute) ONE(transpose) ONE(unsqueeze) ONE(squeeze)
    ONE(expand) ONE(slice) ONE(select) ONE(concat) ONE(stack) ONE(pad)
    ONE(mean_all) ONE(var) ONE(norm) ONE(argmax) ONE(argmin)
    // clang-format on
};

REFUSALS_MAIN(tests)
