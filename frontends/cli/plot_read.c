/* SPDX-License-Identifier: Apache-2.0 */
/* Curves from files. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "axle/status.h"
#include "plot.h"

static int out_of_memory(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
}

/* ------------------------------------------------------------------ series */

/* The series of a run's metric, made where it is not there; NULL where memory runs out. */
static plot_series *find_series(plot_data *data, const char *run, const char *metric)
{
    for (int k = data->count - 1; k >= 0; k--)
        if (strcmp(data->series[k].metric, metric) == 0 && strcmp(data->series[k].run, run) == 0)
            return &data->series[k];
    plot_series *grown = realloc(data->series, (size_t)(data->count + 1) * sizeof(*grown));
    if (!grown)
        return NULL;
    data->series = grown;
    plot_series *made = &grown[data->count];
    *made = (plot_series){.run = strdup(run), .metric = strdup(metric)};
    if (made->run && made->metric) {
        data->count++;
        return made;
    }
    free(made->run);
    free(made->metric);
    return NULL;
}

static int add_point(plot_data *data, const char *run, const char *metric, double x, double y)
{
    plot_series *series = find_series(data, run, metric);
    if (!series)
        return out_of_memory();
    if (series->count == series->capacity) {
        int capacity = series->capacity ? 2 * series->capacity : 256;
        plot_point *grown = realloc(series->points, (size_t)capacity * sizeof(*grown));
        if (!grown)
            return out_of_memory();
        series->points = grown;
        series->capacity = capacity;
    }
    series->points[series->count++] = (plot_point){x, y};
    return AXLE_OK;
}

static int by_x(const void *a, const void *b)
{
    double x = ((const plot_point *)a)->x, y = ((const plot_point *)b)->x;
    return (x > y) - (x < y);
}

/* ------------------------------------------------------------------ lines of each kind */

/* Returns AXLE_OK also for a line that is none, as a killed run leaves it. */
typedef int (*read_line_fn)(plot_data *data, const char *run, char *line);

static int number_of(const json_t *value, double *out)
{
    const char *text = json_string_value(value);
    char *end;
    *out = text ? strtod(text, &end) : json_number_value(value);
    return json_is_number(value) || json_is_null(value) || (text && end > text && !*end);
}

static int read_object(plot_data *data, const char *run, const json_t *object)
{
    const char *name;
    json_t *value;
    double step, number;
    if (!number_of(json_object_get(object, "step"), &step))
        return AXLE_OK;
    json_object_foreach((json_t *)object, name, value)
    {
        if (strcmp(name, "step") == 0 || strcmp(name, "time") == 0 || !number_of(value, &number))
            continue;
        int code = add_point(data, run, name, step, json_is_null(value) ? NAN : number);
        if (code)
            return code;
    }
    return AXLE_OK;
}

static int read_json_line(plot_data *data, const char *run, char *line)
{
    json_t *object = json_loads(line, 0, NULL);
    int code = json_is_object(object) ? read_object(data, run, object) : AXLE_OK;
    json_decref(object);
    return code;
}

/* step,time,name,value, where the name may be quoted; it is unquoted in place. */
static int read_csv_line(plot_data *data, const char *run, char *line)
{
    char *end, *time, *name, *to;
    double step = strtod(line, &end);
    if (end == line || *end != ',' || !(time = strchr(end + 1, ',')))
        return AXLE_OK;
    name = to = time + 1;
    int quoted = *name == '"';
    char *from = name + quoted;
    for (; *from && (quoted || *from != ','); *to++ = *from++)
        if (quoted && *from == '"' && *++from != '"')
            break;
    if (*from != ',')
        return AXLE_OK;
    char *value = from + 1;
    *to = '\0';
    double number = strtod(value, &end);
    return end == value ? AXLE_OK : add_point(data, run, name, step, number);
}

/* The number of an update, a blank, its loss. */
static int read_loss_line(plot_data *data, const char *run, char *line)
{
    char *end, *rest;
    double update = strtod(line, &end), loss = strtod(end, &rest);
    return end == line || rest == end ? AXLE_OK : add_point(data, run, "loss", update, loss);
}

/* ------------------------------------------------------------------ files and folders */

static int read_lines(plot_data *data, FILE *from, const char *run, read_line_fn read)
{
    char *line = NULL;
    size_t size = 0;
    int code = AXLE_OK;
    while (!code && getline(&line, &size, from) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        code = read(data, run, line);
    }
    free(line);
    return code;
}

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), most = strlen(end);
    return length >= most && strcmp(text + length - most, end) == 0;
}

static int read_file(plot_data *data, const char *path, const char *run)
{
    read_line_fn read = ends_with(path, ".jsonl") ? read_json_line
                        : ends_with(path, ".csv") ? read_csv_line
                                                  : read_loss_line;
    int before = data->count;
    FILE *from = fopen(path, "re");
    if (!from)
        return axle_error_set(AXLE_ERR_IO, "%s: %s", path, strerror(errno));
    int code = read_lines(data, from, run, read);
    fclose(from);
    for (int k = before; k < data->count; k++)
        qsort(data->series[k].points, (size_t)data->series[k].count, sizeof(plot_point), by_x);
    if (!code && data->count == before)
        code = axle_error_set(AXLE_ERR_INVALID, "%s: there are no metrics in it", path);
    return code;
}

/* Read the folder's own metrics, if there are any. */
static int read_run(plot_data *data, const char *folder, const char *run, int *found)
{
    static const char *const names[] = {"metrics.jsonl", "metrics.csv"};
    *found = 0;
    for (int k = 0; k < 2 && !*found; k++) {
        char *path;
        struct stat status;
        if (asprintf(&path, "%s/%s", folder, names[k]) < 0)
            return out_of_memory();
        *found = stat(path, &status) == 0;
        int code = *found ? read_file(data, path, run) : AXLE_OK;
        free(path);
        if (code)
            return code;
    }
    return AXLE_OK;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int read_runs_below(plot_data *data, const char *folder, int *found)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, alphasort), code = AXLE_OK;
    *found = 0;
    for (int k = 0; k < count; k++) {
        char *path = NULL;
        int is_run = 0;
        if (!code && asprintf(&path, "%s/%s", folder, entries[k]->d_name) < 0)
            code = out_of_memory();
        else if (!code)
            code = read_run(data, path, entries[k]->d_name, &is_run);
        *found |= is_run;
        free(path);
        free(entries[k]);
    }
    if (count >= 0)
        free(entries);
    return code;
}

static int has_run(const plot_data *data, const char *run)
{
    for (int k = 0; k < data->count; k++)
        if (strcmp(data->series[k].run, run) == 0)
            return 1;
    return 0;
}

/* The last part of a path, or all of it where that names a run already. */
static char *name_run(const plot_data *data, const char *path)
{
    char *whole = strdup(path);
    size_t length = whole ? strlen(whole) : 0;
    while (length > 1 && whole[length - 1] == '/')
        whole[--length] = '\0';
    char *slash = whole ? strrchr(whole, '/') : NULL;
    if (slash && slash[1] && !has_run(data, slash + 1))
        memmove(whole, slash + 1, strlen(slash + 1) + 1);
    return whole;
}

static int read_folder(plot_data *data, const char *path, const char *run)
{
    int found;
    int code = read_run(data, path, run, &found);
    if (!code && !found)
        code = read_runs_below(data, path, &found);
    if (!code && !found)
        code = axle_error_set(AXLE_ERR_NOT_FOUND,
                              "%s: neither it nor a folder in it has metrics.jsonl or metrics.csv",
                              path);
    return code;
}

int plot_read(plot_data *data, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return axle_error_set(AXLE_ERR_IO, "%s: %s", path, strerror(errno));
    char *run = name_run(data, path);
    if (!run)
        return out_of_memory();
    int code = S_ISDIR(status.st_mode) ? read_folder(data, path, run) : read_file(data, path, run);
    free(run);
    return code;
}

void plot_free(plot_data *data)
{
    for (int k = 0; k < data->count; k++) {
        free(data->series[k].run);
        free(data->series[k].metric);
        free(data->series[k].points);
        free(data->series[k].smooth);
    }
    free(data->series);
}

/* ------------------------------------------------------------------ smoothing */

int plot_smooth(plot_series *series, double factor)
{
    double sum = 0.0, weight = 0.0;
    series->smooth = malloc((size_t)series->count * sizeof(double));
    if (!series->smooth)
        return out_of_memory();
    for (int k = 0; k < series->count; k++) {
        double y = series->points[k].y;
        if (isfinite(y)) {
            sum = factor * sum + (1.0 - factor) * y;
            weight = factor * weight + (1.0 - factor);
        }
        series->smooth[k] = isfinite(y) ? sum / weight : NAN;
    }
    return AXLE_OK;
}
