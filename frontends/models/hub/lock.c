/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process at a time brings a blob, ours and the Python library's: flock() on
 * .locks/MODEL/ETAG.lock. The kernel gives the lock back when a process dies. The library may
 * remove the file when it is done, so a lock counts only on the file that has the name still.
 */
#define _GNU_SOURCE 1
#include "hub.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const double look_again = 0.1;

static bool still_has_name(int descriptor, const char *path)
{
    struct stat held, named;
    return fstat(descriptor, &held) == 0 && stat(path, &named) == 0 &&
           held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

/* One look: *out is the descriptor, or -1 while another process has the lock. */
static int try_lock(axle__hub_request *request, const char *path, int *out)
{
    *out = -1;
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0664);
    if (descriptor < 0)
        return axle__hub_io_error(request, path);
    int code = AXLE_OK;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 && still_has_name(descriptor, path)) {
        *out = descriptor;
        return AXLE_OK;
    }
    if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP)
        code = axle__hub_io_error(request, path);
    close(descriptor);
    return code;
}

int axle__hub_lock(axle__hub_request *request, const char *etag, int *out)
{
    char *path;
    bool told = false;
    if (asprintf(&path, "%s/%s.lock", request->locks, etag) < 0)
        return axle__hub_out_of_memory(request);
    int code = axle__hub_make_parents(request, path);
    for (*out = -1; !code && *out < 0;) {
        errno = 0;
        code = try_lock(request, path, out);
        if (code || *out >= 0)
            break;
        if (!told)
            axle_log_write(1, "hub", "%s: waiting for another process that downloads %s",
                           request->model, request->progress.file);
        told = true;
        code = axle__hub_wait(request, look_again);
    }
    free(path);
    return code;
}
