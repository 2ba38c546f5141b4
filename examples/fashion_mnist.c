/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LeNet learns Fashion-MNIST: the whole of a training program.
 *
 *     fashion_mnist [UPDATES [DIR]]
 *
 * DIR holds the four IDX files (Debian: dataset-fashion-mnist); without them the pictures are
 * synthetic.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "axle/axle.h"
#include "axle/models.h"

enum { BATCH = 64, EVAL_BATCH = 250, SYNTHETIC_TRAIN = 6000, SYNTHETIC_TEST = 1000 };

/* All that is trained and tested. */
typedef struct world {
    axle_accelerator *acc;
    axle_dataset *train_set, *test_set;
    axle_loader *loader, *test_loader;
    axle_model *model;
    axle_optimizer *opt;
    axle_scheduler *sched;
} world;

static int open_data(const char *folder, axle_dataset **train, axle_dataset **test)
{
    if (access(folder, F_OK) == 0) {
        int code = axle_idx_dataset_open(folder, 1, train);
        return code ? code : axle_idx_dataset_open(folder, 0, test);
    }
    printf("no %s: the pictures are synthetic\n", folder);
    int code = axle_synthetic_image_dataset_create(SYNTHETIC_TRAIN, 1, train);
    return code ? code : axle_synthetic_image_dataset_create(SYNTHETIC_TEST, 2, test);
}

static int create_loader(axle_dataset *set, int batch_size, int shuffle, axle_loader **out)
{
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    options.batch_size = batch_size;
    options.shuffle = shuffle;
    return axle_loader_create(set, &options, out);
}

static int create(world *w, const char *folder, int64_t updates)
{
    axle_module *net;
    axle_seed(1);
    if (axle_accelerator_create(NULL, &w->acc) || open_data(folder, &w->train_set, &w->test_set) ||
        create_loader(w->train_set, BATCH, 1, &w->loader) ||
        create_loader(w->test_set, EVAL_BATCH, 0, &w->test_loader) ||
        axle_image_model_create("lenet", NULL, &net) || axle_classifier_create(net, &w->model) ||
        axle_adam_create(net, NULL, &w->opt) ||
        axle_linear_schedule_create(w->opt, updates / 10, updates, &w->sched))
        return axle_error_code();
    return axle_prepare(w->acc, w->model, w->opt, w->loader, w->test_loader, w->sched);
}

static void release(world *w)
{
    axle_scheduler_release(w->sched);
    axle_optimizer_release(w->opt);
    axle_model_release(w->model);
    axle_loader_release(w->test_loader);
    axle_loader_release(w->loader);
    axle_dataset_release(w->test_set);
    axle_dataset_release(w->train_set);
    axle_accelerator_release(w->acc);
}

/* One update; *loss is that of the batch. */
static int train_batch(world *w, axle_batch *batch, double *loss)
{
    axle_optimizer_zero_grad(w->opt);
    axle_output out = axle_model_forward(w->model, batch);
    axle_backward(w->acc, out.loss);
    axle_optimizer_step(w->opt);
    axle_scheduler_step(w->sched);
    return axle_tensor_item(out.loss, loss);
}

static int train(world *w, int64_t updates)
{
    axle_batch *batch;
    double first = 0.0, last = 0.0;
    int64_t done = 0;
    while (done < updates && !axle_loader_status(w->loader)) {
        while (done < updates && axle_loader_next(w->loader, &batch)) {
            if (train_batch(w, batch, &last)) {
                axle_loader_break(w->loader);
                return axle_error_code();
            }
            first = done++ ? first : last;
        }
    }
    axle_loader_break(w->loader);
    printf("%lld updates: first loss %.4f, last loss %.4f\n", (long long)done, first, last);
    return axle_loader_status(w->loader);
}

/* Add the number of right guesses in a batch. */
static int test_batch(world *w, axle_batch *batch, double *correct)
{
    double hits;
    axle_output out = axle_model_forward(w->model, batch);
    axle_tensor *guess = axle_argmax(out.logits, 1, 0);
    axle_tensor *right = axle_eq(guess, axle_batch_get(batch, "target"));
    int code = axle_tensor_item(axle_sum_all(axle_cast(right, AXLE_DTYPE_F32)), &hits);
    if (!code)
        *correct += hits;
    return code;
}

static int test(world *w)
{
    axle_batch *batch;
    double correct = 0.0;
    int64_t rows = axle_dataset_length(w->test_set);
    int code = AXLE_OK;
    axle_module_train(axle_model_module(w->model), 0);
    axle_no_grad_push();
    while (!code && axle_loader_next(w->test_loader, &batch))
        code = test_batch(w, batch, &correct);
    axle_no_grad_pop();
    axle_loader_break(w->test_loader);
    if (!code)
        code = axle_loader_status(w->test_loader);
    if (!code)
        printf("accuracy on %lld pictures: %.4f\n", (long long)rows, correct / (double)rows);
    return code;
}

int main(int argc, char **argv)
{
    world w = {0};
    int64_t updates = argc > 1 ? atoll(argv[1]) : 938;
    const char *folder = argc > 2 ? argv[2] : "/usr/share/datasets/fashion-mnist";
    int code = create(&w, folder, updates);
    if (!code)
        code = train(&w, updates);
    if (!code)
        code = test(&w);
    if (code)
        fprintf(stderr, "fashion_mnist: %s\n", axle_error_message());
    release(&w);
    return code ? EXIT_FAILURE : EXIT_SUCCESS;
}
