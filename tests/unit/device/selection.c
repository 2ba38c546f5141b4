/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
/* AXLE_BACKEND's grammar, and what is told when it can not be met. */
#include "unit/device/plugins.h"

#include "device/registry.h"

static int set_up(void **state)
{
    if (plugins_setup(state))
        return -1;
    plugins_install("broken", "broken.so", 0);
    plugins_reset(NULL, NULL);
    return 0;
}

static void expect_device(const char *spec, const char *backend, const char *name)
{
    axle_device *device = NULL;
    assert_ok(axle_device_open(spec, &device));
    assert_string_equal(axle_device_backend(device), backend);
    assert_string_equal(axle_device_name(device), name);
}

static void device_is_chosen(void **state)
{
    (void)state;
    expect_device("broken", "broken", "Radish 100");
    expect_device("broken:0", "broken", "Radish 100");
    expect_device("broken:1", "broken", "Turnip 200");
    expect_device("broken:tURNIP", "broken", "Turnip 200");
    expect_device(" broken:1 ", "broken", "Turnip 200");
    expect_device(files_path("broken.so"), "broken", "Radish 100");
    char path[300];
    snprintf(path, sizeof(path), "%s:turn", files_path("broken.so"));
    expect_device(path, "broken", "Turnip 200");
}

static void a_kind_chooses_the_first_of_it(void **state)
{
    (void)state;
    axle_device *device;
    expect_device("broken:gpu", "broken", "Radish 100");
    expect_device("broken:GPU", "broken", "Radish 100");
    assert_failed(axle_device_open("broken:cpu", &device), AXLE_ERR_NOT_FOUND, "no device 'cpu'",
                  "0 (Radish 100)", NULL);
}

static void processes_take_turns(void **state)
{
    (void)state;
    axle__select_for_process(1);
    expect_device("broken", "broken", "Turnip 200");
    expect_device("broken:0", "broken", "Radish 100");
    axle__select_for_process(2);
    expect_device("broken", "broken", "Radish 100");
    axle__select_for_process(5);
    expect_device("nothing,broken", "broken", "Turnip 200");
    expect_device("reference", "reference", "reference CPU");
    axle__select_for_process(0);
}

static void missing_device_lists_devices(void **state)
{
    (void)state;
    static const char *const specs[] = {"broken:9", "broken:-1", "broken:abc", "broken:2"};
    axle_device *device;
    for (size_t k = 0; k < sizeof(specs) / sizeof(specs[0]); k++)
        assert_failed(axle_device_open(specs[k], &device), AXLE_ERR_NOT_FOUND, "has no device",
                      strchr(specs[k], ':') + 1, "0 (Radish 100)", "1 (Turnip 200)", NULL);
}

static void unknown_backend_lists_backends(void **state)
{
    (void)state;
    axle_device *device;
    assert_failed(axle_device_open("brokn", &device), AXLE_ERR_NOT_FOUND, "no backend 'brokn'",
                  "did you mean 'broken'?", "there are: reference, broken", files_folder, NULL);
    assert_failed(axle_device_open("/no/such.so", &device), AXLE_ERR_NOT_FOUND, "/no/such.so",
                  NULL);
}

static void first_that_works_is_taken(void **state)
{
    (void)state;
    expect_device("nothing,broken:1,reference", "broken", "Turnip 200");
    expect_device("broken:7, reference", "reference", "reference CPU");
    expect_device("nothing,auto", "reference", "reference CPU");
    axle_device *device;
    assert_failed(axle_device_open("nothing,broken:7", &device), AXLE_ERR_NOT_FOUND,
                  "no backend 'nothing'", "no device '7'", NULL);
}

static void best_score_is_taken(void **state)
{
    (void)state;
    expect_device("auto", "reference", "reference CPU");
    plugins_reset(NULL, "broken.score=99");
    expect_device("auto", "broken", "Radish 100");
    expect_device("", "broken", "Radish 100");
    expect_device("^broken", "reference", "reference CPU");
    expect_device("^reference", "broken", "Radish 100");
    expect_device("^unheard_of, broken", "reference", "reference CPU");
    plugins_reset(NULL, "broken.score=99,broken.mode=open-fails");
    expect_device("auto", "reference", "reference CPU");
    assert_int_equal(axle_error_code(), AXLE_OK);
}

static void exclusion_opens_nothing_excluded(void **state)
{
    (void)state;
    plugins_reset("^broken", "broken.mode=probe-crashes");
    expect_device(NULL, "reference", "reference CPU");
    assert_null(strstr(plugins_log, "crashed"));
    plugins_reset("reference", "broken.mode=probe-crashes");
    expect_device(NULL, "reference", "reference CPU");
    assert_null(strstr(plugins_log, "crashed"));
    axle_device *device;
    assert_failed(axle_device_open("^broken,reference", &device), AXLE_ERR_NOT_FOUND, "excluded",
                  NULL);
}

static void all_reasons_are_told(void **state)
{
    (void)state;
    axle_device *device;
    files_write_text("text.so", "no object");
    plugins_reset(NULL, "broken.mode=open-fails");
    assert_failed(axle_device_open("^reference", &device), AXLE_ERR_DEVICE, "the cable is out",
                  "text.so", NULL);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "a,,b",        ",", "broken:", "Broken",    "br oken", "./broken.so", "a/b.so",
        "/tmp/broken", "^", "^a,^b",   "broken,^a", ":1",      "br-oken",     "broken.so"};
    axle_device *device;
    for (size_t k = 0; k < sizeof(specs) / sizeof(specs[0]); k++) {
        int code = axle_device_open(specs[k], &device);
        if (strncmp(specs[k], "broken,", 7) == 0)
            assert_ok(code); /* the first item works */
        else
            assert_failed(code, AXLE_ERR_INVALID, specs[k], NULL);
    }
}

static void setting_is_named(void **state)
{
    (void)state;
    axle_device *device;
    plugins_reset("brokn", NULL);
    assert_failed(axle_device_open(NULL, &device), AXLE_ERR_NOT_FOUND, "AXLE_BACKEND=brokn", NULL);
    assert_null(axle_device_current());
    unit_expect_error(AXLE_ERR_NOT_FOUND, "AXLE_BACKEND=brokn");
}

static void earlier_error_stays(void **state)
{
    (void)state;
    axle_device *device;
    axle_error_set(AXLE_ERR_SHAPE, "first");
    assert_int_equal(axle_device_open("brokn", &device), AXLE_ERR_NOT_FOUND);
    assert_ok(axle_device_open("nothing,broken", &device));
    unit_expect_error(AXLE_ERR_SHAPE, "first");
}

static void same_device_is_found_again(void **state)
{
    (void)state;
    axle_device *a, *b, *c;
    assert_ok(axle_device_open("broken:1", &a));
    assert_ok(axle_device_open(files_path("broken.so"), &b));
    assert_ok(axle_device_open("broken:turn", &c));
    assert_ptr_equal(a, c);
    assert_ptr_not_equal(a, b);
}

static void only_proper_names_are_found(void **state)
{
    (void)state;
    static const char *const names[] = {"Upper.so", "da-sh.so",   "libx.so.1",
                                        ".so",      ".hidden.so", "a.b.so"};
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        files_write_text(names[k], "");
    files_write_text("reference.so", "");
    axle_device *device;
    assert_failed(axle_device_open("zzz", &device), AXLE_ERR_NOT_FOUND,
                  "there are: reference, broken; looked", NULL);
    unlink(files_path(".so"));
    unlink(files_path(".hidden.so"));
}

static void failing_allocation_is_an_error(void **state)
{
    (void)state;
    axle_device *device;
    EACH_ALLOCATION_FAILS(axle_device_open("reference", &device), plugins_reset(NULL, NULL));
    for (long n = 1;; n++) {
        plugins_reset(NULL, NULL);
        axle__alloc_fail_at(n);
        int code = axle_device_open("nothing,broken:turn", &device);
        bool failed = axle__alloc_failed();
        axle__alloc_fail_at(0);
        assert_true(code == AXLE_OK || (failed && axle_error_code() == code));
        axle_error_clear();
        if (!failed)
            break;
    }
}

#define SELECTION(sentence, function)                                                              \
    {                                                                                              \
        sentence, function, set_up, plugins_teardown, NULL                                         \
    }

static const struct CMUnitTest tests[] = {
    SELECTION("a device is chosen by name, number, part of its name, or path", device_is_chosen),
    SELECTION("a kind chooses the first device of it", a_kind_chooses_the_first_of_it),
    SELECTION("processes of a host take turns at the GPUs", processes_take_turns),
    SELECTION("a device that is not there is an error that lists devices",
              missing_device_lists_devices),
    SELECTION("a backend that is not there is an error that lists backends",
              unknown_backend_lists_backends),
    SELECTION("of a list the first that works is taken", first_that_works_is_taken),
    SELECTION("auto takes the best that opens", best_score_is_taken),
    SELECTION("what is excluded, or not asked for, is not opened",
              exclusion_opens_nothing_excluded),
    SELECTION("where nothing works all reasons are told", all_reasons_are_told),
    SELECTION("a mistake in the specification is told", mistakes_are_told),
    SELECTION("errors name the setting that they come from", setting_is_named),
    SELECTION("an error recorded before stays", earlier_error_stays),
    SELECTION("a device is opened once, however it is named", same_device_is_found_again),
    SELECTION("only files with proper names are backends", only_proper_names_are_found),
    SELECTION("every failing allocation gives an error or another choice",
              failing_allocation_is_an_error),
};
UNIT_MAIN(tests)
