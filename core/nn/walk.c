/* SPDX-License-Identifier: Apache-2.0 */
/* Ways through the tree: by dotted path, and over all tensors. */
#include <string.h>

#include "base/memory.h"
#include "nn/module.h"

/* ------------------------------------------------------------------ look-up */

static void *find(const axle_module *module, int kind, const char *path)
{
    while (module && path) {
        const char *dot = strchr(path, '.');
        if (!dot)
            return axle__slots_find(axle__slots_of(module, kind), path, strlen(path));
        module =
            axle__slots_find(axle__slots_of(module, AXLE__CHILDREN), path, (size_t)(dot - path));
        path = dot + 1;
    }
    return NULL;
}

axle_module *axle_module_child(const axle_module *module, const char *path)
{
    return find(module, AXLE__CHILDREN, path);
}

axle_tensor *axle_module_parameter(const axle_module *module, const char *path)
{
    return find(module, AXLE__PARAMETERS, path);
}

axle_tensor *axle_module_buffer(const axle_module *module, const char *path)
{
    return find(module, AXLE__BUFFERS, path);
}

/* ------------------------------------------------------------------ walks */

struct walk {
    const axle_module *root;
    int kind;
    bool every_name;
    axle_tensor_visit_fn fn;
    void *user;
    int64_t position; /* slots passed so far */
    char *path;
    size_t length, room;
};

/* Whether a walk meets the tensor; *position counts the slots before its first one. A name may come
 * back at another position, so positions, not slots, tell a first visit from a later one. */
static bool first_position(const axle_module *module, int kind, const axle_tensor *tensor,
                           int64_t *position)
{
    const axle__slots *slots = axle__slots_of(module, kind);
    for (int k = 0; k < slots->count; k++, ++*position)
        if (slots->at[k].item == tensor)
            return true;
    for (int k = 0; k < axle_module_child_count(module); k++)
        if (first_position(axle__child_at(module, k), kind, tensor, position))
            return true;
    return false;
}

static bool is_first_visit(const struct walk *walk, const axle_tensor *tensor)
{
    int64_t first = 0;
    return !first_position(walk->root, walk->kind, tensor, &first) || first == walk->position;
}

/* Append a name, and a dot before it where there is something to separate. */
static int path_push(struct walk *walk, const char *name)
{
    size_t length = strlen(name), wanted = walk->length + length + 2;
    if (wanted > walk->room) {
        char *path = axle__resize(walk->path, 1, 2 * wanted);
        if (!path)
            return axle_error_code();
        walk->path = path;
        walk->room = 2 * wanted;
    }
    if (walk->length)
        walk->path[walk->length++] = '.';
    memcpy(walk->path + walk->length, name, length + 1);
    walk->length += length;
    return AXLE_OK;
}

static void path_pop(struct walk *walk, size_t length)
{
    walk->length = length;
    if (walk->path)
        walk->path[length] = '\0';
}

static int visit_slot(struct walk *walk, const axle__slot *slot)
{
    size_t length = walk->length;
    int status = AXLE_OK;
    if (walk->every_name || is_first_visit(walk, slot->item)) {
        status = path_push(walk, slot->name);
        if (!status)
            status = walk->fn(walk->path, slot->item, walk->user);
        path_pop(walk, length);
    }
    walk->position++;
    return status;
}

static int visit_module(struct walk *walk, const axle_module *module);

static int visit_child(struct walk *walk, const axle__slot *slot)
{
    size_t length = walk->length;
    int status = path_push(walk, slot->name);
    if (!status)
        status = visit_module(walk, slot->item);
    path_pop(walk, length);
    return status;
}

static int visit_module(struct walk *walk, const axle_module *module)
{
    const axle__slots *slots = axle__slots_of(module, walk->kind);
    const axle__slots *children = axle__slots_of(module, AXLE__CHILDREN);
    int status = AXLE_OK;
    for (int k = 0; k < slots->count && !status; k++)
        status = visit_slot(walk, &slots->at[k]);
    for (int k = 0; k < children->count && !status; k++)
        status = visit_child(walk, &children->at[k]);
    return status;
}

int axle__module_walk(const axle_module *module, int kind, bool every_name, axle_tensor_visit_fn fn,
                      void *user)
{
    struct walk walk = {
        .root = module, .kind = kind, .every_name = every_name, .fn = fn, .user = user};
    int status = visit_module(&walk, module);
    axle__free(walk.path);
    return status;
}

int axle_module_each_parameter(const axle_module *module, axle_tensor_visit_fn fn, void *user)
{
    return axle__module_walk(module, AXLE__PARAMETERS, false, fn, user);
}

int axle_module_each_parameter_name(const axle_module *module, axle_tensor_visit_fn fn, void *user)
{
    return axle__module_walk(module, AXLE__PARAMETERS, true, fn, user);
}

int axle_module_each_buffer(const axle_module *module, axle_tensor_visit_fn fn, void *user)
{
    return axle__module_walk(module, AXLE__BUFFERS, false, fn, user);
}

/* Without paths, and so without anything that can fail. */
static int64_t count_elements(struct walk *walk, const axle_module *module)
{
    const axle__slots *slots = axle__slots_of(module, walk->kind);
    int64_t count = 0;
    for (int k = 0; k < slots->count; k++, walk->position++)
        if (is_first_visit(walk, slots->at[k].item))
            count += axle_tensor_count(slots->at[k].item);
    for (int k = 0; k < axle_module_child_count(module); k++)
        count += count_elements(walk, axle__child_at(module, k));
    return count;
}

int64_t axle_module_parameter_count(const axle_module *module)
{
    struct walk walk = {.root = module, .kind = AXLE__PARAMETERS};
    return count_elements(&walk, module);
}

/* ------------------------------------------------------------------ modules */

struct module_walk {
    struct walk path;
    axle_module_visit_fn fn;
    void *user;
};

static int visit_modules(struct module_walk *walk, axle_module *module)
{
    const axle__slots *children = axle__slots_of(module, AXLE__CHILDREN);
    int status = walk->fn(walk->path.path ? walk->path.path : "", module, walk->user);
    for (int k = 0; k < children->count && !status; k++) {
        size_t length = walk->path.length;
        status = path_push(&walk->path, children->at[k].name);
        if (!status)
            status = visit_modules(walk, children->at[k].item);
        path_pop(&walk->path, length);
    }
    return status;
}

int axle_module_each_module(axle_module *module, axle_module_visit_fn fn, void *user)
{
    struct module_walk walk = {.fn = fn, .user = user};
    int status = visit_modules(&walk, module);
    axle__free(walk.path.path);
    return status;
}
