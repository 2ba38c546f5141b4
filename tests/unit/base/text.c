/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "base/list.h"
#include "base/memory.h"
#include "unit/unit.h"

static void distance_counts_edits(void **state)
{
    (void)state;
    assert_int_equal(axle__edit_distance("", ""), 0);
    assert_int_equal(axle__edit_distance("abc", ""), 3);
    assert_int_equal(axle__edit_distance("kitten", "sitting"), 3);
    assert_int_equal(axle__edit_distance("backend", "bakcend"), 1);
    char longer[200];
    memset(longer, 'a', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(axle__edit_distance(longer, "a"), 62);
}

static void only_whole_numbers_parse(void **state)
{
    (void)state;
    int64_t value = 5;
    assert_true(axle__parse_integer("-12", &value));
    assert_int_equal(value, -12);
    assert_true(axle__parse_integer("9223372036854775807", &value));
    static const char *const wrong[] = {"", "x", "1x", "1 ", "0x10", "9223372036854775808", "1.5"};
    value = 5;
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
        assert_false(axle__parse_integer(wrong[k], &value));
    assert_int_equal(value, 5);
}

static void text_stops_at_its_end(void **state)
{
    (void)state;
    char buffer[8];
    axle__text text;
    axle__text_init(&text, buffer, sizeof(buffer));
    axle__text_add(&text, "%s", "abc");
    axle__text_add(&text, "%s", "defghij");
    axle__text_add(&text, "%s", "k");
    assert_string_equal(buffer, "abcdefg");
}

static void list_owns_its_strings(void **state)
{
    (void)state;
    axle__list list = {0};
    for (int k = 0; k < 20; k++)
        assert_int_equal(axle__list_take(&list, axle__format("%d", k)), AXLE_OK);
    assert_int_equal(list.count, 20);
    assert_string_equal(list.item[19], "19");
    axle__list_free(&list);
    assert_int_equal(list.count, 0);
    assert_int_equal(axle__list_take(&list, NULL), AXLE_ERR_NOMEM);
    char *text = axle__strdup("x");
    axle__alloc_fail_at(1);
    assert_int_equal(axle__list_take(&list, text), AXLE_ERR_NOMEM);
    unit_expect_error(AXLE_ERR_NOMEM, "out of memory");
    axle__list_free(&list);
}

static const struct CMUnitTest tests[] = {
    UNIT("the edit distance counts swaps of neighbours once", distance_counts_edits),
    UNIT("only a whole decimal number parses", only_whole_numbers_parse),
    UNIT("text is cut off at the end of its buffer", text_stops_at_its_end),
    UNIT("a list owns its strings, also when it can not grow", list_owns_its_strings),
};
UNIT_MAIN(tests)
