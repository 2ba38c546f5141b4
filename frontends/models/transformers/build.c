/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include <string.h>

/* What only holds others. */
static const axle_module_class folder_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "folder",
    .instance_size = sizeof(axle_module),
};

enum { LONGEST_NAME = 64 };

static axle_module *add(axle__builder *b, axle_module *parent, const char *name, axle_module *child)
{
    b->status = axle_module_add_child(parent, name, child);
    return b->status ? NULL : child;
}

/* Child of the first `length` letters of `name`, made where it is not there. */
static axle_module *child_of(axle__builder *b, axle_module *parent, const char *name, size_t length)
{
    char part[LONGEST_NAME];
    if (length >= sizeof(part)) {
        b->status = axle_error_set(AXLE_ERR_INTERNAL, "a module's name is too long: %s", name);
        return NULL;
    }
    memcpy(part, name, length);
    part[length] = '\0';
    axle_module *child = axle_module_child(parent, part), *made = NULL;
    if (child)
        return child;
    b->status = axle_module_new(&folder_class, &made);
    return b->status ? NULL : add(b, parent, part, made);
}

axle_module *axle__build_folder(axle__builder *b, axle_module *parent, const char *path)
{
    while (!b->status && *path) {
        size_t length = strcspn(path, ".");
        parent = child_of(b, parent, path, length);
        path += length + (path[length] == '.');
    }
    return b->status ? NULL : parent;
}

axle_module *axle__build_place(axle__builder *b, axle_module *parent, const char *path, int status,
                               axle_module *made)
{
    const char *last = strrchr(path, '.'), *from = path;
    if (!b->status)
        b->status = status;
    for (; last && !b->status && from < last; from += strcspn(from, ".") + 1)
        parent = child_of(b, parent, from, strcspn(from, "."));
    if (!b->status)
        return add(b, parent, last ? last + 1 : path, made);
    if (!status)
        axle_module_release(made);
    return NULL;
}

/* ------------------------------------------------------------------ layers */

axle_module *axle__build_linear(axle__builder *b, axle_module *parent, const char *path, int64_t in,
                                int64_t out)
{
    axle_module *made = NULL;
    int status = b->status ? b->status : axle_linear_create(in, out, 1, &made);
    return axle__build_place(b, parent, path, status, made);
}

axle_module *axle__build_norm(axle__builder *b, axle_module *parent, const char *path,
                              int64_t features, double eps)
{
    axle_module *made = NULL;
    int status = b->status ? b->status : axle_layer_norm_create(features, eps, &made);
    return axle__build_place(b, parent, path, status, made);
}

axle_module *axle__build_embedding(axle__builder *b, axle_module *parent, const char *path,
                                   int64_t count, int64_t features, int64_t padding)
{
    axle_module *made = NULL;
    int status = b->status ? b->status : axle_embedding_create(count, features, padding, &made);
    return axle__build_place(b, parent, path, status, made);
}

axle_module *axle__build_module(axle__builder *b, axle_module *parent, const char *path,
                                const axle_module_class *type)
{
    axle_module *made = NULL;
    int status = b->status ? b->status : axle_module_new(type, &made);
    return axle__build_place(b, parent, path, status, made);
}

axle_tensor *axle__build_parameter(axle__builder *b, axle_module *parent, const char *name,
                                   int rank, const int64_t *dims)
{
    axle_tensor *made = NULL;
    if (!b->status)
        b->status =
            axle_tensor_create(axle_device_current(), axle_default_dtype(), rank, dims, &made);
    if (!b->status)
        b->status = axle_init_constant(made, 0.0);
    if (!b->status)
        b->status = axle_module_add_parameter(parent, name, axle_tensor_retain(made));
    axle_tensor_release(made);
    return b->status ? NULL : made;
}

/* ------------------------------------------------------------------ products of other kinds */

/* A product whose parameters are made here: (out, in), and (out) or NULL. */
typedef struct tied_linear {
    axle_module base;
    axle_tensor *weight, *bias;
} tied_linear;

static axle_tensor *tied_forward(axle_module *self, axle_tensor *x)
{
    const tied_linear *linear = (tied_linear *)self;
    return axle_linear(x, linear->weight, linear->bias);
}

/* The weight is (in, out). */
static axle_tensor *turned_forward(axle_module *self, axle_tensor *x)
{
    const tied_linear *linear = (tied_linear *)self;
    return axle_linear(x, axle_transpose(linear->weight, 0, 1), linear->bias);
}

static const axle_module_class turned_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "turned_linear",
    .instance_size = sizeof(tied_linear),
    .forward = turned_forward,
};

static const axle_module_class tied_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "tied_linear",
    .instance_size = sizeof(tied_linear),
    .forward = tied_forward,
};

/* Share a tensor, or make one. Borrowed. */
static axle_tensor *share(axle__builder *b, axle_module *module, const char *name,
                          axle_tensor *shared, int rank, const int64_t *dims)
{
    if (!shared)
        return axle__build_parameter(b, module, name, rank, dims);
    if (!b->status)
        b->status = axle_module_add_parameter(module, name, axle_tensor_retain(shared));
    return shared;
}

axle_module *axle__build_projection(axle__builder *b, axle_module *parent, const char *path,
                                    int64_t in, int64_t out, axle_tensor *weight, axle_tensor *bias)
{
    if (!weight && !bias)
        return axle__build_linear(b, parent, path, in, out);
    axle_module *module = axle__build_module(b, parent, path, &tied_class);
    if (!module)
        return NULL;
    tied_linear *linear = (tied_linear *)module;
    linear->weight = share(b, module, "weight", weight, AXLE_DIMS(out, in));
    linear->bias = share(b, module, "bias", bias, AXLE_DIMS(out));
    return module;
}

axle_module *axle__build_unbiased(axle__builder *b, axle_module *parent, const char *path,
                                  int64_t in, int64_t out, axle_tensor *weight)
{
    axle_module *module = axle__build_module(b, parent, path, &tied_class);
    if (module)
        ((tied_linear *)module)->weight = share(b, module, "weight", weight, AXLE_DIMS(out, in));
    return module;
}

axle_module *axle__build_turned(axle__builder *b, axle_module *parent, const char *path, int64_t in,
                                int64_t out)
{
    axle_module *module = axle__build_module(b, parent, path, &turned_class);
    if (!module)
        return NULL;
    tied_linear *linear = (tied_linear *)module;
    linear->weight = axle__build_parameter(b, module, "weight", AXLE_DIMS(in, out));
    linear->bias = axle__build_parameter(b, module, "bias", AXLE_DIMS(out));
    return module;
}
