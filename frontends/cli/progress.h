/* SPDX-License-Identifier: Apache-2.0 */
/* How far training is: a line that redraws itself on a terminal, a line an interval elsewhere. */
#ifndef AXLE_CLI_PROGRESS_H
#define AXLE_CLI_PROGRESS_H

#include <stdint.h>

typedef struct progress {
    int quiet, terminal;
    int64_t epochs, updates; /* in all */
    int64_t every;           /* updates between two plain lines */
    int64_t before;          /* updates that an earlier run made */
    double start, drawn;     /* seconds */
    double waited;           /* seconds waited for other processes before the start */
} progress;

typedef struct progress_state {
    int64_t epoch, update; /* from 1 */
    int64_t rows;          /* samples so far */
    double loss, lr;
    double waited; /* seconds waited for other processes, ever; negative where there are none */
} progress_state;

/* Output goes to standard error. */
void progress_begin(progress *progress, int quiet, int64_t epochs, int64_t updates, int64_t every,
                    double waited);
/* After an update. Costs little where there is nothing to draw. */
void progress_update(progress *progress, const progress_state *state);
/* Clear the line. */
void progress_end(progress *progress);

#endif
