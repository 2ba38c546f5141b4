/* SPDX-License-Identifier: Apache-2.0 */
/* Where averages lie: beside each other as their parameters do. */
#include <stdlib.h>

#include "base/memory.h"
#include "optim/ema.h"
#include "tensor/elementwise.h"

/* Arenas begin each parameter at a multiple of 16 elements; a smaller gap is theirs alone. */
enum { ALIGNMENT = 16 };

static bool is_current(const axle_ema *ema)
{
    for (int k = 0; k < ema->count; k++) {
        const axle__averaged *item = &ema->item[k];
        if (!item->average || item->storage != item->tensor->storage ||
            item->offset != item->tensor->view.offset ||
            axle__dtype(item->average) != axle__dtype(item->tensor))
            return false;
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    const axle__averaged *x = *(axle__averaged *const *)a, *y = *(axle__averaged *const *)b;
    if (x->storage != y->storage)
        return (x->storage > y->storage) - (x->storage < y->storage);
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The item goes on with the run that ends with `last`, or begins another. */
static int place_item(axle__averaged *item, const axle__averaged *last, axle__average_run **runs,
                      int *count)
{
    int64_t size = (int64_t)axle_dtype_size((int)axle__dtype(item->tensor));
    if (last && last->storage == item->storage &&
        axle__dtype(last->tensor) == axle__dtype(item->tensor)) {
        int64_t distance = (int64_t)(item->offset - last->offset) / size;
        int64_t gap = distance - last->tensor->count;
        if (gap >= 0 && gap < ALIGNMENT) {
            item->run = last->run;
            item->place = last->place + distance;
            (*runs)[item->run].count = item->place + item->tensor->count;
            return AXLE_OK;
        }
    }
    axle__average_run *more = axle__resize(*runs, (size_t)*count + 1, sizeof(*more));
    if (!more)
        return axle_error_code();
    *runs = more;
    more[*count] = (axle__average_run){.count = item->tensor->count};
    item->run = (*count)++;
    item->place = 0;
    return AXLE_OK;
}

/* The stretch of parameters that begins with this item, and room for its averages, which begin as
 * copies. */
static int make_run(const axle__averaged *first, axle__average_run *run)
{
    const axle_tensor *tensor = first->tensor;
    axle_view view = {.offset = tensor->view.offset,
                      .dtype = tensor->view.dtype,
                      .rank = 1,
                      .dim = {run->count},
                      .stride = {1}};
    run->params = axle__tensor_alias(tensor, &view);
    run->average =
        axle__tensor_new("ema", tensor->device, (int)axle__dtype(tensor), 1, &run->count, NULL);
    if (!run->params || !run->average)
        return axle_error_code();
    return axle__copy_into(run->average, run->params);
}

/* An item's part of its run, with the average that it had. */
static int make_average(const axle__averaged *item, const axle__average_run *runs,
                        axle_tensor **out)
{
    const axle_tensor *vector = runs[item->run].average;
    axle_view view = item->tensor->view;
    view.offset =
        vector->view.offset + (uint64_t)item->place * axle_dtype_size((int)axle__dtype(vector));
    axle_tensor *average = axle__tensor_alias(vector, &view);
    int status = average ? AXLE_OK : axle_error_code();
    if (!status && item->average)
        status = axle__copy_into(average, item->average);
    if (status)
        axle_tensor_release(average);
    else
        *out = average;
    return status;
}

static int cut(axle_ema *ema, axle__averaged **sorted, axle__average_run **runs, int *count)
{
    int status = AXLE_OK;
    for (int k = 0; k < ema->count; k++) {
        sorted[k] = &ema->item[k];
        sorted[k]->storage = sorted[k]->tensor->storage;
        sorted[k]->offset = sorted[k]->tensor->view.offset;
    }
    qsort(sorted, (size_t)ema->count, sizeof(*sorted), by_place);
    for (int k = 0; k < ema->count && !status; k++)
        status = place_item(sorted[k], k ? sorted[k - 1] : NULL, runs, count);
    for (int k = 0; k < ema->count && !status; k++)
        if (sorted[k]->place == 0)
            status = make_run(sorted[k], &(*runs)[sorted[k]->run]);
    return status;
}

void axle__ema_free_runs(axle__average_run *run, int count)
{
    for (int k = 0; k < count; k++) {
        axle_tensor_release(run[k].params);
        axle_tensor_release(run[k].average);
    }
    axle__free(run);
}

static void forget_places(axle_ema *ema)
{
    for (int k = 0; k < ema->count; k++)
        ema->item[k].storage = NULL;
}

int axle__ema_lay_out(axle_ema *ema)
{
    if (is_current(ema))
        return AXLE_OK;
    axle__averaged **sorted = axle__alloc((size_t)ema->count + 1, sizeof(*sorted));
    axle_tensor **average = axle__alloc((size_t)ema->count + 1, sizeof(*average));
    axle__average_run *runs = NULL;
    int count = 0, status = sorted && average ? AXLE_OK : axle_error_code();
    if (!status)
        status = cut(ema, sorted, &runs, &count);
    for (int k = 0; k < ema->count && !status; k++)
        status = make_average(&ema->item[k], runs, &average[k]);
    for (int k = 0; k < ema->count && average; k++) {
        axle_tensor *old = status ? average[k] : ema->item[k].average;
        if (!status)
            ema->item[k].average = average[k];
        axle_tensor_release(old);
    }
    if (status) {
        axle__ema_free_runs(runs, count);
        forget_places(ema);
    } else {
        axle__ema_free_runs(ema->run, ema->run_count);
        ema->run = runs;
        ema->run_count = count;
    }
    axle__free(sorted);
    axle__free(average);
    return status;
}
