/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "base/log.h"

#include <unistd.h>

#include "base/settings.h"
#include "unit/unit.h"

static char captured[4096];
static int captured_level, captured_count;

static void capture(int level, const char *component, const char *message, void *user)
{
    captured_level = level;
    captured_count++;
    snprintf(captured, sizeof(captured), "%s/%s/%s", (const char *)user, component, message);
}

/* What the call writes to standard error. */
static const char *written_by(void (*call)(void))
{
    static char text[8192];
    int ends[2], saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    call();
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    ssize_t length = read(ends[0], text, sizeof(text) - 1);
    close(ends[0]);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

static void warn_once(void)
{
    axle__warn("device", "value %d\nand more\n", 7);
}

static void warn_at_length(void)
{
    axle__warn("device", "%05000d", 1);
}

static void say_little(void)
{
    axle__debug("device", "nothing to see");
}

static void line_has_its_form(void **state)
{
    (void)state;
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    assert_string_equal(written_by(warn_once), "axle: warn: device: value 7 and more\n");
    assert_string_equal(written_by(say_little), "");
}

static void rank_is_told(void **state)
{
    (void)state;
    setenv("RANK", "3", 1);
    setenv("WORLD_SIZE", "4", 1);
    assert_string_equal(written_by(warn_once), "axle: rank 3: warn: device: value 7 and more\n");
    setenv("WORLD_SIZE", "1", 1);
    assert_string_equal(written_by(warn_once), "axle: warn: device: value 7 and more\n");
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    axle__log_set_rank(0, 2);
    assert_string_equal(written_by(warn_once), "axle: rank 0: warn: device: value 7 and more\n");
    axle__log_set_rank(0, 1);
    assert_string_equal(written_by(warn_once), "axle: warn: device: value 7 and more\n");
}

static void long_line_is_one_line(void **state)
{
    (void)state;
    const char *line = written_by(warn_at_length);
    size_t length = strlen(line);
    assert_true(length > 1000 && length < 4096);
    assert_string_equal(line + length - 4, "...\n");
}

static void callback_gets_lines(void **state)
{
    (void)state;
    static char user[] = "user";
    axle_log_redirect(capture, user);
    warn_once();
    assert_string_equal(captured, "user/device/value 7 and more");
    assert_int_equal(captured_level, AXLE_LOG_WARN);
    captured_count = 0;
    say_little();
    assert_int_equal(captured_count, 0);
    axle_log_set_level(0);
    say_little();
    assert_int_equal(captured_count, 1);
    axle_log_set_level(3);
    warn_once();
    assert_int_equal(captured_count, 1);
    axle_log_set_level(AXLE_LOG_WARN);
    axle_log_redirect(NULL, NULL);
}

static const struct CMUnitTest tests[] = {
    UNIT("a message is one line with level and component", line_has_its_form),
    UNIT("the rank stands before it in a job of several processes", rank_is_told),
    UNIT("a long message is cut and still one line", long_line_is_one_line),
    UNIT("a callback gets what is at or above the level", callback_gets_lines),
};
UNIT_MAIN(tests)
