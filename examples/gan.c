/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A generative adversarial network (Goodfellow et al., 2014): two modules of one's own, each with
 * an optimizer, in one loop. The generator makes pictures from noise, the discriminator tells them
 * from real ones, and each learns from the other.
 *
 *     gan [UPDATES [DIR [RUN]]]
 *
 * DIR holds IDX files (Debian: dataset-fashion-mnist); without them the pictures are synthetic. RUN
 * is a folder for losses and sample pictures; `axle plot --metric discriminator RUN` draws the
 * first. The loop is the same with several processes (axle launch -n 2 gan) and with several
 * batches an update (AXLE_ACCUMULATE=2 gan).
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "axle/axle.h"
#include "axle/track.h"

enum { BATCH = 64, NOISE = 64, HIDDEN = 256, SIDE = 28, PIXELS = SIDE * SIDE };
enum { SYNTHETIC = 6000, SAMPLES = 64, SAMPLE_EVERY = 500, PRINT_EVERY = 50 };

/* ------------------------------------------------------------------ modules
 *
 * A module of one's own is a struct that begins with axle_module, and a class. */

typedef struct generator {
    axle_module base;
    axle_module *first, *norm, *hidden, *hidden_norm, *out;
} generator;

/* z (N, NOISE) -> pictures (N, 1, SIDE, SIDE) in (0, 1). */
static axle_tensor *generator_forward(axle_module *self, axle_tensor *z)
{
    const generator *g = (const generator *)self;
    axle_tensor *h = axle_module_forward(g->norm, axle_module_forward(g->first, z));
    h = axle_module_forward(g->hidden_norm, axle_module_forward(g->hidden, axle_relu(h)));
    axle_tensor *x = axle_sigmoid(axle_module_forward(g->out, axle_relu(h)));
    return axle_reshape(x, AXLE_DIMS(-1, 1, SIDE, SIDE));
}

static const axle_module_class generator_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "generator",
    .instance_size = sizeof(generator),
    .forward = generator_forward,
};

typedef struct discriminator {
    axle_module base;
    axle_module *hidden, *out;
} discriminator;

/* pictures (N, 1, SIDE, SIDE) -> logits (N, 1) of being real. */
static axle_tensor *discriminator_forward(axle_module *self, axle_tensor *x)
{
    const discriminator *d = (const discriminator *)self;
    axle_tensor *h = axle_module_forward(d->hidden, axle_flatten(x, 1, -1));
    return axle_module_forward(d->out, axle_leaky_relu(h, 0.2));
}

static const axle_module_class discriminator_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "discriminator",
    .instance_size = sizeof(discriminator),
    .forward = discriminator_forward,
};

/* Make a linear layer that is a child of `parent`. */
static int add_linear(axle_module *parent, const char *name, int64_t in, int64_t out,
                      axle_module **layer)
{
    int code = axle_linear_create(in, out, 1, layer);
    return code ? code : axle_module_add_child(parent, name, *layer);
}

static int add_norm(axle_module *parent, const char *name, int64_t features, axle_module **layer)
{
    int code = axle_batch_norm_create(features, 1e-5, 0.1, layer);
    return code ? code : axle_module_add_child(parent, name, *layer);
}

static int create_generator(axle_module **out)
{
    int code = axle_module_new(&generator_class, out);
    if (code)
        return code;
    generator *g = (generator *)*out;
    code = add_linear(*out, "first", NOISE, HIDDEN, &g->first);
    if (!code)
        code = add_norm(*out, "norm", HIDDEN, &g->norm);
    if (!code)
        code = add_linear(*out, "hidden", HIDDEN, 2 * HIDDEN, &g->hidden);
    if (!code)
        code = add_norm(*out, "hidden_norm", 2 * HIDDEN, &g->hidden_norm);
    return code ? code : add_linear(*out, "out", 2 * HIDDEN, PIXELS, &g->out);
}

static int create_discriminator(axle_module **out)
{
    int code = axle_module_new(&discriminator_class, out);
    if (code)
        return code;
    discriminator *d = (discriminator *)*out;
    code = add_linear(*out, "hidden", PIXELS, HIDDEN, &d->hidden);
    return code ? code : add_linear(*out, "out", HIDDEN, 1, &d->out);
}

/* ------------------------------------------------------------------ training */

typedef struct world {
    axle_accelerator *acc;
    axle_dataset *pictures;
    axle_loader *loader;
    axle_module *generator, *discriminator;
    axle_optimizer *g_opt, *d_opt;
    axle_tensor *noise;    /* of the sample pictures */
    axle_tracker *tracker; /* NULL: losses are printed only */
} world;

/* How far logits are from saying `real` of every row. */
static axle_tensor *judge(axle_tensor *logits, double real)
{
    if (!logits)
        return NULL;
    axle_tensor *target = axle_full(AXLE_DTYPE_F32, AXLE_DIMS(axle_tensor_dim(logits, 0), 1), real);
    return axle_bce_with_logits(logits, target, NULL, NULL, AXLE_LOSS_MEAN);
}

/* The discriminator learns to tell real pictures from fake ones. */
static axle_tensor *train_discriminator(world *w, axle_tensor *real, axle_tensor *fake)
{
    axle_optimizer_zero_grad(w->d_opt);
    axle_tensor *on_real = judge(axle_module_forward(w->discriminator, real), 1.0);
    axle_tensor *on_fake = judge(axle_module_forward(w->discriminator, axle_detach(fake)), 0.0);
    axle_tensor *loss = axle_add(on_real, on_fake);
    axle_backward(w->acc, loss);
    axle_optimizer_step(w->d_opt);
    return loss;
}

static int set_wanted(const char *path, axle_tensor *parameter, void *on)
{
    (void)path;
    return axle_tensor_set_requires_grad(parameter, *(const int *)on);
}

/* The generator learns to make pictures that pass for real. Gradients flow through the
 * discriminator, which keeps none of them: they are not of its loss. */
static axle_tensor *train_generator(world *w, axle_tensor *fake)
{
    int off = 0, on = 1;
    axle_optimizer_zero_grad(w->g_opt);
    axle_module_each_parameter(w->discriminator, set_wanted, &off);
    axle_tensor *loss = judge(axle_module_forward(w->discriminator, fake), 1.0);
    axle_backward(w->acc, loss);
    axle_module_each_parameter(w->discriminator, set_wanted, &on);
    axle_optimizer_step(w->g_opt);
    return loss;
}

/* The same noise each time, so that pictures of one place show how it learns. */
static int sample(world *w, int64_t done)
{
    int code = axle_scope_push();
    if (code)
        return code;
    axle_no_grad_push();
    axle_module_train(w->generator, 0);
    axle_tensor *pictures = axle_module_forward(w->generator, w->noise);
    code = pictures ? axle_tracker_log_image(w->tracker, done, "samples", pictures)
                    : axle_error_code();
    axle_module_train(w->generator, 1);
    axle_no_grad_pop();
    axle_scope_pop();
    return code;
}

static int train_both(world *w, axle_batch *batch, double *d_loss, double *g_loss)
{
    int64_t rows = axle_batch_rows(batch);
    axle_tensor *real = axle_batch_get(batch, "input");
    axle_tensor *noise = axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(rows, NOISE));
    axle_tensor *fake = axle_module_forward(w->generator, noise);
    int code = axle_tensor_item(train_discriminator(w, real, fake), d_loss);
    return code ? code : axle_tensor_item(train_generator(w, fake), g_loss);
}

/* Losses, as means over all processes, and pictures now and then. */
static int report(world *w, int64_t done, int is_last, axle_batch *batch, double d_loss,
                  double g_loss)
{
    if (done == 1 || done % PRINT_EVERY == 0 || is_last)
        axle_print(w->acc, "update %lld: discriminator %.4f, generator %.4f\n", (long long)done,
                   d_loss, g_loss);
    if (!w->tracker)
        return AXLE_OK;
    int code =
        axle_tracker_log_mean(w->tracker, done, (double)axle_batch_weight(batch),
                              AXLE_METRICS({"discriminator", d_loss}, {"generator", g_loss}));
    if (!code && (done % SAMPLE_EVERY == 0 || is_last))
        code = sample(w, done);
    return code;
}

/* An update is what ends a window of batches. */
static int train(world *w, int64_t updates)
{
    axle_batch *batch;
    int64_t done = 0;
    double d_loss, g_loss;
    int code = AXLE_OK;
    while (done < updates && !code) {
        while (done < updates && !code && axle_loader_next(w->loader, &batch)) {
            int ends = axle_is_update(w->acc);
            code = train_both(w, batch, &d_loss, &g_loss);
            done += ends;
            if (!code && ends)
                code = report(w, done, done == updates, batch, d_loss, g_loss);
        }
        if (!code)
            code = axle_loader_status(w->loader);
    }
    axle_loader_break(w->loader);
    return code;
}

/* ------------------------------------------------------------------ the program */

static int open_pictures(const char *folder, axle_dataset **out)
{
    if (access(folder, F_OK) == 0)
        return axle_idx_dataset_open(folder, 1, out);
    printf("no %s: the pictures are synthetic\n", folder);
    return axle_synthetic_image_dataset_create(SYNTHETIC, 1, out);
}

static int open_tracker(world *w, const char *run)
{
    axle_tracker_options options = AXLE_TRACKER_OPTIONS_INIT;
    options.directory = run;
    return run ? axle_tracker_create(w->acc, &options, &w->tracker) : AXLE_OK;
}

static int create(world *w, const char *folder, const char *run)
{
    axle_loader_options loading = AXLE_LOADER_OPTIONS_INIT;
    loading.batch_size = BATCH;
    loading.shuffle = 1;
    axle_adam_options adam = AXLE_ADAM_OPTIONS_INIT;
    adam.lr = 2e-4;
    adam.beta1 = 0.5;
    axle_seed(1);
    if (axle_accelerator_create(NULL, &w->acc) || open_pictures(folder, &w->pictures) ||
        axle_loader_create(w->pictures, &loading, &w->loader) || create_generator(&w->generator) ||
        create_discriminator(&w->discriminator) ||
        axle_adam_create(w->generator, &adam, &w->g_opt) ||
        axle_adam_create(w->discriminator, &adam, &w->d_opt))
        return axle_error_code();
    w->noise = axle_tensor_retain(axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(SAMPLES, NOISE)));
    if (!w->noise || open_tracker(w, run))
        return axle_error_code();
    return axle_prepare(w->acc, w->generator, w->discriminator, w->g_opt, w->d_opt, w->loader);
}

static void release(world *w)
{
    axle_tracker_release(w->tracker);
    axle_tensor_release(w->noise);
    axle_optimizer_release(w->d_opt);
    axle_optimizer_release(w->g_opt);
    axle_module_release(w->discriminator);
    axle_module_release(w->generator);
    axle_loader_release(w->loader);
    axle_dataset_release(w->pictures);
    axle_accelerator_release(w->acc);
}

int main(int argc, char **argv)
{
    world w = {0};
    int64_t updates = argc > 1 ? atoll(argv[1]) : 400;
    const char *folder = argc > 2 ? argv[2] : "/usr/share/datasets/fashion-mnist";
    int code = create(&w, folder, argc > 3 ? argv[3] : NULL);
    if (!code)
        code = train(&w, updates);
    if (!code && w.tracker)
        code = axle_tracker_finish(w.tracker);
    if (!code)
        code = axle_end_training(w.acc);
    if (code)
        fprintf(stderr, "gan: %s\n", axle_error_message());
    release(&w);
    return code ? EXIT_FAILURE : EXIT_SUCCESS;
}
