/* SPDX-License-Identifier: Apache-2.0 */
#include "train/agree.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "train/accelerator.h"

/* The first rank that failed, or the number of processes. */
static int first_failed(axle_accelerator *accelerator, int status, int64_t *out)
{
    int64_t rank = status ? axle_process_index(accelerator) : axle_process_count(accelerator);
    int code = axle__reduce_numbers(accelerator, AXLE_DTYPE_I64, &rank, 1, AXLE_REDUCE_MIN);
    if (!code)
        *out = rank;
    return code;
}

typedef struct verdict {
    int code;
    char message[AXLE__ERROR_MESSAGE_SIZE];
} verdict;

static int hear(axle_accelerator *accelerator, int rank, const verdict *own, verdict *out)
{
    void *bytes = (void *)(uintptr_t)own;
    size_t size = sizeof(*own);
    bool speaks = rank == axle_process_index(accelerator);
    int code = axle_broadcast_bytes(accelerator->group, &bytes, &size, rank);
    if (code || speaks)
        return code;
    if (size == sizeof(*out))
        memcpy(out, bytes, size);
    axle__free(bytes);
    return AXLE_OK;
}

int axle__agree(axle_accelerator *accelerator, int status)
{
    if (axle_process_count(accelerator) == 1)
        return status;
    axle__error_record record = {0};
    if (status)
        axle__error_take(&record);
    verdict own = {status, ""}, heard = own;
    memcpy(own.message, record.message, sizeof(own.message));
    int64_t rank;
    int code = first_failed(accelerator, status, &rank);
    if (!code && rank < axle_process_count(accelerator))
        code = hear(accelerator, (int)rank, &own, &heard);
    if (status) {
        axle__error_restore(&record);
        return status;
    }
    if (!code && heard.code)
        code = axle_error_set(heard.code, "rank %d: %s", (int)rank, heard.message);
    return code;
}
