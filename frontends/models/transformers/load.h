/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading in three steps: names in the files are matched with those of the model, all is checked,
 * and only then values are read.
 */
#ifndef AXLE_MODELS_TRANSFORMERS_LOAD_H
#define AXLE_MODELS_TRANSFORMERS_LOAD_H

#include "axle/safetensors.h"
#include "network.h"

/* A parameter under one of its names. */
typedef struct axle__target {
    char *name;
    axle_tensor *tensor;
    size_t first; /* index of the target with the tensor's first name, maybe its own */
    const axle_stored_tensor *stored; /* what a file has under this name, or NULL */
    int distance;                     /* how far that one's name is from ours, 0 for equal ones */
    bool mismatched;
} axle__target;

/* Growing list of borrowed names. Starts as {0}. */
typedef struct axle__names {
    const char **at;
    size_t count, room;
} axle__names;

typedef struct axle__loading {
    axle__network *network;
    const axle_tensor_file *file;
    axle__target *target;
    size_t count, room;
    axle__names missing, unexpected, mismatched;
} axle__loading;

/* Match names. Changes no parameter. */
int axle__load_match(axle__loading *loading);
/* Give parameters their values: those of the files, else random ones. */
int axle__load_values(axle__loading *loading);
void axle__load_end(axle__loading *loading);

int axle__names_add(axle__names *names, const char *name);
/* Copies of the lists. */
int axle__report_create(const axle__loading *loading, axle_load_report **out);
/* Tell in the log what was not found, and what is of no use. */
void axle__report_log(const axle__loading *loading);

#endif
