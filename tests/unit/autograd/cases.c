/* SPDX-License-Identifier: Apache-2.0 */
/* Cases from the field on the reference backend, in both of its precise types. */
#include "support/field_cases.h"

#include "tensors.h"

typedef struct typed_case {
    const field_case *of;
    int dtype;
} typed_case;

static void run_case(void **state)
{
    const typed_case *c = *state;
    const char *wrong = field_case_run(c->of, c->dtype);
    if (wrong)
        fail_msg("%s", wrong);
}

static int open_case(void **state)
{
    return tensors_open(state);
}

enum { MOST_CASES = 64 };

int main(void)
{
    static struct CMUnitTest tests[MOST_CASES];
    static typed_case cases[MOST_CASES];
    static char names[MOST_CASES][120];
    int n = 0;
    cmocka_set_message_output(CM_OUTPUT_TAP);
    for (int k = 0; k < 2 * field_case_count && n < MOST_CASES; k++, n++) {
        cases[n] = (typed_case){&field_cases[k / 2], k % 2 ? AXLE_DTYPE_F64 : AXLE_DTYPE_F32};
        snprintf(names[n], sizeof(names[n]), "%s, in %s", cases[n].of->name,
                 axle_dtype_name(cases[n].dtype));
        tests[n] = (struct CMUnitTest){names[n], run_case, open_case, tensors_close, &cases[n]};
    }
    return _cmocka_run_group_tests("cases", tests, (size_t)n, NULL, NULL);
}
