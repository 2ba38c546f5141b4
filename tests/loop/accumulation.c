/* SPDX-License-Identifier: Apache-2.0 */
/* Windows: what gradients are in and after them, with loaders and without. */
#include "loop.h"

/* ------------------------------------------------------------------ over a loader */

static double halves(int64_t tick, void *user)
{
    (void)user;
    return pow(0.5, (double)tick);
}

static axle_loader_options loading(int64_t batch)
{
    axle_loader_options o = AXLE_LOADER_OPTIONS_INIT;
    o.batch_size = batch;
    o.shuffle = 1;
    o.seed = 2;
    return o;
}

typedef struct student {
    axle_module *net;
    axle_optimizer *opt;
    axle_scheduler *sched;
    axle_loader *loader;
    axle_batch *batch;
} student;

static int make_student(int64_t n, int64_t batch, student *s)
{
    axle_adamw_options adam = AXLE_ADAMW_OPTIONS_INIT;
    axle_loader_options o = loading(batch);
    adam.lr = 0.1;
    axle_seed(4);
    EXPECT(axle_linear_create(1, 1, 1, &s->net) == AXLE_OK);
    EXPECT(axle_adamw_create(s->net, &adam, &s->opt) == AXLE_OK);
    EXPECT(axle_lambda_schedule_create(s->opt, halves, NULL, &s->sched) == AXLE_OK);
    return loop_line(n, &o, &s->loader);
}

static void release_student(student *s)
{
    axle_loader_release(s->loader);
    axle_scheduler_release(s->sched);
    axle_optimizer_release(s->opt);
    axle_module_release(s->net);
}

static axle_tensor *loss_of(student *s, int reduction)
{
    axle_tensor *y = axle_module_forward(s->net, axle_batch_get(s->batch, "input"));
    return axle_mse_loss(y, axle_batch_get(s->batch, "target"), reduction);
}

static double gradient(const student *s)
{
    return loop_item(axle_tensor_grad(axle_module_parameter(s->net, "weight")));
}

/* Divide the reference's sums by the rows of the window, and step. */
static int update_reference(student *s, double rows)
{
    axle_tensor *parameters[] = {axle_module_parameter(s->net, "weight"),
                                 axle_module_parameter(s->net, "bias")};
    for (int k = 0; k < 2; k++) {
        axle_tensor *grad = axle_tensor_grad(parameters[k]);
        double mean = loop_item(grad) / rows;
        EXPECT(axle_tensor_write(grad, &mean, sizeof(mean)) == AXLE_OK);
    }
    EXPECT(axle_optimizer_step(s->opt) == AXLE_OK && axle_scheduler_step(s->sched) == AXLE_OK);
    return 0;
}

/* 80 samples in batches of 16, windows of two, beside one process that sums over global batches.
 * Gradients are the reference's where a window ends, and inside it where batches are averaged;
 * alone they are its sums. */
static int follows_windows(bool sync_each)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_accelerator *acc;
    student one, many;
    o.accumulate = 2;
    o.sync_each_batch = sync_each;
    if (loop_open(&o, &acc))
        return 1;
    EXPECT(axle_set_default_dtype(AXLE_DTYPE_F64) == AXLE_OK);
    if (make_student(80, 16 * loop_size, &one) || make_student(80, 16, &many))
        return 1;
    EXPECT(axle_prepare(acc, many.net, many.opt, many.sched, many.loader) == AXLE_OK);
    double rows = 0.0;
    for (int i = 0; axle_loader_next(one.loader, &one.batch); i++) {
        EXPECT(axle_loader_next(many.loader, &many.batch));
        bool ends = i % 2 == 1 || axle_loader_is_last(one.loader);
        EXPECT(axle_is_update(acc) == ends);
        if (i % 2 == 0)
            EXPECT(axle_optimizer_zero_grad(one.opt) == AXLE_OK);
        EXPECT(axle_optimizer_zero_grad(many.opt) == AXLE_OK);
        EXPECT(axle_tensor_backward(loss_of(&one, AXLE_LOSS_SUM), NULL, 0) == AXLE_OK);
        EXPECT(axle_backward(acc, loss_of(&many, AXLE_LOSS_MEAN)) == AXLE_OK);
        EXPECT(axle_is_update(acc) == ends);
        rows = (i % 2 ? rows : 0.0) + (double)axle_batch_rows(one.batch);
        double sum = gradient(&one), expected = ends || sync_each ? sum / rows : sum;
        bool same = loop_near(gradient(&many), expected, 1e-12);
        EXPECT(same == (ends || sync_each || loop_size == 1));
        if (ends && update_reference(&one, rows))
            return 1;
        EXPECT(axle_optimizer_step(many.opt) == AXLE_OK);
        EXPECT(axle_scheduler_step(many.sched) == AXLE_OK);
        EXPECT(axle_optimizer_lr(many.opt, 0) == axle_optimizer_lr(one.opt, 0));
        EXPECT(loop_near(loop_item(axle_module_parameter(many.net, "weight")),
                         loop_item(axle_module_parameter(one.net, "weight")), 1e-12));
    }
    EXPECT(!axle_loader_next(many.loader, &many.batch));
    release_student(&one);
    release_student(&many);
    axle_accelerator_release(acc);
    return 0;
}

static int averages_at_the_end(void)
{
    return follows_windows(false);
}

static int averages_each_batch(void)
{
    return follows_windows(true);
}

/* ------------------------------------------------------------------ without a loader */

/* The mean of rank + 1 over all processes. */
static double mean_rank(void)
{
    return (loop_size + 1) / 2.0;
}

/* Inside a pause gradients are this process's; after it they agree. */
static int pauses(void)
{
    axle_accelerator *acc;
    axle_tensor *w;
    axle_optimizer *opt;
    if (loop_open(NULL, &acc) || loop_weight(0.0, 0.0, &w, &opt))
        return 1;
    EXPECT(axle_prepare(acc, opt) == AXLE_OK);
    double own = loop_rank + 1.0;
    EXPECT(loop_refused(axle_no_sync_end(acc), AXLE_ERR_STATE, "axle_no_sync_end"));
    EXPECT(axle_no_sync_begin(acc) == AXLE_OK);
    EXPECT(!axle_is_update(acc));
    EXPECT(axle_backward(acc, loop_product(w, own)) == AXLE_OK);
    EXPECT(loop_item(axle_tensor_grad(w)) == own);
    EXPECT((own == mean_rank()) == (loop_size == 1));
    EXPECT(axle_optimizer_step(opt) == AXLE_OK && axle_optimizer_updates(opt) == 0);
    EXPECT(axle_optimizer_zero_grad(opt) == AXLE_OK);
    EXPECT(axle_no_sync_end(acc) == AXLE_OK && axle_is_update(acc));
    EXPECT(axle_backward(acc, loop_product(w, 3.0 * own)) == AXLE_OK);
    EXPECT(loop_item(axle_tensor_grad(w)) == 2.0 * mean_rank());
    EXPECT(axle_optimizer_step(opt) == AXLE_OK && axle_optimizer_updates(opt) == 1);
    EXPECT(loop_item(w) == -2.0 * mean_rank());
    return loop_close(acc, opt, w);
}

/* Forward passes may be inside, where only the backward is outside. */
static int pauses_forwards(void)
{
    axle_accelerator *acc;
    axle_tensor *w, *losses[3];
    axle_optimizer *opt;
    if (loop_open(NULL, &acc) || loop_weight(0.0, 0.0, &w, &opt))
        return 1;
    EXPECT(axle_prepare(acc, opt) == AXLE_OK);
    EXPECT(axle_no_sync_begin(acc) == AXLE_OK);
    for (int k = 0; k < 3; k++)
        losses[k] = loop_product(w, loop_rank + 1.0 + k);
    for (int k = 0; k < 2; k++)
        EXPECT(axle_backward(acc, losses[k]) == AXLE_OK);
    EXPECT(loop_item(axle_tensor_grad(w)) == 2.0 * (loop_rank + 1.0) + 1.0);
    EXPECT(axle_no_sync_end(acc) == AXLE_OK);
    EXPECT(axle_backward(acc, losses[2]) == AXLE_OK);
    EXPECT(loop_near(loop_item(axle_tensor_grad(w)), mean_rank() + 1.0, 1e-15));
    return loop_close(acc, opt, w);
}

/* Two nets in one block: one tick a block, two updates each of four blocks. */
static int ticks_once(void)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_accelerator *acc;
    axle_module *net[2], *stranger;
    axle_optimizer *opt[2];
    axle_sgd_options sgd = AXLE_SGD_OPTIONS_INIT;
    o.accumulate = 2;
    if (loop_open(&o, &acc))
        return 1;
    for (int k = 0; k < 2; k++) {
        EXPECT(axle_linear_create(1, 1, 0, &net[k]) == AXLE_OK);
        EXPECT(axle_sgd_create(net[k], &sgd, &opt[k]) == AXLE_OK);
    }
    EXPECT(axle_linear_create(1, 1, 0, &stranger) == AXLE_OK);
    EXPECT(axle_prepare(acc, net[0], net[1], opt[0], opt[1]) == AXLE_OK);
    EXPECT(
        loop_refused(axle_accumulate_begin(acc, net[0], stranger), AXLE_ERR_STATE, "argument 2 "));
    EXPECT(loop_refused(axle_accumulate_end(acc), AXLE_ERR_STATE, "no block"));
    axle_tensor *x = axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(1, 1));
    for (int step = 0; step < 4; step++) {
        EXPECT(axle_accumulate_begin(acc, net[0], net[1]) == AXLE_OK);
        EXPECT(axle_accumulate_begin(acc, net[1]) == AXLE_OK);
        for (int k = 0; k < 2; k++) {
            EXPECT(axle_is_update(acc) == step % 2);
            EXPECT(axle_optimizer_zero_grad(opt[k]) == AXLE_OK);
            axle_tensor *y = axle_module_forward(net[k], x);
            EXPECT(axle_backward(acc, axle_mean(y, 0, NULL, 0)) == AXLE_OK);
            EXPECT(loop_item(axle_tensor_grad(axle_module_parameter(net[k], "weight"))) == 1.0);
            EXPECT(axle_optimizer_step(opt[k]) == AXLE_OK);
            EXPECT(axle_optimizer_updates(opt[k]) == (step + 1) / 2);
        }
        EXPECT(axle_accumulate_end(acc) == AXLE_OK && axle_accumulate_end(acc) == AXLE_OK);
    }
    EXPECT(axle_optimizer_zero_grad(opt[0]) == AXLE_OK);
    EXPECT(!axle_tensor_grad(axle_module_parameter(net[0], "weight")));
    EXPECT(axle_tensor_grad(axle_module_parameter(net[1], "weight")));
    axle_accelerator_release(acc);
    for (int k = 0; k < 2; k++) {
        axle_optimizer_release(opt[k]);
        axle_module_release(net[k]);
    }
    axle_module_release(stranger);
    return 0;
}

/* Five batches in windows of four of which the last is short, and weighs what it holds. */
static int ends_early(void)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_accelerator *acc;
    axle_tensor *w;
    axle_optimizer *opt;
    o.accumulate = 4;
    if (loop_open(&o, &acc) || loop_weight(0.0, 0.0, &w, &opt))
        return 1;
    EXPECT(axle_prepare(acc, opt) == AXLE_OK);
    for (int k = 0; k < 5; k++) {
        if (k == 4)
            axle_accumulate_last(acc);
        EXPECT(axle_is_update(acc) == (k >= 3));
        EXPECT(axle_optimizer_zero_grad(opt) == AXLE_OK);
        EXPECT(axle_backward(acc, loop_product(w, k + 1.0)) == AXLE_OK);
        EXPECT(axle_optimizer_step(opt) == AXLE_OK);
    }
    EXPECT(axle_optimizer_updates(opt) == 2 && loop_item(w) == -(2.5 + 5.0));
    return loop_close(acc, opt, w);
}

/* Batches of 1, 2, 3... tokens on every process, whose mean is x; a window holds 6 a process. */
static int spends_a_budget(void)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_accelerator *acc;
    axle_tensor *w;
    axle_optimizer *opt;
    o.accumulate_budget = 6.0 * loop_size;
    if (loop_open(&o, &acc) || loop_weight(0.0, 0.0, &w, &opt))
        return 1;
    EXPECT(axle_prepare(acc, opt) == AXLE_OK);
    static const int updates[] = {0, 0, 1, 1, 2, 3};
    for (int k = 0; k < 6; k++) {
        EXPECT(axle_optimizer_zero_grad(opt) == AXLE_OK);
        EXPECT(axle_backward_weighted(acc, loop_product(w, k + 1.0), k + 1.0) == AXLE_OK);
        EXPECT(axle_optimizer_step(opt) == AXLE_OK && axle_optimizer_updates(opt) == updates[k]);
    }
    double expected = (1.0 + 4.0 + 9.0) / 6.0 + (16.0 + 25.0) / 9.0 + 6.0;
    EXPECT(loop_near(loop_item(w), -expected, 1e-14));
    return loop_close(acc, opt, w);
}

/* Two losses a batch, of other weights: sum(weight * gradient) / sum(first weights), however
 * batches are spread over processes. */
static int adds_losses(void)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_accelerator *acc;
    axle_tensor *w;
    axle_optimizer *opt;
    double sum = 0.0, weights = 0.0;
    o.accumulate = 4 / loop_size;
    if (loop_open(&o, &acc) || loop_weight(0.0, 0.0, &w, &opt))
        return 1;
    EXPECT(axle_prepare(acc, opt) == AXLE_OK);
    for (int k = 0; k < 4; k++) {
        double x = k + 1.0, first = k + 2.0, second = 7.0 - k;
        sum += first * x + second * 10.0 * x;
        weights += first;
        if (k % loop_size != loop_rank)
            continue;
        EXPECT(axle_optimizer_zero_grad(opt) == AXLE_OK);
        EXPECT(axle_accumulate_begin_objects(acc, (void *const[]){NULL}) == AXLE_OK);
        EXPECT(axle_backward_weighted(acc, loop_product(w, x), first) == AXLE_OK);
        EXPECT(axle_backward_weighted(acc, loop_product(w, 10.0 * x), second) == AXLE_OK);
        EXPECT(axle_accumulate_end(acc) == AXLE_OK);
        EXPECT(axle_optimizer_step(opt) == AXLE_OK);
    }
    EXPECT(axle_optimizer_updates(opt) == 1 && loop_near(loop_item(w), -sum / weights, 1e-14));
    return loop_close(acc, opt, w);
}

/* ------------------------------------------------------------------ nothing to learn from */

/* Targets of n rows; -100 counts for nothing. */
static axle_tensor *targets_of(int n, const int64_t *targets)
{
    return axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(n), targets);
}

static axle_tensor *entropy(axle_tensor *logits, int n, const int64_t *targets)
{
    axle_tensor *rows = axle_add(axle_zeros(AXLE_DTYPE_F64, AXLE_DIMS(n, 3)), logits);
    return axle_cross_entropy(rows, targets_of(n, targets), NULL);
}

/* (3) f64. */
static int make_logits(axle_tensor **out, axle_optimizer **opt)
{
    *out = axle_tensor_retain(
        axle_from_data(AXLE_DTYPE_F64, AXLE_DIMS(3), (double[]){0.5, -1.0, 2.0}));
    EXPECT(axle_tensor_set_requires_grad(*out, 1) == AXLE_OK);
    EXPECT(axle_sgd_create(NULL, NULL, opt) == AXLE_OK);
    EXPECT(axle_optimizer_add_group(*opt, out, 1, NULL) == AXLE_OK);
    return 0;
}

/* The last of several processes has ignored targets alone: losses and gradients are finite, and the
 * mean is the others'; where all are ignored the gradient is 0. */
static int ignores_alone(int ignored_by)
{
    static const int64_t own[] = {0, -100, 2, 1}, none[] = {-100, -100, -100, -100};
    axle_accelerator *acc;
    axle_tensor *w, *reference;
    axle_optimizer *opt, *other;
    double got[3], expected[3] = {0.0, 0.0, 0.0};
    bool ignored = loop_rank >= ignored_by, all = ignored_by == 0;
    if (loop_open(NULL, &acc) || make_logits(&w, &opt) || make_logits(&reference, &other))
        return 1;
    EXPECT(axle_prepare(acc, opt) == AXLE_OK);
    axle_tensor *loss = entropy(w, 4, ignored ? none : own);
    EXPECT(isfinite(loop_item(loss)) && (!ignored || loop_item(loss) == 0.0));
    EXPECT(axle_backward_weighted(acc, loss, ignored ? 0.0 : 3.0) == AXLE_OK);
    double mean;
    EXPECT(axle_weighted_mean(acc, loop_item(loss), ignored ? 0.0 : 3.0, &mean) == AXLE_OK);
    EXPECT(loop_near(mean, all ? 0.0 : loop_item(entropy(reference, 4, own)), 1e-14));
    if (!all) {
        EXPECT(axle_tensor_backward(entropy(reference, 4, own), NULL, 0) == AXLE_OK);
        EXPECT(axle_tensor_read(axle_tensor_grad(reference), expected, sizeof(expected)) ==
               AXLE_OK);
    }
    if (axle_tensor_grad(w))
        EXPECT(axle_tensor_read(axle_tensor_grad(w), got, sizeof(got)) == AXLE_OK);
    for (int k = 0; k < 3; k++)
        EXPECT(axle_tensor_grad(w) ? loop_near(got[k], expected[k], 1e-14) : all);
    axle_optimizer_release(other);
    axle_tensor_release(reference);
    return loop_close(acc, opt, w);
}

static int ignores_what_counts_for_nothing(void)
{
    return ignores_alone(loop_size > 1 ? loop_size - 1 : 1) || ignores_alone(0);
}

const loop_check loop_accumulation[] = {
    {"13", "gradients are this process's inside a pause, and agree after it", pauses},
    {"13", "forward passes in a pause, and the last backward after it", pauses_forwards},
    {"14", "gradients agree where a window ends, and rates at every batch", averages_at_the_end},
    {"14", "gradients agree at every batch where each is averaged", averages_each_batch},
    {"14", "a block of two models is one batch", ticks_once},
    {"14", "the last window weighs what it holds", ends_early},
    {"14", "a window ends when its budget of tokens is spent", spends_a_budget},
    {"14", "losses of one batch add up by their weights", adds_losses},
    {"14", "ignored targets count for nothing, also where a process has no others",
     ignores_what_counts_for_nothing},
    {NULL, NULL, NULL},
};
