/* SPDX-License-Identifier: Apache-2.0 */
#include "support/golden.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/autograd.h"
#include "axle/status.h"

/* ------------------------------------------------------------------ files */

static json_t *load_from(const char *folder, const char *family)
{
    char path[4096];
    json_error_t error;
    int length = snprintf(path, sizeof(path), "%s/tests/golden/%s.json", folder, family);
    if (length < 0 || (size_t)length >= sizeof(path))
        return NULL;
    return json_load_file(path, 0, &error);
}

json_t *golden_load(const char *family)
{
    const char *folders[] = {getenv("top_srcdir"), getenv("srcdir"), "."};
    for (size_t k = 0; k < sizeof(folders) / sizeof(folders[0]); k++) {
        json_t *file = folders[k] ? load_from(folders[k], family) : NULL;
        if (file)
            return file;
    }
    fprintf(stderr, "tests/golden/%s.json cannot be read; set srcdir\n", family);
    return NULL;
}

int golden_dtype(void)
{
    axle_device *device = axle_device_current();
    return device && axle_device_supports(device, AXLE_DTYPE_F64) ? AXLE_DTYPE_F64 : AXLE_DTYPE_F32;
}

/* ------------------------------------------------------------------ parts of a case */

static const json_t *present(const json_t *value)
{
    return value && !json_is_null(value) ? value : NULL;
}

static const json_t *element(const json_t *one, const char *key, size_t k)
{
    return present(json_array_get(json_object_get(one, key), k));
}

const char *golden_op(const json_t *one)
{
    return json_string_value(json_object_get(one, "op"));
}

const char *golden_name(const json_t *one)
{
    return json_string_value(json_object_get(one, "name"));
}

const json_t *golden_input(const json_t *one, size_t k)
{
    return element(one, "inputs", k);
}

const json_t *golden_input_named(const json_t *one, const char *name)
{
    for (size_t k = 0; k < golden_input_count(one); k++) {
        const json_t *input = golden_input(one, k);
        const char *own = input ? json_string_value(json_object_get(input, "name")) : NULL;
        if (own && strcmp(own, name) == 0)
            return input;
    }
    return NULL;
}

const json_t *golden_output(const json_t *one, size_t k)
{
    return element(one, "outputs", k);
}

const json_t *golden_grad_output(const json_t *one, size_t k)
{
    return element(one, "grad_outputs", k);
}

const json_t *golden_grad(const json_t *one, size_t k)
{
    return element(one, "grads", k);
}

size_t golden_input_count(const json_t *one)
{
    return json_array_size(json_object_get(one, "inputs"));
}

size_t golden_output_count(const json_t *one)
{
    return json_array_size(json_object_get(one, "outputs"));
}

/* ------------------------------------------------------------------ attributes */

/* Numbers that are not finite are strings. */
static double number_of(const json_t *value)
{
    return json_is_string(value) ? strtod(json_string_value(value), NULL)
                                 : json_number_value(value);
}

static const json_t *attribute(const json_t *one, const char *key)
{
    return present(json_object_get(json_object_get(one, "attrs"), key));
}

double golden_number(const json_t *one, const char *key, double otherwise)
{
    const json_t *value = attribute(one, key);
    return value ? number_of(value) : otherwise;
}

int golden_integer(const json_t *one, const char *key, int otherwise)
{
    return (int)golden_number(one, key, otherwise);
}

bool golden_flag(const json_t *one, const char *key)
{
    return json_is_true(attribute(one, key));
}

const char *golden_text(const json_t *one, const char *key)
{
    return json_string_value(attribute(one, key));
}

bool golden_is_null(const json_t *one, const char *key)
{
    return attribute(one, key) == NULL;
}

int golden_list(const json_t *one, const char *key, int64_t *out, int room)
{
    const json_t *list = attribute(one, key);
    int count = (int)json_array_size(list);
    for (int k = 0; k < count && k < room; k++)
        out[k] = json_integer_value(json_array_get(list, (size_t)k));
    return count;
}

int golden_int_list(const json_t *one, const char *key, int *out, int room)
{
    int64_t wide[16];
    int count = golden_list(one, key, wide, 16);
    for (int k = 0; k < count && k < room; k++)
        out[k] = (int)wide[k];
    return count;
}

/* ------------------------------------------------------------------ making tensors */

double golden_value(const json_t *tensor, size_t k)
{
    return number_of(json_array_get(json_object_get(tensor, "data"), k));
}

static int shape_of(const json_t *tensor, int64_t *dims)
{
    const json_t *shape = json_object_get(tensor, "shape");
    int rank = (int)json_array_size(shape);
    for (int k = 0; k < rank && k < AXLE_MAX_RANK; k++)
        dims[k] = json_integer_value(json_array_get(shape, (size_t)k));
    return rank;
}

static size_t count_of(const json_t *tensor)
{
    return json_array_size(json_object_get(tensor, "data"));
}

/* The data as doubles; for free(). */
static double *values_of(const json_t *tensor)
{
    size_t count = count_of(tensor);
    double *values = calloc(count + 1, sizeof(*values));
    for (size_t k = 0; values && k < count; k++)
        values[k] = golden_value(tensor, k);
    return values;
}

static axle_tensor *tensor_from(int dtype, int rank, const int64_t *dims, const double *values,
                                size_t count)
{
    void *data = calloc(count + 1, sizeof(double));
    if (!data)
        return NULL;
    for (size_t k = 0; k < count; k++) {
        if (dtype == AXLE_DTYPE_F64)
            ((double *)data)[k] = values[k];
        else if (dtype == AXLE_DTYPE_F32)
            ((float *)data)[k] = (float)values[k];
        else if (dtype == AXLE_DTYPE_I64)
            ((int64_t *)data)[k] = (int64_t)values[k];
        else
            ((unsigned char *)data)[k] = values[k] != 0;
    }
    axle_tensor *tensor = axle_from_data(dtype, rank, dims, data);
    free(data);
    return tensor;
}

axle_tensor *golden_tensor(const json_t *tensor)
{
    int64_t dims[AXLE_MAX_RANK];
    if (!tensor)
        return NULL;
    const char *name = json_string_value(json_object_get(tensor, "dtype"));
    int dtype = axle_dtype_from_name(name), rank = shape_of(tensor, dims);
    double *values = values_of(tensor);
    if (!values)
        return NULL;
    if (dtype == AXLE_DTYPE_F64)
        dtype = golden_dtype();
    axle_tensor *made = tensor_from(dtype, rank, dims, values, count_of(tensor));
    free(values);
    if (made && json_is_true(json_object_get(tensor, "requires_grad")) &&
        axle_tensor_set_requires_grad(made, 1))
        return NULL;
    return made;
}

/* ------------------------------------------------------------------ comparing */

golden_tolerance golden_tolerance_for(int dtype)
{
    if (dtype == AXLE_DTYPE_F64)
        return (golden_tolerance){1e-9, 1e-11};
    return (golden_tolerance){2e-5, 2e-5};
}

static bool close_enough(double expected, double got, golden_tolerance tolerance)
{
    if (isnan(expected) || isnan(got))
        return isnan(expected) && isnan(got);
    if (isinf(expected) || isinf(got))
        return expected == got;
    return fabs(expected - got) <= tolerance.absolute + tolerance.relative * fabs(expected);
}

static double read_as_double(const void *data, int dtype, size_t k)
{
    if (dtype == AXLE_DTYPE_F64)
        return ((const double *)data)[k];
    if (dtype == AXLE_DTYPE_F32)
        return ((const float *)data)[k];
    if (dtype == AXLE_DTYPE_I64)
        return (double)((const int64_t *)data)[k];
    if (dtype == AXLE_DTYPE_I32)
        return ((const int32_t *)data)[k];
    return ((const unsigned char *)data)[k];
}

static bool same_shape(const json_t *expected, const axle_tensor *got, char *message, size_t size)
{
    int64_t dims[AXLE_MAX_RANK];
    int rank = shape_of(expected, dims);
    bool same = rank == axle_tensor_rank(got);
    for (int k = 0; same && k < rank; k++)
        same = dims[k] == axle_tensor_dim(got, k);
    char *text = NULL;
    if (!same && axle_tensor_format(got, &text) == AXLE_OK) {
        char *shape = json_dumps(json_object_get(expected, "shape"), 0);
        snprintf(message, size, "expected shape %s, got %s", shape ? shape : "?", text);
        free(shape);
    }
    axle_free(text);
    return same;
}

/* What an element type can hold of a number. */
static double held(double value, int dtype)
{
    return dtype == AXLE_DTYPE_F32 && isfinite(value) && fabs(value) > FLT_MAX
               ? copysign(INFINITY, value)
               : value;
}

static bool same_values(golden_tolerance tolerance, const json_t *expected, int dtype,
                        const void *data, char *message, size_t size)
{
    for (size_t k = 0; k < count_of(expected); k++) {
        double wanted = held(golden_value(expected, k), dtype);
        double value = read_as_double(data, dtype, k);
        if (!close_enough(wanted, value, tolerance)) {
            snprintf(message, size, "element %zu: expected %.17g, got %.17g", k, wanted, value);
            return false;
        }
    }
    return true;
}

bool golden_agrees_within(golden_tolerance tolerance, const json_t *expected,
                          const axle_tensor *got, char *message, size_t size)
{
    if (!got) {
        snprintf(message, size, "no tensor: %s", axle_error_message());
        return false;
    }
    if (!same_shape(expected, got, message, size))
        return false;
    size_t bytes = count_of(expected) * axle_dtype_size(axle_tensor_dtype(got));
    void *data = calloc(1, bytes + 1);
    bool same = data && axle_tensor_read(got, data, bytes) == AXLE_OK;
    if (!same)
        snprintf(message, size, "it cannot be read: %s", axle_error_message());
    same = same && same_values(tolerance, expected, axle_tensor_dtype(got), data, message, size);
    free(data);
    return same;
}

bool golden_agrees(const json_t *expected, const axle_tensor *got, char *message, size_t size)
{
    golden_tolerance tolerance = golden_tolerance_for(golden_dtype());
    return golden_agrees_within(tolerance, expected, got, message, size);
}

bool golden_agrees_grad(golden_tolerance tolerance, const json_t *expected, const axle_tensor *got,
                        char *message, size_t size)
{
    if (got)
        return golden_agrees_within(tolerance, expected, got, message, size);
    for (size_t k = 0; k < count_of(expected); k++)
        if (golden_value(expected, k) != 0.0) {
            snprintf(message, size, "element %zu: expected %.17g, got no gradient", k,
                     golden_value(expected, k));
            return false;
        }
    return true;
}
