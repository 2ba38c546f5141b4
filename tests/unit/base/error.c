/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <pthread.h>

#include "unit/unit.h"

static void first_error_stays(void **state)
{
    (void)state;
    assert_int_equal(axle_error_code(), AXLE_OK);
    assert_string_equal(axle_error_message(), "");
    assert_int_equal(axle_error_set(AXLE_ERR_SHAPE, "sizes %d and %d", 64, 32), AXLE_ERR_SHAPE);
    assert_int_equal(axle_error_set(AXLE_ERR_DTYPE, "later"), AXLE_ERR_DTYPE);
    assert_int_equal(axle_error_code(), AXLE_ERR_SHAPE);
    assert_string_equal(axle_error_message(), "sizes 64 and 32");
    axle_error_clear();
    assert_int_equal(axle_error_code(), AXLE_OK);
    assert_string_equal(axle_error_message(), "");
    axle_error_set(AXLE_OK, "no error");
    assert_int_equal(axle_error_code(), AXLE_OK);
}

static void long_message_is_cut(void **state)
{
    (void)state;
    axle_error_set(AXLE_ERR_IO, "%05000d", 1);
    assert_int_equal(strlen(axle_error_message()), AXLE__ERROR_MESSAGE_SIZE - 1);
    axle_error_clear();
}

static void *other_thread(void *arg)
{
    *(int *)arg = axle_error_code();
    axle_error_set(AXLE_ERR_BUSY, "there");
    return NULL;
}

static void threads_have_their_own(void **state)
{
    (void)state;
    pthread_t thread;
    int seen = 1;
    axle_error_set(AXLE_ERR_INDEX, "here");
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &seen), 0);
    pthread_join(thread, NULL);
    assert_int_equal(seen, AXLE_OK);
    unit_expect_error(AXLE_ERR_INDEX, "here");
}

static void record_can_be_set_aside(void **state)
{
    (void)state;
    axle__error_record outer, inner;
    axle_error_set(AXLE_ERR_INDEX, "outer");
    axle__error_take(&outer);
    assert_int_equal(axle_error_code(), AXLE_OK);
    axle_error_set(AXLE_ERR_IO, "inner");
    axle__error_take(&inner);
    assert_int_equal(inner.code, AXLE_ERR_IO);
    assert_string_equal(inner.message, "inner");
    axle__error_restore(&outer);
    unit_expect_error(AXLE_ERR_INDEX, "outer");
}

static void codes_have_texts(void **state)
{
    (void)state;
    assert_string_equal(axle_status_text(AXLE_OK), "success");
    assert_string_equal(axle_status_text(AXLE_ERR_NOMEM), "out of memory");
    assert_string_equal(axle_status_text(AXLE_ERR_INTERRUPTED), "interrupted");
    assert_non_null(axle_status_text(12345));
    assert_non_null(axle_status_text(-12345));
}

static const struct CMUnitTest tests[] = {
    UNIT("the first error stays until it is cleared", first_error_stays),
    UNIT("a long message is cut at its end", long_message_is_cut),
    UNIT("each thread has a record of its own", threads_have_their_own),
    UNIT("a record can be set aside and put back", record_can_be_set_aside),
    UNIT("every status code has a text", codes_have_texts),
};
UNIT_MAIN(tests)
