/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/memory.h"
#include "axle/status.h"
#include "data/jsonl.h"

/* Room for `wanted` items, doubling. */
static bool enlarge(void **array, size_t *room, size_t wanted, size_t size)
{
    if (wanted <= *room)
        return true;
    size_t larger = *room ? *room * 2 : 64;
    if (larger < wanted)
        larger = wanted;
    void *moved = axle__resize(*array, larger, size);
    if (!moved)
        return false;
    *array = moved;
    *room = larger;
    return true;
}

static void make_real(axle__json_column *column)
{
    for (size_t k = 0; k < column->count; k++)
        column->cells[k].real = (double)column->cells[k].integer;
    column->real = true;
}

static int add_number(axle__json_column *column, const json_t *value)
{
    void *cells = column->cells;
    bool done = enlarge(&cells, &column->room, column->count + 1, sizeof(*column->cells));
    column->cells = cells;
    if (!done)
        return AXLE_ERR_NOMEM;
    if (json_is_real(value) && !column->real)
        make_real(column);
    axle__json_cell *cell = &column->cells[column->count++];
    if (column->real)
        cell->real = json_number_value(value);
    else
        cell->integer = json_integer_value(value);
    return AXLE_OK;
}

/* Follow the first elements down. -1: deeper than a tensor can be. */
static int measure(const json_t *value, int64_t dims[AXLE_MAX_RANK])
{
    int rank = 0;
    while (json_is_array(value)) {
        if (rank == AXLE_MAX_RANK - 1) /* the batch needs one more */
            return -1;
        dims[rank++] = (int64_t)json_array_size(value);
        value = json_array_get(value, 0);
    }
    return rank;
}

static int malformed(const char **problem, const char *what)
{
    *problem = what;
    return AXLE_ERR_FORMAT;
}

/* Every element at depth `rank` is a number, every one above it an array of the right length. */
static int add_elements(axle__json_column *column, const json_t *value, int rank,
                        const int64_t *dims, const char **problem)
{
    if (rank == 0) {
        if (json_is_array(value))
            return malformed(problem, "its arrays differ in depth");
        if (!json_is_number(value))
            return malformed(problem, "it is neither a number nor an array of numbers");
        return add_number(column, value);
    }
    if (!json_is_array(value))
        return malformed(problem, "it mixes arrays with others");
    if ((int64_t)json_array_size(value) != dims[0])
        return malformed(problem, "its arrays differ in length");
    int code = AXLE_OK;
    for (size_t k = 0; !code && k < json_array_size(value); k++)
        code = add_elements(column, json_array_get(value, k), rank - 1, dims + 1, problem);
    return code;
}

static bool make_sample(axle__json_column *column)
{
    size_t starts_room = column->samples_room, dims_room = column->samples_room;
    size_t wanted = column->samples + 1, rank = (size_t)(column->rank ? column->rank : 1);
    void *starts = column->starts, *dims = column->dims;
    bool done = enlarge(&starts, &starts_room, wanted, sizeof(*column->starts)) &&
                enlarge(&dims, &dims_room, wanted, rank * sizeof(*column->dims));
    column->starts = starts;
    column->dims = dims;
    if (done)
        column->samples_room = dims_room;
    return done;
}

int axle__json_column_add(axle__json_column *column, const json_t *value, const char **problem)
{
    int64_t dims[AXLE_MAX_RANK];
    int rank = measure(value, dims);
    if (rank < 0)
        return malformed(problem, "it has too many dims");
    if (column->samples && rank != column->rank)
        return malformed(problem, "it has another number of dims than on the first line");
    column->rank = rank;
    if (!make_sample(column))
        return AXLE_ERR_NOMEM;
    column->starts[column->samples] = column->count;
    if (rank)
        memcpy(column->dims + column->samples * (size_t)rank, dims, (size_t)rank * sizeof(*dims));
    int code = add_elements(column, value, rank, dims, problem);
    column->samples += code == AXLE_OK;
    return code;
}

void axle__json_column_clear(axle__json_column *column)
{
    axle__free(column->name);
    axle__free(column->cells);
    axle__free(column->starts);
    axle__free(column->dims);
}
