/* SPDX-License-Identifier: Apache-2.0 */
/* axle_prepare: taking objects over, in place. */
#include <stdio.h>

#include "base/log.h"
#include "base/memory.h"
#include "data/loader.h"
#include "nn/precision.h"
#include "optim/optimizer.h"
#include "train/accelerator.h"
#include "train/replicas.h"

bool axle__is_prepared(const axle_accelerator *accelerator, const axle_object *object)
{
    for (int k = 0; k < accelerator->count; k++)
        if (accelerator->prepared[k].object == object)
            return true;
    return false;
}

static int prepare_module(axle_accelerator *accelerator, axle_object *object)
{
    axle_module *module = (axle_module *)object;
    int status = AXLE_OK;
    if (accelerator->precision)
        status = axle__module_set_precision(module, accelerator->precision);
    if (!status)
        status = axle_module_to_device(module, accelerator->device);
    return status ? status : axle__replicas_copy_module(accelerator, module);
}

static int prepare_model(axle_accelerator *accelerator, axle_object *object)
{
    axle_module *module = axle_model_module((axle_model *)object);
    return prepare_module(accelerator, (axle_object *)module);
}

/* An optimizer may come without its model: its parameters are moved one by one. */
static int prepare_optimizer(axle_accelerator *accelerator, axle_object *object)
{
    axle_optimizer *optimizer = (axle_optimizer *)object;
    int status = axle_scope_push();
    axle_no_grad_push();
    for (int k = 0; k < optimizer->slot_count && !status; k++) {
        axle_tensor *tensor = optimizer->slots[k].tensor;
        axle_tensor *moved = axle_to_device(tensor, accelerator->device);
        if (accelerator->precision && axle__dtype(tensor) == AXLE_DTYPE_F64)
            status = axle_error_set(AXLE_ERR_DTYPE,
                                    "axle_prepare: %s trains '%s', which is f64; mixed precision "
                                    "is for f32",
                                    optimizer->name, optimizer->slots[k].name);
        else if (!moved)
            status = axle_error_code();
        else if (moved != tensor)
            axle__tensor_rebind(tensor, moved);
    }
    axle_no_grad_pop();
    if (!status)
        status = axle__optimizer_lay_out(optimizer);
    axle_scope_pop();
    optimizer->before_step = axle__clip_before_step;
    optimizer->after_step = axle__replicas_after_step;
    optimizer->sum_up = axle__replicas_sum_up;
    optimizer->step_user = accelerator;
    optimizer->alike_every =
        axle_process_count(accelerator) > 1 ? accelerator->options.local_sgd : 0;
    return status ? status : axle__replicas_copy_parameters(accelerator, optimizer);
}

static int prepare_loader(axle_accelerator *accelerator, axle_object *object)
{
    axle_loader *loader = (axle_loader *)object;
    axle__loader_place(loader, accelerator->device);
    axle__loader_set_observer(loader, axle__loop_observe, accelerator);
    axle__loader_set_agree(loader, axle__loop_agree, accelerator);
    return axle__loader_shard(loader, axle_process_count(accelerator),
                              axle_process_index(accelerator));
}

static int prepare_scheduler(axle_accelerator *accelerator, axle_object *object)
{
    (void)accelerator, (void)object;
    return AXLE_OK;
}

/* Kinds in the order in which they are prepared: parameters move before optimizers gather them. */
static const struct kind {
    uint32_t type;
    int (*prepare)(axle_accelerator *accelerator, axle_object *object);
} kinds[] = {
    {AXLE__OBJECT_MODULE, prepare_module},       {AXLE__OBJECT_MODEL, prepare_model},
    {AXLE__OBJECT_OPTIMIZER, prepare_optimizer}, {AXLE__OBJECT_LOADER, prepare_loader},
    {AXLE__OBJECT_SCHEDULER, prepare_scheduler},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static int kind_of(const axle_object *object)
{
    for (int k = 0; k < KINDS; k++)
        if (kinds[k].type == object->type)
            return k;
    return -1;
}

static int check_kinds(void *const *objects)
{
    for (int k = 0; objects[k]; k++)
        if (kind_of(objects[k]) < 0)
            return axle_error_set(AXLE_ERR_INVALID,
                                  "axle_prepare: argument %d is no model, module, optimizer, "
                                  "loader or scheduler",
                                  k + 1);
    return AXLE_OK;
}

static int take_over(axle_accelerator *accelerator, axle_object *object, const struct kind *kind)
{
    axle__prepared *prepared =
        axle__resize(accelerator->prepared, (size_t)accelerator->count + 1, sizeof(*prepared));
    if (!prepared)
        return axle_error_code();
    accelerator->prepared = prepared;
    int status = kind->prepare(accelerator, object);
    if (status)
        return status;
    axle__reducer *reducer = NULL;
    if (object->type == AXLE__OBJECT_OPTIMIZER && !axle__is_alone(accelerator))
        status = axle__reducer_create(accelerator->group, (axle_optimizer *)object,
                                      accelerator->options.shard_optimizer != 0,
                                      accelerator->options.wire_dtype, &reducer);
    if (status)
        return status;
    if (reducer)
        axle__reducer_set_hook(reducer, &accelerator->comm_hook);
    axle__object_retain(object);
    prepared[accelerator->count++] = (axle__prepared){.object = object, .reducer = reducer};
    return AXLE_OK;
}

/* ------------------------------------------------------------------ the plan */

static const axle_loader *first_loader(const axle_accelerator *accelerator)
{
    for (int k = 0; k < accelerator->count; k++)
        if (accelerator->prepared[k].object->type == AXLE__OBJECT_LOADER)
            return (const axle_loader *)accelerator->prepared[k].object;
    return NULL;
}

/* What precision adds to the type of the parameters. */
static const char *products(const axle_accelerator *accelerator)
{
    return accelerator->precision == AXLE_DTYPE_BF16  ? " with products in bf16"
           : accelerator->precision == AXLE_DTYPE_F16 ? " with products in fp16"
                                                      : "";
}

static const char *trained_dtype(axle_accelerator *accelerator)
{
    int at = 0;
    axle_optimizer *optimizer = axle__next_optimizer(accelerator, &at);
    int dtype = optimizer && optimizer->slot_count ? axle_tensor_dtype(optimizer->slots[0].tensor)
                                                   : axle_default_dtype();
    return axle_dtype_name(dtype);
}

/* Updates an epoch, in words: a stream may not tell. */
static void updates_text(const axle_accelerator *accelerator, const axle_loader *loader, char *text,
                         size_t size)
{
    int64_t batches = axle_loader_length(loader), window = accelerator->options.accumulate;
    if (batches == AXLE_LENGTH_UNKNOWN)
        snprintf(text, size, "a stream");
    else
        snprintf(text, size, "%lld updates an epoch", (long long)((batches + window - 1) / window));
}

static int announce(axle_accelerator *accelerator)
{
    const axle_loader *loader = first_loader(accelerator);
    if (!loader || accelerator->plan)
        return AXLE_OK;
    long long batch = (long long)axle_loader_batch_size(loader);
    long long window = accelerator->options.accumulate;
    char updates[64];
    updates_text(accelerator, loader, updates, sizeof(updates));
    int processes = axle_process_count(accelerator);
    accelerator->plan = axle__format(
        "%lld x %d %s x %lld accumulation = %lld per update; %s; %s%s; "
        "%s: %s",
        batch, processes, processes == 1 ? "process" : "processes", window,
        batch * processes * window, updates, trained_dtype(accelerator), products(accelerator),
        axle_device_backend(accelerator->device), axle_device_name(accelerator->device));
    if (!accelerator->plan)
        return axle_error_code();
    if (!accelerator->options.quiet && axle_is_main_process(accelerator))
        axle__info("plan", "%s", accelerator->plan);
    return AXLE_OK;
}

int axle_prepare_objects(axle_accelerator *accelerator, void *const *objects)
{
    int status = check_kinds(objects);
    for (int kind = 0; kind < KINDS && !status; kind++)
        for (int k = 0; objects[k] && !status; k++)
            if (kind_of(objects[k]) == kind && !axle__is_prepared(accelerator, objects[k]))
                status = take_over(accelerator, objects[k], &kinds[kind]);
    return status ? status : announce(accelerator);
}
