/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ in */

/* X(name, type in memory, work type) */
#define LOADS(X)                                                                                   \
    X(f32_f32, float, float)                                                                       \
    X(f32_f64, float, double)                                                                      \
    X(f64_f64, double, double)

#define DEFINE_LOAD(name, from_type, to_type)                                                      \
    static void load_##name(const void *from, int64_t step, int64_t count, void *to)               \
    {                                                                                              \
        const from_type *x = from;                                                                 \
        to_type *restrict out = to;                                                                \
        if (step == 1)                                                                             \
            for (int64_t i = 0; i < count; i++)                                                    \
                out[i] = (to_type)x[i];                                                            \
        else                                                                                       \
            for (int64_t i = 0; i < count; i++)                                                    \
                out[i] = (to_type)x[i * step];                                                     \
    }
LOADS(DEFINE_LOAD)

blas_load_fn blas_load(uint32_t dtype, uint32_t work)
{
    if (dtype == AXLE_DTYPE_F64)
        return load_f64_f64;
    return work == AXLE_DTYPE_F64 ? load_f32_f64 : load_f32_f32;
}

/* ------------------------------------------------------------------ activations */

static double relu(double x)
{
    return x < 0 ? 0 : x; /* NaN stays */
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double silu(double x)
{
    return x * sigmoid(x);
}

static double gelu(double x)
{
    const double sqrt_half = 0.70710678118654752440;
    return 0.5 * x * erfc(-x * sqrt_half);
}

/* 0.5 * (1 + tanh(u)) is sigmoid(2u). */
static double gelu_tanh(double x)
{
    const double sqrt_8_by_pi = 1.59576912160573071176;
    return x * sigmoid(sqrt_8_by_pi * (x + 0.044715 * x * x * x));
}

#define ACTIVATIONS(X)                                                                             \
    X(RELU, relu)                                                                                  \
    X(GELU, gelu)                                                                                  \
    X(GELU_TANH, gelu_tanh)                                                                        \
    X(SIGMOID, sigmoid)                                                                            \
    X(TANH, tanh)                                                                                  \
    X(SILU, silu)

#define DEFINE_ACTIVATION(KIND, function)                                                          \
    static void apply_##function(double *values, int64_t count)                                    \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            values[i] = function(values[i]);                                                       \
    }
ACTIVATIONS(DEFINE_ACTIVATION)

blas_activation_fn blas_activation(uint32_t kind)
{
#define ENTRY(KIND, function) [AXLE_UNARY_##KIND] = apply_##function,
    static const blas_activation_fn table[AXLE_UNARY_LIMIT] = {ACTIVATIONS(ENTRY)};
#undef ENTRY
    return kind < AXLE_UNARY_LIMIT ? table[kind] : NULL;
}

/* ------------------------------------------------------------------ out */

enum { PIECE = 256 };

static void add(double *values, double scale, const double *other, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = values[i] * scale + other[i];
}

static void store(const blas_finish *f, const double *values, void *y, int64_t step, int64_t count)
{
    if (f->dtype == AXLE_DTYPE_F64)
        for (int64_t i = 0; i < count; i++)
            ((double *)y)[i * step] = values[i];
    else
        for (int64_t i = 0; i < count; i++)
            ((float *)y)[i * step] = (float)values[i];
}

static void finish_piece(const blas_finish *f, const void *sums, const void *bias,
                         int64_t bias_step, void *y, int64_t step, int64_t count)
{
    const blas_load_fn load = blas_load(f->dtype, AXLE_DTYPE_F64);
    double values[PIECE], other[PIECE];
    blas_load(f->work, AXLE_DTYPE_F64)(sums, 1, count, values);
    if (bias)
        load(bias, bias_step, count, other);
    else
        memset(other, 0, sizeof(double) * (size_t)count);
    if (bias || f->scale != 1)
        add(values, f->scale, other, count);
    if (f->accumulate) {
        load(y, step, count, other);
        add(values, 1, other, count);
    }
    if (f->activation)
        f->activation(values, count);
    store(f, values, y, step, count);
}

void blas_finish_run(const blas_finish *f, const void *sums, const void *bias, int64_t bias_step,
                     void *y, int64_t step, int64_t count)
{
    for (int64_t i = 0; i < count; i += PIECE)
        finish_piece(f, blas_at(sums, f->work, i),
                     bias ? blas_at(bias, f->dtype, i * bias_step) : NULL, bias_step,
                     blas_at(y, f->dtype, i * step), step, blas_least(PIECE, count - i));
}
