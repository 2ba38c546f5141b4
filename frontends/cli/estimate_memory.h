/* SPDX-License-Identifier: Apache-2.0 */
/* axle estimate-memory: what is asked, and what was found. */
#ifndef AXLE_CLI_ESTIMATE_MEMORY_H
#define AXLE_CLI_ESTIMATE_MEMORY_H

#include "axle/axle.h"
#include "command.h"

typedef struct estimate_settings {
    int model, optimizer, precision; /* positions in their lists; precision -1: each */
    int64_t batch_size, channels, height, width, classes, hidden, length, processes;
    double momentum, dropout;
    int shard_optimizer, grad_checkpoint, json;
} estimate_settings;

/* Bytes on the device of one process. */
typedef struct estimate {
    int64_t parameters, buffers, gradients, moments;
    int64_t activations; /* most that a step has besides: results kept for backward, temporaries */
    int64_t setup;       /* most while parameters move into the optimizer's arenas */
    int64_t total;       /* the larger of setup and a step */
    int64_t measured;    /* the batch that was measured; a smaller one where that did not fit */
    int64_t count;       /* parameters */
} estimate;

extern const command estimate_memory_command;

/* Make the model and its optimizer, and go through a step that computes nothing. `precision`: as of
 * the accelerator. `backend` and `device`: names, valid while the process lives. */
int estimate_measure(const estimate_settings *settings, const char *precision, estimate *out,
                     const char **backend, const char **device);

#endif
