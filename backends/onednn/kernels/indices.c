/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of indices: reading and checking them. */
#include "index.h"

enum { BLOCK = 4096 };

index_operand cpu_index_operand(const axle_view *view)
{
    index_operand operand = {.dtype = view->dtype, .count = cpu_count(view)};
    for (uint32_t d = 0; d < view->rank; d++) {
        const int32_t last = operand.rank - 1;
        if (view->dim[d] == 1)
            continue;
        if (last >= 0 && operand.stride[last] == view->stride[d] * view->dim[d]) {
            operand.dim[last] *= view->dim[d];
            operand.stride[last] = view->stride[d];
        } else {
            operand.dim[operand.rank] = view->dim[d];
            operand.stride[operand.rank++] = view->stride[d];
        }
    }
    if (operand.rank == 0) {
        operand.rank = 1;
        operand.dim[0] = operand.stride[0] = 1;
    }
    return operand;
}

typedef struct load_call {
    const index_operand *operand;
    const void *data;
    int64_t *list;
    int64_t limit;
    const int64_t *except;
    int64_t bad; /* position of the first bad index; count if there is none */
} load_call;

/* Keep the smallest position that any worker reports. */
static void report(load_call *call, int64_t position)
{
    int64_t known = __atomic_load_n(&call->bad, __ATOMIC_RELAXED);
    while (position < known && !__atomic_compare_exchange_n(&call->bad, &known, position, 1,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static int64_t offset_of(const index_operand *operand, int64_t position)
{
    int64_t offset = 0;
    for (int32_t d = operand->rank - 1; d >= 0; d--) {
        offset += position % operand->dim[d] * operand->stride[d];
        position /= operand->dim[d];
    }
    return offset;
}

static void load_range(load_call *call, int64_t begin, int64_t end)
{
    const index_operand *operand = call->operand;
    const int64_t row = operand->dim[operand->rank - 1], step = operand->stride[operand->rank - 1];
    int64_t left = 0, offset = 0;
    for (int64_t i = begin; i < end; i++, offset += step) {
        if (left == 0) {
            offset = offset_of(operand, i);
            left = row - i % row;
        }
        left--;
        const int64_t index = cpu_index_at(call->data, operand->dtype, offset);
        if ((index < 0 || index >= call->limit) && !(call->except && index == *call->except)) {
            report(call, i);
            return;
        }
        call->list[i] = index;
    }
}

static void load_blocks(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    load_call *call = arg;
    (void)worker;
    load_range(call, begin * BLOCK, cpu_min(end * BLOCK, call->operand->count));
}

axle_status cpu_index_load(const index_operand *operand, const void *data, const char *name,
                           int64_t limit, const int64_t *except, int64_t *list, axle_error *error)
{
    load_call call = {
        .operand = operand,
        .data = data,
        .list = list,
        .limit = limit,
        .except = except,
        .bad = operand->count,
    };
    cpu_parallel(cpu_ceil_div(operand->count, BLOCK), operand->count, load_blocks, &call);
    if (call.bad == operand->count)
        return AXLE_OK;
    const int64_t value = cpu_index_at(data, operand->dtype, offset_of(operand, call.bad));
    return cpu_fail(error, AXLE_ERR_INDEX, "%s: index %lld at position %lld is outside [0, %lld)",
                    name, (long long)value, (long long)call.bad, (long long)limit);
}

static int can_merge(const index_walk *walk, int32_t outer, int64_t dim, int64_t own, int64_t other,
                     int64_t list)
{
    return walk->own[outer] == own * dim && walk->other[outer] == other * dim &&
           walk->list[outer] == list * dim;
}

static void add_dim(index_walk *walk, int64_t dim, int64_t own, int64_t other, int64_t list)
{
    int32_t k = walk->rank - 1;
    if (k >= 0 && can_merge(walk, k, dim, own, other, list)) {
        dim *= walk->dim[k];
    } else {
        k = walk->rank++;
    }
    walk->dim[k] = dim;
    walk->own[k] = own;
    walk->other[k] = other;
    walk->list[k] = list;
}

void cpu_index_walk_init(index_walk *walk, const axle_view *own, const axle_view *other,
                         uint32_t axis, int vector)
{
    int64_t list[AXLE_MAX_RANK], dense = 1;
    for (uint32_t d = own->rank; d-- > 0;) {
        list[d] = vector ? d == axis : dense;
        dense *= own->dim[d];
    }
    *walk = (index_walk){.along = other->stride[axis], .count = dense};
    for (uint32_t d = 0; d < own->rank; d++)
        if (own->dim[d] != 1)
            add_dim(walk, own->dim[d], own->stride[d], d == axis ? 0 : other->stride[d], list[d]);
    if (walk->rank == 0)
        add_dim(walk, 1, 1, 1, 1);
    walk->rows = 1;
    for (int32_t k = 0; k < walk->rank - 1; k++)
        walk->rows *= walk->dim[k];
}
