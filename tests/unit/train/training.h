/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training for the tests of checkpoints: a small network with dropout and batch normalisation,
 * AdamW, a schedule and a shuffled loader, in f64. Functions return 0, or the code of an error that
 * is recorded.
 */
#ifndef AXLE_TESTS_UNIT_TRAIN_TRAINING_H
#define AXLE_TESTS_UNIT_TRAIN_TRAINING_H

#include "axle/axle.h"

typedef struct training_plan {
    int64_t rows, batch;          /* of the data set; of all processes together */
    int accumulate, shard, local; /* updates between two averages; 0: gradients are summed */
    int64_t width;
    int norm; /* statistics of a batch depend on how it is spread over processes */
    double dropout;
} training_plan;

#define TRAINING_PLAN                                                                              \
    {                                                                                              \
        .rows = 64, .batch = 4, .accumulate = 1, .width = 5, .norm = 1, .dropout = 0.25            \
    }

typedef struct training {
    axle_accelerator *acc;
    axle_module *net;
    axle_dataset *set;
    axle_loader *loader;
    axle_optimizer *opt;
    axle_scheduler *sched;
    int64_t seen[4096]; /* numbers of the samples, as this process got them */
    int count;
    double loss; /* of the last batch, over all processes */
} training;

static inline int training_data(int64_t rows, axle_dataset **out)
{
    static const char *const names[] = {"number", "input", "target"};
    int status = axle_scope_push();
    axle_seed(5);
    axle_tensor *tensors[] = {axle_arange(AXLE_DTYPE_I64, 0.0, (double)rows, 1.0),
                              axle_randn(AXLE_DTYPE_F64, AXLE_DIMS(rows, 3)),
                              axle_randn(AXLE_DTYPE_F64, AXLE_DIMS(rows, 2))};
    if (!status)
        status = axle_tensor_dataset_create((const char **)names, tensors, 3, out);
    axle_scope_pop();
    return status;
}

static inline int training_net(const training_plan *p, axle_module **out)
{
    axle_module *part[4] = {NULL};
    int n = 0, status = axle_sequential_create(out);
    status = status ? status : axle_linear_create(3, p->width, 1, &part[n++]);
    if (p->norm)
        status = status ? status : axle_batch_norm_create(p->width, 1e-5, 0.1, &part[n++]);
    status = status ? status : axle_dropout_create(p->dropout, &part[n++]);
    status = status ? status : axle_linear_create(p->width, 2, 1, &part[n++]);
    for (int k = 0; k < n && !status; k++)
        status = axle_module_add_child(*out, NULL, part[k]);
    return status;
}

static inline void training_close(training *t)
{
    axle_accelerator_release(t->acc);
    axle_loader_release(t->loader);
    axle_dataset_release(t->set);
    axle_scheduler_release(t->sched);
    axle_optimizer_release(t->opt);
    axle_module_release(t->net);
    *t = (training){0};
}

/* A new one, as a program makes it before it loads anything. */
static inline int training_open(const training_plan *p, training *t)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_loader_options l = AXLE_LOADER_OPTIONS_INIT;
    axle_adamw_options adam = AXLE_ADAMW_OPTIONS_INIT;
    *t = (training){0};
    o.backend = "reference";
    o.accumulate = p->accumulate;
    o.shard_optimizer = p->shard;
    o.local_sgd = p->local;
    o.quiet = 1;
    adam.lr = 0.05;
    int status = axle_accelerator_create(&o, &t->acc);
    status = status ? status : axle_set_default_dtype(AXLE_DTYPE_F64);
    status = status ? status : training_data(p->rows, &t->set);
    axle_seed(3);
    status = status ? status : training_net(p, &t->net);
    l.batch_size = status ? 1 : p->batch / axle_process_count(t->acc);
    l.shuffle = 1;
    l.seed = 7;
    status = status ? status : axle_loader_create(t->set, &l, &t->loader);
    status = status ? status : axle_adamw_create(t->net, &adam, &t->opt);
    status = status ? status : axle_linear_schedule_create(t->opt, 3, 60, &t->sched);
    status = status ? status : axle_prepare(t->acc, t->net, t->opt, t->loader, t->sched);
    return status;
}

static inline int training_batch(training *t, axle_batch *batch)
{
    axle_tensor *number = axle_batch_get(batch, "number");
    int64_t rows = axle_batch_weight(batch);
    int status = AXLE_OK;
    if (rows > 0)
        status = axle_tensor_read(number, t->seen + t->count, (size_t)rows * sizeof(int64_t));
    t->count += (int)rows;
    axle_optimizer_zero_grad(t->opt);
    axle_tensor *y = axle_module_forward(t->net, axle_batch_get(batch, "input"));
    axle_tensor *loss = axle_mse_loss(y, axle_batch_get(batch, "target"), AXLE_LOSS_MEAN);
    double own = 0.0;
    status = status ? status : axle_backward(t->acc, loss);
    status = status ? status : axle_tensor_item(loss, &own);
    status = status ? status : axle_weighted_mean(t->acc, own, (double)rows, &t->loss);
    status = status ? status : axle_optimizer_step(t->opt);
    return status ? status : axle_scheduler_step(t->sched);
}

/* Go on until epoch `epochs`, or for so many batches; leaves the loop as it is then. */
static inline int training_run(training *t, int64_t epochs, int64_t batches)
{
    axle_batch *batch;
    int status = AXLE_OK;
    while (!status && batches > 0 && axle_loader_epoch(t->loader) < epochs)
        while (!status && batches > 0 && axle_loader_next(t->loader, &batch)) {
            status = training_batch(t, batch);
            batches--;
        }
    return status;
}

static inline uint64_t training_sum(const training *t)
{
    uint64_t sum = 0;
    return axle_module_checksum(t->net, &sum) ? 0 : sum;
}

#endif
