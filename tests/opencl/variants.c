/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fifty kernels that differ in nothing but the value of one -D, each compared with the host:
 *
 *     variants [FIRST [COUNT]]
 *
 * runs COUNT of them on the device that AXLE_BACKEND names, beginning with number FIRST and
 * starting over at the end, so that several processes can take the same ones in different orders.
 * With COUNT 0 it prints how many there are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "axle/axle.h"

typedef axle_tensor *unary_fn(axle_tensor *);
typedef axle_tensor *binary_fn(axle_tensor *, axle_tensor *);

/* Kinds of two operators; X(name). */
#define UNARY(X)                                                                                   \
    X(neg)                                                                                         \
    X(abs)                                                                                         \
    X(sign)                                                                                        \
    X(square)                                                                                      \
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
    X(relu)                                                                                        \
    X(gelu)                                                                                        \
    X(gelu_tanh)                                                                                   \
    X(silu)                                                                                        \
    X(mish)                                                                                        \
    X(hard_sigmoid)                                                                                \
    X(hard_swish)                                                                                  \
    X(floor)                                                                                       \
    X(ceil)                                                                                        \
    X(round)                                                                                       \
    X(trunc)                                                                                       \
    X(is_nan)                                                                                      \
    X(is_inf)                                                                                      \
    X(is_finite)
#define BINARY(X)                                                                                  \
    X(add)                                                                                         \
    X(sub)                                                                                         \
    X(mul)                                                                                         \
    X(div)                                                                                         \
    X(pow)                                                                                         \
    X(maximum)                                                                                     \
    X(minimum)                                                                                     \
    X(atan2)                                                                                       \
    X(remainder)                                                                                   \
    X(fmod)                                                                                        \
    X(lt)

static const struct variant {
    const char *name;
    unary_fn *unary;
    binary_fn *binary;
} variants[] = {
#define ROW(name) {#name, axle_##name, NULL},
    UNARY(ROW)
#undef ROW
#define ROW(name) {#name, NULL, axle_##name},
        BINARY(ROW)
#undef ROW
};

enum { VARIANTS = sizeof(variants) / sizeof(variants[0]), N = 5 };

static int compute(const struct variant *v, axle_device *device, double *out)
{
    const float x[N] = {0.125f, 0.25f, 0.375f, 0.5f, 0.875f}, y[N] = {0.5f, 0.75f, 0.25f, 2, 3};
    axle_scope_push();
    axle_device_push(device);
    axle_tensor *a = axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(N), x);
    axle_tensor *b = axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(N), y);
    axle_tensor *result =
        axle_to_device(v->unary ? v->unary(a) : v->binary(a, b), axle_device_host());
    axle_tensor *wide = axle_cast(result, AXLE_DTYPE_F64);
    const int code = wide ? axle_tensor_read(wide, out, N * sizeof(double)) : axle_error_code();
    axle_device_pop();
    axle_scope_pop();
    return code;
}

static int check(const struct variant *v)
{
    double got[N] = {0}, expected[N] = {0};
    if (compute(v, axle_device_current(), got) || compute(v, axle_device_host(), expected)) {
        printf("%s: %s\n", v->name, axle_error_message());
        return 1;
    }
    for (int k = 0; k < N; k++)
        if (!(fabs(got[k] - expected[k]) <= 1e-5 * (1 + fabs(expected[k])))) {
            printf("%s: element %d is %.9g, not %.9g\n", v->name, k, got[k], expected[k]);
            return 1;
        }
    return 0;
}

int main(int argc, char **argv)
{
    const int first = argc > 1 ? atoi(argv[1]) : 0, count = argc > 2 ? atoi(argv[2]) : VARIANTS;
    int failed = 0;
    if (count == 0)
        printf("%d\n", (int)VARIANTS);
    else if (!axle_device_current())
        return printf("%s\n", axle_error_message()) ? EXIT_FAILURE : EXIT_SUCCESS;
    for (int k = 0; k < count; k++)
        failed |= check(&variants[(first + k) % VARIANTS]);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
