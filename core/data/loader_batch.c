/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "axle/status.h"
#include "base/memory.h"
#include "data/loader_inside.h"
#include "device/device.h"

/* Small batches are fetched further ahead than asked for, where that has no other effect. */
enum { AHEAD_MAX = 32, AHEAD_BYTES = 2 << 20 };

/* ---- making a batch, on any thread */

static int fetch_rows(axle_loader *loader, axle__rows rows, axle_batch **out)
{
    int64_t *numbers = NULL;
    const int64_t *indices = loader->order ? loader->order + rows.first : NULL;
    if (!indices) {
        indices = numbers = axle__alloc((size_t)rows.count, sizeof(*numbers));
        if (!numbers)
            return AXLE_ERR_NOMEM;
        for (int64_t k = 0; k < rows.count; k++)
            numbers[k] = rows.first + k;
    }
    int code = axle__dataset_fetch(loader->dataset, indices, rows.count, loader->options.collate,
                                   loader->options.collate_user, out);
    axle__free(numbers);
    return code;
}

static int fetch_numbered(axle_loader *loader, int64_t number, axle_batch **out)
{
    axle__rows rows = axle__shard_rows(&loader->shard, number);
    axle_random_set(
        (axle_random_state){loader->options.seed, (uint64_t)loader->epoch, 0, rows.first});
    int code = fetch_rows(loader, rows, out);
    if (code)
        return code;
    axle__batch_set_weight(*out, rows.weight);
    bool last = number + 1 == axle__shard_length(&loader->shard);
    axle__batch_set_place(*out, (axle__batch_place){.first = rows.first, .last = last});
    return AXLE_OK;
}

static int fetch_and_place(axle_loader *loader, int64_t number, axle_batch **out)
{
    axle_batch *batch;
    int code = loader->stream ? axle__stream_batch(loader->stream, loader->epoch, &loader->shard,
                                                   number, &batch)
                              : fetch_numbered(loader, number, &batch);
    if (code)
        return code;
    if (loader->device && axle__device_is_direct(loader->device))
        code = axle__batch_to_device(batch, loader->device);
    if (code) {
        axle_batch_release(batch);
        return code;
    }
    *out = batch;
    return AXLE_OK;
}

/* What callbacks see is the same on every thread: tensors are made on the host and go with the
 * call, and random numbers follow from the loader's seed, the epoch and the row. */
static int make_batch(void *user, int64_t number, axle_batch **out)
{
    axle_loader *loader = user;
    axle_random_state before = axle_random_get();
    int code = axle_device_push(axle_device_host());
    if (code)
        return code;
    code = axle_scope_push();
    if (!code) {
        axle_device *announced = axle__fetch_device_set(loader->device);
        code = fetch_and_place(loader, number, out);
        axle_random_set(before);
        axle__fetch_device_set(announced);
        axle_scope_pop();
    }
    axle_device_pop();
    return code;
}

/* ---- the run of the workers */

/* A child of fork() has none of its parent's threads, and goes on without any. */
static void forget_lost(axle_loader *loader)
{
    if (loader->prefetch && axle__prefetch_is_lost(loader->prefetch)) {
        loader->prefetch = NULL;
        loader->running = false;
        loader->options.workers = 0;
    }
}

void axle__loader_stop(axle_loader *loader)
{
    forget_lost(loader);
    if (loader->running)
        axle__prefetch_stop(loader->prefetch);
    loader->running = false;
}

/* Batches of the user's must be of samples that there are. */
static int check_batches(const axle_loader *loader, int64_t count)
{
    int64_t n = loader->shard.samples, before = 0;
    if (count < 0)
        return axle_error_set((int)count, "loader: the sampler of batches failed");
    for (int64_t k = 0; k < count; k++) {
        if (k >= n || loader->ends[k] <= before || loader->ends[k] > n)
            return axle_error_set(AXLE_ERR_INDEX,
                                  "loader: batch %" PRId64
                                  " of the sampler of batches ends at %" PRId64 ", after %" PRId64
                                  "; there are %" PRId64 " samples",
                                  k, k < n ? loader->ends[k] : n, before, n);
        before = loader->ends[k];
    }
    for (int64_t k = 0; k < before; k++)
        if (loader->order[k] < 0 || loader->order[k] >= n)
            return axle_error_set(AXLE_ERR_INDEX,
                                  "loader: the sampler of batches names sample %" PRId64
                                  " of %" PRId64,
                                  loader->order[k], n);
    return AXLE_OK;
}

int axle__loader_sample(axle_loader *loader)
{
    const axle_loader_options *o = &loader->options;
    size_t room = (size_t)loader->shard.samples + 1;
    if (!o->batches)
        return AXLE_OK;
    if (!loader->ends && !(loader->ends = axle__alloc(room, sizeof(*loader->ends))))
        return axle_error_code();
    if (!loader->order && !(loader->order = axle__alloc(room, sizeof(*loader->order))))
        return axle_error_code();
    int64_t count = o->batches(loader->epoch, loader->shard.samples, loader->order, loader->ends,
                               o->batches_user);
    int code = check_batches(loader, count);
    loader->shard.ends = loader->ends;
    loader->shard.batches = code ? 0 : count;
    return code;
}

static int make_order(axle_loader *loader)
{
    if (loader->stream || loader->options.batches || !loader->options.shuffle ||
        (loader->order && loader->order_epoch == loader->epoch))
        return AXLE_OK;
    if (!loader->order)
        loader->order = axle__alloc((size_t)loader->shard.samples, sizeof(*loader->order));
    if (!loader->order)
        return AXLE_ERR_NOMEM;
    axle__permutation(loader->options.seed, (uint64_t)loader->epoch, loader->shard.samples,
                      loader->order);
    loader->order_epoch = loader->epoch;
    return AXLE_OK;
}

/* Batches that are made ahead. */
static int64_t run_depth(const axle_loader *loader)
{
    const axle_loader_options *options = &loader->options;
    int64_t asked = (int64_t)options->workers * options->prefetch, small = 0;
    if (loader->dataset->resident)
        small = AHEAD_BYTES / (int64_t)loader->dataset->resident / options->batch_size;
    if (small > AHEAD_MAX)
        small = AHEAD_MAX;
    return small > asked ? small : asked;
}

/* A stream is read by one thread. */
static int run_workers(const axle_loader *loader)
{
    return loader->stream ? 1 : loader->options.workers;
}

static int64_t run_end(const axle_loader *loader)
{
    return loader->stream ? INT64_MAX : axle__shard_length(&loader->shard);
}

static int start_run(axle_loader *loader)
{
    int code = make_order(loader);
    if (code || loader->options.workers == 0)
        return code;
    if (!loader->prefetch)
        code = axle__prefetch_create(run_workers(loader), (int)run_depth(loader), make_batch,
                                     loader, &loader->prefetch);
    if (code)
        return code;
    axle__prefetch_start(loader->prefetch, loader->position, run_end(loader));
    loader->running = true;
    return AXLE_OK;
}

int axle__loader_take(axle_loader *loader, axle_batch **out)
{
    forget_lost(loader);
    int code = loader->running ? AXLE_OK : start_run(loader);
    if (code)
        return code;
    if (loader->running)
        return axle__prefetch_take(loader->prefetch, out);
    return make_batch(loader, loader->position, out);
}
