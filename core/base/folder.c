/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "axle/status.h"
#include "base/memory.h"

enum { FOLDER_MODE = 0777 };

static int failed(const char *what, const char *path, int reason)
{
    return axle_error_set(reason == ENOENT || reason == ENOTDIR ? AXLE_ERR_NOT_FOUND : AXLE_ERR_IO,
                          "cannot %s %s: %s", what, path, strerror(reason));
}

bool axle__folder_exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* `path` is scratch. */
static int make_each(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        int wrong = mkdir(path, FOLDER_MODE) && errno != EEXIST;
        *at = '/';
        if (wrong)
            return -1;
    }
    return mkdir(path, FOLDER_MODE);
}

int axle__folder_make(const char *path)
{
    char *scratch = axle__strdup(path);
    if (!scratch)
        return AXLE_ERR_NOMEM;
    int reason = *path && make_each(scratch) == 0 ? 0 : errno;
    axle__free(scratch);
    if (reason == 0 || (reason == EEXIST && axle__folder_exists(path)))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_IO, "cannot make folder %s: %s", path, strerror(reason));
}

int axle__folder_list(const char *path, axle__list *out)
{
    DIR *folder = opendir(path);
    if (!folder)
        return failed("read", path, errno);
    int code = AXLE_OK;
    for (struct dirent *entry; !code && (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            code = axle__list_take(out, axle__strdup(entry->d_name));
    closedir(folder);
    return code;
}

static int remove_files(int fd, DIR *folder)
{
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (unlinkat(fd, name, 0) && unlinkat(fd, name, AT_REMOVEDIR) && errno != ENOENT)
            return errno;
    }
    return 0;
}

int axle__folder_remove(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return errno == ENOENT ? AXLE_OK : failed("remove", path, errno);
    int reason = remove_files(dirfd(folder), folder);
    closedir(folder);
    if (!reason && rmdir(path))
        reason = errno;
    return reason && reason != ENOENT ? failed("remove", path, reason) : AXLE_OK;
}

int axle__folder_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? AXLE_OK : failed("open", path, errno);
    int reason = fsync(fd) && errno != EINVAL && errno != ENOTSUP ? errno : 0;
    close(fd);
    return reason ? failed("write", path, reason) : AXLE_OK;
}

/* Exchange two names in one step. */
static int exchange(const char *a, const char *b)
{
#ifdef SYS_renameat2
    enum { EXCHANGE = 1 << 1 }; /* RENAME_EXCHANGE of linux/fs.h */
    return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, EXCHANGE);
#else
    (void)a, (void)b;
    errno = ENOSYS;
    return -1;
#endif
}

int axle__folder_replace(const char *from, const char *to, bool *swapped)
{
    *swapped = false;
    if (rename(from, to) == 0)
        return AXLE_OK;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return failed("move a folder to", to, errno);
    *swapped = exchange(from, to) == 0;
    return *swapped ? AXLE_OK : failed("replace", to, errno);
}

char *axle__folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = axle__strdup(slash ? path : ".");
    if (folder && slash)
        folder[slash == path ? 1 : slash - path] = '\0';
    return folder;
}
