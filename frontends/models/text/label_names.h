/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted list of names without repetition, NULL-terminated once it is finished. */
#ifndef AXLE_MODELS_TEXT_LABEL_NAMES_H
#define AXLE_MODELS_TEXT_LABEL_NAMES_H

#include <stdint.h>

typedef struct label_names {
    char **items;
    int64_t count, room;
} label_names;

/* Add a name unless it is there. AXLE_ERR_NOMEM. */
int axle__label_names_add(label_names *names, const char *name);
/* Whole numbers are sorted by their value. */
void axle__label_names_finish(label_names *names);
/* Of a NULL-terminated list. */
void axle__label_names_free(char **items);
/* A whole number and nothing else. */
int axle__label_is_whole(const char *text, int64_t *out);

#endif
