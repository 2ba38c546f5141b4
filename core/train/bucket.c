/* SPDX-License-Identifier: Apache-2.0 */
#include "train/bucket.h"

#include "base/memory.h"
#include "optim/optimizer.h"
#include "train/wire.h"

/* Bytes from the beginning of an arena's block to an element. */
static uint64_t place_of(const axle_tensor *arena, int64_t element)
{
    return arena->view.offset - arena->storage->block->offset +
           (uint64_t)element * axle_dtype_size((int)axle__dtype(arena));
}

static uint64_t bytes_of(const axle_tensor *arena, int64_t count)
{
    return (uint64_t)count * axle_dtype_size((int)axle__dtype(arena));
}

/* A bucket's stretch of an arena in host memory: its own, or the staging. */
static unsigned char *host_of(const axle__bucket *b, const axle_tensor *arena)
{
    const axle__block *block = arena->storage->block;
    return axle__device_is_direct(block->device) ? block->host + place_of(arena, b->offset)
                                                 : b->reducer->staging;
}

axle__range axle__bucket_piece_of(const axle__bucket *b, int rank)
{
    return axle__piece_of((uint64_t)b->count, rank, b->reducer->group->size);
}

axle__range axle__bucket_piece(const axle__bucket *b)
{
    return axle__bucket_piece_of(b, b->reducer->group->rank);
}

static int copy_in(const axle__bucket *b, const axle_tensor *arena)
{
    axle__block *block = arena->storage->block;
    if (axle__device_is_direct(block->device))
        return AXLE_OK;
    return axle__block_read(block, place_of(arena, b->offset), b->reducer->staging,
                            bytes_of(arena, b->count));
}

static int copy_out(const axle__bucket *b, const axle_tensor *arena)
{
    axle__block *block = arena->storage->block;
    if (axle__device_is_direct(block->device))
        return AXLE_OK;
    return axle__block_write(block, place_of(arena, b->offset), b->reducer->staging,
                             bytes_of(arena, b->count));
}

/* ------------------------------------------------------------------ gradients */

/* What the group works on: the bucket, or its packed copy. In a sharded reducer the result is this
 * process's piece of it. */
static void point_to(axle__task *task, unsigned char *data)
{
    const axle__bucket *b = task->user;
    size_t item = axle_dtype_size(task->header.dtype);
    task->in = task->out = data;
    if (b->reducer->sharded)
        task->out = data + axle__bucket_piece(b).first * item;
}

/* On the group's thread. The device's queue is in order, so what backward enqueued is done. */
static int fetch_bucket(axle__task *task)
{
    axle__bucket *b = task->user;
    axle__reducer *reducer = b->reducer;
    point_to(task, reducer->wire ? (unsigned char *)reducer->packed
                                 : host_of(b, reducer->optimizer->grads));
    return copy_in(b, reducer->optimizer->grads);
}

/* Once the sum of the weights is known. Shares of the mean are packed rather than sums, which might
 * be too large for the wire. */
static int pack_bucket(axle__task *task, const axle__header *all, int size)
{
    (void)all, (void)size;
    axle__bucket *b = task->user;
    const axle_tensor *grads = b->reducer->optimizer->grads;
    axle__wire_pack(b->reducer->wire, (int)axle__dtype(grads), host_of(b, grads), task->scale,
                    b->reducer->packed, (uint64_t)b->count);
    task->scale = 1.0;
    return AXLE_OK;
}

static void unpack_bucket(const axle__bucket *b)
{
    const axle__reducer *reducer = b->reducer;
    const axle_tensor *grads = reducer->optimizer->grads;
    axle__range part = {0, (uint64_t)b->count};
    if (reducer->sharded)
        part = axle__bucket_piece(b);
    axle__wire_unpack(reducer->wire, reducer->packed + part.first, (int)axle__dtype(grads),
                      host_of(b, grads) + bytes_of(grads, (int64_t)part.first), part.count);
}

static int store_bucket(axle__task *task)
{
    axle__bucket *b = task->user;
    if (task->least_absent == AXLE__ABSENT_ALL)
        return AXLE_OK;
    if (b->reducer->wire)
        unpack_bucket(b);
    return copy_out(b, b->reducer->optimizer->grads);
}

void axle__bucket_hand_over(axle__bucket *b, uint8_t absent)
{
    axle__reducer *reducer = b->reducer;
    b->handed_over = true;
    reducer->next++;
    if (reducer->hook && reducer->hook->fn) {
        axle__bucket_call(b);
        return;
    }
    b->task = (axle__task){.prepare = fetch_bucket,
                           .place = reducer->wire ? pack_bucket : NULL,
                           .finish = store_bucket,
                           .user = b};
    axle__header *header = &b->task.header;
    header->kind = reducer->sharded ? AXLE__TASK_REDUCE_SCATTER : AXLE__TASK_ALL_REDUCE;
    header->reduction = AXLE_REDUCE_SUM;
    header->dtype =
        (uint8_t)(reducer->wire ? reducer->wire : (int)axle__dtype(reducer->optimizer->grads));
    header->rank = 1;
    header->count = (uint64_t)b->count;
    header->dims[0] = b->count;
    header->weighted = !reducer->again;
    header->weight = reducer->weight;
    header->absent = absent;
    axle__header_site(header);
    axle__group_submit(reducer->group, &b->task);
}

/* ------------------------------------------------------------------ parameters */

static int fetch_piece(axle__task *task)
{
    axle__bucket *b = task->user;
    const axle_tensor *params = b->reducer->optimizer->params;
    task->out = host_of(b, params);
    task->in = (unsigned char *)task->out + bytes_of(params, (int64_t)axle__bucket_piece(b).first);
    return copy_in(b, params);
}

static int store_pieces(axle__task *task)
{
    axle__bucket *b = task->user;
    return copy_out(b, b->reducer->optimizer->params);
}

void axle__bucket_gather(axle__bucket *b)
{
    const axle__reducer *reducer = b->reducer;
    uint64_t count = axle__bucket_piece(b).count;
    b->task = (axle__task){.header = {.kind = AXLE__TASK_ALL_GATHER,
                                      .dtype = (uint8_t)axle__dtype(reducer->optimizer->params),
                                      .rank = 1,
                                      .count = count,
                                      .dims = {(int64_t)count}},
                           .prepare = fetch_piece,
                           .finish = store_pieces,
                           .user = b};
    axle__group_submit(reducer->group, &b->task);
}

/* ------------------------------------------------------------------ room */

int axle__bucket_room(axle__reducer *reducer)
{
    int64_t most = 0;
    const axle_tensor *grads = reducer->optimizer->grads;
    for (int k = 0; k < reducer->bucket_count; k++)
        most = reducer->buckets[k].count > most ? reducer->buckets[k].count : most;
    uint64_t bytes = bytes_of(grads, most);
    if (!axle__device_is_direct(grads->device) &&
        !(reducer->staging = axle__alloc_aligned(bytes ? (size_t)bytes : 1, 64)))
        return axle_error_code();
    if (reducer->wire && !(reducer->packed = axle__alloc((size_t)most + 1, sizeof(uint16_t))))
        return axle_error_code();
    return AXLE_OK;
}
