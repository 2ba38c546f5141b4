/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of its own for each test of checkpoints, whose warnings are not shown. */
#ifndef AXLE_TESTS_UNIT_TRAIN_FOLDER_H
#define AXLE_TESTS_UNIT_TRAIN_FOLDER_H

#include <dirent.h>
#include <unistd.h>

#include "tensors.h"

static char folder[64];

/* The path of what is in it; valid for the next seven calls. */
static inline const char *in(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

static inline void remove_all(const char *path)
{
    char command[600];
    snprintf(command, sizeof(command), "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

/* Entries of a folder, hidden ones too. */
static inline int entries(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return count;
}

static inline bool exists(const char *name)
{
    return access(in(name), F_OK) == 0;
}

/* A test in a folder of its own. */
#define CHECKPOINT(sentence, function)                                                             \
    {                                                                                              \
        sentence, function, open_folder, close_folder, NULL                                        \
    }

/* Fail, with the line and the library's words, where a call reports an error. */
#define OK(call)                                                                                   \
    do {                                                                                           \
        if (call)                                                                                  \
            fail_msg("line %d: %s", __LINE__, axle_error_message());                               \
    } while (0)

static inline int open_folder(void **state)
{
    strcpy(folder, "/tmp/axle-checkpoint.XXXXXX");
    axle_log_set_level(3);
    return mkdtemp(folder) ? tensors_open(state) : -1;
}

static inline int close_folder(void **state)
{
    axle_set_default_dtype(AXLE_DTYPE_F32);
    remove_all(folder);
    axle_log_set_level(1);
    return tensors_close(state);
}

#endif
