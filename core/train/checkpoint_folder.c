/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of checkpoints: names, the newest, and what must go. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "train/checkpoint.h"

/* ------------------------------------------------------------------ names */

int64_t axle__checkpoint_number(const char *name)
{
    size_t prefix = strlen(AXLE__CHECKPOINT_PREFIX);
    int64_t number;
    if (strncmp(name, AXLE__CHECKPOINT_PREFIX, prefix) != 0 || name[prefix] < '0' ||
        name[prefix] > '9' || !axle__parse_integer(name + prefix, &number))
        return -1;
    return number;
}

char *axle__checkpoint_path(const char *folder, int64_t number)
{
    return axle__format("%s/" AXLE__CHECKPOINT_PREFIX "%08" PRId64, folder, number);
}

/* The name alone, without slashes at the end. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *axle__checkpoint_temporary(const char *path)
{
    char *folder = axle__folder_of(path);
    char *temporary =
        folder ? axle__format("%s/.%s.tmp-%ld", folder, name_of(path), (long)getpid()) : NULL;
    axle__free(folder);
    return temporary;
}

/* ------------------------------------------------------------------ what is there */

/* Unreadable ones come first, so that whoever looks for the newest tells of them. */
static int newest_first(const void *left, const void *right)
{
    const axle__checkpoint_entry *a = left, *b = right;
    if (a->serial != b->serial)
        return (a->serial < b->serial) - (a->serial > b->serial);
    return (a->number < b->number) - (a->number > b->number);
}

static int describe(const char *path, int64_t number, axle__checkpoint_entry *out)
{
    json_t *state = NULL;
    axle__error_record before;
    *out = (axle__checkpoint_entry){number, INT64_MAX, NAN};
    axle__error_take(&before);
    int status = axle__manifest_read(path, &state);
    if (status == AXLE_ERR_NOMEM)
        return status;
    axle__error_restore(&before);
    if (status)
        return AXLE_OK;
    const json_t *metric = json_object_get(state, "metric");
    out->serial = (int64_t)json_integer_value(json_object_get(state, "serial"));
    out->metric = json_is_number(metric) ? json_number_value(metric) : NAN;
    json_decref(state);
    return AXLE_OK;
}

/* Other names than those that we give are passed over. */
static int add_entry(const char *folder, const char *name, axle__checkpoint_entry *entries,
                     size_t *count)
{
    int64_t number = axle__checkpoint_number(name);
    if (number < 0)
        return AXLE_OK;
    char *path = axle__checkpoint_path(folder, number);
    int status = path ? AXLE_OK : AXLE_ERR_NOMEM;
    if (path && strcmp(name_of(path), name) == 0) {
        status = describe(path, number, &entries[*count]);
        *count += status == AXLE_OK;
    }
    axle__free(path);
    return status;
}

int axle__checkpoint_entries(const char *folder, axle__checkpoint_entry **out, size_t *count)
{
    axle__list names = {0};
    int status = axle__folder_list(folder, &names);
    axle__checkpoint_entry *entries = status ? NULL : axle__alloc(names.count, sizeof(*entries));
    size_t n = 0;
    if (!status && !entries)
        status = AXLE_ERR_NOMEM;
    for (size_t k = 0; !status && k < names.count; k++)
        status = add_entry(folder, names.item[k], entries, &n);
    axle__list_free(&names);
    if (status) {
        axle__free(entries);
        return status;
    }
    qsort(entries, n, sizeof(*entries), newest_first);
    *out = entries;
    *count = n;
    return AXLE_OK;
}

int64_t axle__checkpoint_next_serial(const char *folder)
{
    axle__checkpoint_entry *entries = NULL;
    size_t count = 0;
    int64_t most = 0;
    axle__error_record before;
    axle__error_take(&before);
    axle__checkpoint_entries(folder, &entries, &count);
    axle__error_restore(&before);
    for (size_t k = 0; k < count; k++)
        if (entries[k].serial != INT64_MAX && entries[k].serial > most)
            most = entries[k].serial;
    axle__free(entries);
    return most + 1;
}

/* Whether it is whole; a warning says why not. Memory that runs out is no fault of the checkpoint.
 */
static int is_whole(const char *path, bool *out)
{
    axle__checkpoint_files files = {0};
    axle__error_record before;
    axle__error_take(&before);
    int status = axle__checkpoint_open(path, &files);
    *out = status == AXLE_OK;
    if (status == AXLE_ERR_NOMEM)
        return status;
    if (status)
        axle__warn("checkpoint", "%s is passed over: %s", path, axle_error_message());
    axle__checkpoint_close(&files);
    axle__error_restore(&before);
    return AXLE_OK;
}

int axle_latest_checkpoint(const char *directory, char **out)
{
    axle__checkpoint_entry *entries = NULL;
    size_t count = 0;
    bool whole = false;
    char *path = NULL;
    if (!directory || !out)
        return axle_error_set(AXLE_ERR_INVALID, "axle_latest_checkpoint: %s is NULL",
                              directory ? "the place for the path" : "the folder");
    int status = axle__checkpoint_entries(directory, &entries, &count);
    for (size_t k = 0; k < count && !status && !whole; k++) {
        axle__free(path);
        path = axle__checkpoint_path(directory, entries[k].number);
        status = path ? is_whole(path, &whole) : AXLE_ERR_NOMEM;
    }
    if (!status && !whole)
        status = axle_error_set(AXLE_ERR_NOT_FOUND, "%s: there is no %scheckpoint", directory,
                                count ? "valid " : "");
    if (status)
        axle__free(path);
    else
        *out = path;
    axle__free(entries);
    return status;
}

/* ------------------------------------------------------------------ what must go */

/* Whether a process is gone, or killed and not yet waited for. */
static bool is_dead(long pid)
{
    char path[40], *text = NULL;
    size_t size;
    axle__error_record before;
    if (kill((pid_t)pid, 0))
        return errno == ESRCH;
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    axle__error_take(&before);
    int status = axle__file_read(path, &text, &size);
    axle__error_restore(&before);
    const char *name = status ? NULL : strrchr(text, ')');
    bool dead = name && name[1] == ' ' && (name[2] == 'Z' || name[2] == 'X');
    axle__free(text);
    return dead;
}

/* Whether a name is that of a half-written folder whose process is dead, or this one's, which
 * writes nothing now. */
static bool is_left_over(const char *name)
{
    const char *mark = name[0] == '.' ? strstr(name, ".tmp-") : NULL;
    int64_t pid;
    if (!mark || !axle__parse_integer(mark + strlen(".tmp-"), &pid) || pid <= 0)
        return false;
    return pid == getpid() || is_dead((long)pid);
}

static void remove_or_warn(const char *path)
{
    axle__error_record before;
    axle__error_take(&before);
    if (axle__folder_remove(path))
        axle__warn("checkpoint", "%s", axle_error_message());
    axle__error_restore(&before);
}

void axle__checkpoint_sweep(const char *folder)
{
    axle__list names = {0};
    axle__error_record before;
    axle__error_take(&before);
    int status = axle__folder_list(folder, &names);
    axle__error_restore(&before);
    for (size_t k = 0; k < names.count && !status; k++) {
        char *path =
            is_left_over(names.item[k]) ? axle__format("%s/%s", folder, names.item[k]) : NULL;
        if (path)
            remove_or_warn(path);
        axle__free(path);
    }
    axle__list_free(&names);
}

/* A folder that is half-removed must not look like a checkpoint. */
static void remove_checkpoint(const char *path)
{
    char *away = axle__checkpoint_temporary(path);
    if (away && rename(path, away) == 0)
        remove_or_warn(away);
    axle__free(away);
}

/* The one with the best metric, the newer of two equals; `count` where none has one. */
static size_t find_best(const axle__checkpoint_entry *entries, size_t count, int best)
{
    size_t found = count;
    for (size_t k = 0; k < count && best != AXLE_BEST_NONE; k++) {
        double value = entries[k].metric, most = found < count ? entries[found].metric : NAN;
        bool better = best == AXLE_BEST_MIN ? value < most : value > most;
        if (!isnan(value) && (better || isnan(most)))
            found = k;
    }
    return found;
}

/* Unreadable ones are left to people. */
void axle__checkpoint_prune(const char *folder, int keep, int best)
{
    axle__checkpoint_entry *entries = NULL;
    size_t count = 0;
    int seen = 0;
    if (keep <= 0 || axle__checkpoint_entries(folder, &entries, &count))
        return;
    size_t kept = find_best(entries, count, best);
    for (size_t k = 0; k < count; k++) {
        bool readable = entries[k].serial != INT64_MAX;
        if (!readable || seen++ < keep || k == kept)
            continue;
        char *path = axle__checkpoint_path(folder, entries[k].number);
        if (path)
            remove_checkpoint(path);
        axle__free(path);
    }
    axle__free(entries);
}
