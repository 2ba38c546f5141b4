/* SPDX-License-Identifier: Apache-2.0 */
#include "data/jsonl.h"

#include <math.h>
#include <string.h>

#include "axle/data.h"
#include "axle/status.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/batch.h"
#include "data/dataset.h"
#include "data/lines.h"

typedef struct lines {
    size_t length, count;
    axle__json_column *columns;
} lines;

/* ---- the data set: it has get alone, so that the loader's collating sees each sample */

static int64_t lines_length(void *user)
{
    return (int64_t)((lines *)user)->length;
}

static int get_column(const axle__json_column *column, size_t index, axle_batch *sample)
{
    const int64_t *dims = column->dims + index * (size_t)column->rank;
    const axle__json_cell *cells = column->cells + column->starts[index];
    axle_tensor *tensor;
    void *data;
    int code =
        axle_tensor_create(axle_device_host(), column->real ? AXLE_DTYPE_F32 : AXLE_DTYPE_I64,
                           column->rank, dims, &tensor);
    if (code)
        return code;
    code = axle_tensor_data(tensor, &data);
    if (code) {
        axle_tensor_release(tensor);
        return code;
    }
    size_t count = (size_t)axle_tensor_count(tensor);
    for (size_t k = 0; k < count; k++)
        if (column->real)
            ((float *)data)[k] = (float)cells[k].real;
        else
            ((int64_t *)data)[k] = cells[k].integer;
    return axle__batch_set_take(sample, column->name, tensor);
}

static int lines_get(void *user, int64_t index, axle_batch *sample)
{
    const lines *set = user;
    int code = AXLE_OK;
    for (size_t k = 0; !code && k < set->count; k++)
        code = get_column(&set->columns[k], (size_t)index, sample);
    return code;
}

static void lines_destroy(void *user)
{
    lines *set = user;
    for (size_t k = 0; k < set->count; k++)
        axle__json_column_clear(&set->columns[k]);
    axle__free(set->columns);
    axle__free(set);
}

static const axle_dataset_class lines_class = {
    .struct_size = sizeof(axle_dataset_class),
    .name = "json lines",
    .length = lines_length,
    .get = lines_get,
    .destroy = lines_destroy,
};

/* ---- reading it */

/* The keys of the first line become the columns. */
static int define_columns(lines *set, json_t *object)
{
    const char *name;
    json_t *value;
    set->columns = axle__alloc(json_object_size(object), sizeof(*set->columns));
    if (!set->columns)
        return AXLE_ERR_NOMEM;
    json_object_foreach(object, name, value)
    {
        char *copy = axle__strdup(name);
        if (!copy)
            return AXLE_ERR_NOMEM;
        set->columns[set->count++].name = copy;
    }
    return AXLE_OK;
}

static int check_keys(const lines *set, const char *path, size_t line, const json_t *object)
{
    for (size_t k = 0; k < set->count; k++)
        if (!json_object_get(object, set->columns[k].name))
            return axle_error_set(AXLE_ERR_FORMAT, "%s:%zu: there is no '%s', as on the first line",
                                  path, line, set->columns[k].name);
    if (json_object_size(object) != set->count)
        return axle_error_set(AXLE_ERR_FORMAT, "%s:%zu: there are %zu keys, on the first line %zu",
                              path, line, json_object_size(object), set->count);
    return AXLE_OK;
}

static int add_object(lines *set, const char *path, size_t line, json_t *object)
{
    if (!json_is_object(object) || json_object_size(object) == 0)
        return axle_error_set(AXLE_ERR_FORMAT, "%s:%zu: the line is not an object with keys", path,
                              line);
    int code = set->length ? check_keys(set, path, line, object) : define_columns(set, object);
    for (size_t k = 0; !code && k < set->count; k++) {
        const char *problem = "";
        code = axle__json_column_add(&set->columns[k],
                                     json_object_get(object, set->columns[k].name), &problem);
        if (code == AXLE_ERR_FORMAT)
            axle_error_set(code, "%s:%zu: '%s': %s", path, line, set->columns[k].name, problem);
    }
    set->length += code == AXLE_OK;
    return code;
}

/* What each line is added to. */
typedef struct target {
    lines *set;
    const char *path;
} target;

static int add_line(void *user, size_t line, const char *text, size_t length)
{
    const target *to = user;
    json_error_t error;
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!object)
        return axle_error_set(AXLE_ERR_FORMAT, "%s:%zu:%d: %s", to->path, line, error.column,
                              error.text);
    int code = add_object(to->set, to->path, line, object);
    json_decref(object);
    return code;
}

/* Reals become f32, which must hold them. */
static int check_reals(const lines *set, const char *path)
{
    for (size_t k = 0; k < set->count; k++) {
        const axle__json_column *column = &set->columns[k];
        for (size_t i = 0; column->real && i < column->count; i++)
            if (!isfinite((float)column->cells[i].real))
                return axle_error_set(AXLE_ERR_FORMAT, "%s: '%s': %g is too large", path,
                                      column->name, column->cells[i].real);
    }
    return AXLE_OK;
}

static int read_lines(lines *set, const char *path, const char *text, size_t size)
{
    target to = {set, path};
    int code = axle__each_line(text, size, add_line, &to);
    if (!code && set->length == 0)
        code = axle_error_set(AXLE_ERR_FORMAT, "%s: the file is empty", path);
    return code ? code : check_reals(set, path);
}

int axle_jsonl_dataset_open(const char *path, axle_dataset **out)
{
    char *text;
    size_t size;
    if (!path)
        return axle_error_set(AXLE_ERR_INVALID, "json lines: the path is NULL");
    int code = axle__file_read(path, &text, &size);
    if (code)
        return code;
    lines *set = axle__alloc(1, sizeof(*set));
    code = set ? read_lines(set, path, text, size) : AXLE_ERR_NOMEM;
    axle__free(text);
    if (!code)
        return axle__dataset_create_take(&lines_class, set, 0, out);
    if (set)
        lines_destroy(set);
    return code;
}
