/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: samples that come one after the other, to an end that nobody knows before. */
#include "loop.h"

/* The numbers from 0 on; or x and 2 x + 3, of `lines` numbers. */
typedef struct source {
    int64_t length, told;
    int64_t fail_at; /* next fails there, if it is not 0 */
    int64_t lines;   /* 0: numbers */
    bool grows;      /* number k is k + 1 long, of numbers k + 1 */
} source;

typedef struct cursor {
    const source *of;
    int64_t at;
} cursor;

static int open_stream(void *user, int64_t epoch, void **out)
{
    (void)epoch;
    cursor *c = calloc(1, sizeof(*c));
    *out = c;
    if (!c)
        return AXLE_ERR_NOMEM;
    c->of = user;
    return AXLE_OK;
}

static int set(axle_batch *sample, const char *name, axle_tensor *tensor)
{
    return tensor ? axle_batch_set(sample, name, tensor) : axle_error_code();
}

static int give_line(axle_batch *sample, double x)
{
    int dtype = axle_default_dtype();
    int status = set(sample, "input", axle_full(dtype, AXLE_DIMS(1), x));
    return status ? status : set(sample, "target", axle_full(dtype, AXLE_DIMS(1), 2.0 * x + 3.0));
}

static int next_sample(void *position, axle_batch *sample)
{
    cursor *c = position;
    const source *s = c->of;
    if (c->at == s->length)
        return 0;
    if (s->fail_at && c->at == s->fail_at)
        return axle_error_set(AXLE_ERR_IO, "the line went dead");
    int64_t k = c->at++;
    int status;
    if (s->lines)
        status = give_line(sample, (double)k * (2.0 / (double)s->lines) - 1.0);
    else if (s->grows)
        status = set(sample, "input", axle_full(AXLE_DTYPE_I64, AXLE_DIMS(k + 1), (double)(k + 1)));
    else
        status = set(sample, "input", axle_full(AXLE_DTYPE_I64, AXLE_SCALAR, (double)k));
    return status ? status : 1;
}

static int64_t told_length(void *user)
{
    return ((source *)user)->told;
}

static int load(source *s, axle_loader_options o, axle_loader **out)
{
    axle_dataset *set;
    axle_stream_class type = AXLE_STREAM_CLASS_INIT;
    type.name = "numbers";
    type.open = open_stream;
    type.next = next_sample;
    type.close = free;
    type.length = s->told ? told_length : NULL;
    EXPECT(axle_stream_dataset_create(&type, s, &set) == AXLE_OK);
    EXPECT(axle_loader_create(set, &o, out) == AXLE_OK);
    axle_dataset_release(set);
    return 0;
}

/* One epoch of n numbers, prepared. */
static int epoch_of(axle_accelerator *acc, source s, axle_loader_options o, loop_seen *out)
{
    axle_loader *loader;
    if (load(&s, o, &loader))
        return 1;
    EXPECT(axle_prepare(acc, loader) == AXLE_OK);
    int64_t length = axle_loader_length(loader), global = o.batch_size * loop_size;
    EXPECT(length == (s.told ? (s.told + global - 1) / global : AXLE_LENGTH_UNKNOWN));
    int wrong = loop_gather_epoch(acc, loader, out);
    axle_loader_release(loader);
    return wrong;
}

static int streams_the_same(void)
{
    axle_accelerator *acc;
    axle_loader *alone;
    static loop_seen one, many;
    if (loop_open(NULL, &acc))
        return 1;
    source s = {.length = 32 * loop_size};
    for (int kind = 0; kind < 4; kind++) {
        int shuffle = kind % 2, workers = kind / 2;
        if (epoch_of(acc, s, loop_loading_options(8, shuffle, 3, workers), &many) ||
            loop_is_whole(&many, s.length) ||
            load(&s, loop_loading_options(8 * loop_size, shuffle, 3, 0), &alone) ||
            loop_read_epoch(alone, &one))
            return 1;
        axle_loader_release(alone);
        EXPECT(many.steps == one.steps && many.steps == 4);
        EXPECT(memcmp(many.ids, one.ids, (size_t)s.length * 8) == 0);
        EXPECT(memcmp(many.ends, one.ends, (size_t)one.steps * 8) == 0);
        bool in_order = true;
        for (int64_t k = 0; k < s.length; k++)
            in_order = in_order && many.ids[k] == k;
        EXPECT(in_order == !shuffle);
    }
    axle_accelerator_release(acc);
    return 0;
}

static int streams_each_once(void)
{
    static const int64_t cases[][3] = {{0, 4, 0},  {1, 4, 0},  {3, 1, 0},   {7, 2, 0},
                                       {22, 4, 0}, {30, 4, 0}, {30, 4, 30}, {99, 8, 0}};
    static loop_seen s;
    axle_accelerator *acc;
    if (loop_open(NULL, &acc))
        return 1;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        for (int shuffle = 0; shuffle < 2; shuffle++) {
            int64_t n = cases[k][0], global = cases[k][1] * loop_size;
            source from = {.length = n, .told = cases[k][2]};
            if (epoch_of(acc, from, loop_loading_options(cases[k][1], shuffle, 1, shuffle), &s) ||
                loop_is_whole(&s, n))
                return 1;
            int equal;
            EXPECT(s.steps == (n + global - 1) / global);
            EXPECT(axle_processes_agree(acc, (uint64_t)s.steps, &equal) == AXLE_OK && equal);
        }
    axle_accelerator_release(acc);
    return 0;
}

static int streams_shapes(void)
{
    axle_accelerator *acc;
    axle_loader *loader;
    axle_batch *batch;
    source s = {.length = 30, .grows = true};
    int found[31] = {0};
    if (loop_open(NULL, &acc) || load(&s, loop_loading_options(4, 0, 0, 1), &loader))
        return 1;
    EXPECT(axle_prepare(acc, loader) == AXLE_OK);
    while (axle_loader_next(loader, &batch)) {
        axle_tensor *x = axle_batch_get(batch, "input");
        x = axle_gather_for_metrics(acc, axle_pad_across_processes(acc, x, 1, 0.0, 0));
        axle_tensor *most = x ? axle_max(x, 1, (int[]){1}, 0) : NULL;
        int64_t ids[16], n = x ? axle_tensor_dim(x, 0) : 0;
        EXPECT(n > 0 && n <= 16 && axle_tensor_read(most, ids, (size_t)n * 8) == AXLE_OK);
        for (int64_t k = 0; k < n; k++)
            found[ids[k]]++;
    }
    EXPECT(axle_loader_status(loader) == AXLE_OK);
    for (int k = 1; k <= 30; k++)
        EXPECT(found[k] == 1);
    axle_loader_release(loader);
    axle_accelerator_release(acc);
    return 0;
}

/* ------------------------------------------------------------------ training */

/* Three epochs of windows of three batches; the last window of an epoch is short. */
static int learn(axle_loader *loader, double out[2])
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_accelerator *acc;
    axle_module *net;
    axle_optimizer *opt;
    axle_batch *batch;
    o.accumulate = 3;
    if (loop_open(&o, &acc) || loop_learner(&net, &opt))
        return 1;
    EXPECT(axle_prepare(acc, net, opt, loader) == AXLE_OK);
    for (int epoch = 0; epoch < 3; epoch++)
        for (int k = 0; axle_loader_next(loader, &batch); k++) {
            EXPECT(axle_is_update(acc) == (k % 3 == 2 || axle_loader_is_last(loader)));
            EXPECT(axle_optimizer_zero_grad(opt) == AXLE_OK);
            axle_tensor *y = axle_module_forward(net, axle_batch_get(batch, "input"));
            axle_tensor *loss = axle_mse_loss(y, axle_batch_get(batch, "target"), AXLE_LOSS_MEAN);
            EXPECT(axle_backward(acc, loss) == AXLE_OK);
            EXPECT(axle_optimizer_step(opt) == AXLE_OK);
        }
    int wrong = loop_learned(acc, net, opt, loader, out);
    axle_accelerator_release(acc);
    return wrong;
}

static int windows_end_with_the_stream(void)
{
    double known[2], unknown[2];
    axle_loader *loader;
    axle_loader_options o = loop_loading_options(4, 0, 0, 0);
    EXPECT(axle_set_default_dtype(AXLE_DTYPE_F64) == AXLE_OK);
    int64_t n = 4 * loop_size * 4 + 1;
    source s = {.length = n, .lines = n};
    if (loop_line(n, &o, &loader) || learn(loader, known) || load(&s, o, &loader) ||
        learn(loader, unknown))
        return 1;
    EXPECT(loop_near(known[0], unknown[0], 1e-14) && loop_near(known[1], unknown[1], 1e-14));
    EXPECT(known[0] != 0.0);
    return 0;
}

/* ------------------------------------------------------------------ going on */

/* The numbers behind the first `steps` batches of an epoch, by a checkpoint. */
static int goes_on_after(axle_loader_options o, int64_t epoch, int64_t steps)
{
    static loop_seen whole, rest;
    source s = {.length = 16 * loop_size + 3};
    axle_accelerator *acc;
    axle_loader *loader;
    axle_batch *batch;
    char folder[512], path[600];
    if (loop_open(NULL, &acc) || load(&s, o, &loader) || loop_folder(acc, folder, sizeof(folder)))
        return 1;
    EXPECT(axle_prepare(acc, loader) == AXLE_OK);
    EXPECT(axle_loader_set_epoch(loader, epoch) == AXLE_OK);
    if (loop_gather_epoch(acc, loader, &whole))
        return 1;
    EXPECT(axle_loader_set_epoch(loader, epoch) == AXLE_OK);
    for (int64_t k = 0; k < steps; k++)
        EXPECT(axle_loader_next(loader, &batch));
    snprintf(path, sizeof(path), "%s/here", folder);
    EXPECT(axle_save_state(acc, path) == AXLE_OK);
    axle_loader_release(loader);
    axle_accelerator_release(acc);
    if (loop_open(NULL, &acc) || load(&s, o, &loader))
        return 1;
    EXPECT(axle_prepare(acc, loader) == AXLE_OK && axle_load_state(acc, path) == AXLE_OK);
    EXPECT(axle_loader_epoch(loader) == epoch && axle_loader_position(loader) == steps);
    if (loop_gather_epoch(acc, loader, &rest))
        return 1;
    int64_t given = whole.ends[steps - 1];
    EXPECT(rest.count == whole.count - given);
    EXPECT(memcmp(rest.ids, whole.ids + given, (size_t)rest.count * 8) == 0);
    int wrong = loop_remove_folder(acc, folder);
    axle_loader_release(loader);
    axle_accelerator_release(acc);
    return wrong;
}

static int goes_on(void)
{
    axle_loader_options shuffled = loop_loading_options(4, 1, 5, 1);
    shuffled.shuffle_buffer = 7;
    return goes_on_after(loop_loading_options(4, 0, 0, 0), 0, 2) || goes_on_after(shuffled, 1, 2) ||
           goes_on_after(shuffled, 1, 5);
}

/* ------------------------------------------------------------------ streams that differ */

/* An epoch that an error ends on all; returns the steps that came before. */
static int ends_badly(source s, int code, const char *part, int64_t *steps)
{
    axle_accelerator *acc;
    axle_loader *loader;
    axle_batch *batch;
    if (loop_open(NULL, &acc) || load(&s, loop_loading_options(4, 0, 0, 1), &loader))
        return 1;
    EXPECT(axle_prepare(acc, loader) == AXLE_OK);
    for (*steps = 0; axle_loader_next(loader, &batch); ++*steps)
        continue;
    EXPECT(loop_refused(axle_loader_status(loader), code, part));
    axle_loader_release(loader);
    /* All have seen it, and can go on together. */
    EXPECT(axle_wait_for_everyone(acc) == AXLE_OK);
    axle_accelerator_release(acc);
    return 0;
}

static int agrees_on_the_end(void)
{
    char part[100];
    int64_t steps;
    int last = loop_size - 1, full = 8 * loop_size;
    source s = {.length = full + (loop_rank == last ? 0 : 5)};
    if (loop_size > 1) {
        snprintf(part, sizeof(part), "%d samples on rank 0, it ends after %d on rank %d", full,
                 full, last);
        if (ends_badly(s, AXLE_ERR_INVALID, part, &steps))
            return 1;
        EXPECT(steps == 1);
    }
    s = (source){.length = 30, .fail_at = loop_rank == last ? 4 * loop_size + 1 : 0};
    if (loop_size > 1)
        snprintf(part, sizeof(part), "%sthe line went dead",
                 loop_rank == last ? ""
                 : loop_size == 2  ? "rank 1: "
                                   : "rank 3: ");
    else
        snprintf(part, sizeof(part), "the line went dead");
    return ends_badly(s, AXLE_ERR_IO, part, &steps);
}

/* Joined, each goes through its own. */
static int joins_streams(void)
{
    axle_accelerator *acc;
    axle_loader *loader;
    axle_batch *batch;
    source s = {.length = 4 * loop_size * (loop_rank + 1)};
    int64_t steps = 0;
    if (loop_open(NULL, &acc) || load(&s, loop_loading_options(4, 0, 0, 0), &loader))
        return 1;
    EXPECT(axle_prepare(acc, loader) == AXLE_OK && axle_join_begin(acc) == AXLE_OK);
    while (axle_loader_next(loader, &batch)) {
        axle_tensor *one = axle_scalar(AXLE_DTYPE_F64, 1.0);
        EXPECT(loop_item(axle_accelerator_reduce(acc, one, AXLE_REDUCE_SUM)) ==
               (double)(loop_size - steps));
        steps++;
    }
    EXPECT(axle_loader_status(loader) == AXLE_OK && steps == loop_rank + 1);
    EXPECT(axle_join_end(acc) == AXLE_OK);
    axle_loader_release(loader);
    axle_accelerator_release(acc);
    return 0;
}

const loop_check loop_streams[] = {
    {"5", "global batches of streams hold the same samples for every number of processes",
     streams_the_same},
    {"10", "a stream goes on behind what was given, by a checkpoint", goes_on},
    {"11", "streams of unknown and of known length give each sample once", streams_each_once},
    {"11", "records of differing shapes come once each from a stream", streams_shapes},
    {"11", "windows of accumulation end with the stream", windows_end_with_the_stream},
    {"11", "streams that differ or fail end the loop on all", agrees_on_the_end},
    {"18", "joined loops go through streams of different length", joins_streams},
    {NULL, NULL, NULL},
};
