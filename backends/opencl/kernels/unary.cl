/* SPDX-License-Identifier: Apache-2.0 */
/* UNARY: KIND names the function, CLASS its family (FLOAT, INTEGER or TRUTH), TX and TY types. */
#define FLOAT_NEG (-x)
#define FLOAT_ABS fabs(x)
#define FLOAT_SIGN ((NUMBER(TX))((x > 0) - (x < 0)))
#define FLOAT_SQUARE (x * x)
#define FLOAT_RECIPROCAL (R(1.0) / x)
#define FLOAT_RELU (x < 0 ? 0 : x)
#define FLOAT_CLIP f_clip(x, a, b)
#define FLOAT_FLOOR floor(x)
#define FLOAT_CEIL ceil(x)
#define FLOAT_ROUND rint(x)
#define FLOAT_TRUNC trunc(x)
#define FLOAT_SQRT sqrt(x)
#define FLOAT_RSQRT (R(1.0) / sqrt(x))
#define FLOAT_EXP exp(x)
#define FLOAT_EXPM1 expm1(x)
#define FLOAT_LOG log(x)
#define FLOAT_LOG1P log1p(x)
#define FLOAT_LOG2 log2(x)
#define FLOAT_LOG10 log10(x)
#define FLOAT_SIN sin(x)
#define FLOAT_COS cos(x)
#define FLOAT_TAN tan(x)
#define FLOAT_ASIN asin(x)
#define FLOAT_ACOS acos(x)
#define FLOAT_ATAN atan(x)
#define FLOAT_SINH sinh(x)
#define FLOAT_COSH cosh(x)
#define FLOAT_TANH tanh(x)
#define FLOAT_ERF erf(x)
#define FLOAT_SIGMOID f_sigmoid(x)
#define FLOAT_LOG_SIGMOID ((x < 0 ? x : 0) - log1p(exp(-fabs(x))))
#define FLOAT_LEAKY_RELU (x > 0 ? x : a * x)
#define FLOAT_ELU (x > 0 ? x : a * expm1(x))
#define FLOAT_GELU f_gelu(x)
#define FLOAT_GELU_TANH f_gelu_tanh(x)
#define FLOAT_SILU f_silu(x)
#define FLOAT_MISH (x * tanh(f_log1p_exp(x)))
#define FLOAT_SOFTPLUS (a * x > b ? x : f_log1p_exp(a * x) / a)
#define FLOAT_HARD_SIGMOID (f_clip(x + R(3.0), 0, R(6.0)) / R(6.0))
#define FLOAT_HARD_SWISH (x * f_clip(x + R(3.0), 0, R(6.0)) / R(6.0))
#define FLOAT_AFFINE (a * x + b)
#define FLOAT_POW_SCALAR pow(x, a)

#define TRUTH_LOGICAL_NOT (x == 0)
#define TRUTH_IS_NAN (x != x)
#define TRUTH_IS_INF (x - x != 0 && x == x)
#define TRUTH_IS_FINITE (x - x == 0)

/* Integers wrap: arithmetic is that of ulong. */
#define INTEGER_NEG ((long)(0 - (ulong)x))
#define INTEGER_ABS (x < 0 ? (long)(0 - (ulong)x) : x)
#define INTEGER_SIGN ((long)(x > 0) - (long)(x < 0))
#define INTEGER_SQUARE ((long)((ulong)x * (ulong)x))
#define INTEGER_RELU (x < 0 ? 0 : x)
#define INTEGER_CLIP min(max(x, ia), ib)
#define INTEGER_AFFINE ((long)((ulong)ia * (ulong)x + (ulong)ib))
#define INTEGER_FLOOR x
#define INTEGER_CEIL x
#define INTEGER_ROUND x
#define INTEGER_TRUNC x

/* Numbers: count, a and b as integers, map of x and y. */
__kernel void unary(TABLE, IN(TX, px), OUT(TY, py), real a, real b)
{
    ENTER;
    OPERAND(px);
    OPERAND(py);
    const long ia = P[1], ib = P[2];
    FOR_EACH(i, P[0])
    {
#ifdef DENSE
        const long ix = i, iy = i;
#else
        const long ix = map_place(P + 3, 0, i), iy = map_place(P + 3, 1, i);
#endif
        const NUMBER(TX) x = LOAD(TX, px, ix);
        STORE(TY, py, iy, SELECT(CLASS, KIND));
    }
}
