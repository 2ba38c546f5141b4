/* SPDX-License-Identifier: Apache-2.0 */
/* Charts as pictures, one below the other. */
#include "config.h"

#include <string.h>

#include "axle/status.h"
#include "plot_scale.h"

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), most = strlen(end);
    return length > most && strcmp(text + length - most, end) == 0;
}

#ifdef HAVE_CAIRO

#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>

/* In points; a PNG has two pixels a point. */
enum { WIDTH = 860, HEIGHT = 330, LEFT = 78, RIGHT = 24, TOP = 40, BOTTOM = 46, PIXELS = 2 };
enum { FONT = 13, SMALL = 11, LEGEND_LINE = 18, LEGEND_GAP = 26, LEGEND_ROW = 20, HEAD = 12 };

/* Okabe and Ito's palette (Color Universal Design, 2008), which colour-blind eyes tell apart; the
 * yellow of it is too light on white. */
static const double palette[][3] = {
    {0.000, 0.447, 0.698}, {0.835, 0.369, 0.000}, {0.000, 0.620, 0.451}, {0.800, 0.475, 0.655},
    {0.902, 0.624, 0.000}, {0.337, 0.706, 0.914}, {0.200, 0.200, 0.200}};
enum { COLOURS = sizeof(palette) / sizeof(palette[0]) };

/* Lines of runs beyond the palette. */
static const double dashes[][2] = {{0, 0}, {6, 3}, {2, 3}};
enum { DASHES = sizeof(dashes) / sizeof(dashes[0]) };

/* Where a chart's curves are. */
typedef struct frame {
    double x, y, width, height;
    plot_scale xs, ys;
} frame;

static void set_run(cairo_t *cr, int run, double alpha)
{
    const double *c = palette[run % COLOURS], *dash = dashes[run / COLOURS % DASHES];
    cairo_set_source_rgba(cr, c[0], c[1], c[2], alpha);
    cairo_set_dash(cr, dash, dash[0] > 0 ? 2 : 0, 0);
}

static void set_grey(cairo_t *cr, double shade)
{
    cairo_set_source_rgb(cr, shade, shade, shade);
    cairo_set_dash(cr, NULL, 0, 0);
}

/* Text whose place is `along` of its width (0 left, 1 right) at x. */
static double show_text(cairo_t *cr, const char *text, double x, double y, double along)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cr, text, &extents);
    cairo_move_to(cr, x - along * extents.x_advance, y);
    cairo_show_text(cr, text);
    return extents.x_advance;
}

static double text_width(cairo_t *cr, const char *text)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cr, text, &extents);
    return extents.x_advance;
}

static void line(cairo_t *cr, double x0, double y0, double x1, double y1)
{
    cairo_move_to(cr, x0, y0);
    cairo_line_to(cr, x1, y1);
    cairo_stroke(cr);
}

/* ------------------------------------------------------------------ legend */

/* Place the names of runs in rows; draw them where `draw`. Returns the height. */
static double legend(cairo_t *cr, const plot_chart *chart, int draw)
{
    double x = LEFT, y = HEAD + FONT;
    cairo_set_font_size(cr, FONT);
    for (int k = 0; k < chart->run_count; k++) {
        double width = LEGEND_LINE + 6 + text_width(cr, chart->runs[k]);
        if (x > LEFT && x + width > WIDTH - RIGHT) {
            x = LEFT;
            y += LEGEND_ROW;
        }
        if (draw) {
            set_run(cr, k, 1.0);
            cairo_set_line_width(cr, 2.5);
            line(cr, x, y - 4.5, x + LEGEND_LINE, y - 4.5);
            set_grey(cr, 0.15);
            show_text(cr, chart->runs[k], x + LEGEND_LINE + 6, y, 0.0);
        }
        x += width + LEGEND_GAP;
    }
    return y + 6;
}

/* ------------------------------------------------------------------ axes */

static void draw_grid(cairo_t *cr, const frame *frame)
{
    char label[SCALE_LABEL];
    cairo_set_font_size(cr, SMALL);
    cairo_set_line_width(cr, 0.8);
    for (int k = 0; k < frame->ys.tick_count; k++) {
        double y =
            frame->y + frame->height * (1.0 - plot_scale_place(&frame->ys, frame->ys.ticks[k]));
        set_grey(cr, 0.88);
        line(cr, frame->x, y, frame->x + frame->width, y);
        set_grey(cr, 0.3);
        show_text(cr, plot_scale_label(&frame->ys, k, label), frame->x - 8, y + 4, 1.0);
    }
    for (int k = 0; k < frame->xs.tick_count; k++) {
        double x = frame->x + frame->width * plot_scale_place(&frame->xs, frame->xs.ticks[k]);
        double bottom = frame->y + frame->height;
        set_grey(cr, 0.94);
        line(cr, x, frame->y, x, bottom);
        set_grey(cr, 0.45);
        line(cr, x, bottom, x, bottom + 4);
        set_grey(cr, 0.3);
        show_text(cr, plot_scale_label(&frame->xs, k, label), x, bottom + 17, 0.5);
    }
    set_grey(cr, 0.45);
    cairo_set_line_width(cr, 1.0);
    cairo_move_to(cr, frame->x, frame->y);
    cairo_rel_line_to(cr, 0, frame->height);
    cairo_rel_line_to(cr, frame->width, 0);
    cairo_stroke(cr);
}

static void draw_titles(cairo_t *cr, const frame *frame, const plot_panel *panel)
{
    set_grey(cr, 0.1);
    cairo_set_font_size(cr, FONT + 1);
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    show_text(cr, panel->metric, frame->x, frame->y - 12, 0.0);
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    set_grey(cr, 0.3);
    cairo_set_font_size(cr, SMALL);
    show_text(cr, "update", frame->x + frame->width, frame->y + frame->height + 34, 1.0);
}

/* ------------------------------------------------------------------ curves */

static double value_at(const plot_series *series, int k, int smooth)
{
    return smooth ? series->smooth[k] : series->points[k].y;
}

static void dot(cairo_t *cr, double x, double y, double radius)
{
    cairo_new_path(cr);
    cairo_arc(cr, x, y, radius, 0.0, 2.0 * acos(-1.0));
    cairo_fill(cr);
}

/* Of many points in a column of a quarter point, the lowest and the highest are drawn: a line
 * through all would look the same and make large files. */
typedef struct column {
    double x, first, low, high, last;
    int count;
} column;

static void flush_column(cairo_t *cr, column *column)
{
    if (column->count == 0)
        return;
    cairo_line_to(cr, column->x, column->first);
    if (column->count > 2) {
        cairo_line_to(cr, column->x, column->low);
        cairo_line_to(cr, column->x, column->high);
    }
    if (column->count > 1)
        cairo_line_to(cr, column->x, column->last);
    column->count = 0;
}

static void add_to_column(cairo_t *cr, column *column, double x, double y)
{
    if (column->count > 0 && x - column->x < 0.25) {
        column->low = fmin(column->low, y);
        column->high = fmax(column->high, y);
        column->last = y;
        column->count++;
        return;
    }
    flush_column(cr, column);
    *column = (struct column){x, y, y, y, y, 1};
}

/* A point between two gaps has no line to be seen by. */
static void draw_curve(cairo_t *cr, const frame *frame, const plot_series *series, int smooth)
{
    column column = {0};
    int length = 0;
    double x = 0.0, y = 0.0;
    cairo_new_path(cr);
    for (int k = 0; k <= series->count; k++) {
        double place =
            k < series->count ? plot_scale_place(&frame->ys, value_at(series, k, smooth)) : NAN;
        if (isfinite(place)) {
            x = frame->x + frame->width * plot_scale_place(&frame->xs, series->points[k].x);
            y = frame->y + frame->height * (1.0 - place);
            add_to_column(cr, &column, x, y);
            length++;
            continue;
        }
        flush_column(cr, &column);
        if (length > 1)
            cairo_stroke(cr);
        else if (length == 1)
            dot(cr, x, y, 3.0);
        cairo_new_path(cr);
        length = 0;
    }
}

static void draw_curves(cairo_t *cr, const frame *frame, const plot_panel *panel)
{
    cairo_save(cr);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    for (int k = 0; k < panel->count; k++) {
        const plot_series *series = panel->series[k];
        if (series->smooth) {
            set_run(cr, panel->run[k], 0.25);
            cairo_set_line_width(cr, 1.0);
            draw_curve(cr, frame, series, 0);
        }
    }
    for (int k = 0; k < panel->count; k++) {
        set_run(cr, panel->run[k], 0.95);
        cairo_set_line_width(cr, 1.6);
        draw_curve(cr, frame, panel->series[k], panel->series[k]->smooth != NULL);
    }
    cairo_restore(cr);
}

static void draw_panel(cairo_t *cr, const plot_chart *chart, const plot_panel *panel, double top)
{
    frame frame = {
        .x = LEFT, .y = top + TOP, .width = WIDTH - LEFT - RIGHT, .height = HEIGHT - TOP - BOTTOM};
    plot_scale_x(panel, 8, &frame.xs);
    plot_scale_y(panel, chart->logarithmic && strcmp(panel->metric, "lr") != 0, 5, &frame.ys);
    draw_grid(cr, &frame);
    draw_titles(cr, &frame, panel);
    draw_curves(cr, &frame, panel);
}

/* ------------------------------------------------------------------ surfaces */

static double draw_all(cairo_t *cr, const plot_chart *chart, int draw)
{
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    if (draw) {
        cairo_set_source_rgb(cr, 1, 1, 1);
        cairo_paint(cr);
    }
    double height = legend(cr, chart, draw);
    for (int k = 0; k < chart->count && draw; k++)
        draw_panel(cr, chart, &chart->panels[k], height + k * HEIGHT);
    return height + chart->count * HEIGHT;
}

static double measure(const plot_chart *chart)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *cr = cairo_create(surface);
    double height = draw_all(cr, chart, 0);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return height;
}

static cairo_status_t write_surface(cairo_surface_t *surface, const plot_chart *chart, int scale,
                                    const char *png)
{
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    draw_all(cr, chart, 1);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    if (!status && png)
        status = cairo_surface_write_to_png(surface, png);
    cairo_surface_finish(surface);
    status = status ? status : cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status;
}

int plot_picture(const plot_chart *chart, const char *path)
{
    int png = ends_with(path, ".png");
    if (!png && !ends_with(path, ".svg"))
        return axle_error_set(AXLE_ERR_INVALID, "%s: the name ends in neither .png nor .svg", path);
    double height = measure(chart);
    cairo_surface_t *surface =
        png ? cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH * PIXELS, (int)(height * PIXELS))
            : cairo_svg_surface_create(path, WIDTH, height);
    cairo_status_t status = write_surface(surface, chart, png ? PIXELS : 1, png ? path : NULL);
    return status ? axle_error_set(AXLE_ERR_IO, "%s: %s", path, cairo_status_to_string(status))
                  : AXLE_OK;
}

#else

int plot_picture(const plot_chart *chart, const char *path)
{
    (void)chart;
    if (!ends_with(path, ".png") && !ends_with(path, ".svg"))
        return axle_error_set(AXLE_ERR_INVALID, "%s: the name ends in neither .png nor .svg", path);
    return axle_error_set(AXLE_ERR_UNSUPPORTED,
                          "this build draws no pictures (configure --with-cairo)");
}

#endif
