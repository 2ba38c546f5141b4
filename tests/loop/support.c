/* SPDX-License-Identifier: Apache-2.0 */
/* What checks begin with. */
#include "loop.h"

int loop_open(const axle_accelerator_options *options, axle_accelerator **out)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    if (options)
        o = *options;
    o.quiet = 1;
    EXPECT(axle_accelerator_create(&o, out) == AXLE_OK);
    return 0;
}

static int load(axle_tensor **tensors, int count, const axle_loader_options *options,
                axle_loader **out)
{
    const char *names[] = {"input", "target"};
    axle_dataset *set;
    EXPECT(axle_tensor_dataset_create(names, tensors, count, &set) == AXLE_OK);
    EXPECT(axle_loader_create(set, options, out) == AXLE_OK);
    axle_dataset_release(set);
    return 0;
}

int loop_numbers(int64_t n, const axle_loader_options *options, axle_loader **out)
{
    axle_tensor *numbers = axle_arange(AXLE_DTYPE_I64, 0, (double)n, 1);
    return load(&numbers, 1, options, out);
}

axle_loader_options loop_loading_options(int64_t batch, int shuffle, uint64_t seed, int workers)
{
    axle_loader_options o = AXLE_LOADER_OPTIONS_INIT;
    o.batch_size = batch;
    o.shuffle = shuffle;
    o.seed = seed;
    o.workers = workers;
    return o;
}

/* The rows of another global batch. */
static int note_rows(const axle_tensor *ids, loop_seen *out)
{
    EXPECT(ids && out->count + axle_tensor_count(ids) <= LOOP_MOST);
    EXPECT(axle_tensor_read(ids, out->ids + out->count, (size_t)axle_tensor_count(ids) * 8) ==
           AXLE_OK);
    out->count += axle_tensor_count(ids);
    out->ends[out->steps++] = out->count;
    return 0;
}

int loop_gather_epoch(axle_accelerator *acc, axle_loader *loader, loop_seen *out)
{
    axle_batch *batch;
    bool last = false;
    *out = (loop_seen){0};
    while (axle_loader_next(loader, &batch)) {
        EXPECT(!last);
        if (note_rows(axle_gather_for_metrics(acc, axle_batch_get(batch, "input")), out))
            return 1;
        last = axle_loader_is_last(loader);
    }
    EXPECT(axle_loader_status(loader) == AXLE_OK);
    EXPECT(last || out->steps == 0);
    return 0;
}

int loop_read_epoch(axle_loader *loader, loop_seen *out)
{
    axle_batch *batch;
    *out = (loop_seen){0};
    while (axle_loader_next(loader, &batch))
        if (note_rows(axle_batch_get(batch, "input"), out))
            return 1;
    EXPECT(axle_loader_status(loader) == AXLE_OK);
    return 0;
}

int loop_is_whole(const loop_seen *seen, int64_t n)
{
    bool found[LOOP_MOST] = {false};
    EXPECT(seen->count == n);
    for (int64_t k = 0; k < n; k++) {
        EXPECT(seen->ids[k] >= 0 && seen->ids[k] < n && !found[seen->ids[k]]);
        found[seen->ids[k]] = true;
    }
    return 0;
}

int loop_line(int64_t n, const axle_loader_options *options, axle_loader **out)
{
    axle_tensor *x = axle_arange(axle_default_dtype(), 0, (double)n, 1);
    x = axle_reshape(axle_add_scalar(axle_mul_scalar(x, 2.0 / (double)n), -1.0), AXLE_DIMS(n, 1));
    axle_tensor *both[] = {x, axle_add_scalar(axle_mul_scalar(x, 2.0), 3.0)};
    return load(both, 2, options, out);
}

int loop_weight(double value, double momentum, axle_tensor **weight, axle_optimizer **optimizer)
{
    axle_sgd_options sgd = AXLE_SGD_OPTIONS_INIT;
    sgd.lr = 1.0;
    sgd.momentum = momentum;
    *weight = axle_tensor_retain(axle_scalar(AXLE_DTYPE_F64, value));
    EXPECT(axle_tensor_set_requires_grad(*weight, 1) == AXLE_OK);
    EXPECT(axle_sgd_create(NULL, &sgd, optimizer) == AXLE_OK);
    EXPECT(axle_optimizer_add_group(*optimizer, weight, 1, NULL) == AXLE_OK);
    return 0;
}

double loop_item(const axle_tensor *tensor)
{
    double value = NAN;
    if (!tensor || axle_tensor_item(tensor, &value))
        return NAN;
    return value;
}

axle_tensor *loop_product(axle_tensor *weight, double x)
{
    return axle_mul_scalar(weight, x);
}

bool loop_near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(1.0, fabs(b));
}

int loop_learner(axle_module **net, axle_optimizer **opt)
{
    axle_sgd_options sgd = AXLE_SGD_OPTIONS_INIT;
    sgd.lr = 0.1;
    axle_seed(4);
    EXPECT(axle_linear_create(1, 1, 1, net) == AXLE_OK);
    EXPECT(axle_sgd_create(*net, &sgd, opt) == AXLE_OK);
    return 0;
}

int loop_learned(axle_accelerator *acc, axle_module *net, axle_optimizer *opt, axle_loader *loader,
                 double out[2])
{
    EXPECT(axle_loader_status(loader) == AXLE_OK);
    out[0] = loop_item(axle_module_parameter(net, "weight"));
    out[1] = loop_item(axle_module_parameter(net, "bias"));
    uint64_t sum;
    int equal = 1;
    EXPECT(axle_module_checksum(net, &sum) == AXLE_OK);
    if (acc)
        EXPECT(axle_processes_agree(acc, sum, &equal) == AXLE_OK && equal);
    axle_loader_release(loader);
    axle_optimizer_release(opt);
    axle_module_release(net);
    return 0;
}

int loop_close(axle_accelerator *acc, axle_optimizer *opt, axle_tensor *weight)
{
    axle_accelerator_release(acc);
    axle_optimizer_release(opt);
    axle_tensor_release(weight);
    return 0;
}

int loop_share_path(axle_accelerator *acc, char *path, size_t size)
{
    void *bytes = path;
    size_t length = axle_is_main_process(acc) ? strlen(path) + 1 : 0;
    EXPECT(axle_broadcast_object(acc, &bytes, &length, 0) == AXLE_OK && length <= size);
    if (bytes != path) {
        memcpy(path, bytes, length);
        axle_free(bytes);
    }
    return 0;
}

int loop_folder(axle_accelerator *acc, char *path, size_t size)
{
    if (axle_is_main_process(acc)) {
        const char *above = getenv("TMPDIR");
        snprintf(path, size, "%s/axle-loop.XXXXXX", above ? above : "/tmp");
        EXPECT(mkdtemp(path));
    }
    return loop_share_path(acc, path, size);
}

int loop_remove_folder(axle_accelerator *acc, const char *path)
{
    char command[600];
    snprintf(command, sizeof(command), "rm -rf '%s'", path);
    EXPECT(axle_wait_for_everyone(acc) == AXLE_OK);
    EXPECT(!axle_is_main_process(acc) || system(command) == 0);
    return 0;
}
