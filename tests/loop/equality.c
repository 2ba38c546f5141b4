/* SPDX-License-Identifier: Apache-2.0 */
/* Training by P processes equals training by one on batches P times as large. */
#include "loop.h"

typedef struct lesson {
    int dtype, shuffle;
    int64_t n;
    double tolerance;
} lesson;

static axle_loader_options loading(const lesson *l, int64_t batch)
{
    axle_loader_options o = AXLE_LOADER_OPTIONS_INIT;
    o.batch_size = batch;
    o.shuffle = l->shuffle;
    o.seed = 11;
    return o;
}

static axle_tensor *loss_of(axle_module *net, axle_batch *batch)
{
    axle_tensor *y = axle_module_forward(net, axle_batch_get(batch, "input"));
    return axle_mse_loss(y, axle_batch_get(batch, "target"), AXLE_LOSS_MEAN);
}

/* Three epochs; without an accelerator alone, and by the plain loop. */
static int train(axle_accelerator *acc, const lesson *l, double out[2])
{
    axle_module *net;
    axle_optimizer *opt;
    axle_loader *loader;
    axle_batch *batch;
    axle_loader_options o = loading(l, acc ? 8 : 8 * loop_size);
    if (loop_learner(&net, &opt) || loop_line(l->n, &o, &loader))
        return 1;
    if (acc)
        EXPECT(axle_prepare(acc, net, opt, loader) == AXLE_OK);
    for (int epoch = 0; epoch < 3; epoch++)
        while (axle_loader_next(loader, &batch)) {
            EXPECT(axle_optimizer_zero_grad(opt) == AXLE_OK);
            axle_tensor *loss = loss_of(net, batch);
            EXPECT((acc ? axle_backward(acc, loss) : axle_tensor_backward(loss, NULL, 0)) ==
                   AXLE_OK);
            EXPECT(axle_optimizer_step(opt) == AXLE_OK);
        }
    return loop_learned(acc, net, opt, loader, out);
}

static int compare(const axle_accelerator_options *options, const lesson *l)
{
    axle_accelerator *acc;
    double one[2], many[2];
    if (loop_open(options, &acc))
        return 1;
    EXPECT(axle_set_default_dtype(l->dtype) == AXLE_OK);
    if (train(NULL, l, one) || train(acc, l, many))
        return 1;
    for (int k = 0; k < 2; k++)
        EXPECT(loop_near(many[k], one[k], l->tolerance));
    EXPECT(fabs(one[0]) > 0.1 && fabs(one[1]) > 1.0); /* it learned */
    axle_accelerator_release(acc);
    return 0;
}

static int equals_in_f32(void)
{
    return compare(NULL, &(lesson){AXLE_DTYPE_F32, 0, 32 * loop_size, 1e-6});
}

static int equals_in_f64(void)
{
    return compare(NULL, &(lesson){AXLE_DTYPE_F64, 0, 32 * loop_size, 1e-12});
}

static int equals_shuffled(void)
{
    return compare(NULL, &(lesson){AXLE_DTYPE_F64, 1, 32 * loop_size, 1e-12});
}

/* Rows that divide by nothing. */
static int equals_uneven(void)
{
    return compare(NULL, &(lesson){AXLE_DTYPE_F64, 1, 32 * loop_size + 5, 1e-12});
}

static int equals_shared_out(void)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    o.shard_optimizer = 1;
    return compare(&o, &(lesson){AXLE_DTYPE_F64, 1, 32 * loop_size + 5, 1e-12});
}

/* Half the bits on the wire cost some of the result's. */
static int comes_close(void)
{
    static const int wires[] = {AXLE_DTYPE_BF16, AXLE_DTYPE_F16};
    for (int k = 0; k < 2; k++) {
        axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
        o.wire_dtype = wires[k];
        if (compare(&o, &(lesson){AXLE_DTYPE_F32, 1, 32 * loop_size, 1e-2}))
            return 1;
    }
    return 0;
}

const loop_check loop_equality[] = {
    {"12", "P processes equal one in f32", equals_in_f32},
    {"12", "P processes equal one in f64", equals_in_f64},
    {"12", "P processes equal one in shuffled order", equals_shuffled},
    {"12", "P processes equal one where rows do not divide", equals_uneven},
    {"12", "P processes equal one where the optimizer is shared out", equals_shared_out},
    {"19", "gradients in half the bits come close", comes_close},
    {NULL, NULL, NULL},
};
