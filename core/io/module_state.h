/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors of a module by name, to be written or to be loaded: first all is read and checked
 * (staged), then all is changed (committed). */
#ifndef AXLE_IO_MODULE_STATE_H
#define AXLE_IO_MODULE_STATE_H

#include "axle/nn.h"
#include "io/shards.h"

typedef struct axle__state_entry {
    char *name;
    axle_tensor *tensor;
    size_t first; /* index of the entry with the tensor's first name, maybe its own */
    const axle__safetensors_entry *stored; /* of entries with a first name: what to load */
    axle_tensor *staged;                   /* and that as a tensor like `tensor` */
} axle__state_entry;

/* Starts zeroed. */
typedef struct axle__state_entries {
    axle__state_entry *at;
    size_t count, room;
} axle__state_entries;

/* All names of all parameters and buffers. */
int axle__state_collect(const axle_module *module, axle__state_entries *all);
void axle__state_free(axle__state_entries *all);
/* Tensors under their first names, and their other names; what it points to is for axle__free() and
 * goes with the entries. */
int axle__state_content(const axle__state_entries *all, axle__safetensors_source **sources,
                        axle__shard_content *out);
void axle__state_content_free(axle__safetensors_source *sources, axle__shard_content *content);
/* Read what the files have for each tensor; each must be there, and nothing else. */
int axle__state_stage(const char *path, const axle__shards *files, axle__state_entries *all);
int axle__state_commit(const axle__state_entries *all);

#endif
