/* SPDX-License-Identifier: Apache-2.0 */
/* Doing a task, step by step. */
#include <stdio.h>

#include "base/error.h"
#include "device/hook.h"
#include "group/combine.h"
#include "group/group.h"

enum { MAGIC = 0x41784c65 };

static double weight_sum(const axle_group *group)
{
    double sum = 0.0;
    for (int k = 0; k < group->size; k++)
        sum += group->headers[k].weight;
    return sum;
}

/* A weighted mean over no weight is 0. */
double axle__task_scale(const axle_group *group, const axle__task *task)
{
    if (task->header.weighted)
        return task->weight_sum > 0.0 ? 1.0 / task->weight_sum : 0.0;
    return task->header.reduction == AXLE_REDUCE_MEAN ? 1.0 / axle__active_count(group) : 1.0;
}

static int (*const data[AXLE__TASK_LIMIT])(axle_group *group, axle__task *task) = {
    [AXLE__TASK_ALL_REDUCE] = axle__all_reduce_data,
    [AXLE__TASK_REDUCE_SCATTER] = axle__reduce_scatter_data,
    [AXLE__TASK_ALL_GATHER] = axle__gather_data,
    [AXLE__TASK_GATHER] = axle__gather_data,
    [AXLE__TASK_BROADCAST] = axle__broadcast_data,
    [AXLE__TASK_SCATTER] = axle__scatter_data,
};

static void read_headers(const axle_group *group, axle__task *task)
{
    task->weight_sum = weight_sum(group);
    task->scale = axle__task_scale(group, task);
    task->least_absent = AXLE__ABSENT_ALL;
    task->most_absent = AXLE__ABSENT_NONE;
    for (int k = 0; k < group->size; k++) {
        uint8_t absent = group->headers[k].absent;
        task->least_absent = absent < task->least_absent ? absent : task->least_absent;
        task->most_absent = absent > task->most_absent ? absent : task->most_absent;
    }
}

/* What all can see in the headers alone, so that it is an error on every process. */
static int check_request(const axle_group *group, const axle__header *mine)
{
    int status = axle__headers_finite(group->headers, group->size);
    if (!status)
        status = axle__headers_agree(group->headers, group->size);
    mine = &group->headers[group->rank]; /* what a shadow takes part in */
    bool combines = mine->kind == AXLE__TASK_ALL_REDUCE || mine->kind == AXLE__TASK_REDUCE_SCATTER;
    return status || !combines ? status : axle__combine_check(mine->reduction, mine->dtype);
}

static int run_collective(axle_group *group, axle__task *task)
{
    char what[AXLE__CONTROL_TEXT];
    task->header.magic = MAGIC;
    task->header.sequence = ++group->sequence;
    if (group->control)
        axle__control_report(group->control, group->sequence,
                             axle__header_text(&task->header, what, sizeof(what)));
    int status = axle__headers_exchange(group, &task->header);
    if (status)
        return status;
    bool hidden = axle__join_hide(group);
    status = check_request(group, &task->header);
    if (!status)
        read_headers(group, task);
    if (task->header.kind == AXLE__TASK_JOIN && !status)
        return axle__join_data(group, task, hidden);
    if (!status && task->place)
        status = task->place(task, group->headers, group->size);
    task->known = status && status != AXLE_ERR_NOMEM;
    if (status || !data[task->header.kind] || task->least_absent == AXLE__ABSENT_ALL)
        return status;
    return data[task->header.kind](group, task);
}

static bool is_message(const axle__task *task)
{
    return task->header.kind == AXLE__TASK_SEND || task->header.kind == AXLE__TASK_RECEIVE;
}

/* What went wrong here alone keeps the others waiting, unless they are told. The task's memory is
 * its owner's again, so messages under way must let go of it. */
static void give_up(axle_group *group, const axle__task *task)
{
    char text[AXLE__TASK_MESSAGE];
    if (group->size == 1 || task->known)
        return;
    snprintf(text, sizeof(text), "rank %d failed: %.900s", group->rank, task->message);
    axle__group_poison(group, text);
    axle__group_unlink(group);
}

static int run(axle_group *group, axle__task *task)
{
    int status = AXLE_OK;
    if (group->poisoned)
        return axle_error_set(AXLE_ERR_STATE, "%s", group->poison);
    if (task->prepare)
        status = task->prepare(task);
    if (!status)
        status = is_message(task) ? axle__point_to_point(group, task) : run_collective(group, task);
    return !status && task->finish ? task->finish(task) : status;
}

/* Between hooks, where any is on. */
static int run_watched(axle_group *group, axle__task *task)
{
    axle__hook_point point = {.kind = AXLE__HOOK_COLLECTIVE,
                              .name = axle__task_name(&task->header),
                              .bytes = task->header.count * axle_dtype_size(task->header.dtype)};
    if (!axle__hooks_active())
        return run(group, task);
    int status = axle__hook_before(&point);
    return axle__hook_after(&point, status ? status : run(group, task));
}

int axle__task_run(axle_group *group, axle__task *task)
{
    axle__error_record outer;
    axle__error_take(&outer);
    int status = run_watched(group, task);
    task->status = status;
    snprintf(task->message, sizeof(task->message), "%s", status ? axle_error_message() : "");
    axle_error_clear();
    if (status)
        give_up(group, task);
    axle__error_restore(&outer);
    return status;
}
