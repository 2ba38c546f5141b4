/* SPDX-License-Identifier: Apache-2.0 */
#include "data/stream.h"

#include <inttypes.h>
#include <string.h>

#include "axle/random.h"
#include "axle/status.h"
#include "base/memory.h"
#include "data/batch.h"
#include "data/dataset.h"

typedef struct samples {
    axle_batch **at;
    int64_t count, room;
} samples;

struct axle__stream {
    axle_dataset *dataset;
    const axle_loader_options *options;
    void *cursor;
    bool open;   /* there is a cursor */
    bool dry;    /* the stream has ended */
    bool failed; /* at batch number `failed_at` of the epoch */
    int64_t failed_at;
    uint64_t seed; /* what it was opened with */
    int64_t epoch;
    int64_t read;  /* samples taken from the cursor */
    int64_t drawn; /* samples that left the pool */
    int64_t start; /* number of the first sample ahead */
    samples pool;  /* to draw from, where shuffled */
    samples ahead; /* in the order in which they are given */
};

/* ---- lists of samples */

/* Takes the sample over, also on failure. */
static int append(samples *list, axle_batch *sample)
{
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : 16;
        axle_batch **at = axle__resize(list->at, (size_t)room, sizeof(*at));
        if (!at) {
            axle_batch_release(sample);
            return AXLE_ERR_NOMEM;
        }
        list->at = at;
        list->room = room;
    }
    list->at[list->count++] = sample;
    return AXLE_OK;
}

static void drop_first(samples *list, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        axle_batch_release(list->at[k]);
    list->count -= count;
    if (list->count)
        memmove(list->at, list->at + count, (size_t)list->count * sizeof(*list->at));
}

/* ---- the cursor */

static const axle_stream_class *class_of(const axle__stream *stream)
{
    return &stream->dataset->stream;
}

static const char *name_of(const axle__stream *stream)
{
    return stream->dataset->type.name;
}

static int failed(const axle__stream *stream, const char *callback, int code)
{
    if (code > 0)
        code = AXLE_ERR_INVALID;
    return axle_error_set(code, "%s: %s after %" PRId64 " samples: %s", name_of(stream), callback,
                          stream->read, axle_status_text(code));
}

static void close_cursor(axle__stream *stream)
{
    drop_first(&stream->pool, stream->pool.count);
    drop_first(&stream->ahead, stream->ahead.count);
    if (stream->open && class_of(stream)->close)
        class_of(stream)->close(stream->cursor);
    stream->open = false;
}

static int open_cursor(axle__stream *stream, int64_t epoch)
{
    close_cursor(stream);
    stream->epoch = epoch;
    stream->seed = stream->options->seed;
    stream->dry = false;
    stream->read = stream->drawn = stream->start = 0;
    stream->cursor = NULL;
    int code = class_of(stream)->open(stream->dataset->user, epoch, &stream->cursor);
    if (code)
        return failed(stream, "open", code);
    stream->open = true;
    return AXLE_OK;
}

/* A length that was told must be true: the program may count on it. */
static int check_length(const axle__stream *stream)
{
    int64_t told = axle_dataset_length(stream->dataset);
    bool fits =
        told == AXLE_LENGTH_UNKNOWN || (stream->dry ? stream->read == told : stream->read <= told);
    return fits ? AXLE_OK
                : axle_error_set(
                      AXLE_ERR_INVALID,
                      "%s: it told a length of %" PRId64 ", and gave %s%" PRId64 " samples",
                      name_of(stream), told, stream->dry ? "" : "at least ", stream->read);
}

/* The next sample as the stream has it; NULL at its end. Random numbers follow from its number. */
static int read_sample(axle__stream *stream, axle_batch **out)
{
    axle_batch *sample;
    *out = NULL;
    if (stream->dry)
        return AXLE_OK;
    int code = axle_batch_create(&sample);
    if (code)
        return code;
    axle_random_state state = {stream->seed, (uint64_t)stream->epoch, 0, stream->read};
    axle_random_set(state);
    int given = class_of(stream)->next(stream->cursor, sample);
    stream->dry = given == 0;
    stream->read += given == 1;
    code = given == 0 || given == 1 ? check_length(stream) : failed(stream, "next", given);
    if (!code && given)
        *out = sample;
    else
        axle_batch_release(sample);
    return code;
}

/* ---- the order */

static int64_t pool_size(const axle__stream *stream)
{
    return stream->options->shuffle ? stream->options->shuffle_buffer : 1;
}

static int fill_pool(axle__stream *stream)
{
    int code = AXLE_OK;
    while (!code && !stream->dry && stream->pool.count < pool_size(stream)) {
        axle_batch *sample;
        code = read_sample(stream, &sample);
        if (!code && sample)
            code = append(&stream->pool, sample);
    }
    return code;
}

/* The next sample as it is given; NULL at the end. */
static int draw_sample(axle__stream *stream, axle_batch **out)
{
    samples *pool = &stream->pool;
    int code = fill_pool(stream);
    *out = NULL;
    if (code || pool->count == 0)
        return code;
    int64_t k = pool->count == 1 ? 0
                                 : axle__shuffle_draw(stream->seed, (uint64_t)stream->epoch,
                                                      stream->drawn, pool->count);
    stream->drawn++;
    *out = pool->at[k];
    pool->at[k] = pool->at[--pool->count];
    return AXLE_OK;
}

/* Have so many samples ahead, unless the stream ends before. */
static int look_ahead(axle__stream *stream, int64_t count)
{
    while (stream->ahead.count < count) {
        axle_batch *sample;
        int code = draw_sample(stream, &sample);
        if (code || !sample)
            return code;
        code = append(&stream->ahead, sample);
        if (code)
            return code;
    }
    return AXLE_OK;
}

/* ---- positions */

static void give_up(axle__stream *stream, int64_t count)
{
    drop_first(&stream->ahead, count);
    stream->start += count;
}

/* The stream's own way of passing over samples; not where some were read ahead. */
static int skip_samples(axle__stream *stream, int64_t count)
{
    if (!class_of(stream)->skip || stream->dry || pool_size(stream) > 1)
        return AXLE_OK;
    int64_t skipped = class_of(stream)->skip(stream->cursor, count);
    if (skipped < 0 || skipped > count)
        return failed(stream, "skip", skipped < 0 ? (int)skipped : AXLE_ERR_INVALID);
    stream->read += skipped;
    stream->drawn += skipped;
    stream->start += skipped;
    stream->dry = skipped < count;
    return check_length(stream);
}

/* Make sample number `start` the first one ahead, unless the stream ends before. */
static int go_to(axle__stream *stream, int64_t epoch, int64_t start)
{
    bool anew = !stream->open || stream->epoch != epoch || stream->start > start ||
                stream->seed != stream->options->seed;
    int code = anew ? open_cursor(stream, epoch) : AXLE_OK;
    if (!code && stream->start < start && stream->ahead.count == 0)
        code = skip_samples(stream, start - stream->start);
    while (!code && stream->start < start) {
        code = look_ahead(stream, 1);
        if (code || stream->ahead.count == 0)
            break;
        int64_t count = stream->ahead.count, wanted = start - stream->start;
        give_up(stream, count < wanted ? count : wanted);
    }
    return code;
}

/* ---- batches */

static int take(axle__stream *stream, const axle__shard *shard, int64_t count, axle_batch *batch)
{
    const axle_loader_options *o = stream->options;
    axle__rows rows = axle__shard_split(shard, stream->start, count);
    axle_random_state state = {stream->seed, (uint64_t)stream->epoch, 0, rows.first};
    axle_random_set(state);
    int code = axle__dataset_collate(stream->dataset, stream->ahead.at + rows.first - stream->start,
                                     rows.count, o->collate, o->collate_user, batch);
    if (code)
        return code;
    axle__batch_set_weight(batch, rows.weight);
    give_up(stream, count);
    axle__batch_set_place(batch, (axle__batch_place){.first = rows.first, .given = stream->start});
    return AXLE_OK;
}

/* @param batch  empty; stays so at the end. */
static int fill(axle__stream *stream, int64_t epoch, const axle__shard *shard, int64_t number,
                axle_batch *batch)
{
    int64_t global = shard->process_count * shard->batch_size;
    int64_t enough = shard->drop_last ? global : 1; /* for another batch */
    int code = go_to(stream, epoch, shard->origin + number * global);
    if (!code)
        code = look_ahead(stream, global + enough);
    int64_t count = stream->ahead.count < global ? stream->ahead.count : global;
    if (!code && count >= enough)
        code = take(stream, shard, count, batch);
    if (code)
        return code;
    axle__batch_place place = axle__batch_get_place(batch);
    place.given = stream->start;
    place.last = stream->ahead.count < enough;
    axle__batch_set_place(batch, place);
    return AXLE_OK;
}

int axle__stream_batch(axle__stream *stream, int64_t epoch, const axle__shard *shard,
                       int64_t number, axle_batch **out)
{
    axle_batch *batch;
    /* Whoever reads ahead shall not read the stream again to fail once more. */
    if (stream->failed && stream->epoch == epoch && number > stream->failed_at)
        return axle_error_set(AXLE_ERR_STATE, "%s: it failed at batch %" PRId64, name_of(stream),
                              stream->failed_at);
    int code = axle_batch_create(&batch);
    if (code)
        return code;
    code = fill(stream, epoch, shard, number, batch);
    stream->failed = code != AXLE_OK;
    stream->failed_at = number;
    if (code) {
        axle_batch_release(batch);
        close_cursor(stream);
        return code;
    }
    *out = batch;
    return AXLE_OK;
}

/* ---- life time */

int axle__stream_create(axle_dataset *dataset, const axle_loader_options *options,
                        axle__stream **out)
{
    if (options->batches)
        return axle_error_set(AXLE_ERR_UNSUPPORTED,
                              "loader: samples of a stream have no numbers for a sampler");
    if (options->shuffle && options->shuffle_buffer < 1)
        return axle_error_set(AXLE_ERR_INVALID, "loader: a shuffle_buffer of %" PRId64,
                              options->shuffle_buffer);
    axle__stream *stream = axle__alloc(1, sizeof(*stream));
    if (!stream)
        return AXLE_ERR_NOMEM;
    stream->dataset = dataset;
    stream->options = options;
    *out = stream;
    return AXLE_OK;
}

void axle__stream_destroy(axle__stream *stream)
{
    if (!stream)
        return;
    close_cursor(stream);
    axle__free(stream->pool.at);
    axle__free(stream->ahead.at);
    axle__free(stream);
}
