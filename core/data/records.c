/* SPDX-License-Identifier: Apache-2.0 */
#include "data/records.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "axle/status.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/options_copy.h"
#include "base/text.h"
#include "data/number.h"

/* ---- opening */

static const struct {
    const char *ending;
    int format;
} endings[] = {
    {".tsv", AXLE_RECORDS_TSV},     {".tab", AXLE_RECORDS_TSV},      {".json", AXLE_RECORDS_JSONL},
    {".jsonl", AXLE_RECORDS_JSONL}, {".ndjson", AXLE_RECORDS_JSONL},
};

static int format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t k = 0; dot && k < sizeof(endings) / sizeof(endings[0]); k++)
        if (strcasecmp(dot, endings[k].ending) == 0)
            return endings[k].format;
    return AXLE_RECORDS_CSV;
}

static int complete_options(const char *path, const axle_records_options *given,
                            axle_records_options *options)
{
    int code = axle__options_copy("records", given, options, sizeof(*options));
    if (code)
        return code;
    if (options->format < AXLE_RECORDS_BY_NAME || options->format > AXLE_RECORDS_JSONL)
        return axle_error_set(AXLE_ERR_INVALID, "records: there is no format %d", options->format);
    if (options->quote < -1 || options->quote > 127)
        return axle_error_set(AXLE_ERR_INVALID, "records: there is no quote of code %d",
                              options->quote);
    if (options->format == AXLE_RECORDS_BY_NAME)
        options->format = format_of(path);
    if (options->separator == 0)
        options->separator = options->format == AXLE_RECORDS_TSV ? '\t' : ',';
    if (options->quote < 0)
        options->quote = options->format == AXLE_RECORDS_TSV ? 0 : '"';
    return AXLE_OK;
}

static int fill(axle_records *records, const char *path, const axle_records_options *options)
{
    size_t size;
    records->path = axle__strdup(path);
    if (!records->path)
        return AXLE_ERR_NOMEM;
    int code = axle__file_read(path, &records->text, &size);
    if (code)
        return code;
    code = options->format == AXLE_RECORDS_JSONL ? axle__records_read_jsonl(records, size, options)
                                                 : axle__records_read_csv(records, size, options);
    if (!code && records->rows == 0)
        code = axle_error_set(AXLE_ERR_FORMAT, "%s: there is no record", path);
    return code;
}

int axle_records_open(const char *path, const axle_records_options *given, axle_records **out)
{
    axle_records_options options = AXLE_RECORDS_OPTIONS_INIT;
    if (!path || !out)
        return axle_error_set(AXLE_ERR_INVALID, "records: %s is NULL",
                              path ? "the place for them" : "the path");
    int code = complete_options(path, given, &options);
    if (code)
        return code;
    axle_records *records = axle__alloc(1, sizeof(*records));
    code = records ? fill(records, path, &options) : AXLE_ERR_NOMEM;
    if (code)
        axle_records_release(records);
    else
        *out = records;
    return code;
}

void axle_records_release(axle_records *records)
{
    if (!records)
        return;
    axle__list_free(&records->names);
    axle__list_free(&records->owned);
    axle__free(records->fields);
    axle__free(records->lines);
    axle__free(records->text);
    axle__free(records->path);
    axle__free(records);
}

static int make_room(axle_records *records)
{
    size_t room = records->room ? records->room * 2 : 64, count;
    if (!axle__size_mul(room, records->names.count, &count))
        return axle_error_set(AXLE_ERR_NOMEM, "%s: no memory for %zu records", records->path, room);
    const char **fields = axle__resize(records->fields, count, sizeof(*fields));
    if (!fields)
        return AXLE_ERR_NOMEM;
    records->fields = fields;
    size_t *lines = axle__resize(records->lines, room, sizeof(*lines));
    if (!lines)
        return AXLE_ERR_NOMEM;
    records->lines = lines;
    records->room = room;
    return AXLE_OK;
}

int axle__records_add_row(axle_records *records, size_t line, const char ***out)
{
    size_t columns = records->names.count;
    int code = records->rows == records->room ? make_room(records) : AXLE_OK;
    if (code)
        return code;
    records->lines[records->rows] = line;
    const char **fields = records->fields + records->rows++ * columns;
    for (size_t k = 0; k < columns; k++)
        fields[k] = NULL;
    *out = fields;
    return AXLE_OK;
}

/* ---- asking */

static int is_missing(const axle_records *records)
{
    if (!records)
        axle_error_set(AXLE_ERR_INVALID, "records: they are NULL");
    return !records;
}

int64_t axle_records_count(const axle_records *records)
{
    return is_missing(records) ? 0 : (int64_t)records->rows;
}

int axle_records_column_count(const axle_records *records)
{
    return is_missing(records) ? 0 : (int)records->names.count;
}

const char *axle_records_path(const axle_records *records)
{
    return is_missing(records) ? NULL : records->path;
}

static int is_outside(const axle_records *records, int64_t row, int column)
{
    if (row >= 0 && (size_t)row < records->rows && column >= 0 &&
        (size_t)column < records->names.count)
        return 0;
    axle_error_set(AXLE_ERR_INDEX,
                   "%s: there is no column %d of record %" PRId64 ", but %zu of %zu records",
                   records->path, column, row, records->names.count, records->rows);
    return 1;
}

const char *axle_records_column_name(const axle_records *records, int column)
{
    return is_missing(records) || is_outside(records, 0, column) ? NULL
                                                                 : records->names.item[column];
}

static int unknown_column(const axle_records *records, const char *name)
{
    char list[512];
    axle__text text;
    axle__text_init(&text, list, sizeof(list));
    for (size_t k = 0; k < records->names.count; k++)
        axle__text_add(&text, "%s%s", k ? ", " : "", records->names.item[k]);
    return axle_error_set(AXLE_ERR_NOT_FOUND, "%s: there is no column '%s'; there are %s",
                          records->path, name, list);
}

/* The first column from `from` of that name, else the number of columns. */
static size_t find_name(const axle_records *records, const char *name, size_t from)
{
    while (from < records->names.count && strcmp(records->names.item[from], name) != 0)
        from++;
    return from;
}

int axle_records_column(const axle_records *records, const char *name, int *out)
{
    int64_t number;
    if (is_missing(records))
        return AXLE_ERR_INVALID;
    if (!name || !out)
        return axle_error_set(AXLE_ERR_INVALID, "%s: the column's %s is NULL", records->path,
                              name ? "place" : "name");
    size_t count = records->names.count, found = find_name(records, name, 0);
    size_t again = found < count ? find_name(records, name, found + 1) : count;
    if (again < count)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: the columns %zu and %zu are both named '%s'",
                              records->path, found + 1, again + 1, name);
    if (found == count && axle__parse_integer(name, &number) && number >= 0 &&
        number < (int64_t)count)
        found = (size_t)number;
    if (found == count)
        return unknown_column(records, name);
    *out = (int)found;
    return AXLE_OK;
}

int axle_records_has_column(const axle_records *records, const char *name)
{
    return !is_missing(records) && name && find_name(records, name, 0) < records->names.count;
}

const char *axle_records_field(const axle_records *records, int64_t row, int column)
{
    if (is_missing(records) || is_outside(records, row, column))
        return NULL;
    return records->fields[(size_t)row * records->names.count + (size_t)column];
}

int64_t axle_records_line(const axle_records *records, int64_t row)
{
    return is_missing(records) || is_outside(records, row, 0) ? 0 : (int64_t)records->lines[row];
}

int axle_records_number(const axle_records *records, int64_t row, int column, double *out)
{
    void *locale;
    double value;
    if (is_missing(records) || is_outside(records, row, column))
        return axle_error_code();
    const char *text = axle_records_field(records, row, column);
    if (!axle__number_begin(&locale))
        return AXLE_ERR_NOMEM;
    const char *problem = text ? axle__number_parse(text, &value) : "there is none";
    axle__number_end(locale);
    if (problem)
        return axle_error_set(AXLE_ERR_FORMAT, "%s:%zu: column '%s': '%.40s': %s", records->path,
                              records->lines[row], records->names.item[column], text ? text : "",
                              problem);
    *out = value;
    return AXLE_OK;
}
