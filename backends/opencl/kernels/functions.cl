/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one real number, each written so that no digit cancels. */
#define SQRT1_2 R(0.70710678118654752440)
#define ONE_SQRT2PI R(0.39894228040143267794)
#define TWO_SQRTPI R(1.12837916709551257390)
#define SQRT2_PI R(0.79788456080286535588)
#define LN2 R(0.69314718055994530942)
#define LN10 R(2.30258509299404568402)

static real f_clip(real x, real low, real high)
{
    const real raised = low > x ? low : x;
    return high < raised ? high : raised;
}
static real f_sigmoid(real x)
{
    return R(1.0) / (R(1.0) + exp(-x));
}
static real f_log1p_exp(real x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}
static real f_silu(real x)
{
    return x * f_sigmoid(x);
}
static real f_gelu(real x)
{
    return R(0.5) * x * erfc(-x * SQRT1_2);
}
static real f_gelu_tanh_argument(real x)
{
    return R(2.0) * SQRT2_PI * (x + R(0.044715) * x * x * x);
}
static real f_gelu_tanh(real x)
{
    return x * f_sigmoid(f_gelu_tanh_argument(x));
}

/* What may follow a product: ACTIVATE(v) where a build defines ACTIVATION. */
#define ACTIVATION_NONE(x) (x)
#define ACTIVATION_RELU(x) ((x) < 0 ? 0 : (x))
#define ACTIVATION_GELU(x) f_gelu(x)
#define ACTIVATION_GELU_TANH(x) f_gelu_tanh(x)
#define ACTIVATION_SIGMOID(x) f_sigmoid(x)
#define ACTIVATION_TANH(x) tanh(x)
#define ACTIVATION_SILU(x) f_silu(x)
#define ACTIVATE(x) JOIN(ACTIVATION_, ACTIVATION)(x)
