/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a narrow convolution, summed in f64. A tile of neighbouring pixels and one or two vectors
 * of output channels is held in registers while the taps pass by: weights as vectors, elements of
 * the frame repeated over a vector.
 */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"

enum { V = LOOP_VECTOR / 2 };
typedef double vector __attribute__((vector_size(8 * V)));
typedef float narrow __attribute__((vector_size(4 * V)));
typedef int32_t mask __attribute__((vector_size(4 * V)));

/* Pixels of a tile that is two vectors wide, such that its sums fill the registers. */
#if LOOP_LEVEL == 2
enum { PIXELS = 7 };
#else
enum { PIXELS = 6 };
#endif

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 14")
#endif

_Static_assert(2 * PIXELS <= CONV_OVERREAD && (int)V <= CONV_WIDEST,
               "tiles stay inside their operands");

INLINE vector load(const double *from)
{
    vector v;
    memcpy(&v, from, sizeof(v));
    return v;
}

/* Rounds once. NaN stays, as it is not less than 0. */
INLINE narrow finish(vector sum, int relu)
{
    const narrow y = __builtin_convertvector(sum, narrow);
    return relu ? (narrow)((mask)y & ~(mask)(y < 0.0f)) : y;
}

INLINE void store(float *to, narrow y, int64_t step, int64_t n)
{
    if (step == 1 && n >= V) {
        memcpy(to, &y, sizeof(y));
        return;
    }
    float lane[V];
    memcpy(lane, &y, sizeof(y));
    for (int64_t i = 0; i < V && i < n; i++)
        to[i * step] = lane[i];
}

INLINE void store_pixel(const conv_row *row, float *y, const vector *sum, int64_t channel,
                        const int vectors)
{
    UNROLL for (int q = 0; q < vectors; q++)
    {
        const int64_t c = channel + q * V;
        store(y + c * row->y_channel, finish(sum[q], row->relu), row->y_channel, row->channels - c);
    }
}

/* `pixels` and `vectors` are constants of the caller; pixels from `count` on are dropped. */
INLINE void tile(const conv_row *row, int64_t first, int64_t count, int64_t channel,
                 const int pixels, const int vectors)
{
    const double *w = row->weights + channel * row->taps;
    vector sum[2 * PIXELS][2];
    UNROLL for (int p = 0; p < pixels; p++)
    {
        UNROLL for (int q = 0; q < vectors; q++) sum[p][q] = load(row->bias + channel + q * V);
    }
    for (int64_t t = 0; t < row->taps; t++) {
        const double *x = row->frame + first + row->offset[t];
        vector right[2];
        UNROLL for (int q = 0; q < vectors; q++) right[q] = load(w + q * V);
        UNROLL for (int p = 0; p < pixels; p++)
        {
            UNROLL for (int q = 0; q < vectors; q++) sum[p][q] += x[p] * right[q];
        }
        w += vectors * V;
    }
    UNROLL for (int p = 0; p < pixels; p++)
    {
        if (p < count)
            store_pixel(row, row->y + (first + p) * row->y_pixel, sum[p], channel, vectors);
    }
}

/* Half a tile suffices for what few pixels are left. */
INLINE void row_of_tiles(const conv_row *row, int64_t channel, const int pixels, const int vectors)
{
    const int half = (pixels + 1) / 2;
    int64_t first = 0;
    for (; row->pixels - first > half; first += pixels)
        tile(row, first, row->pixels - first, channel, pixels, vectors);
    if (first < row->pixels)
        tile(row, first, row->pixels - first, channel, half, vectors);
}

static void run(const conv_row *row)
{
    int64_t channel = 0;
    for (; channel + V < row->channels; channel += 2 * V)
        row_of_tiles(row, channel, PIXELS, 2);
    if (channel < row->channels)
        row_of_tiles(row, channel, 2 * PIXELS, 1);
}

/* In the order in which run() reads them: block by block of channels, there tap by tap. */
static void pack(const float *w, int64_t outputs, int64_t output_step, int64_t taps,
                 const int64_t *tap, double *packed)
{
    for (int64_t channel = 0; channel < outputs;) {
        const int64_t width = channel + V < outputs ? 2 * V : V;
        const int64_t given = outputs - channel < width ? outputs - channel : width;
        for (int64_t t = 0; t < taps; t++, packed += width) {
            const float *from = w + channel * output_step + tap[t];
            SIMD for (int64_t o = 0; o < given; o++) packed[o] = (double)from[o * output_step];
            for (int64_t o = given; o < width; o++)
                packed[o] = 0;
        }
        channel += width;
    }
}

static void widen(const float *x, int64_t step, double *y, int64_t n)
{
    if (step == 1) {
        SIMD for (int64_t i = 0; i < n; i++) y[i] = (double)x[i];
    } else {
        for (int64_t i = 0; i < n; i++)
            y[i] = (double)x[i * step];
    }
}

const struct conv_loops LOOP(cpu_conv_loops) = {.run = run, .pack = pack, .widen = widen};
#endif
LOOP_END;
