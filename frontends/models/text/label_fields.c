/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "label_fields.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"

static int each_of_array(const text_rows *rows, int64_t row, label_item_fn fn, void *user)
{
    json_error_t where;
    json_t *array = json_loads(rows->labels[row], 0, &where), *item;
    size_t k;
    int code = AXLE_OK;
    if (!array)
        return axle__text_rows_error(rows, row, AXLE_ERR_FORMAT, "labels: %s", where.text);
    json_array_foreach(array, k, item)
    {
        char number[32];
        const char *name = json_string_value(item);
        if (json_is_integer(item)) {
            snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(item));
            name = number;
        }
        code = name ? fn(name, user)
                    : axle__text_rows_error(rows, row, AXLE_ERR_FORMAT,
                                            "label %zu is no text and no whole number", k);
        if (code)
            break;
    }
    json_decref(array);
    return code;
}

/* Cut spaces off both ends. */
static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t", text[length - 1]))
        text[--length] = '\0';
    return text;
}

static int each_of_list(const char *field, char separator, label_item_fn fn, void *user)
{
    const char separators[] = {separator, '\0'};
    char *copy = strdup(field), *rest = copy, *item;
    int code = copy ? AXLE_OK : axle_error_set(AXLE_ERR_NOMEM, "labels: out of memory");
    while (!code && (item = strsep(&rest, separators))) {
        item = trim(item);
        code = *item ? fn(item, user) : AXLE_OK;
    }
    free(copy);
    return code;
}

int axle__label_field_each(const text_rows *rows, int64_t row, char separator, label_item_fn fn,
                           void *user)
{
    const char *field = rows->labels[row];
    if (!field)
        return AXLE_OK;
    return *field == '[' ? each_of_array(rows, row, fn, user)
                         : each_of_list(field, separator, fn, user);
}
