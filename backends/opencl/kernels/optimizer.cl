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

/*
 * Numbers: n, whether there is vmax, elements of a work-item. ADAM(T, GET, SET) does as many
 * elements as T holds, from i on.
 */
#define ADAM(T, GET, SET)                                                                          \
    {                                                                                              \
        const T p = GET(param), g = s.v[0] * GET(grad) + s.v[1] * p;                               \
        const T m_new = s.v[2] * GET(m) + s.v[3] * g;                                              \
        T largest = s.v[4] * GET(v) + s.v[5] * g * g;                                              \
        SET(m_new, m);                                                                             \
        SET(largest, v);                                                                           \
        if (P[1]) {                                                                                \
            const T before = GET(vmax);                                                            \
            largest = before >= largest ? before : largest;                                        \
            SET(largest, vmax);                                                                    \
        }                                                                                          \
        SET(s.v[8] * p - s.v[9] * m_new / (sqrt(largest) / s.v[6] + s.v[7]), param);               \
    }
#define vector_f32 float8
#define vector_f64 double8
#define GET_ONE(p) p[i]
#define SET_ONE(x, p) p[i] = (x)
#define GET_8(p) vload8(0, p + i)
#define SET_8(x, p) vstore8(x, 0, p + i)
__kernel void adam(TABLE, IN(REAL, grad), OUT(REAL, param), OUT(REAL, m), OUT(REAL, v),
                   OUT(REAL, vmax), scalars s)
{
    ENTER;
    OPERAND(grad);
    OPERAND(param);
    OPERAND(m);
    OPERAND(v);
    OPERAND(vmax);
    long i = (long)get_global_id(0) * P[2];
    const long last = min(i + P[2], P[0]);
    for (; i + 8 <= last; i += 8)
        ADAM(JOIN(vector_, REAL), GET_8, SET_8)
    for (; i < last; i++)
        ADAM(real, GET_ONE, SET_ONE)
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
