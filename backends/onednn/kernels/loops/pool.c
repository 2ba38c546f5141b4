/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling: windows over channels-last pixels in vectors, and rows of windows over planes. */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"

enum { V = LOOP_VECTOR };
typedef float vector __attribute__((vector_size(4 * LOOP_VECTOR)));
typedef int32_t ivector __attribute__((vector_size(4 * LOOP_VECTOR)));

INLINE vector load(const void *from, int64_t n)
{
    vector v = {0};
    if (n >= V)
        memcpy(&v, from, sizeof(v));
    else
        memcpy(&v, from, (size_t)n * sizeof(float));
    return v;
}

INLINE void store(void *to, vector v, int64_t n)
{
    if (n >= V)
        memcpy(to, &v, sizeof(v));
    else
        memcpy(to, &v, (size_t)n * sizeof(float));
}

INLINE vector choose(ivector mask, vector a, vector b)
{
    return (vector)((mask & (ivector)a) | (~mask & (ivector)b));
}

/* How many lanes of a vector may be used: those of the pixel, or all where the rest is harmless. */
INLINE int64_t lanes(int64_t left, int64_t room)
{
    return room >= V ? V : left < V ? left : V;
}

/* NaN wins, and the first of equal ones: a comparison with a NaN that is held is false. */
INLINE void max_block(const pool_window *w, const float *x, int64_t place, int64_t n, float *y,
                      int32_t *index, int64_t td, int64_t th, int64_t tw)
{
    vector best = load(x, n);
    ivector where = (ivector){0} + (int32_t)place;
    for (int64_t d = 0; d < td; d++)
        for (int64_t h = 0; h < th; h++)
            for (int64_t k = 0; k < tw; k++) {
                const int64_t tap = d * w->tap_step[0] + h * w->tap_step[1] + k * w->tap_step[2];
                const int64_t at = d * w->tap_place[0] + h * w->tap_place[1] + k * w->tap_place[2];
                const vector v = load(x + tap, n);
                const ivector take = (v > best) | ((v != v) & (best == best));
                best = choose(take, v, best);
                where = (take & ((ivector){0} + (int32_t)(place + at))) | (~take & where);
            }
    store(y, best, n);
    if (index)
        store(index, (vector)where, n);
}

INLINE void max_window(const pool_window *w, int64_t td, int64_t th, int64_t tw)
{
    const int64_t last_tap =
        (td - 1) * w->tap_step[0] + (th - 1) * w->tap_step[1] + (tw - 1) * w->tap_step[2];
    for (int64_t p = 0; p < w->pixels; p++) {
        for (int64_t c = 0; c < w->channels; c += V) {
            const int64_t x = p * w->pixel_step + c, y = p * w->y_step + c;
            const int64_t x_room = w->x_room - x - last_tap, y_room = w->y_room - y;
            const int64_t n = lanes(w->channels - c, x_room < y_room ? x_room : y_room);
            max_block(w, w->x + x, w->place + p * w->pixel_place, n, w->y + y,
                      w->index ? w->index + y : NULL, td, th, tw);
        }
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
static void mean_pixels(const pool_window *w)
{
    for (int64_t p = 0; p < w->pixels; p++) {
        for (int64_t c = 0; c < w->channels; c += V) {
            const int64_t n = lanes(w->channels - c, 0);
            vector sum = {0};
            for (int64_t d = 0; d < w->taps[0]; d++) {
                for (int64_t h = 0; h < w->taps[1]; h++) {
                    const float *x =
                        w->x + p * w->pixel_step + c + d * w->tap_step[0] + h * w->tap_step[1];
                    vector row = {0};
                    for (int64_t k = 0; k < w->taps[2]; k++)
                        row += load(x + k * w->tap_step[2], n);
                    sum += row;
                }
            }
            store(w->y + p * w->y_step + c, sum / w->divisor, n);
        }
    }
}

/* Only where a pixel is one vector does the next store cover all that one leaves behind it. */
INLINE void unpool_window_taps(const unpool_window *w, int64_t td, int64_t th, int64_t tw)
{
    const int64_t room = w->channels < V ? w->row_room : 0;
    for (int64_t p = 0; p < w->pixels; p++) {
        for (int64_t c = 0; c < w->channels; c += V) {
            const int64_t from = p * w->dy_step + c, left = w->channels - c;
            const int64_t read = lanes(left, w->dy_room - from);
            const vector g = load(w->dy + from, read);
            const ivector where = (ivector)load(w->index + from, read);
            for (int64_t d = 0; d < td; d++)
                for (int64_t h = 0; h < th; h++)
                    for (int64_t k = 0; k < tw; k++) {
                        const int64_t in_row = p * w->pixel_step + k * w->tap_step[2] + c;
                        const int64_t place = w->place + p * w->pixel_place + d * w->tap_place[0] +
                                              h * w->tap_place[1] + k * w->tap_place[2];
                        const ivector here = where == (ivector){0} + (int32_t)place;
                        store(w->dx + in_row + d * w->tap_step[0] + h * w->tap_step[1],
                              (vector)(here & (ivector)g), lanes(left, room - in_row));
                    }
        }
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
