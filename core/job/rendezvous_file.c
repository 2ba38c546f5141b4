/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file holds a notice. It is created with O_EXCL: of two processes that claim to be rank 0, one
 * sees the other's.
 */
#include "job/rendezvous_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "axle/status.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "job/notice.h"

enum { TRIES = 20 };

/* A file without an end that is younger may still be being written. */
enum { WRITING_SECONDS = 2 };

typedef struct file_rendezvous {
    axle__rendezvous base;
    int64_t deadline;
    char *path, *job;
    char *published; /* the file's content; NULL where this process published nothing */
} file_rendezvous;

/* "axle-JOB.address", with what may not stand in a name of a file replaced; such names are told
 * apart by a number made of the whole. */
static char *file_name(const char *folder, const char *job)
{
    char name[80];
    uint32_t hash = 2166136261u;
    size_t length = 0;
    bool is_whole = true;
    for (const char *c = job; *c; c++) {
        bool fits = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                    (*c >= '0' && *c <= '9') || *c == '-' || *c == '_' || *c == '.';
        hash = (hash ^ (unsigned char)*c) * 16777619u;
        is_whole = is_whole && fits && length + 1 < sizeof(name);
        if (length + 1 < sizeof(name))
            name[length++] = *c;
        if (!fits && length > 0)
            name[length - 1] = '_';
    }
    name[length] = '\0';
    if (is_whole)
        return axle__format("%s/axle-%s.address", folder, length ? name : "job");
    return axle__format("%s/axle-%s-%08x.address", folder, name, (unsigned)hash);
}

/* The file's content; false where there is none, and errno says why. */
static bool read_file(const char *path, char text[AXLE__NOTICE_SIZE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    size_t length = 0;
    ssize_t got;
    while ((got = read(fd, text + length, AXLE__NOTICE_SIZE - 1 - length)) > 0)
        length += (size_t)got;
    int reason = errno;
    close(fd);
    text[length] = '\0';
    errno = reason;
    return got == 0;
}

static void close_file(axle__rendezvous *rendezvous)
{
    char text[AXLE__NOTICE_SIZE];
    file_rendezvous *file = (file_rendezvous *)rendezvous;
    if (file->published && read_file(file->path, text) && strcmp(text, file->published) == 0)
        unlink(file->path);
    axle__free(file->path);
    axle__free(file->job);
    axle__free(file->published);
    axle__free(file);
}

static int open_file(const char *where, const char *job, int64_t deadline, axle__rendezvous **out)
{
    struct stat about;
    const char *folder = where + strlen("file://");
    if (stat(folder, &about) != 0 || !S_ISDIR(about.st_mode))
        return axle_error_set(AXLE_ERR_IO, "AXLE_RENDEZVOUS=%s: there is no folder %s", where,
                              folder);
    file_rendezvous *file = axle__alloc(1, sizeof(*file));
    if (!file)
        return AXLE_ERR_NOMEM;
    file->base.kind = &axle__rendezvous_file;
    file->deadline = deadline;
    file->path = file_name(folder, job);
    file->job = axle__strdup(job);
    if (!file->path || !file->job) {
        close_file(&file->base);
        return AXLE_ERR_NOMEM;
    }
    *out = &file->base;
    return AXLE_OK;
}

static bool is_old(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && time(NULL) - about.st_mtime > WRITING_SECONDS;
}

/* Remove a file that is still what was judged. */
static void reclaim(const char *path, const char *judged)
{
    char text[AXLE__NOTICE_SIZE];
    if (read_file(path, text) && strcmp(text, judged) == 0 && unlink(path) == 0)
        axle__info("group", "removed %s, which a dead job left behind", path);
}

/* What another process published in this job's name: removed where that process is dead. */
static int judge(const file_rendezvous *file)
{
    char text[AXLE__NOTICE_SIZE];
    axle__notice found;
    if (!read_file(file->path, text)) {
        if (errno == ENOENT)
            return AXLE_OK;
        return axle_error_set(AXLE_ERR_IO, "cannot read %s: %s", file->path, strerror(errno));
    }
    if (!axle__notice_parse(text, &found)) {
        if (is_old(file->path))
            reclaim(file->path, text);
        return AXLE_OK;
    }
    axle__life life = axle__notice_life(&found, file->deadline);
    if (life != AXLE__LIFE_DEAD)
        return axle__notice_busy(&found, life, file->path);
    reclaim(file->path, text);
    return AXLE_OK;
}

static bool write_whole(int fd, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t written = write(fd, text, left);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            text += written;
            left -= (size_t)written;
        }
    }
    return true;
}

/* Create the file; AXLE_ERR_NOT_READY, unrecorded, where another one is there. */
static int create(const file_rendezvous *file, const char *text)
{
    int fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return AXLE_ERR_NOT_READY;
    bool good = fd >= 0 && write_whole(fd, text);
    int reason = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (good)
        return AXLE_OK;
    if (fd >= 0)
        unlink(file->path);
    return axle_error_set(AXLE_ERR_IO, "cannot write %s: %s", file->path, strerror(reason));
}

static int publish_file(axle__rendezvous *rendezvous, int port)
{
    file_rendezvous *file = (file_rendezvous *)rendezvous;
    char *text = axle__notice_compose(file->job, port);
    if (!text)
        return AXLE_ERR_NOMEM;
    int code = AXLE_ERR_NOT_READY;
    for (int k = 0; k < TRIES && code == AXLE_ERR_NOT_READY; k++) {
        struct timespec pause = axle__clock_timespec(k * 20 * AXLE__MILLISECOND);
        nanosleep(&pause, NULL);
        code = create(file, text);
        int judged = code == AXLE_ERR_NOT_READY ? judge(file) : AXLE_OK;
        code = judged ? judged : code;
    }
    if (code == AXLE_OK) {
        file->published = text;
        return AXLE_OK;
    }
    axle__free(text);
    if (code != AXLE_ERR_NOT_READY)
        return code;
    return axle_error_set(AXLE_ERR_BUSY, "%s belongs to no rank 0 and stays; delete it",
                          file->path);
}

static int find_file(axle__rendezvous *rendezvous, char *hosts, size_t hosts_size, int *port,
                     char *reason, size_t reason_size)
{
    char text[AXLE__NOTICE_SIZE];
    axle__notice found;
    file_rendezvous *file = (file_rendezvous *)rendezvous;
    const char *why;
    if (read_file(file->path, text))
        why = axle__notice_read(text, file->job, &found);
    else
        why = errno == ENOENT ? "rank 0 has not written it yet" : strerror(errno);
    if (why) {
        snprintf(reason, reason_size, "%s: %s", file->path, why);
        return AXLE_ERR_NOT_READY;
    }
    snprintf(hosts, hosts_size, "%s", axle__notice_hosts(&found));
    *port = found.port;
    return AXLE_OK;
}

const axle__rendezvous_kind axle__rendezvous_file = {.scheme = "file:///",
                                                     .open = open_file,
                                                     .publish = publish_file,
                                                     .find = find_file,
                                                     .close = close_file};
