/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of unequal length, at the accelerator. While a process waits for the others' loops to end
 * it takes part in their collectives without bringing anything; then the state of the one that
 * worked longest goes to all, and the replicas are equal again.
 */
#include "axle/random.h"
#include "group/group.h"
#include "optim/ema.h"
#include "optim/optimizer.h"
#include "optim/scheduler.h"
#include "train/accelerator.h"
#include "train/checkpoint.h"

int axle_join_begin(axle_accelerator *accelerator)
{
    axle_group *group = accelerator->group;
    if (!group || group->joining)
        return axle_error_set(AXLE_ERR_STATE, "axle_join_begin: %s",
                              group ? "it was begun already" : "the training was ended");
    if (accelerator->mixed)
        return axle_error_set(AXLE_ERR_UNSUPPORTED,
                              "axle_join_begin: the processes compute on different backends, and "
                              "rank 0 gives the others its parameters after each update");
    if (accelerator->options.shard_optimizer)
        return axle_error_set(AXLE_ERR_UNSUPPORTED,
                              "axle_join_begin: a process whose loop is over does not update its "
                              "part of a shared-out optimizer");
    group->joining = true;
    group->join_count = 0;
    return AXLE_OK;
}

typedef struct copy {
    axle_group *group;
    int source;
} copy;

static int copy_bytes(const copy *c, void *data, size_t size)
{
    axle__task task = {.header = {.kind = AXLE__TASK_BROADCAST,
                                  .dtype = AXLE_DTYPE_U8,
                                  .rank = 1,
                                  .count = size,
                                  .dims = {(int64_t)size},
                                  .root = c->source},
                       .in = data,
                       .out = data};
    return axle__group_run(c->group, &task);
}

static int copy_tensor(const char *path, axle_tensor *tensor, void *user)
{
    (void)path;
    const copy *c = user;
    return tensor ? axle_broadcast(c->group, tensor, c->source) : AXLE_OK;
}

static int copy_optimizer(const copy *c, axle_object *object)
{
    axle_optimizer *optimizer = (axle_optimizer *)object;
    int status = copy_bytes(c, &optimizer->updates, sizeof(optimizer->updates));
    if (!status)
        status = copy_tensor("", optimizer->params, (void *)(uintptr_t)c);
    for (int k = 0; k < optimizer->moment_count && !status; k++)
        status = copy_tensor("", optimizer->moments[k], (void *)(uintptr_t)c);
    for (int k = 0; k < optimizer->slot_count && !status; k++)
        status = copy_bytes(c, &optimizer->slots[k].age, sizeof(optimizer->slots[k].age));
    for (int k = 0; k < optimizer->group_count && !status; k++)
        status = copy_bytes(c, &optimizer->groups[k], sizeof(optimizer->groups[k]));
    return status;
}

static int copy_scheduler(const copy *c, axle_object *object)
{
    axle_scheduler *scheduler = (axle_scheduler *)object;
    return copy_bytes(c, &scheduler->ticks, sizeof(scheduler->ticks));
}

static int copy_module(const copy *c, axle_object *object)
{
    return axle_module_each_buffer((axle_module *)object, copy_tensor, (void *)(uintptr_t)c);
}

static int copy_model(const copy *c, axle_object *object)
{
    axle_module *module = axle_model_module((axle_model *)object);
    return copy_module(c, (axle_object *)module);
}

/* Of each kind of prepared object, what training changes; parameters come with their optimizer. */
static const struct kind {
    uint32_t type;
    int (*copy)(const copy *c, axle_object *object);
} kinds[] = {
    {AXLE__OBJECT_OPTIMIZER, copy_optimizer},
    {AXLE__OBJECT_SCHEDULER, copy_scheduler},
    {AXLE__OBJECT_MODEL, copy_model},
    {AXLE__OBJECT_MODULE, copy_module},
};

static int copy_object(const copy *c, axle_object *object)
{
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        if (kinds[k].type == object->type)
            return kinds[k].copy(c, object);
    return AXLE_OK;
}

/* Averages that checkpoints hold are part of the training. */
static int copy_averages(const copy *c, const axle__checkpoints *checkpoints)
{
    int status = AXLE_OK;
    for (int k = 0; checkpoints && k < checkpoints->ema_count && !status; k++) {
        axle_ema *ema = checkpoints->ema[k];
        status = copy_bytes(c, &ema->updates, sizeof(ema->updates));
        if (!status)
            status = copy_bytes(c, &ema->seen, sizeof(ema->seen));
        for (int j = 0; j < ema->run_count && !status; j++)
            status = copy_tensor("", ema->run[j].average, (void *)(uintptr_t)c);
    }
    return status;
}

static int copy_state(axle_accelerator *accelerator, int source)
{
    copy c = {accelerator->group, source};
    axle_random_state random = axle_random_get();
    int status = copy_bytes(&c, &random.update, sizeof(random.update));
    axle_random_set(random);
    axle__scaler_state scaler;
    axle__scaler_get(accelerator, &scaler);
    if (!status)
        status = copy_bytes(&c, &scaler, sizeof(scaler));
    if (!status)
        status = axle__scaler_set(accelerator, &scaler);
    for (int k = 0; k < accelerator->count && !status; k++)
        status = copy_object(&c, accelerator->prepared[k].object);
    return status ? status : copy_averages(&c, accelerator->checkpoints);
}

static int check_finished(const axle_accelerator *accelerator)
{
    const axle__window *window = &accelerator->window;
    if (window->ends || window->batches == 0)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_STATE,
                          "axle_join_end: a window of %lld batches has not ended; "
                          "axle_accumulate_last() ends one",
                          (long long)window->batches);
}

int axle_join_end(axle_accelerator *accelerator)
{
    axle_group *group = accelerator->group;
    int source = 0;
    bool behind = false;
    if (!group || !group->joining)
        return axle_error_set(AXLE_ERR_STATE, "axle_join_end: nothing was begun");
    int status = check_finished(accelerator);
    if (status)
        return status;
    status = axle__group_shadow(group, &source, &behind);
    group->joining = false;
    return status || !behind ? status : copy_state(accelerator, source);
}
