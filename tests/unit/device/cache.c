/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "device/cache.h"

#include <pthread.h>
#include <sys/stat.h>

#include "unit/device/plugins.h"

static int set_up(void **state)
{
    if (files_setup(state))
        return -1;
    setenv("AXLE_CACHE_DIR", files_folder, 1);
    axle__settings_reset();
    return 0;
}

static int tear_down(void **state)
{
    axle__cache_set_limit(UINT64_C(256) << 20);
    axle__cache_set_patience(120000);
    axle_error_clear();
    unlink(files_path(".lock"));
    return files_teardown(state);
}

static void expect_blob(const char *key, const char *blob)
{
    void *found = NULL;
    uint64_t size = 0;
    assert_int_equal(axle__cache_get(key, strlen(key), &found, &size), AXLE_OK);
    assert_int_equal(size, strlen(blob));
    assert_memory_equal(found, blob, size);
    axle__free(found);
}

static void expect_nothing(const char *key)
{
    void *found = NULL;
    uint64_t size = 7;
    assert_int_equal(axle__cache_get(key, strlen(key), &found, &size), AXLE_ERR_NOT_FOUND);
    assert_null(found);
    assert_int_equal(size, 7);
    assert_int_equal(axle_error_code(), AXLE_OK);
}

static void put(const char *key, const char *blob)
{
    assert_int_equal(axle__cache_put(key, strlen(key), blob, strlen(blob)), AXLE_OK);
}

static void entries_come_back(void **state)
{
    (void)state;
    expect_nothing("a");
    put("a", "first");
    put("b", "");
    expect_blob("a", "first");
    expect_blob("b", "");
    put("a", "second");
    expect_blob("a", "second");
    axle__cache_drop("a", 1);
    axle__cache_drop("a", 1);
    expect_nothing("a");
    expect_blob("b", "");
    assert_int_equal(files_count(0), 1);
}

/* Change the one file of the folder: cut it to `size`, or flip a bit at `offset`. */
static void damage(long size, long offset)
{
    DIR *folder = opendir(files_folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        const char *path = files_path(entry->d_name);
        if (size >= 0)
            assert_int_equal(truncate(path, size), 0);
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        if (offset >= 0) {
            fseek(file, offset, SEEK_SET);
            int byte = fgetc(file);
            fseek(file, offset, SEEK_SET);
            fputc(byte ^ 1, file);
        }
        fclose(file);
    }
    closedir(folder);
}

static void damaged_entry_is_absent(void **state)
{
    (void)state;
    static const long cases[][2] = {{0, -1},  {10, -1}, {45, -1}, {-1, 0}, {-1, 8},
                                    {-1, 16}, {-1, 24}, {-1, 32}, {-1, 42}};
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        put("a", "content");
        damage(cases[k][0], cases[k][1]);
        expect_nothing("a");
        put("a", "again");
        expect_blob("a", "again");
        axle__cache_drop("a", 1);
    }
}

static void other_key_is_told_apart(void **state)
{
    (void)state;
    put("a", "content");
    damage(-1, 40); /* now the file is that of another key with the same hash */
    expect_nothing("a");
    assert_int_equal(files_count(0), 1);
}

static void size_is_bounded(void **state)
{
    (void)state;
    char key[16], blob[1000];
    memset(blob, 'x', sizeof(blob));
    axle__cache_set_limit(10000);
    for (int k = 0; k < 40; k++) {
        snprintf(key, sizeof(key), "k%d", k);
        assert_int_equal(axle__cache_put(key, strlen(key), blob, sizeof(blob)), AXLE_OK);
        assert_true(files_count(0) <= 10);
    }
    void *found;
    uint64_t size;
    assert_int_equal(axle__cache_get("k39", 3, &found, &size), AXLE_OK);
    axle__free(found);
    expect_nothing("k0");
    assert_int_equal(axle__cache_put("big", 3, blob, 1 << 20), AXLE_ERR_IO);
    assert_int_equal(axle_error_code(), AXLE_OK);
}

static void absent_folder_is_made(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof(path), "%s/x/y", files_folder);
    setenv("AXLE_CACHE_DIR", path, 1);
    axle__settings_reset();
    put("a", "deep");
    expect_blob("a", "deep");
    axle__cache_drop("a", 1);
    rmdir(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

static void unwritable_folder_is_no_cache(void **state)
{
    (void)state;
    const char *file = files_write_text("file", "");
    char path[256];
    snprintf(path, sizeof(path), "%s/below", file);
    setenv("AXLE_CACHE_DIR", path, 1);
    axle__settings_reset();
    int lock = -7;
    assert_int_equal(axle__cache_put("a", 1, "b", 1), AXLE_ERR_IO);
    assert_int_equal(axle__cache_lock("a", 1, &lock), AXLE_ERR_IO);
    assert_int_equal(lock, -7);
    expect_nothing("a");
    axle__cache_drop("a", 1);
}

/* What another process would do: a lock belongs to the opened file. NULL where it found the blob.
 */
static void *wait_for_blob(void *arg)
{
    int lock;
    void *found = NULL;
    uint64_t size;
    if (axle__cache_lock("a", 1, &lock) != AXLE_OK)
        return arg;
    const int state = axle__cache_get("a", 1, &found, &size);
    axle__free(found);
    axle__cache_unlock(lock);
    return state == AXLE_OK ? NULL : arg;
}

static void others_wait_for_the_maker(void **state)
{
    (void)state;
    int lock, other;
    pthread_t thread;
    void *failed = NULL;
    assert_int_equal(axle__cache_lock("a", 1, &lock), AXLE_OK);
    assert_int_equal(axle__cache_lock("b", 1, &other), AXLE_OK);
    axle__cache_unlock(other);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_blob, state), 0);
    usleep(100000);
    put("a", "made");
    axle__cache_unlock(lock);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
}

static void nobody_waits_for_ever(void **state)
{
    (void)state;
    int lock, again;
    axle__cache_set_patience(30);
    assert_int_equal(axle__cache_lock("a", 1, &lock), AXLE_OK);
    assert_int_equal(axle__cache_lock("a", 1, &again), AXLE_OK);
    axle__cache_unlock(again);
    axle__cache_unlock(lock);
}

static void environment_names_the_folder(void **state)
{
    (void)state;
    char old_home[512] = "", path[256];
    if (getenv("HOME"))
        snprintf(old_home, sizeof(old_home), "%s", getenv("HOME"));
    unsetenv("AXLE_CACHE_DIR");
    axle__settings_reset();
    setenv("XDG_CACHE_HOME", files_folder, 1);
    put("a", "in XDG_CACHE_HOME");
    snprintf(path, sizeof(path), "%s/axle", files_folder);
    axle__cache_drop("a", 1);
    assert_int_equal(rmdir(path), 0);
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", files_folder, 1);
    put("a", "in HOME");
    snprintf(path, sizeof(path), "%s/.cache/axle", files_folder);
    axle__cache_drop("a", 1);
    assert_int_equal(rmdir(path), 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0);
    setenv("HOME", "/nonexistent/home", 1);
    expect_nothing("a");
    unsetenv("HOME");
    expect_nothing("a");
    assert_int_equal(axle__cache_put("a", 1, "b", 1), AXLE_ERR_IO);
    setenv("HOME", old_home, 1);
}

#define CACHE(sentence, function)                                                                  \
    {                                                                                              \
        sentence, function, set_up, tear_down, NULL                                                \
    }

static const struct CMUnitTest tests[] = {
    CACHE("what was put comes back until it is dropped", entries_come_back),
    CACHE("a damaged entry is absent and can be replaced", damaged_entry_is_absent),
    CACHE("an entry of another key is not taken", other_key_is_told_apart),
    CACHE("the folder's size is bounded, and the oldest entries go", size_is_bounded),
    CACHE("a folder that is not there is made", absent_folder_is_made),
    CACHE("a folder that can not be written is no cache", unwritable_folder_is_no_cache),
    CACHE("who wants what another makes waits and finds it", others_wait_for_the_maker),
    CACHE("but not for ever", nobody_waits_for_ever),
    CACHE("XDG_CACHE_HOME and HOME name the folder", environment_names_the_folder),
};
UNIT_MAIN(tests)
