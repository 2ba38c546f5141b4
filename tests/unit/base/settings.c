/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "base/settings.h"

#include "base/memory.h"
#include "base/options.h"
#include "unit/unit.h"

static char lines[4096];
static int line_count;

static void capture(int level, const char *component, const char *message, void *user)
{
    (void)level;
    (void)component;
    (void)user;
    line_count++;
    snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines), "%s\n", message);
}

static int set_up(void **state)
{
    (void)state;
    unsetenv("AXLE_BACKEND");
    unsetenv("AXLE_THREADS");
    unsetenv("AXLE_OPTIONS");
    unsetenv("AXLE_BAKCEND");
    axle__settings_reset();
    axle__options_reset();
    lines[0] = '\0';
    line_count = 0;
    axle_log_redirect(capture, NULL);
    return 0;
}

static int tear_down(void **state)
{
    set_up(state);
    axle_log_redirect(NULL, NULL);
    axle_error_clear();
    return 0;
}

static void defaults_hold(void **state)
{
    (void)state;
    assert_string_equal(axle__setting(AXLE_SETTING_BACKEND), "auto");
    assert_false(axle__setting_given(AXLE_SETTING_BACKEND));
    assert_int_equal(axle__setting_integer(AXLE_SETTING_THREADS), 0);
    assert_string_equal(axle__setting_describe(AXLE_SETTING_BACKEND)->name, "AXLE_BACKEND");
    assert_null(axle__setting_describe(-1));
    assert_null(axle__setting_describe(AXLE_SETTING_COUNT));
}

static void value_stays(void **state)
{
    (void)state;
    setenv("AXLE_BACKEND", "reference", 1);
    const char *value = axle__setting(AXLE_SETTING_BACKEND);
    setenv("AXLE_BACKEND", "onednn", 1);
    assert_string_equal(axle__setting(AXLE_SETTING_BACKEND), "reference");
    assert_true(axle__setting_given(AXLE_SETTING_BACKEND));
    axle__settings_reset();
    assert_string_equal(axle__setting(AXLE_SETTING_BACKEND), "onednn");
    assert_string_equal(value, "reference");
}

static void empty_is_unset(void **state)
{
    (void)state;
    setenv("AXLE_BACKEND", "", 1);
    assert_string_equal(axle__setting(AXLE_SETTING_BACKEND), "auto");
    assert_false(axle__setting_given(AXLE_SETTING_BACKEND));
}

static void number_is_checked(void **state)
{
    (void)state;
    setenv("AXLE_THREADS", "12", 1);
    assert_int_equal(axle__setting_integer(AXLE_SETTING_THREADS), 12);
    axle__settings_reset();
    setenv("AXLE_THREADS", "12x", 1);
    assert_int_equal(axle__setting_integer(AXLE_SETTING_THREADS), 0);
    assert_non_null(strstr(lines, "AXLE_THREADS=12x"));
}

static void stranger_is_told(void **state)
{
    (void)state;
    setenv("AXLE_BAKCEND", "reference", 1);
    axle__settings_check();
    axle__settings_check();
    assert_int_equal(line_count, 1);
    assert_non_null(strstr(lines, "AXLE_BAKCEND"));
    assert_non_null(strstr(lines, "AXLE_BACKEND"));
}

static void known_names_are_quiet(void **state)
{
    (void)state;
    setenv("AXLE_BACKEND", "reference", 1);
    axle__settings_check();
    assert_int_equal(line_count, 0);
}

static void options_are_parsed(void **state)
{
    (void)state;
    setenv("AXLE_OPTIONS", "onednn.isa=avx2, x.y = a=b ,,x.y2=,dup=1,dup=2,oops,=3", 1);
    assert_string_equal(axle__option("onednn.isa"), "avx2");
    assert_string_equal(axle__option("x.y"), "a=b");
    assert_string_equal(axle__option("x.y2"), "");
    assert_string_equal(axle__option("dup"), "2");
    assert_null(axle__option("oops"));
    assert_null(axle__option(""));
    assert_null(axle__option(NULL));
    assert_int_equal(line_count, 2);
    assert_non_null(strstr(lines, "'oops'"));
}

static void unknown_options_are_told(void **state)
{
    (void)state;
    setenv("AXLE_OPTIONS", "chip.tune=0,chip.tiels=8,chips.x=1,other.tiels=2", 1);
    axle__options_check("chip", "chip.tune\nchip.tiles");
    assert_int_equal(line_count, 1);
    assert_non_null(strstr(lines, "unknown option chip.tiels"));
    assert_non_null(strstr(lines, "nearest known one is chip.tiles"));
}

static void without_memory_defaults_serve(void **state)
{
    (void)state;
    setenv("AXLE_BACKEND", "reference", 1);
    setenv("AXLE_OPTIONS", "a=1", 1);
    axle__alloc_fail_at(1);
    assert_string_equal(axle__setting(AXLE_SETTING_BACKEND), "auto");
    unit_expect_error(AXLE_ERR_NOMEM, "out of memory");
    assert_string_equal(axle__setting(AXLE_SETTING_BACKEND), "reference");
    for (long n = 1; n <= 2; n++) {
        axle__alloc_fail_at(n);
        assert_null(axle__option("a"));
        unit_expect_error(AXLE_ERR_NOMEM, "out of memory");
        axle__settings_reset();
        axle__options_reset();
    }
    assert_string_equal(axle__option("a"), "1");
}

#define SETTINGS(sentence, function)                                                               \
    {                                                                                              \
        sentence, function, set_up, tear_down, NULL                                                \
    }

static const struct CMUnitTest tests[] = {
    SETTINGS("a setting that is not given has its default", defaults_hold),
    SETTINGS("a value stays when the environment changes", value_stays),
    SETTINGS("an empty variable counts as unset", empty_is_unset),
    SETTINGS("what is no number is told, and the default used", number_is_checked),
    SETTINGS("an unknown variable is told once, with the nearest name", stranger_is_told),
    SETTINGS("known variables are not told", known_names_are_quiet),
    SETTINGS("AXLE_OPTIONS is a list of key=value", options_are_parsed),
    SETTINGS("an option that its backend does not know is told", unknown_options_are_told),
    SETTINGS("without memory there are defaults and an error", without_memory_defaults_serve),
};
UNIT_MAIN(tests)
