/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>

#include "axle/metrics.h"
#include "axle/tensor.h"

static axle_metrics *create(int kind, int64_t labels)
{
    axle_metrics *metrics;
    assert_int_equal(axle_metrics_create(kind, labels, &metrics), AXLE_OK);
    return metrics;
}

/* Add rows; `wide` is the number of labels a row, 0 where there is one class. */
static int add(axle_metrics *metrics, int64_t rows, int64_t columns, const float *logits,
               int64_t wide, const float *sets, const int64_t *classes)
{
    assert_int_equal(axle_scope_push(), AXLE_OK);
    axle_tensor *outputs = axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(rows, columns), logits);
    axle_tensor *labels =
        classes ? axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(rows), classes)
                : axle_from_data(AXLE_DTYPE_F32, wide ? 2 : 1, (const int64_t[]){rows, wide}, sets);
    int code = axle_metrics_add(metrics, outputs, labels);
    axle_scope_pop();
    return code;
}

static void is(const axle_metrics *metrics, const char *name, double expected)
{
    double value;
    assert_int_equal(axle_metrics_value(metrics, name, &value), AXLE_OK);
    if (!(fabs(value - expected) < 1e-9))
        fail_msg("%s is %.12f, not %.12f", name, value, expected);
}

/* Predictions 1 1 0 0 1 of 1 0 0 1 1: two hits of three predictions, three are there. */
static const float two_logits[] = {0, 1, -2, 3, 1, 0, 5, 2, 0.25F, 0.5F};
static const int64_t two_classes[] = {1, 0, 0, 1, 1};

static void two_classes_are_counted(void **state)
{
    (void)state;
    axle_metrics *metrics = create(AXLE_METRICS_CLASSES, 2);
    assert_int_equal(add(metrics, 2, 2, two_logits, 0, NULL, two_classes), AXLE_OK);
    assert_int_equal(add(metrics, 3, 2, two_logits + 4, 0, NULL, two_classes + 2), AXLE_OK);
    assert_int_equal(axle_metrics_rows(metrics), 5);
    assert_string_equal(axle_metrics_names(metrics)[0], "accuracy");
    is(metrics, "accuracy", 0.6);
    is(metrics, "precision", 2.0 / 3.0);
    is(metrics, "recall", 2.0 / 3.0);
    is(metrics, "f1", 2.0 / 3.0);
    is(metrics, "f1_macro", (2.0 / 3.0 + 0.5) / 2.0);
    is(metrics, "matthews", 1.0 / 6.0);
    axle_metrics_reset(metrics);
    assert_int_equal(axle_metrics_rows(metrics), 0);
    axle_metrics_release(metrics);
}

/* Predictions 0 1 2 2 of 0 1 1 2, of four classes: the last one counts nowhere. */
static void macro_means_leave_out_absent_classes(void **state)
{
    (void)state;
    const float logits[] = {9, 0, 0, 0, 0, 9, 0, 0, 0, 0, 9, 0, 0, 0, 9, 0};
    const int64_t classes[] = {0, 1, 1, 2};
    axle_metrics *metrics = create(AXLE_METRICS_CLASSES, 4);
    assert_int_equal(add(metrics, 4, 4, logits, 0, NULL, classes), AXLE_OK);
    is(metrics, "accuracy", 0.75);
    is(metrics, "f1", (1.0 + 2.0 / 3.0 + 2.0 / 3.0) / 3.0);
    /* (3 * 4 - (1 + 2 + 2)) / (16 - 6) */
    is(metrics, "matthews", 0.7);
    axle_metrics_release(metrics);
}

static void correlations_of_constants_are_zero(void **state)
{
    (void)state;
    const float logits[] = {1, 0, 1, 0}, outputs[] = {3, 3}, targets[] = {1, 2};
    const int64_t classes[] = {0, 1};
    axle_metrics *metrics = create(AXLE_METRICS_CLASSES, 2);
    assert_int_equal(add(metrics, 2, 2, logits, 0, NULL, classes), AXLE_OK);
    is(metrics, "matthews", 0.0);
    is(metrics, "f1", 0.0);
    axle_metrics_release(metrics);
    metrics = create(AXLE_METRICS_NUMBERS, 1);
    assert_int_equal(add(metrics, 2, 1, outputs, 0, targets, NULL), AXLE_OK);
    is(metrics, "pearson", 0.0);
    is(metrics, "spearman", 0.0);
    axle_metrics_release(metrics);
}

static void label_sets_are_right_as_a_whole(void **state)
{
    (void)state;
    const float logits[] = {1, -1, 1, -1, 1, -1}, sets[] = {1, 0, 1, 0, 1, 1};
    axle_metrics *metrics = create(AXLE_METRICS_LABEL_SETS, 3);
    assert_int_equal(add(metrics, 2, 3, logits, 3, sets, NULL), AXLE_OK);
    is(metrics, "accuracy", 0.5);
    is(metrics, "precision", 1.0);
    is(metrics, "recall", 0.75);
    is(metrics, "f1", 6.0 / 7.0);
    is(metrics, "f1_macro", (1.0 + 1.0 + 2.0 / 3.0) / 3.0);
    axle_metrics_release(metrics);
}

/* A monotone curve: ranks agree, values less so; and ties share a rank. */
static void numbers_are_correlated(void **state)
{
    (void)state;
    const float outputs[] = {1, 2, 3, 4}, targets[] = {1, 4, 9, 16}, ties[] = {1, 1, 3, 4};
    axle_metrics *metrics = create(AXLE_METRICS_NUMBERS, 1);
    assert_int_equal(add(metrics, 4, 1, outputs, 0, targets, NULL), AXLE_OK);
    is(metrics, "spearman", 1.0);
    is(metrics, "pearson", 25.0 / sqrt(5.0 * 129.0));
    is(metrics, "mse", (4.0 + 36.0 + 144.0) / 4.0);
    is(metrics, "mae", 20.0 / 4.0);
    axle_metrics_reset(metrics);
    assert_int_equal(add(metrics, 4, 1, outputs, 0, ties, NULL), AXLE_OK);
    is(metrics, "spearman", 4.5 / sqrt(5.0 * 4.5));
    axle_metrics_release(metrics);
}

static void wrong_rows_are_refused_and_change_nothing(void **state)
{
    (void)state;
    const float bad[] = {0, NAN}, good[] = {0, 1};
    const int64_t outside[] = {2}, inside[] = {1};
    double value;
    axle_metrics *metrics = create(AXLE_METRICS_CLASSES, 2);
    assert_int_equal(add(metrics, 1, 2, good, 0, NULL, outside), AXLE_ERR_INDEX);
    unit_expect_error(AXLE_ERR_INDEX, "label 2 of row 0");
    assert_int_equal(add(metrics, 1, 2, bad, 0, NULL, inside), AXLE_ERR_NONFINITE);
    unit_expect_error(AXLE_ERR_NONFINITE, "outputs");
    assert_int_equal(add(metrics, 1, 1, good, 0, NULL, inside), AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "for 2 labels a row");
    assert_int_equal(axle_metrics_add(metrics, NULL, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "outputs are NULL");
    assert_int_equal(axle_metrics_rows(metrics), 0);
    assert_int_equal(axle_metrics_value(metrics, "accuracy", &value), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "no rows");
    assert_int_equal(axle_metrics_value(metrics, "auc", &value), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "no 'auc'; there are accuracy, f1");
    axle_metrics_release(metrics);
    assert_int_equal(axle_metrics_create(AXLE_METRICS_CLASSES, 1, &metrics), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "1 labels");
    assert_int_equal(axle_metrics_create(7, 2, &metrics), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "kind 7");
    axle_metrics_release(NULL);
}

/* The dummy row of a process without rows is not among them; here there is one process. */
static void rows_are_gathered_from_a_loop(void **state)
{
    (void)state;
    axle_accelerator *accelerator;
    axle_accelerator_options options = AXLE_ACCELERATOR_OPTIONS_INIT;
    options.backend = "reference";
    assert_int_equal(axle_accelerator_create(&options, &accelerator), AXLE_OK);
    axle_metrics *metrics = create(AXLE_METRICS_CLASSES, 2);
    assert_int_equal(axle_scope_push(), AXLE_OK);
    axle_tensor *logits = axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(5, 2), two_logits);
    axle_tensor *labels = axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(5), two_classes);
    assert_int_equal(axle_metrics_gather(metrics, accelerator, logits, labels), AXLE_OK);
    axle_scope_pop();
    is(metrics, "accuracy", 0.6);
    axle_metrics_release(metrics);
    axle_accelerator_release(accelerator);
}

static const struct CMUnitTest tests[] = {
    UNIT("two classes are counted", two_classes_are_counted),
    UNIT("macro means leave out absent classes", macro_means_leave_out_absent_classes),
    UNIT("correlations of constants are zero", correlations_of_constants_are_zero),
    UNIT("label sets are right as a whole", label_sets_are_right_as_a_whole),
    UNIT("numbers are correlated", numbers_are_correlated),
    UNIT("wrong rows are refused and change nothing", wrong_rows_are_refused_and_change_nothing),
    UNIT("rows are gathered from a loop", rows_are_gathered_from_a_loop),
};

/* Metrics are computed on the host; drivers of other devices are not of interest. */
int main(void)
{
    setenv("AXLE_BACKEND", "reference", 1);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
