/* SPDX-License-Identifier: Apache-2.0 */
/* Training by several processes comes to the numbers of one. */
#include <math.h>

#include "axle/axle.h"
#include "group/processes.h"

#define F64 AXLE_DTYPE_F64

/* ------------------------------------------------------------------ a loop */

enum { ROWS_AN_UPDATE = 12 };

typedef struct plan {
    int64_t rows;
    int accumulate; /* batches a window */
    int shuffle;
    double clip;
    int64_t width; /* of the hidden layer */
    int shard;
    int wire;         /* element type */
    double tolerance; /* 0: 1e-12 */
} plan;

/* The same on every process. */
static int make_rows(int64_t n, axle_dataset **out)
{
    const char *names[] = {"input", "target"};
    CHECK(axle_scope_push() == AXLE_OK);
    axle_seed(5);
    axle_tensor *tensors[] = {axle_randn(F64, AXLE_DIMS(n, 3)), axle_randn(F64, AXLE_DIMS(n, 2))};
    CHECK(axle_tensor_dataset_create(names, tensors, 2, out) == AXLE_OK);
    axle_scope_pop();
    return 0;
}

static int make_net(int64_t width, axle_module **out)
{
    axle_module *first, *last;
    CHECK(axle_sequential_create(out) == AXLE_OK);
    CHECK(axle_linear_create(3, width, 1, &first) == AXLE_OK);
    CHECK(axle_linear_create(width, 2, 1, &last) == AXLE_OK);
    CHECK(axle_module_add_child(*out, NULL, first) == AXLE_OK);
    CHECK(axle_module_add_child(*out, NULL, last) == AXLE_OK);
    return 0;
}

static axle_tensor *squared_error(axle_tensor *y, axle_batch *batch)
{
    return axle_mse_loss(y, axle_batch_get(batch, "target"), AXLE_LOSS_MEAN);
}

/* What a module's parameters are, for the test to compare. */
static int note_module(const axle_module *module)
{
    uint64_t sum;
    double first[4];
    axle_tensor *bias = axle_module_parameter(module, "1.bias");
    axle_tensor *weight = axle_module_parameter(module, "0.weight");
    CHECK(axle_module_checksum(module, &sum) == AXLE_OK);
    CHECK(axle_tensor_read(bias, first, 2 * sizeof(double)) == AXLE_OK);
    axle_scope_push();
    axle_tensor *some = axle_slice(axle_slice(weight, 0, 1, 2, 1), 1, 0, 2, 1);
    CHECK(axle_tensor_read(some, first + 2, 2 * sizeof(double)) == AXLE_OK);
    axle_scope_pop();
    memcpy(&job_own_note->numbers[0], &sum, sizeof(sum));
    memcpy(&job_own_note->numbers[1], first, sizeof(first));
    return 0;
}

static int open_accelerator(const plan *p, axle_accelerator **out)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    o.backend = "reference";
    o.accumulate = p->accumulate ? p->accumulate : 1;
    o.clip_norm = p->clip;
    o.shard_optimizer = p->shard;
    o.wire_dtype = p->wire;
    o.quiet = 1;
    CHECK(axle_accelerator_create(&o, out) == AXLE_OK);
    CHECK(axle_set_default_dtype(F64) == AXLE_OK);
    return 0;
}

static int make_loader(const plan *p, axle_accelerator *acc, axle_dataset *set, axle_loader **out)
{
    axle_loader_options o = AXLE_LOADER_OPTIONS_INIT;
    o.batch_size = ROWS_AN_UPDATE / axle_process_count(acc);
    o.shuffle = p->shuffle;
    o.seed = 9;
    CHECK(axle_loader_create(set, &o, out) == AXLE_OK);
    return 0;
}

static int trains(axle_group *unused, void *user)
{
    (void)unused;
    const plan *p = user;
    axle_accelerator *acc;
    axle_module *net;
    axle_dataset *set;
    axle_loader *loader;
    axle_optimizer *opt;
    axle_scheduler *sched;
    axle_batch *batch;
    axle_adamw_options adam = AXLE_ADAMW_OPTIONS_INIT;
    adam.lr = 0.05;
    if (open_accelerator(p, &acc) || make_rows(p->rows, &set) || make_loader(p, acc, set, &loader))
        return JOB_FAILED;
    /* Each process begins with parameters of its own; those of rank 0 count. */
    axle_seed(3 + 10 * (uint64_t)axle_process_index(acc));
    if (make_net(p->width, &net))
        return JOB_FAILED;
    CHECK(axle_adamw_create(net, &adam, &opt) == AXLE_OK);
    CHECK(axle_linear_schedule_create(opt, 0, 50, &sched) == AXLE_OK);
    CHECK(axle_prepare(acc, sched, loader, opt, net) == AXLE_OK);
    CHECK(axle_prepare(acc, loader, net, opt) == AXLE_OK);
    for (int epoch = 0; epoch < 3; epoch++)
        while (axle_loader_next(loader, &batch)) {
            axle_optimizer_zero_grad(opt);
            axle_tensor *y = axle_module_forward(net, axle_batch_get(batch, "input"));
            CHECK(axle_backward(acc, squared_error(y, batch)) == AXLE_OK);
            CHECK(axle_optimizer_step(opt) == AXLE_OK);
            CHECK(axle_scheduler_step(sched) == AXLE_OK);
        }
    CHECK(axle_loader_status(loader) == AXLE_OK);
    job_own_note->numbers[8] = (double)axle_optimizer_updates(opt);
    job_own_note->numbers[9] = axle_optimizer_lr(opt, 0);
    if (note_module(net))
        return JOB_FAILED;
    CHECK(axle_end_training(acc) == AXLE_OK);
    axle_accelerator_release(acc);
    axle_loader_release(loader);
    axle_dataset_release(set);
    axle_scheduler_release(sched);
    axle_optimizer_release(opt);
    axle_module_release(net);
    return 0;
}

/* All processes of `many` have the same bits, and the numbers of `one`. */
static void expect_equal(const job *one, const job *many, double tolerance)
{
    const double *expected = one->notes[0].numbers, *first = many->notes[0].numbers;
    for (int rank = 0; rank < many->size; rank++) {
        job_expect_exit(many, rank, 0);
        assert_memory_equal(first, many->notes[rank].numbers, 10 * sizeof(double));
    }
    for (int k = 1; k < 10; k++)
        if (!(fabs(first[k] - expected[k]) <= tolerance * fmax(1.0, fabs(expected[k]))))
            fail_msg("%d processes: number %d is %.17g, by one %.17g", many->size, k, first[k],
                     expected[k]);
}

static void compare(job_body body, plan p)
{
    job one = job_run_with(1, 0.0, true, body, &p);
    job_expect_exit(&one, 0, 0);
    for (int size = 2; size <= 4; size++) {
        job many = job_run_with(size, 0.0, true, body, &p);
        expect_equal(&one, &many, p.tolerance > 0.0 ? p.tolerance : 1e-12);
        job_forget(&many);
    }
    job_forget(&one);
}

static void many_equal_one(void **state)
{
    (void)state;
    static const int64_t rows[] = {24, 25, 13, 35, 1, 2};
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
        compare(trains, (plan){.rows = rows[k], .width = 4, .shuffle = k % 2});
}

static void windows_equal_one(void **state)
{
    (void)state;
    for (int accumulate = 2; accumulate <= 3; accumulate++)
        for (int64_t rows = 49; rows <= 61; rows += 12)
            compare(trains, (plan){.rows = rows, .width = 4, .accumulate = accumulate});
}

static void clipping_equals_one(void **state)
{
    (void)state;
    compare(trains, (plan){.rows = 37, .width = 4, .accumulate = 2, .clip = 0.01});
}

/* 40,000 columns: several buckets. */
static void buckets_equal_one(void **state)
{
    (void)state;
    compare(trains, (plan){.rows = 13, .width = 40000});
}

static void sharing_equals_one(void **state)
{
    (void)state;
    compare(trains, (plan){.rows = 25, .width = 4, .shard = 1});
    compare(trains, (plan){.rows = 49, .width = 4, .shard = 1, .accumulate = 2, .clip = 0.01});
    compare(trains, (plan){.rows = 13, .width = 40000, .shard = 1});
}

/* Half the bits of gradients cost some of the result's, the same on every process. */
static void narrow_wires_come_close(void **state)
{
    (void)state;
    static const int types[] = {AXLE_DTYPE_BF16, AXLE_DTYPE_F16};
    for (int k = 0; k < 2; k++) {
        plan p = {.rows = 25, .width = 4, .wire = types[k], .tolerance = 1e-2};
        compare(trains, p);
        p.shard = 1;
        compare(trains, p);
    }
}

/* ------------------------------------------------------------------ weights */

/* Loss of a token is w * x; tokens of rank 0's batches are 1 2 3 and 4, of rank 1's 5 6 and 7 8. */
static int weighs_tokens(axle_group *unused, void *user)
{
    (void)unused;
    static const double tokens[2][2][3] = {{{1, 2, 3}, {4}}, {{5, 6}, {7, 8}}};
    static const int64_t counts[2][2] = {{3, 1}, {2, 2}};
    plan p = {.accumulate = *(int *)user};
    axle_accelerator *acc;
    axle_optimizer *opt;
    axle_sgd_options sgd = AXLE_SGD_OPTIONS_INIT;
    sgd.lr = 1.0;
    if (open_accelerator(&p, &acc))
        return JOB_FAILED;
    int rank = axle_process_index(acc), alone = axle_process_count(acc) == 1;
    axle_tensor *w = axle_tensor_retain(axle_scalar(F64, 0.0));
    CHECK(axle_tensor_set_requires_grad(w, 1) == AXLE_OK);
    CHECK(axle_sgd_create(NULL, &sgd, &opt) == AXLE_OK);
    CHECK(axle_optimizer_add_group(opt, &w, 1, NULL) == AXLE_OK);
    CHECK(axle_prepare(acc, opt) == AXLE_OK);
    for (int k = 0; k < p.accumulate; k++) {
        int whose = alone ? k / 2 : rank, which = k % 2;
        int64_t n = counts[whose][which];
        axle_scope_push();
        axle_tensor *x = axle_from_data(F64, 1, &n, tokens[whose][which]);
        axle_tensor *loss = axle_mean(axle_mul(x, w), 0, NULL, 0);
        axle_optimizer_zero_grad(opt);
        CHECK(axle_backward_weighted(acc, loss, (double)n) == AXLE_OK);
        CHECK(axle_optimizer_step(opt) == AXLE_OK);
        axle_scope_pop();
    }
    double value;
    CHECK(axle_tensor_item(w, &value) == AXLE_OK && value == -4.5);
    CHECK(axle_optimizer_updates(opt) == 1);
    axle_accelerator_release(acc);
    axle_optimizer_release(opt);
    axle_tensor_release(w);
    return 0;
}

static void tokens_weigh_the_same(void **state)
{
    (void)state;
    job one = job_run_with(1, 0.0, true, weighs_tokens, &(int){4});
    job_expect_good(&one);
    job two = job_run_with(2, 0.0, true, weighs_tokens, &(int){2});
    job_expect_good(&two);
}

/* ------------------------------------------------------------------ unused parameters */

static axle_tensor *leaf(int64_t n, double value)
{
    axle_tensor *w = axle_tensor_retain(axle_full(F64, AXLE_DIMS(n), value));
    axle_tensor_set_requires_grad(w, 1);
    return w;
}

static double item(axle_tensor *x)
{
    double value = NAN;
    axle_scope_push();
    axle_tensor_item(axle_sum(x, 0, NULL, 0), &value);
    axle_scope_pop();
    return value;
}

static axle_tensor *sum_of(axle_tensor *x, double factor)
{
    return axle_mul_scalar(axle_sum(x, 0, NULL, 0), factor);
}

static int make_optimizer(axle_tensor *const *w, int n, axle_optimizer **out)
{
    axle_adamw_options adam = AXLE_ADAMW_OPTIONS_INIT;
    adam.lr = 0.25;
    adam.weight_decay = 0.1;
    CHECK(axle_adamw_create(NULL, &adam, out) == AXLE_OK);
    CHECK(axle_optimizer_add_group(*out, w, n, NULL) == AXLE_OK);
    return 0;
}

/* Branch b is used by rank 0 alone, then by nobody, then by rank 1. */
static int leaves_a_branch(axle_group *unused, void *user)
{
    (void)unused;
    plan p = {.shard = *(int *)user};
    axle_accelerator *acc;
    axle_optimizer *opt;
    if (open_accelerator(&p, &acc))
        return JOB_FAILED;
    int rank = axle_process_index(acc);
    axle_tensor *w[] = {leaf(3, 1.0), leaf(2, 1.0)};
    if (make_optimizer(w, 2, &opt))
        return JOB_FAILED;
    CHECK(axle_prepare(acc, opt) == AXLE_OK);
    double after[3];
    for (int step = 0; step < 3; step++) {
        bool uses = (step == 0 && rank == 0) || (step == 2 && rank == 1);
        axle_scope_push();
        axle_optimizer_zero_grad(opt);
        axle_tensor *loss = sum_of(w[0], rank + 1.0);
        if (uses)
            loss = axle_add(loss, sum_of(w[1], 2.0));
        CHECK(axle_backward(acc, loss) == AXLE_OK);
        CHECK(p.shard || item(axle_tensor_grad(w[0])) == 4.5);
        CHECK(step != 1 || !axle_tensor_grad(w[1]));
        CHECK(step == 1 || p.shard || item(axle_tensor_grad(w[1])) == 2.0);
        CHECK(axle_optimizer_step(opt) == AXLE_OK);
        axle_scope_pop();
        after[step] = item(w[1]);
    }
    CHECK(after[0] != 2.0 && after[1] == after[0] && after[2] != after[1]);
    /* Gradients of 1 twice: without the step between, Adam moves by lr each time. */
    double expected = 1.0;
    for (int k = 0; k < 2; k++)
        expected = expected * (1.0 - 0.25 * 0.1) - 0.25 / (1.0 + 1e-8);
    CHECK(fabs(after[2] / 2.0 - expected) < 1e-12);
    axle_accelerator_release(acc);
    axle_optimizer_release(opt);
    axle_tensor_release(w[0]);
    axle_tensor_release(w[1]);
    return 0;
}

static void unused_parameters(void **state)
{
    (void)state;
    for (int shard = 0; shard < 2; shard++) {
        job two = job_run_with(2, 0.0, true, leaves_a_branch, &shard);
        job_expect_good(&two);
    }
}

/* Two optimizers of one pass, whose parameters become ready in another order on each rank. */
static int changes_order(axle_group *unused, void *user)
{
    (void)unused;
    plan p = {.shard = *(int *)user};
    axle_accelerator *acc;
    axle_optimizer *opt[2];
    if (open_accelerator(&p, &acc))
        return JOB_FAILED;
    int rank = axle_process_index(acc);
    axle_tensor *a[] = {leaf(4, 1.0), leaf(4, 1.0)}, *b[] = {leaf(4, 1.0), leaf(4, 1.0)};
    axle_sgd_options sgd = AXLE_SGD_OPTIONS_INIT;
    sgd.lr = 1.0;
    for (int k = 0; k < 2; k++) {
        CHECK(axle_sgd_create(NULL, &sgd, &opt[k]) == AXLE_OK);
        CHECK(axle_optimizer_add_group(opt[k], k ? b : a, 2, NULL) == AXLE_OK);
    }
    CHECK(axle_prepare(acc, opt[0], opt[1]) == AXLE_OK);
    for (int step = 0; step < 4; step++) {
        bool swap = (rank + step) % 2, skips = step >= 2 && rank == 1;
        axle_scope_push();
        axle_optimizer_zero_grad(opt[0]);
        axle_optimizer_zero_grad(opt[1]);
        axle_tensor *first = sum_of(swap ? b[1] : a[1], swap ? 30.0 : 10.0);
        axle_tensor *then = sum_of(swap ? a[1] : b[1], swap ? 10.0 : 30.0);
        axle_tensor *loss = axle_add(axle_add(first, then), sum_of(b[0], 40.0));
        if (!skips)
            loss = axle_add(loss, sum_of(a[0], 20.0));
        CHECK(axle_backward(acc, loss) == AXLE_OK);
        CHECK(axle_optimizer_step(opt[0]) == AXLE_OK && axle_optimizer_step(opt[1]) == AXLE_OK);
        axle_scope_pop();
    }
    CHECK(item(a[0]) == 4 * (1.0 - 60) && item(a[1]) == 4 * (1.0 - 40));
    CHECK(item(b[0]) == 4 * (1.0 - 160) && item(b[1]) == 4 * (1.0 - 120));
    axle_accelerator_release(acc);
    for (int k = 0; k < 2; k++) {
        axle_optimizer_release(opt[k]);
        axle_tensor_release(a[k]);
        axle_tensor_release(b[k]);
    }
    return 0;
}

static void optimizers_take_turns(void **state)
{
    (void)state;
    for (int shard = 0; shard < 2; shard++) {
        job two = job_run_with(2, 0.0, true, changes_order, &shard);
        job_expect_good(&two);
    }
}

/* ------------------------------------------------------------------ several passes a batch */

/* A generator and a critic, each with an optimizer of its own and a pass of its own. */
static int plays(axle_group *unused, void *user)
{
    (void)unused;
    const plan *p = user;
    axle_accelerator *acc;
    axle_module *net[2];
    axle_optimizer *opt[2];
    axle_dataset *set;
    axle_loader *loader;
    axle_batch *batch;
    if (open_accelerator(p, &acc) || make_rows(p->rows, &set) || make_loader(p, acc, set, &loader))
        return JOB_FAILED;
    axle_seed(3 + (uint64_t)axle_process_index(acc));
    CHECK(axle_linear_create(3, 2, 1, &net[0]) == AXLE_OK);
    CHECK(axle_linear_create(2, 1, 1, &net[1]) == AXLE_OK);
    axle_adamw_options adam = AXLE_ADAMW_OPTIONS_INIT;
    adam.lr = 0.05;
    for (int k = 0; k < 2; k++)
        CHECK(axle_adamw_create(net[k], &adam, &opt[k]) == AXLE_OK);
    CHECK(axle_prepare(acc, net[0], net[1], opt[0], opt[1], loader) == AXLE_OK);
    while (axle_loader_next(loader, &batch)) {
        axle_tensor *made = axle_module_forward(net[0], axle_batch_get(batch, "input"));
        axle_tensor *real = axle_module_forward(net[1], axle_batch_get(batch, "target"));
        axle_tensor *fake = axle_module_forward(net[1], axle_detach(made));
        axle_tensor *ones = axle_add_scalar(axle_mul_scalar(axle_detach(real), 0.0), 1.0);
        axle_optimizer_zero_grad(opt[1]);
        axle_tensor *loss = axle_add(axle_mse_loss(real, ones, AXLE_LOSS_MEAN),
                                     axle_mean(axle_mul(fake, fake), 0, NULL, 0));
        CHECK(axle_backward(acc, loss) == AXLE_OK);
        CHECK(axle_optimizer_step(opt[1]) == AXLE_OK);
        axle_optimizer_zero_grad(opt[0]);
        fake = axle_module_forward(net[1], made);
        CHECK(axle_backward(acc, axle_mse_loss(fake, ones, AXLE_LOSS_MEAN)) == AXLE_OK);
        CHECK(axle_optimizer_step(opt[0]) == AXLE_OK);
    }
    CHECK(axle_loader_status(loader) == AXLE_OK);
    double *numbers = job_own_note->numbers;
    CHECK(axle_tensor_read(axle_module_parameter(net[0], "weight"), numbers + 1, 48) == AXLE_OK);
    CHECK(axle_tensor_read(axle_module_parameter(net[1], "weight"), numbers + 7, 16) == AXLE_OK);
    numbers[9] = (double)axle_optimizer_updates(opt[1]);
    axle_accelerator_release(acc);
    axle_loader_release(loader);
    axle_dataset_release(set);
    for (int k = 0; k < 2; k++) {
        axle_optimizer_release(opt[k]);
        axle_module_release(net[k]);
    }
    return 0;
}

static void two_models_equal_one(void **state)
{
    (void)state;
    compare(plays, (plan){.rows = 49});
    compare(plays, (plan){.rows = 61, .accumulate = 2});
    compare(plays, (plan){.rows = 49, .shard = 1});
}

/* Two losses of one batch, each with a pass, and one update. */
static int adds_losses(axle_group *unused, void *user)
{
    (void)unused;
    const plan *p = user;
    axle_accelerator *acc;
    axle_module *net;
    axle_optimizer *opt;
    axle_dataset *set;
    axle_loader *loader;
    axle_batch *batch;
    if (open_accelerator(p, &acc) || make_rows(p->rows, &set) || make_loader(p, acc, set, &loader))
        return JOB_FAILED;
    axle_seed(3);
    if (make_net(4, &net))
        return JOB_FAILED;
    axle_sgd_options sgd = AXLE_SGD_OPTIONS_INIT;
    sgd.lr = 0.05;
    CHECK(axle_sgd_create(net, &sgd, &opt) == AXLE_OK);
    CHECK(axle_prepare(acc, net, opt, loader) == AXLE_OK);
    while (axle_loader_next(loader, &batch)) {
        axle_optimizer_zero_grad(opt);
        axle_tensor *x = axle_batch_get(batch, "input");
        axle_tensor *y = axle_module_forward(net, x);
        CHECK(axle_backward(acc, squared_error(y, batch)) == AXLE_OK);
        y = axle_module_forward(net, axle_mul_scalar(x, -2.0));
        CHECK(axle_backward(acc, axle_mean(axle_mul(y, y), 0, NULL, 0)) == AXLE_OK);
        CHECK(axle_optimizer_step(opt) == AXLE_OK);
    }
    if (note_module(net))
        return JOB_FAILED;
    axle_accelerator_release(acc);
    axle_loader_release(loader);
    axle_dataset_release(set);
    axle_optimizer_release(opt);
    axle_module_release(net);
    return 0;
}

static void two_passes_equal_one(void **state)
{
    (void)state;
    compare(adds_losses, (plan){.rows = 49});
    compare(adds_losses, (plan){.rows = 61, .accumulate = 2});
    compare(adds_losses, (plan){.rows = 61, .accumulate = 2, .shard = 1});
}

static const struct CMUnitTest tests[] = {
    UNIT("2, 3 and 4 processes come to the numbers of one, however many rows there are",
         many_equal_one),
    UNIT("so they do over windows, of which the last is short", windows_equal_one),
    UNIT("so they do with clipping", clipping_equals_one),
    UNIT("so they do over several buckets", buckets_equal_one),
    UNIT("so they do where the optimizer is shared out", sharing_equals_one),
    UNIT("so they do nearly where gradients travel in half the bits", narrow_wires_come_close),
    UNIT("each token weighs the same, whoever has it", tokens_weigh_the_same),
    UNIT("a parameter that some do not use, and one that nobody uses", unused_parameters),
    UNIT("gradients of two optimizers do not mix, whichever come first", optimizers_take_turns),
    UNIT("two models with a pass each a batch come to the numbers of one", two_models_equal_one),
    UNIT("two passes a batch come to the numbers of one", two_passes_equal_one),
};
UNIT_MAIN(tests)
