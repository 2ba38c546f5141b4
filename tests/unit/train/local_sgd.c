/* SPDX-License-Identifier: Apache-2.0 */
/* Local SGD: updates of one's own, and parameters that are averaged now and then. */
#include "axle/axle.h"
#include "group/processes.h"

enum { ROWS = 5, UPDATES = 8 };

static int make_net(axle_module **net, axle_optimizer **optimizer)
{
    axle_adamw_options options = AXLE_ADAMW_OPTIONS_INIT;
    options.lr = 0.05;
    axle_seed(6);
    CHECK(axle_set_default_dtype(AXLE_DTYPE_F64) == AXLE_OK);
    CHECK(axle_linear_create(3, 2, 1, net) == AXLE_OK);
    CHECK(axle_adamw_create(*net, &options, optimizer) == AXLE_OK);
    return 0;
}

static int open_accelerator(int every, int accumulate, axle_accelerator **out)
{
    axle_accelerator_options options = AXLE_ACCELERATOR_OPTIONS_INIT;
    options.backend = "reference";
    options.quiet = 1;
    options.local_sgd = every;
    options.accumulate = accumulate;
    CHECK(axle_accelerator_create(&options, out) == AXLE_OK);
    return 0;
}

/* Other rows on each process and in each update. */
static axle_tensor *loss_of(axle_module *net, int update, int rank)
{
    axle_seed(100 + (uint64_t)(10 * update + rank));
    return axle_mean_all(
        axle_square(axle_module_forward(net, axle_randn(AXLE_DTYPE_F64, AXLE_DIMS(ROWS, 3)))));
}

/* By hand: this process's steps, and means of the parameters. */
static int step_by_hand(axle_group *group, axle_module *net, axle_optimizer *optimizer, int update,
                        int every)
{
    CHECK(axle_optimizer_zero_grad(optimizer) == AXLE_OK);
    axle_tensor *loss = loss_of(net, update, axle_group_rank(group));
    CHECK(axle_tensor_backward(loss, NULL, 0) == AXLE_OK);
    CHECK(axle_optimizer_step(optimizer) == AXLE_OK);
    if ((update + 1) % every != 0)
        return 0;
    axle_tensor *weight = axle_module_parameter(net, "weight");
    axle_tensor *bias = axle_module_parameter(net, "bias");
    CHECK(axle_all_reduce(group, weight, AXLE_REDUCE_MEAN) == AXLE_OK);
    CHECK(axle_all_reduce(group, bias, AXLE_REDUCE_MEAN) == AXLE_OK);
    return 0;
}

static int all_equal(axle_group *group, const axle_module *net, bool *out)
{
    uint64_t sum;
    CHECK(axle_module_checksum(net, &sum) == AXLE_OK);
    int64_t both[2] = {(int64_t)(sum >> 1), -(int64_t)(sum >> 1)};
    axle_tensor *pair = axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(2), both);
    CHECK(axle_all_reduce(group, pair, AXLE_REDUCE_MAX) == AXLE_OK);
    CHECK(axle_tensor_read(pair, both, sizeof(both)) == AXLE_OK);
    *out = both[0] == -both[1];
    return 0;
}

static int follows_the_hand(axle_group *unused, void *user)
{
    (void)unused;
    int every = *(int *)user;
    axle_accelerator *acc;
    axle_module *net, *other;
    axle_optimizer *optimizer, *by_hand;
    if (open_accelerator(every, 1, &acc) || make_net(&net, &optimizer) ||
        make_net(&other, &by_hand))
        return JOB_FAILED;
    axle_group *group = axle_accelerator_group(acc);
    CHECK(axle_prepare(acc, net, optimizer) == AXLE_OK);
    for (int update = 0; update < UPDATES; update++) {
        uint64_t sums[2];
        bool equal;
        axle_scope_push();
        CHECK(axle_optimizer_zero_grad(optimizer) == AXLE_OK);
        axle_tensor *loss = loss_of(net, update, axle_process_index(acc));
        CHECK(axle_backward(acc, loss) == AXLE_OK);
        CHECK(axle_optimizer_step(optimizer) == AXLE_OK);
        if (step_by_hand(group, other, by_hand, update, every) || all_equal(group, net, &equal))
            return JOB_FAILED;
        CHECK(axle_module_checksum(net, &sums[0]) == AXLE_OK);
        CHECK(axle_module_checksum(other, &sums[1]) == AXLE_OK);
        CHECK(sums[0] == sums[1]);
        CHECK(equal == (axle_process_count(acc) == 1 || (update + 1) % every == 0));
        axle_scope_pop();
    }
    bool equal;
    CHECK(axle_average_parameters(acc) == AXLE_OK);
    CHECK(all_equal(group, net, &equal) == 0 && equal);
    CHECK(axle_end_training(acc) == AXLE_OK);
    axle_accelerator_release(acc);
    axle_optimizer_release(optimizer);
    axle_optimizer_release(by_hand);
    axle_module_release(net);
    axle_module_release(other);
    return 0;
}

/* The bits of doing the same by hand; alone, those of a run without the option. */
static void averages_after_every_so_many(void **state)
{
    (void)state;
    for (int size = 1; size <= 3; size++)
        for (int every = 1; every <= 3; every++) {
            job many = job_run_with(size, 0.0, true, follows_the_hand, &every);
            job_expect_good(&many);
        }
}

/* ------------------------------------------------------------------ windows, and no rows */

/* Rank 1 has no rows: its parameters move with the averages alone. */
static int stays_without_rows(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    axle_accelerator *acc;
    axle_module *net;
    axle_optimizer *optimizer;
    uint64_t sums[2];
    if (open_accelerator(3, 2, &acc) || make_net(&net, &optimizer))
        return JOB_FAILED;
    int rank = axle_process_index(acc);
    CHECK(axle_prepare(acc, net, optimizer) == AXLE_OK);
    CHECK(axle_module_checksum(net, &sums[0]) == AXLE_OK);
    for (int batch = 0; batch < 6; batch++) {
        axle_scope_push();
        CHECK(axle_optimizer_zero_grad(optimizer) == AXLE_OK);
        axle_tensor *loss = loss_of(net, batch, rank);
        CHECK(axle_backward_weighted(acc, loss, rank ? 0.0 : ROWS) == AXLE_OK);
        CHECK(axle_optimizer_step(optimizer) == AXLE_OK);
        axle_scope_pop();
        CHECK(axle_optimizer_updates(optimizer) == (batch + 1) / 2);
        CHECK(axle_module_checksum(net, &sums[1]) == AXLE_OK);
        bool moves = rank == 0 ? batch >= 1 : batch == 5;
        CHECK((sums[0] != sums[1]) == moves);
    }
    CHECK(axle_end_training(acc) == AXLE_OK);
    axle_accelerator_release(acc);
    axle_optimizer_release(optimizer);
    axle_module_release(net);
    return 0;
}

static void no_rows_make_no_update(void **state)
{
    (void)state;
    job two = job_run_with(2, 0.0, true, stays_without_rows, NULL);
    job_expect_good(&two);
}

/* Taken in where parameters are alike, averages over time are so, too. */
static int averages_over_time(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    axle_accelerator *acc;
    axle_module *net;
    axle_optimizer *optimizer;
    axle_ema *ema;
    bool equal;
    if (open_accelerator(3, 1, &acc) || make_net(&net, &optimizer))
        return JOB_FAILED;
    bool alone = axle_process_count(acc) == 1;
    CHECK(axle_prepare(acc, net, optimizer) == AXLE_OK);
    CHECK(axle_ema_create(net, 0.5, NULL, &ema) == AXLE_OK);
    for (int update = 0; update < 7; update++) {
        axle_scope_push();
        CHECK(axle_optimizer_zero_grad(optimizer) == AXLE_OK);
        axle_tensor *loss = loss_of(net, update, axle_process_index(acc));
        CHECK(axle_backward(acc, loss) == AXLE_OK && axle_optimizer_step(optimizer) == AXLE_OK);
        for (int k = 0; k < 2; k++)
            CHECK(axle_ema_update(ema, optimizer) == AXLE_OK);
        axle_scope_pop();
        CHECK(axle_ema_updates(ema) == (alone ? update + 1 : (update + 1) / 3));
    }
    CHECK(axle_ema_swap(ema) == AXLE_OK);
    CHECK(all_equal(axle_accelerator_group(acc), net, &equal) == 0 && equal);
    CHECK(axle_ema_swap(ema) == AXLE_OK);
    CHECK(all_equal(axle_accelerator_group(acc), net, &equal) == 0 && equal == alone);
    CHECK(axle_end_training(acc) == AXLE_OK);
    axle_accelerator_release(acc);
    axle_ema_release(ema);
    axle_optimizer_release(optimizer);
    axle_module_release(net);
    return 0;
}

static void averages_over_time_are_alike(void **state)
{
    (void)state;
    for (int size = 1; size <= 2; size++) {
        job many = job_run_with(size, 0.0, true, averages_over_time, NULL);
        job_expect_good(&many);
    }
}

static void contradictions_are_refused(void **state)
{
    (void)state;
    axle_accelerator *acc;
    axle_accelerator_options options = AXLE_ACCELERATOR_OPTIONS_INIT;
    options.local_sgd = -1;
    assert_int_equal(axle_accelerator_create(&options, &acc), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "every -1 updates");
    options.local_sgd = 2;
    options.shard_optimizer = 1;
    assert_int_equal(axle_accelerator_create(&options, &acc), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "no shard_optimizer");
    options.shard_optimizer = 0;
    options.wire_dtype = AXLE_DTYPE_BF16;
    assert_int_equal(axle_accelerator_create(&options, &acc), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "no wire_dtype");
}

static const struct CMUnitTest tests[] = {
    UNIT("parameters are averaged after every so many updates, as by hand",
         averages_after_every_so_many),
    UNIT("a process without rows makes no update of its own", no_rows_make_no_update),
    UNIT("averages over time take in what is alike on all", averages_over_time_are_alike),
    UNIT("contradictions are refused", contradictions_are_refused),
};

UNIT_MAIN(tests)
