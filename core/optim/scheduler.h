/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules inside: a factor of the number of ticks. */
#ifndef AXLE_OPTIM_SCHEDULER_H
#define AXLE_OPTIM_SCHEDULER_H

#include "optim/optimizer.h"

typedef struct axle__schedule {
    double (*factor)(const struct axle__schedule *schedule, int64_t tick);
    int64_t warmup, total, period;
    double gamma, power, end, cycles;
    double rise, start;
    int anneal;
    bool three_phase;
    int64_t *milestones; /* owned */
    int milestone_count;
    axle_schedule_fn fn;
    void *user;
} axle__schedule;

struct axle_scheduler {
    axle_object object;
    axle_optimizer *optimizer; /* retained */
    axle__schedule schedule;
    int64_t ticks;
};

#endif
