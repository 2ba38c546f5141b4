/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SOFTMAX and SOFTMAX_BACKWARD, a row a work-item. LOG gives logarithms; MASK is NONE, BOOL or
 * FLOAT, with TM the mask's type. Removed elements are skipped, never multiplied by 0.
 */
#define KEEPS_NONE(j) ((j) < keep)
#define KEEPS_BOOL(j) ((j) < keep && mask[im + (j) * P[5]] != 0)
#define KEEPS_FLOAT(j) ((j) < keep && LOAD(TM, mask, im + (j) * P[5]) != -INFINITY)
#define KEEPS(j) JOIN(KEEPS_, MASK)(j)
#define ADDED_NONE(j) 0
#define ADDED_BOOL(j) 0
#define ADDED_FLOAT(j) (wide) LOAD(TM, mask, im + (j) * P[5])
#define LOGIT(j) ((wide)LOAD(TX, x, ix + (j) * P[3]) * scale + JOIN(ADDED_, MASK)(j))

/* Numbers: rows, elements of a row, rows of a matrix where the order removes (else 0), strides of
 * x, y and mask along a row, map of x, y and mask. */
__kernel void softmax(TABLE, IN(TX, x), IN(TM, mask), OUT(TX, y), wide scale)
{
    ENTER;
    OPERAND(x);
    OPERAND(mask);
    OPERAND(y);
    const long r = get_global_id(0);
    if (r >= P[0])
        return;
    const long n = P[1], keep = P[2] ? min(r % P[2] + 1, n) : n;
    const long ix = map_place(P + 6, 0, r), iy = map_place(P + 6, 1, r);
    const long im = map_place(P + 6, 2, r);
    wide largest = -INFINITY, sum = 0;
    for (long j = 0; j < n; j++)
        if (KEEPS(j)) {
            const wide v = LOGIT(j);
            largest = v > largest || v != v ? v : largest;
        }
    for (long j = 0; j < n; j++)
        if (KEEPS(j))
            sum += exp(LOGIT(j) - largest);
#ifdef LOG
    const wide lse = log(sum);
#endif
    for (long j = 0; j < n; j++) {
#ifdef LOG
        const wide v = KEEPS(j) ? LOGIT(j) - largest - lse : -INFINITY;
#else
        const wide v = KEEPS(j) ? exp(LOGIT(j) - largest) / sum : 0;
#endif
        STORE(TX, y, iy + j * P[4], (NUMBER(TX))v);
    }
}

/* Numbers: rows, elements of a row, strides of dy, y and dx along it, map of dy, y and dx. */
__kernel void softmax_backward(TABLE, IN(TX, dy), IN(TX, y), OUT(TX, dx), wide scale)
{
    ENTER;
    OPERAND(dy);
    OPERAND(y);
    OPERAND(dx);
    const long r = get_global_id(0);
    if (r >= P[0])
        return;
    const long n = P[1];
    const long ig = map_place(P + 5, 0, r), iy = map_place(P + 5, 1, r);
    const long id = map_place(P + 5, 2, r);
    total t = {0, 0};
#ifdef LOG
#define KEPT(v) ((v) != -INFINITY)
#define TERM(g, v) (g)
#define SLOPE(g, v, sum) (scale * ((g)-exp(v) * (sum)))
#else
#define KEPT(v) ((v) != 0)
#define TERM(g, v) ((g) * (v))
#define SLOPE(g, v, sum) (scale * (v) * ((g) - (sum)))
#endif
    for (long j = 0; j < n; j++) {
        const wide v = LOAD(TX, y, iy + j * P[3]);
        if (KEPT(v))
            TOTAL_ADD(t, TERM((wide)LOAD(TX, dy, ig + j * P[2]), v));
    }
    const wide sum = TOTAL(t);
    for (long j = 0; j < n; j++) {
        const wide v = LOAD(TX, y, iy + j * P[3]);
        const wide g = LOAD(TX, dy, ig + j * P[2]);
        STORE(TX, dx, id + j * P[4], (NUMBER(TX))(KEPT(v) ? SLOPE(g, v, sum) : 0));
    }
}
