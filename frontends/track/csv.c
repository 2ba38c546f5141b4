/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.csv: step,time,name,value, quoted as RFC 4180 says. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "append_file.h"
#include "number.h"
#include "sink.h"

typedef struct csv {
    sink base;
    append_file file;
} csv;

static const char header[] = "step,time,name,value\n";

/* A name with a line break spans lines, so the tracker refuses control characters in names. */
static int64_t step_of(const char *line)
{
    char *end;
    if (strncmp(line, header, strlen(header) - 1) == 0)
        return APPEND_FILE_HEADER;
    long long step = strtoll(line, &end, 10);
    return end > line && *end == ',' && step >= 0 ? step : APPEND_FILE_NO_RECORD;
}

static void csv_release(sink *self)
{
    append_file_close(&((csv *)self)->file);
    free(self);
}

static int open_file(csv *self, const sink_setup *setup)
{
    static const char name[] = "metrics.csv";
    int code = setup->resume_step < 0 ? append_file_create(&self->file, setup->folder, name)
                                      : append_file_resume(&self->file, setup->folder, name,
                                                           setup->resume_step, step_of);
    if (!code && self->file.size == 0)
        code = append_file_write(&self->file, header, strlen(header));
    return code;
}

static int csv_open(const sink_setup *setup, sink **out)
{
    csv *self = calloc(1, sizeof(*self));
    if (!self)
        return sink_no_memory();
    self->base.class = &csv_sink;
    self->file.descriptor = -1;
    int code = open_file(self, setup);
    if (code)
        csv_release(&self->base);
    else
        *out = &self->base;
    return code;
}

static void print_name(const char *name, FILE *to)
{
    if (!strpbrk(name, ",\"")) {
        fputs(name, to);
        return;
    }
    putc('"', to);
    for (; *name; name++) {
        if (*name == '"')
            putc('"', to);
        putc(*name, to);
    }
    putc('"', to);
}

static const char *value_text(double value, char text[NUMBER_SIZE])
{
    if (isnan(value))
        return "NaN";
    if (isinf(value))
        return value > 0.0 ? "inf" : "-inf";
    return number_text(value, text);
}

static int csv_metrics(sink *self, const sink_metrics *metrics)
{
    char time[NUMBER_SIZE], value[NUMBER_SIZE], *lines = NULL;
    size_t size;
    FILE *to = open_memstream(&lines, &size);
    if (!to)
        return sink_no_memory();
    number_time(metrics->time, time);
    for (int k = 0; k < metrics->count; k++) {
        fprintf(to, "%" PRId64 ",%s,", metrics->step, time);
        print_name(metrics->metrics[k].name, to);
        fprintf(to, ",%s\n", value_text(metrics->metrics[k].value, value));
    }
    return append_file_write_stream(&((csv *)self)->file, to, &lines, &size);
}

const sink_class csv_sink = {
    .name = "csv",
    .open = csv_open,
    .metrics = csv_metrics,
    .release = csv_release,
};
