/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "device/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "axle/status.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

enum { BUFFER = 256 << 10, FLUSH_NS = 200000000 };

static struct {
    pthread_mutex_t lock;
    int descriptor; /* -1: closed */
    int failed;     /* errno of a write */
    pid_t owner;
    bool any; /* an event was written */
    int64_t flushed;
    char *path;
    size_t length;
    char *buffer;
} file = {.lock = PTHREAD_MUTEX_INITIALIZER, .descriptor = -1};

int64_t axle__trace_now(void)
{
    return axle__clock_ns();
}

int axle__trace_thread(void)
{
    static _Thread_local int number;
    if (number == 0)
        number = (int)syscall(SYS_gettid);
    return number;
}

/* ------------------------------------------------------------------ the name */

/* `path` with every %p replaced; for axle__free(). */
static char *expand(const char *path)
{
    const char *mark;
    char *expanded = axle__strdup(path);
    while (expanded && (mark = strstr(expanded, "%p")) != NULL) {
        char *next =
            axle__format("%.*s%ld%s", (int)(mark - expanded), expanded, (long)getpid(), mark + 2);
        axle__free(expanded);
        expanded = next;
    }
    return expanded;
}

/* The same name with the process's number before its ending. */
static char *own_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (!dot || dot == path || (slash && dot <= slash + 1))
        dot = path + strlen(path);
    return axle__format("%.*s.%ld%s", (int)(dot - path), path, (long)getpid(), dot);
}

static int cannot(const char *path)
{
    return axle_error_set(AXLE_ERR_IO, "trace: cannot write %s: %s", path, strerror(errno));
}

/* Open a file that no other process holds. *taken tells that one does. */
static int open_path(const char *path, bool *taken, int *out)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    *taken = false;
    if (descriptor < 0)
        return cannot(path);
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(descriptor);
        *taken = true;
        return AXLE_OK;
    }
    /* Pipes and devices have no length, and file systems without locks serve one process well. */
    if (ftruncate(descriptor, 0) != 0 && errno != EINVAL) {
        int code = cannot(path);
        close(descriptor);
        return code;
    }
    *out = descriptor;
    return AXLE_OK;
}

static int open_free(char **path, int *out)
{
    bool taken;
    int code = open_path(*path, &taken, out);
    if (code || !taken)
        return code;
    char *own = own_name(*path);
    if (!own)
        return AXLE_ERR_NOMEM;
    axle__free(*path);
    *path = own;
    code = open_path(own, &taken, out);
    if (!code && taken)
        code = axle_error_set(AXLE_ERR_BUSY, "trace: another process writes %s", own);
    return code;
}

/* ------------------------------------------------------------------ writing */

static void flush_locked(void)
{
    size_t done = 0;
    while (done < file.length && !file.failed) {
        ssize_t n = write(file.descriptor, file.buffer + done, file.length - done);
        if (n < 0 && errno != EINTR)
            file.failed = errno;
        done += n > 0 ? (size_t)n : 0;
    }
    file.length = 0;
    file.flushed = axle__trace_now();
}

static void append_locked(const char *data, size_t size)
{
    if (file.length + size > BUFFER)
        flush_locked();
    memcpy(file.buffer + file.length, data, size);
    file.length += size;
}

/* What a program that ends without axle_finalize() has not written yet. */
static void finish_at_exit(void)
{
    axle__trace_file_close();
}

/* A child of fork() has the descriptor, and a copy of the buffer that is not its to write. */
static void leave_in_child(void)
{
    pthread_mutex_init(&file.lock, NULL);
    if (file.descriptor >= 0)
        close(file.descriptor);
    file.descriptor = -1;
}

static void prepare_once(void)
{
    pthread_atfork(NULL, NULL, leave_in_child);
    atexit(finish_at_exit);
}

int axle__trace_file_open(const char *path)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_once);
    int descriptor = -1;
    char *name = expand(path), *buffer = axle__alloc(1, BUFFER);
    int code = name && buffer ? open_free(&name, &descriptor) : AXLE_ERR_NOMEM;
    if (code) {
        axle__free(name);
        axle__free(buffer);
        return code;
    }
    pthread_mutex_lock(&file.lock);
    __atomic_store_n(&file.descriptor, descriptor, __ATOMIC_RELAXED);
    axle__free(file.path);
    file.path = name;
    file.buffer = buffer;
    file.length = 0;
    file.failed = 0;
    file.any = false;
    file.owner = getpid();
    append_locked("[", 1);
    flush_locked();
    pthread_mutex_unlock(&file.lock);
    if (strcmp(name, path) != 0)
        axle__info("trace", "writing %s", name);
    return AXLE_OK;
}

const char *axle__trace_file_path(void)
{
    return file.path ? file.path : "";
}

bool axle__trace_file_is_open(void)
{
    return __atomic_load_n(&file.descriptor, __ATOMIC_RELAXED) >= 0;
}

void axle__trace_file_add(const axle__text *event)
{
    if (event->length + 1 >= event->size)
        return;
    pthread_mutex_lock(&file.lock);
    if (file.descriptor >= 0) {
        append_locked(file.any ? ",\n" : "\n", file.any ? 2 : 1);
        append_locked(event->data, event->length);
        file.any = true;
        if (axle__trace_now() - file.flushed > FLUSH_NS)
            flush_locked();
    }
    pthread_mutex_unlock(&file.lock);
}

int axle__trace_file_close(void)
{
    int code = AXLE_OK;
    pthread_mutex_lock(&file.lock);
    if (file.descriptor >= 0) {
        append_locked("\n]\n", 3);
        flush_locked();
        if (close(file.descriptor) != 0 && !file.failed)
            file.failed = errno;
        __atomic_store_n(&file.descriptor, -1, __ATOMIC_RELAXED);
        errno = file.failed;
        code = file.failed ? cannot(file.path) : AXLE_OK;
        axle__free(file.buffer);
    }
    pthread_mutex_unlock(&file.lock);
    return code;
}

/* ------------------------------------------------------------------ JSON */

void axle__trace_string(axle__text *text, const char *string)
{
    axle__text_add(text, "\"");
    for (; *string; string++) {
        unsigned char c = (unsigned char)*string;
        if (c == '"' || c == '\\')
            axle__text_add(text, "\\%c", c);
        else if (c < 0x20 || c > 0x7e)
            axle__text_add(text, "\\u%04x", c);
        else
            axle__text_add(text, "%c", c);
    }
    axle__text_add(text, "\"");
}

void axle__trace_place(axle__text *text, int64_t thread, int64_t time)
{
    axle__text_add(text, "\"pid\":%ld,\"tid\":%lld,\"ts\":%lld.%03d", (long)file.owner,
                   (long long)thread, (long long)(time / 1000), (int)(time % 1000));
}
