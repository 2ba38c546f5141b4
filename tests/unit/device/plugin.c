/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
/* Backends that break a rule are rejected, with words that say which. */
#include "unit/device/plugins.h"

#include "device/plugin.h"
#include "device/registry.h"

static const struct {
    const char *mode;
    int code;
    const char *words[2];
} broken_modes[] = {
    {"newer-major", AXLE_ERR_ABI, {"needs interface 2", "this Axle offers 1"}},
    {"tiny-table", AXLE_ERR_ABI, {"8 bytes", ""}},
    {"huge-table", AXLE_ERR_ABI, {"4294967295 bytes", ""}},
    {"short-table", AXLE_ERR_ABI, {"lacks the slot device_info", ""}},
    {"no-info", AXLE_ERR_ABI, {"lacks the slot device_info", ""}},
    {"no-open", AXLE_ERR_ABI, {"lacks the slot device_open", ""}},
    {"no-api", AXLE_ERR_ABI, {"lacks the slot device_api", ""}},
    {"no-name", AXLE_ERR_ABI, {"calls itself ''", ""}},
    {"declines", AXLE_ERR_DEVICE, {"declines", "no licence for this moon"}},
    {"of-no-use", AXLE_ERR_DEVICE, {"nothing on this machine", ""}},
    {"no-device", AXLE_ERR_DEVICE, {"0 devices", ""}},
    {"count-fails", AXLE_ERR_DEVICE, {"device_count", "the bus is silent"}},
    {"open-fails", AXLE_ERR_DEVICE, {"can not open", "the cable is out"}},
    {"no-table", AXLE_ERR_ABI, {"lacks the slot buffer_create", ""}},
    {"no-buffers", AXLE_ERR_ABI, {"lacks the slot buffer_create", ""}},
    {"no-map", AXLE_ERR_ABI, {"lacks the slot write", ""}},
};

/* Ask for the backend by name, and expect an error with those words and a list of what is there. */
static void expect_rejection(int code, const char *first, const char *second)
{
    axle_device *device = NULL;
    assert_failed(axle_device_open("broken", &device), code, first, second, NULL);
    assert_null(device);
}

static void rules_are_told(void **state)
{
    (void)state;
    plugins_install("broken", "broken.so", 0);
    for (size_t k = 0; k < sizeof(broken_modes) / sizeof(broken_modes[0]); k++) {
        char options[64];
        snprintf(options, sizeof(options), "broken.mode=%s", broken_modes[k].mode);
        plugins_reset(NULL, options);
        expect_rejection(broken_modes[k].code, broken_modes[k].words[0], broken_modes[k].words[1]);
    }
}

static void crashes_are_survived(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"probe-crashes", "crashed in probe", "SIGSEGV"},
        {"probe-aborts", "crashed in probe", "SIGABRT"},
        {"init-crashes", "crashed in axle_plugin_init_v1", "SIGSEGV"},
        {"info-crashes", "crashed in device_info", "SIGSEGV"},
        {"wild-table", "crashed in its table", "SIGSEGV"},
        {"wild-name", "crashed in its table", "SIGSEGV"},
#if !defined(__SANITIZE_THREAD__)
        {"probe-overflows", "crashed in probe", "SIGSEGV"},
#endif
    };
    plugins_install("broken", "broken.so", 0);
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        char options[64];
        snprintf(options, sizeof(options), "broken.mode=%s", cases[k][0]);
        plugins_reset(NULL, options);
        expect_rejection(AXLE_ERR_DEVICE, cases[k][1], cases[k][2]);
        assert_non_null(strstr(plugins_log, "crashed in"));
    }
}

static void automatic_choice_passes_a_crash(void **state)
{
    (void)state;
    axle_device *device;
    plugins_install("broken", "broken.so", 0);
    plugins_reset("auto", "broken.mode=probe-crashes,broken.score=99");
    assert_ok(axle_device_open(NULL, &device));
    assert_string_equal(axle_device_backend(device), "reference");
    assert_int_equal(axle_error_code(), AXLE_OK);
    assert_non_null(strstr(plugins_log, "crashed in probe"));
}

static void hang_is_ended(void **state)
{
    (void)state;
    plugins_install("broken", "broken.so", 0);
    plugins_reset(NULL, "broken.mode=probe-hangs");
    axle__plugin_set_limit(2000);
    expect_rejection(AXLE_ERR_TIMEOUT, "did not return from probe", "2 seconds");
    axle__plugin_set_limit(30000);
}

static void newer_minor_serves(void **state)
{
    (void)state;
    axle_device *device;
    plugins_install("broken", "broken.so", 0);
    plugins_reset("broken", "broken.mode=newer-minor");
    assert_ok(axle_device_open(NULL, &device));
    assert_string_equal(axle_device_backend(device), "broken");
}

static void files_that_are_no_plugin(void **state)
{
    (void)state;
    axle_device *device;
    files_write_text("text.so", "this is no shared object\n");
    files_write_text("empty.so", "");
    plugins_install("broken", "half.so", 5000);
    plugins_install("broken", "head.so", 70);
    plugins_install("newer", "newer.so", 0);
    plugins_reset(NULL, NULL);
    assert_failed(axle_device_open("text", &device), AXLE_ERR_DEVICE, "can not be loaded",
                  "text.so", "there are: reference", NULL);
    assert_failed(axle_device_open("empty", &device), AXLE_ERR_DEVICE, "empty.so", NULL);
    assert_failed(axle_device_open("half", &device), AXLE_ERR_FORMAT, "is cut off", NULL);
    assert_failed(axle_device_open("head", &device), AXLE_ERR_FORMAT, "is cut off", NULL);
    assert_failed(axle_device_open("newer", &device), AXLE_ERR_ABI, "needs interface 2", NULL);
    assert_failed(axle_device_open(files_path("newer.so"), &device), AXLE_ERR_ABI,
                  "needs interface 2", NULL);
}

static void name_must_be_the_files(void **state)
{
    (void)state;
    axle_device *device;
    plugins_install("broken", "other.so", 0);
    plugins_reset(NULL, NULL);
    assert_failed(axle_device_open("other", &device), AXLE_ERR_ABI, "calls itself 'broken'",
                  "other.so", NULL);
    plugins_reset(NULL, "broken.name=other");
    assert_ok(axle_device_open("other", &device));
    plugins_reset(NULL, "broken.name=Other");
    assert_failed(axle_device_open("other", &device), AXLE_ERR_ABI, "calls itself 'Other'", NULL);
}

static void unterminated_names_are_ended(void **state)
{
    (void)state;
    axle_device *device;
    plugins_install("broken", "broken.so", 0);
    plugins_reset(NULL, "broken.mode=long-names");
    assert_ok(axle_device_open("broken", &device));
    assert_int_equal(strlen(axle_device_name(device)), 127);
}

static void reason_is_kept(void **state)
{
    (void)state;
    axle_device *device;
    plugins_install("broken", "broken.so", 0);
    plugins_reset(NULL, "broken.mode=probe-crashes");
    for (int k = 0; k < 2; k++)
        assert_failed(axle_device_open("broken", &device), AXLE_ERR_DEVICE, "crashed in probe",
                      NULL);
    char *first = strstr(plugins_log, "is not used");
    assert_non_null(first);
    assert_null(strstr(first + 1, "is not used"));
}

static void shut_down_once(void **state)
{
    (void)state;
    axle_device *device;
    plugins_install("broken", "broken.so", 0);
    plugins_reset(NULL, NULL);
    assert_ok(axle_device_open("broken", &device));
    axle_finalize();
    axle_finalize();
    char *first = strstr(plugins_log, "shut down");
    assert_non_null(first);
    assert_null(strstr(first + 1, "shut down"));
}

static const struct CMUnitTest tests[] = {
    PLUGINS("a backend that breaks the interface's rules is rejected and the rule told",
            rules_are_told),
    PLUGINS("a backend that crashes in its first calls is rejected", crashes_are_survived),
    PLUGINS("the automatic choice passes a backend that crashes", automatic_choice_passes_a_crash),
    PLUGINS("a backend that hangs in probe is rejected after a time", hang_is_ended),
    PLUGINS("a backend of a newer minor version serves", newer_minor_serves),
    PLUGINS("files that are no backend are rejected with the loader's words",
            files_that_are_no_plugin),
    PLUGINS("a backend must have the name of its file", name_must_be_the_files),
    PLUGINS("names that a backend does not terminate are cut", unterminated_names_are_ended),
    PLUGINS("a rejected backend is not loaded twice, and its reason is kept", reason_is_kept),
    PLUGINS("a backend is shut down once", shut_down_once),
};
UNIT_MAIN(tests)
