/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of SGD, Adam and RMSprop over a range of flat storage: one pass that reads and writes every
 * array once. Absent moments are told apart outside the loops.
 */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"

#define DEFINE_SGD(name, type)                                                                     \
    static void name(const optimizer_arrays *arrays, int64_t begin, int64_t end,                   \
                     const void *attributes, const void *values)                                   \
    {                                                                                              \
        const axle_sgd_attrs *attrs = attributes;                                                  \
        const axle_sgd_scalars *now = values;                                                      \
        const type *grad = arrays->grad;                                                           \
        type *param = arrays->param, *velocity = arrays->first;                                    \
        const type scale = (type)(attrs->maximize ? -now->grad_scale : now->grad_scale);           \
        const type decay = (type)now->weight_decay, lr = (type)now->lr;                            \
        const type momentum = (type)(now->first ? 0 : now->momentum);                              \
        const type fresh = (type)(now->first ? 1 : 1 - now->dampening);                            \
        const type ahead = (type)(attrs->nesterov ? now->momentum : 1);                            \
        const type direct = (type)(attrs->nesterov ? 1 : 0);                                       \
        if (!velocity) {                                                                           \
            SIMD for (int64_t i = begin; i < end; i++) param[i] -=                                 \
                lr * (scale * grad[i] + decay * param[i]);                                         \
        } else if (now->first) {                                                                   \
            SIMD for (int64_t i = begin; i < end; i++)                                             \
            {                                                                                      \
                const type g = scale * grad[i] + decay * param[i];                                 \
                velocity[i] = g;                                                                   \
                param[i] -= lr * (direct * g + ahead * g);                                         \
            }                                                                                      \
        } else {                                                                                   \
            SIMD for (int64_t i = begin; i < end; i++)                                             \
            {                                                                                      \
                const type g = scale * grad[i] + decay * param[i];                                 \
                const type v = momentum * velocity[i] + fresh * g;                                 \
                velocity[i] = v;                                                                   \
                param[i] -= lr * (direct * g + ahead * v);                                         \
            }                                                                                      \
        }                                                                                          \
    }
DEFINE_SGD(sgd_f32, float)
DEFINE_SGD(sgd_f64, double)

#define DEFINE_ADAM(name, type, root)                                                              \
    static void name(const optimizer_arrays *arrays, int64_t begin, int64_t end,                   \
                     const void *attributes, const void *values)                                   \
    {                                                                                              \
        const axle_adam_attrs *attrs = attributes;                                                 \
        const axle_adam_scalars *now = values;                                                     \
        const type *grad = arrays->grad;                                                           \
        type *param = arrays->param, *m = arrays->first, *v = arrays->second;                      \
        type *vmax = arrays->third;                                                                \
        const type scale = (type)(attrs->maximize ? -now->grad_scale : now->grad_scale);           \
        const type decay = (type)(attrs->decoupled ? 0 : now->weight_decay);                       \
        const type shrink = (type)(attrs->decoupled ? now->lr * now->weight_decay : 0);            \
        const type beta1 = (type)now->beta1, rest1 = (type)(1 - now->beta1);                       \
        const type beta2 = (type)now->beta2, rest2 = (type)(1 - now->beta2);                       \
        const type step = (type)(now->lr / now->bias1), eps = (type)now->eps;                      \
        const type unbias = (type)(1 / sqrt(now->bias2));                                          \
        if (vmax) {                                                                                \
            SIMD for (int64_t i = begin; i < end; i++)                                             \
            {                                                                                      \
                const type g = scale * grad[i] + decay * param[i];                                 \
                const type mi = beta1 * m[i] + rest1 * g;                                          \
                const type vi = beta2 * v[i] + rest2 * (g * g);                                    \
                const type largest = vmax[i] >= vi ? vmax[i] : vi;                                 \
                m[i] = mi;                                                                         \
                v[i] = vi;                                                                         \
                vmax[i] = largest;                                                                 \
                param[i] -= shrink * param[i] + step * (mi / (root(largest) * unbias + eps));      \
            }                                                                                      \
        } else {                                                                                   \
            SIMD for (int64_t i = begin; i < end; i++)                                             \
            {                                                                                      \
                const type g = scale * grad[i] + decay * param[i];                                 \
                const type mi = beta1 * m[i] + rest1 * g;                                          \
                const type vi = beta2 * v[i] + rest2 * (g * g);                                    \
                m[i] = mi;                                                                         \
                v[i] = vi;                                                                         \
                param[i] -= shrink * param[i] + step * (mi / (root(vi) * unbias + eps));           \
            }                                                                                      \
        }                                                                                          \
    }
DEFINE_ADAM(adam_f32, float, sqrtf)
DEFINE_ADAM(adam_f64, double, sqrt)

/* Rounding may leave the square a little below that of the mean; the variance then counts as 0. */
#define RMSPROP_LOOP(type, root, CENTERED, MOMENTUM)                                               \
    SIMD for (int64_t i = begin; i < end; i++)                                                     \
    {                                                                                              \
        const type g = scale * grad[i] + decay * param[i];                                         \
        const type s = alpha * square[i] + rest * (g * g);                                         \
        type variance = s;                                                                         \
        square[i] = s;                                                                             \
        if (CENTERED) {                                                                            \
            const type average = alpha * mean[i] + rest * g;                                       \
            mean[i] = average;                                                                     \
            variance = s - average * average;                                                      \
            variance = variance < 0 ? 0 : variance;                                                \
        }                                                                                          \
        type update = g / (root(variance) + eps);                                                  \
        if (MOMENTUM) {                                                                            \
            update = momentum * velocity[i] + update;                                              \
            velocity[i] = update;                                                                  \
        }                                                                                          \
        param[i] -= lr * update;                                                                   \
    }

#define DEFINE_RMSPROP(name, type, root)                                                           \
    static void name(const optimizer_arrays *arrays, int64_t begin, int64_t end,                   \
                     const void *attributes, const void *values)                                   \
    {                                                                                              \
        const axle_rmsprop_attrs *attrs = attributes;                                              \
        const axle_rmsprop_scalars *now = values;                                                  \
        const type *grad = arrays->grad;                                                           \
        type *param = arrays->param, *square = arrays->first;                                      \
        type *velocity = arrays->second, *mean = arrays->third;                                    \
        const type scale = (type)(attrs->maximize ? -now->grad_scale : now->grad_scale);           \
        const type decay = (type)now->weight_decay, lr = (type)now->lr, eps = (type)now->eps;      \
        const type alpha = (type)now->alpha, rest = (type)(1 - now->alpha);                        \
        const type momentum = (type)now->momentum;                                                 \
        if (mean && velocity) {                                                                    \
            RMSPROP_LOOP(type, root, 1, 1)                                                         \
        } else if (mean) {                                                                         \
            RMSPROP_LOOP(type, root, 1, 0)                                                         \
        } else if (velocity) {                                                                     \
            RMSPROP_LOOP(type, root, 0, 1)                                                         \
        } else {                                                                                   \
            RMSPROP_LOOP(type, root, 0, 0)                                                         \
        }                                                                                          \
    }
DEFINE_RMSPROP(rmsprop_f32, float, sqrtf)
DEFINE_RMSPROP(rmsprop_f64, double, sqrt)

const struct optimizer_loops LOOP(cpu_optimizer_loops) = {
    .sgd = {sgd_f32, sgd_f64},
    .adam = {adam_f32, adam_f64},
    .rmsprop = {rmsprop_f32, rmsprop_f64},
};
#endif
LOOP_END;
