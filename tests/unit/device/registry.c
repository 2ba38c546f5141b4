/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "device/registry.h"

#include <pthread.h>

#include "base/finalize.h"
#include "device/search.h"
#include "unit/device/plugins.h"

static void current_device_is_the_last_pushed(void **state)
{
    (void)state;
    axle_device *a, *b;
    plugins_install("broken", "broken.so", 0);
    plugins_reset("reference", NULL);
    assert_ok(axle_device_open("broken:0", &a));
    assert_ok(axle_device_open("broken:1", &b));
    axle_device *first = axle_device_current();
    assert_string_equal(axle_device_backend(first), "reference");
    assert_ok(axle_device_push(a));
    assert_ok(axle_device_push(b));
    assert_ptr_equal(axle_device_current(), b);
    axle_device_pop();
    assert_ptr_equal(axle_device_current(), a);
    axle_device_pop();
    axle_device_pop();
    assert_ptr_equal(axle_device_current(), first);
    assert_ok(axle_device_set_default(b));
    assert_ptr_equal(axle_device_current(), b);
}

static void *report_current(void *arg)
{
    *(axle_device **)arg = axle_device_current();
    return NULL;
}

static void pushed_device_is_the_threads(void **state)
{
    (void)state;
    axle_device *a, *seen = NULL;
    pthread_t thread;
    plugins_install("broken", "broken.so", 0);
    plugins_reset("reference", NULL);
    assert_ok(axle_device_open("broken", &a));
    axle_device_push(a);
    assert_int_equal(pthread_create(&thread, NULL, report_current, &seen), 0);
    pthread_join(thread, NULL);
    assert_string_equal(axle_device_backend(seen), "reference");
    axle_device_pop();
}

static void threads_open_one_device(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    axle_device *seen[THREADS];
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, report_current, &seen[k]), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    for (int k = 0; k < THREADS; k++)
        assert_ptr_equal(seen[k], seen[0]);
    assert_non_null(seen[0]);
    assert_ptr_equal(seen[0], axle_device_host());
}

static void arguments_are_checked(void **state)
{
    (void)state;
    assert_failed(axle_device_open("reference", NULL), AXLE_ERR_INVALID, NULL);
    assert_failed(axle_device_push(NULL), AXLE_ERR_INVALID, NULL);
    assert_failed(axle_device_set_default(NULL), AXLE_ERR_INVALID, NULL);
    assert_failed(axle_device_synchronize(NULL), AXLE_ERR_INVALID, NULL);
    assert_failed(axle_device_get_stats(NULL, NULL), AXLE_ERR_INVALID, NULL);
    axle_device_trim(NULL);
    assert_string_equal(axle_device_name(NULL), "");
    assert_string_equal(axle_device_backend(NULL), "");
    assert_false(axle_device_supports(NULL, AXLE_DTYPE_F32));
    axle_device *host = axle_device_host();
    for (int k = 0; k < 64; k++)
        assert_ok(axle_device_push(host));
    assert_failed(axle_device_push(host), AXLE_ERR_STATE, "64", NULL);
    for (int k = 0; k < 64; k++)
        axle_device_pop();
}

static void device_says_what_it_is(void **state)
{
    (void)state;
    axle_device *device;
    plugins_install("broken", "broken.so", 0);
    plugins_reset(NULL, NULL);
    assert_ok(axle_device_open("broken", &device));
    assert_true(axle_device_supports(device, AXLE_DTYPE_F32));
    assert_false(axle_device_supports(device, AXLE_DTYPE_F64));
    assert_false(axle_device_supports(device, 1000));
    assert_ok(axle_device_synchronize(device));
    axle__block *block = axle__block_alloc(device, 100);
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    assert_ok(axle_device_get_stats(device, &stats));
    assert_true(stats.bytes_in_use >= 100);
    assert_int_equal(stats.op_runs, 0);
    struct {
        size_t struct_size;
        uint64_t in_use, untouched;
    } older = {offsetof(axle_device_stats, bytes_reserved), 0, 77};
    assert_ok(axle_device_get_stats(device, (axle_device_stats *)(void *)&older));
    assert_int_equal(older.in_use, stats.bytes_in_use);
    assert_int_equal(older.untouched, 77);
    axle__block_free(block);
    axle_device_trim(device);
    assert_ok(axle_device_get_stats(device, &stats));
    assert_int_equal(stats.bytes_reserved, 0);
}

static void search_path_has_its_order(void **state)
{
    (void)state;
    axle__list folders, files;
    char second[128];
    snprintf(second, sizeof(second), "%s/second", files_folder);
    char both[256];
    snprintf(both, sizeof(both), "%s::%s:", files_folder, second);
    setenv("AXLE_PLUGIN_PATH", both, 1);
    axle__settings_reset();
    assert_ok(axle__search_folders(&folders));
    assert_true(folders.count >= 4);
    assert_string_equal(folders.item[0], files_folder);
    assert_string_equal(folders.item[1], second);
    assert_non_null(strstr(folders.item[2], "/axle/backends"));
    axle__list_free(&folders);
    files_write_text("zz.so", "");
    files_write_text("aa.so", "");
    assert_ok(axle__search_all(&files));
    assert_string_equal(files.item[0], files_path("aa.so"));
    axle__list_free(&files);
}

static int finalized;

static void note_finalize(void)
{
    finalized += axle_device_host() != NULL;
}

static void upper_layers_go_first(void **state)
{
    (void)state;
    finalized = 0;
    assert_ok(axle__finalize_register(note_finalize));
    axle_finalize();
    assert_int_equal(finalized, 1);
    axle_finalize();
    assert_int_equal(finalized, 1);
    assert_non_null(axle_device_host());
}

static void installation_is_described(void **state)
{
    (void)state;
    char *text;
    files_write_text("text.so", "no object");
    plugins_install("broken", "broken.so", 0);
    plugins_reset(NULL, "broken.mode=long-names");
    assert_ok(axle_info_json(&text));
    static const char *const parts[] = {"\"version\"",  "\"reference\"",   "xxxxxxxx",
                                        "\"rejected\"", "text.so",         "\"search_path\"",
                                        "\"matmul\"",   "AXLE_PLUGIN_PATH"};
    for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
        assert_non_null(strstr(text, parts[k]));
    axle_free(text);
    assert_failed(axle_info_json(NULL), AXLE_ERR_INVALID, NULL);
}

static void failing_allocation_is_an_error(void **state)
{
    (void)state;
    char *text;
    for (long n = 1;; n++) {
        plugins_reset(NULL, NULL);
        axle__alloc_fail_at(n);
        int code = axle_info_json(&text);
        bool failed = axle__alloc_failed();
        axle__alloc_fail_at(0);
        if (code == AXLE_OK)
            axle_free(text);
        else
            assert_int_equal(axle_error_code(), code);
        axle_error_clear();
        if (!failed)
            break;
    }
    for (long n = 1;; n++) {
        plugins_reset(NULL, NULL);
        axle__alloc_fail_at(n);
        axle_device *device = axle_device_host();
        bool failed = axle__alloc_failed();
        axle__alloc_fail_at(0);
        if (!device)
            unit_expect_error(AXLE_ERR_NOMEM, "out of memory");
        axle_error_clear();
        if (!failed)
            break;
    }
}

static const struct CMUnitTest tests[] = {
    PLUGINS("the current device is the last pushed, else the default",
            current_device_is_the_last_pushed),
    PLUGINS("a pushed device is that of its thread", pushed_device_is_the_threads),
    PLUGINS("threads that start together open one device", threads_open_one_device),
    PLUGINS("arguments are checked", arguments_are_checked),
    PLUGINS("a device says what it is and holds", device_says_what_it_is),
    PLUGINS("AXLE_PLUGIN_PATH comes before the library's own folders", search_path_has_its_order),
    PLUGINS("what uses devices is let go before they close", upper_layers_go_first),
    PLUGINS("the installation is described with what was rejected", installation_is_described),
    PLUGINS("every failing allocation gives an error or a description",
            failing_allocation_is_an_error),
};
UNIT_MAIN(tests)
