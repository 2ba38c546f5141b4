/* SPDX-License-Identifier: Apache-2.0 */
/* An axis: from numbers to [0, 1], and the ticks on it. */
#ifndef AXLE_CLI_PLOT_SCALE_H
#define AXLE_CLI_PLOT_SCALE_H

#include "plot.h"

enum { SCALE_MOST_TICKS = 16, SCALE_LABEL = 24 };

typedef struct plot_scale {
    double low, high; /* of the axis, in its own numbers or their logarithms */
    int logarithmic;
    double ticks[SCALE_MOST_TICKS];
    int tick_count;
} plot_scale;

/* Scales that hold all of a panel. With about `wanted` ticks. */
void plot_scale_x(const plot_panel *panel, int wanted, plot_scale *out);
void plot_scale_y(const plot_panel *panel, int logarithmic, int wanted, plot_scale *out);

/* Position of a number, NAN where it has none. */
double plot_scale_place(const plot_scale *scale, double value);
/* What stands at a tick. */
const char *plot_scale_label(const plot_scale *scale, int tick, char text[SCALE_LABEL]);

#endif
