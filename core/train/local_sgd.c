/* SPDX-License-Identifier: Apache-2.0 */
/* Local SGD: each process updates by itself, and parameters are averaged now and then. */
#include "optim/optimizer.h"
#include "train/accelerator.h"

bool axle__is_alone(const axle_accelerator *accelerator)
{
    return axle_process_count(accelerator) == 1 || accelerator->options.local_sgd > 0 ||
           accelerator->trial;
}

int axle__check_local(const axle_accelerator_options *options)
{
    if (options->local_sgd < 0)
        return axle_error_set(AXLE_ERR_INVALID,
                              "axle_accelerator_create: parameters averaged after every %d updates",
                              options->local_sgd);
    if (options->local_sgd == 0 || (!options->shard_optimizer && !options->wire_dtype))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID,
                          "axle_accelerator_create: with local_sgd gradients do not travel, so "
                          "there is no %s",
                          options->shard_optimizer ? "shard_optimizer" : "wire_dtype");
}

static int average(axle_accelerator *accelerator, axle_optimizer *optimizer)
{
    if (!optimizer->params || axle_process_count(accelerator) == 1)
        return AXLE_OK;
    return axle_all_reduce(accelerator->group, optimizer->params, AXLE_REDUCE_MEAN);
}

/* The update under way is counted after this. */
int axle__local_after_step(axle_accelerator *accelerator, axle_optimizer *optimizer)
{
    bool is_time = (optimizer->updates + 1) % accelerator->options.local_sgd == 0;
    return is_time ? average(accelerator, optimizer) : AXLE_OK;
}

int axle_average_parameters(axle_accelerator *accelerator)
{
    int at = 0, status = AXLE_OK;
    if (accelerator->options.local_sgd == 0)
        return AXLE_OK;
    for (axle_optimizer *o; !status && (o = axle__next_optimizer(accelerator, &at));)
        status = average(accelerator, o);
    return status;
}
