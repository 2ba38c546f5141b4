/* SPDX-License-Identifier: Apache-2.0 */
/* BINARY: a (...), b (...) -> y (...). One line a kind; a is x and b is y in the formulas. */
#include "element.h"
#include "activation.h"

/*
 * X(NAME, value of x, y and alpha). Narrow kinds compute in the element's own type (f32 for
 * halves), where they are exact or rounded once; the wide ones compute in f64.
 */
#define NARROW_KINDS(X)                                                                            \
    X(SUM, x + y)                                                                                  \
    X(SUB, x - y)                                                                                  \
    X(MUL, (x * y))                                                                                \
    X(DIV, x / y)                                                                                  \
    X(MAXIMUM, x > y || x != x ? x : y)                                                            \
    X(MINIMUM, x < y || x != x ? x : y)

#define WIDE_KINDS(X)                                                                              \
    X(ADD, x + alpha * y)                                                                          \
    X(POW, pow(x, y))                                                                              \
    X(ATAN2, atan2(x, y))                                                                          \
    X(REMAINDER, python_remainder(x, y))                                                           \
    X(FMOD, fmod(x, y))                                                                            \
    X(BCE_WITH_LOGITS, (x > 0 ? x : 0) - x * y + log1p(exp(-fabs(x))))

#define BOOLEAN_KINDS(X)                                                                           \
    X(EQ, x == y)                                                                                  \
    X(NE, x != y)                                                                                  \
    X(LT, x < y)                                                                                   \
    X(LE, x <= y)                                                                                  \
    X(GT, x > y)                                                                                   \
    X(GE, x >= y)                                                                                  \
    X(LOGICAL_AND, (x != 0) & (y != 0))                                                            \
    X(LOGICAL_OR, (x != 0) | (y != 0))                                                             \
    X(LOGICAL_XOR, (x != 0) ^ (y != 0))

/* Integers: x, y and alpha are i64. */
#define INTEGER_KINDS(X)                                                                           \
    X(ADD, ref_wrap_add(x, ref_wrap_mul(alpha, y)))                                                \
    X(SUB, ref_wrap_sub(x, y))                                                                     \
    X(MUL, ref_wrap_mul(x, y))                                                                     \
    X(DIV, floor_divide(x, y))                                                                     \
    X(POW, integer_power(x, y))                                                                    \
    X(MAXIMUM, x > y ? x : y)                                                                      \
    X(MINIMUM, x < y ? x : y)                                                                      \
    X(REMAINDER, ref_wrap_sub(x, ref_wrap_mul(floor_divide(x, y), y)) * (y != 0))                  \
    X(FMOD, y == 0 || y == -1 ? 0 : x % y)

#define BIT_KINDS(X)                                                                               \
    X(MAXIMUM, x | y)                                                                              \
    X(MINIMUM, (x & y))

/* SUM is ADD without alpha, the common case. */
enum { AXLE_BINARY_SUM = 0 };

#define ONE(...) +1
_Static_assert(NARROW_KINDS(ONE) WIDE_KINDS(ONE) BOOLEAN_KINDS(ONE) == AXLE_BINARY_LIMIT,
               "every binary kind is in one list");

static inline double python_remainder(double x, double y)
{
    const double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static inline int64_t floor_divide(int64_t x, int64_t y)
{
    if (y == 0)
        return 0;
    if (y == -1)
        return ref_wrap_sub(0, x);
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static inline int64_t integer_power(int64_t x, int64_t y)
{
    int64_t power = y >= 0;
    for (; y > 0; y /= 2) {
        if (y % 2)
            power = ref_wrap_mul(power, x);
        x = ref_wrap_mul(x, x);
    }
    return power;
}

#define LOOP(name, To, From, C, convert, get, put, value)                                          \
    static inline To name##_of(From left, From right, C alpha)                                     \
    {                                                                                              \
        const C x = get(left), y = get(right);                                                     \
        (void)alpha;                                                                               \
        return put(value);                                                                         \
    }                                                                                              \
    REF_LOOP_2(name, To, From, const axle_binary_attrs *attrs = span->attrs;                       \
               const C alpha = convert(attrs->alpha), name##_of(x, y, alpha))

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
#define BIT_LOOPS(NAME, value) REF_BOOLEANS(INTEGER_LOOP, NAME, value)
NARROW_KINDS(NARROW_LOOPS)
WIDE_KINDS(WIDE_LOOPS)
BOOLEAN_KINDS(BOOLEAN_LOOPS)
INTEGER_KINDS(INTEGER_LOOPS)
BIT_KINDS(BIT_LOOPS)

#define ENTRY(F, f, T, C, NAME) [AXLE_BINARY_##NAME][AXLE_DTYPE_##F] = NAME##_##f,
#define FLOAT_ENTRIES(NAME, value) REF_FLOATS(ENTRY, NAME)
#define TYPE_ENTRIES(NAME, value) REF_TYPES(ENTRY, NAME)
#define INTEGER_ENTRIES(NAME, value) REF_INTEGERS(ENTRY, NAME)
#define BIT_ENTRIES(NAME, value) REF_BOOLEANS(ENTRY, NAME)
static const ref_loop loops[AXLE_BINARY_LIMIT][REF_DTYPE_LIMIT] = {
    NARROW_KINDS(FLOAT_ENTRIES) WIDE_KINDS(FLOAT_ENTRIES) BOOLEAN_KINDS(TYPE_ENTRIES)
        INTEGER_KINDS(INTEGER_ENTRIES) BIT_KINDS(BIT_ENTRIES)};

#define BOOLEAN_FLAG(NAME, value) [AXLE_BINARY_##NAME] = 1,
static const uint8_t gives_boolean[AXLE_BINARY_LIMIT] = {BOOLEAN_KINDS(BOOLEAN_FLAG)};

static ref_loop choose_binary(const axle_op_desc *desc)
{
    const axle_binary_attrs *attrs = desc->attrs;
    const axle_view *a = desc->in[0], *b = desc->in[1], *y = desc->out[0];
    const uint32_t kind = attrs->kind;
    if (kind == 0 || kind >= AXLE_BINARY_LIMIT || !ref_is(a, REF_ANY_MASK) || !ref_same(a, b) || !y)
        return NULL;
    if (y->dtype != (gives_boolean[kind] ? (uint32_t)AXLE_DTYPE_BOOL : a->dtype))
        return NULL;
    if (kind == AXLE_BINARY_ADD && attrs->alpha == 1 && ref_is(a, REF_FLOAT_MASK))
        return loops[AXLE_BINARY_SUM][a->dtype];
    return loops[kind][a->dtype];
}

const ref_elementwise ref_elementwise_binary[] = {{AXLE_OP_BINARY, choose_binary}, {0, NULL}};
