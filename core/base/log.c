/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines: `axle: warn: component: text`, and `axle: rank 3: warn: ...` in a job of several
 * processes. A line is written by one call, so that lines of threads and processes do not mix.
 */
#define _GNU_SOURCE 1
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"

enum { LINE_SIZE = 2048, LEVEL_UNSET = -1, RANK_UNKNOWN = -1 };

static const char *const level_names[] = {"debug", "info", "warn", "error"};
enum { LEVEL_COUNT = sizeof(level_names) / sizeof(level_names[0]) };

static atomic_int lowest = LEVEL_UNSET;
static atomic_int known_rank = RANK_UNKNOWN;
static pthread_mutex_t redirect_lock = PTHREAD_MUTEX_INITIALIZER;
static axle_log_fn redirect_fn;
static void *redirect_user;

static int level_from_name(const char *name)
{
    for (int level = 0; level < LEVEL_COUNT; level++)
        if (strcmp(level_names[level], name) == 0)
            return level;
    return LEVEL_UNSET;
}

/* Level of AXLE_LOG. The level is set before a bad value is reported, or the report would ask
 * again. */
static int level_from_setting(void)
{
    const char *name = axle__setting(AXLE_SETTING_LOG);
    int level = level_from_name(name), unset = LEVEL_UNSET;
    const char *fallback = axle__setting_describe(AXLE_SETTING_LOG)->fallback;
    int chosen = level == LEVEL_UNSET ? level_from_name(fallback) : level;
    if (!atomic_compare_exchange_strong(&lowest, &unset, chosen))
        return unset;
    if (level == LEVEL_UNSET)
        axle__warn("log", "AXLE_LOG=%s is none of debug, info, warn, error; %s is used", name,
                   fallback);
    return chosen;
}

static int lowest_level(void)
{
    int level = atomic_load_explicit(&lowest, memory_order_relaxed);
    return level == LEVEL_UNSET ? level_from_setting() : level;
}

void axle_log_set_level(int level)
{
    atomic_store(&lowest, level < 0 ? 0 : level);
}

void axle_log_redirect(axle_log_fn fn, void *user)
{
    pthread_mutex_lock(&redirect_lock);
    redirect_fn = fn;
    redirect_user = user;
    pthread_mutex_unlock(&redirect_lock);
}

void axle__log_set_rank(int rank, int size)
{
    atomic_store(&known_rank, size > 1 ? rank : RANK_UNKNOWN);
}

/* "rank 3: " where it is known that there are several processes, else "". */
static const char *rank_prefix(char *text, size_t size)
{
    const char *rank = getenv("RANK"), *world = getenv("WORLD_SIZE");
    int known = atomic_load(&known_rank);
    text[0] = '\0';
    if (rank && world && strtol(world, NULL, 10) > 1)
        snprintf(text, size, "rank %ld: ", strtol(rank, NULL, 10));
    else if (known != RANK_UNKNOWN)
        snprintf(text, size, "rank %d: ", known);
    return text;
}

static void write_line(int level, const char *component, const char *message)
{
    char rank[40], line[LINE_SIZE + 256];
    int length = snprintf(line, sizeof(line) - 1, "axle: %s%s: %s: %s",
                          rank_prefix(rank, sizeof(rank)), level_names[level], component, message);
    if (length < 0)
        return;
    size_t end = (size_t)length < sizeof(line) - 1 ? (size_t)length : sizeof(line) - 2;
    line[end] = '\n';
    ssize_t written = write(STDERR_FILENO, line, end + 1);
    (void)written; /* there is nobody left to tell */
}

/* A message is one line: what would break it becomes a blank. */
static void flatten(char *message)
{
    size_t length = strlen(message);
    while (length > 0 && message[length - 1] == '\n')
        message[--length] = '\0';
    for (size_t k = 0; k < length; k++)
        if ((unsigned char)message[k] < ' ')
            message[k] = ' ';
}

void axle_log_write(int level, const char *component, const char *format, ...)
{
    if (level < lowest_level())
        return;
    level = level < 0 ? 0 : level >= LEVEL_COUNT ? LEVEL_COUNT - 1 : level;
    char message[LINE_SIZE];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    if (length < 0)
        return;
    if ((size_t)length >= sizeof(message))
        memcpy(message + sizeof(message) - 4, "...", 4);
    flatten(message);

    pthread_mutex_lock(&redirect_lock);
    axle_log_fn fn = redirect_fn;
    void *user = redirect_user;
    pthread_mutex_unlock(&redirect_lock);
    if (fn)
        fn(level, component ? component : "axle", message, user);
    else
        write_line(level, component ? component : "axle", message);
}
