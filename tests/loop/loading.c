/* SPDX-License-Identifier: Apache-2.0 */
/* Loading: each sample once, in the same global batches whatever the number of processes. */
#include "loop.h"

enum { MOST = LOOP_MOST };

typedef loop_seen seen;

/* One epoch of n numbers, prepared. */
static int epoch_of(axle_accelerator *acc, int64_t n, axle_loader_options o, seen *out)
{
    axle_loader *loader;
    if (loop_numbers(n, &o, &loader))
        return 1;
    EXPECT(axle_prepare(acc, loader) == AXLE_OK);
    int wrong = loop_gather_epoch(acc, loader, out);
    axle_loader_release(loader);
    return wrong;
}

/* The order that a loader of global batches has which nobody prepared. */
static int order_alone(int64_t n, axle_loader_options o, seen *out)
{
    axle_loader *loader;
    if (loop_numbers(n, &o, &loader))
        return 1;
    int wrong = loop_read_epoch(loader, out);
    axle_loader_release(loader);
    return wrong;
}

static int loads_the_same(void)
{
    axle_accelerator *acc;
    static seen one, many;
    if (loop_open(NULL, &acc))
        return 1;
    int64_t n = 32 * loop_size;
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        if (epoch_of(acc, n, loop_loading_options(8, shuffle, 3, 0), &many) ||
            loop_is_whole(&many, n) ||
            order_alone(n, loop_loading_options(8 * loop_size, shuffle, 3, 0), &one))
            return 1;
        EXPECT(many.steps == one.steps && many.steps == 4);
        EXPECT(memcmp(many.ids, one.ids, (size_t)n * 8) == 0);
        EXPECT(memcmp(many.ends, one.ends, (size_t)one.steps * 8) == 0);
        for (int64_t k = 0; k < n && !shuffle; k++)
            EXPECT(many.ids[k] == k);
    }
    axle_accelerator_release(acc);
    return 0;
}

static int gathers_each_once(void)
{
    static const int64_t cases[][2] = {{22, 4}, {99, 8}, {512, 16}, {3, 1}, {7, 2}, {1, 4}, {0, 4}};
    static seen s;
    axle_accelerator *acc;
    if (loop_open(NULL, &acc))
        return 1;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        for (int shuffle = 0; shuffle < 2; shuffle++)
            for (int workers = 0; workers <= 4; workers += 4)
                if (epoch_of(acc, cases[k][0],
                             loop_loading_options(cases[k][1], shuffle, 1, workers), &s) ||
                    loop_is_whole(&s, cases[k][0]))
                    return 1;
    axle_accelerator_release(acc);
    return 0;
}

/* Numbers of steps are gathered: a loop that was longer somewhere would not have come this far. */
static int steps_together(void)
{
    static const int64_t cases[][2] = {{3, 1}, {7, 2}};
    static seen s;
    axle_accelerator *acc;
    if (loop_open(NULL, &acc))
        return 1;
    for (int k = 0; k < 2; k++) {
        int64_t n = cases[k][0], global = cases[k][1] * loop_size;
        int equal;
        if (epoch_of(acc, n, loop_loading_options(cases[k][1], 0, 0, 0), &s))
            return 1;
        EXPECT(axle_processes_agree(acc, (uint64_t)s.steps, &equal) == AXLE_OK && equal);
        EXPECT(s.steps == (n + global - 1) / global && s.count == n);
    }
    axle_accelerator_release(acc);
    return 0;
}

static int repeats(void)
{
    static seen first[3], again, other;
    axle_accelerator *acc;
    axle_loader *loader;
    axle_loader_options o = loop_loading_options(4, 1, 7, 0);
    if (loop_open(NULL, &acc) || loop_numbers(40, &o, &loader))
        return 1;
    EXPECT(axle_prepare(acc, loader) == AXLE_OK);
    for (int k = 0; k < 3; k++)
        if (loop_gather_epoch(acc, loader, &first[k]))
            return 1;
    for (int k = 0; k < 3; k++)
        EXPECT(memcmp(first[k].ids, first[(k + 1) % 3].ids, 40 * 8) != 0);
    EXPECT(axle_loader_set_epoch(loader, 0) == AXLE_OK);
    for (int k = 0; k < 3; k++) {
        if (loop_gather_epoch(acc, loader, &again))
            return 1;
        EXPECT(memcmp(first[k].ids, again.ids, 40 * 8) == 0);
    }
    if (epoch_of(acc, 40, loop_loading_options(4, 1, 8, 0), &other))
        return 1;
    EXPECT(memcmp(first[0].ids, other.ids, 40 * 8) != 0);
    axle_loader_release(loader);
    axle_accelerator_release(acc);
    return 0;
}

/* A user's batches of 1, 2, 3, ... samples, from the last one down in odd epochs. */
static int64_t growing_batches(int64_t epoch, int64_t n, int64_t *order, int64_t *ends, void *user)
{
    int64_t count = 0, end = 0, last = *(int64_t *)user;
    for (int64_t k = 0; k < n; k++)
        order[k] = epoch % 2 ? n - 1 - k : k;
    while (end < n) {
        end += count + 1;
        ends[count++] = end < n ? end : n;
    }
    if (last == -1)
        order[0] = n;
    if (last == -2)
        return AXLE_ERR_IO;
    return count;
}

static int keeps_batches(void)
{
    static seen s;
    int64_t mode = 0;
    axle_accelerator *acc;
    axle_loader *loader;
    if (loop_open(NULL, &acc))
        return 1;
    for (int workers = 0; workers <= 4; workers += 4) {
        axle_loader_options o = loop_loading_options(4, 1, 0, workers);
        o.batches = growing_batches;
        o.batches_user = &mode;
        if (loop_numbers(22, &o, &loader))
            return 1;
        EXPECT(axle_prepare(acc, loader) == AXLE_OK);
        for (int epoch = 0; epoch < 3; epoch++) {
            EXPECT(axle_loader_length(loader) == 7);
            if (loop_gather_epoch(acc, loader, &s) || loop_is_whole(&s, 22))
                return 1;
            for (int64_t k = 0; k < 22; k++)
                EXPECT(s.ids[k] == (epoch % 2 ? 21 - k : k));
            EXPECT(s.steps == 7 && s.ends[0] == 1 && s.ends[5] == 21 && s.ends[6] == 22);
        }
        /* Three batches of 1, 2 and 3 into the epoch, and on from there. */
        axle_batch *batch;
        for (int k = 0; k < 3; k++)
            EXPECT(axle_loader_next(loader, &batch));
        axle_loader_state state = axle_loader_get_state(loader);
        EXPECT(state.samples == 6 && axle_loader_set_state(loader, &state) == AXLE_OK);
        EXPECT(axle_loader_position(loader) == 3 && axle_loader_next(loader, &batch));
        axle_tensor *ids = axle_gather_for_metrics(acc, axle_batch_get(batch, "input"));
        int64_t got[4];
        EXPECT(ids && axle_tensor_count(ids) == 4);
        EXPECT(axle_tensor_read(ids, got, sizeof(got)) == AXLE_OK);
        for (int64_t k = 0; k < 4; k++)
            EXPECT(got[k] == 21 - 6 - k);
        axle_loader_release(loader);
    }
    axle_accelerator_release(acc);
    return 0;
}

/* Batches of samples that are not there are refused, at once or in a later epoch. */
static int refuses_batches(void)
{
    int64_t mode = -1;
    axle_loader *loader;
    axle_batch *batch;
    axle_dataset *set;
    axle_loader_options o = loop_loading_options(4, 0, 0, 0);
    o.batches = growing_batches;
    o.batches_user = &mode;
    EXPECT(axle_synthetic_image_dataset_create(5, 1, &set) == AXLE_OK);
    EXPECT(loop_refused(axle_loader_create(set, &o, &loader), AXLE_ERR_INDEX, "sample 5 of 5"));
    mode = -2;
    EXPECT(loop_refused(axle_loader_create(set, &o, &loader), AXLE_ERR_IO, "sampler of batches"));
    mode = 0;
    EXPECT(axle_loader_create(set, &o, &loader) == AXLE_OK);
    mode = -1;
    int64_t steps = 0;
    while (axle_loader_next(loader, &batch))
        steps++;
    EXPECT(steps == axle_loader_length(loader) || steps == 3);
    EXPECT(!axle_loader_next(loader, &batch));
    EXPECT(loop_refused(axle_loader_status(loader), AXLE_ERR_INDEX, "sample 5 of 5"));
    axle_loader_release(loader);
    axle_dataset_release(set);
    return 0;
}

/* The active loop is the inner one, then the outer one again: metrics are of its batch. */
static int nests(void)
{
    static seen inner;
    axle_accelerator *acc;
    axle_loader *train, *eval;
    axle_batch *batch;
    axle_loader_options outer_options = loop_loading_options(4, 0, 0, 0),
                        inner_options = loop_loading_options(2, 0, 0, 0);
    if (loop_open(NULL, &acc) || loop_numbers(4 * loop_size + 1, &outer_options, &train) ||
        loop_numbers(2 * loop_size + 1, &inner_options, &eval))
        return 1;
    EXPECT(axle_prepare(acc, train, eval) == AXLE_OK);
    int64_t rows = 0;
    while (axle_loader_next(train, &batch)) {
        if (loop_gather_epoch(acc, eval, &inner) || loop_is_whole(&inner, 2 * loop_size + 1))
            return 1;
        axle_tensor *all = axle_gather_for_metrics(acc, axle_batch_get(batch, "input"));
        EXPECT(all);
        rows += axle_tensor_count(all);
        EXPECT(axle_loader_is_last(train) == (rows == 4 * loop_size + 1));
    }
    EXPECT(rows == 4 * loop_size + 1);
    axle_tensor *outside = axle_gather_for_metrics(acc, axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(1)));
    EXPECT(outside && axle_tensor_count(outside) == loop_size);
    axle_loader_release(train);
    axle_loader_release(eval);
    axle_accelerator_release(acc);
    return 0;
}

/* ------------------------------------------------------------------ records of differing shapes */

static int64_t thirty(void *user)
{
    (void)user;
    return 30;
}

/* Number k is k + 1 long. */
static int get_record(void *user, int64_t index, axle_batch *sample)
{
    (void)user;
    axle_tensor *record = axle_full(AXLE_DTYPE_I64, AXLE_DIMS(index + 1), (double)(index + 1));
    return record ? axle_batch_set(sample, "input", record) : axle_error_code();
}

static int loads_shapes(void)
{
    axle_accelerator *acc;
    axle_dataset *set;
    axle_loader *loader;
    axle_batch *batch;
    axle_dataset_class type = AXLE_DATASET_CLASS_INIT;
    axle_loader_options o = loop_loading_options(4, 1, 5, 2);
    type.name = "records";
    type.length = thirty;
    type.get = get_record;
    if (loop_open(NULL, &acc))
        return 1;
    EXPECT(axle_dataset_create(&type, NULL, &set) == AXLE_OK);
    EXPECT(axle_loader_create(set, &o, &loader) == AXLE_OK && axle_prepare(acc, loader) == AXLE_OK);
    int64_t found[30] = {0}, rows = 0;
    while (axle_loader_next(loader, &batch)) {
        axle_tensor *x = axle_batch_get(batch, "input");
        axle_tensor *same = axle_pad_across_processes(acc, x, 1, 0.0, 0);
        axle_tensor *all = axle_gather_for_metrics(acc, same);
        EXPECT(all);
        axle_tensor *most = axle_max(all, 1, (int[]){1}, 0);
        int64_t n = axle_tensor_dim(all, 0), ids[MOST];
        EXPECT(most && axle_tensor_read(most, ids, (size_t)n * 8) == AXLE_OK);
        for (int64_t k = 0; k < n; k++)
            found[ids[k] - 1]++;
        rows += n;
    }
    EXPECT(axle_loader_status(loader) == AXLE_OK && rows == 30);
    for (int k = 0; k < 30; k++)
        EXPECT(found[k] == 1);
    axle_loader_release(loader);
    axle_dataset_release(set);
    axle_accelerator_release(acc);
    return 0;
}

static int drops_the_last(void)
{
    static seen s;
    axle_accelerator *acc;
    axle_loader_options o = loop_loading_options(5, 0, 0, 0);
    o.drop_last = 1;
    if (loop_open(NULL, &acc) || epoch_of(acc, 10 * loop_size + 1, o, &s))
        return 1;
    EXPECT(s.steps == 2 && s.ends[0] == 5 * loop_size && s.count == 10 * loop_size);
    axle_accelerator_release(acc);
    return 0;
}

const loop_check loop_loading[] = {
    {"5", "global batches hold the same samples for every number of processes", loads_the_same},
    {"6", "metrics cover each sample once, with workers and without", gathers_each_once},
    {"6", "batches of the user's own sampler stay what they are", keeps_batches},
    {"6", "batches of samples that are not there are refused", refuses_batches},
    {"7", "epochs differ, a seed repeats, seeds differ", repeats},
    {"8", "loops over few samples have as many steps on all processes", steps_together},
    {"9", "the active loader is the inner one, then the outer one, then none", nests},
    {"11", "records of differing shapes come once each", loads_shapes},
    {"17", "drop_last drops a global batch", drops_the_last},
    {NULL, NULL, NULL},
};
