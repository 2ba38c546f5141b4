/* SPDX-License-Identifier: Apache-2.0 */
/* An error of one process becomes everyone's. */
#ifndef AXLE_TRAIN_AGREE_H
#define AXLE_TRAIN_AGREE_H

#include "axle/accelerator.h"

/* Called by all processes, each with its status. Returns the process's own where that is an error;
 * else that of the first process that has one, with its message and rank; else AXLE_OK. */
int axle__agree(axle_accelerator *accelerator, int status);

#endif
