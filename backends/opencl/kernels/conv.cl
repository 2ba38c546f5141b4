/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions over three spatial dims (leading ones of size 1 are added), an element of the
 * result a work-item.
 *
 * Numbers: samples, groups, inputs a group, outputs a group, sizes of input, output and kernel (3
 * each), stride, pad, dilation (3 each), strides of x, w and y (5 each), bias' presence and stride.
 */
#define SAMPLES P[0]
#define GROUPS P[1]
#define INPUTS P[2]
#define OUTPUTS P[3]
#define IN_DIM(d) P[4 + (d)]
#define OUT_DIM(d) P[7 + (d)]
#define KERNEL(d) P[10 + (d)]
#define STRIDE(d) P[13 + (d)]
#define PAD(d) P[16 + (d)]
#define DILATION(d) P[19 + (d)]
#define X_STEP(d) P[22 + (d)]
#define W_STEP(d) P[27 + (d)]
#define Y_STEP(d) P[32 + (d)]
#define BIAS_AT(o) ((o)*P[38])
#define HAS_BIAS P[37]

/* Numbers that follow: chunks, (sample, position) pairs of a chunk; presence and stride of db. */
#define CHUNKS P[39]
#define EACH P[40]

#define PLACE(id, DIM)                                                                             \
    const long p2 = (id) % DIM(2), p1 = (id) / DIM(2) % DIM(1);                                    \
    const long p0 = (id) / DIM(2) / DIM(1) % DIM(0)

#if NEEDED(conv)
__kernel void conv(TABLE, IN(TX, x), IN(TX, w), IN(TX, bias), OUT(TX, y))
{
    ENTER;
    OPERAND(x);
    OPERAND(w);
    OPERAND(bias);
    OPERAND(y);
    const long id = get_global_id(0), plane = OUT_DIM(0) * OUT_DIM(1) * OUT_DIM(2);
    const long outputs = GROUPS * OUTPUTS;
    if (id >= SAMPLES * outputs * plane)
        return;
    PLACE(id, OUT_DIM);
    const long o = id / plane % outputs, n = id / plane / outputs, g = o / OUTPUTS;
    wide sum = 0;
    for (long c = 0; c < INPUTS; c++)
        for (long a = 0; a < KERNEL(0); a++) {
            const long i0 = p0 * STRIDE(0) - PAD(0) + a * DILATION(0);
            if (i0 < 0 || i0 >= IN_DIM(0))
                continue;
            for (long b = 0; b < KERNEL(1); b++) {
                const long i1 = p1 * STRIDE(1) - PAD(1) + b * DILATION(1);
                if (i1 < 0 || i1 >= IN_DIM(1))
                    continue;
                const long ix = n * X_STEP(0) + (g * INPUTS + c) * X_STEP(1) + i0 * X_STEP(2) +
                                i1 * X_STEP(3);
                const long iw =
                    o * W_STEP(0) + c * W_STEP(1) + a * W_STEP(2) + b * W_STEP(3);
                for (long k = 0; k < KERNEL(2); k++) {
                    const long i2 = p2 * STRIDE(2) - PAD(2) + k * DILATION(2);
                    if (i2 >= 0 && i2 < IN_DIM(2))
                        sum += (wide)LOAD(TX, x, ix + i2 * X_STEP(4)) *
                               (wide)LOAD(TX, w, iw + k * W_STEP(4));
                }
            }
        }
    real v = (real)sum;
    if (HAS_BIAS)
        v += LOAD(TX, bias, BIAS_AT(o));
    STORE(TX, y,
          n * Y_STEP(0) + o * Y_STEP(1) + p0 * Y_STEP(2) + p1 * Y_STEP(3) + p2 * Y_STEP(4),
          ACTIVATE(v));
}
#endif

/* x and y are gradients. Input q met output p through tap k where p * stride = q + pad - k *
 * dilation. */
#if NEEDED(conv_backward_data)
__kernel void conv_backward_data(TABLE, IN(TX, y), IN(TX, w), IN(TX, bias), OUT(TX, x))
{
    ENTER;
    OPERAND(y);
    OPERAND(w);
    OPERAND(bias);
    OPERAND(x);
    const long id = get_global_id(0), plane = IN_DIM(0) * IN_DIM(1) * IN_DIM(2);
    const long inputs = GROUPS * INPUTS;
    if (id >= SAMPLES * inputs * plane)
        return;
    PLACE(id, IN_DIM);
    const long ci = id / plane % inputs, n = id / plane / inputs;
    const long g = ci / INPUTS, c = ci % INPUTS;
    wide sum = 0;
    for (long a = 0; a < KERNEL(0); a++) {
        const long t0 = p0 + PAD(0) - a * DILATION(0);
        if (t0 < 0 || t0 % STRIDE(0) != 0 || t0 / STRIDE(0) >= OUT_DIM(0))
            continue;
        for (long b = 0; b < KERNEL(1); b++) {
            const long t1 = p1 + PAD(1) - b * DILATION(1);
            if (t1 < 0 || t1 % STRIDE(1) != 0 || t1 / STRIDE(1) >= OUT_DIM(1))
                continue;
            for (long k = 0; k < KERNEL(2); k++) {
                const long t2 = p2 + PAD(2) - k * DILATION(2);
                if (t2 < 0 || t2 % STRIDE(2) != 0 || t2 / STRIDE(2) >= OUT_DIM(2))
                    continue;
                const long iy = n * Y_STEP(0) + t0 / STRIDE(0) * Y_STEP(2) +
                                t1 / STRIDE(1) * Y_STEP(3) + t2 / STRIDE(2) * Y_STEP(4);
                const long iw = c * W_STEP(1) + a * W_STEP(2) + b * W_STEP(3) + k * W_STEP(4);
                for (long o = g * OUTPUTS; o < (g + 1) * OUTPUTS; o++)
                    sum += (wide)LOAD(TX, y, iy + o * Y_STEP(1)) *
                           (wide)LOAD(TX, w, iw + o * W_STEP(0));
            }
        }
    }
    real v = (real)sum;
    if (HAS_BIAS)
        v += LOAD(TX, bias, BIAS_AT(ci));
    STORE(TX, x,
          n * X_STEP(0) + ci * X_STEP(1) + p0 * X_STEP(2) + p1 * X_STEP(3) + p2 * X_STEP(4), v);
}
#endif

/* Pieces (weights, chunks) over chunks of the (sample, position) pairs. */
#if NEEDED(conv_backward_weight)
__kernel void conv_backward_weight(TABLE, IN(TX, y), IN(TX, x), OUT(WIDE, piece))
{
    ENTER;
    OPERAND(y);
    OPERAND(x);
    OPERAND(piece);
    const long taps = KERNEL(0) * KERNEL(1) * KERNEL(2), id = get_global_id(0);
    const long weights = GROUPS * OUTPUTS * INPUTS * taps, chunk = id % CHUNKS, e = id / CHUNKS;
    if (e >= weights)
        return;
    PLACE(e, KERNEL);
    const long c = e / taps % INPUTS, o = e / taps / INPUTS, g = o / OUTPUTS;
    const long plane = OUT_DIM(0) * OUT_DIM(1) * OUT_DIM(2);
    const long last = min((chunk + 1) * EACH, SAMPLES * plane);
    const long ix = (g * INPUTS + c) * X_STEP(1), iy = o * Y_STEP(1);
    wide sum = 0;
    for (long i = chunk * EACH; i < last; i++) {
        const long n = i / plane, q2 = i % OUT_DIM(2), q1 = i / OUT_DIM(2) % OUT_DIM(1);
        const long q0 = i / OUT_DIM(2) / OUT_DIM(1) % OUT_DIM(0);
        const long i0 = q0 * STRIDE(0) - PAD(0) + p0 * DILATION(0);
        const long i1 = q1 * STRIDE(1) - PAD(1) + p1 * DILATION(1);
        const long i2 = q2 * STRIDE(2) - PAD(2) + p2 * DILATION(2);
        if (i0 < 0 || i0 >= IN_DIM(0) || i1 < 0 || i1 >= IN_DIM(1) || i2 < 0 || i2 >= IN_DIM(2))
            continue;
        sum += (wide)LOAD(TX, x, ix + n * X_STEP(0) + i0 * X_STEP(2) + i1 * X_STEP(3) +
                                     i2 * X_STEP(4)) *
               (wide)LOAD(TX, y, iy + n * Y_STEP(0) + q0 * Y_STEP(2) + q1 * Y_STEP(3) +
                                     q2 * Y_STEP(4));
    }
    piece[id] = sum;
}
#endif

/* The weight's gradient from its pieces. */
#if NEEDED(conv_join_weight)
__kernel void conv_join_weight(TABLE, IN(WIDE, piece), OUT(TX, w))
{
    ENTER;
    OPERAND(piece);
    OPERAND(w);
    const long taps = KERNEL(0) * KERNEL(1) * KERNEL(2), e = get_global_id(0);
    if (e >= GROUPS * OUTPUTS * INPUTS * taps)
        return;
    PLACE(e, KERNEL);
    const long c = e / taps % INPUTS, o = e / taps / INPUTS;
    total t = {0, 0};
    for (long k = 0; k < CHUNKS; k++)
        TOTAL_ADD(t, piece[e * CHUNKS + k]);
    STORE(TX, w,
          o * W_STEP(0) + c * W_STEP(1) + p0 * W_STEP(2) + p1 * W_STEP(3) + p2 * W_STEP(4),
          (real)TOTAL(t));
}
#endif

/* Pieces (outputs, chunks) of the bias' gradient, over chunks of the (sample, position) pairs. */
#define LANE(j) ((wide)LOAD(TX, y, at + k + (j)))
#if NEEDED(conv_backward_bias)
__kernel void conv_backward_bias(TABLE, IN(TX, y), OUT(WIDE, piece))
{
    ENTER;
    OPERAND(y);
    OPERAND(piece);
    const long id = get_global_id(0), chunk = id % CHUNKS, o = id / CHUNKS;
    if (o >= GROUPS * OUTPUTS)
        return;
    const long plane = OUT_DIM(0) * OUT_DIM(1) * OUT_DIM(2);
    const long last = min((chunk + 1) * EACH, SAMPLES * plane);
    total t = {0, 0};
    long i = chunk * EACH;
    PLACE(i, OUT_DIM);
    long n = i / plane, q0 = p0, q1 = p1, q2 = p2;
#if defined(HAVE_F64) && !defined(COMPENSATE)
    double8 lanes = 0;
#endif
    while (i < last) {
        const long run = min(OUT_DIM(2) - q2, last - i);
        const long at = n * Y_STEP(0) + o * Y_STEP(1) + q0 * Y_STEP(2) + q1 * Y_STEP(3);
        long k = q2;
#if defined(HAVE_F64) && !defined(COMPENSATE)
        /* Eight sums at once, since each addition waits for the one before. */
        if (Y_STEP(4) == 1)
            for (; k + 8 <= q2 + run; k += 8)
                lanes += (double8)(LANE(0), LANE(1), LANE(2), LANE(3), LANE(4), LANE(5), LANE(6),
                                   LANE(7));
#endif
        for (; k < q2 + run; k++)
            TOTAL_ADD(t, (wide)LOAD(TX, y, at + k * Y_STEP(4)));
        i += run;
        q2 = 0;
        q1 = q1 + 1 == OUT_DIM(1) ? 0 : q1 + 1;
        q0 = q1 > 0 ? q0 : q0 + 1 == OUT_DIM(0) ? 0 : q0 + 1;
        n += q1 == 0 && q0 == 0;
    }
#if defined(HAVE_F64) && !defined(COMPENSATE)
    const double4 four = lanes.lo + lanes.hi;
    TOTAL_ADD(t, four.x + four.y + four.z + four.w);
#endif
    piece[id] = TOTAL(t);
}
#endif

#if NEEDED(conv_join_bias)
__kernel void conv_join_bias(TABLE, IN(WIDE, piece), OUT(TX, db))
{
    ENTER;
    OPERAND(piece);
    OPERAND(db);
    const long o = get_global_id(0);
    if (o >= GROUPS * OUTPUTS)
        return;
    total t = {0, 0};
    for (long k = 0; k < CHUNKS; k++)
        TOTAL_ADD(t, piece[o * CHUNKS + k]);
    STORE(TX, db, o * P[41], (real)TOTAL(t));
}
#endif
