/* SPDX-License-Identifier: Apache-2.0 */
#include "loss_log.h"

#include <inttypes.h>

int loss_log_open(loss_log *log, const char *path, int digits)
{
    log->digits = digits;
    return path ? whole_file_open(&log->file, path) : 0;
}

/* Errors stay with the stream until it is committed. */
void loss_log_write(loss_log *log, int64_t update, double loss)
{
    if (log->file.stream)
        fprintf(log->file.stream, "%" PRId64 " %.*g\n", update, log->digits, loss);
}

int loss_log_commit(loss_log *log)
{
    return log->file.stream ? whole_file_commit(&log->file) : 0;
}

void loss_log_discard(loss_log *log)
{
    whole_file_discard(&log->file);
}
