/* SPDX-License-Identifier: Apache-2.0 */
/* Random words, uniform numbers and dropout. */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"
#include "../philox.h"

/* Words number first, first + 1, ... of the stream of `seed`. */
static void words(uint64_t seed, uint64_t first, int64_t n, uint32_t *out)
{
    uint32_t group[PHILOX_WORDS];
    int64_t skip = (int64_t)(first % 4);
    uint64_t counter = first / 4;
    for (int64_t done = 0; done < n; counter += PHILOX_BLOCKS) {
        if (skip == 0 && n - done >= PHILOX_WORDS) {
            philox_group(seed, counter, out + done);
            done += PHILOX_WORDS;
            continue;
        }
        philox_group(seed, counter, group);
        const int64_t left = n - done, some = PHILOX_WORDS - skip;
        const int64_t take = left < some ? left : some;
        memcpy(out + done, group + skip, (size_t)take * sizeof(uint32_t));
        done += take;
        skip = 0;
    }
}

/* Product and sum are each rounded, on every backend. Two loops keep them apart: written as one
 * expression, a compiler would fuse them. */
#define DEFINE_UNIFORM(name, type)                                                                 \
    static void name(const uint32_t *random, type low, type high, type *y, int64_t n)              \
    {                                                                                              \
        const type width = high - low;                                                             \
        SIMD for (int64_t i = 0; i < n; i++) y[i] =                                                \
            width * ((type)(int32_t)(random[i] >> 8) * (type)0x1p-24);                             \
        SIMD for (int64_t i = 0; i < n; i++) y[i] = low + y[i];                                    \
    }
DEFINE_UNIFORM(uniform, float)
DEFINE_UNIFORM(uniform64, double)

/* x is chosen, not multiplied: a dropped NaN is 0. */
#define DEFINE_DROPOUT(name, type)                                                                 \
    static void name(const uint32_t *random, uint32_t threshold, type keep, const type *x,         \
                     type *y, int64_t n)                                                           \
    {                                                                                              \
        SIMD for (int64_t i = 0; i < n; i++)                                                       \
        {                                                                                          \
            const type scaled = x[i] / keep;                                                       \
            y[i] = (int32_t)(random[i] >> 8) >= (int32_t)threshold ? scaled : 0;                   \
        }                                                                                          \
    }
DEFINE_DROPOUT(dropout, float)
DEFINE_DROPOUT(dropout64, double)

const struct random_loops LOOP(cpu_random_loops) = {
    .words = words,
    .uniform = uniform,
    .uniform64 = uniform64,
    .dropout = dropout,
    .dropout64 = dropout64,
};
#endif
LOOP_END;
