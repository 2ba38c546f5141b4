/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of files share: a folder of their own, crafted files, and errors with their words. */
#ifndef AXLE_TESTS_UNIT_FILES_H
#define AXLE_TESTS_UNIT_FILES_H

#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <dirent.h>

#include <cmocka.h>

#include "axle/status.h"
#include "base/memory.h"

static char files_folder[64];

static inline int files_setup(void **state)
{
    (void)state;
    strcpy(files_folder, "/tmp/axle-unit.XXXXXX");
    return mkdtemp(files_folder) ? 0 : -1;
}

/* The path of a file in the folder; valid for the next seven calls. */
static inline const char *files_path(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof(paths[0]), "%s/%s", files_folder, name);
    return path;
}

/* Number of files, after which the folder is empty if `remove` is not 0. */
static inline int files_count(int remove)
{
    int count = 0;
    DIR *folder = opendir(files_folder);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (remove)
            unlink(files_path(entry->d_name));
    }
    closedir(folder);
    return count;
}

static inline int files_teardown(void **state)
{
    (void)state;
    files_count(1);
    return rmdir(files_folder);
}

/* Write a file; returns its path. */
static inline const char *files_write(const char *name, const void *bytes, size_t size)
{
    const char *path = files_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *files_write_text(const char *name, const char *text)
{
    return files_write(name, text, strlen(text));
}

/* The call failed with that code, the recorded message holds each of the words (a NULL ends them),
 * and the record is clean again. */
static inline void assert_failed(int code, int expected, ...)
{
    va_list words;
    if (code != expected || axle_error_code() != expected)
        fail_msg("code %d (%s), expected %d", code, axle_error_message(), expected);
    va_start(words, expected);
    for (const char *word; (word = va_arg(words, const char *));)
        if (!strstr(axle_error_message(), word))
            fail_msg("'%s' does not say '%s'", axle_error_message(), word);
    va_end(words);
    axle_error_clear();
}

static inline void assert_ok(int code)
{
    if (code)
        fail_msg("%d: %s", code, axle_error_message());
}

/* Run `call` with its first allocation failing, then its second, until none is left to fail. `undo`
 * is run after each success. */
#define EACH_ALLOCATION_FAILS(call, undo)                                                          \
    for (long nth = 1;; nth++) {                                                                   \
        axle__alloc_fail_at(nth);                                                                  \
        int code = (call);                                                                         \
        int failed = axle__alloc_failed();                                                         \
        axle__alloc_fail_at(0);                                                                    \
        if (!code) {                                                                               \
            undo;                                                                                  \
            if (!failed)                                                                           \
                break;                                                                             \
            continue;                                                                              \
        }                                                                                          \
        assert_true(failed);                                                                       \
        assert_failed(code, AXLE_ERR_NOMEM, NULL);                                                 \
    }

#endif
