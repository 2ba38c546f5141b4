/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalisation. The elements of x form sets, each with a mean and a standard deviation; element e
 * of set s belongs to channel (s % G) * C + e / plane, whose gamma and beta it gets. LAYER_NORM,
 * BATCH_NORM and GROUP_NORM differ in how they fill these numbers. RMS leaves the mean at 0.
 *
 * Sums over a set or channel are taken in chunks, (items, chunks), and joined in their order.
 */

/* Numbers that every kernel here has: sets, elements of a set, G, C, plane, chunks, elements of a
 * chunk, map (set dims, then element dims) of x, y or dy, dx. */
#define SETS P[0]
#define N P[1]
#define CHANNEL(s, e) ((s) % P[2] * P[3] + (e) / P[4])
#define CHUNKS P[5]
#define EACH P[6]
#define MAP (P + 7)

#define CHUNK_HEAD                                                                                 \
    const long id = get_global_id(0);                                                              \
    if (id >= SETS * CHUNKS)                                                                       \
        return;                                                                                    \
    const long s = id / CHUNKS, chunk = id % CHUNKS;                                               \
    const long first = chunk * EACH, last = min(first + EACH, N)

static wide join_chunks(__global const wide *piece, long from, long chunks, long step)
{
    total t = {0, 0};
    for (long c = 0; c < chunks; c++)
        TOTAL_ADD(t, piece[from + c * step]);
    return TOTAL(t);
}

__kernel void norm_sums(TABLE, IN(TX, x), OUT(WIDE, piece))
{
    ENTER;
    OPERAND(x);
    OPERAND(piece);
    CHUNK_HEAD;
    total t = {0, 0};
    for (long e = first; e < last; e++)
        TOTAL_ADD(t, (wide)LOAD(TX, x, map_place(MAP, 0, s * N + e)));
    piece[id] = TOTAL(t);
}

/* (sets, 2): mean and rstd; here the mean. */
__kernel void norm_means(TABLE, IN(WIDE, piece), OUT(WIDE, moments))
{
    ENTER;
    OPERAND(piece);
    OPERAND(moments);
    const long s = get_global_id(0);
    if (s >= SETS)
        return;
#ifdef RMS
    moments[2 * s] = 0;
#else
    moments[2 * s] = join_chunks(piece, s * CHUNKS, CHUNKS, 1) / (wide)N;
#endif
}

__kernel void norm_squares(TABLE, IN(TX, x), IN(WIDE, moments), OUT(WIDE, piece))
{
    ENTER;
    OPERAND(x);
    OPERAND(moments);
    OPERAND(piece);
    CHUNK_HEAD;
    const wide mean = moments[2 * s];
    total t = {0, 0};
    for (long e = first; e < last; e++) {
        const wide v = (wide)LOAD(TX, x, map_place(MAP, 0, s * N + e)) - mean;
        TOTAL_ADD(t, v * v);
    }
    piece[id] = TOTAL(t);
}

/* From squares to rstd, or from running statistics to both. Numbers behind the map of 2 operands:
 * training, and for mean, rstd, running mean, running variance, new mean, new variance: whether it
 * is there, its (first) stride; then G of the dims of mean and rstd, and their second strides. */
#define VECTOR (MAP + MAP_SIZE(2))
__kernel void norm_moments(TABLE, IN(WIDE, piece), OUT(WIDE, moments), OUT(TS, mean),
                           OUT(TS, rstd), IN(TP, running_mean), IN(TP, running_var),
                           OUT(TP, new_mean), OUT(TP, new_var), wide eps, wide momentum)
{
    ENTER;
    OPERAND(piece);
    OPERAND(moments);
    OPERAND(mean);
    OPERAND(rstd);
    OPERAND(running_mean);
    OPERAND(running_var);
    OPERAND(new_mean);
    OPERAND(new_var);
    const long s = get_global_id(0);
    if (s >= SETS)
        return;
    wide m, variance;
    __constant const long *v = VECTOR;
    if (v[0]) {
        m = moments[2 * s];
        variance = join_chunks(piece, s * CHUNKS, CHUNKS, 1) / (wide)N;
        if (N > 0 && v[9]) {
            const wide before = LOAD(TP, new_mean, s * v[10]);
            STORE(TP, new_mean, s * v[10], (NUMBER(TP))((1 - momentum) * before + momentum * m));
        }
        if (N > 0 && v[11]) {
            const wide before = LOAD(TP, new_var, s * v[12]);
            const wide unbiased = variance * (wide)N / (wide)(N - 1);
            STORE(TP, new_var, s * v[12],
                  (NUMBER(TP))((1 - momentum) * before + momentum * unbiased));
        }
    } else {
        m = LOAD(TP, running_mean, s * v[6]);
        variance = LOAD(TP, running_var, s * v[8]);
    }
    const wide r = 1 / sqrt(variance + eps);
    moments[2 * s] = m;
    moments[2 * s + 1] = r;
    if (v[1])
        STORE(TS, mean, s / v[13] * v[2] + s % v[13] * v[14], (NUMBER(TS))m);
    if (v[3])
        STORE(TS, rstd, s / v[13] * v[4] + s % v[13] * v[15], (NUMBER(TS))r);
}

/* Numbers behind the map: gamma's and beta's presence and stride. */
__kernel void norm_apply(TABLE, IN(TX, x), IN(WIDE, moments), IN(TP, gamma), IN(TP, beta),
                         OUT(TX, y))
{
    ENTER;
    OPERAND(x);
    OPERAND(moments);
    OPERAND(gamma);
    OPERAND(beta);
    OPERAND(y);
    const long i = get_global_id(0);
    if (i >= SETS * N)
        return;
    __constant const long *v = VECTOR;
    const long s = i / N, c = CHANNEL(s, i % N);
    const wide xhat =
        ((wide)LOAD(TX, x, map_place(MAP, 0, i)) - moments[2 * s]) * moments[2 * s + 1];
    const wide scale = v[0] ? (wide)LOAD(TP, gamma, c * v[1]) : 1;
    const wide shift = v[2] ? (wide)LOAD(TP, beta, c * v[3]) : 0;
    STORE(TX, y, map_place(MAP, 1, i), (NUMBER(TX))(xhat * scale + shift));
}

/* The saved statistics as (sets, 2). Numbers behind the map of 3 operands: whether there is a
 * mean; strides of mean (2) and rstd (2); G of their dims. */
#define BACK (MAP + MAP_SIZE(3))
__kernel void norm_saved(TABLE, IN(TS, mean), IN(TS, rstd), OUT(WIDE, moments))
{
    ENTER;
    OPERAND(mean);
    OPERAND(rstd);
    OPERAND(moments);
    const long s = get_global_id(0);
    if (s >= SETS)
        return;
    __constant const long *v = BACK;
    moments[2 * s] = v[0] ? (wide)LOAD(TS, mean, s / v[5] * v[1] + s % v[5] * v[2]) : 0;
    moments[2 * s + 1] = LOAD(TS, rstd, s / v[5] * v[3] + s % v[5] * v[4]);
}

/* Sums over a set of gamma * dy and gamma * dy * xhat: pieces (sets, chunks, 2). Behind the map:
 * gamma's presence and stride. */
__kernel void norm_slopes(TABLE, IN(TX, x), IN(TX, dy), IN(WIDE, moments), IN(TP, gamma),
                          OUT(WIDE, piece))
{
    ENTER;
    OPERAND(x);
    OPERAND(dy);
    OPERAND(moments);
    OPERAND(gamma);
    OPERAND(piece);
    CHUNK_HEAD;
    __constant const long *v = BACK;
    total t0 = {0, 0}, t1 = {0, 0};
    for (long e = first; e < last; e++) {
        const long i = s * N + e;
        const wide xhat =
            ((wide)LOAD(TX, x, map_place(MAP, 0, i)) - moments[2 * s]) * moments[2 * s + 1];
        const wide scale = v[0] ? (wide)LOAD(TP, gamma, CHANNEL(s, e) * v[1]) : 1;
        const wide g = scale * (wide)LOAD(TX, dy, map_place(MAP, 1, i));
        TOTAL_ADD(t0, g);
        TOTAL_ADD(t1, g * xhat);
    }
    piece[2 * id] = TOTAL(t0);
    piece[2 * id + 1] = TOTAL(t1);
}

/* (sets, 2): the means of those sums. */
__kernel void norm_slope_means(TABLE, IN(WIDE, piece), OUT(WIDE, means))
{
    ENTER;
    OPERAND(piece);
    OPERAND(means);
    const long s = get_global_id(0);
    if (s >= SETS)
        return;
#ifdef RMS
    means[2 * s] = 0;
#else
    means[2 * s] = join_chunks(piece, 2 * s * CHUNKS, CHUNKS, 2) / (wide)N;
#endif
    means[2 * s + 1] = join_chunks(piece, 2 * s * CHUNKS + 1, CHUNKS, 2) / (wide)N;
}

/* Behind the map: gamma's presence and stride, whether the statistics depend on x. */
__kernel void norm_backward(TABLE, IN(TX, x), IN(TX, dy), IN(WIDE, moments), IN(TP, gamma),
                            IN(WIDE, means), OUT(TX, dx))
{
    ENTER;
    OPERAND(x);
    OPERAND(dy);
    OPERAND(moments);
    OPERAND(gamma);
    OPERAND(means);
    OPERAND(dx);
    const long i = get_global_id(0);
    if (i >= SETS * N)
        return;
    __constant const long *v = BACK;
    const long s = i / N, c = CHANNEL(s, i % N);
    const wide rstd = moments[2 * s + 1];
    const wide scale = v[0] ? (wide)LOAD(TP, gamma, c * v[1]) : 1;
    wide g = scale * (wide)LOAD(TX, dy, map_place(MAP, 1, i));
    if (v[2]) {
        const wide xhat = ((wide)LOAD(TX, x, map_place(MAP, 0, i)) - moments[2 * s]) * rstd;
        g -= means[2 * s] + xhat * means[2 * s + 1];
    }
    STORE(TX, dx, map_place(MAP, 2, i), (NUMBER(TX))(g * rstd));
}

/*
 * Sums over a channel of dy * xhat and dy: pieces (channels, chunks, 2). Here the map's dims are
 * the channel, then what the channel holds, and element e of channel c belongs to set
 * e / P[4] * P[2] + c / P[3].
 */
__kernel void norm_channels(TABLE, IN(TX, x), IN(TX, dy), IN(WIDE, moments), OUT(WIDE, piece))
{
    ENTER;
    OPERAND(x);
    OPERAND(dy);
    OPERAND(moments);
    OPERAND(piece);
    CHUNK_HEAD;
    total t0 = {0, 0}, t1 = {0, 0};
    for (long e = first; e < last; e++) {
        const long i = s * N + e, set = e / P[4] * P[2] + s / P[3];
        const wide g = LOAD(TX, dy, map_place(MAP, 1, i));
        const wide xhat =
            ((wide)LOAD(TX, x, map_place(MAP, 0, i)) - moments[2 * set]) * moments[2 * set + 1];
        TOTAL_ADD(t0, g * xhat);
        TOTAL_ADD(t1, g);
    }
    piece[2 * id] = TOTAL(t0);
    piece[2 * id + 1] = TOTAL(t1);
}

/* Behind the map: presence and stride of dgamma and dbeta. */
__kernel void norm_channel_sums(TABLE, IN(WIDE, piece), OUT(TP, dgamma), OUT(TP, dbeta))
{
    ENTER;
    OPERAND(piece);
    OPERAND(dgamma);
    OPERAND(dbeta);
    const long c = get_global_id(0);
    if (c >= SETS)
        return;
    __constant const long *v = BACK;
    if (v[0])
        STORE(TP, dgamma, c * v[1],
              (NUMBER(TP))join_chunks(piece, 2 * c * CHUNKS, CHUNKS, 2));
    if (v[2])
        STORE(TP, dbeta, c * v[3],
              (NUMBER(TP))join_chunks(piece, 2 * c * CHUNKS + 1, CHUNKS, 2));
}
