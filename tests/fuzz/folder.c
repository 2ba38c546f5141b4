/* SPDX-License-Identifier: Apache-2.0 */
/* The folder that a target reads. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "axle/status.h"
#include "targets.h"

enum { LONGEST_PATH = 4096 };

static int write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return -1;
    size_t written = fwrite(data, 1, size, file);
    return fclose(file) == 0 && written == size ? 0 : -1;
}

static int copy_file(const char *from, const char *to)
{
    static char data[1 << 20];
    FILE *file = fopen(from, "rb");
    if (!file)
        return -1;
    size_t size = fread(data, 1, sizeof(data), file);
    fclose(file);
    return write_file(to, data, size);
}

int fuzz_folder_create(const char *beside, char *path, size_t size)
{
    char from[LONGEST_PATH], to[LONGEST_PATH];
    const char *root = getenv("TMPDIR");
    snprintf(path, size, "%s/axle-fuzz-XXXXXX", root ? root : "/tmp");
    if (!mkdtemp(path))
        return -1;
    DIR *folder = opendir(beside);
    int status = 0;
    for (struct dirent *entry; folder && !status && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        if (snprintf(from, sizeof(from), "%s/%s", beside, entry->d_name) >= (int)sizeof(from) ||
            snprintf(to, sizeof(to), "%s/%s", path, entry->d_name) >= (int)sizeof(to))
            status = -1;
        else
            status = copy_file(from, to);
    }
    if (folder)
        closedir(folder);
    return status;
}

int fuzz_run(const fuzz_target *target, const char *folder, const void *data, size_t size)
{
    char path[LONGEST_PATH];
    if (snprintf(path, sizeof(path), "%s/%s", folder, target->file) >= (int)sizeof(path) ||
        write_file(path, data, size))
        return -1;
    target->read(folder, path);
    axle_error_clear();
    return 0;
}

void fuzz_folder_remove(const char *path)
{
    char name[LONGEST_PATH];
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' &&
            snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) < (int)sizeof(name))
            unlink(name);
    if (folder)
        closedir(folder);
    rmdir(path);
}
