/* SPDX-License-Identifier: Apache-2.0 */
#include "data/table.h"

#include <string.h>

#include "axle/status.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/options_copy.h"
#include "data/batch.h"
#include "data/dataset.h"

static int64_t table_length(void *user)
{
    return (int64_t)((axle__table *)user)->length;
}

static int fetch_input(const axle__table *table, const int64_t *indices, int64_t n,
                       axle_batch *batch)
{
    const int64_t dims[] = {n, (int64_t)table->columns};
    axle_tensor *input;
    void *data;
    int code = axle__fetch_tensor(AXLE_DTYPE_F32, 2, dims, &input, &data);
    if (code)
        return code;
    for (int64_t k = 0; k < n; k++)
        memcpy((float *)data + (size_t)k * table->columns,
               table->input + (size_t)indices[k] * table->columns, table->columns * sizeof(float));
    return axle__batch_set_take(batch, "input", input);
}

static int fetch_target(const axle__table *table, const int64_t *indices, int64_t n,
                        axle_batch *batch)
{
    axle_tensor *target;
    void *data;
    int code =
        axle__fetch_tensor(table->classes ? AXLE_DTYPE_I64 : AXLE_DTYPE_F32, 1, &n, &target, &data);
    if (code)
        return code;
    for (int64_t k = 0; k < n; k++)
        if (table->classes)
            ((int64_t *)data)[k] = table->classes[indices[k]];
        else
            ((float *)data)[k] = table->values[indices[k]];
    return axle__batch_set_take(batch, "target", target);
}

static int table_fetch(void *user, const int64_t *indices, int64_t n, axle_batch *batch)
{
    const axle__table *table = user;
    int code = fetch_input(table, indices, n, batch);
    if (!code && (table->classes || table->values))
        code = fetch_target(table, indices, n, batch);
    return code;
}

static void table_destroy(void *user)
{
    axle__table_clear(user);
    axle__free(user);
}

static const axle_dataset_class table_class = {
    .struct_size = sizeof(axle_dataset_class),
    .name = "table",
    .length = table_length,
    .fetch = table_fetch,
    .destroy = table_destroy,
};

void axle__table_clear(axle__table *table)
{
    axle__free(table->input);
    axle__free(table->classes);
    axle__free(table->values);
    *table = (axle__table){0};
}

static int ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), part = strlen(ending);
    return length >= part && strcmp(text + length - part, ending) == 0;
}

/* The caller's options over the defaults, completed from the file's name. */
static int complete_options(const char *path, const axle_table_options *options,
                            axle_table_options *out)
{
    int code = axle__options_copy("table", options, out, sizeof(*out));
    if (!code && !out->separator)
        out->separator = ends_with(path, ".tsv") ? '\t' : ',';
    return code;
}

int axle_table_dataset_open(const char *path, const axle_table_options *options, axle_dataset **out)
{
    char *text;
    size_t size;
    if (!path)
        return axle_error_set(AXLE_ERR_INVALID, "table: the path is NULL");
    axle_table_options all = AXLE_TABLE_OPTIONS_INIT;
    int code = complete_options(path, options, &all);
    if (!code)
        code = axle__file_read(path, &text, &size);
    if (code)
        return code;
    axle__table *table = axle__alloc(1, sizeof(*table));
    code = table ? axle__table_read(path, text, size, &all, table) : AXLE_ERR_NOMEM;
    axle__free(text);
    if (!code)
        return axle__dataset_create_take(&table_class, table, (table->columns + 2) * sizeof(float),
                                         out);
    if (table)
        table_destroy(table);
    return code;
}
