/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "base/memory.h"
#include "tensors.h"

static axle_tensor *number(double value)
{
    return axle_scalar(AXLE_DTYPE_F64, value);
}

static void a_scope_releases_what_was_made_in_it(void **state)
{
    (void)state;
    uint64_t before = tensors_bytes();
    assert_int_equal(axle_scope_push(), AXLE_OK);
    for (int k = 0; k < 500; k++)
        assert_non_null(number(k));
    assert_true(tensors_bytes() > before);
    axle_scope_pop();
    assert_int_equal(tensors_bytes(), before);
}

static void a_retained_tensor_outlives_its_scope(void **state)
{
    (void)state;
    axle_scope_push();
    axle_tensor *x = axle_tensor_retain(number(7));
    axle_scope_pop();
    EXPECT(x, 7);
    axle_tensor_release(x);
}

static void views_keep_their_storage_alive(void **state)
{
    (void)state;
    axle_scope_push();
    axle_tensor *row = axle_select(tensors_count(AXLE_DIMS(3, 2)), 0, 2);
    axle_tensor_retain(row);
    axle_scope_pop();
    EXPECT(row, 4, 5);
    axle_tensor_release(row);
}

static void a_kept_tensor_moves_to_the_scope_around(void **state)
{
    (void)state;
    axle_scope_push();
    axle_scope_push();
    number(1);
    axle_tensor *x = axle_scope_pop_keep(number(2));
    assert_int_equal(axle_scope_depth(), 2);
    EXPECT(x, 2);
    assert_ptr_equal(axle_scope_pop_keep(x), x);
    EXPECT(x, 2);
    axle_scope_push();
    assert_null(axle_scope_pop_keep(NULL));
}

static void a_tensor_of_an_outer_scope_can_be_kept(void **state)
{
    (void)state;
    axle_tensor *x = number(3);
    for (int k = 0; k < 3; k++) {
        axle_scope_push();
        assert_ptr_equal(axle_scope_pop_keep(x), x);
    }
    EXPECT(x, 3);
}

static void scopes_nest_deeply(void **state)
{
    (void)state;
    for (int k = 0; k < 1000; k++) {
        assert_int_equal(axle_scope_push(), AXLE_OK);
        number(k);
    }
    assert_int_equal(axle_scope_depth(), 1001);
    for (int k = 0; k < 1000; k++)
        axle_scope_pop();
    assert_int_equal(axle_scope_depth(), 1);
}

static void *without_a_scope(void *user)
{
    (void)user;
    assert_int_equal(axle_scope_depth(), 0);
    number(1);
    axle_scope_pop();
    assert_int_equal(axle_scope_depth(), 0);
    for (int k = 0; k < 100; k++)
        number(k);
    axle_scope_push();
    number(5);
    return axle_tensor_retain(number(42));
}

static void a_thread_that_ends_releases_its_own(void **state)
{
    (void)state;
    pthread_t thread;
    void *kept;
    assert_int_equal(pthread_create(&thread, NULL, without_a_scope, NULL), 0);
    assert_int_equal(pthread_join(thread, &kept), 0);
    EXPECT(kept, 42);
    axle_tensor_release(kept);
}

static void a_failed_push_leaves_the_scopes_alone(void **state)
{
    (void)state;
    float value = 0;
    axle_tensor *x = axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(1));
    for (int k = 0; k < 63; k++) /* the next one needs room */
        assert_int_equal(axle_scope_push(), AXLE_OK);
    number(1);
    axle__alloc_fail_at(1);
    assert_int_equal(axle_tensor_read(x, &value, sizeof(value)), AXLE_ERR_NOMEM);
    unit_expect_error(AXLE_ERR_NOMEM, "out of memory");
    axle__alloc_fail_at(0);
    assert_int_equal(axle_scope_depth(), 64);
    for (int k = 0; k < 63; k++)
        axle_scope_pop();
    assert_int_equal(axle_tensor_read(x, &value, sizeof(value)), AXLE_OK);
    assert_true(value == 1);
}

static void releasing_nothing_is_fine(void **state)
{
    (void)state;
    axle_tensor_release(NULL);
    assert_null(axle_tensor_retain(NULL));
}

/* Without the fixture: it closes every device. */
static void the_end_of_the_library_releases_scopes(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(axle_device_set_default(axle_device_host()), AXLE_OK);
        assert_non_null(axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(2, 3)));
        axle_finalize();
        axle_scope_pop();
        assert_int_equal(axle_scope_depth(), 0);
    }
}

static const struct CMUnitTest tests[] = {
    TENSORS("a failed push leaves the scopes alone", a_failed_push_leaves_the_scopes_alone),
    TENSORS("a scope releases what was made in it", a_scope_releases_what_was_made_in_it),
    TENSORS("a retained tensor outlives its scope", a_retained_tensor_outlives_its_scope),
    TENSORS("views keep their storage alive", views_keep_their_storage_alive),
    TENSORS("a kept tensor moves to the scope around", a_kept_tensor_moves_to_the_scope_around),
    TENSORS("a tensor of an outer scope can be kept", a_tensor_of_an_outer_scope_can_be_kept),
    TENSORS("scopes nest deeply", scopes_nest_deeply),
    TENSORS("a thread that ends releases its own tensors", a_thread_that_ends_releases_its_own),
    TENSORS("releasing nothing is fine", releasing_nothing_is_fine),
    UNIT("the end of the library releases scopes", the_end_of_the_library_releases_scopes),
};

UNIT_MAIN(tests)
