/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"

int axle__text_rows_error(const text_rows *rows, int64_t row, int code, const char *format, ...)
{
    char message[400];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    if (rows->records)
        return axle_error_set(code, "%s:%" PRId64 ": %s", axle_records_path(rows->records),
                              axle_records_line(rows->records, row), message);
    return axle_error_set(code, "text %" PRId64 ": %s", row, message);
}

static int no_memory(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "texts: out of memory");
}

/* ------------------------------------------------------------------ of a file */

enum { NO_COLUMN = -1 };

/* The first of the names that is a column's, else `fallback`. */
static int find_default(const axle_records *records, const char *const *names, int fallback,
                        int *out)
{
    for (; *names; names++)
        if (axle_records_has_column(records, *names))
            return axle_records_column(records, *names, out);
    *out = fallback;
    return AXLE_OK;
}

/* A column that was asked for, or one that is usual; NO_COLUMN where there is to be none. */
static int find_column(const axle_records *records, const char *given, const char *const *usual,
                       int fallback, int *out)
{
    if (!given)
        return find_default(records, usual, fallback, out);
    *out = NO_COLUMN;
    return *given ? axle_records_column(records, given, out) : AXLE_OK;
}

static int find_columns(const axle_records *records, const axle_text_options *options,
                        int columns[3])
{
    static const char *const texts[] = {"text", "sentence", "sentence1", NULL};
    static const char *const pairs[] = {"text_pair", "sentence2", NULL};
    static const char *const labels[] = {"label", "labels", NULL};
    int count = axle_records_column_count(records);
    int headless = options->records && !options->records->header && count > 1;
    int code = find_column(records, options->text, texts, 0, &columns[0]);
    if (!code)
        code = find_column(records, options->text_pair, pairs, NO_COLUMN, &columns[1]);
    if (!code)
        code = find_column(records, options->label, labels, headless ? count - 1 : NO_COLUMN,
                           &columns[2]);
    if (!code && columns[0] == NO_COLUMN)
        code = axle_error_set(AXLE_ERR_INVALID, "%s: it needs a column of texts",
                              axle_records_path(records));
    return code;
}

static int read_column(const text_rows *rows, int column, int needed, const char ***out)
{
    const axle_records *records = rows->records;
    if (column == NO_COLUMN)
        return AXLE_OK;
    const char **fields = malloc((size_t)rows->count * sizeof(*fields));
    if (!fields)
        return no_memory();
    *out = fields;
    for (int64_t k = 0; k < rows->count; k++) {
        fields[k] = axle_records_field(records, k, column);
        if (!fields[k] && needed)
            return axle__text_rows_error(rows, k, AXLE_ERR_FORMAT, "there is no %s",
                                         axle_records_column_name(records, column));
    }
    return AXLE_OK;
}

int axle__text_rows_read(const char *path, const axle_text_options *options, text_rows *rows)
{
    int columns[3];
    int code = axle_records_open(path, options->records, &rows->records);
    if (!code)
        code = find_columns(rows->records, options, columns);
    if (code)
        return code;
    rows->count = axle_records_count(rows->records);
    code = read_column(rows, columns[0], 1, &rows->texts);
    if (!code)
        code = read_column(rows, columns[1], 1, &rows->pairs);
    if (!code)
        code = read_column(rows, columns[2], 0, &rows->labels);
    return code;
}

/* ------------------------------------------------------------------ of a caller */

static size_t bytes_of(int64_t n, const char *const *texts)
{
    size_t bytes = 0;
    for (int64_t k = 0; texts && k < n; k++)
        bytes += texts[k] ? strlen(texts[k]) + 1 : 0;
    return bytes;
}

static int copy(int64_t n, const char *const *texts, char **to, const char ***out)
{
    if (!texts)
        return AXLE_OK;
    const char **copies = malloc((size_t)n * sizeof(*copies));
    if (!copies)
        return no_memory();
    *out = copies;
    for (int64_t k = 0; k < n; k++) {
        size_t size = texts[k] ? strlen(texts[k]) + 1 : 0;
        copies[k] = texts[k] ? memcpy(*to, texts[k], size) : NULL;
        *to += size;
    }
    return AXLE_OK;
}

int axle__text_rows_copy(int64_t n, const char *const *texts, const char *const *pairs,
                         const char *const *labels, text_rows *rows)
{
    if (n < 1 || !texts)
        return axle_error_set(AXLE_ERR_INVALID, "texts: there are none");
    rows->count = n;
    for (int64_t k = 0; k < n; k++)
        if (!texts[k] || (pairs && !pairs[k]))
            return axle__text_rows_error(rows, k, AXLE_ERR_INVALID, "it is NULL");
    rows->store = malloc(bytes_of(n, texts) + bytes_of(n, pairs) + bytes_of(n, labels) + 1);
    if (!rows->store)
        return no_memory();
    char *to = rows->store;
    int code = copy(n, texts, &to, &rows->texts);
    if (!code)
        code = copy(n, pairs, &to, &rows->pairs);
    if (!code)
        code = copy(n, labels, &to, &rows->labels);
    return code;
}

void axle__text_rows_clear(text_rows *rows)
{
    free(rows->texts);
    free(rows->pairs);
    free(rows->labels);
    free(rows->store);
    axle_records_release(rows->records);
    *rows = (text_rows){0};
}
