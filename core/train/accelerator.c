/* SPDX-License-Identifier: Apache-2.0 */
#include "train/accelerator.h"

#include <limits.h>
#include <math.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/options_copy.h"
#include "base/settings.h"
#include "data/loader.h"
#include "device/registry.h"
#include "group/group.h"
#include "nn/precision.h"
#include "optim/optimizer.h"
#include "train/precision.h"
#include "train/replicas.h"

static int check_options(const axle_accelerator_options *o)
{
    if (o->accumulate < 1)
        return axle_error_set(AXLE_ERR_INVALID,
                              "axle_accelerator_create: %d batches a window; at least 1 is needed",
                              o->accumulate);
    if (!(o->accumulate_budget >= 0.0) || !isfinite(o->accumulate_budget))
        return axle_error_set(AXLE_ERR_INVALID, "axle_accelerator_create: a budget of %g a window",
                              o->accumulate_budget);
    if (!(o->clip_norm >= 0.0) || !(o->clip_value >= 0.0))
        return axle_error_set(AXLE_ERR_INVALID,
                              "axle_accelerator_create: clip by norm %g, value %g", o->clip_norm,
                              o->clip_value);
    if (o->wire_dtype != 0 && o->wire_dtype != AXLE_DTYPE_BF16 && o->wire_dtype != AXLE_DTYPE_F16)
        return axle_error_set(AXLE_ERR_DTYPE,
                              "axle_accelerator_create: gradients travel as bf16, f16 or as they "
                              "are, not as %s",
                              axle_dtype_name(o->wire_dtype) ? axle_dtype_name(o->wire_dtype)
                                                             : "that");
    return axle__check_local(o);
}

/* What the environment asks for, where the program asks for nothing. */
static int apply_settings(axle_accelerator_options *o)
{
    int64_t accumulate = axle__setting_integer(AXLE_SETTING_ACCUMULATE);
    if (accumulate < 0 || accumulate > INT_MAX)
        return axle_error_set(AXLE_ERR_INVALID, "AXLE_ACCUMULATE=%lld: batches an update, or 0",
                              (long long)accumulate);
    if (o->accumulate == 0)
        o->accumulate = accumulate > 0 ? (int)accumulate : 1;
    if (o->sync_each_batch == 0)
        o->sync_each_batch = axle__setting_integer(AXLE_SETTING_SYNC_EACH_BATCH) != 0;
    return AXLE_OK;
}

/* The group comes first: which of several GPUs is this process's depends on it. */
static int open_device(axle_accelerator *accelerator)
{
    int status = axle_group_join(&accelerator->group);
    if (status)
        return status;
    axle__select_for_process(axle_group_local_rank(accelerator->group));
    status = axle_device_open(accelerator->options.backend, &accelerator->device);
    accelerator->options.backend = NULL; /* the caller's string may go */
    if (!status)
        status = axle__replicas_compare_devices(accelerator);
    return status ? status : axle_device_set_default(accelerator->device);
}

/* The caller's strings and structs may go afterwards. */
static int set_precision(axle_accelerator *accelerator)
{
    axle_accelerator_options *o = &accelerator->options;
    int status = axle__precision_join(o->precision, &accelerator->precision);
    accelerator->joined = status == AXLE_OK;
    if (!status)
        status = axle__scaler_init(&accelerator->scaler, accelerator->precision == AXLE_DTYPE_F16,
                                   o->scaler);
    o->precision = NULL;
    o->scaler = NULL;
    return status;
}

int axle_accelerator_create(const axle_accelerator_options *options, axle_accelerator **out)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    int status = axle__options_copy("axle_accelerator_create", options, &o, sizeof(o));
    if (!status)
        status = apply_settings(&o);
    if (!status)
        status = check_options(&o);
    axle_accelerator *accelerator = status ? NULL : axle__alloc(1, sizeof(*accelerator));
    if (!accelerator)
        return status ? status : axle_error_code();
    accelerator->options = o;
    accelerator->window.ends = true;
    status = set_precision(accelerator);
    if (!status)
        status = open_device(accelerator);
    if (status)
        axle_accelerator_release(accelerator);
    else
        *out = accelerator;
    return status;
}

axle_optimizer *axle__next_optimizer(axle_accelerator *accelerator, int *at)
{
    while (*at < accelerator->count) {
        axle_object *object = accelerator->prepared[(*at)++].object;
        if (object->type == AXLE__OBJECT_OPTIMIZER)
            return (axle_optimizer *)object;
    }
    return NULL;
}

/* Objects of this accelerator go on without it. */
static void let_go(axle__prepared *prepared)
{
    axle_object *object = prepared->object;
    axle__reducer_destroy(prepared->reducer);
    if (object->type == AXLE__OBJECT_OPTIMIZER) {
        axle_optimizer *optimizer = (axle_optimizer *)object;
        optimizer->before_step = optimizer->after_step = NULL;
        optimizer->sum_up = NULL;
        optimizer->suspended = optimizer->holding = optimizer->stale = false;
        optimizer->overflowed = false;
        optimizer->alike_every = 0;
        axle_optimizer_release(optimizer);
    } else if (object->type == AXLE__OBJECT_LOADER) {
        axle__loader_set_observer((axle_loader *)object, NULL, NULL);
        axle__loader_set_agree((axle_loader *)object, NULL, NULL);
        axle_loader_release((axle_loader *)object);
    } else if (object->type == AXLE__OBJECT_MODEL) {
        axle__module_set_precision(axle_model_module((axle_model *)object), 0);
        axle_model_release((axle_model *)object);
    } else if (object->type == AXLE__OBJECT_MODULE) {
        axle__module_set_precision((axle_module *)object, 0);
        axle_module_release((axle_module *)object);
    } else {
        axle_scheduler_release((axle_scheduler *)object);
    }
}

int axle_end_training(axle_accelerator *accelerator)
{
    axle_group *group = accelerator->group;
    int written = axle__checkpoints_settle(accelerator->checkpoints);
    accelerator->group = NULL;
    int left = axle_group_leave(group);
    return written ? written : left;
}

void axle_accelerator_release(axle_accelerator *accelerator)
{
    if (!accelerator)
        return;
    bool failed = accelerator->group && accelerator->group->poisoned; /* and was told */
    if (axle_end_training(accelerator) != AXLE_OK && !failed)
        axle__warn("train", "%s", axle_error_message());
    for (int k = 0; k < accelerator->count; k++)
        let_go(&accelerator->prepared[k]);
    axle__checkpoints_destroy(accelerator->checkpoints);
    if (accelerator->joined)
        axle__precision_leave();
    axle__free(accelerator->prepared);
    axle__free(accelerator->plan);
    axle__free(accelerator);
}

axle_device *axle_accelerator_device(const axle_accelerator *accelerator)
{
    return accelerator->device;
}

int axle_process_count(const axle_accelerator *accelerator)
{
    return accelerator->group ? axle_group_size(accelerator->group) : 1;
}

int axle_process_index(const axle_accelerator *accelerator)
{
    return accelerator->group ? axle_group_rank(accelerator->group) : 0;
}

int axle_is_main_process(const axle_accelerator *accelerator)
{
    return axle_process_index(accelerator) == 0;
}

int axle_accumulate_count(const axle_accelerator *accelerator)
{
    return accelerator->options.accumulate;
}

const char *axle_accelerator_plan(const axle_accelerator *accelerator)
{
    return accelerator->plan ? accelerator->plan : "";
}

axle_tensor *axle_accelerator_place(axle_accelerator *accelerator, axle_tensor *tensor)
{
    return axle_to_device(tensor, accelerator->device);
}
