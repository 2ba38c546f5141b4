/* SPDX-License-Identifier: Apache-2.0 */
/* axle train --track. */
#ifndef AXLE_CLI_TRAIN_TRACK_H
#define AXLE_CLI_TRAIN_TRACK_H

#include "train.h"

/* All of these do nothing without the option. They return AXLE_OK or an error code with Axle's
 * error recorded. */

/* Begin, or go on behind the updates that were made before. */
int train_track_begin(training *training);
/* After an update. */
int train_track_update(training *training, double loss);
/* After an evaluation. */
int train_track_evaluation(training *training);
/* At the end, with the last evaluation. */
int train_track_end(training *training);
/* Comma-separated kinds of trackers: the check of the option. */
int train_track_check(const char *text, char *problem);

#endif
