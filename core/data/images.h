/* SPDX-License-Identifier: Apache-2.0 */
/* Grey pictures with labels, kept as bytes: "input" (1, H, W) f32 = byte / 255, "target" i64. */
#ifndef AXLE_DATA_IMAGES_H
#define AXLE_DATA_IMAGES_H

#include "axle/data.h"

/* `pixels` (n, height, width) and `labels` (n) are taken over, also on failure. */
int axle__images_dataset_create(const char *name, int64_t n, int64_t height, int64_t width,
                                unsigned char *pixels, unsigned char *labels, axle_dataset **out);

#endif
