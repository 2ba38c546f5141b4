/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that do not fit, and what a refusal looks like: shared by the programs errors_*. */
#ifndef AXLE_TESTS_REFUSALS_H
#define AXLE_TESTS_REFUSALS_H

#include "device/board.h"
#include "tensors.h"

/* ------------------------------------------------------------------ operands */

static board other_board;

static inline axle_tensor *ones(int dtype, int rank, const int64_t *dims)
{
    axle_tensor *x = axle_ones(dtype, rank, dims);
    assert_non_null(x);
    return x;
}

/* Of the host: floats, integers, booleans. */
#define F(...) ones(AXLE_DTYPE_F64, AXLE_DIMS(__VA_ARGS__))
#define F32(...) ones(AXLE_DTYPE_F32, AXLE_DIMS(__VA_ARGS__))
#define I(...) ones(AXLE_DTYPE_I64, AXLE_DIMS(__VA_ARGS__))
#define B(...) ones(AXLE_DTYPE_BOOL, AXLE_DIMS(__VA_ARGS__))
#define SCALAR() ones(AXLE_DTYPE_F64, AXLE_SCALAR)

/* Of another device, with undefined content. */
static inline axle_tensor *far(int dtype, int rank, const int64_t *dims)
{
    axle_tensor *x;
    assert_int_equal(axle_device_push(&other_board.device), AXLE_OK);
    x = axle_empty(dtype, rank, dims);
    axle_device_pop();
    assert_non_null(x);
    return x;
}

#define FAR(...) far(AXLE_DTYPE_F64, AXLE_DIMS(__VA_ARGS__))
#define FAR_I(...) far(AXLE_DTYPE_I64, AXLE_DIMS(__VA_ARGS__))

static inline axle_tensor *wide(void)
{
    return F(1, 1, 1, 1, 1, 1, 1, 1);
}

/* Indices. */
static inline axle_tensor *index_of(int rank, const int64_t *dims, int64_t value)
{
    return axle_full(AXLE_DTYPE_I64, rank, dims, (double)value);
}

static inline void refuses(axle_tensor *result, int code, const char *part, int line)
{
    if (result)
        fail_msg("line %d: a result where an error was expected", line);
    if (axle_error_code() != code || !strstr(axle_error_message(), part))
        fail_msg("line %d: expected error %d with '%s', got %d: %s", line, code, part,
                 axle_error_code(), axle_error_message());
    axle_error_clear();
}

#define REFUSES(call, code, part) refuses(call, AXLE_ERR_##code, part, __LINE__)

/* NULL in, NULL out, and what was recorded before stays the only record. */
static inline void passes_nothing(axle_tensor *result, int line)
{
    if (result || axle_error_code())
        fail_msg("line %d: NULL gives more than NULL: %s", line, axle_error_message());
}

#define PASSES_NOTHING(call) passes_nothing(call, __LINE__)

/* ------------------------------------------------------------------ programs */

#define ONE(name) TENSORS(#name " tells what is wrong with its operands", test_##name),
#define ONE_OF_TWO(name, other) ONE(name)

static int open_board(void **state)
{
    (void)state;
    board_init(&other_board, 1 << 20);
    board_start(&other_board);
    return 0;
}

static int close_board(void **state)
{
    (void)state;
    board_stop(&other_board);
    return 0;
}

#define REFUSALS_MAIN(tests)                                                                       \
    int main(void)                                                                                 \
    {                                                                                              \
        cmocka_set_message_output(CM_OUTPUT_TAP);                                                  \
        return cmocka_run_group_tests(tests, open_board, close_board);                             \
    }

#endif
