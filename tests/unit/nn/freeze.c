/* SPDX-License-Identifier: Apache-2.0 */
/* Frozen parameters: by name, alone and in a job of two processes. */
#include "axle/axle.h"
#include "group/processes.h"
#include "nn.h"
#include "optim/optimizer.h"

static axle_module *two_layers(void)
{
    axle_module *net, *first, *last;
    assert_ok(axle_sequential_create(&net));
    assert_ok(axle_linear_create(3, 4, 1, &first));
    assert_ok(axle_linear_create(4, 2, 1, &last));
    assert_ok(axle_module_add_child(net, "body", first));
    assert_ok(axle_module_add_child(net, "head", last));
    return net;
}

static axle_optimizer *adamw(axle_module *net)
{
    axle_adamw_options options = AXLE_ADAMW_OPTIONS_INIT;
    axle_optimizer *optimizer;
    options.lr = options.weight_decay = 0.1;
    assert_ok(axle_adamw_create(net, &options, &optimizer));
    return optimizer;
}

static void backward(axle_module *net)
{
    axle_scope_push();
    axle_tensor *x = axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(5, 3));
    assert_ok(axle_tensor_backward(axle_sum_all(axle_module_forward(net, x)), NULL, 0));
    axle_scope_pop();
}

static void patterns_choose_parameters(void **state)
{
    (void)state;
    axle_module *net = two_layers();
    int64_t count;
    assert_ok(axle_module_freeze(net, "body.*", 1));
    assert_false(axle_tensor_requires_grad(axle_module_parameter(net, "body.weight")));
    assert_false(axle_tensor_requires_grad(axle_module_parameter(net, "body.bias")));
    assert_true(axle_tensor_requires_grad(axle_module_parameter(net, "head.weight")));
    assert_ok(axle_module_trainable_count(net, &count));
    assert_int_equal(count, 10);
    assert_ok(axle_module_freeze(net, "*.bias", 0));
    assert_ok(axle_module_trainable_count(net, &count));
    assert_int_equal(count, 14);
    assert_int_equal(axle_module_freeze(net, "tail.*", 1), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "no parameter matches 'tail.*'");
    assert_int_equal(axle_module_freeze(NULL, "*", 1), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "the module is NULL");
    assert_int_equal(axle_module_freeze(net, NULL, 1), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "the pattern is NULL");
    axle_module_release(net);
}

static void a_tied_parameter_freezes_by_any_name(void **state)
{
    (void)state;
    axle_module *net = two_layers();
    axle_tensor *weight = axle_module_parameter(net, "body.weight");
    assert_ok(axle_module_add_parameter(axle_module_child(net, "head"), "tied",
                                        axle_tensor_retain(weight)));
    assert_ok(axle_module_freeze(net, "head.tied", 1));
    assert_false(axle_tensor_requires_grad(weight));
    axle_module_release(net);
}

static void arenas_hold_only_what_learns(void **state)
{
    (void)state;
    axle_module *net = two_layers();
    assert_ok(axle_module_freeze(net, "body.*", 1));
    axle_optimizer *optimizer = adamw(net);
    assert_int_equal(optimizer->slot_count, 2);
    uint64_t before, after;
    axle_module *body = axle_module_child(net, "body");
    assert_ok(axle_module_checksum(body, &before));
    backward(net);
    assert_ok(axle_optimizer_step(optimizer));
    assert_int_equal(axle_tensor_count(optimizer->moments[0]), 16 + 16);
    assert_ok(axle_module_checksum(body, &after));
    assert_true(before == after);
    axle_optimizer_release(optimizer);
    axle_module_release(net);
}

/* Its gradient of the pass before is not applied either. */
static void freezing_later_stops_updates_and_decay(void **state)
{
    (void)state;
    axle_module *net = two_layers(), *body = axle_module_child(net, "body");
    axle_optimizer *optimizer = adamw(net);
    uint64_t sums[3];
    backward(net);
    assert_ok(axle_module_checksum(body, &sums[0]));
    assert_ok(axle_module_freeze(net, "body.*", 1));
    assert_null(axle_tensor_grad(axle_module_parameter(net, "body.weight")));
    for (int k = 0; k < 2; k++) {
        assert_ok(axle_optimizer_step(optimizer));
        assert_ok(axle_optimizer_zero_grad(optimizer));
        backward(net);
    }
    assert_ok(axle_module_checksum(body, &sums[1]));
    assert_true(sums[0] == sums[1]);
    assert_int_equal(optimizer->slots[0].age, 0);
    assert_int_equal(optimizer->slots[2].age, 2);
    assert_ok(axle_module_freeze(net, "body.*", 0));
    assert_ok(axle_optimizer_zero_grad(optimizer));
    backward(net);
    assert_ok(axle_optimizer_step(optimizer));
    assert_ok(axle_module_checksum(body, &sums[2]));
    assert_true(sums[1] != sums[2]);
    axle_optimizer_release(optimizer);
    axle_module_release(net);
}

/* ------------------------------------------------------------------ processes */

/* Frozen before (0) or after (1) the optimizer was prepared. */
static int trains_the_rest(axle_group *unused, void *user)
{
    (void)unused;
    int later = *(int *)user;
    axle_accelerator_options options = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_accelerator *acc;
    options.backend = "reference";
    options.quiet = 1;
    CHECK(axle_accelerator_create(&options, &acc) == AXLE_OK);
    axle_seed(4);
    axle_module *net = two_layers();
    if (!later)
        CHECK(axle_module_freeze(net, "body.*", 1) == AXLE_OK);
    axle_optimizer *optimizer = adamw(net);
    CHECK(optimizer->slot_count == (later ? 4 : 2));
    CHECK(axle_prepare(acc, net, optimizer) == AXLE_OK);
    if (later)
        CHECK(axle_module_freeze(net, "body.*", 1) == AXLE_OK);
    uint64_t body[2], all;
    CHECK(axle_module_checksum(axle_module_child(net, "body"), &body[0]) == AXLE_OK);
    for (int k = 0; k < 3; k++) {
        axle_scope_push();
        axle_seed(10 + (uint64_t)axle_process_index(acc));
        axle_tensor *x = axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(5, 3));
        axle_optimizer_zero_grad(optimizer);
        CHECK(axle_backward(acc, axle_mean_all(axle_module_forward(net, x))) == AXLE_OK);
        CHECK(!axle_tensor_grad(axle_module_parameter(net, "body.weight")));
        CHECK(axle_optimizer_step(optimizer) == AXLE_OK);
        axle_scope_pop();
    }
    CHECK(axle_module_checksum(axle_module_child(net, "body"), &body[1]) == AXLE_OK);
    CHECK(axle_module_checksum(net, &all) == AXLE_OK);
    CHECK(body[0] == body[1]);
    memcpy(job_own_note->numbers, &all, sizeof(all));
    CHECK(axle_end_training(acc) == AXLE_OK);
    axle_accelerator_release(acc);
    axle_optimizer_release(optimizer);
    axle_module_release(net);
    return 0;
}

/* When freezing happens makes no difference to what is learned. */
static void processes_leave_the_frozen_alone(void **state)
{
    (void)state;
    double sums[2];
    for (int later = 0; later < 2; later++) {
        job two = job_run_with(2, 0.0, true, trains_the_rest, &later);
        job_expect_exit(&two, 0, 0);
        job_expect_exit(&two, 1, 0);
        assert_memory_equal(two.notes[0].numbers, two.notes[1].numbers, sizeof(double));
        sums[later] = two.notes[0].numbers[0];
        job_forget(&two);
    }
    assert_memory_equal(&sums[0], &sums[1], sizeof(double));
}

static const struct CMUnitTest tests[] = {
    UNIT("patterns choose the parameters to freeze and to thaw", patterns_choose_parameters),
    UNIT("a tied parameter freezes by any of its names", a_tied_parameter_freezes_by_any_name),
    UNIT("arenas hold no moments for what was frozen before", arenas_hold_only_what_learns),
    UNIT("what is frozen later is neither updated nor decayed, until it thaws",
         freezing_later_stops_updates_and_decay),
    UNIT("two processes leave what is frozen alone", processes_leave_the_frozen_alone),
};

UNIT_MAIN(tests)
