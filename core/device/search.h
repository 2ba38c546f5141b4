/* SPDX-License-Identifier: Apache-2.0 */
/* Where backends are looked for. */
#ifndef AXLE_DEVICE_SEARCH_H
#define AXLE_DEVICE_SEARCH_H

#include <stdbool.h>

#include "base/list.h"

/* A word of lower-case letters, digits and underscores: what backends are called. */
bool axle__search_is_name(const char *text, size_t length);
/* The folders, in order of search. */
int axle__search_folders(axle__list *out);
/* Path of the first NAME.so; AXLE_ERR_NOT_FOUND, without a record, where there is none. */
int axle__search_find(const char *name, char **out);
/* Paths of all NAME.so, sorted by name; of equal names only the first found. */
int axle__search_all(axle__list *out);
/* The NAME of a path, for axle__free(). NULL when memory runs out. */
char *axle__search_name_of(const char *path);
/* File that this library is in, for axle__free(). */
int axle__search_library(char **out);

#endif
