/* SPDX-License-Identifier: Apache-2.0 */
#include "base/finalize.h"

#include "unit/unit.h"

static char order[16];

static void first(void)
{
    strcat(order, "1");
}

static void second(void)
{
    strcat(order, "2");
}

static void last_comes_first(void **state)
{
    (void)state;
    order[0] = '\0';
    assert_int_equal(axle__finalize_register(first), AXLE_OK);
    assert_int_equal(axle__finalize_register(second), AXLE_OK);
    assert_int_equal(axle__finalize_register(first), AXLE_OK);
    axle__finalize_run();
    assert_string_equal(order, "21");
    axle__finalize_run();
    assert_string_equal(order, "21");
}

static void again(void)
{
    strcat(order, "a");
    if (strlen(order) < 3)
        axle__finalize_register(again);
}

static void functions_may_register(void **state)
{
    (void)state;
    order[0] = '\0';
    axle__finalize_register(again);
    axle__finalize_run();
    assert_string_equal(order, "aaa");
}

static const struct CMUnitTest tests[] = {
    UNIT("what was registered last runs first, and once", last_comes_first),
    UNIT("a function that runs may register another", functions_may_register),
};
UNIT_MAIN(tests)
