/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file data.h
 * Data: batches, data sets, and the loader that shuffles, collates and prefetches.
 *
 *     axle_dataset *set;
 *     axle_loader *loader;
 *     axle_batch *batch;
 *     axle_idx_dataset_open("/usr/share/datasets/fashion-mnist", 1, &set);
 *     axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
 *     options.batch_size = 64;
 *     options.shuffle = 1;
 *     axle_loader_create(set, &options, &loader);
 *     while (axle_loader_next(loader, &batch))
 *         train(axle_batch_get(batch, "input"), axle_batch_get(batch, "target"));
 *     if (axle_loader_status(loader)) ...
 *
 * The order of samples is a function of the loader's seed and the epoch alone. Data sets are read
 * by several threads at once.
 */
#ifndef AXLE_DATA_H
#define AXLE_DATA_H

#include "axle/tensor.h"

AXLE_BEGIN_DECLS

/* ------------------------------------------------------------------ batches */

/** Named tensors that belong together; dim 0 counts samples. */
typedef struct axle_batch axle_batch;

AXLE_API int axle_batch_create(axle_batch **out);
AXLE_API void axle_batch_release(axle_batch *batch);
/** Add or replace; the batch counts a reference of its own. */
AXLE_API int axle_batch_set(axle_batch *batch, const char *name, axle_tensor *tensor);
/** Borrowed; NULL and AXLE_ERR_NOT_FOUND if there is none of that name. */
AXLE_API axle_tensor *axle_batch_get(axle_batch *batch, const char *name);
/** Whether there is a tensor of that name. */
AXLE_API int axle_batch_has(const axle_batch *batch, const char *name);
AXLE_API int axle_batch_count(const axle_batch *batch);
/** Name and tensor number @p k; borrowed. */
AXLE_API const char *axle_batch_name(const axle_batch *batch, int k);
AXLE_API axle_tensor *axle_batch_tensor(const axle_batch *batch, int k);
/** Number of samples: dim 0 of the first tensor. */
AXLE_API int64_t axle_batch_rows(const axle_batch *batch);
/** Rows that count: all, or 0 for the dummy row of a process that a last batch left without one. */
AXLE_API int64_t axle_batch_weight(const axle_batch *batch);

/* ------------------------------------------------------------------ data sets */

typedef struct axle_dataset axle_dataset;

/**
 * A data set of your own; every function may run on several threads at once. Starts from
 * AXLE_DATASET_CLASS_INIT.
 * get fills @p sample with tensors of one sample (no batch dim), on the host's device;
 * fetch, where there is one, fills @p batch with n samples at once and is preferred.
 */
typedef struct axle_dataset_class {
    size_t struct_size;
    const char *name;
    int64_t (*length)(void *user);
    int (*get)(void *user, int64_t index, axle_batch *sample);
    int (*fetch)(void *user, const int64_t *indices, int64_t n, axle_batch *batch);
    void (*destroy)(void *user); /**< NULL is fine */
} axle_dataset_class;
#define AXLE_DATASET_CLASS_INIT                                                                    \
    {                                                                                              \
        sizeof(axle_dataset_class), NULL, NULL, NULL, NULL, NULL                                   \
    }

AXLE_API int axle_dataset_create(const axle_dataset_class *type, void *user, axle_dataset **out);
AXLE_API axle_dataset *axle_dataset_retain(axle_dataset *dataset);
AXLE_API void axle_dataset_release(axle_dataset *dataset);
/** AXLE_LENGTH_UNKNOWN for a stream that does not tell. */
AXLE_API int64_t axle_dataset_length(const axle_dataset *dataset);
/** The length of a stream that does not tell, and of a loader over it: more than can be counted. */
#define AXLE_LENGTH_UNKNOWN INT64_MAX
/** What a set of that class was created with: of the same functions, wherever the struct is. NULL,
 * and no error recorded, for other sets. */
AXLE_API void *axle_dataset_user(const axle_dataset *dataset, const axle_dataset_class *type);
/** Samples at @p indices, collated; the caller owns the batch. */
AXLE_API int axle_dataset_fetch(axle_dataset *dataset, const int64_t *indices, int64_t n,
                                axle_batch **out);

/**
 * A stream of your own: samples that come one after the other. Starts from AXLE_STREAM_CLASS_INIT.
 *
 * Each epoch reads it from its beginning. Of a job's processes each reads the whole stream and
 * keeps its rows of each global batch, which are those it would have of a data set of as many
 * samples; so streams must give the same on all. Resuming passes over what was given. Functions of
 * one cursor run one after the other, but not always on the same thread.
 */
typedef struct axle_stream_class {
    size_t struct_size;
    const char *name;
    /** Begin. @param epoch  from 0. @param cursor  what next, skip and close get. */
    int (*open)(void *user, int64_t epoch, void **cursor);
    /** Fill @p sample with tensors of one sample (no batch dim), on the host's device.
     * @return 1; 0 at the end; or an AXLE_ERR_.... */
    int (*next)(void *cursor, axle_batch *sample);
    /** Pass over @p n samples. @return how many there were, which is fewer at the end, or an
     * AXLE_ERR_.... NULL: next does it. */
    int64_t (*skip)(void *cursor, int64_t n);
    void (*close)(void *cursor);   /**< NULL is fine */
    int64_t (*length)(void *user); /**< NULL: unknown. One that is told must be true. */
    void (*destroy)(void *user);   /**< NULL is fine */
} axle_stream_class;
#define AXLE_STREAM_CLASS_INIT                                                                     \
    {                                                                                              \
        sizeof(axle_stream_class), NULL, NULL, NULL, NULL, NULL, NULL, NULL                        \
    }
/** A data set for loaders alone: axle_dataset_fetch() and subsets of it are AXLE_ERR_UNSUPPORTED.
 */
AXLE_API int axle_stream_dataset_create(const axle_stream_class *type, void *user,
                                        axle_dataset **out);

/** Rows of tensors in memory, which are retained. @param names  n names. @param tensors  equal dim
 * 0. */
AXLE_API int axle_tensor_dataset_create(const char *const *names, axle_tensor *const *tensors,
                                        int n, axle_dataset **out);
/**
 * Images and labels in IDX files (the format of MNIST), plain or .gz: train-images-idx3-ubyte[.gz],
 * train-labels-idx1-ubyte[.gz], or t10k-... for @p train 0. Gives "input" (1, H, W) f32 in [0, 1]
 * (x/255) and "target" i64.
 */
AXLE_API int axle_idx_dataset_open(const char *directory, int train, axle_dataset **out);
/** One IDX file as a tensor of its dims (u8, i32, f32, f64), on the host; the caller owns it. */
AXLE_API int axle_idx_read(const char *path, axle_tensor **out);

/** Starts from AXLE_TABLE_OPTIONS_INIT. */
typedef struct axle_table_options {
    size_t struct_size;
    char separator;     /**< 0: tab for .tsv, else comma */
    int header;         /**< the first line holds column names; else "0", "1", ... */
    const char *target; /**< column that becomes "target" (i64 classes, or f32 with regression);
                           NULL: none */
    int regression;
    char quote; /**< 0: none */
} axle_table_options;
#define AXLE_TABLE_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(axle_table_options), 0, 1, NULL, 0, '"'                                             \
    }
/** CSV (RFC 4180) or TSV of numbers: the other columns become "input" (columns) f32. */
AXLE_API int axle_table_dataset_open(const char *path, const axle_table_options *options,
                                     axle_dataset **out);
/** JSON lines: each line an object; numbers and (nested, regular) arrays of numbers become tensors
 * of the key's name: integers i64, others f32. Every line has the same keys; lengths may differ. */
AXLE_API int axle_jsonl_dataset_open(const char *path, axle_dataset **out);
/** A .npy file (version 1 to 3, C or Fortran order), on the host; the caller owns it. */
AXLE_API int axle_npy_read(const char *path, axle_tensor **out);
AXLE_API int axle_npy_write(const char *path, const axle_tensor *tensor);
/** A small, learnable set of pictures for demos: @p n of (1, 28, 28), 10 classes; a function of
 * seed. */
AXLE_API int axle_synthetic_image_dataset_create(int64_t n, uint64_t seed, axle_dataset **out);
/** Samples first..first+count-1 of another set, which is retained. */
AXLE_API int axle_subset_dataset_create(axle_dataset *dataset, int64_t first, int64_t count,
                                        axle_dataset **out);

/* ------------------------------------------------------------------ collating */

/** Join n samples into a batch. @param batch  empty. */
typedef int (*axle_collate_fn)(axle_batch *const *samples, int64_t n, axle_batch *batch,
                               void *user);

/** Stacks tensors of equal names and dims; tensors whose dims differ are padded at the end of each
 * dim to the longest with @p pad (a double). This is the loader's default with 0. */
AXLE_API int axle_collate_pad(axle_batch *const *samples, int64_t n, axle_batch *batch, void *pad);

/* ------------------------------------------------------------------ loaders */

typedef struct axle_loader axle_loader;

/**
 * A sampler of batches of your own. Called for each epoch, on all processes alike.
 * @param n      samples in the data set.
 * @param order  room for n numbers of samples: those of the first global batch, of the second, ...
 * @param ends   room for n: how many numbers of @p order the batches up to each one have.
 * @return how many batches there are, or an AXLE_ERR_....
 */
typedef int64_t (*axle_batches_fn)(int64_t epoch, int64_t n, int64_t *order, int64_t *ends,
                                   void *user);

/** Starts from AXLE_LOADER_OPTIONS_INIT. */
typedef struct axle_loader_options {
    size_t struct_size;
    int64_t batch_size; /**< of this process */
    int shuffle;
    uint64_t seed;
    int drop_last; /**< drop a last batch that is not full */
    /** Threads that fetch ahead; 0: the caller fetches, which is best where fetching is cheap and
     * the kernels keep all cores busy. */
    int workers;
    int prefetch;            /**< batches fetched ahead by each worker */
    axle_collate_fn collate; /**< for sets that have only get; NULL: axle_collate_pad with 0 */
    void *collate_user;
    /** Which samples make up the global batches, of which each process takes its slice; batch_size,
     * shuffle and drop_last then count for nothing. NULL: those. */
    axle_batches_fn batches;
    void *batches_user;
    /** With `shuffle`, of streams: each next sample is drawn from so many that were read ahead. */
    int64_t shuffle_buffer;
} axle_loader_options;
#define AXLE_LOADER_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(axle_loader_options), 1, 0, 0, 0, 0, 2, NULL, NULL, NULL, NULL, 1024                \
    }

/**
 * @param options  NULL for the defaults. The data set is retained.
 *
 * Over a stream there is one thread at most that reads ahead, and `batches` is
 * AXLE_ERR_UNSUPPORTED. In a job the processes compare what their streams gave before each batch:
 * where one ends, fails or differs, the loop ends with an error on all. Inside axle_join_begin()
 * each goes on by itself.
 */
AXLE_API int axle_loader_create(axle_dataset *dataset, const axle_loader_options *options,
                                axle_loader **out);
AXLE_API axle_loader *axle_loader_retain(axle_loader *loader);
AXLE_API void axle_loader_release(axle_loader *loader);

/**
 * The next batch of the epoch. Closes the scope of the last iteration (and the batch with it) and
 * opens a new one; sets the thread's random row. After the last batch it returns 0, closes the
 * scope and moves on to the next epoch.
 * @param out  borrowed; on the device of the accelerator that prepared the loader.
 * @return 1, or 0 at the end of the epoch and on error: see axle_loader_status().
 */
AXLE_API int axle_loader_next(axle_loader *loader, axle_batch **out);
/** AXLE_OK, or the error (recorded, too) that ended the epoch early. */
AXLE_API int axle_loader_status(const axle_loader *loader);
/** Leave the epoch early: closes the scope, and the next batch is the first of the next epoch. */
AXLE_API void axle_loader_break(axle_loader *loader);
/** Batches an epoch; AXLE_LENGTH_UNKNOWN over a stream that does not tell. */
AXLE_API int64_t axle_loader_length(const axle_loader *loader);
/** Number of the current epoch, from 0. */
AXLE_API int64_t axle_loader_epoch(const axle_loader *loader);
AXLE_API int axle_loader_set_epoch(axle_loader *loader, int64_t epoch);
/** Number of batches that the current epoch gave so far. */
AXLE_API int64_t axle_loader_position(const axle_loader *loader);
/** Whether the batch just given is the last of its epoch. */
AXLE_API int axle_loader_is_last(const axle_loader *loader);
/** Begin the next epoch (or the rest of this one) after its first @p batches batches. */
AXLE_API int axle_loader_skip(axle_loader *loader, int64_t batches);

/** Where a loader is, in terms that hold for any number of processes and any batch size. */
typedef struct axle_loader_state {
    size_t struct_size;
    int64_t epoch;
    int64_t samples; /**< of the epoch that were given, by all processes */
    int complete;    /**< whether the epoch's last batch was given */
    int64_t length;  /**< of the data set */
    uint64_t seed;
    int shuffle;
    int64_t shuffle_buffer; /**< of a shuffled stream, whose order depends on it; else 0 */
} axle_loader_state;
#define AXLE_LOADER_STATE_INIT                                                                     \
    {                                                                                              \
        sizeof(axle_loader_state), 0, 0, 0, 0, 0, 0, 0                                             \
    }
AXLE_API axle_loader_state axle_loader_get_state(const axle_loader *loader);
/** Go there: the next batch begins with the first sample that was not given. A loop under way is
 * over. @return AXLE_OK; AXLE_ERR_INVALID for a state of another data set or order. */
AXLE_API int axle_loader_set_state(axle_loader *loader, const axle_loader_state *state);
AXLE_API int64_t axle_loader_batch_size(const axle_loader *loader);
AXLE_API axle_dataset *axle_loader_dataset(const axle_loader *loader);
/** The order in which a loader that shuffles gives @p n samples: a random permutation of 0 to n-1,
 * for samplers of your own. @param out  room for n. */
AXLE_API int axle_epoch_order(uint64_t seed, int64_t epoch, int64_t n, int64_t *out);

AXLE_END_DECLS

#endif
