/* SPDX-License-Identifier: Apache-2.0 */
/* UNARY: x (...) -> y (...). One line a kind; the loops for all element types come from it. */
#include "element.h"
#include "activation.h"

/*
 * X(NAME, value of x, a and b). Narrow kinds compute in the element's own type (f32 for halves),
 * where they are exact or rounded once; the others compute in f64, so that the only error that
 * counts in f32 is the last rounding.
 */
#define NARROW_KINDS(X)                                                                            \
    X(NEG, -x)                                                                                     \
    X(ABS, fabs(x))                                                                                \
    X(SIGN, (x > 0) - (x < 0))                                                                     \
    X(SQUARE, (x * x))                                                                             \
    X(RECIPROCAL, 1 / x)                                                                           \
    X(RELU, ref_keep(x, !(x < 0)))                                                                 \
    X(CLIP, ref_clip(x, a, b))                                                                     \
    X(FLOOR, floor(x))                                                                             \
    X(CEIL, ceil(x))                                                                               \
    X(ROUND, rint(x))                                                                              \
    X(TRUNC, trunc(x))

#define WIDE_KINDS(X)                                                                              \
    X(SQRT, sqrt(x))                                                                               \
    X(RSQRT, 1 / sqrt(x))                                                                          \
    X(EXP, exp(x))                                                                                 \
    X(EXPM1, expm1(x))                                                                             \
    X(LOG, log(x))                                                                                 \
    X(LOG1P, log1p(x))                                                                             \
    X(LOG2, log2(x))                                                                               \
    X(LOG10, log10(x))                                                                             \
    X(SIN, sin(x))                                                                                 \
    X(COS, cos(x))                                                                                 \
    X(TAN, tan(x))                                                                                 \
    X(ASIN, asin(x))                                                                               \
    X(ACOS, acos(x))                                                                               \
    X(ATAN, atan(x))                                                                               \
    X(SINH, sinh(x))                                                                               \
    X(COSH, cosh(x))                                                                               \
    X(TANH, tanh(x))                                                                               \
    X(ERF, erf(x))                                                                                 \
    X(SIGMOID, ref_sigmoid(x))                                                                     \
    X(LOG_SIGMOID, (x < 0 ? x : 0) - log1p(exp(-fabs(x))))                                         \
    X(LEAKY_RELU, x > 0 ? x : a * x)                                                               \
    X(ELU, x > 0 ? x : a * expm1(x))                                                               \
    X(GELU, ref_gelu(x))                                                                           \
    X(GELU_TANH, ref_gelu_tanh(x))                                                                 \
    X(SILU, ref_silu(x))                                                                           \
    X(MISH, (x * tanh(ref_log1p_exp(x))))                                                          \
    X(SOFTPLUS, (a * x > b ? x : ref_log1p_exp(a * x) / a))                                        \
    X(HARD_SIGMOID, ref_clip(x + 3, 0, 6) / 6)                                                     \
    X(HARD_SWISH, (x * ref_clip(x + 3, 0, 6) / 6))                                                 \
    X(AFFINE, (a * x + b))                                                                         \
    X(POW_SCALAR, pow(x, a))

#define BOOLEAN_KINDS(X)                                                                           \
    X(LOGICAL_NOT, x == 0)                                                                         \
    X(IS_NAN, x != x)                                                                              \
    X(IS_INF, x - x != 0 && x == x)                                                                \
    X(IS_FINITE, x - x == 0)

/* Integers: x, a and b are i64. */
#define INTEGER_KINDS(X)                                                                           \
    X(NEG, ref_wrap_sub(0, x))                                                                     \
    X(ABS, x < 0 ? ref_wrap_sub(0, x) : x)                                                         \
    X(SIGN, (x > 0) - (x < 0))                                                                     \
    X(SQUARE, ref_wrap_mul(x, x))                                                                  \
    X(RELU, x < 0 ? 0 : x)                                                                         \
    X(CLIP, ref_clip_integer(x, a, b))                                                             \
    X(AFFINE, ref_wrap_add(ref_wrap_mul(a, x), b))                                                 \
    X(FLOOR, x)                                                                                    \
    X(CEIL, x)                                                                                     \
    X(ROUND, x)                                                                                    \
    X(TRUNC, x)

#define ONE(...) +1
_Static_assert(NARROW_KINDS(ONE) WIDE_KINDS(ONE) BOOLEAN_KINDS(ONE) == AXLE_UNARY_LIMIT - 1,
               "every unary kind is in one list");

/* Values of type From are computed in C with the attributes as C. */
#define LOOP(name, To, From, C, convert, get, put, value)                                          \
    static inline To name##_of(From element, C a, C b)                                             \
    {                                                                                              \
        const C x = get(element);                                                                  \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        return put(value);                                                                         \
    }                                                                                              \
    REF_LOOP_1(name, To, From, const axle_unary_attrs *attrs = span->attrs;                        \
               const C a = convert(attrs->alpha);                                                  \
               const C b = convert(attrs->beta), name##_of(x, a, b))

#define NARROW_LOOP(F, f, T, C, NAME, value)                                                       \
    LOOP(NAME##_##f, T, T, C, (C), ref_get_##f, ref_put_##f, value)
#define WIDE_LOOP(F, f, T, C, NAME, value)                                                         \
    LOOP(NAME##_##f, T, T, double, (double), ref_get_##f, ref_put_##f, value)
#define BOOLEAN_LOOP(F, f, T, C, NAME, value)                                                      \
    LOOP(NAME##_##f, uint8_t, T, C, (C), ref_get_##f, (uint8_t), value)
#define INTEGER_LOOP(I, i_, T, C, NAME, value)                                                     \
    LOOP(NAME##_##i_, T, T, int64_t, ref_to_integer, ref_get_##i_, ref_put_##i_, value)

#define NARROW_LOOPS(NAME, value) REF_FLOATS(NARROW_LOOP, NAME, value)
#define WIDE_LOOPS(NAME, value) REF_FLOATS(WIDE_LOOP, NAME, value)
#define BOOLEAN_LOOPS(NAME, value) REF_TYPES(BOOLEAN_LOOP, NAME, value)
#define INTEGER_LOOPS(NAME, value) REF_INTEGERS(INTEGER_LOOP, NAME, value)
NARROW_KINDS(NARROW_LOOPS)
WIDE_KINDS(WIDE_LOOPS)
BOOLEAN_KINDS(BOOLEAN_LOOPS)
INTEGER_KINDS(INTEGER_LOOPS)

#define ENTRY(F, f, T, C, NAME) [AXLE_UNARY_##NAME][AXLE_DTYPE_##F] = NAME##_##f,
#define FLOAT_ENTRIES(NAME, value) REF_FLOATS(ENTRY, NAME)
#define TYPE_ENTRIES(NAME, value) REF_TYPES(ENTRY, NAME)
#define INTEGER_ENTRIES(NAME, value) REF_INTEGERS(ENTRY, NAME)
static const ref_loop loops[AXLE_UNARY_LIMIT][REF_DTYPE_LIMIT] = {
    NARROW_KINDS(FLOAT_ENTRIES) WIDE_KINDS(FLOAT_ENTRIES) BOOLEAN_KINDS(TYPE_ENTRIES)
        INTEGER_KINDS(INTEGER_ENTRIES)};

#define BOOLEAN_FLAG(NAME, value) [AXLE_UNARY_##NAME] = 1,
static const uint8_t gives_boolean[AXLE_UNARY_LIMIT] = {BOOLEAN_KINDS(BOOLEAN_FLAG)};

static ref_loop choose_unary(const axle_op_desc *desc)
{
    const axle_unary_attrs *attrs = desc->attrs;
    const axle_view *x = desc->in[0], *y = desc->out[0];
    if (attrs->kind >= AXLE_UNARY_LIMIT || !ref_is(x, REF_ANY_MASK) || !ref_is(y, REF_ANY_MASK))
        return NULL;
    const uint32_t result = gives_boolean[attrs->kind] ? (uint32_t)AXLE_DTYPE_BOOL : x->dtype;
    return y->dtype == result ? loops[attrs->kind][x->dtype] : NULL;
}

const ref_elementwise ref_elementwise_unary[] = {{AXLE_OP_UNARY, choose_unary}, {0, NULL}};

/* ACTIVATION(NAME) is the same function as the kind's loop in f64. */
#define DEFINE_ACTIVATION(NAME)                                                                    \
    static double activation_##NAME(double x)                                                      \
    {                                                                                              \
        return NAME##_f64_of(x, 0, 0);                                                             \
    }
#define ACTIVATIONS(X) X(RELU) X(GELU) X(GELU_TANH) X(SIGMOID) X(TANH) X(SILU)
ACTIVATIONS(DEFINE_ACTIVATION)

ref_activation ref_activation_of(uint32_t unary_kind)
{
#define ACTIVATION_ENTRY(NAME) [AXLE_UNARY_##NAME] = activation_##NAME,
    static const ref_activation table[AXLE_UNARY_LIMIT] = {ACTIVATIONS(ACTIVATION_ENTRY)};
#undef ACTIVATION_ENTRY
    return unary_kind < AXLE_UNARY_LIMIT ? table[unary_kind] : NULL;
}
