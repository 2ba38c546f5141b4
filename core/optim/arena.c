/* SPDX-License-Identifier: Apache-2.0 */
/* The flat arenas of an optimizer. */
#include <string.h>

#include "autograd/node.h"
#include "base/memory.h"
#include "optim/optimizer.h"
#include "tensor/elementwise.h"

enum { ALIGNMENT = 16 /* elements: 64 bytes of f32 */ };

static int64_t aligned(int64_t count)
{
    return (count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* A slot's part of an arena, in the dims of its parameter; one reference. */
static axle_tensor *part_of(const axle_tensor *arena, const axle__slot *slot)
{
    axle_view view = slot->tensor->view;
    int64_t stride = 1;
    view.offset =
        arena->view.offset + (uint64_t)slot->offset * axle_dtype_size((int)axle__dtype(arena));
    for (int k = (int)view.rank - 1; k >= 0; k--) {
        view.stride[k] = stride;
        stride *= view.dim[k] > 0 ? view.dim[k] : 1;
    }
    return axle__tensor_alias(arena, &view);
}

static bool lies_in(const axle_tensor *arena, const axle__slot *slot)
{
    return arena && slot->tensor->storage == arena->storage &&
           slot->tensor->view.offset ==
               arena->view.offset +
                   (uint64_t)slot->offset * axle_dtype_size((int)axle__dtype(arena));
}

static bool in_place(const axle_optimizer *optimizer)
{
    for (int k = 0; k < optimizer->slot_count; k++) {
        const axle__slot *slot = &optimizer->slots[k];
        const axle__grad *grad = axle__grad_peek(slot->tensor);
        if (slot->count == 0)
            continue;
        if (!lies_in(optimizer->params, slot) || !grad || !grad->value ||
            grad->value->storage != optimizer->grads->storage)
            return false;
    }
    return true;
}

static int64_t assign_offsets(axle_optimizer *optimizer)
{
    int64_t offset = 0;
    for (int k = optimizer->slot_count - 1; k >= 0; k--) {
        optimizer->slots[k].offset = offset;
        offset += aligned(optimizer->slots[k].count);
    }
    return offset;
}

static int check_alike(const axle_optimizer *optimizer)
{
    for (int k = 1; k < optimizer->slot_count; k++)
        if (axle__check_pair(optimizer->name, optimizer->slots[0].tensor,
                             optimizer->slots[k].tensor))
            return axle_error_code();
    return AXLE_OK;
}

static axle_tensor *arena_create(const axle_optimizer *optimizer, int64_t size)
{
    const axle_tensor *first = optimizer->slots[0].tensor;
    axle_tensor *arena =
        axle__tensor_new(optimizer->name, first->device, (int)axle__dtype(first), 1, &size, NULL);
    if (arena && axle__fill(arena, 0.0)) {
        axle_tensor_release(arena);
        return NULL;
    }
    return arena;
}

static int move_in(axle__slot *slot, const axle_tensor *params, const axle_tensor *grads)
{
    axle_tensor *param = part_of(params, slot), *grad = part_of(grads, slot);
    int status = param && grad ? AXLE_OK : axle_error_code();
    if (!status)
        status = axle__copy_into(param, slot->tensor);
    if (!status)
        status = axle__grad_bind(slot->tensor, grad);
    if (!status)
        axle__tensor_rebind(slot->tensor, param);
    axle_tensor_release(param);
    axle_tensor_release(grad);
    return status;
}

int64_t axle__optimizer_moment_size(const axle_optimizer *optimizer)
{
    int64_t size = 0;
    for (int k = 0; k < optimizer->piece_count; k++)
        size += optimizer->pieces[k].count;
    return optimizer->pieces ? size : optimizer->arena_size;
}

/* Moments keep their values when the parameters moved to another device. */
static int move_moments(axle_optimizer *optimizer)
{
    int64_t size = axle__optimizer_moment_size(optimizer);
    for (int k = 0; k < optimizer->moment_count; k++) {
        axle_tensor *old = optimizer->moments[k], *fresh = arena_create(optimizer, size);
        if (!fresh || (old && old->count == size && axle__copy_into(fresh, old))) {
            axle_tensor_release(fresh);
            return axle_error_code();
        }
        axle_tensor_release(old);
        optimizer->moments[k] = fresh;
    }
    return AXLE_OK;
}

static int lay_out(axle_optimizer *optimizer)
{
    int status = check_alike(optimizer);
    if (status)
        return status;
    int64_t size = assign_offsets(optimizer);
    axle_tensor *params = arena_create(optimizer, size);
    axle_tensor *grads = params ? arena_create(optimizer, size) : NULL;
    optimizer->arena_size = size;
    status = grads ? move_moments(optimizer) : axle_error_code();
    for (int k = 0; k < optimizer->slot_count && !status; k++)
        if (optimizer->slots[k].count > 0)
            status = move_in(&optimizer->slots[k], params, grads);
    if (status) {
        axle_tensor_release(params);
        axle_tensor_release(grads);
        return status;
    }
    axle_tensor_release(optimizer->params);
    axle_tensor_release(optimizer->grads);
    optimizer->params = params;
    optimizer->grads = grads;
    optimizer->laid_out = true;
    return AXLE_OK;
}

int axle__optimizer_lay_out(axle_optimizer *optimizer)
{
    if (optimizer->slot_count == 0 || (optimizer->laid_out && in_place(optimizer)))
        return AXLE_OK;
    axle_scope_push();
    int status = lay_out(optimizer);
    axle_scope_pop();
    /* Where the parameters were is of sizes that a step does not ask for. */
    if (!status)
        axle_device_trim(optimizer->params->device);
    return status;
}

int axle__optimizer_shard(axle_optimizer *optimizer, axle__piece *pieces, int count)
{
    int status = optimizer->updates > 0
                     ? axle_error_set(AXLE_ERR_STATE,
                                      "%s has made %lld updates; it is shared out "
                                      "before the first",
                                      optimizer->name, (long long)optimizer->updates)
                     : axle_scope_push();
    if (status) {
        axle__free(pieces);
        return status;
    }
    axle__free(optimizer->pieces);
    optimizer->pieces = pieces;
    optimizer->piece_count = count;
    if (optimizer->laid_out)
        status = move_moments(optimizer);
    axle_scope_pop();
    return status;
}
