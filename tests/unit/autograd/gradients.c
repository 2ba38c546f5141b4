/* SPDX-License-Identifier: Apache-2.0 */
/* Every differentiable operator against central finite differences, in f64 on the reference
 * backend. */
#include <stdio.h>

#include "support/op_cases.h"
#include "unit.h"

static void check_gradient(void **state)
{
    const op_case *c = *state;
    axle_tensor *in[3] = {NULL};
    axle_scope_push();
    axle_seed(11);
    for (int k = 0; k < c->n; k++)
        assert_non_null(in[k] = op_case_operand(&c->operand[k]));
    int status = axle_gradcheck(c->fn, in, c->n, NULL, NULL);
    if (status)
        print_error("%s\n", axle_error_message());
    axle_error_clear();
    axle_scope_pop();
    assert_int_equal(status, AXLE_OK);
}

enum { MOST_CASES = 256 };

int main(void)
{
    static struct CMUnitTest tests[MOST_CASES];
    static char names[MOST_CASES][80];
    int n = 0;
    cmocka_set_message_output(CM_OUTPUT_TAP);
    axle_device_set_default(axle_device_host());
    for (int k = 0; k < op_case_count && n < MOST_CASES; k++) {
        if (op_cases[k].large)
            continue;
        snprintf(names[n], sizeof(names[n]), "the gradient of %s is its slope", op_cases[k].name);
        tests[n] = (struct CMUnitTest){names[n], check_gradient, NULL, NULL, (void *)&op_cases[k]};
        n++;
    }
    return _cmocka_run_group_tests("gradients", tests, (size_t)n, NULL, NULL);
}
