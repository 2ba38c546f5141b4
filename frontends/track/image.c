/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "image.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_LIBPNG
#include <png.h>
#endif

#include "axle/autograd.h"
#include "axle/ops.h"
#include "axle/status.h"
#include "axle/track.h"

/* Several pictures stand in a grid, with black lines between them. */
typedef struct grid {
    int64_t count, channels, height, width;
    int64_t columns, rows;
    double scale; /* from the tensor's numbers to [0, 1] */
} grid;

enum { GAP = 2, MOST_PIXELS = 1 << 28 };

static int plan(const axle_tensor *tensor, grid *out)
{
    int rank = axle_tensor_rank(tensor);
    int64_t dims[4] = {1, 1, 1, 1};
    if (rank < 2 || rank > 4)
        return axle_error_set(AXLE_ERR_SHAPE, "a picture has 2 to 4 dims, not %d", rank);
    for (int k = 0; k < rank; k++)
        dims[4 - rank + k] = axle_tensor_dim(tensor, k);
    *out = (grid){dims[0], dims[1], dims[2], dims[3], 0, 0, 1.0};
    if (out->channels != 1 && out->channels != 3)
        return axle_error_set(AXLE_ERR_SHAPE, "a picture has 1 or 3 channels, not %lld",
                              (long long)out->channels);
    if (axle_tensor_count(tensor) == 0 || axle_tensor_count(tensor) > MOST_PIXELS)
        return axle_error_set(AXLE_ERR_SHAPE, "a picture of %lld numbers",
                              (long long)axle_tensor_count(tensor));
    out->columns = (int64_t)ceil(sqrt((double)out->count));
    out->rows = (out->count + out->columns - 1) / out->columns;
    if (axle_tensor_dtype(tensor) == AXLE_DTYPE_U8)
        out->scale = 1.0 / 255.0;
    return AXLE_OK;
}

/* (N, C, H, W) as f32 on the host, for free(). */
static int read_numbers(const axle_tensor *tensor, float **out)
{
    size_t size = (size_t)axle_tensor_count(tensor) * sizeof(float);
    float *numbers = malloc(size);
    if (!numbers)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    int code = axle_scope_push();
    if (code) {
        free(numbers);
        return code;
    }
    axle_no_grad_push();
    axle_tensor *plain = axle_cast((axle_tensor *)tensor, AXLE_DTYPE_F32);
    code = plain ? axle_tensor_read(plain, numbers, size) : axle_error_code();
    axle_no_grad_pop();
    axle_scope_pop();
    if (code)
        free(numbers);
    else
        *out = numbers;
    return code;
}

/* What is no number is black. */
static uint8_t shade(double value)
{
    return value > 0.0 ? (uint8_t)(value < 1.0 ? value * 255.0 + 0.5 : 255.0) : 0;
}

/* numbers (N, C, H, W) -> pixels (height, width, C) of the whole. */
static void paint(const grid *g, const float *numbers, uint8_t *pixels, int64_t width)
{
    for (int64_t n = 0; n < g->count; n++) {
        int64_t top = n / g->columns * (g->height + GAP);
        int64_t left = n % g->columns * (g->width + GAP);
        for (int64_t c = 0; c < g->channels; c++)
            for (int64_t y = 0; y < g->height; y++)
                for (int64_t x = 0; x < g->width; x++)
                    pixels[((top + y) * width + left + x) * g->channels + c] =
                        shade(*numbers++ * g->scale);
    }
}

#ifdef HAVE_LIBPNG

static int compress(const uint8_t *pixels, image *out)
{
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)out->width,
                     .height = (png_uint_32)out->height,
                     .format = out->channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB};
    out->png_size = PNG_IMAGE_PNG_SIZE_MAX(png);
    out->png = malloc(out->png_size);
    if (!out->png)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    if (png_image_write_to_memory(&png, out->png, &out->png_size, 0, pixels, 0, NULL))
        return AXLE_OK;
    free(out->png);
    return axle_error_set(AXLE_ERR_UNSUPPORTED, "libpng: %s", png.message);
}

#else

static int compress(const uint8_t *pixels, image *out)
{
    (void)pixels;
    (void)out;
    return axle_error_set(AXLE_ERR_UNSUPPORTED,
                          "this build has no libpng (configure --with-libpng), so no pictures");
}

#endif

int image_encode(const axle_tensor *tensor, image *out)
{
    grid g;
    if (!tensor)
        return axle_error_set(AXLE_ERR_INVALID, "the picture is NULL");
    int code = plan(tensor, &g);
    if (code)
        return code;
    int64_t width = g.columns * (g.width + GAP) - GAP, height = g.rows * (g.height + GAP) - GAP;
    if (width > MOST_PIXELS / height)
        return axle_error_set(AXLE_ERR_SHAPE, "a picture of %lld times %lld pixels",
                              (long long)width, (long long)height);
    uint8_t *pixels = calloc((size_t)(width * height), (size_t)g.channels);
    float *numbers = NULL;
    image made = {(int)width, (int)height, (int)g.channels, NULL, 0};
    if (!pixels)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    code = read_numbers(tensor, &numbers);
    if (!code) {
        paint(&g, numbers, pixels, width);
        free(numbers);
        code = compress(pixels, &made);
    }
    free(pixels);
    if (!code)
        *out = made;
    return code;
}

void image_release(image *image)
{
    free(image->png);
}
