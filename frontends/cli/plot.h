/* SPDX-License-Identifier: Apache-2.0 */
/* axle plot: curves, and what draws them. */
#ifndef AXLE_CLI_PLOT_H
#define AXLE_CLI_PLOT_H

#include <stdio.h>

/* A value that is not finite is a gap. */
typedef struct plot_point {
    double x, y;
} plot_point;

/* One metric of one run. */
typedef struct plot_series {
    char *run, *metric;
    plot_point *points; /* sorted by x */
    double *smooth;     /* y of the smoothed curve; NULL: there is none */
    int count, capacity;
} plot_series;

typedef struct plot_data {
    plot_series *series;
    int count;
} plot_data;

/* One chart: the series of a metric. Positions in the data; a run has the colour of its number. */
typedef struct plot_panel {
    const char *metric;
    const plot_series *series[64];
    int run[64]; /* number of the run */
    int count;
} plot_panel;

enum { PLOT_MOST_SERIES = 64, PLOT_MOST_PANELS = 16 };

/* What is drawn. */
typedef struct plot_chart {
    plot_panel panels[PLOT_MOST_PANELS];
    int count;
    const char *runs[PLOT_MOST_SERIES];
    int run_count;
    int logarithmic;
} plot_chart;

/* Functions return AXLE_OK or record an error and return its code. */

/* Add what a file or folder holds: metrics.jsonl, else metrics.csv, of the folder or of those in
 * it; a file of JSON lines or CSV, or a loss log. */
int plot_read(plot_data *data, const char *path);
void plot_free(plot_data *data);

/* Smooth as TensorBoard does: a moving average in which a value's weight falls by `factor` a step,
 * divided by the sum of the weights. */
int plot_smooth(plot_series *series, double factor);

/* Draw as text of at most that many columns. */
typedef struct plot_text_options {
    int columns;
    int braille; /* else ASCII */
    int colours;
} plot_text_options;
int plot_text(const plot_chart *chart, const plot_text_options *options, FILE *to);

/* Write a .png or .svg file. */
int plot_picture(const plot_chart *chart, const char *path);

#endif
