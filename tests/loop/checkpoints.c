/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: everything comes back, and a loop goes on behind what was given. */
#include <unistd.h>

#include "loop.h"

static bool there_is(const char *folder, const char *name)
{
    char path[700];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* ------------------------------------------------------------------ the loader's position */

/* The numbers behind the first two batches of an epoch: by the loader's own state, by a checkpoint,
 * and passed over on request. */
static int goes_on_after(int64_t epoch, int shuffle)
{
    static loop_seen whole, rest;
    axle_loader_options o = loop_loading_options(4, shuffle, 5, 2);
    axle_accelerator *acc;
    axle_loader *loader;
    axle_batch *batch;
    char folder[512], path[600];
    if (loop_open(NULL, &acc) || loop_numbers(16 * loop_size + 3, &o, &loader) ||
        loop_folder(acc, folder, sizeof(folder)))
        return 1;
    snprintf(path, sizeof(path), "%s/here", folder);
    EXPECT(axle_prepare(acc, loader) == AXLE_OK);
    EXPECT(axle_loader_set_epoch(loader, epoch) == AXLE_OK);
    if (loop_gather_epoch(acc, loader, &whole))
        return 1;
    for (int way = 0; way < 3; way++) {
        EXPECT(axle_loader_set_epoch(loader, epoch) == AXLE_OK);
        EXPECT(axle_loader_next(loader, &batch) && axle_loader_next(loader, &batch));
        axle_loader_state state = axle_loader_get_state(loader);
        if (way == 1)
            EXPECT(axle_save_state(acc, path) == AXLE_OK);
        EXPECT(axle_loader_next(loader, &batch));
        axle_loader_break(loader);
        if (way == 0)
            EXPECT(axle_loader_set_state(loader, &state) == AXLE_OK);
        else if (way == 1)
            EXPECT(axle_load_state(acc, path) == AXLE_OK);
        else
            EXPECT(axle_loader_set_epoch(loader, epoch) == AXLE_OK &&
                   axle_loader_skip(loader, 2) == AXLE_OK);
        EXPECT(axle_loader_epoch(loader) == epoch && axle_loader_position(loader) == 2);
        if (loop_gather_epoch(acc, loader, &rest))
            return 1;
        EXPECT(rest.count == whole.count - whole.ends[1] && rest.steps == whole.steps - 2);
        EXPECT(memcmp(rest.ids, whole.ids + whole.ends[1], (size_t)rest.count * 8) == 0);
    }
    int wrong = loop_remove_folder(acc, folder);
    axle_loader_release(loader);
    axle_accelerator_release(acc);
    return wrong;
}

static int goes_on(void)
{
    return goes_on_after(0, 0) || goes_on_after(1, 1);
}

/* ------------------------------------------------------------------ everything */

typedef struct life {
    axle_accelerator *acc;
    axle_module *net;
    axle_optimizer *opt;
    axle_scheduler *sched;
    axle_loader *loader;
    int64_t own; /* a registered object: batches so far */
} life;

static int save_own(axle_state_writer *writer, void *user)
{
    return axle_state_write(writer, user, sizeof(int64_t));
}

static int load_own(const void *bytes, size_t size, void *user)
{
    if (size != sizeof(int64_t))
        return AXLE_ERR_FORMAT;
    memcpy(user, bytes, size);
    return AXLE_OK;
}

static int begin(life *l)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_scaler_options scaler = AXLE_SCALER_OPTIONS_INIT;
    axle_adamw_options adam = AXLE_ADAMW_OPTIONS_INIT;
    axle_loader_options loading = loop_loading_options(4, 1, 3, 0);
    axle_state_callbacks both = AXLE_STATE_CALLBACKS_INIT;
    *l = (life){0};
    scaler.scale = 2.0;
    scaler.interval = 3;
    o.precision = "fp16";
    o.scaler = &scaler;
    adam.lr = 0.05;
    if (loop_open(&o, &l->acc) || loop_line(4 * 4 * loop_size + 1, &loading, &l->loader))
        return 1;
    axle_seed(9);
    EXPECT(axle_linear_create(1, 1, 1, &l->net) == AXLE_OK);
    EXPECT(axle_adamw_create(l->net, &adam, &l->opt) == AXLE_OK);
    EXPECT(axle_linear_schedule_create(l->opt, 2, 30, &l->sched) == AXLE_OK);
    EXPECT(
        loop_refused(axle_register_state(l->acc, "own", &both, &l->own), AXLE_ERR_INVALID, "save"));
    both.save = save_own;
    both.load = load_own;
    EXPECT(axle_register_state(l->acc, "own", &both, &l->own) == AXLE_OK);
    /* Twice: a checkpoint has one model all the same. */
    EXPECT(axle_prepare(l->acc, l->net, l->opt, l->sched, l->loader, l->net) == AXLE_OK);
    EXPECT(axle_prepare(l->acc, l->loader, l->net) == AXLE_OK);
    return 0;
}

static void end(life *l)
{
    axle_accelerator_release(l->acc);
    axle_scheduler_release(l->sched);
    axle_optimizer_release(l->opt);
    axle_loader_release(l->loader);
    axle_module_release(l->net);
}

/* What one can see of it; a loop's own draws begin anew with each batch. */
typedef struct sight {
    uint64_t sum;
    double lr, scale, draw;
    int64_t updates, ticks, own, epoch, position;
} sight;

static int go(life *l, int batches, sight *out)
{
    axle_batch *batch;
    memset(out, 0, sizeof(*out)); /* for comparisons of bytes */
    while (batches > 0)
        while (batches > 0 && axle_loader_next(l->loader, &batch)) {
            axle_tensor *x = axle_batch_get(batch, "input");
            EXPECT(axle_optimizer_zero_grad(l->opt) == AXLE_OK);
            axle_tensor *y = axle_module_forward(l->net, x);
            axle_tensor *loss = axle_mse_loss(y, axle_batch_get(batch, "target"), AXLE_LOSS_MEAN);
            EXPECT(axle_backward(l->acc, loss) == AXLE_OK);
            EXPECT(axle_optimizer_step(l->opt) == AXLE_OK);
            EXPECT(axle_scheduler_step(l->sched) == AXLE_OK);
            out->draw += loop_item(axle_rand(AXLE_DTYPE_F64, AXLE_SCALAR));
            l->own++;
            batches--;
        }
    EXPECT(axle_loader_status(l->loader) == AXLE_OK);
    EXPECT(axle_module_checksum(l->net, &out->sum) == AXLE_OK);
    out->lr = axle_optimizer_lr(l->opt, 0);
    out->scale = axle_loss_scale(l->acc);
    out->updates = axle_optimizer_updates(l->opt);
    out->ticks = axle_scheduler_ticks(l->sched);
    out->own = l->own;
    out->epoch = axle_loader_epoch(l->loader);
    out->position = axle_loader_position(l->loader);
    return 0;
}

static int all_comes_back(void)
{
    life l;
    sight middle, expected, got;
    char folder[512], path[600];
    int equal;
    if (begin(&l) || loop_folder(l.acc, folder, sizeof(folder)) || go(&l, 7, &middle))
        return 1;
    snprintf(path, sizeof(path), "%s/here", folder);
    EXPECT(axle_save_state(l.acc, path) == AXLE_OK);
    if (go(&l, 6, &expected))
        return 1;
    EXPECT(middle.scale == 8.0 && expected.scale == 32.0 && expected.own == 13);
    end(&l);
    if (begin(&l))
        return 1;
    EXPECT(axle_load_state(l.acc, path) == AXLE_OK);
    if (go(&l, 0, &got))
        return 1;
    got.draw = middle.draw;
    EXPECT(memcmp(&got, &middle, sizeof(got)) == 0);
    if (go(&l, 6, &got))
        return 1;
    EXPECT(memcmp(&got, &expected, sizeof(got)) == 0);
    EXPECT(axle_processes_agree(l.acc, got.sum, &equal) == AXLE_OK && equal);
    EXPECT(!axle_is_main_process(l.acc) || there_is(path, "model.safetensors"));
    EXPECT(!axle_is_main_process(l.acc) || !there_is(path, "model_1.safetensors"));
    int wrong = loop_remove_folder(l.acc, folder);
    end(&l);
    return wrong;
}

static int keeps_the_last(void)
{
    axle_checkpoint_options o = AXLE_CHECKPOINT_OPTIONS_INIT;
    life l;
    sight seen;
    char folder[512], *latest;
    if (begin(&l) || loop_folder(l.acc, folder, sizeof(folder)))
        return 1;
    o.directory = folder;
    o.every = 2;
    o.keep = 1;
    EXPECT(axle_checkpoint_configure(l.acc, &o) == AXLE_OK);
    for (int k = 1; k <= 5; k++) {
        int saved;
        if (go(&l, 1, &seen))
            return 1;
        EXPECT(axle_checkpoint_step(l.acc, NAN, &saved) == AXLE_OK && saved == (k % 2 == 0));
    }
    if (axle_is_main_process(l.acc)) {
        EXPECT(axle_latest_checkpoint(folder, &latest) == AXLE_OK);
        bool right = strstr(latest, "step-00000004") && !there_is(folder, "step-00000002");
        axle_free(latest);
        EXPECT(right);
    }
    int wrong = loop_remove_folder(l.acc, folder);
    end(&l);
    return wrong;
}

/* In as many files as there are tensors, and put together again. */
static int models_in_pieces(void)
{
    axle_model_file_options o = AXLE_MODEL_FILE_OPTIONS_INIT;
    life l;
    sight learned, loaded;
    char folder[512];
    o.shard_size = 1;
    if (begin(&l) || loop_folder(l.acc, folder, sizeof(folder)) || go(&l, 3, &learned))
        return 1;
    EXPECT(axle_save_model(l.acc, l.net, folder, &o) == AXLE_OK);
    EXPECT(!axle_is_main_process(l.acc) || there_is(folder, "model-00002-of-00002.safetensors"));
    end(&l);
    if (begin(&l))
        return 1;
    EXPECT(axle_load_model(l.acc, l.net, folder) == AXLE_OK);
    if (go(&l, 0, &loaded))
        return 1;
    EXPECT(loaded.sum == learned.sum);
    int wrong = loop_remove_folder(l.acc, folder);
    end(&l);
    return wrong;
}

const loop_check loop_checkpoints[] = {
    {"10", "a loop goes on behind what was given, by three ways", goes_on},
    {"20", "model, optimizer, schedule, scale, loader, draws and own objects come back",
     all_comes_back},
    {"20", "the last checkpoint is kept", keeps_the_last},
    {"20", "a model in pieces is put together again", models_in_pieces},
    {NULL, NULL, NULL},
};
