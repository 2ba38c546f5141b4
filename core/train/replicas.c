/* SPDX-License-Identifier: Apache-2.0 */
#include "train/replicas.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "optim/optimizer.h"

int axle__replicas_compare_devices(axle_accelerator *accelerator)
{
    const char *name = axle_device_backend(accelerator->device);
    int equal = 1, status = AXLE_OK;
    if (axle_process_count(accelerator) > 1)
        status = axle_processes_agree(accelerator, axle__hash(AXLE__HASH_START, name, strlen(name)),
                                      &equal);
    accelerator->mixed = !equal;
    return status;
}

/* ------------------------------------------------------------------ modules */

typedef struct survey {
    axle_group *group;
    uint64_t sum;
} survey;

static int describe(const char *path, axle_tensor *tensor, void *user)
{
    survey *s = user;
    int dtype = axle_tensor_dtype(tensor), rank = axle_tensor_rank(tensor);
    s->sum = axle__hash(s->sum, path, strlen(path) + 1);
    s->sum = axle__hash(s->sum, &dtype, sizeof(dtype));
    s->sum = axle__hash(s->sum, axle_tensor_dims(tensor), (size_t)rank * sizeof(int64_t));
    return AXLE_OK;
}

static int copy_from_first(const char *path, axle_tensor *tensor, void *user)
{
    (void)path;
    const survey *s = user;
    return axle_broadcast(s->group, tensor, 0);
}

/* Processes whose models differ go through the tensors one by one, so that the first that differs
 * is named; alike ones do the same to get rank 0's values. */
int axle__replicas_copy_module(axle_accelerator *accelerator, axle_module *module)
{
    survey s = {accelerator->group, AXLE__HASH_START};
    int equal;
    if (axle_process_count(accelerator) == 1)
        return AXLE_OK;
    axle_module_each_parameter(module, describe, &s);
    axle_module_each_buffer(module, describe, &s);
    int status = axle_processes_agree(accelerator, s.sum, &equal);
    if (!status)
        status = axle_module_each_parameter(module, copy_from_first, &s);
    if (!status)
        status = axle_module_each_buffer(module, copy_from_first, &s);
    if (!status && !equal)
        status = axle_error_set(AXLE_ERR_STATE,
                                "axle_prepare: the processes' models differ in the names of their "
                                "parameters or buffers");
    return status;
}

/* ------------------------------------------------------------------ optimizers */

static int checksum(axle_optimizer *optimizer, uint64_t *out)
{
    const axle_tensor *params = optimizer->params;
    size_t bytes = (size_t)optimizer->arena_size * axle_dtype_size((int)axle__dtype(params));
    void *data = axle__alloc_aligned(bytes ? bytes : 1, 64);
    if (!data)
        return axle_error_code();
    int status = axle_tensor_read(params, data, bytes);
    if (!status)
        *out = axle__hash(AXLE__HASH_START, data, bytes);
    axle__free(data);
    return status;
}

int axle__replicas_copy_parameters(axle_accelerator *accelerator, axle_optimizer *optimizer)
{
    uint64_t sum = 0;
    int equal = 1;
    if (axle_process_count(accelerator) == 1 || !optimizer->params)
        return AXLE_OK;
    int status = checksum(optimizer, &sum);
    if (!status)
        status = axle_processes_agree(accelerator, sum, &equal);
    return status || equal ? status : axle_broadcast(accelerator->group, optimizer->params, 0);
}

static axle__reducer *reducer_of(const axle_accelerator *accelerator,
                                 const axle_optimizer *optimizer)
{
    for (int k = 0; k < accelerator->count; k++)
        if (accelerator->prepared[k].object == &optimizer->object)
            return accelerator->prepared[k].reducer;
    return NULL;
}

int axle__replicas_after_step(axle_optimizer *optimizer, void *user)
{
    axle_accelerator *accelerator = user;
    axle__reducer *reducer = reducer_of(accelerator, optimizer);
    if (!optimizer->params || !accelerator->group)
        return AXLE_OK;
    if (accelerator->options.local_sgd > 0)
        return axle__local_after_step(accelerator, optimizer);
    if (accelerator->options.shard_optimizer && reducer)
        return axle__reducer_gather_parameters(reducer);
    return accelerator->mixed ? axle_broadcast(accelerator->group, optimizer->params, 0) : AXLE_OK;
}

int axle__replicas_sum_up(double *sum, void *user)
{
    axle_accelerator *accelerator = user;
    double processes = axle_process_count(accelerator);
    int status = axle_weighted_mean(accelerator, *sum, 1.0, sum);
    *sum *= processes;
    return status;
}
