/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of JSON lines: a tensor of each line for each key, all in one growing array of cells. */
#ifndef AXLE_DATA_JSONL_H
#define AXLE_DATA_JSONL_H

#include <jansson.h>
#include <stdbool.h>

#include "axle/types.h"

/* Integers until the first other number turns all of the column's into reals. */
typedef union axle__json_cell {
    int64_t integer;
    double real;
} axle__json_cell;

/* Starts zeroed, but for the name. */
typedef struct axle__json_column {
    char *name;
    bool real;
    int rank; /* of a sample */
    axle__json_cell *cells;
    size_t count, room; /* cells */
    size_t *starts;     /* first cell of each sample */
    int64_t *dims;      /* rank of each sample */
    size_t samples, samples_room;
} axle__json_column;

/* Append a value: a number, or a nested regular array of numbers. Gives what is wrong with it in
 * *problem and AXLE_ERR_FORMAT, or AXLE_ERR_NOMEM. */
int axle__json_column_add(axle__json_column *column, const json_t *value, const char **problem);
/* Free what it holds. */
void axle__json_column_clear(axle__json_column *column);

#endif
