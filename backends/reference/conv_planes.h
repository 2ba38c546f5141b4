/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planes of convolution operands on their way between views, of any strides and element type, and
 * dense arrays of doubles. A frame is such an array with room around what was copied, so that the
 * sums over it need no test for padding.
 */
#ifndef AXLE_REFERENCE_CONV_PLANES_H
#define AXLE_REFERENCE_CONV_PLANES_H

#include "reference.h"

/* Where planes of some operand lie inside larger planes: `lead` zeros before, cut at `extent`. */
typedef struct conv_frame {
    int64_t lead[AXLE_MAX_SPATIAL], extent[AXLE_MAX_SPATIAL], step[AXLE_MAX_SPATIAL];
    int64_t plane; /* elements */
} conv_frame;

/* Set step and plane from extent; they saturate where a plane would not fit into memory. */
void ref_conv_frame_finish(conv_frame *frame);

/* The view (A, B, space...) with exactly 3 spatial dims. */
axle_view ref_conv_view(const axle_view *view);

/* Arguments of the bodies below, whose items are the planes of samples from `first` on. */
typedef struct conv_copy {
    const axle_view *view; /* (N, B, 3 spatial dims) */
    const conv_frame *frame;
    const double *bias; /* (B), or NULL */
    double *dense;      /* planes of samples from `first` on */
    int64_t first;
    int relu;
} conv_copy;

/* Fill frames, zeros around the plane included. */
void ref_conv_frame_planes(void *copy, int64_t begin, int64_t end, int32_t worker);
/* Dense planes from the view. */
void ref_conv_load_planes(void *copy, int64_t begin, int64_t end, int32_t worker);
/* The view from dense planes, with bias and activation. */
void ref_conv_store_planes(void *copy, int64_t begin, int64_t end, int32_t worker);

#endif
