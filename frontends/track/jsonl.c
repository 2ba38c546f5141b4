/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.jsonl: an object a line. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "append_file.h"
#include "number.h"
#include "sink.h"

typedef struct jsonl {
    sink base;
    append_file file;
} jsonl;

static int64_t step_of(const char *line)
{
    json_t *object = json_loads(line, 0, NULL);
    const json_t *step = json_object_get(object, "step");
    int64_t at = json_is_integer(step) ? json_integer_value(step) : APPEND_FILE_NO_RECORD;
    json_decref(object);
    return at;
}

static void jsonl_release(sink *self)
{
    append_file_close(&((jsonl *)self)->file);
    free(self);
}

static int jsonl_open(const sink_setup *setup, sink **out)
{
    static const char name[] = "metrics.jsonl";
    jsonl *self = calloc(1, sizeof(*self));
    if (!self)
        return sink_no_memory();
    self->base.class = &jsonl_sink;
    int code = setup->resume_step < 0 ? append_file_create(&self->file, setup->folder, name)
                                      : append_file_resume(&self->file, setup->folder, name,
                                                           setup->resume_step, step_of);
    if (code)
        free(self);
    else
        *out = &self->base;
    return code;
}

static void print_number(double value, FILE *to)
{
    char text[NUMBER_SIZE];
    if (isnan(value))
        fputs("\"NaN\"", to);
    else if (isinf(value))
        fputs(value > 0.0 ? "\"Infinity\"" : "\"-Infinity\"", to);
    else
        fputs(number_text(value, text), to);
}

/* Returns 0, or -1 where memory runs out. */
static int print_member(const axle_metric *metric, FILE *to)
{
    json_t *name = json_string(metric->name);
    int wrong = json_dumpf(name, to, JSON_ENCODE_ANY);
    json_decref(name);
    fputs(": ", to);
    print_number(metric->value, to);
    return wrong;
}

static int jsonl_metrics(sink *self, const sink_metrics *metrics)
{
    char time[NUMBER_SIZE], *line = NULL;
    size_t size;
    FILE *to = open_memstream(&line, &size);
    if (!to)
        return sink_no_memory();
    int wrong = 0;
    fprintf(to, "{\"step\": %" PRId64 ", \"time\": %s", metrics->step,
            number_time(metrics->time, time));
    for (int k = 0; k < metrics->count; k++) {
        fputs(", ", to);
        wrong |= print_member(&metrics->metrics[k], to);
    }
    fputs("}\n", to);
    if (!wrong)
        return append_file_write_stream(&((jsonl *)self)->file, to, &line, &size);
    fclose(to);
    free(line);
    return sink_no_memory();
}

const sink_class jsonl_sink = {
    .name = "jsonl",
    .open = jsonl_open,
    .metrics = jsonl_metrics,
    .release = jsonl_release,
};
