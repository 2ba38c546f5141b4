/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of unequal length. A process whose loop is over asks for JOIN again and again; each time it
 * sees in the others' headers what they do, and takes its turn in it without bringing anything:
 * messages pass through it, sums and means are those of the others. When all ask for JOIN all loops
 * are over.
 */
#include "base/memory.h"
#include "group/group.h"

/* What can be done without a process. */
static bool goes_on_without(const axle__header *header)
{
    static const uint8_t kinds[] = {AXLE__TASK_BARRIER, AXLE__TASK_ALL_REDUCE,
                                    AXLE__TASK_ALL_GATHER, AXLE__TASK_GATHER, AXLE__TASK_BROADCAST};
    for (size_t k = 0; k < sizeof(kinds); k++)
        if (header->joining && header->kind == kinds[k])
            return true;
    return false;
}

static bool has_root(const axle__header *header)
{
    return header->kind == AXLE__TASK_GATHER || header->kind == AXLE__TASK_BROADCAST;
}

static bool gathers(const axle__header *header)
{
    return header->kind == AXLE__TASK_GATHER || header->kind == AXLE__TASK_ALL_GATHER;
}

int axle__active_count(const axle_group *group)
{
    int count = 0;
    for (int k = 0; k < group->size; k++)
        count += !group->headers[k].shadow;
    return count;
}

/* The first header of a process whose loop goes on; NULL where there is none, or where the others
 * can not go on. */
static const axle__header *model_of(const axle_group *group)
{
    const axle__header *model = NULL;
    for (int k = 0; k < group->size; k++) {
        const axle__header *header = &group->headers[k];
        if (header->kind == AXLE__TASK_JOIN)
            continue;
        if (!goes_on_without(header))
            return NULL;
        model = model ? model : header;
    }
    bool rootless = model && has_root(model) &&
                    (model->root < 0 || model->root >= group->size ||
                     group->headers[model->root].kind == AXLE__TASK_JOIN);
    return rootless ? NULL : model;
}

bool axle__join_hide(axle_group *group)
{
    const axle__header *model = model_of(group);
    bool hidden = false;
    if (!model)
        return false;
    const axle__header copy = *model;
    for (int k = 0; k < group->size; k++) {
        axle__header *header = &group->headers[k];
        if (header->kind != AXLE__TASK_JOIN)
            continue;
        *header = copy;
        header->shadow = 1;
        header->weight = 0.0;
        header->absent = AXLE__ABSENT_ALL;
        if (gathers(header))
            header->count = 0, header->dims[0] = 0;
        hidden = true;
    }
    return hidden;
}

/* All loops are over: who worked longest has what the others are to get. */
static int finish_join(const axle_group *group, axle__task *task)
{
    task->over = true;
    task->source = 0;
    for (int k = 1; k < group->size; k++) {
        uint64_t most = group->headers[task->source].count, count = group->headers[k].count;
        task->behind = task->behind || count != most;
        task->source = count > most ? k : task->source;
    }
    return AXLE_OK;
}

static int (*const data[AXLE__TASK_LIMIT])(axle_group *group, axle__task *task) = {
    [AXLE__TASK_ALL_REDUCE] = axle__all_reduce_data,
    [AXLE__TASK_ALL_GATHER] = axle__gather_data,
    [AXLE__TASK_GATHER] = axle__gather_data,
    [AXLE__TASK_BROADCAST] = axle__broadcast_data,
};

static uint64_t result_bytes(const axle_group *group, const axle__header *header)
{
    uint64_t count = header->count;
    for (int k = 0; k < group->size && gathers(header); k++)
        count += group->headers[k].count;
    return count * axle_dtype_size(header->dtype);
}

int axle__join_data(axle_group *group, axle__task *task, bool hidden)
{
    if (!hidden)
        return finish_join(group, task);
    axle__task shadow = {.header = group->headers[group->rank], .weight_sum = task->weight_sum};
    shadow.scale = axle__task_scale(group, &shadow);
    if (!data[shadow.header.kind] || task->least_absent == AXLE__ABSENT_ALL)
        return AXLE_OK;
    uint64_t bytes = result_bytes(group, &shadow.header);
    shadow.in = shadow.out = axle__alloc_aligned(bytes ? (size_t)bytes : 1, 64);
    int status = shadow.in ? data[shadow.header.kind](group, &shadow) : axle_error_code();
    /* After a failure messages under way may still be written to it. */
    if (status)
        axle__group_unlink(group);
    axle__free(shadow.in);
    return status;
}

int axle__group_shadow(axle_group *group, int *source, bool *behind)
{
    axle__task task = {0};
    int status = AXLE_OK;
    do {
        task = (axle__task){.header = {.kind = AXLE__TASK_JOIN, .count = group->join_count}};
        axle__header_site(&task.header);
        status = axle__group_run(group, &task);
    } while (!status && !task.over);
    *source = task.source;
    *behind = task.behind;
    return status;
}
