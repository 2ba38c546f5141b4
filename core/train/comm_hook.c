/* SPDX-License-Identifier: Apache-2.0 */
/* The user's function in place of the collective that averages gradients. */
#include <stdio.h>

#include "axle/autograd.h"
#include "base/error.h"
#include "optim/optimizer.h"
#include "train/accelerator.h"
#include "train/bucket.h"

int axle_accelerator_set_comm_hook(axle_accelerator *accelerator, axle_comm_hook_fn fn, void *user)
{
    if (fn && accelerator->options.wire_dtype)
        return axle_error_set(AXLE_ERR_INVALID,
                              "axle_accelerator_set_comm_hook: gradients travel as %s already",
                              axle_dtype_name(accelerator->options.wire_dtype));
    accelerator->comm_hook = (axle__comm_hook){fn, user};
    return AXLE_OK;
}

static int call(const axle__bucket *b)
{
    axle__reducer *reducer = b->reducer;
    const axle_tensor *grads = reducer->optimizer->grads;
    axle_view view = axle__span_view(grads, &(axle__span){.offset = b->offset, .count = b->count});
    axle_comm_bucket bucket = {.struct_size = sizeof(bucket),
                               .group = reducer->group,
                               .gradients = axle__tensor_alias(grads, &view),
                               .index = (int)(b - reducer->buckets),
                               .count = reducer->bucket_count};
    if (!bucket.gradients)
        return axle_error_code();
    int status = axle_scope_push();
    if (!status) {
        axle_no_grad_push();
        status = reducer->hook->fn(&bucket, reducer->hook->user);
        axle_no_grad_pop();
        axle_scope_pop();
    }
    axle_tensor_release(bucket.gradients);
    return status;
}

/* Backward goes on whatever comes of it: the error is the pass's, like that of a collective. Which
 * parameters have a gradient on another process nobody has said, so that is asked in the end. */
void axle__bucket_call(axle__bucket *b)
{
    axle__error_record outer;
    axle__error_take(&outer);
    int status = call(b);
    b->task = (axle__task){.status = status, .most_absent = AXLE__ABSENT_ALL, .done = true};
    if (status)
        snprintf(b->task.message, sizeof(b->task.message), "%s",
                 axle_error_code() ? axle_error_message() : "the communication hook failed");
    axle__error_restore(&outer);
}
