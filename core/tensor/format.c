/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors as text. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "tensor/elementwise.h"
#include "tensor/shape.h"

/* A string that grows; sticky on failure. */
typedef struct text {
    char *data;
    size_t used, room;
    bool failed;
} text;

static void append(text *t, const char *piece)
{
    size_t length = strlen(piece);
    if (t->failed)
        return;
    if (t->used + length + 1 > t->room) {
        size_t room = 2 * (t->used + length + 1);
        char *data = axle__resize(t->data, room, 1);
        t->failed = !data;
        if (!data)
            return;
        t->data = data;
        t->room = room;
    }
    memcpy(t->data + t->used, piece, length + 1);
    t->used += length;
}

enum { SHOWN_AT_EACH_END = 3 };

static void append_values(text *t, const axle_tensor *x, const double *values, int dim,
                          int64_t *position)
{
    char number[32];
    if (dim == axle__rank(x)) {
        bool real = axle_dtype_is_float((int)axle__dtype(x));
        snprintf(number, sizeof(number), real ? "%.6g" : "%.0f", values[(*position)++]);
        append(t, number);
        return;
    }
    int64_t size = x->view.dim[dim], inner = 1;
    for (int k = dim + 1; k < axle__rank(x); k++)
        inner *= x->view.dim[k];
    append(t, "[");
    for (int64_t i = 0; i < size; i++) {
        if (size > 2 * SHOWN_AT_EACH_END + 1 && i == SHOWN_AT_EACH_END) {
            append(t, ", ...");
            *position += inner * (size - 2 * SHOWN_AT_EACH_END);
            i = size - SHOWN_AT_EACH_END;
        }
        append(t, i ? ", " : "");
        append_values(t, x, values, dim + 1, position);
    }
    append(t, "]");
}

/* All values as f64 on the host. */
static int read_values(const axle_tensor *tensor, double *values)
{
    axle_device *host = axle_device_host();
    axle_tensor *here = host ? axle__result("axle_tensor_format", host, (int)axle__dtype(tensor),
                                            axle__rank(tensor), tensor->view.dim)
                             : NULL;
    if (!here || axle__copy_into(here, tensor))
        return axle_error_code();
    axle_tensor *wide = axle__copy("axle_tensor_format", here, AXLE_DTYPE_F64);
    if (!wide)
        return axle_error_code();
    return axle_tensor_read(wide, values, (size_t)tensor->count * sizeof(double));
}

int axle_tensor_format(const axle_tensor *tensor, char **out)
{
    char shape[AXLE__DIMS_TEXT];
    text t = {0};
    if (axle__check_tensor("axle_tensor_format", tensor))
        return axle_error_code();
    double *values = axle__alloc((size_t)tensor->count, sizeof(*values));
    int status = values ? axle_scope_push() : axle_error_code();
    if (!status) {
        status = read_values(tensor, values);
        axle_scope_pop();
    }
    if (!status) {
        int64_t position = 0;
        append(&t, axle_dtype_name((int)axle__dtype(tensor)));
        append(&t, " ");
        append(&t, axle__shape_text(tensor, shape));
        append(&t, " on ");
        append(&t, axle_device_backend(tensor->device));
        append(&t, ": ");
        append_values(&t, tensor, values, 0, &position);
        status = t.failed ? axle_error_code() : AXLE_OK;
    }
    axle__free(values);
    if (status)
        axle__free(t.data);
    else
        *out = t.data;
    return status;
}
