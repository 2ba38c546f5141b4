/* SPDX-License-Identifier: Apache-2.0 */
/* Averages inside: parameters that lie side by side, as in an optimizer's arena, make a run. */
#ifndef AXLE_OPTIM_EMA_H
#define AXLE_OPTIM_EMA_H

#include <stdbool.h>

#include "axle/ema.h"
#include "tensor/run.h"

typedef struct axle__averaged {
    char *path;
    axle_tensor *tensor;  /* the parameter; retained */
    axle_tensor *average; /* in the run's vector, with the parameter's dims */
    /* Where the parameter lay when the runs were cut. */
    const axle__storage *storage;
    uint64_t offset; /* bytes */
    int64_t place;   /* in its run, in elements */
    int run;
} axle__averaged;

typedef struct axle__average_run {
    int64_t count;
    axle_tensor *params;  /* that stretch of the parameters' storage, as a vector */
    axle_tensor *average; /* as long */
} axle__average_run;

struct axle_ema {
    axle_module *module;
    double decay;
    axle_ema_options options;
    int64_t updates;
    int64_t seen; /* updates of the optimizer at the last call; -1: none yet */
    bool swapped;
    axle__averaged *item; /* in the order of the module's parameters */
    int count;
    axle__average_run *run;
    int run_count;
};

/* Cut runs where the parameters lie now, and move the averages there; quick where nothing moved. */
int axle__ema_lay_out(axle_ema *ema);
void axle__ema_free_runs(axle__average_run *run, int count);

#endif
