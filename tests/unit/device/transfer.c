/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/device/board.h"

static board here;

static void expect_round_trip(axle_device *device, uint64_t block_size)
{
    unsigned char out[100], in[100];
    axle__block *block = axle__block_alloc(device, block_size);
    assert_non_null(block);
    for (int k = 0; k < 100; k++)
        out[k] = (unsigned char)(k * 7);
    assert_int_equal(axle__block_write(block, 0, out, 100), AXLE_OK);
    assert_int_equal(axle__block_write(block, 50, out, 10), AXLE_OK);
    assert_int_equal(axle__block_read(block, 0, in, 100), AXLE_OK);
    assert_memory_equal(in, out, 50);
    assert_memory_equal(in + 50, out, 10);
    assert_memory_equal(in + 60, out + 60, 40);
    assert_int_equal(axle__block_read(block, 99, in, 1), AXLE_OK);
    assert_int_equal(in[0], out[99]);
    assert_int_equal(axle__block_write(block, 100, NULL, 0), AXLE_OK);
    axle__block_free(block);
}

static void visible_memory_is_copied(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    board_start(&here);
    expect_round_trip(&here.device, 100);
    assert_int_equal(board_written + board_read + board_finished, 0);
    board_stop(&here);
}

static void earlier_work_is_waited_for(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    here.device.synchronous = false;
    board_start(&here);
    expect_round_trip(&here.device, 100);
    assert_int_equal(board_written + board_read, 0);
    assert_int_equal(board_finished, 4);
    board_stop(&here);
}

static void hidden_memory_goes_through_slots(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    here.device.info.caps = 0;
    here.device.synchronous = false;
    board_start(&here);
    axle__block *other = axle__block_alloc(&here.device, 100);
    expect_round_trip(&here.device, 100);
    assert_int_equal(board_written, 2);
    assert_int_equal(board_read, 2);
    axle__block_free(other);
    board_stop(&here);
}

static void mapping_replaces_slots(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    here.device.info.caps = 0;
    here.api.write = NULL;
    here.api.read = NULL;
    board_start(&here);
    expect_round_trip(&here.device, 100);
    assert_int_equal(board_mapped, 0);
    board_stop(&here);
}

static void range_is_checked(void **state)
{
    (void)state;
    unsigned char byte = 0;
    board_init(&here, UINT64_MAX);
    board_start(&here);
    axle__block *block = axle__block_alloc(&here.device, 64);
    assert_int_equal(axle__block_write(block, 64, &byte, 1), AXLE_ERR_INTERNAL);
    unit_expect_error(AXLE_ERR_INTERNAL, "of a block of 64");
    assert_int_equal(axle__block_read(block, UINT64_MAX, &byte, 2), AXLE_ERR_INTERNAL);
    unit_expect_error(AXLE_ERR_INTERNAL, "of a block of 64");
    axle__block_free(block);
    board_stop(&here);
}

static void failure_is_told(void **state)
{
    (void)state;
    unsigned char byte;
    board_init(&here, UINT64_MAX);
    here.device.info.caps = 0;
    board_start(&here);
    axle__block *block = axle__block_alloc(&here.device, 64);
    board_status = AXLE_ERR_INDEX;
    assert_int_equal(axle__block_read(block, 0, &byte, 1), AXLE_ERR_INDEX);
    unit_expect_error(AXLE_ERR_INDEX, "board: read: index 7 is outside [0, 5) (code 42)");
    assert_false(here.device.lost);
    board_status = 12345;
    assert_int_equal(axle__block_read(block, 0, &byte, 1), AXLE_ERR_INTERNAL);
    axle_error_clear();
    axle__block_free(block);
    board_stop(&here);
}

static void lost_device_stays_lost(void **state)
{
    (void)state;
    unsigned char byte = 0;
    board_init(&here, UINT64_MAX);
    here.device.info.caps = 0;
    board_start(&here);
    axle__block *block = axle__block_alloc(&here.device, 64);
    board_status = AXLE_ERR_DEVICE_LOST;
    assert_int_equal(axle__device_finish(&here.device), AXLE_ERR_DEVICE_LOST);
    unit_expect_error(AXLE_ERR_DEVICE_LOST, "board: finish: device lost");
    board_status = AXLE_OK;
    assert_int_equal(axle__block_write(block, 0, &byte, 1), AXLE_ERR_DEVICE_LOST);
    unit_expect_error(AXLE_ERR_DEVICE_LOST, "lost by an earlier error");
    axle__error_buffer error;
    axle__error_buffer_init(&error);
    error.error.flags = AXLE_ERROR_STICKY;
    here.device.lost = false;
    axle__device_failed(&here.device, "run", AXLE_ERR_IO, &error.error);
    assert_true(here.device.lost);
    axle_error_clear();
    axle__block_free(block);
    board_stop(&here);
}

static const struct CMUnitTest tests[] = {
    UNIT("memory that the host sees is copied", visible_memory_is_copied),
    UNIT("earlier work of an asynchronous device is waited for", earlier_work_is_waited_for),
    UNIT("memory that the host does not see goes through read and write",
         hidden_memory_goes_through_slots),
    UNIT("a device without read and write is mapped", mapping_replaces_slots),
    UNIT("a copy beyond a block's end is an error", range_is_checked),
    UNIT("a failed copy tells the device's words", failure_is_told),
    UNIT("a lost device stays lost", lost_device_stays_lost),
};
UNIT_MAIN(tests)
