/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise functions of two tensors, which broadcast, and the choice between two. */
#include "autograd/autocast.h"
#include "autograd/node.h"
#include "autograd/ops.h"
#include "tensor/elementwise.h"
#include "tensor/reduce.h"

/* What a rule keeps besides tensors: dims to which gradients are summed back. */
typedef struct binary_attrs {
    double alpha;
    int rank[2];
    int64_t dims[2][AXLE_MAX_RANK];
} binary_attrs;

static binary_attrs attrs_of(double alpha, const axle_tensor *a, const axle_tensor *b)
{
    binary_attrs attrs = {.alpha = alpha, .rank = {axle__rank(a), axle__rank(b)}};
    for (int k = 0; k < AXLE_MAX_RANK; k++) {
        attrs.dims[0][k] = a->view.dim[k];
        attrs.dims[1][k] = b->view.dim[k];
    }
    return attrs;
}

/* Give the gradient of operand k, in the dims of the result, back to the operand. */
static int give(const axle__node *node, int k, axle_tensor *g, axle_tensor **dx)
{
    const binary_attrs *attrs = node->attrs;
    dx[k] = axle__sum_to(g, attrs->rank[k], attrs->dims[k]);
    return axle__given(dx[k]);
}

/* Derivatives by a and by b: gradients in the dims of the result. */
typedef struct derivative {
    axle_tensor *(*by_a)(const axle__node *node, axle_tensor *dy, axle_tensor *a, axle_tensor *b);
    axle_tensor *(*by_b)(const axle__node *node, axle_tensor *dy, axle_tensor *a, axle_tensor *b);
} derivative;

#define DERIVATIVE(name)                                                                           \
    static axle_tensor *name(const axle__node *node, axle_tensor *dy, axle_tensor *a,              \
                             axle_tensor *b)

DERIVATIVE(pass_on)
{
    (void)node, (void)a, (void)b;
    return dy;
}
DERIVATIVE(scaled)
{
    (void)a, (void)b;
    double alpha = ((const binary_attrs *)node->attrs)->alpha;
    return alpha == 1.0 ? dy : axle_mul_scalar(dy, alpha);
}
DERIVATIVE(negated)
{
    (void)node, (void)a, (void)b;
    return axle_neg(dy);
}
DERIVATIVE(times_a)
{
    (void)node, (void)b;
    return axle_mul(dy, a);
}
DERIVATIVE(times_b)
{
    (void)node, (void)a;
    return axle_mul(dy, b);
}
DERIVATIVE(div_by_a)
{
    (void)node, (void)a;
    return axle_div(dy, b);
}
DERIVATIVE(div_by_b)
{
    (void)node;
    return axle_neg(axle_div(axle_mul(dy, axle_div(a, b)), b));
}
/* b * a^(b-1), and 0 where b is 0 (whatever a is). */
DERIVATIVE(pow_by_a)
{
    (void)node;
    axle_tensor *zero = axle__constant(b, 0.0);
    axle_tensor *slope = axle_mul(b, axle_pow(a, axle_add_scalar(b, -1.0)));
    return axle_mul(dy, axle_where(axle_eq(b, zero), zero, slope));
}
/* a^b * log(a), and 0 where a is 0 and b >= 0. */
DERIVATIVE(pow_by_b)
{
    (void)node;
    axle_tensor *zero = axle__constant(b, 0.0);
    axle_tensor *flat = axle_logical_and(axle_eq(a, zero), axle_ge(b, zero));
    return axle_mul(dy, axle_where(flat, zero, axle_mul(axle_pow(a, b), axle_log(a))));
}
/* Half to each side where both are equal. */
static axle_tensor *extreme(axle_tensor *dy, axle_tensor *chosen, axle_tensor *equal)
{
    axle_tensor *zero = axle__constant(dy, 0.0);
    return axle_where(equal, axle_mul_scalar(dy, 0.5), axle_where(chosen, dy, zero));
}
DERIVATIVE(max_by_a)
{
    (void)node;
    return extreme(dy, axle_gt(a, b), axle_eq(a, b));
}
DERIVATIVE(max_by_b)
{
    (void)node;
    return extreme(dy, axle_lt(a, b), axle_eq(a, b));
}
DERIVATIVE(min_by_a)
{
    return max_by_b(node, dy, a, b);
}
DERIVATIVE(min_by_b)
{
    return max_by_a(node, dy, a, b);
}
DERIVATIVE(atan2_by_a)
{
    (void)node;
    return axle_mul(dy, axle_div(b, axle_add(axle_square(a), axle_square(b))));
}
DERIVATIVE(atan2_by_b)
{
    (void)node;
    return axle_neg(axle_mul(dy, axle_div(a, axle_add(axle_square(a), axle_square(b)))));
}
DERIVATIVE(remainder_by_b)
{
    (void)node;
    return axle_neg(axle_mul(dy, axle_floor(axle_div(a, b))));
}
DERIVATIVE(fmod_by_b)
{
    (void)node;
    return axle_neg(axle_mul(dy, axle_trunc(axle_div(a, b))));
}
DERIVATIVE(bce_by_logit)
{
    (void)node;
    return axle_mul(dy, axle_sub(axle_sigmoid(a), b));
}
DERIVATIVE(bce_by_target)
{
    (void)node, (void)b;
    return axle_neg(axle_mul(dy, a));
}

static const derivative derivatives[AXLE_BINARY_LIMIT] = {
    [AXLE_BINARY_ADD] = {pass_on, scaled},
    [AXLE_BINARY_SUB] = {pass_on, negated},
    [AXLE_BINARY_MUL] = {times_b, times_a},
    [AXLE_BINARY_DIV] = {div_by_a, div_by_b},
    [AXLE_BINARY_POW] = {pow_by_a, pow_by_b},
    [AXLE_BINARY_MAXIMUM] = {max_by_a, max_by_b},
    [AXLE_BINARY_MINIMUM] = {min_by_a, min_by_b},
    [AXLE_BINARY_ATAN2] = {atan2_by_a, atan2_by_b},
    [AXLE_BINARY_REMAINDER] = {pass_on, remainder_by_b},
    [AXLE_BINARY_FMOD] = {pass_on, fmod_by_b},
    [AXLE_BINARY_BCE_WITH_LOGITS] = {bce_by_logit, bce_by_target},
};

static int apply_derivative(axle__node *node, const derivative *d, axle_tensor *const *dy,
                            axle_tensor **dx)
{
    axle_tensor *a = axle__saved(node, 0), *b = axle__saved(node, 1);
    int status = AXLE_OK;
    if (axle__wanted(node, 0))
        status = give(node, 0, d->by_a(node, dy[0], a, b), dx);
    if (!status && axle__wanted(node, 1))
        status = give(node, 1, d->by_b(node, dy[0], a, b), dx);
    return status;
}

#define BACKWARD(number, id, text, result)                                                         \
    static int backward_##id(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)           \
    {                                                                                              \
        return apply_derivative(node, &derivatives[number], dy, dx);                               \
    }
AXLE_BINARY_LIST(BACKWARD)

static const axle__rule rules[AXLE_BINARY_LIMIT] = {
#define RULE(number, id, text, result) [number] = {text, backward_##id, NULL},
    AXLE_BINARY_LIST(RULE)
#undef RULE
};

/* add and sub need no operand for their gradients. */
static bool keeps_operands(uint32_t kind)
{
    return kind != AXLE_BINARY_ADD && kind != AXLE_BINARY_SUB;
}

/* Whether a kind has the element type of its operands. */
static int check_type(uint32_t kind, const axle_tensor *a)
{
    if (kind == AXLE_BINARY_ATAN2)
        return axle__check_float(axle__binary_name(kind), a);
    if (axle__dtype(a) != AXLE_DTYPE_BOOL || axle__binary_is_boolean(kind) ||
        kind == AXLE_BINARY_MAXIMUM || kind == AXLE_BINARY_MINIMUM)
        return AXLE_OK;
    return axle__check_number(axle__binary_name(kind), a);
}

static axle_tensor *binary(uint32_t kind, double alpha, axle_tensor *a, axle_tensor *b)
{
    int policy = kind == AXLE_BINARY_POW ? AXLE__AUTOCAST_pow : AXLE__AUTOCAST_binary;
    if (!axle__autocast(policy, (axle_tensor * *const[]){&a, &b, NULL}) || !a || !b ||
        check_type(kind, a))
        return NULL;
    axle_tensor *y = axle__binary(kind, alpha, a, b);
    axle_tensor *in[] = {a, b};
    if (!y || !derivatives[kind].by_a || !axle__recording(in, 2))
        return y;
    axle_tensor *none[] = {NULL, NULL};
    binary_attrs attrs = attrs_of(alpha, a, b);
    return axle__record(&rules[kind], y, in, 2, keeps_operands(kind) ? in : none, 2, &attrs,
                        sizeof(attrs));
}

#define PLAIN_LIST(X)                                                                              \
    X(ADD, add)                                                                                    \
    X(SUB, sub)                                                                                    \
    X(MUL, mul)                                                                                    \
    X(DIV, div)                                                                                    \
    X(POW, pow)                                                                                    \
    X(MAXIMUM, maximum)                                                                            \
    X(MINIMUM, minimum)                                                                            \
    X(ATAN2, atan2)                                                                                \
    X(REMAINDER, remainder)                                                                        \
    X(FMOD, fmod)                                                                                  \
    X(EQ, eq)                                                                                      \
    X(NE, ne)                                                                                      \
    X(LT, lt)                                                                                      \
    X(LE, le)                                                                                      \
    X(GT, gt)                                                                                      \
    X(GE, ge)                                                                                      \
    X(LOGICAL_AND, logical_and)                                                                    \
    X(LOGICAL_OR, logical_or)                                                                      \
    X(LOGICAL_XOR, logical_xor)

#define PLAIN(id, name)                                                                            \
    axle_tensor *axle_##name(axle_tensor *a, axle_tensor *b)                                       \
    {                                                                                              \
        return binary(AXLE_BINARY_##id, 1.0, a, b);                                                \
    }
PLAIN_LIST(PLAIN)

axle_tensor *axle_add_scaled(axle_tensor *a, axle_tensor *b, double alpha)
{
    return binary(AXLE_BINARY_ADD, alpha, a, b);
}

axle_tensor *axle__bce_with_logits(axle_tensor *logits, axle_tensor *target)
{
    return binary(AXLE_BINARY_BCE_WITH_LOGITS, 1.0, logits, target);
}

/* ------------------------------------------------------------------ where */

static int where_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    axle_tensor *condition = axle__saved(node, 0);
    axle_tensor *zero = axle__constant(dy[0], 0.0);
    int status = axle__given(zero);
    if (!status && axle__wanted(node, 0))
        status = give(node, 0, axle_where(condition, dy[0], zero), dx);
    if (!status && axle__wanted(node, 1))
        status = give(node, 1, axle_where(condition, zero, dy[0]), dx);
    return status;
}

static const axle__rule where_rule = {"where", where_backward, NULL};

axle_tensor *axle_where(axle_tensor *condition, axle_tensor *a, axle_tensor *b)
{
    if (!AXLE__AUTOCAST(where, &a, &b) || !condition || !a || !b)
        return NULL;
    axle_tensor *in[] = {a, b};
    binary_attrs attrs = attrs_of(1.0, a, b);
    return axle__record(&where_rule, axle__choose(condition, a, b), in, 2, &condition, 1, &attrs,
                        sizeof(attrs));
}
