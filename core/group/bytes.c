/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of bytes, whose number the others do not know. */
#include <string.h>

#include "base/memory.h"
#include "group/group.h"

static axle__task task_of(int kind, int root, int dtype, uint64_t count, void *in, void *out)
{
    axle__task task = {.header = {.kind = (uint8_t)kind,
                                  .root = root,
                                  .dtype = (uint8_t)dtype,
                                  .rank = 1,
                                  .count = count,
                                  .dims = {(int64_t)count}},
                       .in = in,
                       .out = out};
    axle__header_site(&task.header);
    return task;
}

static int broadcast(axle_group *group, int root, int dtype, uint64_t count, void *data)
{
    axle__task task = task_of(AXLE__TASK_BROADCAST, root, dtype, count, data, data);
    return axle__group_run(group, &task);
}

int axle_broadcast_bytes(axle_group *group, void **bytes, size_t *size, int root)
{
    if (root < 0 || root >= group->size)
        return axle_error_set(AXLE_ERR_INDEX, "axle_broadcast_bytes: rank %d of %d", root,
                              group->size);
    bool is_root = group->rank == root;
    int64_t length = is_root ? (int64_t)*size : 0;
    int status = broadcast(group, root, AXLE_DTYPE_I64, 1, &length);
    if (status)
        return status;
    void *data = is_root ? *bytes : axle__alloc((size_t)length + 1, 1);
    if (!data && !is_root)
        return axle_error_code();
    status = broadcast(group, root, AXLE_DTYPE_U8, (uint64_t)length, data);
    if (!is_root && status)
        axle__free(data);
    if (is_root || status)
        return status;
    *bytes = data;
    *size = (size_t)length;
    return AXLE_OK;
}

static int gather(axle_group *group, int dtype, uint64_t count, const void *in, void *out)
{
    axle__task task = task_of(AXLE__TASK_ALL_GATHER, 0, dtype, count, (void *)in, out);
    return axle__group_run(group, &task);
}

static int gather_lengths(axle_group *group, size_t size, size_t *sizes, size_t *total)
{
    int64_t length = (int64_t)size;
    int64_t *all = axle__alloc((size_t)group->size, sizeof(*all));
    if (!all)
        return axle_error_code();
    int status = gather(group, AXLE_DTYPE_I64, 1, &length, all);
    *total = 0;
    for (int k = 0; k < group->size && !status; k++) {
        sizes[k] = (size_t)all[k];
        *total += sizes[k];
    }
    axle__free(all);
    return status;
}

int axle_gather_bytes(axle_group *group, const void *bytes, size_t size, void **out, size_t *sizes)
{
    size_t total;
    int status = gather_lengths(group, size, sizes, &total);
    unsigned char *data = status ? NULL : axle__alloc(total + 1, 1);
    if (!data)
        return status ? status : axle_error_code();
    status = gather(group, AXLE_DTYPE_U8, size, bytes, data);
    if (status)
        axle__free(data);
    else
        *out = data;
    return status;
}
