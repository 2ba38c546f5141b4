/* SPDX-License-Identifier: Apache-2.0 */
#include "device/profile.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "axle/profile.h"
#include "axle/status.h"
#include "base/memory.h"
#include "device/hook.h"
#include "device/hook_trace.h"
#include "device/trace_file.h"

/* More kinds of rows than there are labels of operators on a few backends. */
enum { MOST_ROWS = 1024 };

typedef struct row {
    axle__profile_group group;
    const char *backend, *name;
    uint64_t count, bytes;
    int64_t nanoseconds;
} row;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static row rows[MOST_ROWS];
static int row_count;

void axle__profile_reset(void)
{
    pthread_mutex_lock(&lock);
    row_count = 0;
    pthread_mutex_unlock(&lock);
}

/* Names are of static storage, so that their addresses tell them apart. */
static row *find_locked(axle__profile_group group, const char *backend, const char *name)
{
    for (int k = 0; k < row_count; k++)
        if (rows[k].name == name && rows[k].group == group && rows[k].backend == backend)
            return &rows[k];
    if (row_count == MOST_ROWS)
        return NULL;
    rows[row_count] = (row){.group = group, .backend = backend, .name = name};
    return &rows[row_count++];
}

void axle__profile_add(axle__profile_group group, const char *backend, const char *name,
                       int64_t nanoseconds, uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    row *found = find_locked(group, backend, name);
    if (found) {
        found->count++;
        found->bytes += bytes;
        found->nanoseconds += nanoseconds;
    }
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ the summary */

static int longest_first(const void *a, const void *b)
{
    int64_t x = ((const row *)a)->nanoseconds, y = ((const row *)b)->nanoseconds;
    return (x < y) - (x > y);
}

static json_t *describe_row(const row *r, double total)
{
    double seconds = 1e-9 * (double)r->nanoseconds;
    json_t *object = json_pack("{s:s, s:I, s:f, s:f, s:I}", "name", r->name, "count",
                               (json_int_t)r->count, "seconds", seconds, "share",
                               total > 0.0 ? seconds / total : 0.0, "bytes", (json_int_t)r->bytes);
    if (object && r->backend)
        json_object_set_new(object, "backend", json_string(r->backend));
    return object;
}

static json_t *describe_group(const row *sorted, int count, axle__profile_group group)
{
    double total = 0.0;
    json_t *array = json_array();
    for (int k = 0; k < count; k++)
        if (sorted[k].group == group)
            total += 1e-9 * (double)sorted[k].nanoseconds;
    for (int k = 0; k < count; k++)
        if (sorted[k].group == group)
            json_array_append_new(array, describe_row(&sorted[k], total));
    return array;
}

static json_t *describe(const row *sorted, int count)
{
    static const char *const names[AXLE__PROFILE_GROUPS] = {
#define NAME(name, text) text,
        AXLE__PROFILE_GROUP_LIST(NAME)
#undef NAME
    };
    json_t *object = json_object();
    for (int group = 0; group < AXLE__PROFILE_GROUPS; group++)
        json_object_set_new(object, names[group],
                            describe_group(sorted, count, (axle__profile_group)group));
    return object;
}

int axle_profile_summary(char **out)
{
    if (!out)
        return axle_error_set(AXLE_ERR_INVALID, "axle_profile_summary: no place for the text");
    row *sorted = axle__alloc(MOST_ROWS, sizeof(*sorted));
    if (!sorted)
        return axle_error_code();
    pthread_mutex_lock(&lock);
    int count = row_count;
    memcpy(sorted, rows, (size_t)count * sizeof(*sorted));
    pthread_mutex_unlock(&lock);
    qsort(sorted, (size_t)count, sizeof(*sorted), longest_first);
    json_t *object = describe(sorted, count);
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(object);
    axle__free(sorted);
    *out = text ? axle__strdup(text) : NULL;
    free(text);
    return *out ? AXLE_OK : axle_error_set(AXLE_ERR_NOMEM, "axle_profile_summary: out of memory");
}

/* ------------------------------------------------------------------ on and off */

int axle_profile_start(const char *path)
{
    if (axle__trace_file_is_open())
        return axle_error_set(AXLE_ERR_STATE, "axle_profile_start: a trace is being written");
    return axle__trace_start(path);
}

int axle_profile_stop(void)
{
    return axle__trace_stop();
}

const char *axle_profile_path(void)
{
    return axle__trace_file_path();
}
