/* SPDX-License-Identifier: Apache-2.0 */
#include "data/loader.h"

#include <inttypes.h>

#include "axle/random.h"
#include "axle/status.h"
#include "base/memory.h"
#include "base/options_copy.h"
#include "data/dataset.h"
#include "data/iteration.h"
#include "data/prefetch.h"
#include "data/sampler.h"
#include "data/stream.h"
#include "device/hook.h"

/* Small batches are fetched further ahead than asked for, where that has no other effect. */
enum { AHEAD_MAX = 32, AHEAD_BYTES = 2 << 20, WORKERS_MAX = 1024 };

struct axle_loader {
    axle_object object;
    axle_dataset *dataset;
    axle_loader_options options;
    axle__loader_fn observer;
    void *observer_user;
    axle__agree_fn agree;
    void *agree_user;

    /* Where the loop is. */
    int64_t epoch, position;
    int status;
    bool started; /* the epoch gave a batch, or was asked for one */
    bool last;    /* the batch below is the epoch's last */
    bool ended;   /* of streams: the epoch has no more batches */
    int64_t read; /* of streams: samples that the epoch gave so far, on all processes */
    axle__iteration iteration;
    axle_batch *batch;
    axle_random_state outside; /* the thread's random state around the loop, if `started` */

    axle__stream *stream; /* over a stream, else NULL; of the workers while a run is under way */

    /* What workers read; it changes only while no run is under way. */
    axle__shard shard;
    axle_device *device; /* NULL: host */
    int64_t *order;      /* of the epoch's samples; NULL as long as there is none, or in order */
    int64_t order_epoch;
    int64_t *ends; /* of the batches that the user's sampler made */
    int sampled;   /* what came of that */

    axle__prefetch *prefetch;
    bool running;
};

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

/* To be called before anything changes that workers read. */
static void stop_run(axle_loader *loader)
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

/* Let the user's sampler, where there is one, make the batches of the epoch. */
static int sample_batches(axle_loader *loader)
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

static int take_batch(axle_loader *loader, axle_batch **out)
{
    forget_lost(loader);
    int code = loader->running ? AXLE_OK : start_run(loader);
    if (code)
        return code;
    if (loader->running)
        return axle__prefetch_take(loader->prefetch, out);
    return make_batch(loader, loader->position, out);
}

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

/* Make the next batch the first of an epoch. */
static void go_to_epoch(axle_loader *loader, int64_t epoch)
{
    stop_run(loader);
    if (epoch != loader->epoch) {
        loader->epoch = epoch;
        loader->sampled = sample_batches(loader);
    }
    loader->position = 0;
    loader->shard.origin = 0;
    loader->ended = false;
    loader->read = 0;
}

/* The epoch is over, for whatever reason. */
static void leave_epoch(axle_loader *loader)
{
    close_turn(loader);
    go_to_epoch(loader, loader->epoch + 1);
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
        code = take_batch(loader, &loader->batch);
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

static bool at_end(const axle_loader *loader)
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
        leave_epoch(loader);
        loader->status = code;
        return 0;
    }
    if (at_end(loader)) {
        leave_epoch(loader);
        return 0;
    }
    axle__hook_point phase;
    axle__phase_begin(&phase, "data");
    loader->status = open_turn(loader);
    axle__phase_end(&phase);
    if (loader->status || axle_batch_count(loader->batch) == 0) {
        leave_epoch(loader);
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
        leave_epoch(loader);
}

static int64_t global_batch(const axle_loader *loader)
{
    return loader->shard.process_count * loader->shard.batch_size;
}

/* Samples in the batches before this position, were all full. */
static int64_t samples_before(const axle_loader *loader)
{
    return loader->shard.origin + loader->position * global_batch(loader);
}

int axle_loader_set_epoch(axle_loader *loader, int64_t epoch)
{
    if (!loader || epoch < 0)
        return axle_error_set(AXLE_ERR_INVALID, "loader: epoch %" PRId64 "%s", epoch,
                              loader ? "" : " of NULL");
    int64_t skipped = loader->started ? 0 : loader->position;
    int64_t origin = loader->started ? 0 : loader->shard.origin;
    go_to_epoch(loader, epoch);
    loader->position = skipped;
    loader->shard.origin = origin;
    loader->read = samples_before(loader);
    return AXLE_OK;
}

int axle_loader_skip(axle_loader *loader, int64_t batches)
{
    int64_t length = axle_loader_length(loader);
    if (!loader || batches < 0 || batches > length)
        return axle_error_set(AXLE_ERR_INDEX, "loader: %" PRId64 " batches to skip, of %" PRId64,
                              batches, length);
    stop_run(loader);
    loader->position = batches;
    loader->ended = false;
    loader->read = samples_before(loader);
    return AXLE_OK;
}

/* ---- where it is */

/* Samples that the epoch gave so far, on all processes. */
static int64_t given_samples(const axle_loader *loader)
{
    if (loader->stream)
        return loader->read;
    if (!loader->ends)
        return samples_before(loader);
    return loader->position > 0 ? loader->ends[loader->position - 1] : 0;
}

static void continue_from(axle_loader *loader, int64_t samples)
{
    int64_t length = axle_loader_length(loader), batch = 0;
    if (!loader->ends) {
        loader->shard.origin = samples % global_batch(loader);
        loader->position = samples / global_batch(loader);
        return;
    }
    while (batch < length && loader->ends[batch] <= samples)
        batch++;
    loader->position = batch;
}

static int64_t buffer_of(const axle_loader *loader)
{
    return loader->stream && loader->options.shuffle ? loader->options.shuffle_buffer : 0;
}

axle_loader_state axle_loader_get_state(const axle_loader *loader)
{
    axle_loader_state state = AXLE_LOADER_STATE_INIT;
    if (!loader)
        return state;
    int64_t given = given_samples(loader);
    state.epoch = loader->epoch;
    state.length = loader->shard.samples;
    state.samples = given < state.length ? given : state.length;
    state.complete = loader->position > 0 && at_end(loader);
    state.seed = loader->options.seed;
    state.shuffle = loader->options.shuffle != 0;
    state.shuffle_buffer = buffer_of(loader);
    return state;
}

int axle__loader_check_state(const axle_loader *loader, const axle_loader_state *state)
{
    if (state->length != loader->shard.samples)
        return axle_error_set(AXLE_ERR_INVALID,
                              "loader: the state is of a data set of %" PRId64
                              " samples; this one has %" PRId64,
                              state->length, loader->shard.samples);
    if ((state->shuffle != 0) != (loader->options.shuffle != 0))
        return axle_error_set(AXLE_ERR_INVALID, "loader: the state is of one that shuffles%s",
                              state->shuffle ? "; this one does not" : " not; this one does");
    if (state->shuffle_buffer != buffer_of(loader))
        return axle_error_set(AXLE_ERR_INVALID,
                              "loader: the state is of a stream shuffled in a buffer of %" PRId64
                              ", not %" PRId64,
                              state->shuffle_buffer, buffer_of(loader));
    if (state->epoch < 0 || state->samples < 0 || state->samples > state->length)
        return axle_error_set(AXLE_ERR_INVALID,
                              "loader: a state of epoch %" PRId64 ", %" PRId64 " of %" PRId64
                              " samples",
                              state->epoch, state->samples, state->length);
    return AXLE_OK;
}

int axle_loader_set_state(axle_loader *loader, const axle_loader_state *state)
{
    axle_loader_state s = AXLE_LOADER_STATE_INIT;
    if (!loader || !state)
        return axle_error_set(AXLE_ERR_INVALID, "loader: %s is NULL", loader ? "the state" : "it");
    int code = axle__options_copy("loader", state, &s, sizeof(s));
    if (!code)
        code = axle__loader_check_state(loader, &s);
    if (code)
        return code;
    if (loader->started)
        leave_epoch(loader);
    if (loader->options.seed != s.seed && !loader->ends) {
        axle__free(loader->order);
        loader->order = NULL;
    }
    go_to_epoch(loader, s.epoch);
    loader->options.seed = s.seed;
    if (s.complete)
        loader->position = loader->stream
                               ? (s.samples + global_batch(loader) - 1) / global_batch(loader)
                               : axle_loader_length(loader);
    else
        continue_from(loader, s.samples);
    loader->ended = s.complete != 0;
    loader->read = s.samples;
    return AXLE_OK;
}

bool axle__loader_outside(const axle_loader *loader, axle_random_state *out)
{
    if (loader->started)
        *out = loader->outside;
    return loader->started;
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
        code = sample_batches(loader);
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
    stop_run(loader);
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
    stop_run(loader);
    loader->device = device;
}

int axle__loader_shard(axle_loader *loader, int64_t count, int64_t index)
{
    if (count < 1 || index < 0 || index >= count || count > INT64_MAX / loader->options.batch_size)
        return axle_error_set(AXLE_ERR_INVALID, "loader: process %" PRId64 " of %" PRId64, index,
                              count);
    stop_run(loader);
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
