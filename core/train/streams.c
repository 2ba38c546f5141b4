/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over streams: each process reads one of its own, and all must have read the same. */
#include <inttypes.h>

#include "base/error.h"
#include "base/memory.h"
#include "group/group.h"
#include "train/accelerator.h"
#include "train/agree.h"

enum { FAILED = -1 };

/* Position and end in one number, which processes can compare. */
static int64_t token_of(int status, int64_t samples, bool ends)
{
    return status ? FAILED : 2 * samples + ends;
}

static int tell_difference(const int64_t *tokens, int count)
{
    int other = 0;
    while (other + 1 < count && tokens[other] == tokens[0])
        other++;
    return axle_error_set(AXLE_ERR_INVALID,
                          "loader: streams differ: %s%" PRId64 " samples on rank 0, %s%" PRId64
                          " on rank %d",
                          tokens[0] % 2 ? "it ends after " : "", tokens[0] / 2,
                          tokens[other] % 2 ? "it ends after " : "", tokens[other] / 2, other);
}

static int find_difference(axle_accelerator *accelerator, int64_t own)
{
    int count = axle_process_count(accelerator);
    size_t *sizes = axle__alloc((size_t)count, sizeof(*sizes));
    void *all = NULL;
    int status = sizes ? axle_gather_bytes(accelerator->group, &own, sizeof(own), &all, sizes)
                       : AXLE_ERR_NOMEM;
    if (!status)
        status = tell_difference(all, count);
    axle__free(all);
    axle__free(sizes);
    return status;
}

int axle__loop_agree(void *user, int status, int64_t samples, bool ends)
{
    axle_accelerator *accelerator = user;
    if (axle_process_count(accelerator) == 1 || accelerator->trial || accelerator->group->joining)
        return status;
    axle__error_record record = {0};
    if (status)
        axle__error_take(&record);
    int64_t own = token_of(status, samples, ends), both[2] = {own, ~own};
    int code = axle__reduce_numbers(accelerator, AXLE_DTYPE_I64, both, 2, AXLE_REDUCE_MAX);
    if (status)
        axle__error_restore(&record);
    if (code)
        return status ? status : code;
    if (~both[1] == FAILED)
        return axle__agree(accelerator, status);
    return both[0] == ~both[1] ? AXLE_OK : find_difference(accelerator, own);
}
