/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A generative adversarial network (Goodfellow et al., 2014): two modules of one's own, each with
 * an optimizer, in one loop. The generator makes pictures from noise, the discriminator tells them
 * from real ones, and each learns from the other.
 *
 *     gan [UPDATES [DIR]]
 *
 * DIR holds IDX files (Debian: dataset-fashion-mnist); without them the pictures are synthetic.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "axle/axle.h"

enum { BATCH = 64, NOISE = 64, HIDDEN = 128, SIDE = 28, PIXELS = SIDE * SIDE, SYNTHETIC = 6000 };

/* ------------------------------------------------------------------ modules
 *
 * A module of one's own is a struct that begins with axle_module, and a class. */

typedef struct generator {
    axle_module base;
    axle_module *hidden, *norm, *out;
} generator;

/* z (N, NOISE) -> pictures (N, 1, SIDE, SIDE) in (0, 1). */
static axle_tensor *generator_forward(axle_module *self, axle_tensor *z)
{
    const generator *g = (const generator *)self;
    axle_tensor *h = axle_module_forward(g->norm, axle_module_forward(g->hidden, z));
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

static int create_generator(axle_module **out)
{
    int code = axle_module_new(&generator_class, out);
    if (code)
        return code;
    generator *g = (generator *)*out;
    code = add_linear(*out, "hidden", NOISE, HIDDEN, &g->hidden);
    if (!code)
        code = axle_batch_norm_create(HIDDEN, 1e-5, 0.1, &g->norm);
    if (!code)
        code = axle_module_add_child(*out, "norm", g->norm);
    return code ? code : add_linear(*out, "out", HIDDEN, PIXELS, &g->out);
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

/* The generator learns to make pictures that pass for real. Gradients flow through the
 * discriminator, and the ones that stay in it are forgotten at its next step. */
static axle_tensor *train_generator(world *w, axle_tensor *fake)
{
    axle_optimizer_zero_grad(w->g_opt);
    axle_tensor *loss = judge(axle_module_forward(w->discriminator, fake), 1.0);
    axle_backward(w->acc, loss);
    axle_optimizer_step(w->g_opt);
    return loss;
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

static int train(world *w, int64_t updates)
{
    axle_batch *batch;
    int64_t done = 0;
    double d_loss, g_loss;
    int code = AXLE_OK;
    while (done < updates && !code) {
        while (done < updates && !code && axle_loader_next(w->loader, &batch)) {
            code = train_both(w, batch, &d_loss, &g_loss);
            done++;
            if (!code && (done == 1 || done % 50 == 0 || done == updates))
                printf("update %lld: discriminator %.4f, generator %.4f\n", (long long)done, d_loss,
                       g_loss);
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

static int create(world *w, const char *folder)
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
    return axle_prepare(w->acc, w->generator, w->discriminator, w->g_opt, w->d_opt, w->loader);
}

static void release(world *w)
{
    axle_optimizer_release(w->d_opt);
    axle_optimizer_release(w->g_opt);
    axle_module_release(w->discriminator);
    axle_module_release(w->generator);
    axle_loader_release(w->loader);
    axle_dataset_release(w->pictures);
    axle_accelerator_release(w->acc);
}

/* A generated picture, a character for two pixels, to see what was learnt. */
static int draw(world *w)
{
    static const char ink[] = " .:-=+*#%@";
    float pixel[2][PIXELS];
    axle_scope_push();
    axle_no_grad_push();
    axle_module_train(w->generator, 0);
    axle_tensor *noise = axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(2, NOISE));
    axle_tensor *pictures = axle_module_forward(w->generator, noise);
    int code = pictures ? axle_tensor_read(pictures, pixel, sizeof(pixel)) : axle_error_code();
    axle_no_grad_pop();
    axle_scope_pop();
    for (int y = 0; y < SIDE && !code; y += 2, putchar('\n'))
        for (int k = 0; k < 2; k++)
            for (int x = 0; x < SIDE; x++)
                putchar(ink[(int)(pixel[k][y * SIDE + x] * 9.99f)]);
    return code;
}

int main(int argc, char **argv)
{
    world w = {0};
    int64_t updates = argc > 1 ? atoll(argv[1]) : 400;
    int code = create(&w, argc > 2 ? argv[2] : "/usr/share/datasets/fashion-mnist");
    if (!code)
        code = train(&w, updates);
    if (!code)
        code = draw(&w);
    if (code)
        fprintf(stderr, "gan: %s\n", axle_error_message());
    release(&w);
    return code ? EXIT_FAILURE : EXIT_SUCCESS;
}
