/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everyone's headers. In step k each process passes on what it has, 2^k headers at most, to the
 * process 2^k places before it, so that log2(size) steps do (Bruck's all-gather, IEEE Transactions
 * on Parallel and Distributed Systems 8(11), 1997).
 */
#include <string.h>

#include "base/memory.h"
#include "group/group.h"

/* Numbers of a collective's messages begin here for headers, and lower for data. */
enum { HEADER_TAG = 1 << 19 };

static int step(axle_group *group, axle__header *have, int known, uint32_t number)
{
    int size = group->size, count = size - known < known ? size - known : known;
    int to = (group->rank - known + size) % size, from = (group->rank + known) % size;
    uint64_t bytes = (uint64_t)count * sizeof(*have);
    axle__messages messages = {0};
    int status = axle__recv_start(group, &messages, from, axle__tag(group, HEADER_TAG + number),
                                  have + known, bytes);
    if (!status)
        status = axle__send_start(group, &messages, to, axle__tag(group, HEADER_TAG + number), have,
                                  bytes);
    return axle__messages_finish(group, &messages, status);
}

int axle__headers_exchange(axle_group *group, const axle__header *mine)
{
    int size = group->size, status = AXLE_OK;
    group->headers[group->rank] = *mine;
    if (size == 1)
        return AXLE_OK;
    /* The k-th is the one of rank + k. */
    axle__header *have = axle__scratch(group, (size_t)size * sizeof(*have));
    if (!have)
        return axle_error_code();
    have[0] = *mine;
    uint32_t number = 0;
    for (int known = 1; known < size && !status; known *= 2)
        status = step(group, have, known, number++);
    for (int k = 0; k < size && !status; k++)
        group->headers[(group->rank + k) % size] = have[k];
    return status;
}
