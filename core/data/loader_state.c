/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "axle/status.h"
#include "base/memory.h"
#include "base/options_copy.h"
#include "data/loader_inside.h"

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
    axle__loader_go_to_epoch(loader, epoch);
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
    axle__loader_stop(loader);
    loader->position = batches;
    loader->ended = false;
    loader->read = samples_before(loader);
    return AXLE_OK;
}

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
    state.complete = loader->position > 0 && axle__loader_at_end(loader);
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
        axle__loader_leave_epoch(loader);
    if (loader->options.seed != s.seed && !loader->ends) {
        axle__free(loader->order);
        loader->order = NULL;
    }
    axle__loader_go_to_epoch(loader, s.epoch);
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
