/* SPDX-License-Identifier: Apache-2.0 */
/* What the hook "trace" writes: of the host's device, and of a fake one that works later. */
#define _GNU_SOURCE 1
#include "device/hook.h"

#include <fcntl.h>
#include <jansson.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "unit/device/plugins.h"

#include "axle/axle.h"
#include "axle/backend_ops.h"
#include "axle/group.h"
#include "device/op_text.h"
#include "device/trace_file.h"

static json_t *trace;

static int set_up(void **state)
{
    return plugins_setup(state);
}

static int tear_down(void **state)
{
    json_decref(trace);
    trace = NULL;
    unsetenv("AXLE_HOOK");
    unsetenv("AXLE_TRACE_FILE");
    return plugins_teardown(state);
}

#define TRACE(sentence, function)                                                                  \
    {                                                                                              \
        sentence, function, set_up, tear_down, NULL                                                \
    }

static void load(const char *path)
{
    json_error_t error;
    json_decref(trace);
    trace = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_array(trace))
        fail_msg("%s: line %d: %s", path, error.line, error.text);
}

static const char *text_of(const json_t *event, const char *key)
{
    const json_t *value = json_object_get(event, key);
    return json_is_string(value)
               ? json_string_value(value)
               : json_string_value(json_object_get(json_object_get(event, "args"), key));
}

static double number_of(const json_t *event, const char *key)
{
    return json_number_value(json_object_get(event, key));
}

/* Event number `n` of those in which the member has that value; NULL where there are fewer. */
static const json_t *find(const char *key, const char *value, int n)
{
    size_t k;
    json_t *event;
    json_array_foreach(trace, k, event)
    {
        const char *found = text_of(event, key);
        if (found && strcmp(found, value) == 0 && n-- == 0)
            return event;
    }
    return NULL;
}

static int count_of(const char *key, const char *value)
{
    int n = 0;
    while (find(key, value, n))
        n++;
    return n;
}

static bool lies_in(const json_t *inner, const json_t *outer)
{
    double end = number_of(outer, "ts") + number_of(outer, "dur");
    return number_of(inner, "ts") >= number_of(outer, "ts") &&
           number_of(inner, "ts") + number_of(inner, "dur") <= end + 1e-3;
}

/* Two additions inside a backward pass, and a read. */
static void work(axle_device *device)
{
    double value;
    axle_scope_push();
    axle_device_push(device);
    axle_tensor *x = axle_full(AXLE_DTYPE_F32, AXLE_DIMS(3, 4), 2.0);
    axle_tensor_set_requires_grad(x, 1);
    axle_tensor *sum = axle_sum_all(axle_mul(x, axle_exp(x)));
    assert_int_equal(axle_tensor_backward(sum, NULL, 0), AXLE_OK);
    assert_int_equal(axle_tensor_item(sum, &value), AXLE_OK);
    axle_device_pop();
    axle_scope_pop();
}

static void start(const char *path)
{
    assert_int_equal(axle_profile_start(path), AXLE_OK);
}

static void stop(void)
{
    assert_int_equal(axle_profile_stop(), AXLE_OK);
    assert_false(axle__hooks_active());
}

/* ------------------------------------------------------------------ events */

static void operators_are_told(void **state)
{
    axle_device_stats before = AXLE_DEVICE_STATS_INIT, after = before;
    const char *path = files_path("t.json");
    (void)state;
    axle_device_get_stats(axle_device_host(), &before);
    start(path);
    work(axle_device_host());
    stop();
    axle_device_get_stats(axle_device_host(), &after);
    load(path);
    assert_int_equal(count_of("cat", "operator"), after.op_runs - before.op_runs);
    const json_t *event = find("name", "unary:exp", 0);
    assert_non_null(event);
    assert_string_equal(text_of(event, "ph"), "X");
    assert_string_equal(text_of(event, "in"), "(12) f32");
    assert_string_equal(text_of(event, "out"), "(12) f32");
    assert_string_equal(text_of(event, "device"), "reference");
    assert_string_equal(text_of(event, "time"), "run");
    assert_int_equal(number_of(json_object_get(event, "args"), "bytes"), 96);
    assert_int_equal(number_of(event, "tid"), axle__trace_thread());
    assert_int_equal(number_of(event, "pid"), getpid());
}

static void phases_nest(void **state)
{
    const char *path = files_path("t.json");
    axle__hook_point outer, inner;
    (void)state;
    start(path);
    axle__phase_begin(&outer, "outer");
    work(axle_device_host());
    axle__phase_begin(&inner, "inner");
    axle__phase_end(&inner);
    axle__phase_end(&outer);
    stop();
    load(path);
    const json_t *whole = find("name", "outer", 0), *backward = find("name", "backward", 0);
    assert_true(lies_in(find("name", "inner", 0), whole));
    assert_true(lies_in(backward, whole));
    assert_true(lies_in(find("name", "unary:exp", 0), whole));
    assert_false(lies_in(find("name", "unary:exp", 0), backward));
    int inside = 0;
    for (int n = 0; n < count_of("cat", "operator"); n++)
        inside += lies_in(find("cat", "operator", n), backward);
    assert_true(inside > 0);
}

/* What is between a hook's two ends when tracing begins or ends is left out. */
static void half_points_are_left_out(void **state)
{
    const char *path = files_path("t.json");
    axle__hook_point early, late;
    (void)state;
    axle__phase_begin(&early, "early");
    start(path);
    axle__phase_end(&early);
    axle__phase_begin(&late, "late");
    stop();
    axle__phase_end(&late);
    load(path);
    assert_int_equal(count_of("cat", "phase"), 0);
}

static axle_device *open_fake(const char *options)
{
    axle_device *device;
    setenv("AXLE_OPTIONS", options, 1);
    axle__options_reset();
    if (axle_device_open(getenv("FAKE_PLUGIN"), &device))
        fail_msg("%s", axle_error_message());
    return device;
}

static void queued_operators_are_followed(void **state)
{
    const char *path = files_path("t.json");
    (void)state;
    start(path);
    axle_device *device = open_fake("fake=lazy|delay_ms=2");
    work(device);
    assert_int_equal(axle_device_synchronize(device), AXLE_OK);
    stop();
    load(path);
    int enqueued = count_of("time", "enqueue");
    assert_true(enqueued > 0);
    assert_int_equal(count_of("time", "events"), enqueued);
    for (int n = 0; n < enqueued; n++) {
        const json_t *event = find("time", "events", n);
        assert_true(number_of(event, "tid") != axle__trace_thread());
        assert_true(number_of(event, "dur") > 0.0);
        if (n > 0) {
            const json_t *before = find("time", "events", n - 1);
            double end = number_of(before, "ts") + number_of(before, "dur");
            assert_true(number_of(event, "ts") >= end - 1e-3);
        }
    }
    assert_true(count_of("name", "finish") > 0);
    unsetenv("AXLE_OPTIONS");
}

static void fallbacks_and_memory_are_told(void **state)
{
    const char *path = files_path("t.json");
    (void)state;
    start(path);
    work(open_fake("fake"));
    axle_finalize();
    load(path);
    /* The fake lacks reductions: the host's run lies in the fallback, between its transfers. */
    const json_t *fallback = find("cat", "fallback", 0);
    assert_string_equal(text_of(fallback, "name"), "reduce:sum");
    assert_string_equal(text_of(fallback, "device"), "fake");
    bool inside = false;
    for (int n = 0; find("name", "reduce:sum", n); n++) {
        const json_t *run = find("name", "reduce:sum", n);
        inside =
            inside || (strcmp(text_of(run, "device"), "reference") == 0 && lies_in(run, fallback));
    }
    assert_true(inside);
    assert_true(lies_in(find("name", "read", 0), fallback));
    assert_true(count_of("name", "allocate") > 0);
    assert_int_equal(count_of("name", "release"), count_of("name", "allocate"));
    unsetenv("AXLE_OPTIONS");
}

static void collectives_are_told(void **state)
{
    const char *path = files_path("t.json");
    axle_group *group;
    (void)state;
    start(path);
    assert_int_equal(axle_group_join(&group), AXLE_OK);
    axle_scope_push();
    assert_int_equal(
        axle_all_reduce(group, axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(3)), AXLE_REDUCE_SUM), AXLE_OK);
    axle_scope_pop();
    assert_int_equal(axle_group_leave(group), AXLE_OK);
    stop();
    load(path);
    const json_t *event = find("name", "all_reduce", 0);
    assert_non_null(event);
    assert_string_equal(text_of(event, "cat"), "collective");
    assert_int_equal(number_of(json_object_get(event, "args"), "bytes"), 12);
}

static void summary_adds_up(void **state)
{
    const char *path = files_path("t.json");
    char *text;
    (void)state;
    start(path);
    for (int k = 0; k < 3; k++)
        work(axle_device_host());
    stop();
    assert_int_equal(axle_profile_summary(&text), AXLE_OK);
    json_t *summary = json_loads(text, 0, NULL), *row;
    size_t k;
    double share = 0.0, last = 1e9;
    int exps = 0;
    json_array_foreach(json_object_get(summary, "operators"), k, row)
    {
        share += number_of(row, "share");
        assert_true(number_of(row, "seconds") <= last);
        last = number_of(row, "seconds");
        if (strcmp(text_of(row, "name"), "unary:exp") == 0)
            exps = (int)number_of(row, "count");
    }
    assert_true(share > 0.999 && share < 1.001);
    assert_int_equal(exps, 3);
    json_decref(summary);
    axle_free(text);
}

/* ------------------------------------------------------------------ the file */

static void setting_turns_it_on(void **state)
{
    const char *path = files_path("mine.json");
    (void)state;
    setenv("AXLE_HOOK", "trace", 1);
    setenv("AXLE_TRACE_FILE", path, 1);
    plugins_reset(NULL, NULL);
    work(axle_device_host());
    assert_int_equal(axle_profile_start(path), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "a trace is being written");
    axle_finalize();
    load(path);
    assert_true(count_of("cat", "operator") > 0);
}

/* A child that dies without a word: what it leaves lacks the bracket at most. */
static void killed_process_leaves_a_trace(void **state)
{
    const char *path = files_path("cut.json");
    static char content[1 << 20];
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        if (axle_profile_start(path))
            _exit(1);
        for (int k = 0; k < 5; k++) {
            work(axle_device_host());
            usleep(120000);
        }
        _exit(0); /* without axle_finalize() and atexit() */
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(content, 1, sizeof(content) - 2, file);
    fclose(file);
    strcpy(content + size, "]");
    trace = json_loads(content, 0, NULL);
    assert_true(json_is_array(trace));
    assert_true(count_of("cat", "operator") > 0);
}

/* A child goes on without the trace, and its parent's file is not its to finish. */
static void forked_child_leaves_the_trace(void **state)
{
    const char *path = files_path("t.json");
    (void)state;
    start(path);
    axle_device *device = open_fake("fake=lazy");
    work(device);
    pid_t child = fork();
    if (child == 0) {
        work(device);
        alarm(20);
        axle_finalize();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    work(device);
    stop();
    load(path);
    assert_int_equal(count_of("time", "events"), count_of("time", "enqueue"));
    unsetenv("AXLE_OPTIONS");
}

static void names_are_apart(void **state)
{
    const char *path = files_path("shared.json");
    char expected[64], with_number[64];
    (void)state;
    int held = open(path, O_CREAT | O_RDWR, 0600);
    assert_int_equal(flock(held, LOCK_EX), 0);
    start(path);
    stop();
    snprintf(expected, sizeof(expected), "shared.%ld.json", (long)getpid());
    load(files_path(expected));
    close(held);
    start(files_path("n-%p.json"));
    stop();
    snprintf(with_number, sizeof(with_number), "n-%ld.json", (long)getpid());
    load(files_path(with_number));
}

static void unwritable_file_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(axle_profile_start("/no/such/folder/t.json"), AXLE_ERR_IO);
    unit_expect_error(AXLE_ERR_IO, "cannot write /no/such/folder/t.json");
    assert_false(axle__hooks_active());
    assert_int_equal(axle_profile_stop(), AXLE_OK);
}

static void full_disk_is_an_error(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        return;
    if (axle_profile_start("/dev/full") == AXLE_OK)
        assert_int_equal(axle_profile_stop(), AXLE_ERR_IO);
    unit_expect_error(AXLE_ERR_IO, "cannot write /dev/full");
}

static void strings_are_escaped(void **state)
{
    char buffer[64];
    axle__text text;
    (void)state;
    axle__text_init(&text, buffer, sizeof(buffer));
    axle__trace_string(&text, "a\"b\\c\n\xff");
    assert_string_equal(buffer, "\"a\\\"b\\\\c\\u000a\\u00ff\"");
}

static const struct CMUnitTest tests[] = {
    TRACE("each run of an operator is an event", operators_are_told),
    TRACE("phases lie around what happens in them", phases_nest),
    TRACE("what began before the trace, or ends after it, is left out", half_points_are_left_out),
    TRACE("operators of a queue are followed to their end", queued_operators_are_followed),
    TRACE("fallbacks, transfers and memory are told", fallbacks_and_memory_are_told),
    TRACE("collectives are told", collectives_are_told),
    TRACE("the summary adds up", summary_adds_up),
    TRACE("AXLE_HOOK and AXLE_TRACE_FILE turn it on", setting_turns_it_on),
    TRACE("a killed process leaves a file that lacks the bracket alone",
          killed_process_leaves_a_trace),
    TRACE("a child of fork() goes on without the trace", forked_child_leaves_the_trace),
    TRACE("files of several processes have different names", names_are_apart),
    TRACE("a file that cannot be written is an error", unwritable_file_is_an_error),
    TRACE("a full disk is an error at the end", full_disk_is_an_error),
    TRACE("strings are escaped", strings_are_escaped),
};

UNIT_MAIN(tests)
