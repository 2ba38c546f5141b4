/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ATTENTION and its gradient over heads (B, H) in steps; p (heads, L, S) is in the workspace.
 * MASK is NONE, BOOL or FLOAT. Removed positions are skipped, never multiplied by 0, so that a NaN
 * behind a mask stays there.
 *
 * Numbers: heads, L, S, D, E, causal, the least random number that dropout keeps, map of the heads
 * of q, k, v, mask, y or dy, lse (6), then the strides of rows and columns of those, in turn; those
 * of outputs of the gradient follow as their kernels say.
 */
#define L P[1]
#define S P[2]
#define D P[3]
#define E P[4]
#define CAUSAL P[5]
#define KEPT_FROM P[6]
#define HEADS (P + 7)
#define ROW(k) HEADS[MAP_SIZE(6) + 2 * (k)]
#define COLUMN(k) HEADS[MAP_SIZE(6) + 2 * (k) + 1]

#define MASK_AT(h, i, j) (map_place(HEADS, 3, h) + (i)*ROW(3) + (j)*COLUMN(3))
#define KEEPS_NONE(h, i, j) 1
#define KEEPS_BOOL(h, i, j) (mask[MASK_AT(h, i, j)] != 0)
#define KEEPS_FLOAT(h, i, j) (LOAD(TM, mask, MASK_AT(h, i, j)) != -INFINITY)
#define KEEPS(h, i, j) ((!CAUSAL || (j) <= (i)) && JOIN(KEEPS_, MASK)(h, i, j))
#define ADDED_NONE(h, i, j) 0
#define ADDED_BOOL(h, i, j) 0
#define ADDED_FLOAT(h, i, j) (wide) LOAD(TM, mask, MASK_AT(h, i, j))
#define ADDED(h, i, j) JOIN(ADDED_, MASK)(h, i, j)

#define PAIR_HEAD                                                                                  \
    const long id = get_global_id(0);                                                              \
    if (id >= P[0] * L * S)                                                                        \
        return;                                                                                    \
    const long j = id % S, i = id / S % L, h = id / S / L

/* p = scale * q . k + mask where an element is kept. */
#if NEEDED(scores)
__kernel void scores(TABLE, IN(TX, q), IN(TX, k), IN(TM, mask), OUT(WIDE, p), wide scale)
{
    ENTER;
    OPERAND(q);
    OPERAND(k);
    OPERAND(mask);
    OPERAND(p);
    PAIR_HEAD;
    if (!KEEPS(h, i, j))
        return;
    const long iq = map_place(HEADS, 0, h) + i * ROW(0), ik = map_place(HEADS, 1, h) + j * ROW(1);
    const long sq = COLUMN(0), sk = COLUMN(1);
    wide sum = 0;
    for (long d = 0; d < D; d++)
        sum += (wide)LOAD(TX, q, iq + d * sq) * (wide)LOAD(TX, k, ik + d * sk);
    p[id] = scale * sum + ADDED(h, i, j);
}
#endif

/* What dropout multiplies element (h, i, j) by. */
#define FACTOR(id) (random_bits(seed, first + (ulong)(id)) >= KEPT_FROM ? gain : 0)

/* A row of p becomes probabilities, times what dropout makes of them unless gain is 0. */
#if NEEDED(rows)
__kernel void rows(TABLE, IN(TM, mask), OUT(WIDE, p), OUT(TS, lse), wide wants_lse, wide gain,
                   ulong seed, ulong first)
{
    ENTER;
    OPERAND(mask);
    OPERAND(p);
    OPERAND(lse);
    const long id = get_global_id(0);
    if (id >= P[0] * L)
        return;
    const long i = id % L, h = id / L;
    p += id * S;
    wide largest = -INFINITY, sum = 0;
    for (long j = 0; j < S; j++)
        if (KEEPS(h, i, j))
            largest = p[j] > largest || p[j] != p[j] ? p[j] : largest;
    for (long j = 0; j < S; j++) {
        const wide v = KEEPS(h, i, j) ? exp(p[j] - largest) : 0;
        p[j] = v;
        sum += v;
    }
    for (long j = 0; j < S; j++)
        if (KEEPS(h, i, j)) {
            p[j] /= sum;
#ifdef DROPOUT
            if (gain != 0)
                p[j] *= FACTOR(id * S + j);
#endif
        }
    if (wants_lse != 0)
        STORE(TS, lse, map_place(HEADS, 5, h) + i * ROW(5),
              (NUMBER(TS))(isinf(largest) ? largest : largest + log(sum)));
}
#endif

/* y = sum over j of p * v. */
#if NEEDED(values)
__kernel void values(TABLE, IN(TX, v), IN(TM, mask), IN(WIDE, p), OUT(TX, y))
{
    ENTER;
    OPERAND(v);
    OPERAND(mask);
    OPERAND(p);
    OPERAND(y);
    const long id = get_global_id(0);
    if (id >= P[0] * L * E)
        return;
    const long e = id % E, i = id / E % L, h = id / E / L, row = (h * L + i) * S;
    const long iv = map_place(HEADS, 2, h) + e * COLUMN(2);
    wide sum = 0;
    for (long j = 0; j < S; j++)
        if (KEEPS(h, i, j))
            sum += p[row + j] * (wide)LOAD(TX, v, iv + j * ROW(2));
    STORE(TX, y, map_place(HEADS, 4, h) + i * ROW(4) + e * COLUMN(4), (NUMBER(TX))sum);
}
#endif

/* g = factor * dy . v where an element is kept. */
#if NEEDED(slopes)
__kernel void slopes(TABLE, IN(TX, dy), IN(TX, v), IN(TM, mask), OUT(WIDE, g), wide gain,
                     ulong seed, ulong first)
{
    ENTER;
    OPERAND(dy);
    OPERAND(v);
    OPERAND(mask);
    OPERAND(g);
    PAIR_HEAD;
    if (!KEEPS(h, i, j))
        return;
    const long ig = map_place(HEADS, 4, h) + i * ROW(4), iv = map_place(HEADS, 2, h) + j * ROW(2);
    wide sum = 0;
    for (long e = 0; e < E; e++)
        sum += (wide)LOAD(TX, dy, ig + e * COLUMN(4)) * (wide)LOAD(TX, v, iv + e * COLUMN(2));
#ifdef DROPOUT
    sum *= FACTOR(id);
#endif
    g[id] = sum;
}
#endif

/* A row: g becomes scale * p * (g - sum of p * g), p becomes p * factor. */
#if NEEDED(row_slopes)
__kernel void row_slopes(TABLE, IN(TM, mask), OUT(WIDE, p), OUT(WIDE, g), wide scale, wide gain,
                         ulong seed, ulong first)
{
    ENTER;
    OPERAND(mask);
    OPERAND(p);
    OPERAND(g);
    const long id = get_global_id(0);
    if (id >= P[0] * L)
        return;
    const long i = id % L, h = id / L;
    p += id * S;
    g += id * S;
    wide sum = 0;
    for (long j = 0; j < S; j++)
        if (KEEPS(h, i, j))
            sum += p[j] * g[j];
    for (long j = 0; j < S; j++)
        if (KEEPS(h, i, j)) {
            g[j] = scale * p[j] * (g[j] - sum);
#ifdef DROPOUT
            p[j] *= FACTOR(id * S + j);
#endif
        }
}
#endif

/*
 * The gradients: sums of w (heads, L, S) times rows of an operand. Numbers that follow the strides:
 * which operand, its length of a row, strides of heads (B, H), rows and columns of the output, H.
 */
#define TAIL (HEADS + MAP_SIZE(6) + 12)
#define OUT_AT(h) ((h) / TAIL[6] * TAIL[2] + (h) % TAIL[6] * TAIL[3])

/* out (heads, L, n): over j. */
#if NEEDED(sums_over_keys)
__kernel void sums_over_keys(TABLE, IN(TX, x), IN(TM, mask), IN(WIDE, w), OUT(TX, out))
{
    ENTER;
    OPERAND(x);
    OPERAND(mask);
    OPERAND(w);
    OPERAND(out);
    const long id = get_global_id(0), n = TAIL[1];
    if (id >= P[0] * L * n)
        return;
    const long e = id % n, i = id / n % L, h = id / n / L;
    const int which = (int)TAIL[0];
    const long ix = map_place(HEADS, which, h) + e * COLUMN(which), row = (h * L + i) * S;
    wide sum = 0;
    for (long j = 0; j < S; j++)
        if (KEEPS(h, i, j))
            sum += w[row + j] * (wide)LOAD(TX, x, ix + j * ROW(which));
    STORE(TX, out, OUT_AT(h) + i * TAIL[4] + e * TAIL[5], (NUMBER(TX))sum);
}
#endif

/* out (heads, S, n): over i. */
#if NEEDED(sums_over_queries)
__kernel void sums_over_queries(TABLE, IN(TX, x), IN(TM, mask), IN(WIDE, w), OUT(TX, out))
{
    ENTER;
    OPERAND(x);
    OPERAND(mask);
    OPERAND(w);
    OPERAND(out);
    const long id = get_global_id(0), n = TAIL[1];
    if (id >= P[0] * S * n)
        return;
    const long e = id % n, j = id / n % S, h = id / n / S;
    const int which = (int)TAIL[0];
    const long ix = map_place(HEADS, which, h) + e * COLUMN(which), from = h * L * S + j;
    wide sum = 0;
    for (long i = 0; i < L; i++)
        if (KEEPS(h, i, j))
            sum += w[from + i * S] * (wide)LOAD(TX, x, ix + i * ROW(which));
    STORE(TX, out, OUT_AT(h) + j * TAIL[4] + e * TAIL[5], (NUMBER(TX))sum);
}
#endif
