/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include "unit/unit.h"

static void overflow_is_an_error(void **state)
{
    (void)state;
    size_t out = 7;
    assert_null(axle__alloc(SIZE_MAX / 2, 3));
    unit_expect_error(AXLE_ERR_NOMEM, "overflow");
    assert_null(axle__resize(NULL, SIZE_MAX, 2));
    unit_expect_error(AXLE_ERR_NOMEM, "overflow");
    assert_false(axle__size_mul(SIZE_MAX, 2, &out));
    assert_false(axle__size_add(SIZE_MAX, 1, &out));
    assert_int_equal(out, 7);
    assert_true(axle__size_mul(3, 4, &out));
    assert_int_equal(out, 12);
    assert_true(axle__size_add(3, 4, &out));
    assert_int_equal(out, 7);
}

static void nothing_is_a_pointer(void **state)
{
    (void)state;
    void *memory = axle__alloc(0, 8);
    assert_non_null(memory);
    memory = axle__resize(memory, 0, 8);
    assert_non_null(memory);
    axle__free(memory);
    axle__free(NULL);
}

static void memory_is_zeroed(void **state)
{
    (void)state;
    unsigned char *memory = axle__alloc(1000, 1);
    assert_non_null(memory);
    for (int k = 0; k < 1000; k++)
        assert_int_equal(memory[k], 0);
    axle__free(memory);
}

static void alignment_holds(void **state)
{
    (void)state;
    for (size_t align = 1; align <= 1 << 16; align *= 2) {
        void *memory = axle__alloc_aligned(100, align);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % align, 0);
        axle__free(memory);
    }
    void *large = axle__alloc_aligned(5 << 20, 64);
    assert_non_null(large);
    axle__free(large);
}

static void text_is_formatted(void **state)
{
    (void)state;
    char *text = axle__format("%s-%0300d", "a", 7);
    assert_non_null(text);
    assert_int_equal(strlen(text), 302);
    char *copy = axle__strdup(text);
    assert_string_equal(copy, text);
    axle__free(copy);
    axle_free(text);
}

static void chosen_allocation_fails(void **state)
{
    (void)state;
    axle__alloc_fail_at(2);
    void *first = axle__alloc(1, 1);
    assert_non_null(first);
    assert_false(axle__alloc_failed());
    assert_null(axle__strdup("x"));
    assert_true(axle__alloc_failed());
    unit_expect_error(AXLE_ERR_NOMEM, "out of memory");
    void *third = axle__alloc_aligned(8, 64);
    assert_non_null(third);
    axle__free(third);
    axle__free(first);
    axle__alloc_fail_at(1);
    axle__alloc_fail_at(0);
    axle__free(axle__alloc(1, 1));
    assert_int_equal(axle_error_code(), AXLE_OK);
}

static const struct CMUnitTest tests[] = {
    UNIT("sizes that overflow are an error", overflow_is_an_error),
    UNIT("a size of 0 gives a pointer", nothing_is_a_pointer),
    UNIT("new memory is zeroed", memory_is_zeroed),
    UNIT("aligned memory lies on its boundary", alignment_holds),
    UNIT("formatted text has the length that it needs", text_is_formatted),
    UNIT("the chosen allocation fails, and only that", chosen_allocation_fails),
};
UNIT_MAIN(tests)
