/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear regression: find the weights 3 and -2 and the bias 0.5 behind noisy points.
 *
 *     02_linear_regression [EPOCHS]
 */
#include <stdio.h>
#include <stdlib.h>

#include "axle/axle.h"

enum { POINTS = 512, BATCH = 32 };

static int fail(void)
{
    fprintf(stderr, "02_linear_regression: %s\n", axle_error_message());
    return EXIT_FAILURE;
}

/* Points (x, y) with y = 3 x0 - 2 x1 + 0.5 + noise. */
static int create_points(axle_dataset **out)
{
    const float weights[] = {3, -2};
    axle_scope_push();
    axle_tensor *w = axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(2, 1), weights);
    axle_tensor *x = axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(POINTS, 2));
    axle_tensor *noise = axle_mul_scalar(axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(POINTS, 1)), 0.05);
    axle_tensor *y = axle_add_scalar(axle_add(axle_matmul(x, w), noise), 0.5);
    const char *names[] = {"input", "target"};
    axle_tensor *tensors[] = {x, y};
    int code = y ? axle_tensor_dataset_create(names, tensors, 2, out) : axle_error_code();
    axle_scope_pop();
    return code;
}

/* What a model of your own is: a function from a batch to a loss. */
static axle_output regress(axle_module *module, axle_batch *batch, void *user)
{
    (void)user;
    axle_tensor *y = axle_module_forward(module, axle_batch_get(batch, "input"));
    axle_tensor *loss = axle_mse_loss(y, axle_batch_get(batch, "target"), AXLE_LOSS_MEAN);
    return (axle_output){.loss = loss, .logits = loss ? y : NULL};
}

static int show(const axle_module *linear)
{
    float weight[2], bias[1];
    if (axle_tensor_read(axle_module_parameter(linear, "weight"), weight, sizeof(weight)) ||
        axle_tensor_read(axle_module_parameter(linear, "bias"), bias, sizeof(bias)))
        return fail();
    printf("y = %.2f x0 + %.2f x1 + %.2f\n", weight[0], weight[1], bias[0]);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    int epochs = argc > 1 ? atoi(argv[1]) : 5;
    axle_accelerator *acc = NULL;
    axle_dataset *points = NULL;
    axle_loader *loader = NULL;
    axle_module *linear;
    axle_model *model = NULL;
    axle_optimizer *opt = NULL;
    axle_batch *batch;

    axle_seed(1);
    axle_loader_options loading = AXLE_LOADER_OPTIONS_INIT;
    loading.batch_size = BATCH;
    loading.shuffle = 1;
    axle_sgd_options sgd = AXLE_SGD_OPTIONS_INIT;
    sgd.lr = 0.05;
    if (axle_accelerator_create(NULL, &acc) || create_points(&points) ||
        axle_loader_create(points, &loading, &loader) || axle_linear_create(2, 1, 1, &linear) ||
        axle_model_create(linear, regress, NULL, &model) || axle_sgd_create(linear, &sgd, &opt) ||
        axle_prepare(acc, model, opt, loader))
        return fail();

    for (int epoch = 0; epoch < epochs; epoch++) {
        double loss = 0.0;
        while (axle_loader_next(loader, &batch)) {
            axle_optimizer_zero_grad(opt);
            axle_output out = axle_model_forward(model, batch);
            axle_backward(acc, out.loss);
            axle_optimizer_step(opt);
            axle_tensor_item(out.loss, &loss);
        }
        if (axle_error_code())
            return fail();
        printf("epoch %d: loss %.5f\n", epoch + 1, loss);
    }
    int code = show(axle_model_module(model));

    axle_optimizer_release(opt);
    axle_model_release(model);
    axle_loader_release(loader);
    axle_dataset_release(points);
    axle_accelerator_release(acc);
    return code;
}
