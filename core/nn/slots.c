/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of named things. They are short, so that looking through them beats an index. */
#include <string.h>

#include "base/memory.h"
#include "nn/module.h"

static int make_room(axle__slots *slots)
{
    if (slots->count < slots->room)
        return AXLE_OK;
    int room = slots->room ? 2 * slots->room : 4;
    axle__slot *at = axle__resize(slots->at, (size_t)room, sizeof(*at));
    if (!at)
        return axle_error_code();
    slots->at = at;
    slots->room = room;
    return AXLE_OK;
}

int axle__slots_add(axle__slots *slots, const char *name, void *item)
{
    char *copy = make_room(slots) ? NULL : axle__strdup(name);
    if (!copy)
        return axle_error_code();
    slots->at[slots->count++] = (axle__slot){copy, item};
    return AXLE_OK;
}

void *axle__slots_find(const axle__slots *slots, const char *name, size_t length)
{
    for (int k = 0; k < slots->count; k++)
        if (strncmp(slots->at[k].name, name, length) == 0 && slots->at[k].name[length] == '\0')
            return slots->at[k].item;
    return NULL;
}

void *axle__slots_remove(axle__slots *slots, const char *name)
{
    int k = 0;
    while (k < slots->count && strcmp(slots->at[k].name, name) != 0)
        k++;
    if (k == slots->count)
        return NULL;
    void *item = slots->at[k].item;
    axle__free(slots->at[k].name);
    slots->count--;
    memmove(&slots->at[k], &slots->at[k + 1], (size_t)(slots->count - k) * sizeof(*slots->at));
    return item;
}

void axle__slots_free(axle__slots *slots)
{
    while (slots->count > 0)
        axle__free(slots->at[--slots->count].name);
    axle__free(slots->at);
    *slots = (axle__slots){NULL, 0, 0};
}
