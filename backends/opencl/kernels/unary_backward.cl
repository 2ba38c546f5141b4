/* SPDX-License-Identifier: Apache-2.0 */
/* UNARY_BACKWARD: g is dy, x or y the saved operand, a and b the attributes. */
#define SLOPE_NEG (-g)
#define SLOPE_AFFINE (a * g)
#define SLOPE_ABS ((real)((x > 0) - (x < 0)) * g)
#define SLOPE_SQUARE (2 * x * g)
#define SLOPE_SQRT (g / (2 * y))
#define SLOPE_RSQRT (R(-0.5) * g * y * y * y)
#define SLOPE_RECIPROCAL (-g * y * y)
#define SLOPE_EXP (g * y)
#define SLOPE_EXPM1 (g * (y + 1))
#define SLOPE_LOG (g / x)
#define SLOPE_LOG1P (g / (x + 1))
#define SLOPE_LOG2 (g / (x * LN2))
#define SLOPE_LOG10 (g / (x * LN10))
#define SLOPE_SIN (g * cos(x))
#define SLOPE_COS (-g * sin(x))
#define SLOPE_TAN (g * (1 + y * y))
#define SLOPE_ASIN (g / sqrt((1 - x) * (1 + x)))
#define SLOPE_ACOS (-g / sqrt((1 - x) * (1 + x)))
#define SLOPE_ATAN (g / (1 + x * x))
#define SLOPE_SINH (g * cosh(x))
#define SLOPE_COSH (g * sinh(x))
#define SLOPE_TANH (g * (1 - y) * (1 + y))
#define SLOPE_ERF (g * TWO_SQRTPI * exp(-x * x))
#define SLOPE_SIGMOID (g * y * (1 - y))
#define SLOPE_LOG_SIGMOID (g * f_sigmoid(-x))
#define SLOPE_RELU (y > 0 ? g : 0)
#define SLOPE_LEAKY_RELU (x > 0 ? g : a * g)
#define SLOPE_ELU (x > 0 ? g : g * a * exp(x))
#define SLOPE_GELU (g * gelu_slope(x))
#define SLOPE_GELU_TANH (g * gelu_tanh_slope(x))
#define SLOPE_SILU (g * silu_slope(x))
#define SLOPE_MISH (g * mish_slope(x))
#define SLOPE_SOFTPLUS (a * x > b ? g : g * f_sigmoid(a * x))
#define SLOPE_HARD_SIGMOID (x > -3 && x < 3 ? g / 6 : 0)
#define SLOPE_HARD_SWISH (x <= -3 ? 0 : x < 3 ? g * (x / 3 + R(0.5)) : g)
#define SLOPE_CLIP (x >= a && x <= b ? g : 0)
#define SLOPE_POW_SCALAR (a == 0 ? 0 : g * a * pow(x, a - 1))

static real gelu_slope(real x)
{
    return BELOW(x) + x * ONE_SQRT2PI * BELL(x);
}
static real gelu_tanh_slope(real x)
{
    const real p = f_sigmoid(f_gelu_tanh_argument(x));
    return p + x * p * (1 - p) * 2 * SQRT2_PI * (1 + 3 * R(0.044715) * x * x);
}
static real silu_slope(real x)
{
    const real p = f_sigmoid(x);
    return p * (1 + x * (1 - p));
}
static real mish_slope(real x)
{
    const real t = tanh(f_log1p_exp(x));
    return t + x * f_sigmoid(x) * (1 - t) * (1 + t);
}

/* Numbers: count, whether there is a saved operand, map of dy, saved and dx. */
__kernel void unary_backward(TABLE, IN(TX, pg), IN(TX, ps), OUT(TX, pd), real a, real b)
{
    ENTER;
    OPERAND(pg);
    OPERAND(ps);
    OPERAND(pd);
    FOR_EACH(i, P[0])
    {
#ifdef DENSE
        const long ig = i, is = i, id = i;
#else
        const long ig = map_place(P + 2, 0, i), is = map_place(P + 2, 1, i);
        const long id = map_place(P + 2, 2, i);
#endif
        const real g = LOAD(TX, pg, ig);
        const real x = P[1] ? LOAD(TX, ps, is) : 0, y = x;
        STORE(TX, pd, id, SELECT(SLOPE_, KIND));
    }
}
