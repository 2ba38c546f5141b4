/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and values of the tokens that a text has so far, while it is generated. */
#ifndef AXLE_MODELS_TRANSFORMERS_PAST_H
#define AXLE_MODELS_TRANSFORMERS_PAST_H

#include "network.h"

typedef struct axle__past {
    int64_t length;             /* tokens; the same in all layers between passes */
    axle_tensor **key, **value; /* a layer's (1, heads, length, D); NULL before the first pass */
    int64_t layers;
} axle__past;

int axle__past_create(int64_t layers, axle__past *out);
void axle__past_release(axle__past *past);
/* Put a pass's keys and values behind those of a layer, and give all of them. */
int axle__past_extend(axle__past *past, int64_t layer, axle_tensor **key, axle_tensor **value);

#endif
