/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines of programs: once a job, a host or a process, and each text once. */
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "axle/accelerator.h"
#include "base/hash.h"
#include "base/log.h"

enum { TEXT_SIZE = 2048, MOST_TEXTS = 1024 };

static const char component[] = "program";

static bool writes(const axle_accelerator *accelerator, int scope)
{
    if (!accelerator || scope == AXLE_LOG_PER_PROCESS)
        return true;
    return scope == AXLE_LOG_PER_HOST ? axle_is_local_main_process(accelerator)
                                      : axle_is_main_process(accelerator);
}

/* Hashes of the texts that were written last; few programs have more than a handful. */
static struct {
    pthread_mutex_t mutex;
    uint64_t hashes[MOST_TEXTS];
    unsigned count; /* ever */
} seen = {PTHREAD_MUTEX_INITIALIZER, {0}, 0};

/* Whether a text comes for the first time, as far as is remembered. */
static bool is_first(const char *text)
{
    uint64_t hash = axle__hash(AXLE__HASH_START, text, strlen(text));
    bool found = false;
    pthread_mutex_lock(&seen.mutex);
    for (unsigned k = 0; k < seen.count && k < MOST_TEXTS && !found; k++)
        found = seen.hashes[k] == hash;
    if (!found)
        seen.hashes[seen.count++ % MOST_TEXTS] = hash;
    pthread_mutex_unlock(&seen.mutex);
    return !found;
}

static void log_line(const axle_accelerator *accelerator, int level, int scope, bool once,
                     const char *format, va_list list)
{
    char text[TEXT_SIZE];
    if (!writes(accelerator, scope))
        return;
    vsnprintf(text, sizeof(text), format, list);
    if (!once || is_first(text))
        axle_log_write(level, component, "%s", text);
}

void axle_log_line(const axle_accelerator *accelerator, int level, int scope, const char *format,
                   ...)
{
    va_list list;
    va_start(list, format);
    log_line(accelerator, level, scope, false, format, list);
    va_end(list);
}

void axle_log_line_once(const axle_accelerator *accelerator, int level, int scope,
                        const char *format, ...)
{
    va_list list;
    va_start(list, format);
    log_line(accelerator, level, scope, true, format, list);
    va_end(list);
}
