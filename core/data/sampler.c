/* SPDX-License-Identifier: Apache-2.0 */
#include "data/sampler.h"

#include <inttypes.h>

#include "axle/data.h"
#include "axle/status.h"
#include "tensor/random.h"

/* High half of a 128-bit product. */
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t other = a0 * b1 + (middle & 0xffffffff);
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

/* A key of its own for each epoch. */
static uint64_t epoch_key(uint64_t seed, uint64_t epoch)
{
    uint32_t block[4];
    axle__philox(seed, epoch, block);
    return (uint64_t)block[1] << 32 | block[0];
}

/* Fisher and Yates. 64 random bits scaled to [0, k] favour none by more than k in 2^64. */
void axle__permutation(uint64_t seed, uint64_t epoch, int64_t n, int64_t *out)
{
    uint64_t key = epoch_key(seed, epoch);
    uint32_t block[4];
    for (int64_t k = 0; k < n; k++)
        out[k] = k;
    for (int64_t k = n - 1; k > 0; k--) {
        if (k % 2 || k == n - 1)
            axle__philox(key, (uint64_t)k / 2, block);
        const uint32_t *half = block + 2 * (k % 2);
        uint64_t other = multiply_high((uint64_t)half[1] << 32 | half[0], (uint64_t)k + 1);
        int64_t kept = out[k];
        out[k] = out[other];
        out[other] = kept;
    }
}

int64_t axle__shuffle_draw(uint64_t seed, uint64_t epoch, int64_t draw, int64_t n)
{
    uint32_t block[4];
    axle__philox(epoch_key(seed, epoch), (uint64_t)draw, block);
    return (int64_t)multiply_high((uint64_t)block[1] << 32 | block[0], (uint64_t)n);
}

int axle_epoch_order(uint64_t seed, int64_t epoch, int64_t n, int64_t *out)
{
    if (epoch < 0 || n < 0 || (n > 0 && !out))
        return axle_error_set(AXLE_ERR_INVALID, "order of epoch %" PRId64 ": %" PRId64 " samples%s",
                              epoch, n, out ? "" : " to NULL");
    axle__permutation(seed, (uint64_t)epoch, n, out);
    return AXLE_OK;
}

int64_t axle__shard_length(const axle__shard *shard)
{
    if (shard->ends)
        return shard->batches;
    int64_t global = shard->process_count * shard->batch_size;
    int64_t samples = shard->samples - shard->origin, full = samples / global;
    return full + (!shard->drop_last && samples % global != 0);
}

axle__rows axle__shard_split(const axle__shard *shard, int64_t start, int64_t samples)
{
    int64_t count = shard->process_count, index = shard->process_index;
    int64_t share = samples / count, longer = samples % count;
    axle__rows rows = {
        .first = start + index * share + (index < longer ? index : longer),
        .count = share + (index < longer),
    };
    rows.weight = rows.count;
    if (rows.count == 0)
        rows = (axle__rows){.first = start, .count = 1, .weight = 0};
    return rows;
}

axle__rows axle__shard_rows(const axle__shard *shard, int64_t batch)
{
    int64_t global = shard->process_count * shard->batch_size;
    int64_t start = shard->origin + batch * global, left = shard->samples - start;
    if (shard->ends) {
        start = batch > 0 ? shard->ends[batch - 1] : 0;
        left = shard->ends[batch] - start;
    } else if (left > global) {
        left = global;
    }
    return axle__shard_split(shard, start, left);
}
