/* SPDX-License-Identifier: Apache-2.0 */
#include "base/list.h"

#include "axle/status.h"
#include "base/memory.h"
#include "base/text.h"

int axle__list_take(axle__list *list, char *text)
{
    if (!text)
        return AXLE_ERR_NOMEM;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 8;
        char **item = axle__resize(list->item, capacity, sizeof(*item));
        if (!item) {
            axle__free(text);
            return AXLE_ERR_NOMEM;
        }
        list->item = item;
        list->capacity = capacity;
    }
    list->item[list->count++] = text;
    return AXLE_OK;
}

const char *axle__list_nearest(const axle__list *list, const char *text, int *distance)
{
    const char *nearest = NULL;
    for (size_t k = 0; k < list->count; k++) {
        int edits = axle__edit_distance(text, list->item[k]);
        if (nearest && edits >= *distance)
            continue;
        nearest = list->item[k];
        *distance = edits;
    }
    return nearest;
}

void axle__list_free(axle__list *list)
{
    for (size_t k = 0; k < list->count; k++)
        axle__free(list->item[k]);
    axle__free(list->item);
    *list = (axle__list){0};
}
