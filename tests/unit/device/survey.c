/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "device/survey.h"

#include "unit/device/plugins.h"

static void reference_serves_all(void **state)
{
    (void)state;
    static const int dtypes[] = {AXLE_DTYPE_F32, AXLE_DTYPE_F64};
    axle_device *device = axle_device_host();
    for (size_t k = 0; k < 2; k++) {
#define CHECK(number, name, label, n_in, n_out)                                                    \
    if (!axle__survey_supports(device, number, dtypes[k]))                                         \
        fail_msg("%s in %s is not supported", label, axle_dtype_name(dtypes[k]));
        AXLE_OP_LIST(CHECK)
#undef CHECK
    }
    assert_false(axle__survey_supports(device, 0, AXLE_DTYPE_F32));
    assert_false(axle__survey_supports(device, 1000, AXLE_DTYPE_F32));
}

static void bare_device_serves_none(void **state)
{
    (void)state;
    axle_device *device;
    plugins_install("broken", "broken.so", 0);
    plugins_reset(NULL, NULL);
    assert_ok(axle_device_open("broken", &device));
    for (uint32_t op = 0; op < AXLE_OP_LIMIT; op++)
        assert_false(axle__survey_supports(device, op, AXLE_DTYPE_F32));
}

static const struct CMUnitTest tests[] = {
    PLUGINS("the reference serves a typical use of every operator", reference_serves_all),
    PLUGINS("a device without operators serves none", bare_device_serves_none),
};
UNIT_MAIN(tests)
