/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "../../common/options_copy.h"
#include "axle/status.h"
#include "axle/text.h"

struct axle_length_groups {
    axle_length_groups_options options;
    int64_t samples;
    int64_t lengths[];
};

/* A sample with what it is sorted by. */
typedef struct entry {
    int64_t length, sample;
} entry;

int axle_length_groups_create(const int64_t *lengths, int64_t n,
                              const axle_length_groups_options *given, axle_length_groups **out)
{
    axle_length_groups_options options = AXLE_LENGTH_GROUPS_OPTIONS_INIT;
    int code = options_copy("length groups", given, &options, sizeof(options));
    if (code)
        return code;
    if (!lengths || n < 1 || !out)
        return axle_error_set(AXLE_ERR_INVALID, "length groups: %lld samples%s", (long long)n,
                              lengths ? "" : " without lengths");
    if (options.batch_size < 1 || options.span < 1 || options.span > INT64_MAX / options.batch_size)
        return axle_error_set(AXLE_ERR_INVALID,
                              "length groups: batches of %lld, and spans of %lld of them",
                              (long long)options.batch_size, (long long)options.span);
    size_t size = sizeof(axle_length_groups) + (size_t)n * sizeof(*lengths);
    axle_length_groups *groups = malloc(size);
    if (!groups)
        return axle_error_set(AXLE_ERR_NOMEM, "length groups: no memory for %lld samples",
                              (long long)n);
    groups->options = options;
    groups->samples = n;
    memcpy(groups->lengths, lengths, (size_t)n * sizeof(*lengths));
    *out = groups;
    return AXLE_OK;
}

void axle_length_groups_release(axle_length_groups *groups)
{
    free(groups);
}

/* Longest first; samples of equal length by their number, so that sorting is a function. */
static int longest_first(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->length != y->length)
        return x->length < y->length ? 1 : -1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

/* Sort the samples of each span of the shuffled order. */
static int sort_spans(const axle_length_groups *groups, int64_t *order)
{
    int64_t n = groups->samples, span = groups->options.span * groups->options.batch_size;
    entry *entries = malloc((size_t)(span < n ? span : n) * sizeof(*entries));
    if (!entries)
        return axle_error_set(AXLE_ERR_NOMEM, "length groups: out of memory");
    for (int64_t first = 0; first < n; first += span) {
        int64_t count = span < n - first ? span : n - first;
        for (int64_t k = 0; k < count; k++)
            entries[k] = (entry){groups->lengths[order[first + k]], order[first + k]};
        qsort(entries, (size_t)count, sizeof(*entries), longest_first);
        for (int64_t k = 0; k < count; k++)
            order[first + k] = entries[k].sample;
    }
    free(entries);
    return AXLE_OK;
}

/* The full batch whose first, longest sample is the longest of all. */
static int64_t longest_batch(const axle_length_groups *groups, const int64_t *sorted, int64_t full)
{
    int64_t best = 0, size = groups->options.batch_size;
    for (int64_t k = 1; k < full; k++)
        if (groups->lengths[sorted[k * size]] > groups->lengths[sorted[best * size]])
            best = k;
    return best;
}

/* The full batches in a random order, but the longest first; a shorter rest stays last. */
static void deal(const axle_length_groups *groups, const int64_t *sorted, int64_t *places,
                 int64_t *order)
{
    int64_t size = groups->options.batch_size, full = groups->samples / size;
    int64_t longest = longest_batch(groups, sorted, full), k = 0;
    while (places[k] != longest)
        k++;
    places[k] = places[0];
    places[0] = longest;
    for (k = 0; k < full; k++)
        memcpy(order + k * size, sorted + places[k] * size, (size_t)size * sizeof(*order));
    memcpy(order + full * size, sorted + full * size,
           (size_t)(groups->samples - full * size) * sizeof(*order));
}

/* The longest sample of all goes to the first span, so that it is in a full batch. */
static void bring_longest(const axle_length_groups *groups, int64_t *order)
{
    int64_t best = 0;
    for (int64_t k = 1; k < groups->samples; k++)
        if (groups->lengths[order[k]] > groups->lengths[order[best]])
            best = k;
    int64_t sample = order[best];
    order[best] = order[0];
    order[0] = sample;
}

static int make_order(const axle_length_groups *groups, int64_t epoch, int64_t *order)
{
    int64_t n = groups->samples, full = n / groups->options.batch_size;
    uint64_t seed = groups->options.seed;
    int64_t *sorted = malloc(2 * (size_t)n * sizeof(*sorted));
    if (!sorted)
        return axle_error_set(AXLE_ERR_NOMEM, "length groups: out of memory");
    int64_t *places = sorted + n;
    int code = axle_epoch_order(seed, epoch, n, sorted);
    if (!code)
        bring_longest(groups, sorted);
    if (!code)
        code = sort_spans(groups, sorted);
    /* A key of its own, so that batches are not dealt as samples were. */
    if (!code)
        code = axle_epoch_order(~seed, epoch, full, places);
    if (!code && full > 0)
        deal(groups, sorted, places, order);
    else if (!code)
        memcpy(order, sorted, (size_t)n * sizeof(*order));
    free(sorted);
    return code;
}

int64_t axle_length_groups_batches(int64_t epoch, int64_t n, int64_t *order, int64_t *ends,
                                   void *user)
{
    const axle_length_groups *groups = user;
    if (!groups || n != groups->samples)
        return axle_error_set(AXLE_ERR_INVALID, "length groups: of %lld samples, for a set of %lld",
                              groups ? (long long)groups->samples : 0, (long long)n);
    int64_t size = groups->options.batch_size, count = 0;
    int code = make_order(groups, epoch, order);
    if (code)
        return code;
    for (int64_t end = 0; end < n; count++) {
        end = size < n - end ? end + size : n;
        ends[count] = end;
    }
    return count;
}
