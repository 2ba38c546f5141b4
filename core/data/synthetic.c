/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures of digits as a seven-segment display shows them, moved, scaled, slanted, drawn with
 * strokes of varying width and covered with noise. Picture i is a function of the seed and i.
 */
#include <inttypes.h>
#include <math.h>

#include "axle/status.h"
#include "base/memory.h"
#include "base/threads.h"
#include "data/images.h"
#include "tensor/random.h"

/* Of the random numbers' blocks, a picture has 64: 15 for its shape and 49 for noise, a byte a
 * pixel. */
enum {
    SIDE = 28,
    PIXELS = SIDE * SIDE,
    SEGMENTS = 7,
    SHAPE_BLOCKS = 15,
    BLOCKS = SHAPE_BLOCKS + PIXELS / 16
};

typedef struct point {
    float x, y;
} point;

/* The display is 1 wide and 2 high, y down: top, upper and lower right, bottom, lower and upper
 * left, middle. */
static const point segment[SEGMENTS][2] = {
    {{0, 0}, {1, 0}}, {{1, 0}, {1, 1}}, {{1, 1}, {1, 2}}, {{0, 2}, {1, 2}},
    {{0, 1}, {0, 2}}, {{0, 0}, {0, 1}}, {{0, 1}, {1, 1}},
};

/* Bit k: segment k is lit. */
static const unsigned char lit[10] = {0x3f, 0x06, 0x5b, 0x4f, 0x66, 0x6d, 0x7d, 0x07, 0x7f, 0x6f};

typedef struct shape {
    int label;
    float scale, slant, radius, ink;
    point centre;
} shape;

/* A sequence of uniforms. */
typedef struct stream {
    uint64_t seed, counter;
    uint32_t block[4];
    int used;
} stream;

static float uniform(stream *s, float low, float high)
{
    if (s->used == 4) {
        axle__philox(s->seed, s->counter++, s->block);
        s->used = 0;
    }
    return low + (high - low) * (float)(s->block[s->used++] >> 8) * 0x1p-24f;
}

static shape draw_shape(stream *s)
{
    shape drawn;
    drawn.label = (int)uniform(s, 0.0f, 10.0f);
    drawn.label = drawn.label > 9 ? 9 : drawn.label;
    drawn.scale = uniform(s, 6.0f, 8.5f);
    drawn.slant = uniform(s, -0.3f, 0.3f);
    drawn.radius = uniform(s, 0.7f, 1.6f);
    drawn.ink = uniform(s, 150.0f, 230.0f);
    drawn.centre.x = uniform(s, 11.0f, 16.0f);
    drawn.centre.y = uniform(s, 11.0f, 16.0f);
    return drawn;
}

/* From the display to the picture, each end a little off its place. */
static point place(const shape *drawn, point from, stream *s)
{
    float x = from.x - 0.5f + uniform(s, -0.1f, 0.1f), y = from.y - 1.0f + uniform(s, -0.1f, 0.1f);
    return (point){drawn->centre.x + drawn->scale * (x - drawn->slant * y),
                   drawn->centre.y + drawn->scale * y};
}

static float distance(point p, point a, point b)
{
    float dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    float along = length > 0.0f ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0.0f;
    along = along < 0.0f ? 0.0f : along > 1.0f ? 1.0f : along;
    float ex = a.x + along * dx - p.x, ey = a.y + along * dy - p.y;
    return sqrtf(ex * ex + ey * ey);
}

static int clamp(float at)
{
    return at < 0.0f ? 0 : at > SIDE - 1 ? SIDE - 1 : (int)at;
}

/* Darken what lies within the stroke; its edge is one pixel wide. */
static void draw_stroke(float *canvas, point a, point b, float radius)
{
    float reach = radius + 1.0f;
    int left = clamp(fminf(a.x, b.x) - reach), right = clamp(fmaxf(a.x, b.x) + reach);
    int top = clamp(fminf(a.y, b.y) - reach), bottom = clamp(fmaxf(a.y, b.y) + reach);
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            float cover = radius + 0.5f - distance((point){(float)x, (float)y}, a, b);
            float *pixel = &canvas[y * SIDE + x];
            *pixel = fmaxf(*pixel, fminf(cover, 1.0f));
        }
}

static void add_noise(const float *canvas, float ink, stream *s, unsigned char *pixels)
{
    for (int k = 0; k < PIXELS; k += 16) {
        axle__philox(s->seed, s->counter++, s->block);
        for (int lane = 0; lane < 16; lane++) {
            uint32_t noise = (s->block[lane / 4] >> (8 * (lane % 4))) & 0xff;
            float value = canvas[k + lane] * ink + (float)noise * 0.25f - 20.0f;
            pixels[k + lane] = (unsigned char)(value < 0.0f     ? 0.0f
                                               : value > 255.0f ? 255.0f
                                                                : value);
        }
    }
}

static unsigned char draw_picture(uint64_t seed, uint64_t index, unsigned char *pixels)
{
    float canvas[PIXELS] = {0};
    stream s = {.seed = seed, .counter = index * BLOCKS, .used = 4};
    shape drawn = draw_shape(&s);
    for (int k = 0; k < SEGMENTS; k++) {
        point a = place(&drawn, segment[k][0], &s), b = place(&drawn, segment[k][1], &s);
        if (lit[drawn.label] >> k & 1)
            draw_stroke(canvas, a, b, drawn.radius);
    }
    s.counter = index * BLOCKS + SHAPE_BLOCKS;
    add_noise(canvas, drawn.ink, &s, pixels);
    return (unsigned char)drawn.label;
}

typedef struct task {
    uint64_t seed;
    unsigned char *pixels, *labels;
} task;

static void draw_some(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const task *t = arg;
    (void)worker;
    for (int64_t k = begin; k < end; k++)
        t->labels[k] = draw_picture(t->seed, (uint64_t)k, t->pixels + (size_t)k * PIXELS);
}

int axle_synthetic_image_dataset_create(int64_t n, uint64_t seed, axle_dataset **out)
{
    if (n < 0 || (uint64_t)n > SIZE_MAX / PIXELS)
        return axle_error_set(AXLE_ERR_INVALID, "synthetic pictures: a set of %" PRId64, n);
    task t = {seed, axle__alloc((size_t)n, PIXELS), axle__alloc((size_t)n, 1)};
    if (!t.pixels || !t.labels) {
        axle__free(t.pixels);
        axle__free(t.labels);
        return AXLE_ERR_NOMEM;
    }
    axle__parallel_for(n, 64, draw_some, &t);
    return axle__images_dataset_create("synthetic pictures", n, SIDE, SIDE, t.pixels, t.labels,
                                       out);
}
