/* SPDX-License-Identifier: Apache-2.0 */
/* SGD, ADAM and RMSPROP over n dense elements. Per-call values come in s, in the order in which
 * optimizer.c writes them; the first is the factor of the gradient. */
typedef struct scalars {
    real v[12];
} scalars;

/* Numbers: n, whether there is a momentum, nesterov. */
__kernel void sgd(TABLE, IN(REAL, grad), OUT(REAL, param), OUT(REAL, momentum), scalars s)
{
    ENTER;
    OPERAND(grad);
    OPERAND(param);
    OPERAND(momentum);
    const long i = get_global_id(0);
    const real scale = s.v[0], lr = s.v[1], rate = s.v[2], fresh = s.v[3], decay = s.v[4];
    if (i >= P[0])
        return;
    const real p = param[i];
    real g = scale * grad[i] + decay * p;
    if (P[1]) {
        const real m = s.v[5] != 0 ? g : rate * momentum[i] + fresh * g;
        momentum[i] = m;
        g = P[2] ? g + rate * m : m;
    }
    param[i] = p - lr * g;
}

/* Numbers: n, whether there is vmax. */
__kernel void adam(TABLE, IN(REAL, grad), OUT(REAL, param), OUT(REAL, m), OUT(REAL, v),
                   OUT(REAL, vmax), scalars s)
{
    ENTER;
    OPERAND(grad);
    OPERAND(param);
    OPERAND(m);
    OPERAND(v);
    OPERAND(vmax);
    const long i = get_global_id(0);
    if (i >= P[0])
        return;
    const real p = param[i], g = s.v[0] * grad[i] + s.v[1] * p;
    const real m_new = s.v[2] * m[i] + s.v[3] * g;
    const real v_new = s.v[4] * v[i] + s.v[5] * g * g;
    real largest = v_new;
    m[i] = m_new;
    v[i] = v_new;
    if (P[1]) {
        if (vmax[i] >= v_new)
            largest = vmax[i];
        else
            vmax[i] = v_new;
    }
    const real denominator = sqrt(largest) / s.v[6] + s.v[7];
    param[i] = s.v[8] * p - s.v[9] * m_new / denominator;
}

/* Numbers: n, whether there is a momentum, whether there is a mean. */
__kernel void rmsprop(TABLE, IN(REAL, grad), OUT(REAL, param), OUT(REAL, square),
                      OUT(REAL, momentum), OUT(REAL, mean), scalars s)
{
    ENTER;
    OPERAND(grad);
    OPERAND(param);
    OPERAND(square);
    OPERAND(momentum);
    OPERAND(mean);
    const long i = get_global_id(0);
    const real lr = s.v[1], alpha = s.v[2], fresh = s.v[3], eps = s.v[4];
    if (i >= P[0])
        return;
    const real p = param[i], g = s.v[0] * grad[i] + s.v[5] * p;
    wide variance = square[i] = alpha * square[i] + fresh * g * g;
    if (P[2]) {
        const real m = alpha * mean[i] + fresh * g;
        mean[i] = m;
        variance -= (wide)m * (wide)m;
        variance = variance < 0 ? 0 : variance;
    }
    real update = g / ((real)sqrt(variance) + eps);
    if (P[1])
        update = momentum[i] = s.v[6] * momentum[i] + update;
    param[i] = p - lr * update;
}
