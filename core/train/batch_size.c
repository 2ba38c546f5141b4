/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the largest batch that fits, by trials. */
#include "axle/autograd.h"
#include "axle/random.h"
#include "base/memory.h"
#include "tensor/elementwise.h"
#include "train/accelerator.h"
#include "train/agree.h"

/* ------------------------------------------------------------------ what a trial must not change
 */

/* Buffers of the prepared modules: a trial moves running statistics. */
typedef struct kept {
    axle_tensor **buffer, **copy;
    int count;
} kept;

static int keep_buffer(const char *path, axle_tensor *buffer, void *user)
{
    kept *all = user;
    (void)path;
    axle_tensor **list = axle__resize(all->buffer, (size_t)all->count + 1, sizeof(*list));
    if (!list)
        return axle_error_code();
    all->buffer = list;
    list = axle__resize(all->copy, (size_t)all->count + 1, sizeof(*list));
    if (!list)
        return axle_error_code();
    all->copy = list;
    axle_tensor *copy =
        axle__tensor_new("axle_find_batch_size", buffer->device, (int)axle__dtype(buffer),
                         axle__rank(buffer), buffer->view.dim, NULL);
    if (!copy)
        return axle_error_code();
    all->buffer[all->count] = axle_tensor_retain(buffer);
    all->copy[all->count++] = copy;
    return axle__copy_into(copy, buffer);
}

static axle_module *module_of(axle_object *object)
{
    if (object->type == AXLE__OBJECT_MODULE)
        return (axle_module *)object;
    return object->type == AXLE__OBJECT_MODEL ? axle_model_module((axle_model *)object) : NULL;
}

static int keep_buffers(const axle_accelerator *accelerator, kept *all)
{
    int status = AXLE_OK;
    for (int k = 0; k < accelerator->count && !status; k++) {
        const axle_module *module = module_of(accelerator->prepared[k].object);
        if (module)
            status = axle_module_each_buffer(module, keep_buffer, all);
    }
    return status;
}

static int bring_back(const kept *all)
{
    int status = AXLE_OK;
    for (int k = 0; k < all->count && !status; k++)
        status = axle__copy_into(all->buffer[k], all->copy[k]);
    return status;
}

static void forget(kept *all)
{
    for (int k = 0; k < all->count; k++) {
        axle_tensor_release(all->buffer[k]);
        axle_tensor_release(all->copy[k]);
    }
    axle__free(all->buffer);
    axle__free(all->copy);
}

/* ------------------------------------------------------------------ trials */

/* Without meeting anybody and without an update: a process that runs out of memory in the middle
 * would leave the others waiting in a collective. */
static int try_alone(axle_accelerator *accelerator, int64_t batch, axle_batch_size_fn fn,
                     void *user)
{
    axle_random_state random = axle_random_get();
    int depth = axle_scope_depth();
    int status = axle_scope_push();
    if (status)
        return status;
    accelerator->trial = true;
    accelerator->no_sync++;
    status = fn(batch, user);
    if (!status && axle_error_code())
        status = axle_error_code();
    accelerator->no_sync--;
    accelerator->trial = false;
    while (axle_scope_depth() > depth)
        axle_scope_pop();
    axle__window_abandon(accelerator);
    axle_random_set(random);
    int code = axle_device_synchronize(accelerator->device);
    return status ? status : code;
}

/* *fits: on all processes. An error of any that is not of memory is everyone's. */
static int try_together(axle_accelerator *accelerator, int64_t batch, axle_batch_size_fn fn,
                        void *user, bool *fits)
{
    int status = try_alone(accelerator, batch, fn, user);
    double full = status == AXLE_ERR_NOMEM;
    if (status == AXLE_ERR_NOMEM) {
        axle_error_clear();
        axle_device_trim(accelerator->device);
        status = AXLE_OK;
    }
    status = axle__agree(accelerator, status);
    if (!status && axle_process_count(accelerator) > 1)
        status = axle__reduce_numbers(accelerator, AXLE_DTYPE_F64, &full, 1, AXLE_REDUCE_MAX);
    *fits = full == 0.0;
    return status;
}

static int search(axle_accelerator *accelerator, int64_t batch, axle_batch_size_fn fn, void *user,
                  int64_t *out)
{
    int status = AXLE_OK;
    bool fits = false;
    if (axle_process_count(accelerator) > 1)
        status = axle__reduce_numbers(accelerator, AXLE_DTYPE_I64, &batch, 1, AXLE_REDUCE_MIN);
    for (; !status && batch > 0; batch /= 2) {
        status = try_together(accelerator, batch, fn, user, &fits);
        if (!status && fits) {
            *out = batch;
            return AXLE_OK;
        }
    }
    return status
               ? status
               : axle_error_set(AXLE_ERR_NOMEM, "axle_find_batch_size: not even a batch of 1 fits");
}

int axle_find_batch_size(axle_accelerator *accelerator, int64_t start, axle_batch_size_fn fn,
                         void *user, int64_t *out)
{
    kept buffers = {0};
    int64_t found = 0;
    int status = AXLE_OK;
    if (start < 1 || !fn)
        status = axle_error_set(AXLE_ERR_INVALID, "axle_find_batch_size: %s",
                                fn ? "it starts from 1 or more" : "there is nothing to try");
    else if (!accelerator->window.ends && accelerator->window.batches > 0)
        status = axle_error_set(AXLE_ERR_STATE,
                                "axle_find_batch_size: a window of accumulation is under way");
    if (!status)
        status = keep_buffers(accelerator, &buffers);
    status = axle__agree(accelerator, status);
    if (!status)
        status = search(accelerator, start, fn, user, &found);
    if (!status)
        status = bring_back(&buffers);
    else
        bring_back(&buffers);
    forget(&buffers);
    if (!status)
        *out = found;
    return status;
}
