/* SPDX-License-Identifier: Apache-2.0 */
/* What a program says about its windows: blocks that are a batch, the last one, and where nothing
 * is to be sent. */
#include "axle/status.h"
#include "train/accelerator.h"

static int check_trained(const axle_accelerator *accelerator, void *const *objects)
{
    for (int k = 0; objects[k]; k++) {
        const axle_object *object = objects[k];
        bool trains = object->type == AXLE__OBJECT_MODEL || object->type == AXLE__OBJECT_MODULE;
        if (!trains || !axle__is_prepared(accelerator, object))
            return axle_error_set(AXLE_ERR_STATE,
                                  "axle_accumulate_begin: argument %d is no model or module that "
                                  "was prepared",
                                  k + 1);
    }
    return AXLE_OK;
}

int axle_accumulate_begin_objects(axle_accelerator *accelerator, void *const *objects)
{
    int status = check_trained(accelerator, objects);
    if (status)
        return status;
    if (accelerator->blocks++ == 0)
        accelerator->block = (axle__loop){.rows = 1.0};
    return AXLE_OK;
}

int axle_accumulate_end(axle_accelerator *accelerator)
{
    if (accelerator->blocks == 0)
        return axle_error_set(AXLE_ERR_STATE, "axle_accumulate_end: no block is open");
    if (--accelerator->blocks == 0 && accelerator->block.counted)
        axle__window_close(accelerator);
    return AXLE_OK;
}

void axle_accumulate_last(axle_accelerator *accelerator)
{
    accelerator->last = true;
}

int axle_no_sync_begin(axle_accelerator *accelerator)
{
    accelerator->no_sync++;
    return AXLE_OK;
}

int axle_no_sync_end(axle_accelerator *accelerator)
{
    if (accelerator->no_sync == 0)
        return axle_error_set(AXLE_ERR_STATE, "axle_no_sync_end: nothing was begun");
    accelerator->no_sync--;
    return AXLE_OK;
}
