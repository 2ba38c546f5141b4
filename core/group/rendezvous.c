/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file holds a line for each thing to know, and "end", so that a half-written one is
 * recognised. It is created with O_EXCL: of two processes that claim to be rank 0, one sees the
 * other's.
 */
#include "group/rendezvous.h"

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
#include "group/owner.h"
#include "group/socket.h"

enum { FILE_SIZE = 2048, TRIES = 20, PROBE_SECONDS = 2 };

/* A file without an end that is younger may still be being written. */
enum { WRITING_SECONDS = 2 };

struct axle__rendezvous {
    char *path, *job;
    char *published; /* the file's content; NULL where this process published nothing */
};

typedef struct notice {
    axle__owner owner;
    char job[128], hosts[512];
    int port;
} notice;

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

int axle__rendezvous_open(const char *where, const char *job, axle__rendezvous **out)
{
    struct stat about;
    if (strncmp(where, "redis://", 8) == 0)
        return axle_error_set(AXLE_ERR_UNSUPPORTED,
                              "AXLE_RENDEZVOUS=%s: this build meets through file:///folder only",
                              where);
    if (strncmp(where, "file:///", 8) != 0)
        return axle_error_set(AXLE_ERR_INVALID, "AXLE_RENDEZVOUS=%s is not file:///folder", where);
    const char *folder = where + 7;
    if (stat(folder, &about) != 0 || !S_ISDIR(about.st_mode))
        return axle_error_set(AXLE_ERR_IO, "AXLE_RENDEZVOUS=%s: there is no folder %s", where,
                              folder);
    axle__rendezvous *rendezvous = axle__alloc(1, sizeof(*rendezvous));
    if (!rendezvous)
        return AXLE_ERR_NOMEM;
    rendezvous->path = file_name(folder, job);
    rendezvous->job = axle__strdup(job);
    if (!rendezvous->path || !rendezvous->job) {
        axle__rendezvous_close(rendezvous);
        return AXLE_ERR_NOMEM;
    }
    *out = rendezvous;
    return AXLE_OK;
}

/* The file's content; false where there is none, and errno says why. */
static bool read_file(const char *path, char text[FILE_SIZE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    size_t length = 0;
    ssize_t got;
    while ((got = read(fd, text + length, FILE_SIZE - 1 - length)) > 0)
        length += (size_t)got;
    int reason = errno;
    close(fd);
    text[length] = '\0';
    errno = reason;
    return got == 0;
}

/* The rest of the line that begins with `key`, cut to `size`; false where there is none, or it does
 * not fit. */
static bool line_of(const char *text, const char *key, char *value, size_t size)
{
    size_t key_length = strlen(key);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, key, key_length) != 0 || line[key_length] != ' ')
            continue;
        const char *rest = line + key_length + 1;
        size_t length = strcspn(rest, "\n");
        if (length >= size)
            return false;
        memcpy(value, rest, length);
        value[length] = '\0';
        return true;
    }
    return false;
}

static bool parse(const char *text, notice *out)
{
    char port[16], process[64], *end;
    size_t length = strlen(text);
    memset(out, 0, sizeof(*out));
    if (length < 5 || strcmp(text + length - 5, "\nend\n") != 0 ||
        strncmp(text, "axle rendezvous 1\n", 18) != 0)
        return false;
    if (!line_of(text, "job", out->job, sizeof(out->job)) ||
        !line_of(text, "hosts", out->hosts, sizeof(out->hosts)) ||
        !line_of(text, "port", port, sizeof(port)) ||
        !line_of(text, "process", process, sizeof(process)) ||
        !line_of(text, "host", out->owner.host, sizeof(out->owner.host)) ||
        !line_of(text, "place", out->owner.place, sizeof(out->owner.place)) ||
        !line_of(text, "network", out->owner.network, sizeof(out->owner.network)))
        return false;
    out->port = (int)strtol(port, NULL, 10);
    out->owner.pid = strtol(process, &end, 10);
    out->owner.start = strtoll(end, NULL, 10);
    return out->port > 0 && out->port < 65536 && out->owner.pid > 0;
}

static char *compose(const axle__rendezvous *rendezvous, int port)
{
    axle__owner self;
    char hosts[512];
    axle__owner_self(&self);
    axle__owner_addresses(hosts, sizeof(hosts));
    return axle__format("axle rendezvous 1\njob %s\nhosts %s\nport %d\nprocess %ld %lld\nhost %s\n"
                        "place %s\nnetwork %s\nend\n",
                        rendezvous->job, hosts, port, self.pid, self.start, self.host, self.place,
                        self.network);
}

static bool is_same_network(const notice *found)
{
    axle__owner self;
    axle__owner_self(&self);
    return strcmp(found->owner.network, self.network) == 0;
}

/* Whether the rank 0 of a notice still lives: by its process where that is on this host, else by
 * whether its port is served. */
static axle__life life_of(const notice *found)
{
    char reason[256];
    bool unknown;
    axle__life life = axle__owner_life(&found->owner);
    if (life != AXLE__LIFE_UNKNOWN)
        return life;
    int64_t deadline = axle__clock_ns() + PROBE_SECONDS * AXLE__SECOND;
    int fd =
        axle__socket_connect(found->hosts, found->port, deadline, reason, sizeof(reason), &unknown);
    if (fd >= 0) {
        axle__socket_close(fd);
        return AXLE__LIFE_ALIVE;
    }
    return strcmp(reason, strerror(ECONNREFUSED)) == 0 ? AXLE__LIFE_DEAD : AXLE__LIFE_UNKNOWN;
}

static bool is_old(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && time(NULL) - about.st_mtime > WRITING_SECONDS;
}

/* Remove a file that is still what was judged. */
static void reclaim(const char *path, const char *judged)
{
    char text[FILE_SIZE];
    if (read_file(path, text) && strcmp(text, judged) == 0 && unlink(path) == 0)
        axle__info("group", "removed %s, which a dead job left behind", path);
}

/* What another process published in this job's name: removed where that process is dead. */
static int judge(const axle__rendezvous *rendezvous)
{
    char text[FILE_SIZE];
    notice found;
    if (!read_file(rendezvous->path, text)) {
        if (errno == ENOENT)
            return AXLE_OK;
        return axle_error_set(AXLE_ERR_IO, "cannot read %s: %s", rendezvous->path, strerror(errno));
    }
    if (!parse(text, &found)) {
        if (is_old(rendezvous->path))
            reclaim(rendezvous->path, text);
        return AXLE_OK;
    }
    switch (life_of(&found)) {
    case AXLE__LIFE_DEAD:
        reclaim(rendezvous->path, text);
        return AXLE_OK;
    case AXLE__LIFE_ALIVE:
        return axle_error_set(AXLE_ERR_BUSY,
                              "job '%s' is meeting already: its rank 0 is process %ld on %s; give "
                              "this job another name (AXLE_JOB), or end that one (%s)",
                              rendezvous->job, found.owner.pid, found.owner.host, rendezvous->path);
    default:
        return axle_error_set(AXLE_ERR_BUSY,
                              "job '%s' may be meeting already, by process %ld on %s, which cannot "
                              "be reached; if it is over, delete %s",
                              rendezvous->job, found.owner.pid, found.owner.host, rendezvous->path);
    }
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
static int create(const axle__rendezvous *rendezvous, const char *text)
{
    int fd = open(rendezvous->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
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
        unlink(rendezvous->path);
    return axle_error_set(AXLE_ERR_IO, "cannot write %s: %s", rendezvous->path, strerror(reason));
}

int axle__rendezvous_publish(axle__rendezvous *rendezvous, int port)
{
    char *text = compose(rendezvous, port);
    if (!text)
        return AXLE_ERR_NOMEM;
    int code = AXLE_ERR_NOT_READY;
    for (int k = 0; k < TRIES && code == AXLE_ERR_NOT_READY; k++) {
        struct timespec pause = axle__clock_timespec(k * 20 * AXLE__MILLISECOND);
        nanosleep(&pause, NULL);
        code = create(rendezvous, text);
        int judged = code == AXLE_ERR_NOT_READY ? judge(rendezvous) : AXLE_OK;
        code = judged ? judged : code;
    }
    if (code == AXLE_OK) {
        rendezvous->published = text;
        return AXLE_OK;
    }
    axle__free(text);
    if (code != AXLE_ERR_NOT_READY)
        return code;
    return axle_error_set(AXLE_ERR_BUSY, "%s belongs to no rank 0 and stays; delete it",
                          rendezvous->path);
}

bool axle__rendezvous_find(const axle__rendezvous *rendezvous, char *hosts, size_t hosts_size,
                           int *port, char *reason, size_t reason_size)
{
    char text[FILE_SIZE];
    notice found;
    const char *why = NULL;
    if (!read_file(rendezvous->path, text))
        why = errno == ENOENT ? "rank 0 has not written it yet" : strerror(errno);
    else if (!parse(text, &found))
        why = "it is not whole";
    else if (strcmp(found.job, rendezvous->job) != 0)
        why = "it is another job's";
    else if (axle__owner_life(&found.owner) == AXLE__LIFE_DEAD)
        why = "a dead job left it behind";
    if (why) {
        snprintf(reason, reason_size, "%s: %s", rendezvous->path, why);
        return false;
    }
    snprintf(hosts, hosts_size, "%s", is_same_network(&found) ? "127.0.0.1" : found.hosts);
    *port = found.port;
    return true;
}

void axle__rendezvous_close(axle__rendezvous *rendezvous)
{
    char text[FILE_SIZE];
    if (!rendezvous)
        return;
    if (rendezvous->published && read_file(rendezvous->path, text) &&
        strcmp(text, rendezvous->published) == 0)
        unlink(rendezvous->path);
    axle__free(rendezvous->path);
    axle__free(rendezvous->job);
    axle__free(rendezvous->published);
    axle__free(rendezvous);
}
