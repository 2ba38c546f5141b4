/* SPDX-License-Identifier: Apache-2.0 */
/* The linear layer inside, for what extends it in place. */
#ifndef AXLE_NN_LINEAR_H
#define AXLE_NN_LINEAR_H

#include "nn/module.h"

/* A low-rank adapter: y += scale * B A dropout(x). */
typedef struct axle__lora {
    axle_tensor *a, *b; /* (rank, in) and (out, rank); of the children lora_A and lora_B */
    double alpha, dropout;
    int64_t rank;
    axle_tensor *plain; /* while merged: the weight as it was before; else NULL */
} axle__lora;

typedef struct axle__linear {
    axle_module base;
    axle_tensor *weight; /* (out, in) */
    axle_tensor *bias;   /* (out), or NULL */
    axle__lora *lora;    /* NULL: none */
} axle__linear;

/* The layer where a module is one, else NULL. */
static inline axle__linear *axle__linear_of(axle_module *module)
{
    return module->type == &axle__linear_class ? (axle__linear *)module : NULL;
}

/* y and what the layer's adapter adds for x. */
axle_tensor *axle__lora_add(const axle__linear *linear, axle_tensor *x, axle_tensor *y);
/* Give a layer an adapter, or take it away with its parameters. */
int axle__lora_attach(axle__linear *linear, int64_t rank, double alpha, double dropout);
void axle__lora_detach(axle__linear *linear);
/* The layer's own part of detaching. */
void axle__lora_free(axle__linear *linear);
/* Freeze all parameters but those of adapters. */
int axle__lora_freeze(axle_module *module);

#endif
