/* SPDX-License-Identifier: Apache-2.0 */
/* Averages of parameters in checkpoints. */
#include "tensors.h"

#include "io/safetensors.h"
#include "train/folder.h"
#include "train/training.h"

static void open_averaged(const training_plan *p, training *t, axle_ema **ema)
{
    OK(training_open(p, t));
    OK(axle_ema_create(t->net, 0.9, NULL, ema));
    OK(axle_register_ema(t->acc, *ema));
    OK(axle_register_ema(t->acc, *ema)); /* again: nothing */
}

static void close_averaged(training *t, axle_ema *ema)
{
    training_close(t);
    axle_ema_release(ema);
}

static void go(training *t, axle_ema *ema, int batches)
{
    for (int k = 0; k < batches; k++) {
        OK(training_run(t, 9, 1));
        OK(axle_ema_update(ema, t->opt));
    }
}

/* Of the averages, by way of the parameters. */
static uint64_t sum_of(training *t, axle_ema *ema)
{
    OK(axle_ema_swap(ema));
    uint64_t sum = training_sum(t);
    OK(axle_ema_swap(ema));
    return sum;
}

static void they_come_back(void **state)
{
    (void)state;
    training_plan p = TRAINING_PLAN;
    training t;
    axle_ema *ema;
    open_averaged(&p, &t, &ema);
    go(&t, ema, 5);
    uint64_t middle = sum_of(&t, ema);
    OK(axle_save_state(t.acc, in("here")));
    go(&t, ema, 4);
    uint64_t expected = sum_of(&t, ema);
    close_averaged(&t, ema);
    open_averaged(&p, &t, &ema);
    OK(axle_load_state(t.acc, in("here")));
    assert_int_equal(axle_ema_updates(ema), 5);
    assert_true(sum_of(&t, ema) == middle);
    OK(axle_ema_update(ema, t.opt)); /* it has seen that update */
    assert_int_equal(axle_ema_updates(ema), 5);
    go(&t, ema, 4);
    assert_true(sum_of(&t, ema) == expected);
    assert_true(middle != expected);
    close_averaged(&t, ema);
}

/* Whoever loads them as a model finds the parameters' names. */
static void they_are_tensors_by_name(void **state)
{
    (void)state;
    training_plan p = TRAINING_PLAN;
    training t;
    axle_ema *ema;
    axle__safetensors *file;
    open_averaged(&p, &t, &ema);
    go(&t, ema, 3);
    OK(axle_save_state(t.acc, in("here")));
    OK(axle__safetensors_open(in("here/ema.safetensors"), &file));
    assert_int_equal(axle__safetensors_count(file), 6);
    const axle__safetensors_entry *entry = axle__safetensors_find(file, "0.weight");
    assert_non_null(entry);
    axle_tensor *average = axle_ema_average(ema, "0.weight");
    double *values = tensors_read(average);
    assert_int_equal(entry->size, axle_tensor_count(average) * 8);
    assert_memory_equal(entry->data, values, entry->size);
    free(values);
    axle__safetensors_close(file);
    close_averaged(&t, ema);
}

static void they_must_fit(void **state)
{
    (void)state;
    training_plan p = TRAINING_PLAN, wider = TRAINING_PLAN;
    training t;
    axle_ema *ema, *second;
    wider.width = 6;
    open_averaged(&p, &t, &ema);
    go(&t, ema, 3);
    OK(axle_save_state(t.acc, in("here")));
    uint64_t before = sum_of(&t, ema);
    OK(axle_ema_swap(ema));
    assert_int_equal(axle_save_state(t.acc, in("there")), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "swap them back");
    assert_int_equal(axle_load_state(t.acc, in("here")), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "swap them back");
    OK(axle_ema_swap(ema));
    OK(axle_ema_create(axle_module_child(t.net, "0"), 0.5, NULL, &second));
    OK(axle_register_ema(t.acc, second));
    assert_int_equal(axle_load_state(t.acc, in("here")), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "1 averages");
    go(&t, ema, 1);
    OK(axle_save_state(t.acc, in("two")));
    assert_true(exists("two/ema_1.safetensors"));
    close_averaged(&t, ema);
    axle_ema_release(second);

    /* The averages alone are those of another module. */
    OK(training_open(&p, &t));
    OK(axle_ema_create(axle_module_child(t.net, "0"), 0.9, NULL, &ema));
    OK(axle_register_ema(t.acc, ema));
    assert_int_equal(axle_load_state(t.acc, in("here")), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "averages of 6 parameters, the program has 2");
    close_averaged(&t, ema);
    open_averaged(&wider, &t, &ema);
    assert_int_equal(axle_load_state(t.acc, in("here")), AXLE_ERR_SHAPE);
    axle_error_clear();
    close_averaged(&t, ema);
    open_averaged(&p, &t, &ema);
    OK(axle_load_state(t.acc, in("here")));
    assert_true(sum_of(&t, ema) == before);
    close_averaged(&t, ema);
    OK(training_open(&p, &t));
    assert_int_equal(axle_load_state(t.acc, in("here")), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "1 averages");
    assert_int_equal(axle_register_ema(t.acc, NULL), AXLE_ERR_INVALID);
    axle_error_clear();
    training_close(&t);
}

static const struct CMUnitTest tests[] = {
    CHECKPOINT("averages come back with the bits they had", they_come_back),
    CHECKPOINT("they are tensors under the parameters' names", they_are_tensors_by_name),
    CHECKPOINT("averages that do not fit are refused by name", they_must_fit),
};

UNIT_MAIN(tests)
