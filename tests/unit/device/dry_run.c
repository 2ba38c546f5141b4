/* SPDX-License-Identifier: Apache-2.0 */
/* Dry runs: memory is taken, and nothing is computed. */
#include "tensors.h"

static axle_device_stats stats(void)
{
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    assert_int_equal(axle_device_get_stats(axle_device_host(), &stats), AXLE_OK);
    return stats;
}

static void a_dry_run_takes_memory_alone(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    axle_tensor *x = axle_ones(AXLE_DTYPE_F64, AXLE_DIMS(COUNT));
    axle_device_reset_peak(axle_device_host());
    axle_device_stats before = stats();
    assert_true(before.bytes_peak == before.bytes_in_use);
    axle_device_dry_run(axle_device_host(), 1);
    axle_scope_push();
    assert_non_null(axle_neg(axle_neg(x)));
    axle_scope_pop();
    axle_device_dry_run(axle_device_host(), 0);
    axle_device_stats after = stats();
    assert_true(after.op_runs == before.op_runs);
    assert_true(after.bytes_in_use == before.bytes_in_use);
    assert_true(after.bytes_peak >= before.bytes_in_use + 2 * COUNT * sizeof(double));
    EXPECT(axle_sum_all(axle_neg(x)), -COUNT);
    assert_true(stats().op_runs > after.op_runs);
}

static const struct CMUnitTest tests[] = {
    TENSORS("a dry run takes memory, and runs nothing", a_dry_run_takes_memory_alone),
};

UNIT_MAIN(tests)
