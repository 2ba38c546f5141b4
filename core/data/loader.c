/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "axle/status.h"
#include "base/memory.h"
#include "base/options_copy.h"
#include "data/loader_inside.h"
#include "device/hook.h"

enum { WORKERS_MAX = 1024 };

/* ---- turns of the loop */

/* Draws of a loop are numbered from here, far from those outside of it (of initial values, say). */
static const uint64_t first_draw_of_batch = UINT64_C(1) << 32;

/* The loop's own draws begin anew with each batch; those outside of it go on where they were. */
static void enter_random(axle_loader *loader)
{
    axle_random_state state = axle_random_get();
    state.draw = first_draw_of_batch;
    state.row = axle__batch_get_place(loader->batch).first;
    axle_random_set(state);
}

static void leave_random(const axle_loader *loader)
{
    axle_random_state state = axle_random_get();
    state.draw = loader->outside.draw;
    state.row = loader->outside.row;
    axle_random_set(state);
}

static void close_turn(axle_loader *loader)
{
    axle__iteration_close(&loader->iteration);
    axle_batch_release(loader->batch);
    loader->batch = NULL;
    loader->last = false;
}

void axle__loader_go_to_epoch(axle_loader *loader, int64_t epoch)
{
    axle__loader_stop(loader);
    if (epoch != loader->epoch) {
        loader->epoch = epoch;
        loader->sampled = axle__loader_sample(loader);
    }
    loader->position = 0;
    loader->shard.origin = 0;
    loader->ended = false;
    loader->read = 0;
}

void axle__loader_leave_epoch(axle_loader *loader)
{
    close_turn(loader);
    axle__loader_go_to_epoch(loader, loader->epoch + 1);
    if (!loader->started)
        return;
    loader->started = false;
    leave_random(loader);
    if (loader->observer)
        loader->observer(loader->observer_user, loader, NULL, 0);
}

/* @param code  of taking the batch. Streams have ended where there is none. */
static int agree_on_batch(axle_loader *loader, int code)
{
    axle__batch_place place = {0};
    if (!code)
        place = axle__batch_get_place(loader->batch);
    if (loader->agree)
        code = loader->agree(loader->agree_user, code, place.given, place.last);
    if (code)
        return code;
    loader->read = place.given;
    loader->ended = place.last;
    return AXLE_OK;
}

static int open_turn(axle_loader *loader)
{
    int code = axle__iteration_open(&loader->iteration);
    if (!code)
        code = axle__loader_take(loader, &loader->batch);
    if (loader->stream)
        code = agree_on_batch(loader, code);
    if (!code && loader->device)
        code = axle__batch_to_device(loader->batch, loader->device);
    if (code || axle_batch_count(loader->batch) == 0)
        return code;
    enter_random(loader);
    loader->position++;
    loader->last = axle__batch_get_place(loader->batch).last;
    return AXLE_OK;
}

static void start_epoch(axle_loader *loader)
{
    loader->status = AXLE_OK;
    loader->started = true;
    loader->outside = axle_random_get();
}

bool axle__loader_at_end(const axle_loader *loader)
{
    return loader->stream ? loader->ended : loader->position >= axle__shard_length(&loader->shard);
}

int axle_loader_next(axle_loader *loader, axle_batch **out)
{
    if (!loader || !out) {
        axle_error_set(AXLE_ERR_INVALID, "loader: %s is NULL",
                       loader ? "the place for the batch" : "it");
        return 0;
    }
    close_turn(loader);
    if (!loader->started)
        start_epoch(loader);
    if (loader->sampled) {
        int code = loader->sampled;
        axle__loader_leave_epoch(loader);
        loader->status = code;
        return 0;
    }
    if (axle__loader_at_end(loader)) {
        axle__loader_leave_epoch(loader);
        return 0;
    }
    axle__hook_point phase;
    axle__phase_begin(&phase, "data");
    loader->status = open_turn(loader);
    axle__phase_end(&phase);
    if (loader->status || axle_batch_count(loader->batch) == 0) {
        axle__loader_leave_epoch(loader);
        return 0;
    }
    if (loader->observer)
        loader->observer(loader->observer_user, loader, loader->batch, loader->last);
    *out = loader->batch;
    return 1;
}

void axle_loader_break(axle_loader *loader)
{
    if (loader && loader->started)
        axle__loader_leave_epoch(loader);
}

/* ---- life time */

static int check_options(const axle_loader_options *options)
{
    if (options->batch_size < 1)
        return axle_error_set(AXLE_ERR_INVALID, "loader: a batch size of %" PRId64,
                              options->batch_size);
    if (options->workers < 0 || options->workers > WORKERS_MAX)
        return axle_error_set(AXLE_ERR_INVALID, "loader: %d workers", options->workers);
    if (options->workers && (options->prefetch < 1 || options->prefetch > INT32_MAX / WORKERS_MAX))
        return axle_error_set(AXLE_ERR_INVALID, "loader: %d batches to prefetch",
                              options->prefetch);
    return AXLE_OK;
}

int axle_loader_create(axle_dataset *dataset, const axle_loader_options *options, axle_loader **out)
{
    axle_loader_options all = AXLE_LOADER_OPTIONS_INIT;
    int code = axle__options_copy("loader", options, &all, sizeof(all));
    if (code)
        return code;
    if (!dataset || dataset->object.type != AXLE__OBJECT_DATASET)
        return axle_error_set(AXLE_ERR_INVALID, "loader: %s",
                              dataset ? "that is no data set" : "no data set");
    code = check_options(&all);
    int64_t samples = axle_dataset_length(dataset);
    if (!code && samples < 0)
        code =
            axle_error_set(AXLE_ERR_INVALID, "loader: the data set's length is %" PRId64, samples);
    if (code)
        return code;
    axle_loader *loader = axle__alloc(1, sizeof(*loader));
    if (!loader)
        return AXLE_ERR_NOMEM;
    axle__object_init(&loader->object, AXLE__OBJECT_LOADER);
    loader->dataset = axle_dataset_retain(dataset);
    loader->options = all;
    code = axle__dataset_is_stream(dataset)
               ? axle__stream_create(dataset, &loader->options, &loader->stream)
               : AXLE_OK;
    loader->shard = (axle__shard){.samples = samples,
                                  .batch_size = all.batch_size,
                                  .process_count = 1,
                                  .drop_last = all.drop_last != 0};
    if (!code)
        code = axle__loader_sample(loader);
    if (code)
        axle_loader_release(loader);
    else
        *out = loader;
    return code;
}

axle_loader *axle_loader_retain(axle_loader *loader)
{
    if (loader)
        axle__object_retain(&loader->object);
    return loader;
}

void axle_loader_release(axle_loader *loader)
{
    if (!loader || !axle__object_release(&loader->object))
        return;
    close_turn(loader);
    axle__loader_stop(loader);
    axle__prefetch_destroy(loader->prefetch);
    axle__stream_destroy(loader->stream);
    axle_dataset_release(loader->dataset);
    axle__free(loader->order);
    axle__free(loader->ends);
    axle__free(loader);
}

/* ---- inspection */

int axle_loader_status(const axle_loader *loader)
{
    return loader ? loader->status : AXLE_ERR_INVALID;
}

int64_t axle_loader_length(const axle_loader *loader)
{
    if (!loader)
        return 0;
    return loader->shard.samples == AXLE_LENGTH_UNKNOWN ? AXLE_LENGTH_UNKNOWN
                                                        : axle__shard_length(&loader->shard);
}

int64_t axle_loader_epoch(const axle_loader *loader)
{
    return loader ? loader->epoch : 0;
}

int64_t axle_loader_position(const axle_loader *loader)
{
    return loader ? loader->position : 0;
}

int axle_loader_is_last(const axle_loader *loader)
{
    return loader && loader->last;
}

int64_t axle_loader_batch_size(const axle_loader *loader)
{
    return loader ? loader->options.batch_size : 0;
}

axle_dataset *axle_loader_dataset(const axle_loader *loader)
{
    return loader ? loader->dataset : NULL;
}

/* ---- the accelerator's part */

void axle__loader_place(axle_loader *loader, axle_device *device)
{
    if (loader->device == device)
        return;
    axle__loader_stop(loader);
    loader->device = device;
}

int axle__loader_shard(axle_loader *loader, int64_t count, int64_t index)
{
    if (count < 1 || index < 0 || index >= count || count > INT64_MAX / loader->options.batch_size)
        return axle_error_set(AXLE_ERR_INVALID, "loader: process %" PRId64 " of %" PRId64, index,
                              count);
    axle__loader_stop(loader);
    loader->shard.process_count = count;
    loader->shard.process_index = index;
    return AXLE_OK;
}

void axle__loader_set_observer(axle_loader *loader, axle__loader_fn fn, void *user)
{
    loader->observer = fn;
    loader->observer_user = user;
}

void axle__loader_set_agree(axle_loader *loader, axle__agree_fn fn, void *user)
{
    loader->agree = fn;
    loader->agree_user = user;
}
