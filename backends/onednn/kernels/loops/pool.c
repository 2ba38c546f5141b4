/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling: windows over channels-last pixels in vectors, and rows of windows over planes. */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"

enum { V = LOOP_VECTOR };
typedef float vector __attribute__((vector_size(4 * LOOP_VECTOR)));
typedef int32_t ivector __attribute__((vector_size(4 * LOOP_VECTOR)));

INLINE vector load(const void *from)
{
    vector v;
    memcpy(&v, from, sizeof(v));
    return v;
}

INLINE void store(void *to, vector v)
{
    memcpy(to, &v, sizeof(v));
}

/* The first n < V lanes. */
INLINE vector load_part(const void *from, int64_t n)
{
    vector v = {0};
    memcpy(&v, from, (size_t)n * sizeof(float));
    return v;
}

INLINE void store_part(void *to, vector v, int64_t n)
{
    memcpy(to, &v, (size_t)n * sizeof(float));
}

INLINE vector choose(ivector mask, vector a, vector b)
{
    return (vector)((mask & (ivector)a) | (~mask & (ivector)b));
}

/* One vector of channels of a window. `readable` and `writable` say how many lanes may be touched,
 * 0 meaning all. NaN wins, and the first of equal ones: a comparison with a NaN that is held is
 * false. */
INLINE void max_block(const pool_window *w, int64_t p, int64_t c, int64_t readable,
                      int64_t writable, int64_t td, int64_t th, int64_t tw)
{
    const float *x = w->x + p * w->pixel_step + c;
    const int32_t first = (int32_t)(w->place + p * w->pixel_place);
    vector best = readable ? load_part(x, readable) : load(x);
    ivector where = (ivector){0} + first;
    for (int64_t d = 0; d < td; d++)
        for (int64_t h = 0; h < th; h++)
            for (int64_t k = 0; k < tw; k++) {
                const float *tap = x + d * w->tap_step[0] + h * w->tap_step[1] + k * w->tap_step[2];
                const int64_t at = d * w->tap_place[0] + h * w->tap_place[1] + k * w->tap_place[2];
                const vector v = readable ? load_part(tap, readable) : load(tap);
                const ivector take = (v > best) | ((v != v) & (best == best));
                best = choose(take, v, best);
                where = (take & ((ivector){0} + (first + (int32_t)at))) | (~take & where);
            }
    float *y = w->y + p * w->y_step + c;
    int32_t *index = w->index ? w->index + p * w->y_step + c : NULL;
    if (writable) {
        store_part(y, best, writable);
        if (index)
            store_part(index, (vector)where, writable);
    } else {
        store(y, best);
        if (index)
            store(index, (vector)where);
    }
}

/* How many of n things, `step` apart and `size` long, end within `room`. */
INLINE int64_t that_fit(int64_t n, int64_t step, int64_t size, int64_t room)
{
    if (size > room)
        return 0;
    const int64_t fit = step > 0 ? (room - size) / step + 1 : n;
    return fit < n ? fit : n;
}

/* Pixels go in whole vectors as long as what follows their channels may be touched. */
INLINE void max_window(const pool_window *w, int64_t td, int64_t th, int64_t tw)
{
    const int64_t last_tap =
        (td - 1) * w->tap_step[0] + (th - 1) * w->tap_step[1] + (tw - 1) * w->tap_step[2];
    const int64_t whole = w->channels / V * V, part = w->channels - whole;
    int64_t readable = w->pixels, writable = w->pixels;
    if (part) {
        readable = that_fit(w->pixels, w->pixel_step, last_tap + whole + V, w->x_room);
        writable = that_fit(w->pixels, w->y_step, whole + V, w->y_room);
    }
    for (int64_t p = 0; p < w->pixels; p++) {
        for (int64_t c = 0; c < whole; c += V)
            max_block(w, p, c, 0, 0, td, th, tw);
        if (part && p < readable && p < writable)
            max_block(w, p, whole, 0, 0, td, th, tw);
        else if (part && p < readable)
            max_block(w, p, whole, 0, part, td, th, tw);
        else if (part)
            max_block(w, p, whole, part, part, td, th, tw);
    }
}

static void max_pixels(const pool_window *w)
{
    if (w->taps[0] == 1 && w->taps[1] == 2 && w->taps[2] == 2)
        max_window(w, 1, 2, 2);
    else
        max_window(w, w->taps[0], w->taps[1], w->taps[2]);
}

/* Rows of taps are summed apart, so that large windows lose little. */
INLINE void mean_block(const pool_window *w, int64_t p, int64_t c, int64_t part)
{
    const float *x = w->x + p * w->pixel_step + c;
    vector sum = {0};
    for (int64_t d = 0; d < w->taps[0]; d++) {
        for (int64_t h = 0; h < w->taps[1]; h++) {
            const float *tap = x + d * w->tap_step[0] + h * w->tap_step[1];
            vector row = {0};
            for (int64_t k = 0; k < w->taps[2]; k++)
                row += part ? load_part(tap + k * w->tap_step[2], part)
                            : load(tap + k * w->tap_step[2]);
            sum += row;
        }
    }
    float *y = w->y + p * w->y_step + c;
    if (part)
        store_part(y, sum / w->divisor, part);
    else
        store(y, sum / w->divisor);
}

static void mean_pixels(const pool_window *w)
{
    const int64_t whole = w->channels / V * V;
    for (int64_t p = 0; p < w->pixels; p++) {
        for (int64_t c = 0; c < whole; c += V)
            mean_block(w, p, c, 0);
        if (whole < w->channels)
            mean_block(w, p, whole, w->channels - whole);
    }
}

INLINE void unpool_block(const unpool_window *w, int64_t p, int64_t c, int64_t readable,
                         int64_t writable, int64_t td, int64_t th, int64_t tw)
{
    const int64_t from = p * w->dy_step + c;
    const vector g = readable ? load_part(w->dy + from, readable) : load(w->dy + from);
    const ivector where =
        (ivector)(readable ? load_part(w->index + from, readable) : load(w->index + from));
    for (int64_t d = 0; d < td; d++)
        for (int64_t h = 0; h < th; h++)
            for (int64_t k = 0; k < tw; k++) {
                const int64_t place = w->place + p * w->pixel_place + d * w->tap_place[0] +
                                      h * w->tap_place[1] + k * w->tap_place[2];
                const ivector here = where == (ivector){0} + (int32_t)place;
                float *dx = w->dx + p * w->pixel_step + c + d * w->tap_step[0] +
                            h * w->tap_step[1] + k * w->tap_step[2];
                if (writable)
                    store_part(dx, (vector)(here & (ivector)g), writable);
                else
                    store(dx, (vector)(here & (ivector)g));
            }
}

/* Only where a pixel is one vector does the next store cover all that one leaves behind it. */
INLINE void unpool_window_taps(const unpool_window *w, int64_t td, int64_t th, int64_t tw)
{
    const int64_t whole = w->channels / V * V, part = w->channels - whole;
    int64_t readable = w->pixels, writable = w->pixels;
    if (part) {
        readable = that_fit(w->pixels, w->dy_step, whole + V, w->dy_room);
        writable = whole > 0 ? 0
                             : that_fit(w->pixels, w->pixel_step, (tw - 1) * w->tap_step[2] + V,
                                        w->row_room);
    }
    for (int64_t p = 0; p < w->pixels; p++) {
        for (int64_t c = 0; c < whole; c += V)
            unpool_block(w, p, c, 0, 0, td, th, tw);
        if (part && p < readable && p < writable)
            unpool_block(w, p, whole, 0, 0, td, th, tw);
        else if (part && p < readable)
            unpool_block(w, p, whole, 0, part, td, th, tw);
        else if (part)
            unpool_block(w, p, whole, part, part, td, th, tw);
    }
}

static void unpool_pixels(const unpool_window *w)
{
    if (w->taps[0] == 1 && w->taps[1] == 2 && w->taps[2] == 2)
        unpool_window_taps(w, 1, 2, 2);
    else
        unpool_window_taps(w, w->taps[0], w->taps[1], w->taps[2]);
}

#define MAX_TAP(step)                                                                              \
    SIMD for (int64_t i = 0; i < n; i++)                                                           \
    {                                                                                              \
        const float v = x[i * (step)];                                                             \
        const int better = v > best[i] || index[i] < 0;                                            \
        const int nan = v != v && best[i] == best[i];                                              \
        const int take = better || nan;                                                            \
        index[i] = take ? place + (int32_t)i * place_step : index[i];                              \
        best[i] = take ? v : best[i];                                                              \
    }

static void max_tap(const float *x, int64_t step, int32_t place, int32_t place_step, float *best,
                    int32_t *index, int64_t n)
{
    if (step == 1) {
        MAX_TAP(1)
    } else if (step == 2) {
        MAX_TAP(2)
    } else {
        MAX_TAP(step)
    }
}

static void sum_tap(const float *x, int64_t step, double *sum, int64_t n)
{
    if (step == 1) {
        SIMD for (int64_t i = 0; i < n; i++) sum[i] += (double)x[i];
    } else {
        for (int64_t i = 0; i < n; i++)
            sum[i] += (double)x[i * step];
    }
}

static void add_scaled(const float *x, float factor, float *y, int64_t n)
{
    SIMD for (int64_t i = 0; i < n; i++) y[i] += x[i] * factor;
}

const struct pool_loops LOOP(cpu_pool_loops) = {
    .max_pixels = max_pixels,
    .mean_pixels = mean_pixels,
    .unpool_pixels = unpool_pixels,
    .max_tap = max_tap,
    .sum_tap = sum_tap,
    .add_scaled = add_scaled,
};
#endif
LOOP_END;
