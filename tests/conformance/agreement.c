/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the device that AXLE_BACKEND names with the reference backend: the value of every case
 * and the gradient of each operand, in f32 against f64. Arguments, as choice.h says, are the cases
 * to run and a part of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "conformance/choice.h"
#include "support/op_cases.h"
#include "unit.h"

/* Values and gradients of one run. */
typedef struct outcome {
    double *value[4]; /* the result, then the operands' gradients */
    int64_t count[4];
    int n;
} outcome;

static double *as_doubles(axle_tensor *x, int64_t *count)
{
    axle_tensor *wide = axle_cast(axle_to_device(x, axle_device_host()), AXLE_DTYPE_F64);
    assert_non_null(wide);
    *count = axle_tensor_count(wide);
    double *values = malloc((size_t)(*count + 1) * sizeof(double));
    assert_int_equal(axle_tensor_read(wide, values, (size_t)*count * sizeof(double)), AXLE_OK);
    return values;
}

static void run_case(const op_case *c, axle_device *device, int dtype, outcome *out)
{
    axle_tensor *in[3] = {NULL};
    axle_scope_push();
    axle_device_push(device);
    axle_seed(11);
    op_case_dtype = dtype;
    for (int k = 0; k < c->n; k++)
        assert_non_null(in[k] = op_case_operand(&c->operand[k]));
    axle_tensor *y = c->fn(in, c->n, NULL);
    if (!y || axle_tensor_backward(axle_sum_all(axle_mul(y, axle_sin(axle_detach(y)))), NULL, 0))
        fail_msg("%s", axle_error_message());
    out->value[0] = as_doubles(y, &out->count[0]);
    out->n = 1;
    for (int k = 0; k < c->n; k++) {
        axle_tensor *grad = axle_tensor_grad(in[k]);
        if (grad)
            out->value[out->n] = as_doubles(grad, &out->count[out->n]);
        out->n += grad != NULL;
    }
    axle_device_pop();
    axle_scope_pop();
}

/* Errors are measured against the largest element: sums of many terms have no small ones. */
static void compare(const outcome *got, const outcome *expected)
{
    assert_int_equal(got->n, expected->n);
    for (int k = 0; k < got->n; k++) {
        double largest = 1e-3, worst = 0.0;
        assert_int_equal(got->count[k], expected->count[k]);
        for (int64_t i = 0; i < got->count[k]; i++) {
            largest = fmax(largest, fabs(expected->value[k][i]));
            double off = fabs(got->value[k][i] - expected->value[k][i]);
            worst = off <= worst ? worst : off;
        }
        if (!(worst <= 2e-5 * largest))
            fail_msg("%s %d is off by %g, the largest element being %g", k ? "gradient" : "value",
                     k, worst, largest);
    }
}

static void check_agreement(void **state)
{
    outcome got = {{NULL}, {0}, 0}, expected = {{NULL}, {0}, 0};
    run_case(*state, axle_device_current(), AXLE_DTYPE_F32, &got);
    run_case(*state, axle_device_host(), AXLE_DTYPE_F64, &expected);
    compare(&got, &expected);
    for (int k = 0; k < 4; k++) {
        free(got.value[k]);
        free(expected.value[k]);
    }
}

enum { MOST_CASES = 256 };

/* Fill `tests` with the cases that are asked for; how many there are. */
static size_t choose(struct CMUnitTest *tests)
{
    static char names[MOST_CASES][80];
    size_t n = 0;
    for (int k = 0; k < op_case_count && k < MOST_CASES; k++) {
        if (!choice_has(op_cases[k].name) || !choice_has_case((size_t)k))
            continue;
        snprintf(names[n], sizeof(names[n]), "%s agrees with the reference", op_cases[k].name);
        tests[n] = (struct CMUnitTest){names[n], check_agreement, NULL, NULL, (void *)&op_cases[k]};
        n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[MOST_CASES];
    cmocka_set_message_output(CM_OUTPUT_TAP);
    if (!axle_device_current()) {
        printf("Bail out! %s\n", axle_error_message());
        return 1;
    }
    size_t n = choice_read(argc, argv) ? choose(tests) : 0;
    if (n == 0) {
        printf("Bail out! no case has that name, or a part is not K/N\n");
        return 1;
    }
    return _cmocka_run_group_tests("agreement", tests, n, NULL, NULL);
}
