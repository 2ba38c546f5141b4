/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SGD, ADAM and RMSPROP as torch.optim defines them. Steps compute in f64; what is stored between
 * steps rounds to the parameters' type.
 */
#include "element.h"

#include <math.h>

/* Element i of operand k, and the same if the operand may be absent. */
#define AT(T, k) (*(T *)(span->p[k] + i * span->step[k]))
#define POINTER(T, k) (span->p[k] ? &AT(T, k) : NULL)

/* Operands of SGD: param, momentum?, grad. */
#define DEFINE_SGD(T)                                                                              \
    static void sgd_##T(const ref_span *span)                                                      \
    {                                                                                              \
        const axle_sgd_attrs *attrs = span->attrs;                                                 \
        const axle_sgd_scalars *now = span->args->scalars;                                         \
        const double scale = attrs->maximize ? -now->grad_scale : now->grad_scale;                 \
        for (int64_t i = 0; i < span->n; i++) {                                                    \
            T *param = &AT(T, 0), *momentum = POINTER(T, 1);                                       \
            double g = scale * AT(const T, 2) + now->weight_decay * *param;                        \
            if (momentum) {                                                                        \
                *momentum =                                                                        \
                    (T)(now->first ? g : now->momentum * *momentum + (1 - now->dampening) * g);    \
                g = attrs->nesterov ? g + now->momentum * *momentum : *momentum;                   \
            }                                                                                      \
            *param = (T)(*param - now->lr * g);                                                    \
        }                                                                                          \
    }

/* Operands of ADAM: param, m, v, vmax?, grad. */
#define DEFINE_ADAM(T)                                                                             \
    static void adam_##T(const ref_span *span)                                                     \
    {                                                                                              \
        const axle_adam_attrs *attrs = span->attrs;                                                \
        const axle_adam_scalars *now = span->args->scalars;                                        \
        const double scale = attrs->maximize ? -now->grad_scale : now->grad_scale;                 \
        const double decay = attrs->decoupled ? 0 : now->weight_decay;                             \
        const double shrink = attrs->decoupled ? 1 - now->lr * now->weight_decay : 1;              \
        const double step = now->lr / now->bias1, root2 = sqrt(now->bias2);                        \
        for (int64_t i = 0; i < span->n; i++) {                                                    \
            T *param = &AT(T, 0), *m = &AT(T, 1), *v = &AT(T, 2), *vmax = POINTER(T, 3);           \
            const double g = scale * AT(const T, 4) + decay * *param;                              \
            *m = (T)(now->beta1 * *m + (1 - now->beta1) * g);                                      \
            *v = (T)(now->beta2 * *v + (1 - now->beta2) * g * g);                                  \
            if (vmax && !(*vmax >= *v))                                                            \
                *vmax = *v;                                                                        \
            const double denominator = sqrt(vmax ? *vmax : *v) / root2 + now->eps;                 \
            *param = (T)(shrink * *param - step * *m / denominator);                               \
        }                                                                                          \
    }

/* Operands of RMSPROP: param, square, momentum?, mean?, grad. Rounding may leave square a little
 * below the square of the mean; the variance then counts as 0. */
#define DEFINE_RMSPROP(T)                                                                          \
    static void rmsprop_##T(const ref_span *span)                                                  \
    {                                                                                              \
        const axle_rmsprop_attrs *attrs = span->attrs;                                             \
        const axle_rmsprop_scalars *now = span->args->scalars;                                     \
        const double scale = attrs->maximize ? -now->grad_scale : now->grad_scale;                 \
        for (int64_t i = 0; i < span->n; i++) {                                                    \
            T *param = &AT(T, 0), *square = &AT(T, 1);                                             \
            T *momentum = POINTER(T, 2), *mean = POINTER(T, 3);                                    \
            const double g = scale * AT(const T, 4) + now->weight_decay * *param;                  \
            double variance = *square = (T)(now->alpha * *square + (1 - now->alpha) * g * g);      \
            if (mean) {                                                                            \
                *mean = (T)(now->alpha * *mean + (1 - now->alpha) * g);                            \
                variance -= (double)*mean * *mean;                                                 \
                variance = variance < 0 ? 0 : variance;                                            \
            }                                                                                      \
            double update = g / (sqrt(variance) + now->eps);                                       \
            if (momentum)                                                                          \
                update = *momentum = (T)(now->momentum * *momentum + update);                      \
            *param = (T)(*param - now->lr * update);                                               \
        }                                                                                          \
    }

DEFINE_SGD(float)
DEFINE_SGD(double)
DEFINE_ADAM(float)
DEFINE_ADAM(double)
DEFINE_RMSPROP(float)
DEFINE_RMSPROP(double)

/* The loop for the operands' type, if they have one, f32 or f64, and the first `needed` outputs
 * are there. */
static ref_loop choose(const axle_op_desc *desc, uint32_t needed, ref_loop f32, ref_loop f64)
{
    const axle_view *grad = desc->in[0];
    if (!ref_is(grad, 1 << AXLE_DTYPE_F32 | 1 << AXLE_DTYPE_F64))
        return NULL;
    for (uint32_t k = 0; k < needed || k < desc->n_out; k++) {
        const axle_view *out = ref_operand(desc->out, desc->n_out, k);
        if (out ? out->dtype != grad->dtype : k < needed)
            return NULL;
    }
    return grad->dtype == AXLE_DTYPE_F32 ? f32 : f64;
}

static ref_loop choose_sgd(const axle_op_desc *desc)
{
    return choose(desc, 1, sgd_float, sgd_double);
}

static ref_loop choose_adam(const axle_op_desc *desc)
{
    return choose(desc, 3, adam_float, adam_double);
}

static ref_loop choose_rmsprop(const axle_op_desc *desc)
{
    return choose(desc, 2, rmsprop_float, rmsprop_double);
}

const ref_elementwise ref_elementwise_optimizer[] = {
    {AXLE_OP_SGD, choose_sgd},
    {AXLE_OP_ADAM, choose_adam},
    {AXLE_OP_RMSPROP, choose_rmsprop},
    {0, NULL},
};
