/* SPDX-License-Identifier: Apache-2.0 */
/* UNARY_BACKWARD: dy (...), saved? (...) -> dx (...). One line a kind. */
#include "element.h"
#include "activation.h"

/*
 * X(NAME, gradient). In the gradients g is dy; x or y is the saved operand, by whichever name
 * AXLE_UNARY_LIST calls it; a and b are the attributes. All compute in f64.
 */
#define SAVED_KINDS(X)                                                                             \
    X(ABS, ((x > 0) - (x < 0)) * g)                                                                \
    X(SQUARE, 2 * x * g)                                                                           \
    X(SQRT, g / (2 * y))                                                                           \
    X(RSQRT, -0.5 * g * y * y * y)                                                                 \
    X(RECIPROCAL, (-g * y * y))                                                                    \
    X(EXP, (g * y))                                                                                \
    X(EXPM1, (g * (y + 1)))                                                                        \
    X(LOG, g / x)                                                                                  \
    X(LOG1P, g / (x + 1))                                                                          \
    X(LOG2, g / (x * REF_LN2))                                                                     \
    X(LOG10, g / (x * REF_LN10))                                                                   \
    X(SIN, (g * cos(x)))                                                                           \
    X(COS, (-g * sin(x)))                                                                          \
    X(TAN, (g * (1 + y * y)))                                                                      \
    X(ASIN, g / sqrt((1 - x) * (1 + x)))                                                           \
    X(ACOS, -g / sqrt((1 - x) * (1 + x)))                                                          \
    X(ATAN, g / (1 + x * x))                                                                       \
    X(SINH, (g * cosh(x)))                                                                         \
    X(COSH, (g * sinh(x)))                                                                         \
    X(TANH, (g * (1 - y) * (1 + y)))                                                               \
    X(ERF, (g * REF_2_SQRTPI * exp(-x * x)))                                                       \
    X(SIGMOID, (g * y * (1 - y)))                                                                  \
    X(LOG_SIGMOID, (g * ref_sigmoid(-x)))                                                          \
    X(RELU, ref_keep(g, y > 0))                                                                    \
    X(LEAKY_RELU, x > 0 ? g : a * g)                                                               \
    X(ELU, x > 0 ? g : g * a * exp(x))                                                             \
    X(GELU, (g * gelu_slope(x)))                                                                   \
    X(GELU_TANH, (g * gelu_tanh_slope(x)))                                                         \
    X(SILU, (g * silu_slope(x)))                                                                   \
    X(MISH, (g * mish_slope(x)))                                                                   \
    X(SOFTPLUS, (a * x > b ? g : g * ref_sigmoid(a * x)))                                          \
    X(HARD_SIGMOID, x > -3 && x < 3 ? g / 6 : 0)                                                   \
    X(HARD_SWISH, x <= -3 ? 0 : x < 3 ? g * (x / 3 + 0.5) : g)                                     \
    X(CLIP, ref_keep(g, (x >= low) & (x <= high)))                                                 \
    X(POW_SCALAR, a == 0 ? 0 : g * a * pow(x, a - 1))

#define UNSAVED_KINDS(X)                                                                           \
    X(NEG, -g)                                                                                     \
    X(AFFINE, (a * g))

static inline double gelu_slope(double x)
{
    return 0.5 * erfc(-x * REF_SQRT1_2) + x * REF_1_SQRT2PI * exp(-0.5 * x * x);
}

static inline double gelu_tanh_slope(double x)
{
    const double p = ref_sigmoid(ref_gelu_tanh_argument(x));
    return p + x * p * (1 - p) * 2 * REF_SQRT2_PI * (1 + 3 * 0.044715 * x * x);
}

static inline double silu_slope(double x)
{
    const double p = ref_sigmoid(x);
    return p * (1 + x * (1 - p));
}

static inline double mish_slope(double x)
{
    const double t = tanh(ref_log1p_exp(x));
    return t + x * ref_sigmoid(x) * (1 - t) * (1 + t);
}

/* The bounds of clip are compared in the type that the forward pass compares in. */
#define SETUP(C)                                                                                   \
    const axle_unary_attrs *attrs = span->attrs;                                                   \
    const double a = attrs->alpha, b = attrs->beta, low = (C)a, high = (C)b

#define SAVED_LOOP(F, f, T, C, NAME, gradient)                                                     \
    static inline T NAME##_##f##_of(T dy, T saved, double a, double b, double low, double high)    \
    {                                                                                              \
        const double g = ref_get_##f(dy), x = ref_get_##f(saved), y = x;                           \
        (void)y, (void)a, (void)b, (void)low, (void)high;                                          \
        return ref_put_##f(gradient);                                                              \
    }                                                                                              \
    REF_LOOP_2(NAME##_##f, T, T, SETUP(C), NAME##_##f##_of(x, y, a, b, low, high))

#define UNSAVED_LOOP(F, f, T, C, NAME, gradient)                                                   \
    static inline T NAME##_##f##_of(T dy, double a)                                                \
    {                                                                                              \
        const double g = ref_get_##f(dy);                                                          \
        (void)a;                                                                                   \
        return ref_put_##f(gradient);                                                              \
    }                                                                                              \
    REF_LOOP_1(NAME##_##f, T, T, const axle_unary_attrs *attrs = span->attrs;                      \
               const double a = attrs->alpha, NAME##_##f##_of(x, a))

#define SAVED_LOOPS(NAME, gradient) REF_FLOATS(SAVED_LOOP, NAME, gradient)
#define UNSAVED_LOOPS(NAME, gradient) REF_FLOATS(UNSAVED_LOOP, NAME, gradient)
SAVED_KINDS(SAVED_LOOPS)
UNSAVED_KINDS(UNSAVED_LOOPS)

#define ENTRY(F, f, T, C, NAME) [AXLE_UNARY_##NAME][AXLE_DTYPE_##F] = NAME##_##f,
#define ENTRIES(NAME, gradient) REF_FLOATS(ENTRY, NAME)
static const ref_loop loops[AXLE_UNARY_LIMIT][REF_DTYPE_LIMIT] = {SAVED_KINDS(ENTRIES)
                                                                      UNSAVED_KINDS(ENTRIES)};

/* Whether a kind reads the saved operand: a column of the operator's own list. */
enum { NEEDS_X = 1, NEEDS_Y = 1, NEEDS_N = 0, NEEDS_Z = 0, NEEDS_B = 0 };
/* The list's parameter is called X, too, and would replace the X in that column by any other name.
 */
#define X(number, name, text, saved) [number] = NEEDS_##saved,
static const uint8_t needs_saved[AXLE_UNARY_LIMIT] = {AXLE_UNARY_LIST(X)};
#undef X

static ref_loop choose_unary_backward(const axle_op_desc *desc)
{
    const axle_unary_attrs *attrs = desc->attrs;
    const axle_view *dy = desc->in[0], *dx = desc->out[0];
    const axle_view *saved = ref_operand(desc->in, desc->n_in, 1);
    if (attrs->kind >= AXLE_UNARY_LIMIT || !ref_is(dy, REF_FLOAT_MASK) || !ref_same(dy, dx))
        return NULL;
    if (needs_saved[attrs->kind] && !ref_same(dy, saved))
        return NULL;
    return loops[attrs->kind][dy->dtype];
}

const ref_elementwise ref_elementwise_unary_backward[] = {
    {AXLE_OP_UNARY_BACKWARD, choose_unary_backward},
    {0, NULL},
};
