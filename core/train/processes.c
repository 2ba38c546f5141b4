/* SPDX-License-Identifier: Apache-2.0 */
/* What a loop does together with the other processes, besides summing gradients. */
#include <stdarg.h>
#include <stdio.h>

#include "tensor/elementwise.h"
#include "group/group.h"
#include "train/accelerator.h"

axle_group *axle_accelerator_group(const axle_accelerator *accelerator)
{
    return accelerator->group;
}

int axle_local_process_index(const axle_accelerator *accelerator)
{
    return accelerator->group ? axle_group_local_rank(accelerator->group) : 0;
}

int axle_is_local_main_process(const axle_accelerator *accelerator)
{
    return axle_local_process_index(accelerator) == 0;
}

int axle_is_last_process(const axle_accelerator *accelerator)
{
    return axle_process_index(accelerator) == axle_process_count(accelerator) - 1;
}

static int check_group(const axle_accelerator *accelerator, const char *who)
{
    if (accelerator->group)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_STATE, "%s: the training was ended", who);
}

int axle_wait_for_everyone(axle_accelerator *accelerator)
{
    int status = check_group(accelerator, "axle_wait_for_everyone");
    return status ? status : axle_barrier(accelerator->group);
}

axle_tensor *axle_accelerator_gather(axle_accelerator *accelerator, axle_tensor *tensor)
{
    if (!tensor || check_group(accelerator, "axle_accelerator_gather"))
        return NULL;
    return axle_all_gather(accelerator->group, tensor);
}

/* A dummy row, of a process that was left without one, has no place in metrics. */
axle_tensor *axle_gather_for_metrics(axle_accelerator *accelerator, axle_tensor *tensor)
{
    const axle__loop *loop = axle__current_loop(accelerator);
    if (!tensor || check_group(accelerator, "axle_gather_for_metrics"))
        return NULL;
    if (loop && loop->rows == 0.0 && axle__rank(tensor) > 0)
        tensor = axle_slice(tensor, 0, 0, 0, 1);
    return axle_all_gather(accelerator->group, tensor);
}

axle_tensor *axle_accelerator_reduce(axle_accelerator *accelerator, axle_tensor *tensor, int op)
{
    if (!tensor || check_group(accelerator, "axle_accelerator_reduce"))
        return NULL;
    axle_tensor *copy = axle__copy("axle_accelerator_reduce", tensor, (int)axle__dtype(tensor));
    return copy && axle_all_reduce(accelerator->group, copy, op) == AXLE_OK ? copy : NULL;
}

/* ------------------------------------------------------------------ numbers of the host */

int axle__reduce_numbers(axle_accelerator *accelerator, int dtype, void *numbers, int64_t count,
                         int op)
{
    int status = check_group(accelerator, "collective");
    if (status || (status = axle_scope_push()))
        return status;
    status = axle_device_push(axle_device_host());
    if (!status) {
        axle_tensor *all = axle_from_data(dtype, 1, &count, numbers);
        status = all ? axle_all_reduce(accelerator->group, all, op) : axle_error_code();
        if (!status)
            status = axle_tensor_read(all, numbers, (size_t)count * axle_dtype_size(dtype));
        axle_device_pop();
    }
    axle_scope_pop();
    return status;
}

int axle_weighted_mean(axle_accelerator *accelerator, double value, double weight, double *out)
{
    if (axle_process_count(accelerator) == 1) {
        *out = weight > 0.0 ? value : 0.0;
        return AXLE_OK;
    }
    double sums[2] = {weight > 0.0 ? weight * value : 0.0, weight};
    int status = axle__reduce_numbers(accelerator, AXLE_DTYPE_F64, sums, 2, AXLE_REDUCE_SUM);
    if (!status)
        *out = sums[1] > 0.0 ? sums[0] / sums[1] : 0.0;
    return status;
}

axle_tensor *axle_pad_across_processes(axle_accelerator *accelerator, axle_tensor *tensor, int dim,
                                       double value, int pad_first)
{
    if (!tensor)
        return NULL;
    int rank = axle__rank(tensor), at = dim < 0 ? dim + rank : dim;
    if (at < 0 || at >= rank) {
        axle_error_set(AXLE_ERR_INDEX, "axle_pad_across_processes: dim %d of %d", dim, rank);
        return NULL;
    }
    int64_t own = axle_tensor_dim(tensor, at), longest = own;
    int64_t before[AXLE_MAX_RANK] = {0}, after[AXLE_MAX_RANK] = {0};
    if (axle__reduce_numbers(accelerator, AXLE_DTYPE_I64, &longest, 1, AXLE_REDUCE_MAX))
        return NULL;
    *(pad_first ? &before[at] : &after[at]) = longest - own;
    return longest == own ? tensor : axle_pad(tensor, before, after, value);
}

int axle_processes_agree(axle_accelerator *accelerator, uint64_t number, int *out)
{
    /* The least number is the opposite of the most of the opposites. */
    int64_t both[2] = {(int64_t)number, ~(int64_t)number};
    int status = axle__reduce_numbers(accelerator, AXLE_DTYPE_I64, both, 2, AXLE_REDUCE_MAX);
    if (!status)
        *out = both[0] == ~both[1];
    return status;
}

int axle_broadcast_object(axle_accelerator *accelerator, void **bytes, size_t *size, int root)
{
    int status = check_group(accelerator, "axle_broadcast_object");
    return status ? status : axle_broadcast_bytes(accelerator->group, bytes, size, root);
}

int axle_gather_objects(axle_accelerator *accelerator, const void *bytes, size_t size, void **out,
                        size_t *sizes)
{
    int status = check_group(accelerator, "axle_gather_objects");
    return status ? status : axle_gather_bytes(accelerator->group, bytes, size, out, sizes);
}

/* ------------------------------------------------------------------ taking turns */

static bool goes_first(const axle_accelerator *accelerator, int local)
{
    return local ? axle_is_local_main_process(accelerator) : axle_is_main_process(accelerator);
}

int axle_main_process_first_begin(axle_accelerator *accelerator, int local)
{
    return goes_first(accelerator, local) ? AXLE_OK : axle_wait_for_everyone(accelerator);
}

int axle_main_process_first_end(axle_accelerator *accelerator, int local)
{
    return goes_first(accelerator, local) ? axle_wait_for_everyone(accelerator) : AXLE_OK;
}

void axle_set_trigger(axle_accelerator *accelerator)
{
    accelerator->triggered = true;
}

int axle_check_trigger(axle_accelerator *accelerator, int *out)
{
    uint8_t any = accelerator->triggered;
    int status = axle__reduce_numbers(accelerator, AXLE_DTYPE_U8, &any, 1, AXLE_REDUCE_MAX);
    if (status)
        return status;
    accelerator->triggered = false;
    *out = any;
    return AXLE_OK;
}

void axle_print(const axle_accelerator *accelerator, const char *format, ...)
{
    if (!axle_is_main_process(accelerator))
        return;
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    fflush(stdout);
}
