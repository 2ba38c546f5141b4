/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of tensors. Their elements go through host memory, row by row. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "group/combine.h"
#include "group/group.h"
#include "tensor/tensor.h"

static _Thread_local char call_site[AXLE__SITE_SIZE];

void axle_call_site(const char *file, int line)
{
    const char *slash = strrchr(file, '/');
    snprintf(call_site, sizeof(call_site), "%.*s:%d", AXLE__SITE_SIZE - 16,
             slash ? slash + 1 : file, line);
}

void axle__header_site(axle__header *header)
{
    snprintf(header->site, sizeof(header->site), "%s", call_site);
}

/* ------------------------------------------------------------------ tasks of tensors */

/* Tensor of a task, its elements in host memory, and what comes back. */
typedef struct exchange {
    axle__task task;
    axle_group *group;
    size_t bytes; /* of `in` */
    void *copy;   /* of the tensor's elements; NULL: they are where the host can reach them */
    void *result; /* what place made */
    int64_t result_rows; /* of dim 0 */
} exchange;

static int check_root(const axle_group *group, const char *who, int root)
{
    if (root >= 0 && root < group->size)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INDEX, "%s: rank %d of %d", who, root, group->size);
}

static void describe(axle__task *task, int kind, const axle_tensor *tensor, int root)
{
    axle__header *header = &task->header;
    header->kind = (uint8_t)kind;
    header->root = root;
    axle__header_site(header);
    call_site[0] = '\0';
    if (!tensor)
        return;
    header->dtype = (uint8_t)axle__dtype(tensor);
    header->rank = (uint8_t)axle__rank(tensor);
    header->count = (uint64_t)tensor->count;
    for (int k = 0; k < axle__rank(tensor); k++)
        header->dims[k] = tensor->view.dim[k];
}

/* What is no reduction at all is found after the headers were exchanged, by all processes. */
static uint8_t reduction_of(int op)
{
    return op < 0 || op > UINT8_MAX ? UINT8_MAX : (uint8_t)op;
}

/* A scalar is one row. */
static void as_rows(axle__header *header)
{
    if (header->rank > 0)
        return;
    header->rank = 1;
    header->dims[0] = 1;
}

/* Where the elements lie, row by row, in host memory; NULL where they do not. */
static void *host_address(const axle_tensor *tensor)
{
    const axle__block *block = tensor->storage->block;
    if (!tensor->row_major || !block || !axle__device_is_direct(tensor->device))
        return NULL;
    return block->host + (tensor->view.offset - block->offset);
}

static int open_exchange(exchange *e, axle_group *group, int kind, const axle_tensor *tensor,
                         int root)
{
    *e = (exchange){.group = group};
    describe(&e->task, kind, tensor, root);
    e->task.user = e;
    if (!tensor)
        return AXLE_OK;
    e->bytes = (size_t)tensor->count * axle_dtype_size((int)axle__dtype(tensor));
    e->task.in = e->task.out = host_address(tensor);
    if (e->task.in)
        return AXLE_OK;
    e->task.in = e->task.out = e->copy = axle__alloc_aligned(e->bytes ? e->bytes : 1, 64);
    return e->copy ? axle_tensor_read(tensor, e->copy, e->bytes) : axle_error_code();
}

static void close_exchange(exchange *e)
{
    axle__free(e->copy);
    axle__free(e->result);
}

/* A tensor of the header's type and dims, with that many rows, where `like` lives. */
static axle_tensor *result_of(const exchange *e, const axle__header *header, axle_device *device)
{
    int64_t dims[AXLE_MAX_RANK];
    memcpy(dims, header->dims, sizeof(dims));
    dims[0] = e->result_rows;
    axle_tensor *result = axle__result("collective", device, header->dtype, header->rank, dims);
    size_t bytes = result ? (size_t)result->count * axle_dtype_size(header->dtype) : 0;
    return result && axle_tensor_write(result, e->task.out, bytes) == AXLE_OK ? result : NULL;
}

/* Room for so many rows of the header's dims. */
static int make_room(exchange *e, const axle__header *header, uint64_t count, int64_t rows)
{
    uint64_t bytes = count * axle_dtype_size(header->dtype);
    e->result_rows = rows;
    e->result = e->task.out = axle__alloc_aligned(bytes ? (size_t)bytes : 1, 64);
    return e->result ? AXLE_OK : axle_error_code();
}

static int overwrite(exchange *e, axle_tensor *tensor, int status)
{
    if (!status && e->copy)
        status = axle_tensor_write(tensor, e->task.out, e->bytes);
    else if (!status)
        axle__tensor_touch(tensor);
    close_exchange(e);
    return status;
}

static int run_in_place(exchange *e, axle_tensor *tensor, int status)
{
    if (!status)
        status = axle__group_run(e->group, &e->task);
    return overwrite(e, tensor, status);
}

/* ------------------------------------------------------------------ the collectives */

int axle_all_reduce(axle_group *group, axle_tensor *tensor, int op)
{
    exchange e;
    if (axle__check_tensor("axle_all_reduce", tensor) ||
        axle__check_writable("axle_all_reduce", tensor))
        return axle_error_code();
    int status = open_exchange(&e, group, AXLE__TASK_ALL_REDUCE, tensor, 0);
    e.task.header.reduction = reduction_of(op);
    return run_in_place(&e, tensor, status);
}

int axle_broadcast(axle_group *group, axle_tensor *tensor, int root)
{
    exchange e;
    if (axle__check_tensor("axle_broadcast", tensor) ||
        axle__check_writable("axle_broadcast", tensor) || check_root(group, "axle_broadcast", root))
        return axle_error_code();
    int status = open_exchange(&e, group, AXLE__TASK_BROADCAST, tensor, root);
    return run_in_place(&e, tensor, status);
}

static int place_gathered(axle__task *task, const axle__header *all, int size)
{
    exchange *e = task->user;
    uint64_t count = 0;
    int64_t rows = 0;
    for (int k = 0; k < size; k++) {
        count += all[k].count;
        rows += all[k].dims[0];
    }
    bool receives =
        task->header.kind == AXLE__TASK_ALL_GATHER || task->header.root == e->group->rank;
    e->result_rows = task->header.dims[0];
    return receives ? make_room(e, &task->header, count, rows) : AXLE_OK;
}

static axle_tensor *gather(axle_group *group, axle_tensor *tensor, int kind, int root)
{
    exchange e;
    int status = open_exchange(&e, group, kind, tensor, root);
    as_rows(&e.task.header);
    e.task.place = place_gathered;
    if (!status)
        status = axle__group_run(group, &e.task);
    axle_tensor *result = status ? NULL : result_of(&e, &e.task.header, axle_tensor_device(tensor));
    close_exchange(&e);
    return result;
}

axle_tensor *axle_all_gather(axle_group *group, axle_tensor *tensor)
{
    if (!tensor)
        return NULL;
    return gather(group, tensor, AXLE__TASK_ALL_GATHER, 0);
}

axle_tensor *axle_gather_to(axle_group *group, axle_tensor *tensor, int root)
{
    if (!tensor || check_root(group, "axle_gather_to", root))
        return NULL;
    return gather(group, tensor, AXLE__TASK_GATHER, root);
}

static int check_divides(const char *who, int64_t rows, int size)
{
    if (rows % size == 0)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_SHAPE, "%s: %lld rows do not divide by %d processes", who,
                          (long long)rows, size);
}

static int place_scattered(axle__task *task, const axle__header *all, int size)
{
    exchange *e = task->user;
    const axle__header *root = &all[task->header.root];
    if (root->rank == 0)
        return axle_error_set(AXLE_ERR_SHAPE, "axle_scatter_from: a scalar has no rows");
    int status = check_divides("axle_scatter_from", root->dims[0], size);
    if (status)
        return status;
    if (e->group->rank != task->header.root) {
        int own = task->header.root;
        task->header = *root;
        task->header.root = own;
    }
    return make_room(e, root, root->count / (uint64_t)size, root->dims[0] / size);
}

axle_tensor *axle_scatter_from(axle_group *group, axle_tensor *tensor, int root)
{
    exchange e;
    bool is_root = group->rank == root;
    if (check_root(group, "axle_scatter_from", root) || (is_root && !tensor))
        return NULL;
    int status = open_exchange(&e, group, AXLE__TASK_SCATTER, is_root ? tensor : NULL, root);
    e.task.place = place_scattered;
    if (!status)
        status = axle__group_run(group, &e.task);
    axle_device *device = tensor ? axle_tensor_device(tensor) : axle_device_current();
    axle_tensor *result = status || !device ? NULL : result_of(&e, &e.task.header, device);
    close_exchange(&e);
    return result;
}

static int place_share(axle__task *task, const axle__header *all, int size)
{
    (void)all;
    exchange *e = task->user;
    if (task->header.rank == 0)
        return axle_error_set(AXLE_ERR_SHAPE, "axle_reduce_scatter: a scalar has no rows");
    int status = check_divides("axle_reduce_scatter", task->header.dims[0], size);
    if (status)
        return status;
    int64_t rows = task->header.dims[0] / size;
    return make_room(e, &task->header, task->header.count / (uint64_t)size, rows);
}

axle_tensor *axle_reduce_scatter(axle_group *group, axle_tensor *tensor, int op)
{
    exchange e;
    if (!tensor)
        return NULL;
    int status = open_exchange(&e, group, AXLE__TASK_REDUCE_SCATTER, tensor, 0);
    e.task.header.reduction = reduction_of(op);
    e.task.place = place_share;
    if (!status)
        status = axle__group_run(group, &e.task);
    axle_tensor *result = status ? NULL : result_of(&e, &e.task.header, axle_tensor_device(tensor));
    close_exchange(&e);
    return result;
}

int axle_barrier(axle_group *group)
{
    exchange e;
    open_exchange(&e, group, AXLE__TASK_BARRIER, NULL, 0);
    return axle__group_run(group, &e.task);
}

/* ------------------------------------------------------------------ messages */

static int message(axle_group *group, axle_tensor *tensor, int kind, int peer, const char *who)
{
    exchange e;
    if (axle__check_tensor(who, tensor) || check_root(group, who, peer) ||
        (kind == AXLE__TASK_RECEIVE && axle__check_writable(who, tensor)))
        return axle_error_code();
    if (peer == group->rank)
        return axle_error_set(AXLE_ERR_INVALID, "%s: rank %d to itself", who, peer);
    int status = open_exchange(&e, group, kind, tensor, peer);
    if (!status)
        status = axle__group_run(group, &e.task);
    if (kind == AXLE__TASK_RECEIVE)
        return overwrite(&e, tensor, status);
    close_exchange(&e);
    return status;
}

int axle_send(axle_group *group, axle_tensor *tensor, int peer)
{
    return message(group, tensor, AXLE__TASK_SEND, peer, "axle_send");
}

int axle_receive(axle_group *group, axle_tensor *tensor, int peer)
{
    return message(group, tensor, AXLE__TASK_RECEIVE, peer, "axle_receive");
}
