/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "temporary.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "axle/status.h"

static const char suffix[] = ".tmp";

/* The process of a name "BASE.PID.tmp"; 0 where it is none. */
static long writer_of(const char *name, const char *base)
{
    size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || name[length] != '.' ||
        !isdigit((unsigned char)name[length + 1]))
        return 0;
    char *end;
    errno = 0;
    long pid = strtol(name + length + 1, &end, 10);
    return errno || strcmp(end, suffix) != 0 ? 0 : pid;
}

static int is_dead(long pid)
{
    return pid > 0 && pid == (long)(pid_t)pid && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static void sweep(DIR *folder, const char *base)
{
    const struct dirent *entry;
    while ((entry = readdir(folder)))
        if (is_dead(writer_of(entry->d_name, base)))
            unlinkat(dirfd(folder), entry->d_name, 0);
}

/* A folder that cannot be read is told of by whoever then opens the file. */
static void sweep_beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    DIR *folder = name ? opendir(name) : NULL;
    if (folder) {
        sweep(folder, slash ? slash + 1 : path);
        closedir(folder);
    }
    free(name);
}

char *temporary_name(const char *path)
{
    char *name;
    sweep_beside(path);
    if (asprintf(&name, "%s.%ld%s", path, (long)getpid(), suffix) >= 0)
        return name;
    axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    return NULL;
}
