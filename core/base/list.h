/* SPDX-License-Identifier: Apache-2.0 */
/* A growing list of strings that it owns. Starts zeroed. */
#ifndef AXLE_BASE_LIST_H
#define AXLE_BASE_LIST_H

#include <stddef.h>

typedef struct axle__list {
    char **item;
    size_t count, capacity;
} axle__list;

/* Append a string made by axle__alloc() and its kin, and own it, even on failure. NULL is
 * AXLE_ERR_NOMEM, so that calls nest. */
int axle__list_take(axle__list *list, char *text);
/* The first of those that are fewest edits from `text`, and how many; NULL of an empty list. */
const char *axle__list_nearest(const axle__list *list, const char *text, int *distance);
void axle__list_free(axle__list *list);

#endif
