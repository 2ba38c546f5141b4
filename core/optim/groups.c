/* SPDX-License-Identifier: Apache-2.0 */
#include "optim/groups.h"

#include <fnmatch.h>
#include <math.h>

#include "axle/autograd.h"
#include "base/memory.h"

int axle__group_add(axle_optimizer *optimizer, double lr, double weight_decay)
{
    if (!(lr >= 0.0) || !(weight_decay >= 0.0))
        return axle_error_set(AXLE_ERR_INVALID,
                              "%s: learning rate %g and weight decay %g must not be negative",
                              optimizer->name, lr, weight_decay);
    axle__group *groups =
        axle__resize(optimizer->groups, (size_t)optimizer->group_count + 1, sizeof(*groups));
    if (!groups)
        return axle_error_code();
    optimizer->groups = groups;
    groups[optimizer->group_count++] = (axle__group){lr, lr, weight_decay};
    return AXLE_OK;
}

static bool known(const axle_optimizer *optimizer, const axle_tensor *tensor)
{
    for (int k = 0; k < optimizer->slot_count; k++)
        if (optimizer->slots[k].tensor == tensor)
            return true;
    return false;
}

static int slot_add(axle_optimizer *optimizer, const char *name, axle_tensor *tensor, int group)
{
    if (!axle_tensor_requires_grad(tensor) || !axle_tensor_is_leaf(tensor))
        return axle_error_set(AXLE_ERR_INVALID,
                              "%s: parameter '%s' is no leaf that requires a "
                              "gradient",
                              optimizer->name, name);
    if (axle__dtype(tensor) != AXLE_DTYPE_F32 && axle__dtype(tensor) != AXLE_DTYPE_F64)
        return axle_error_set(AXLE_ERR_DTYPE, "%s: parameter '%s' is %s; f32 and f64 are trained",
                              optimizer->name, name, axle_dtype_name((int)axle__dtype(tensor)));
    if (known(optimizer, tensor))
        return axle_error_set(AXLE_ERR_INVALID, "%s: parameter '%s' was added twice",
                              optimizer->name, name);
    axle__slot *slots =
        axle__resize(optimizer->slots, (size_t)optimizer->slot_count + 1, sizeof(*slots));
    if (!slots)
        return axle_error_code();
    optimizer->slots = slots;
    char *copy = axle__strdup(name);
    if (!copy)
        return axle_error_code();
    slots[optimizer->slot_count++] = (axle__slot){
        .tensor = axle_tensor_retain(tensor), .name = copy, .group = group, .count = tensor->count};
    optimizer->laid_out = false;
    return AXLE_OK;
}

static int add_trainable(const char *path, axle_tensor *tensor, void *user)
{
    return axle_tensor_requires_grad(tensor) ? slot_add(user, path, tensor, 0) : AXLE_OK;
}

int axle__slots_add_module(axle_optimizer *optimizer, axle_module *module)
{
    return axle_module_each_parameter(module, add_trainable, optimizer);
}

static int check_fresh(const axle_optimizer *optimizer, const char *who)
{
    if (optimizer->updates == 0)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_STATE,
                          "%s: %s has made %lld updates; groups are set before the "
                          "first",
                          who, optimizer->name, (long long)optimizer->updates);
}

static double either(double wanted, double inherited)
{
    return isnan(wanted) ? inherited : wanted;
}

static int group_from(axle_optimizer *optimizer, const axle_group_options *options)
{
    axle_group_options defaults = AXLE_GROUP_OPTIONS_INIT;
    const axle_group_options *o = options ? options : &defaults;
    const axle__group *first = &optimizer->groups[0];
    return axle__group_add(optimizer, either(o->lr, first->initial_lr),
                           either(o->weight_decay, first->weight_decay));
}

int axle_optimizer_group_by_name(axle_optimizer *optimizer, const char *pattern,
                                 const axle_group_options *options)
{
    int status = check_fresh(optimizer, "axle_optimizer_group_by_name");
    int matches = 0;
    for (int k = 0; k < optimizer->slot_count; k++)
        matches += fnmatch(pattern, optimizer->slots[k].name, 0) == 0;
    if (!status && matches == 0)
        status = axle_error_set(AXLE_ERR_NOT_FOUND,
                                "axle_optimizer_group_by_name: no parameter matches '%s'", pattern);
    if (!status)
        status = group_from(optimizer, options);
    for (int k = 0; k < optimizer->slot_count && !status; k++)
        if (fnmatch(pattern, optimizer->slots[k].name, 0) == 0)
            optimizer->slots[k].group = optimizer->group_count - 1;
    return status;
}

int axle_optimizer_add_group(axle_optimizer *optimizer, axle_tensor *const *tensors, int n,
                             const axle_group_options *options)
{
    int status = check_fresh(optimizer, "axle_optimizer_add_group");
    if (!status)
        status = group_from(optimizer, options);
    for (int k = 0; k < n && !status; k++)
        status = slot_add(optimizer, "", tensors[k], optimizer->group_count - 1);
    return status;
}

int axle_optimizer_group_count(const axle_optimizer *optimizer)
{
    return optimizer->group_count;
}

static int check_group(const axle_optimizer *optimizer, int group)
{
    if (group >= 0 && group < optimizer->group_count)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INDEX, "%s: group %d of %d", optimizer->name, group,
                          optimizer->group_count);
}

double axle_optimizer_lr(const axle_optimizer *optimizer, int group)
{
    return check_group(optimizer, group) ? NAN : optimizer->groups[group].lr;
}

int axle_optimizer_set_lr(axle_optimizer *optimizer, int group, double lr)
{
    int status = check_group(optimizer, group);
    if (!status && !(lr >= 0.0))
        status = axle_error_set(AXLE_ERR_INVALID, "%s: learning rate %g", optimizer->name, lr);
    if (!status)
        optimizer->groups[group].lr = lr;
    return status;
}
