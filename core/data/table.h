/* SPDX-License-Identifier: Apache-2.0 */
/* A table of numbers in memory, and how it is read from text. */
#ifndef AXLE_DATA_TABLE_H
#define AXLE_DATA_TABLE_H

#include "axle/data.h"

/* Starts zeroed. */
typedef struct axle__table {
    size_t length, room; /* rows */
    size_t columns;      /* of input, or 0 as long as nothing was read */
    float *input;        /* (length, columns) */
    int64_t *classes;    /* (length), or NULL */
    float *values;       /* (length), or NULL */
} axle__table;

/* Fill a table from `size` bytes of text, which is changed. On failure what was read stays. */
int axle__table_read(const char *path, char *text, size_t size, const axle_table_options *options,
                     axle__table *table);
/* Free what the table holds. */
void axle__table_clear(axle__table *table);

#endif
