/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensors of a model in one safetensors file, or in several with an index, named as the Hugging
 * Face libraries name them: BASE.safetensors, or BASE-00001-of-00002.safetensors and so on, and
 * BASE.safetensors.index.json, which tells which file each tensor is in.
 */
#ifndef AXLE_IO_SHARDS_H
#define AXLE_IO_SHARDS_H

#include "io/safetensors.h"

/* A file whose bytes are in memory. */
typedef struct axle__blob {
    const char *name;
    const void *bytes;
    size_t size;
} axle__blob;

/* Open files, to be searched together. Starts zeroed. */
typedef struct axle__shards {
    axle__safetensors **file;
    size_t count;
} axle__shards;

/* `path`: a safetensors file, an index, or a folder with either by the name `base`. */
int axle__shards_open(const char *path, const char *base, axle__shards *out);
/* The same from files in memory, which must outlive the result. `folder` is for messages. */
int axle__shards_parse(const char *folder, const char *base, const axle__blob *blobs, size_t n,
                       axle__shards *out);
void axle__shards_close(axle__shards *shards);
/* NULL, and no error, if no file has that tensor. */
const axle__safetensors_entry *axle__shards_find(const axle__shards *shards, const char *name);

/* What is written: tensors, for each alias its own name and that of a tensor, and what else the
 * metadata of each file says. */
typedef struct axle__shard_content {
    const axle__safetensors_source *sources;
    size_t count;
    const char *(*aliases)[2];
    size_t alias_count;
    const char *const (*metadata)[2];
    size_t metadata_count;
} axle__shard_content;

/* Told of each file that was written. */
typedef int (*axle__file_fn)(const char *name, axle__file_sum sum, void *user);
/* Write into a folder that is there, in files of at most `most` bytes of tensors, or of one tensor;
 * 0: one file. `fn` may be NULL. */
int axle__shards_write(const char *folder, const char *base, const axle__shard_content *content,
                       uint64_t most, axle__file_fn fn, void *user);

#endif
