/* SPDX-License-Identifier: Apache-2.0 */
/* The module tree: life time, members, forward, modes. */
#include <string.h>

#include "axle/autograd.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/object.h"
#include "nn/module.h"
#include "nn/precision.h"

/* Classes of the first version end before `call`. */
#define LEAST_CLASS_SIZE offsetof(axle_module_class, call)

static int check_module_class(const axle_module_class *type)
{
    if (!type || !type->name)
        return axle_error_set(AXLE_ERR_INVALID, "axle_module_new: no class, or one without name");
    if (type->struct_size < LEAST_CLASS_SIZE || type->instance_size < sizeof(axle_module))
        return axle_error_set(AXLE_ERR_INVALID,
                              "axle_module_new: class %s has struct_size %zu (at least %zu) and "
                              "instance_size %zu (at least %zu)",
                              type->name, type->struct_size, LEAST_CLASS_SIZE, type->instance_size,
                              sizeof(axle_module));
    return AXLE_OK;
}

int axle_module_new(const axle_module_class *type, axle_module **out)
{
    if (check_module_class(type))
        return axle_error_code();
    axle_module *module = axle__alloc(1, type->instance_size);
    if (!module)
        return axle_error_code();
    module->state = axle__alloc(1, sizeof(*module->state));
    if (!module->state) {
        axle__free(module);
        return axle_error_code();
    }
    axle__object_init(&module->object, AXLE__OBJECT_MODULE);
    module->type = type;
    module->training = 1;
    *out = module;
    return AXLE_OK;
}

axle_module *axle_module_retain(axle_module *module)
{
    if (module)
        axle__object_retain(&module->object);
    return module;
}

static void release_slots(axle_module_state *state)
{
    for (int kind = 0; kind < AXLE__SLOT_KINDS; kind++) {
        axle__slots *slots = &state->slots[kind];
        for (int k = slots->count - 1; k >= 0; k--) {
            if (kind == AXLE__CHILDREN)
                axle_module_release(slots->at[k].item);
            else
                axle_tensor_release(slots->at[k].item);
        }
        axle__slots_free(slots);
    }
}

void axle_module_release(axle_module *module)
{
    if (!module || !axle__object_release(&module->object))
        return;
    if (module->type->destroy)
        module->type->destroy(module);
    release_slots(module->state);
    axle__free(module->state);
    axle__free(module);
}

/* ------------------------------------------------------------------ members */

static int check_name(const axle_module *module, const char *name)
{
    const char *type = module->type->name;
    if (!name || !*name || strchr(name, '.'))
        return axle_error_set(AXLE_ERR_INVALID, "%s: '%s' is no name of a member", type,
                              name ? name : "");
    for (int kind = 0; kind < AXLE__SLOT_KINDS; kind++)
        if (axle__slots_find(axle__slots_of(module, kind), name, strlen(name)))
            return axle_error_set(AXLE_ERR_INVALID, "%s: it has a member '%s' already", type, name);
    return AXLE_OK;
}

/* A module or tensor that was not made: what failed to make it has recorded why. */
static int check_given(const char *who, const axle_module *module, const void *item)
{
    if (module && item)
        return AXLE_OK;
    return axle__missing(who, module ? "what to add" : "the module");
}

static bool contains(const axle_module *tree, const axle_module *module)
{
    if (tree == module)
        return true;
    for (int k = 0; k < axle_module_child_count(tree); k++)
        if (contains(axle__child_at(tree, k), module))
            return true;
    return false;
}

static int add_child(axle_module *module, const char *name, axle_module *child)
{
    if (check_given("axle_module_add_child", module, child) || check_name(module, name))
        return axle_error_code();
    if (contains(child, module))
        return axle_error_set(AXLE_ERR_INVALID, "%s: child '%s' holds the module it is added to",
                              module->type->name, name);
    return axle__slots_add(&module->state->slots[AXLE__CHILDREN], name, child);
}

/* `name`, or the number of the child to come as text in `number`. */
static const char *name_or_number(const axle_module *module, const char *name, char number[16])
{
    if (name || !module)
        return name;
    int value = axle_module_child_count(module), at = 15;
    number[at] = '\0';
    do
        number[--at] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    return number + at;
}

int axle_module_add_child(axle_module *module, const char *name, axle_module *child)
{
    char number[16];
    int status = add_child(module, name_or_number(module, name, number), child);
    if (status)
        axle_module_release(child);
    return status;
}

static int add_tensor(axle_module *module, int kind, const char *name, axle_tensor *tensor)
{
    if (check_given("axle_module_add", module, tensor) || check_name(module, name))
        return axle_error_code();
    if (kind == AXLE__PARAMETERS && axle_tensor_set_requires_grad(tensor, 1))
        return axle_error_code();
    return axle__slots_add(&module->state->slots[kind], name, tensor);
}

int axle_module_add_parameter(axle_module *module, const char *name, axle_tensor *tensor)
{
    int status = add_tensor(module, AXLE__PARAMETERS, name, tensor);
    if (status)
        axle_tensor_release(tensor);
    return status;
}

int axle_module_add_buffer(axle_module *module, const char *name, axle_tensor *tensor)
{
    int status = add_tensor(module, AXLE__BUFFERS, name, tensor);
    if (status)
        axle_tensor_release(tensor);
    return status;
}

int axle_module_child_count(const axle_module *module)
{
    return axle__slots_of(module, AXLE__CHILDREN)->count;
}

/* ------------------------------------------------------------------ running */

typedef axle_tensor *(*call_fn)(axle_module *self, axle_tensor *const *in, int n_in);

static call_fn call_of(const axle_module *module)
{
    bool has = module->type->struct_size >= LEAST_CLASS_SIZE + sizeof(module->type->call);
    return has ? module->type->call : NULL;
}

static int check_callable(const char *who, const axle_module *module, int n_in)
{
    if (!module)
        return axle_error_set(AXLE_ERR_INVALID, "%s: the module is NULL", who);
    if (n_in == 1 ? module->type->forward || call_of(module) : call_of(module) != NULL)
        return AXLE_OK;
    if (n_in == 1)
        return axle_error_set(AXLE_ERR_UNSUPPORTED,
                              "%s: this module is not callable with one tensor",
                              module->type->name);
    return axle_error_set(AXLE_ERR_UNSUPPORTED, "%s: this module is not callable with %d tensors",
                          module->type->name, n_in);
}

static axle_tensor *run(axle_module *module, axle_tensor *const *in, int n_in)
{
    if (axle_scope_push())
        return NULL;
    bool region = axle__precision_begin(module);
    bool plain = n_in == 1 && module->type->forward;
    axle_tensor *y =
        plain ? module->type->forward(module, in[0]) : call_of(module)(module, in, n_in);
    axle__precision_end(region, &y, 1);
    if (!y && !axle_error_code())
        axle_error_set(AXLE_ERR_INTERNAL, "%s: forward gave neither a tensor nor an error",
                       module->type->name);
    return axle_scope_pop_keep(y);
}

static axle_tensor *run_again(axle_tensor *const *in, int n_in, void *again)
{
    return run(((axle__again *)again)->module, in, n_in);
}

static axle_tensor *run_or_record(const char *who, axle_module *module, axle_tensor *const *in,
                                  int n_in)
{
    if (check_callable(who, module, n_in))
        return NULL;
    if (axle__is_recomputed(module) && module->type != &axle__sequential_class)
        return axle__recomputed(&(axle__again){.module = module}, run_again, in, n_in);
    return run(module, in, n_in);
}

axle_tensor *axle_module_forward(axle_module *module, axle_tensor *x)
{
    return x ? run_or_record("axle_module_forward", module, &x, 1) : NULL;
}

axle_tensor *axle_module_call(axle_module *module, axle_tensor *const *in, int n_in)
{
    if (!in || n_in < 1) {
        axle_error_set(AXLE_ERR_INVALID, "axle_module_call: there is no input");
        return NULL;
    }
    return in[0] ? run_or_record("axle_module_call", module, in, n_in) : NULL;
}

void axle_module_train(axle_module *module, int on)
{
    module->training = on != 0;
    for (int k = 0; k < axle_module_child_count(module); k++)
        axle_module_train(axle__child_at(module, k), on);
}
