/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "axle/status.h"
#include "base/memory.h"
#include "data/number.h"
#include "data/record.h"
#include "data/table.h"

typedef struct reader {
    axle__csv csv;
    const axle_table_options *options;
    axle__table *table;
    axle__record names;  /* of the columns; empty without a header */
    axle__record record; /* read last */
    size_t columns;      /* the target's included; 0 before the first record */
    size_t target;       /* its column; `columns` if there is none */
} reader;

/* ---- the columns */

static bool is_target(const reader *r, size_t column)
{
    char number[24];
    const char *name = number;
    if (r->names.count)
        name = r->names.fields[column].text;
    else
        snprintf(number, sizeof(number), "%zu", column);
    return strcmp(name, r->options->target) == 0;
}

static int find_target(reader *r)
{
    r->target = r->columns;
    if (!r->options->target)
        return AXLE_OK;
    for (size_t k = 0; k < r->columns; k++) {
        if (!is_target(r, k))
            continue;
        if (r->target < r->columns)
            return axle_error_set(AXLE_ERR_FORMAT,
                                  "%s: the columns %zu and %zu are both named '%s'", r->csv.path,
                                  r->target + 1, k + 1, r->options->target);
        r->target = k;
    }
    if (r->target == r->columns)
        return axle_error_set(AXLE_ERR_NOT_FOUND, "%s: there is no column '%s' among %zu",
                              r->csv.path, r->options->target, r->columns);
    return AXLE_OK;
}

/* Learn from the first record how many columns there are, and which is the target. */
static int define_columns(reader *r, const axle__record *first)
{
    r->columns = first->count;
    int code = find_target(r);
    if (code)
        return code;
    r->table->columns = r->columns - (r->target < r->columns);
    if (r->table->columns == 0)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: there is no column but the target",
                              r->csv.path);
    return AXLE_OK;
}

/* ---- the rows */

static bool enlarge(void **array, size_t room, size_t columns, size_t size)
{
    size_t count;
    void *larger = axle__size_mul(room, columns, &count) ? axle__resize(*array, count, size) : NULL;
    if (!larger)
        return false;
    *array = larger;
    return true;
}

static int make_room(const reader *r)
{
    axle__table *table = r->table;
    if (table->length < table->room)
        return AXLE_OK;
    size_t room = table->room ? table->room * 2 : 256;
    void *input = table->input,
         *target = r->options->regression ? (void *)table->values : table->classes;
    bool done = enlarge(&input, room, table->columns, sizeof(float));
    table->input = input;
    if (done && r->target < r->columns)
        done = enlarge(&target, room, 1, r->options->regression ? sizeof(float) : sizeof(int64_t));
    if (r->options->regression)
        table->values = target;
    else
        table->classes = target;
    if (!done)
        return axle_error_set(AXLE_ERR_NOMEM, "%s: no memory for %zu rows", r->csv.path, room);
    table->room = room;
    return AXLE_OK;
}

/* The start of a field, for a message of one line. */
enum { EXCERPT = 40 };
static const char *excerpt(const char *text, char out[EXCERPT + 1])
{
    size_t k = 0;
    for (; k < EXCERPT && text[k]; k++)
        out[k] = (unsigned char)text[k] < ' ' ? '?' : text[k];
    out[k] = '\0';
    return out;
}

static int bad_field(const reader *r, size_t column, const char *problem)
{
    char text[EXCERPT + 1], name[EXCERPT + 1] = "";
    const axle__field *f = &r->record.fields[column];
    bool named = r->names.count > 0;
    if (named)
        excerpt(r->names.fields[column].text, name);
    return axle_error_set(AXLE_ERR_FORMAT, "%s:%zu: column %zu%s%s%s: '%s': %s", r->csv.path,
                          f->line, column + 1, named ? " (" : "", name, named ? ")" : "",
                          excerpt(f->text, text), problem);
}

static int parse_float(const reader *r, size_t column, float *out)
{
    double value;
    const char *problem = axle__number_parse(r->record.fields[column].text, &value);
    if (!problem && !isfinite((float)value))
        problem = "it is too large";
    if (problem)
        return bad_field(r, column, problem);
    *out = (float)value;
    return AXLE_OK;
}

static int parse_target(const reader *r)
{
    const axle__table *table = r->table;
    if (r->options->regression)
        return parse_float(r, r->target, &table->values[table->length]);
    const char *problem = axle__number_parse_integer(r->record.fields[r->target].text,
                                                     &table->classes[table->length]);
    return problem ? bad_field(r, r->target, problem) : AXLE_OK;
}

static int add_row(const reader *r)
{
    int code = axle__record_check(&r->record, &r->csv, r->columns);
    if (!code)
        code = make_room(r);
    if (code)
        return code;
    float *next = r->table->input + r->table->length * r->table->columns;
    for (size_t k = 0; !code && k < r->columns; k++)
        code = k == r->target ? parse_target(r) : parse_float(r, k, next++);
    if (!code)
        r->table->length++;
    return code;
}

static int read_rows(reader *r)
{
    int code = AXLE_OK;
    if (r->options->header && axle__csv_more(&r->csv)) {
        code = axle__record_read(&r->csv, &r->names);
        if (!code)
            code = define_columns(r, &r->names);
    }
    while (!code && axle__csv_more(&r->csv)) {
        code = axle__record_read(&r->csv, &r->record);
        if (!code && r->columns == 0)
            code = define_columns(r, &r->record);
        if (!code)
            code = add_row(r);
    }
    if (!code && r->columns == 0)
        code = axle_error_set(AXLE_ERR_FORMAT, "%s: the file is empty", r->csv.path);
    return code;
}

int axle__table_read(const char *path, char *text, size_t size, const axle_table_options *options,
                     axle__table *table)
{
    void *locale;
    reader r = {.options = options, .table = table};
    axle__csv_init(&r.csv, path, text, size, options->separator, options->quote);
    if (!axle__number_begin(&locale))
        return AXLE_ERR_NOMEM;
    int code = read_rows(&r);
    axle__number_end(locale);
    axle__free(r.names.fields);
    axle__free(r.record.fields);
    return code;
}
