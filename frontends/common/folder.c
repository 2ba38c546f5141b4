/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "axle/status.h"
#include "temporary.h"

enum { FILE_MODE = 0666, FOLDER_MODE = 0777 };

static int io_error(const char *path)
{
    return axle_error_set(AXLE_ERR_IO, "%s: %s", path, strerror(errno));
}

static int out_of_memory(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
}

/* mkdir -p; `path` is scratch. Fails where the last one is there, too. */
static int make_folders(char *path)
{
    for (char *slash = path + 1; *path && *slash; slash++) {
        if (*slash != '/')
            continue;
        *slash = '\0';
        int wrong = mkdir(path, FOLDER_MODE) != 0 && errno != EEXIST;
        *slash = '/';
        if (wrong)
            return -1;
    }
    return mkdir(path, FOLDER_MODE);
}

int folder_make(const char *path, int *created)
{
    char *scratch = strdup(path);
    if (!scratch)
        return out_of_memory();
    int made = make_folders(scratch) == 0;
    int code = !made && errno != EEXIST ? io_error(path) : AXLE_OK;
    free(scratch);
    if (!code && created)
        *created = made;
    return code;
}

/* Whether a file can be made: a mode says nothing of read-only mounts and remote servers. */
static int try_file(const char *folder)
{
    char *path, *probe = NULL;
    if (asprintf(&path, "%s/.axle", folder) < 0)
        return out_of_memory();
    int code = (probe = temporary_name(path)) ? AXLE_OK : AXLE_ERR_NOMEM;
    if (!code) {
        int descriptor = open(probe, O_WRONLY | O_CREAT | O_CLOEXEC, FILE_MODE);
        if (descriptor < 0) {
            code = io_error(folder);
        } else {
            close(descriptor);
            unlink(probe);
        }
    }
    free(probe);
    free(path);
    return code;
}

int folder_prepare(const char *path, int *created)
{
    int made;
    int code = folder_make(path, &made);
    if (code)
        return code;
    code = try_file(path);
    if (code && made)
        rmdir(path);
    if (!code && created)
        *created = made;
    return code;
}
