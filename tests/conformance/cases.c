/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases from the field on the device that AXLE_BACKEND names, in f32. Arguments, as choice.h says,
 * are the cases to run and a part of them.
 */
#include "conformance/choice.h"
#include "support/field_cases.h"
#include "support/tap.h"

int main(int argc, char **argv)
{
    if (!choice_read(argc, argv))
        return tap_bail_out("a part is K/N with K from 1 to N");
    axle_device *device = axle_device_current();
    if (!device)
        return tap_bail_out(axle_error_message());
    tap_note("on %s", axle_device_backend(device));
    for (int k = 0; k < field_case_count; k++) {
        if (!choice_has(field_cases[k].name) || !choice_has_case((size_t)k))
            continue;
        const char *wrong = field_case_run(&field_cases[k], AXLE_DTYPE_F32);
        tap_result(!wrong, "%s", field_cases[k].name);
        if (wrong)
            tap_note("%s", wrong);
    }
    return tap_finish();
}
