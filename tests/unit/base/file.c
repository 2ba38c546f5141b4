/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/file.h"

static int write_whole(const char *path, const void *data, size_t size)
{
    axle__file_writer *writer;
    int code = axle__file_writer_open(path, &writer);
    if (code)
        return code;
    axle__file_writer_write(writer, data, size);
    return axle__file_writer_commit(writer);
}

static void assert_content(const char *path, const char *text)
{
    char *data;
    size_t size;
    assert_ok(axle__file_read(path, &data, &size));
    assert_int_equal(size, strlen(text));
    assert_string_equal(data, text);
    axle__free(data);
}

static void a_file_is_read_whole(void **state)
{
    (void)state;
    axle__file_map map;
    assert_content(files_write_text("text", "some text"), "some text");
    assert_content(files_write_text("empty", ""), "");
    assert_ok(axle__file_map_open(files_path("text"), &map));
    assert_int_equal(map.size, 9);
    assert_memory_equal(map.data, "some text", 9);
    axle__file_map_close(&map);
    assert_ok(axle__file_map_open(files_path("empty"), &map));
    assert_null(map.data);
    axle__file_map_close(&map);
}

static void a_pipe_is_read_to_its_end(void **state)
{
    (void)state;
    int ends[2];
    char path[32], *data;
    size_t size;
    axle__file_map map;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "through a pipe", 14), 14);
    close(ends[1]);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    assert_failed(axle__file_map_open(path, &map), AXLE_ERR_IO, path, "not a regular file", NULL);
    assert_ok(axle__file_read(path, &data, &size));
    assert_int_equal(size, 14);
    assert_string_equal(data, "through a pipe");
    axle__free(data);
    close(ends[0]);
}

static void a_missing_file_is_named(void **state)
{
    (void)state;
    char *data;
    size_t size;
    axle__file_map map;
    const char *path = files_path("missing");
    assert_failed(axle__file_read(path, &data, &size), AXLE_ERR_NOT_FOUND, path, "No such file",
                  NULL);
    assert_failed(axle__file_map_open(path, &map), AXLE_ERR_NOT_FOUND, path, "No such file", NULL);
    assert_failed(axle__file_read(files_folder, &data, &size), AXLE_ERR_IO, "Is a directory", NULL);
}

static void a_file_appears_with_the_commit(void **state)
{
    (void)state;
    axle__file_writer *writer;
    const char *path = files_path("new");
    files_count(1);
    assert_ok(axle__file_writer_open(path, &writer));
    assert_ok(axle__file_writer_write(writer, "one ", 4));
    assert_ok(axle__file_writer_write(writer, "two", 3));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_ok(axle__file_writer_commit(writer));
    assert_content(path, "one two");
    assert_int_equal(files_count(0), 1);
}

static void the_permissions_follow_the_umask(void **state)
{
    (void)state;
    struct stat about;
    mode_t before = umask(027);
    assert_ok(write_whole(files_path("mode"), "x", 1));
    umask(before);
    assert_int_equal(stat(files_path("mode"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
}

static void giving_up_leaves_what_was_there(void **state)
{
    (void)state;
    axle__file_writer *writer;
    files_count(1);
    const char *path = files_write_text("kept", "old");
    assert_ok(axle__file_writer_open(path, &writer));
    assert_ok(axle__file_writer_write(writer, "new", 3));
    axle__file_writer_abort(writer);
    axle__file_writer_abort(NULL);
    assert_content(path, "old");
    assert_int_equal(files_count(0), 1);
}

static void a_full_disk_is_an_error_and_leaves_no_partial_file(void **state)
{
    (void)state;
    struct rlimit limit, small;
    files_count(1);
    const char *path = files_write_text("kept", "old");
    char *data = calloc(1, 10000);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 5000;
    setrlimit(RLIMIT_FSIZE, &small);
    int code = write_whole(path, data, 10000);
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_DFL);
    free(data);
    assert_failed(code, AXLE_ERR_IO, path, strerror(EFBIG), NULL);
    assert_content(path, "old");
    assert_int_equal(files_count(0), 1);
}

static void a_place_that_cannot_be_written_is_named(void **state)
{
    (void)state;
    assert_failed(write_whole("/nonexistent/file", "x", 1), AXLE_ERR_IO,
                  "cannot write /nonexistent/file", "No such file", NULL);
    assert_failed(write_whole(files_folder, "x", 1), AXLE_ERR_IO, files_folder,
                  "not a regular file", NULL);
    assert_failed(write_whole("/dev/null", "x", 1), AXLE_ERR_IO, "/dev/null", "not a regular file",
                  NULL);
    /* Root may write anywhere. */
    if (getuid() != 0) {
        chmod(files_folder, 0500);
        int code = write_whole(files_path("denied"), "x", 1);
        chmod(files_folder, 0700);
        assert_failed(code, AXLE_ERR_IO, "denied", "Permission denied", NULL);
    }
}

static void a_failed_allocation_is_an_error(void **state)
{
    (void)state;
    char *data;
    size_t size;
    files_count(1);
    EACH_ALLOCATION_FAILS(write_whole(files_path("a"), "x", 1), (void)0);
    assert_int_equal(files_count(0), 1);
    EACH_ALLOCATION_FAILS(axle__file_read(files_path("a"), &data, &size), axle__free(data));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_whole),
        cmocka_unit_test(a_pipe_is_read_to_its_end),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(a_file_appears_with_the_commit),
        cmocka_unit_test(the_permissions_follow_the_umask),
        cmocka_unit_test(giving_up_leaves_what_was_there),
        cmocka_unit_test(a_full_disk_is_an_error_and_leaves_no_partial_file),
        cmocka_unit_test(a_place_that_cannot_be_written_is_named),
        cmocka_unit_test(a_failed_allocation_is_an_error),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("files", tests, files_setup, files_teardown);
}
