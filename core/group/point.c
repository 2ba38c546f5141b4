/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between two processes. Each way between two processes counts its messages; both sides
 * tell the other what they ask for before data moves.
 */
#include "group/group.h"

/* Tags: the highest bits tell them from those of collectives. */
enum { SENDERS_HEADER, RECEIVERS_HEADER, DATA };

static uint64_t tag_of(uint64_t number, unsigned what)
{
    return UINT64_C(1) << 62 | number << 2 | what;
}

/* A message is one call of each side: SEND here is what RECEIVE is there. */
static int check_pair(const axle_group *group, const axle__header *mine, axle__header theirs)
{
    axle__header pair[2] = {*mine, theirs};
    pair[1].kind = mine->kind;
    pair[1].sequence = mine->sequence;
    if (axle__headers_agree(pair, 2) == AXLE_OK)
        return AXLE_OK;
    axle_error_clear();
    char a[256], b[256];
    return axle_error_set(AXLE_ERR_SHAPE, "rank %d asks to %s, but rank %d to %s", group->rank,
                          axle__header_text(mine, a, sizeof(a)), mine->root,
                          axle__header_text(&theirs, b, sizeof(b)));
}

/* The peer's header goes into group->headers: a message that fails may be written to until the
 * transport is gone, so it must not be on the stack. */
static int swap_headers(axle_group *group, const axle__header *mine, uint64_t number)
{
    axle__header *theirs = &group->headers[mine->root];
    bool sends = mine->kind == AXLE__TASK_SEND;
    axle__messages messages = {0};
    int status = axle__recv_start(group, &messages, mine->root,
                                  tag_of(number, sends ? RECEIVERS_HEADER : SENDERS_HEADER), theirs,
                                  sizeof(*theirs));
    if (!status)
        status = axle__send_start(group, &messages, mine->root,
                                  tag_of(number, sends ? SENDERS_HEADER : RECEIVERS_HEADER), mine,
                                  sizeof(*mine));
    return axle__messages_finish(group, &messages, status);
}

int axle__point_to_point(axle_group *group, axle__task *task)
{
    bool sends = task->header.kind == AXLE__TASK_SEND;
    int peer = task->header.root;
    uint64_t number = sends ? group->sent[peer]++ : group->received[peer]++;
    uint64_t bytes = task->header.count * axle_dtype_size(task->header.dtype);
    group->headers[group->rank] = task->header;
    int status = swap_headers(group, &task->header, number);
    if (!status)
        status = check_pair(group, &task->header, group->headers[peer]);
    task->known = status == AXLE_ERR_SHAPE;
    if (status)
        return status;
    axle__messages messages = {0};
    status = sends
                 ? axle__send_start(group, &messages, peer, tag_of(number, DATA), task->in, bytes)
                 : axle__recv_start(group, &messages, peer, tag_of(number, DATA), task->out, bytes);
    return axle__messages_finish(group, &messages, status);
}
