/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file random.h
 * Random numbers: Philox4x32-10, the same bits on every backend and number of processes.
 *
 * A draw is keyed by (seed, update, draw number). Inside a loop dim 0 of what is drawn counts the
 * rows of the batch, and elements are counted from the global index of its first row, so that the
 * mask that dropout gives a sample, or the noise that it is given, does not depend on the number of
 * processes. The optimizer step advances the update; a loader's next batch restarts the draws.
 * State belongs to the thread.
 */
#ifndef AXLE_RANDOM_H
#define AXLE_RANDOM_H

#include "axle/types.h"

AXLE_BEGIN_DECLS

typedef struct axle_random_state {
    uint64_t seed;
    uint64_t update; /**< optimizer updates so far */
    uint64_t draw;   /**< number of the next draw; batches begin at 2^32 */
    int64_t row;     /**< global index of the batch's first row */
} axle_random_state;

/** Seed this thread's stream and restart it: update, draw and row 0. The initial seed is 0. */
AXLE_API void axle_seed(uint64_t seed);
AXLE_API axle_random_state axle_random_get(void);
AXLE_API void axle_random_set(axle_random_state state);
/** Four words of Philox4x32-10 (Salmon et al., 2011) that follow from key and counter alone: for
 * random choices of your own, on any thread. */
AXLE_API void axle_random_block(uint64_t seed, uint64_t counter, uint32_t out[4]);

AXLE_END_DECLS

#endif
