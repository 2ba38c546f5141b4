/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <string.h>

#include "axle/status.h"
#include "base/memory.h"
#include "data/lines.h"
#include "data/records.h"

/* As many digits as a double has. */
enum { REAL_DIGITS = 17 };

/* A value as text, for axle__free(); NULL where memory runs out. */
static char *text_of(const json_t *value)
{
    if (json_is_string(value))
        return axle__strdup(json_string_value(value));
    /* Jansson's memory is not ours. */
    char *text =
        json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
    char *copy = text ? axle__strdup(text) : NULL;
    free(text);
    return copy;
}

static int define_columns(axle_records *records, json_t *object)
{
    const char *name;
    json_t *value;
    int code = AXLE_OK;
    json_object_foreach(object, name, value)
    {
        if (!code)
            code = axle__list_take(&records->names, axle__strdup(name));
    }
    return code;
}

/* Every key is a column. */
static int check_keys(const axle_records *records, json_t *object, size_t found, size_t line)
{
    const char *name;
    json_t *value;
    if (found == json_object_size(object))
        return AXLE_OK;
    json_object_foreach(object, name, value)
    {
        if (!axle_records_has_column(records, name))
            return axle_error_set(AXLE_ERR_FORMAT,
                                  "%s:%zu: there is '%s', which the first line lacks",
                                  records->path, line, name);
    }
    return AXLE_OK;
}

static int add_value(axle_records *records, const json_t *value, const char **field)
{
    if (json_is_null(value))
        return AXLE_OK;
    int code = axle__list_take(&records->owned, text_of(value));
    if (!code)
        *field = records->owned.item[records->owned.count - 1];
    return code;
}

static int add_object(axle_records *records, json_t *object, size_t line)
{
    const char **fields;
    size_t found = 0;
    if (!json_is_object(object) || json_object_size(object) == 0)
        return axle_error_set(AXLE_ERR_FORMAT, "%s:%zu: the line is not an object with keys",
                              records->path, line);
    int code = records->names.count ? AXLE_OK : define_columns(records, object);
    if (!code)
        code = axle__records_add_row(records, line, &fields);
    for (size_t k = 0; !code && k < records->names.count; k++) {
        const json_t *value = json_object_get(object, records->names.item[k]);
        found += value != NULL;
        if (value)
            code = add_value(records, value, &fields[k]);
    }
    return code ? code : check_keys(records, object, found, line);
}

static int add_line(void *user, size_t line, const char *text, size_t length)
{
    axle_records *records = user;
    json_error_t error;
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!object)
        return axle_error_set(AXLE_ERR_FORMAT, "%s:%zu:%d: %s", records->path, line, error.column,
                              error.text);
    int code = add_object(records, object, line);
    json_decref(object);
    return code;
}

int axle__records_read_jsonl(axle_records *records, size_t size,
                             const axle_records_options *options)
{
    (void)options;
    return axle__each_line(records->text, size, add_line, records);
}
