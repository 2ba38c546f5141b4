/* SPDX-License-Identifier: Apache-2.0 */
/* axle plot: loss and learning-rate curves of runs. */
#define _GNU_SOURCE 1
#include "plot.h"

#include <jansson.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "axle/status.h"
#include "command.h"

enum { COLUMNS = 80, MOST_COLUMNS = 1000, LEAST_COLUMNS = 40 };

typedef struct plot_settings {
    option_list paths, metrics;
    const char *output;
    double smooth;
    int64_t width;
    int json, log, ascii;
} plot_settings;

static const plot_settings defaults = {.smooth = 0.0};

#define PLOT_OPTION(label, type, field, ...)                                                       \
    CLI_OPTION(label, type, plot_settings, field, __VA_ARGS__)

static const cli_option options[] = {
    PLOT_OPTION("output", FILE, output, .value = "FILE", .unset = "text on standard output",
                .help = "write a .png or .svg file"),
    PLOT_OPTION("metric", LIST, metrics, .value = "NAME",
                .help = "what to draw, several times for several [loss and lr]"),
    PLOT_OPTION("smooth", REAL, smooth, .value = "S", .high = 0.9999,
                .help = "moving average, of all but lr; 0.9 is over about 10 values"),
    PLOT_OPTION("log", FLAG, log, .help = "logarithmic scale, of all but lr"),
    PLOT_OPTION("ascii", FLAG, ascii, .help = "text without braille or colours"),
    PLOT_OPTION("width", INTEGER, width, .value = "N", .high = MOST_COLUMNS,
                .unset = "that of the terminal, else 80", .help = "columns of text"),
    PLOT_OPTION("json", FLAG, json, .help = "print a summary of the curves as JSON instead"),
    CLI_OPTION_END,
};

static const cli_option paths =
    PLOT_OPTION("DIR", LIST, paths, .value = "DIR", .help = "folders or files of runs");

/* ------------------------------------------------------------------ what to draw */

static int find_run(plot_chart *chart, const char *run)
{
    for (int k = 0; k < chart->run_count; k++)
        if (strcmp(chart->runs[k], run) == 0)
            return k;
    if (chart->run_count == PLOT_MOST_SERIES)
        return -1;
    chart->runs[chart->run_count] = run;
    return chart->run_count++;
}

/* Add the chart of a metric; returns whether a run has it. */
static int add_panel(plot_chart *chart, const plot_data *data, const char *metric)
{
    plot_panel *panel = &chart->panels[chart->count];
    *panel = (plot_panel){.metric = metric};
    for (int k = 0; k < data->count; k++) {
        if (strcmp(data->series[k].metric, metric) != 0 || panel->count == PLOT_MOST_SERIES)
            continue;
        int run = find_run(chart, data->series[k].run);
        if (run < 0)
            continue;
        panel->run[panel->count] = run;
        panel->series[panel->count++] = &data->series[k];
    }
    chart->count += panel->count > 0;
    return panel->count > 0;
}

static int unknown_metric(const plot_data *data, const char *metric)
{
    char list[512] = "";
    for (int k = 0; k < data->count; k++) {
        size_t length = strlen(list);
        if (k > 0 && strcmp(data->series[k].run, data->series[0].run) != 0)
            break;
        snprintf(list + length, sizeof(list) - length, "%s%s", k ? ", " : "",
                 data->series[k].metric);
    }
    return axle_error_set(AXLE_ERR_NOT_FOUND, "there is no metric '%s'; there are %s", metric,
                          list);
}

/* Loss and learning rate; where neither is there, the first metric. */
static int choose(plot_chart *chart, const plot_data *data, const option_list *metrics)
{
    for (int k = 0; k < metrics->count; k++)
        if (!add_panel(chart, data, metrics->item[k]))
            return unknown_metric(data, metrics->item[k]);
    if (metrics->count > 0)
        return AXLE_OK;
    add_panel(chart, data, "loss");
    add_panel(chart, data, "lr");
    if (chart->count == 0 && data->count > 0)
        add_panel(chart, data, data->series[0].metric);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ JSON */

static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *summarise(const plot_series *series)
{
    double low = INFINITY, high = -INFINITY;
    int finite = 0;
    for (int k = 0; k < series->count; k++) {
        double y = series->points[k].y;
        if (!isfinite(y))
            continue;
        finite++;
        low = fmin(low, y);
        high = fmax(high, y);
    }
    const plot_point *first = series->points, *last = series->points + series->count - 1;
    const double *smooth = series->smooth;
    return json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:o, s:o, s:o, s:o, s:o}", "run", series->run,
                     "metric", series->metric, "points", series->count, "finite", finite,
                     "first_step", first->x, "last_step", last->x, "first", real_or_null(first->y),
                     "last", real_or_null(last->y), "lowest", real_or_null(low), "highest",
                     real_or_null(high), "last_smooth",
                     real_or_null(smooth ? smooth[series->count - 1] : last->y));
}

static int print_json(const plot_chart *chart)
{
    json_t *array = json_array();
    int wrong = !array;
    for (int p = 0; p < chart->count && !wrong; p++)
        for (int k = 0; k < chart->panels[p].count && !wrong; k++)
            wrong = json_array_append_new(array, summarise(chart->panels[p].series[k]));
    if (!wrong)
        json_dumpf(array, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(array);
    putchar('\n');
    return wrong ? axle_error_set(AXLE_ERR_NOMEM, "out of memory") : AXLE_OK;
}

/* ------------------------------------------------------------------ the command */

static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : COLUMNS;
}

static int print_text(const plot_chart *chart, const plot_settings *settings)
{
    setlocale(LC_CTYPE, "");
    int utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0, plain = settings->ascii;
    const char *no_color = getenv("NO_COLOR");
    plot_text_options wanted = {
        .columns = settings->width ? (int)settings->width : terminal_columns(),
        .colours = !plain && isatty(STDOUT_FILENO) && !(no_color && *no_color),
    };
    if (wanted.columns < LEAST_COLUMNS)
        wanted.columns = LEAST_COLUMNS;
    /* Without colours only letters tell several runs apart. */
    wanted.braille = utf8 && !plain && (wanted.colours || chart->run_count == 1);
    return plot_text(chart, &wanted, stdout);
}

static int draw(const plot_chart *chart, const plot_settings *settings)
{
    if (settings->output) {
        int code = plot_picture(chart, settings->output);
        if (code)
            return code;
    }
    if (settings->json)
        return print_json(chart);
    return settings->output ? AXLE_OK : print_text(chart, settings);
}

static int plot(const plot_settings *settings, plot_data *data)
{
    plot_chart chart = {.logarithmic = settings->log};
    int code = AXLE_OK;
    for (int k = 0; k < settings->paths.count && !code; k++)
        code = plot_read(data, settings->paths.item[k]);
    for (int k = 0; k < data->count && !code && settings->smooth > 0.0; k++)
        if (strcmp(data->series[k].metric, "lr") != 0)
            code = plot_smooth(&data->series[k], settings->smooth);
    if (!code)
        code = choose(&chart, data, &settings->metrics);
    return code ? code : draw(&chart, settings);
}

static int run(const void *given, const int *operands, int n)
{
    plot_data data = {NULL, 0};
    (void)operands;
    (void)n;
    int code = plot(given, &data) ? command_failed(&plot_command, NULL) : EXIT_DONE;
    plot_free(&data);
    return code;
}

const command plot_command = {
    .name = "plot",
    .summary = "draw the curves of runs",
    .about =
        "Draw loss and learning rate of one or several runs, as text or as a picture. A run is "
        "a\nfolder that 'axle train --track' wrote, or one of such folders, or a loss log.",
    .operand = "DIR",
    .needed = &paths,
    .options = options,
    .defaults = &defaults,
    .settings_size = sizeof(defaults),
    .run = run,
};
