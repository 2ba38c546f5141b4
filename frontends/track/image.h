/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor as a PNG file. */
#ifndef AXLE_TRACK_IMAGE_H
#define AXLE_TRACK_IMAGE_H

#include <stddef.h>

#include "axle/tensor.h"

/* Starts as {0}, which release accepts, too. */
typedef struct image {
    int width, height, channels; /* 1 grey, 3 RGB */
    void *png;
    size_t png_size;
} image;

/* See axle_tracker_log_image(). */
int image_encode(const axle_tensor *tensor, image *out);
void image_release(image *image);

#endif
