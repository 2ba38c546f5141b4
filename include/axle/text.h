/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file text.h
 * Data of texts (libaxle-models).
 */
#ifndef AXLE_TEXT_H
#define AXLE_TEXT_H

#include "axle/data.h"

AXLE_BEGIN_DECLS

/* ------------------------------------------------------------------ batches of like lengths */

typedef struct axle_length_groups axle_length_groups;

/** Starts from AXLE_LENGTH_GROUPS_OPTIONS_INIT. */
typedef struct axle_length_groups_options {
    size_t struct_size;
    int64_t batch_size; /**< of all processes together */
    uint64_t seed;
    int64_t span; /**< batches whose samples are drawn together and then sorted by length */
} axle_length_groups_options;
#define AXLE_LENGTH_GROUPS_OPTIONS_INIT                                                            \
    {                                                                                              \
        sizeof(axle_length_groups_options), 1, 0, 50                                               \
    }

/**
 * Batches of samples of like lengths, so that little is padded. The samples are shuffled, cut into
 * spans, sorted within each and cut into batches, which are shuffled again; the one with the
 * longest sample comes first, so that memory runs out at once or never. A function of seed and
 * epoch alone.
 *
 *     axle_length_groups_create(lengths, n, &options, &groups);
 *     loader_options.batches = axle_length_groups_batches;
 *     loader_options.batches_user = groups;      which must live as long as the loader
 */
AXLE_API int axle_length_groups_create(const int64_t *lengths, int64_t n,
                                       const axle_length_groups_options *options,
                                       axle_length_groups **out);
/** NULL is fine. */
AXLE_API void axle_length_groups_release(axle_length_groups *groups);
/** An axle_batches_fn. @param groups  an axle_length_groups for as many samples. */
AXLE_API int64_t axle_length_groups_batches(int64_t epoch, int64_t n, int64_t *order, int64_t *ends,
                                            void *groups);

AXLE_END_DECLS

#endif
