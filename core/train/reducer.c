/* SPDX-License-Identifier: Apache-2.0 */
#include "train/reducer.h"

#include "autograd/node.h"
#include "base/memory.h"
#include "optim/optimizer.h"
#include "tensor/elementwise.h"
#include "train/bucket.h"

/* The first bucket is small, so that communication starts early. */
enum { FIRST_BYTES = 1 << 20, BUCKET_BYTES = 25 << 20 };

double axle__reducer_weight_sum(const axle__reducer *reducer)
{
    return reducer->weight_sum;
}

static bool is_through(const axle__reducer *reducer)
{
    return reducer->next == reducer->bucket_count;
}

static void hand_over_ready(axle__reducer *reducer)
{
    while (!is_through(reducer) && reducer->buckets[reducer->next].waiting == 0)
        axle__bucket_hand_over(&reducer->buckets[reducer->next], AXLE__ABSENT_NONE);
}

static void when_ready(axle_tensor *leaf, void *user)
{
    (void)leaf;
    axle__slot_hook *hook = user;
    axle__reducer *reducer = hook->reducer;
    if (!reducer->armed)
        return;
    reducer->buckets[hook->bucket].waiting--;
    while (reducer && (!reducer->before || is_through(reducer->before))) {
        hand_over_ready(reducer);
        reducer = is_through(reducer) ? reducer->after : NULL;
    }
}

/* ------------------------------------------------------------------ making one */

static int add_bucket(axle__reducer *reducer, int first_slot)
{
    axle__bucket *buckets =
        axle__resize(reducer->buckets, (size_t)reducer->bucket_count + 1, sizeof(*buckets));
    if (!buckets)
        return axle_error_code();
    reducer->buckets = buckets;
    buckets[reducer->bucket_count++] =
        (axle__bucket){.reducer = reducer,
                       .first_slot = first_slot,
                       .last_slot = first_slot,
                       .offset = reducer->optimizer->slots[first_slot].offset};
    return AXLE_OK;
}

/* Slots lie in the arena in falling order of their number, which is that of backward. */
static int cut_buckets(axle__reducer *reducer)
{
    const axle_optimizer *optimizer = reducer->optimizer;
    int64_t item = (int64_t)axle_dtype_size((int)axle__dtype(optimizer->slots[0].tensor));
    int status = AXLE_OK;
    for (int k = optimizer->slot_count - 1; k >= 0 && !status; k--) {
        const axle__slot *slot = &optimizer->slots[k];
        int last = reducer->bucket_count - 1;
        int64_t limit = (last == 0 ? FIRST_BYTES : BUCKET_BYTES) / item;
        if (last < 0 || slot->offset + slot->count - reducer->buckets[last].offset > limit)
            status = add_bucket(reducer, k);
        if (status)
            break;
        axle__bucket *b = &reducer->buckets[reducer->bucket_count - 1];
        b->last_slot = k;
        b->count = slot->offset + slot->count - b->offset;
        b->slots += slot->count > 0;
        reducer->hooks[k].bucket = reducer->bucket_count - 1;
    }
    return status;
}

static int hook_slots(axle__reducer *reducer)
{
    int status = AXLE_OK;
    for (int k = 0; k < reducer->optimizer->slot_count && !status; k++) {
        const axle__slot *slot = &reducer->optimizer->slots[k];
        axle__slot_hook *hook = &reducer->hooks[k];
        hook->reducer = reducer;
        if (slot->count > 0)
            status = axle_tensor_add_ready_hook(slot->tensor, when_ready, hook, &hook->hook);
    }
    return status;
}

void axle__reducer_set_hook(axle__reducer *reducer, const axle__comm_hook *hook)
{
    reducer->hook = hook;
}

int axle__reducer_piece_count(const axle__reducer *reducer)
{
    return reducer->bucket_count;
}

axle__piece axle__reducer_piece(const axle__reducer *reducer, int k, int rank)
{
    axle__range own = axle__bucket_piece_of(&reducer->buckets[k], rank);
    return (axle__piece){reducer->buckets[k].offset + (int64_t)own.first, (int64_t)own.count, 0};
}

/* The optimizer updates this process's piece of each bucket. */
static int share_out(axle__reducer *reducer)
{
    axle__piece *pieces = axle__alloc((size_t)reducer->bucket_count + 1, sizeof(*pieces));
    int64_t place = 0;
    if (!pieces)
        return axle_error_code();
    for (int k = 0; k < reducer->bucket_count; k++) {
        pieces[k] = axle__reducer_piece(reducer, k, reducer->group->rank);
        pieces[k].place = place;
        place += pieces[k].count;
    }
    return axle__optimizer_shard(reducer->optimizer, pieces, reducer->bucket_count);
}

int axle__reducer_create(axle_group *group, axle_optimizer *optimizer, bool sharded, int wire,
                         axle__reducer **out)
{
    axle__reducer *reducer = axle__alloc(1, sizeof(*reducer));
    if (!reducer)
        return axle_error_code();
    reducer->group = group;
    reducer->sharded = sharded;
    reducer->wire = wire;
    reducer->optimizer = axle_optimizer_retain(optimizer);
    reducer->hooks = axle__alloc((size_t)optimizer->slot_count + 1, sizeof(*reducer->hooks));
    int status = reducer->hooks ? AXLE_OK : axle_error_code();
    if (!status && optimizer->slot_count > 0)
        status = cut_buckets(reducer);
    if (!status && optimizer->slot_count > 0)
        status = axle__bucket_room(reducer);
    if (!status)
        status = hook_slots(reducer);
    if (!status && sharded)
        status = share_out(reducer);
    if (status) {
        axle__reducer_destroy(reducer);
        return status;
    }
    *out = reducer;
    return AXLE_OK;
}

void axle__reducer_destroy(axle__reducer *reducer)
{
    if (!reducer)
        return;
    for (int k = 0; reducer->hooks && k < reducer->optimizer->slot_count; k++)
        axle_hook_remove(reducer->hooks[k].hook);
    axle_optimizer_release(reducer->optimizer);
    axle__free(reducer->hooks);
    axle__free(reducer->buckets);
    axle__free(reducer->staging);
    axle__free(reducer->packed);
    axle__free(reducer);
}

/* ------------------------------------------------------------------ a pass */

static int zero_slot(axle_optimizer *optimizer, int k)
{
    axle__grad *grad = axle__grad_peek(optimizer->slots[k].tensor);
    return axle__fill(grad->value, 0.0);
}

static int zero_range(const axle_tensor *arena, int64_t offset, int64_t count)
{
    axle_view view = axle__span_view(arena, &(axle__span){.offset = offset, .count = count});
    axle_tensor *part = count > 0 ? axle__tensor_alias(arena, &view) : NULL;
    int status = part ? axle__fill(part, 0.0) : AXLE_OK;
    axle_tensor_release(part);
    return count > 0 && !part ? axle_error_code() : status;
}

static int keep_once(const axle__bucket *b)
{
    const axle_tensor *grads = b->reducer->optimizer->grads;
    int64_t first = 0, count = b->reducer->group->rank == 0 ? b->count : 0;
    if (b->reducer->sharded) {
        axle__range own = axle__bucket_piece(b);
        first = (int64_t)own.first;
        count = (int64_t)own.count;
    }
    int status = zero_range(grads, b->offset, first);
    return status ? status : zero_range(grads, b->offset + first + count, b->count - first - count);
}

int axle__reducer_keep_once(axle__reducer *reducer)
{
    int status = axle__optimizer_lay_out(reducer->optimizer);
    for (int k = 0; k < reducer->bucket_count && !status; k++)
        status = keep_once(&reducer->buckets[k]);
    return status;
}

int axle__reducer_begin(axle__reducer *reducer, axle__reducer *before, double weight, bool again)
{
    reducer->before = before;
    reducer->after = NULL;
    if (before)
        before->after = reducer;
    reducer->next = 0;
    reducer->weight = weight;
    reducer->again = again;
    for (int k = 0; k < reducer->bucket_count; k++) {
        reducer->buckets[k].waiting = reducer->buckets[k].slots;
        reducer->buckets[k].handed_over = false;
    }
    int status = axle__optimizer_lay_out(reducer->optimizer);
    if (again && !status)
        status = axle__reducer_keep_once(reducer);
    reducer->armed = status == AXLE_OK;
    return status;
}

/* Hand over a bucket whose pass is over: what has no gradient counts as 0. */
static int hand_over_rest(axle__reducer *reducer)
{
    int status = AXLE_OK;
    while (reducer->next < reducer->bucket_count && !status) {
        axle__bucket *b = &reducer->buckets[reducer->next];
        int absent = 0;
        for (int k = b->first_slot; k >= b->last_slot && !status; k--) {
            const axle__slot *slot = &reducer->optimizer->slots[k];
            if (slot->count == 0 || axle__grad_present(slot->tensor))
                continue;
            absent++;
            status = zero_slot(reducer->optimizer, k);
        }
        if (!status)
            axle__bucket_hand_over(b, absent == 0          ? AXLE__ABSENT_NONE
                                      : absent == b->slots ? AXLE__ABSENT_ALL
                                                           : AXLE__ABSENT_PARTS);
    }
    return status;
}

static int wait_for_all(axle__reducer *reducer)
{
    int status = AXLE_OK;
    for (int k = 0; k < reducer->bucket_count; k++) {
        axle__bucket *b = &reducer->buckets[k];
        int code = b->handed_over ? axle__group_wait(reducer->group, &b->task) : AXLE_OK;
        status = status ? status : code;
        if (b->handed_over && !code && !reducer->again)
            reducer->weight_sum = b->task.weight_sum;
    }
    return status;
}

static bool any_absent(const axle__reducer *reducer)
{
    for (int k = 0; k < reducer->bucket_count; k++)
        if (reducer->buckets[k].task.most_absent != AXLE__ABSENT_NONE)
            return true;
    return false;
}

/* A parameter that any process used has a gradient on all; one that none used has none. */
static int agree_on_presence(axle__reducer *reducer)
{
    axle_optimizer *optimizer = reducer->optimizer;
    uint8_t *present = axle__alloc((size_t)optimizer->slot_count, 1);
    if (!present)
        return axle_error_code();
    for (int k = 0; k < optimizer->slot_count; k++)
        present[k] = axle__grad_present(optimizer->slots[k].tensor);
    axle__task task = {.header = {.kind = AXLE__TASK_ALL_REDUCE,
                                  .reduction = AXLE_REDUCE_MAX,
                                  .dtype = AXLE_DTYPE_U8,
                                  .rank = 1,
                                  .count = (uint64_t)optimizer->slot_count,
                                  .dims = {optimizer->slot_count}},
                       .in = present,
                       .out = present};
    int status = axle__group_run(reducer->group, &task);
    for (int k = 0; k < optimizer->slot_count && !status; k++)
        if (present[k] && optimizer->slots[k].count > 0)
            axle__grad_set_present(optimizer->slots[k].tensor);
    axle__free(present);
    return status;
}

int axle__reducer_finish(axle__reducer *reducer, int status)
{
    reducer->armed = false;
    return status ? status : hand_over_rest(reducer);
}

int axle__reducer_end(axle__reducer *reducer, int status)
{
    int waited = wait_for_all(reducer);
    if (status || waited)
        return status ? status : waited;
    if (any_absent(reducer))
        status = agree_on_presence(reducer);
    if (reducer->optimizer->grads)
        axle__tensor_touch(reducer->optimizer->grads);
    return status;
}

int axle__reducer_gather_parameters(axle__reducer *reducer)
{
    int status = AXLE_OK;
    for (int k = 0; k < reducer->bucket_count; k++)
        axle__bucket_gather(&reducer->buckets[k]);
    for (int k = 0; k < reducer->bucket_count; k++) {
        int code = axle__group_wait(reducer->group, &reducer->buckets[k].task);
        status = status ? status : code;
    }
    return status;
}
