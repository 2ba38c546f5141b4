/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "labels.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"
#include "label_fields.h"
#include "label_names.h"

static int no_memory(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "labels: out of memory");
}

/* ------------------------------------------------------------------ names */

static int copy_names(const char *const *given, text_labels *labels)
{
    int64_t count = 0;
    while (given[count])
        count++;
    labels->names = calloc((size_t)count + 1, sizeof(*labels->names));
    if (!labels->names)
        return no_memory();
    for (int64_t k = 0; k < count; k++)
        if (!(labels->names[k] = strdup(given[k])))
            return no_memory();
    labels->count = count;
    return AXLE_OK;
}

static int add_name(const char *name, void *user)
{
    return axle__label_names_add(user, name);
}

static int missing(const text_rows *rows, int64_t row)
{
    return axle__text_rows_error(rows, row, AXLE_ERR_FORMAT, "there is no label");
}

static int find_names(const text_rows *rows, const axle_text_options *options, text_labels *labels)
{
    label_names found = {NULL, 0, 0};
    int sets = options->kind == AXLE_TEXT_LABEL_SETS, code = AXLE_OK;
    for (int64_t k = 0; k < rows->count && !code; k++)
        if (sets)
            code = axle__label_field_each(rows, k, options->label_separator, add_name, &found);
        else
            code = rows->labels[k] && *rows->labels[k]
                       ? axle__label_names_add(&found, rows->labels[k])
                       : missing(rows, k);
    axle__label_names_finish(&found);
    labels->names = found.items;
    labels->count = found.count;
    if (!code && found.count == 0)
        code = axle__text_rows_error(rows, 0, AXLE_ERR_FORMAT, "no row has a label");
    return code;
}

/* Number of a label by its name, or as a number of one; -1. */
static int64_t label_of(const text_labels *labels, const char *name)
{
    int64_t value;
    for (int64_t k = 0; k < labels->count; k++)
        if (strcmp(labels->names[k], name) == 0)
            return k;
    return axle__label_is_whole(name, &value) && value >= 0 && value < labels->count ? value : -1;
}

static int unknown(const text_rows *rows, int64_t row, const text_labels *labels, const char *name)
{
    return axle__text_rows_error(rows, row, AXLE_ERR_FORMAT,
                                 "there is no label '%.100s' among the %" PRId64 ", from '%.100s'",
                                 name, labels->count, labels->names[0] ? labels->names[0] : "");
}

/* ------------------------------------------------------------------ kinds */

static int read_classes(const text_rows *rows, const axle_text_options *options,
                        text_labels *labels)
{
    (void)options;
    labels->classes = malloc((size_t)rows->count * sizeof(*labels->classes));
    if (!labels->classes)
        return no_memory();
    for (int64_t k = 0; k < rows->count; k++) {
        const char *name = rows->labels[k];
        if (!name || !*name)
            return missing(rows, k);
        labels->classes[k] = label_of(labels, name);
        if (labels->classes[k] < 0)
            return unknown(rows, k, labels, name);
    }
    return AXLE_OK;
}

/* A row that is being marked. */
typedef struct marking {
    const text_rows *rows;
    text_labels *labels;
    int64_t row;
} marking;

static int mark(const char *name, void *user)
{
    const marking *m = user;
    int64_t label = label_of(m->labels, name);
    if (label < 0)
        return unknown(m->rows, m->row, m->labels, name);
    m->labels->values[m->row * m->labels->count + label] = 1.0F;
    return AXLE_OK;
}

static int read_sets(const text_rows *rows, const axle_text_options *options, text_labels *labels)
{
    labels->values = calloc((size_t)rows->count * (size_t)labels->count, sizeof(*labels->values));
    if (!labels->values)
        return no_memory();
    marking m = {rows, labels, 0};
    for (int code; m.row < rows->count; m.row++)
        if ((code = axle__label_field_each(rows, m.row, options->label_separator, mark, &m)))
            return code;
    return AXLE_OK;
}

static int read_number(const text_rows *rows, int64_t row, locale_t c, float *out)
{
    const char *text = rows->labels[row];
    char *end;
    if (!text || !*text)
        return missing(rows, row);
    *out = strtof_l(text, &end, c);
    if (end == text || *end || !isfinite(*out))
        return axle__text_rows_error(rows, row, AXLE_ERR_FORMAT, "'%.100s' is no number", text);
    return AXLE_OK;
}

/* With a decimal point, whatever the locale. */
static int read_numbers(const text_rows *rows, const axle_text_options *options,
                        text_labels *labels)
{
    (void)options;
    labels->count = 1;
    labels->values = malloc((size_t)rows->count * sizeof(*labels->values));
    locale_t c = labels->values ? newlocale(LC_ALL_MASK, "C", (locale_t)0) : (locale_t)0;
    int code = c ? AXLE_OK : no_memory();
    for (int64_t k = 0; k < rows->count && !code; k++)
        code = read_number(rows, k, c, &labels->values[k]);
    if (c)
        freelocale(c);
    return code;
}

static int (*const readers[])(const text_rows *, const axle_text_options *, text_labels *) = {
    [AXLE_TEXT_CLASSES] = read_classes,
    [AXLE_TEXT_LABEL_SETS] = read_sets,
    [AXLE_TEXT_NUMBERS] = read_numbers,
};

int axle__text_labels_read(const text_rows *rows, const axle_text_options *options,
                           text_labels *labels)
{
    int code = AXLE_OK, named = options->kind != AXLE_TEXT_NUMBERS;
    if (options->kind < AXLE_TEXT_CLASSES || options->kind > AXLE_TEXT_NUMBERS)
        return axle_error_set(AXLE_ERR_INVALID, "texts: there are no labels of kind %d",
                              options->kind);
    labels->kind = options->kind;
    if (named && options->labels)
        code = copy_names(options->labels, labels);
    else if (named && rows->labels)
        code = find_names(rows, options, labels);
    return code || !rows->labels ? code : readers[options->kind](rows, options, labels);
}

void axle__text_labels_clear(text_labels *labels)
{
    axle__label_names_free(labels->names);
    free(labels->classes);
    free(labels->values);
    *labels = (text_labels){0};
}
