/* SPDX-License-Identifier: Apache-2.0 */
/* The activations that products and convolutions apply as they store a result. */
#ifndef AXLE_ONEDNN_ACTIVATION_H
#define AXLE_ONEDNN_ACTIVATION_H

#include "compat.h"

typedef float (*activation_fn)(float x);

/* All take an AXLE_UNARY_* number, or 0 for none. */
int activation_is_known(uint32_t kind);
activation_fn activation_function(uint32_t kind);
/* Whether primitives can apply it, and how they are told to. */
int activation_is_fused(uint32_t kind);
void activation_append(dnn_post_ops *post, uint32_t kind);

#endif
