/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering, broadcasting and scattering. All of it is bytes. */
#include <string.h>

#include "group/group.h"

static uint64_t bytes_of(const axle__header *header, uint64_t count)
{
    return count * axle_dtype_size(header->dtype);
}

/* Where the rows of a process begin in a gathered result. */
static uint64_t place_of(const axle_group *group, int rank)
{
    uint64_t place = 0;
    for (int k = 0; k < rank; k++)
        place += bytes_of(&group->headers[k], group->headers[k].count);
    return place;
}

static int receive_all(axle_group *group, axle__messages *messages, unsigned char *out)
{
    int status = AXLE_OK;
    for (int k = 1; k < group->size && !status; k++) {
        int rank = (group->rank + k) % group->size;
        const axle__header *header = &group->headers[rank];
        status = axle__recv_start(group, messages, rank, axle__tag(group, 0),
                                  out + place_of(group, rank), bytes_of(header, header->count));
    }
    return status;
}

static int send_to(axle_group *group, axle__messages *messages, const axle__task *task, int rank)
{
    return axle__send_start(group, messages, rank, axle__tag(group, 0), task->in,
                            bytes_of(&task->header, task->header.count));
}

int axle__gather_data(axle_group *group, axle__task *task)
{
    bool to_all = task->header.kind == AXLE__TASK_ALL_GATHER;
    bool receives = to_all || task->header.root == group->rank;
    axle__messages messages = {0};
    int status = AXLE_OK;
    if (receives) {
        uint64_t own = bytes_of(&task->header, task->header.count);
        unsigned char *place = (unsigned char *)task->out + place_of(group, group->rank);
        if (own && place != task->in)
            memcpy(place, task->in, own);
        status = receive_all(group, &messages, task->out);
    }
    for (int k = 1; k < group->size && !status; k++) {
        int rank = (group->rank + k) % group->size;
        if (to_all || rank == task->header.root)
            status = send_to(group, &messages, task, rank);
    }
    return axle__messages_finish(group, &messages, status);
}

/* Down a binary tree whose root is rank `root`: process k of it, counted from the root, has the
 * children k + 2^i for 2^i above k's highest bit. */
int axle__broadcast_data(axle_group *group, axle__task *task)
{
    int size = group->size, place = (group->rank - task->header.root + size) % size;
    uint64_t bytes = bytes_of(&task->header, task->header.count);
    axle__messages messages = {0};
    int step = 1, status = AXLE_OK;
    while (step <= place)
        step *= 2;
    if (place > 0) {
        int parent = (place - step / 2 + task->header.root) % size;
        status = axle__recv_start(group, &messages, parent, axle__tag(group, 0), task->out, bytes);
        if (!status)
            status = axle__messages_wait(group, &messages, messages.count);
    }
    for (; place + step < size && !status; step *= 2)
        status = axle__send_start(group, &messages, (place + step + task->header.root) % size,
                                  axle__tag(group, 0), task->out, bytes);
    return axle__messages_finish(group, &messages, status);
}

/* Root's rows in equal parts. */
int axle__scatter_data(axle_group *group, axle__task *task)
{
    const axle__header *root = &group->headers[task->header.root];
    uint64_t part = bytes_of(root, root->count / (uint64_t)group->size);
    axle__messages messages = {0};
    int status = AXLE_OK;
    if (task->header.root != group->rank) {
        status = axle__recv_start(group, &messages, task->header.root, axle__tag(group, 0),
                                  task->out, part);
        return axle__messages_finish(group, &messages, status);
    }
    const unsigned char *in = task->in;
    if (part)
        memcpy(task->out, in + (uint64_t)group->rank * part, part);
    for (int rank = 0; rank < group->size && !status; rank++)
        if (rank != group->rank)
            status = axle__send_start(group, &messages, rank, axle__tag(group, 0),
                                      in + (uint64_t)rank * part, part);
    return axle__messages_finish(group, &messages, status);
}
