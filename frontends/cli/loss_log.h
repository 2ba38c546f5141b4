/* SPDX-License-Identifier: Apache-2.0 */
/* A file with the loss of every update: its number from 1, a space, the loss. */
#ifndef AXLE_CLI_LOSS_LOG_H
#define AXLE_CLI_LOSS_LOG_H

#include <stdint.h>

#include "../common/whole_file.h"

typedef struct loss_log {
    whole_file file;
    int digits;
} loss_log;

/* Significant digits that tell every f32 and every f64 apart. */
enum { LOSS_DIGITS_F32 = 9, LOSS_DIGITS_F64 = 17 };

/* With path NULL there is no log, and the others do nothing. */
int loss_log_open(loss_log *log, const char *path, int digits);
void loss_log_write(loss_log *log, int64_t update, double loss);
int loss_log_commit(loss_log *log);
void loss_log_discard(loss_log *log);

#endif
