/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "label_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"

int axle__label_is_whole(const char *text, int64_t *out)
{
    char *end;
    if (!*text || strspn(text, "+-0123456789") != strlen(text))
        return 0;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *out = value;
    return *end == '\0' && errno == 0;
}

/* Where the name is, or would be. */
static int64_t place_of(const label_names *names, const char *name, int *found)
{
    int64_t low = 0, high = names->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int order = strcmp(names->items[middle], name);
        *found = order == 0;
        if (*found)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = 0;
    return low;
}

/* Room for one more, and the NULL behind it. */
static int grow(label_names *names)
{
    if (names->count + 2 <= names->room)
        return AXLE_OK;
    int64_t room = names->room ? 2 * names->room : 16;
    char **items = realloc(names->items, (size_t)room * sizeof(*items));
    if (!items)
        return axle_error_set(AXLE_ERR_NOMEM, "labels: out of memory");
    names->items = items;
    names->room = room;
    return AXLE_OK;
}

int axle__label_names_add(label_names *names, const char *name)
{
    int found;
    int64_t place = place_of(names, name, &found);
    if (found)
        return AXLE_OK;
    int code = grow(names);
    if (code)
        return code;
    char *copy = strdup(name);
    if (!copy)
        return axle_error_set(AXLE_ERR_NOMEM, "labels: out of memory");
    memmove(names->items + place + 1, names->items + place,
            (size_t)(names->count - place) * sizeof(*names->items));
    names->items[place] = copy;
    names->items[++names->count] = NULL;
    return AXLE_OK;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = 0, y = 0;
    axle__label_is_whole(*(char *const *)a, &x);
    axle__label_is_whole(*(char *const *)b, &y);
    return x == y ? strcmp(*(char *const *)a, *(char *const *)b) : (x > y) - (x < y);
}

void axle__label_names_finish(label_names *names)
{
    int64_t value;
    for (int64_t k = 0; k < names->count; k++)
        if (!axle__label_is_whole(names->items[k], &value))
            return;
    if (names->count > 1)
        qsort(names->items, (size_t)names->count, sizeof(*names->items), by_value);
}

void axle__label_names_free(char **items)
{
    for (char **item = items; item && *item; item++)
        free(*item);
    free(items);
}
