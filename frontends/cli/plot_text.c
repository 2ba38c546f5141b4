/* SPDX-License-Identifier: Apache-2.0 */
/* Charts as text: dots of braille, eight a character, or a letter a run. */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"
#include "plot_scale.h"

/* Rows of a chart; columns of the labels at its left, and of what stands around it. */
enum { ROWS = 14, LABEL = 10, FRAME = 2, DOTS_X = 2, DOTS_Y = 4, TICK_GAP = 12 };

static const char marks[] = "*o+x#@%&=~$";
enum { MARKS = sizeof(marks) - 1 };
/* Colours of terminals that are told apart by most eyes: blue, red-orange, green, magenta, cyan. */
static const int colours[] = {34, 33, 32, 35, 36, 31};
enum { COLOURS = sizeof(colours) / sizeof(colours[0]) };

/* A cell is drawn in the colour of the last run in it. */
typedef struct canvas {
    int columns, rows;
    unsigned char *dots; /* bits of braille, or a mark */
    signed char *owner;  /* number of the run; -1: none */
    const plot_text_options *options;
} canvas;

/* ------------------------------------------------------------------ the canvas */

static int canvas_create(canvas *canvas, const plot_text_options *options)
{
    int columns = options->columns - LABEL - FRAME;
    size_t cells = (size_t)columns * ROWS;
    *canvas = (struct canvas){columns, ROWS, calloc(cells, 1), malloc(cells), options};
    if (!canvas->dots || !canvas->owner) {
        free(canvas->dots);
        free(canvas->owner);
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    }
    memset(canvas->owner, -1, cells);
    return AXLE_OK;
}

static void canvas_release(canvas *canvas)
{
    free(canvas->dots);
    free(canvas->owner);
}

static int dots_across(const canvas *canvas)
{
    return canvas->columns * (canvas->options->braille ? DOTS_X : 1);
}

static int dots_down(const canvas *canvas)
{
    return canvas->rows * (canvas->options->braille ? DOTS_Y : 1);
}

/* Dots of a braille character, as Unicode numbers their bits. */
static void set_dot(canvas *canvas, int x, int y, int run)
{
    static const unsigned char bits[DOTS_Y][DOTS_X] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || y < 0 || x >= dots_across(canvas) || y >= dots_down(canvas))
        return;
    int braille = canvas->options->braille;
    int cell = (braille ? y / DOTS_Y : y) * canvas->columns + (braille ? x / DOTS_X : x);
    if (braille)
        canvas->dots[cell] |= bits[y % DOTS_Y][x % DOTS_X];
    else
        canvas->dots[cell] = (unsigned char)marks[run % MARKS];
    canvas->owner[cell] = (signed char)run;
}

static void draw_line(canvas *canvas, double x0, double y0, double x1, double y1, int run)
{
    int steps = (int)ceil(fmax(fabs(x1 - x0), fabs(y1 - y0)));
    for (int k = 0; k <= steps; k++) {
        double t = steps > 0 ? (double)k / steps : 0.0;
        set_dot(canvas, (int)lround(x0 + t * (x1 - x0)), (int)lround(y0 + t * (y1 - y0)), run);
    }
}

static void draw_series(canvas *canvas, const plot_series *series, int run, const plot_scale *xs,
                        const plot_scale *ys)
{
    double before_x = NAN, before_y = NAN;
    for (int k = 0; k < series->count; k++) {
        double value = series->smooth ? series->smooth[k] : series->points[k].y;
        double x = plot_scale_place(xs, series->points[k].x) * (dots_across(canvas) - 1);
        double y = (1.0 - plot_scale_place(ys, value)) * (dots_down(canvas) - 1);
        if (isfinite(y))
            draw_line(canvas, isfinite(before_y) ? before_x : x, isfinite(before_y) ? before_y : y,
                      x, y, run);
        before_x = x;
        before_y = y;
    }
}

/* ------------------------------------------------------------------ printing */

static void begin_colour(const plot_text_options *options, int run, FILE *to)
{
    if (options->colours && run >= 0)
        fprintf(to, "\033[%dm", colours[run % COLOURS]);
}

static void end_colour(const plot_text_options *options, int run, FILE *to)
{
    if (options->colours && run >= 0)
        fputs("\033[0m", to);
}

/* U+2800 and the bits, in UTF-8. */
static void print_braille(unsigned bits, FILE *to)
{
    putc(0xe2, to);
    putc(0xa0 | (int)(bits >> 6), to);
    putc(0x80 | (int)(bits & 0x3f), to);
}

static void print_cell(const canvas *canvas, int cell, FILE *to)
{
    int run = canvas->owner[cell];
    if (run < 0) {
        putc(' ', to);
        return;
    }
    begin_colour(canvas->options, run, to);
    if (canvas->options->braille)
        print_braille(canvas->dots[cell], to);
    else
        putc(canvas->dots[cell], to);
    end_colour(canvas->options, run, to);
}

/* The tick whose place is in that row; -1. */
static int tick_at(const plot_scale *scale, int row, int rows)
{
    for (int k = 0; k < scale->tick_count; k++) {
        double at = 1.0 - plot_scale_place(scale, scale->ticks[k]);
        if ((int)lround(at * (rows - 1)) == row)
            return k;
    }
    return -1;
}

static void print_rows(const canvas *canvas, const plot_scale *ys, FILE *to)
{
    int braille = canvas->options->braille;
    for (int row = 0; row < canvas->rows; row++) {
        char label[SCALE_LABEL] = "";
        int tick = tick_at(ys, row, canvas->rows);
        if (tick >= 0)
            plot_scale_label(ys, tick, label);
        fprintf(to, "%*.*s %s", LABEL, LABEL, label,
                braille ? (tick >= 0 ? "┤" : "│") : (tick >= 0 ? "+" : "|"));
        for (int k = 0; k < canvas->columns; k++)
            print_cell(canvas, row * canvas->columns + k, to);
        putc('\n', to);
    }
}

/* Labels stand below their ticks, which are TICK_GAP columns apart at least. */
static void print_x_axis(const canvas *canvas, const plot_scale *xs, FILE *to)
{
    int braille = canvas->options->braille, next = 0;
    char *below = malloc((size_t)canvas->columns + LABEL + FRAME + SCALE_LABEL);
    int end = 0;
    fprintf(to, "%*s %s", LABEL, "", braille ? "└" : "+");
    for (int k = 0; k < canvas->columns; k++) {
        int is_tick = next < xs->tick_count && (int)lround(plot_scale_place(xs, xs->ticks[next]) *
                                                           (canvas->columns - 1)) == k;
        fputs(braille ? (is_tick ? "┬" : "─") : (is_tick ? "+" : "-"), to);
        if (!is_tick)
            continue;
        char label[SCALE_LABEL];
        int length = (int)strlen(plot_scale_label(xs, next++, label));
        int at = LABEL + FRAME + k - length / 2;
        if (at + length > canvas->columns + LABEL + FRAME)
            at = canvas->columns + LABEL + FRAME - length;
        if (below && at > end)
            end += sprintf(below + end, "%*s%s", at - end, "", label);
    }
    fprintf(to, "\n%.*s\n", below ? end : 0, below ? below : "");
    free(below);
}

static void print_title(const plot_panel *panel, const plot_chart *chart,
                        const plot_text_options *options, FILE *to)
{
    fprintf(to, "%*s  %s", LABEL, "", panel->metric);
    for (int k = 0; k < panel->count; k++) {
        int run = panel->run[k];
        fputs("   ", to);
        begin_colour(options, run, to);
        if (options->braille)
            fputs("⠤⠤ ", to);
        else
            fprintf(to, "%c ", marks[run % MARKS]);
        end_colour(options, run, to);
        fputs(chart->runs[run], to);
    }
    putc('\n', to);
}

static int print_panel(const plot_chart *chart, const plot_panel *panel,
                       const plot_text_options *options, FILE *to)
{
    canvas canvas;
    plot_scale xs, ys;
    int code = canvas_create(&canvas, options);
    if (code)
        return code;
    plot_scale_x(panel, canvas.columns / TICK_GAP, &xs);
    plot_scale_y(panel, chart->logarithmic && strcmp(panel->metric, "lr") != 0, 5, &ys);
    for (int k = 0; k < panel->count; k++)
        draw_series(&canvas, panel->series[k], panel->run[k], &xs, &ys);
    print_title(panel, chart, options, to);
    print_rows(&canvas, &ys, to);
    print_x_axis(&canvas, &xs, to);
    canvas_release(&canvas);
    return AXLE_OK;
}

int plot_text(const plot_chart *chart, const plot_text_options *options, FILE *to)
{
    int code = AXLE_OK;
    for (int k = 0; k < chart->count && !code; k++) {
        if (k > 0)
            putc('\n', to);
        code = print_panel(chart, &chart->panels[k], options, to);
    }
    return code;
}
