/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CROSS_ENTROPY and its gradient, a position a work-item. REDUCTION is 0 none, 1 mean, 2 sum;
 * TX, TT, TW, TL, TS and
 * TD are the types of logits, target, weight, loss, statistics and dlogits.
 */
#define TARGET(i) LOAD(TT, target, (i) / space * P[6] + (i) % space * P[7])
#define WEIGHT(c) (P[8] ? (wide)LOAD(TW, weight, (c)*P[9]) : W(1.0))
#define X_AT(i) ((i) / space * P[3] + (i) % space * P[5])

/* The largest of n logits, NaN if there is one, and the sum of the exponentials relative to it. */
static wide largest_of(__global const STORED(TX) *x, long at, long n, long step)
{
    wide largest = -INFINITY;
    for (long c = 0; c < n; c++) {
        const wide v = LOAD(TX, x, at + c * step);
        largest = v > largest || v != v ? v : largest;
    }
    return largest;
}
static wide sum_of(__global const STORED(TX) *x, long at, long n, long step, wide largest)
{
    wide sum = 0;
    for (long c = 0; c < n; c++)
        sum += exp((wide)LOAD(TX, x, at + c * step) - largest);
    return sum;
}

/*
 * Numbers: positions, classes, space, strides of logits (3), of target (2), whether there is a
 * weight and its stride, ignored index, whether lse is wanted and its strides (2), strides of
 * loss (2). Losses and weights of the positions go to `each` (positions, 2).
 */
__kernel void losses(TABLE, IN(TX, x), IN(TT, target), IN(TW, weight), OUT(TL, loss),
                     OUT(TS, lse), OUT(WIDE, each), wide smoothing, FAULT)
{
    ENTER;
    OPERAND(x);
    OPERAND(target);
    OPERAND(weight);
    OPERAND(loss);
    OPERAND(lse);
    OPERAND(each);
    const long i = get_global_id(0);
    if (i >= P[0])
        return;
    const long classes = P[1], space = P[2], t = TARGET(i), at = X_AT(i);
    const wide largest = largest_of(x, at, classes, P[4]);
    const wide sum = sum_of(x, at, classes, P[4], largest);
    const wide log_sum = isinf(largest) ? largest : largest + log(sum);
    wide value = 0, own = 0;
    if (P[11])
        STORE(TS, lse, i / space * P[12] + i % space * P[13], (NUMBER(TS))log_sum);
    if (t != P[10]) {
        if (t < 0 || t >= classes) {
            raise(faults, OP, t, classes);
        } else {
            own = WEIGHT(t);
            value = (1 - smoothing) * own * (log_sum - (wide)LOAD(TX, x, at + t * P[4]));
        }
        if (smoothing != 0) {
            total s = {0, 0};
            for (long c = 0; c < classes; c++)
                TOTAL_ADD(s, WEIGHT(c) * (log_sum - (wide)LOAD(TX, x, at + c * P[4])));
            value += smoothing / (wide)classes * TOTAL(s);
        }
    }
    each[2 * i] = value;
    each[2 * i + 1] = own;
#if REDUCTION == 0
    STORE(TL, loss, i / space * P[14] + i % space * P[15], (NUMBER(TL))value);
#endif
}

/* Numbers: positions, chunks, elements of a chunk. Sums of chunks of `each` (n, 2). */
__kernel void loss_sums(TABLE, IN(WIDE, each), OUT(WIDE, sums))
{
    ENTER;
    OPERAND(each);
    OPERAND(sums);
    const long chunk = get_global_id(0);
    if (chunk >= P[1])
        return;
    const long first = chunk * P[2], last = min(first + P[2], P[0]);
    total value = {0, 0}, weight = {0, 0};
    for (long i = first; i < last; i++) {
        TOTAL_ADD(value, each[2 * i]);
        TOTAL_ADD(weight, each[2 * i + 1]);
    }
    sums[2 * chunk] = TOTAL(value);
    sums[2 * chunk + 1] = TOTAL(weight);
}

/* Numbers: chunks, whether the total is wanted. */
__kernel void loss_total(TABLE, IN(WIDE, sums), OUT(TL, loss), OUT(TS, all))
{
    ENTER;
    OPERAND(sums);
    OPERAND(loss);
    OPERAND(all);
    if (get_global_id(0) > 0)
        return;
    total value = {0, 0}, weight = {0, 0};
    for (long c = 0; c < P[0]; c++) {
        TOTAL_ADD(value, sums[2 * c]);
        TOTAL_ADD(weight, sums[2 * c + 1]);
    }
    const wide w = TOTAL(weight);
    if (P[1])
        STORE(TS, all, 0, (NUMBER(TS))w);
#if REDUCTION == 1
    STORE(TL, loss, 0, (NUMBER(TL))(w != 0 ? TOTAL(value) / w : 0));
#elif REDUCTION == 2
    STORE(TL, loss, 0, (NUMBER(TL))TOTAL(value));
#endif
}

/* Numbers: as of losses up to the ignored index, then strides of dlogits (3) and of dloss (2). */
__kernel void gradients(TABLE, IN(TL, dloss), IN(TX, x), IN(TT, target), IN(TW, weight),
                        IN(TS, all), OUT(TD, dx), wide smoothing, FAULT)
{
    ENTER;
    OPERAND(dloss);
    OPERAND(x);
    OPERAND(target);
    OPERAND(weight);
    OPERAND(all);
    OPERAND(dx);
    const long i = get_global_id(0);
    if (i >= P[0])
        return;
    const long classes = P[1], space = P[2], t = TARGET(i), at = X_AT(i);
    const long to = i / space * P[11] + i % space * P[13], step = P[12];
    int valid = t != P[10];
    if (valid && (t < 0 || t >= classes)) {
        raise(faults, OP, t, classes);
        valid = 0;
    }
#if REDUCTION == 0
    wide g = LOAD(TL, dloss, i / space * P[14] + i % space * P[15]);
#else
    wide g = LOAD(TL, dloss, 0);
#endif
#if REDUCTION == 1
    const wide w = LOAD(TS, all, 0);
    valid = valid && w != 0;
    g = valid ? g / w : 0;
#endif
    if (!valid) {
        for (long c = 0; c < classes; c++)
            STORE(TD, dx, to + c * step, 0);
        return;
    }
    const wide largest = largest_of(x, at, classes, P[4]);
    const wide sum = sum_of(x, at, classes, P[4], largest);
    const wide each = smoothing / (wide)classes, own = (1 - smoothing) * WEIGHT(t);
    wide weights = 0;
    if (smoothing != 0)
        for (long c = 0; c < classes; c++)
            weights += WEIGHT(c);
    const wide a = own + each * weights;
    for (long c = 0; c < classes; c++) {
        const wide p = exp((wide)LOAD(TX, x, at + c * P[4]) - largest) / sum;
        const wide v = g * (a * p - (c == t ? own : 0) - each * WEIGHT(c));
        STORE(TD, dx, to + c * step, (NUMBER(TD))v);
    }
}
