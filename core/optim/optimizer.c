/* SPDX-License-Identifier: Apache-2.0 */
#include "optim/optimizer.h"

#include <stdlib.h>
#include <string.h>

#include "autograd/node.h"
#include "axle/random.h"
#include "base/memory.h"
#include "device/hook.h"
#include "optim/groups.h"

int axle__optimizer_create(const char *name, axle__update_fn update, int moments,
                           axle_module *module, double lr, double weight_decay,
                           axle_optimizer **out)
{
    axle_optimizer *optimizer = axle__alloc(1, sizeof(*optimizer));
    if (!optimizer)
        return axle_error_code();
    axle__object_init(&optimizer->object, AXLE__OBJECT_OPTIMIZER);
    optimizer->name = name;
    optimizer->update = update;
    optimizer->moment_count = moments;
    int status = axle__group_add(optimizer, lr, weight_decay);
    if (!status && module)
        status = axle__slots_add_module(optimizer, module);
    if (status) {
        axle_optimizer_release(optimizer);
        return status;
    }
    *out = optimizer;
    return AXLE_OK;
}

axle_optimizer *axle_optimizer_retain(axle_optimizer *optimizer)
{
    if (optimizer)
        axle__object_retain(&optimizer->object);
    return optimizer;
}

void axle_optimizer_release(axle_optimizer *optimizer)
{
    if (!optimizer || !axle__object_release(&optimizer->object))
        return;
    for (int k = 0; k < optimizer->slot_count; k++) {
        axle_tensor_release(optimizer->slots[k].tensor);
        axle__free(optimizer->slots[k].name);
    }
    for (int k = 0; k < optimizer->moment_count; k++)
        axle_tensor_release(optimizer->moments[k]);
    axle_tensor_release(optimizer->params);
    axle_tensor_release(optimizer->grads);
    axle__free(optimizer->pieces);
    axle__free(optimizer->slots);
    axle__free(optimizer->groups);
    optimizer->object.type = 0;
    axle__free(optimizer);
}

int axle_optimizer_zero_grad(axle_optimizer *optimizer)
{
    if (optimizer->holding)
        return AXLE_OK;
    for (int k = 0; k < optimizer->slot_count; k++)
        axle__grad_forget(optimizer->slots[k].tensor);
    optimizer->stale = false;
    return AXLE_OK;
}

int axle_optimizer_step_was_skipped(const axle_optimizer *optimizer)
{
    return optimizer->overflowed;
}

int64_t axle_optimizer_updates(const axle_optimizer *optimizer)
{
    return optimizer->updates;
}

axle_view axle__span_view(const axle_tensor *arena, const axle__span *span)
{
    size_t item = axle_dtype_size((int)axle__dtype(arena));
    return (axle_view){.buffer = arena->view.buffer,
                       .offset = arena->view.offset + (uint64_t)span->offset * item,
                       .dtype = arena->view.dtype,
                       .rank = 1,
                       .dim = {span->count},
                       .stride = {1}};
}

/* The parts of a span that this process updates. */
static int visit_span(axle_optimizer *optimizer, const axle__span *span, axle__span_fn fn,
                      void *user)
{
    int status = AXLE_OK;
    if (!optimizer->pieces)
        return fn(optimizer, span, user);
    for (int k = 0; k < optimizer->piece_count && !status; k++) {
        const axle__piece *piece = &optimizer->pieces[k];
        int64_t end = span->offset + span->count, piece_end = piece->offset + piece->count;
        axle__span part = *span;
        part.offset = span->offset > piece->offset ? span->offset : piece->offset;
        part.count = (end < piece_end ? end : piece_end) - part.offset;
        part.place = piece->place + part.offset - piece->offset;
        if (part.count > 0)
            status = fn(optimizer, &part, user);
    }
    return status;
}

/* Slots lie in the arena in falling order of their number. */
int axle__optimizer_each_span(axle_optimizer *optimizer, bool by_group, axle__span_fn fn,
                              void *user)
{
    axle__span span = {0};
    bool open = false;
    int status = AXLE_OK;
    for (int k = optimizer->slot_count - 1; k >= 0 && !status; k--) {
        const axle__slot *slot = &optimizer->slots[k];
        bool present = slot->count > 0 && axle__grad_present(slot->tensor);
        bool fits = open && present &&
                    (!by_group || (span.group == slot->group && span.age == slot->age + 1));
        if (fits) {
            span.count = slot->offset + slot->count - span.offset;
            continue;
        }
        if (open)
            status = visit_span(optimizer, &span, fn, user);
        open = present;
        span = (axle__span){slot->offset, slot->count, slot->offset, slot->group, slot->age + 1};
    }
    return open && !status ? visit_span(optimizer, &span, fn, user) : status;
}

static int update_span(axle_optimizer *optimizer, const axle__span *span, void *user)
{
    (void)user;
    axle_view grad = axle__span_view(optimizer->grads, span);
    axle_view out[1 + AXLE__MOST_MOMENTS] = {axle__span_view(optimizer->params, span)};
    axle__span moments = *span;
    moments.offset = span->place;
    axle__call call = {0};
    axle__call_view_in(&call, &grad);
    axle__call_view_out(&call, &out[0]);
    for (int k = 0; k < optimizer->moment_count; k++) {
        if (optimizer->moments[k])
            out[k + 1] = axle__span_view(optimizer->moments[k], &moments);
        axle__call_view_out(&call, optimizer->moments[k] ? &out[k + 1] : NULL);
    }
    return optimizer->update(optimizer, span, &call);
}

static void count_ages(axle_optimizer *optimizer)
{
    for (int k = 0; k < optimizer->slot_count; k++)
        if (axle__grad_present(optimizer->slots[k].tensor))
            optimizer->slots[k].age++;
}

static int check_whole(const axle_optimizer *optimizer)
{
    if (!optimizer->pieces || optimizer->after_step)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_STATE,
                          "%s: its moments are spread over processes, and the accelerator that "
                          "brought them together is gone",
                          optimizer->name);
}

static int step(axle_optimizer *optimizer)
{
    optimizer->overflowed = false;
    if (optimizer->suspended) {
        optimizer->skipped = true;
        return AXLE_OK;
    }
    optimizer->skipped = false;
    optimizer->holding = false;
    optimizer->stale = true;
    int status = check_whole(optimizer);
    if (!status)
        status = axle__optimizer_lay_out(optimizer);
    if (!status && optimizer->before_step)
        status = optimizer->before_step(optimizer, optimizer->step_user);
    if (!status && optimizer->overflowed) {
        optimizer->skipped = true;
        return AXLE_OK;
    }
    if (!status)
        status = axle__optimizer_each_span(optimizer, true, update_span, NULL);
    if (!status && optimizer->after_step)
        status = optimizer->after_step(optimizer, optimizer->step_user);
    if (status)
        return status;
    if (optimizer->params)
        axle__tensor_touch(optimizer->params);
    count_ages(optimizer);
    optimizer->updates++;
    axle_random_state state = axle_random_get();
    state.update++;
    axle_random_set(state);
    return AXLE_OK;
}

int axle_optimizer_step(axle_optimizer *optimizer)
{
    axle__hook_point phase;
    axle__phase_begin(&phase, "step");
    int status = step(optimizer);
    axle__phase_end(&phase);
    return status;
}
