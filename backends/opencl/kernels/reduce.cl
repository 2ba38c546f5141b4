/* SPDX-License-Identifier: Apache-2.0 */
/*
 * REDUCE in two stages: each work-item folds one chunk of the elements of one output, then one
 * work-item an output joins its chunks in their order. FOLD names the operation, PIECE the type in
 * which pieces are kept.
 */
#define PIECE NUMBER(PIECE_TYPE)
#define PUT_SUM(v) TOTAL_ADD(t, v)
#define PUT_ABS(v) TOTAL_ADD(t, fabs((wide)(v)))
#define PUT_SQUARE(v) TOTAL_ADD(t, (wide)(v) * (wide)(v))
#define PUT_DEVIATION(v) TOTAL_ADD(t, ((wide)(v)-center) * ((wide)(v)-center))
#define PUT_PROD(v) t *= (v)
#define PUT_MAX(v) t = (v) > t || (v) != (v) ? (v) : t
#define PUT_MIN(v) t = (v) < t || (v) != (v) ? (v) : t
#define PUT_ANY(v) t |= (v) != 0
#define PUT_ALL(v) t &= (v) != 0
#define PUT_WRAP(v) t = (PIECE)((ulong)t + (ulong)(v))
#define PUT(v) JOIN(PUT_, FOLD)(v)

/* Pieces of sums are added, others are folded as elements are. */
#ifdef TOTALS
#define START total t = {0, 0}
#define RESULT TOTAL(t)
#define JOIN_PIECE(v) TOTAL_ADD(t, v)
#else
#define START PIECE t = IDENTITY
#define RESULT t
#define JOIN_PIECE(v) PUT(v)
#endif

/* Numbers: outputs, chunks, elements of an output, elements of a chunk, map of kept dims (y, x),
 * map of folded dims (x). Pieces are (outputs, chunks). */
__kernel void fold(TABLE, IN(TX, x), OUT(PIECE_TYPE, piece), IN(PIECE_TYPE, centers))
{
    ENTER;
    OPERAND(x);
    OPERAND(piece);
    OPERAND(centers);
    const long id = get_global_id(0);
    const long chunks = P[1], n = P[2], each = P[3];
    if (id >= P[0] * chunks)
        return;
    __constant const long *kept = P + 4, *folded = kept + MAP_SIZE(2);
    const long output = id / chunks, chunk = id % chunks;
    const long first = chunk * each, last = min(first + each, n);
    const long at = map_place(kept, 1, output);
#ifdef CENTERED
    const wide center = centers[output];
#endif
    START;
#ifdef FLAT
    const long step = folded[0] > 0 ? folded[1 + MAP_DIMS] : 0;
    for (long j = first; j < last; j++) {
        const NUMBER(TX) v = LOAD(TX, x, at + j * step);
#else
    for (long j = first; j < last; j++) {
        const NUMBER(TX) v = LOAD(TX, x, at + map_place(folded, 0, j));
#endif
        PUT(v);
    }
    piece[id] = RESULT;
}

/* FINISH of the joined value r over n elements. */
#define FINISH_NONE(r) (r)
#define FINISH_MEAN(r) ((r) / (wide)n)
#define FINISH_NORM(r) sqrt(r)
#define FINISH_VAR(r) ((r) / divisor)

/* Numbers as above. FINISH says what becomes of the value. */
__kernel void join(TABLE, IN(PIECE_TYPE, piece), OUT(TY, y), wide divisor)
{
    ENTER;
    OPERAND(piece);
    OPERAND(y);
    const long output = get_global_id(0);
    const long chunks = P[1], n = P[2];
    if (output >= P[0])
        return;
    START;
    for (long c = 0; c < chunks; c++) {
        const PIECE v = piece[output * chunks + c];
        JOIN_PIECE(v);
    }
#ifdef TO_CENTERS
    y[output] = JOIN(FINISH_, FINISH)(RESULT);
#else
    STORE(TY, y, map_place(P + 4, 0, output), (NUMBER(TY))JOIN(FINISH_, FINISH)(RESULT));
#endif
}
