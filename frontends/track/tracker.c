/* SPDX-License-Identifier: Apache-2.0 */
/* The tracker: checks what it is given and hands it to its sinks. */
#define _GNU_SOURCE 1
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "../common/folder.h"
#include "../common/whole_file.h"
#include "number.h"
#include "sink.h"

/* Kinds in the order in which they are named; an entry without functions is not in this build. */
static const struct kind {
    const char *name;
    const sink_class *class;
} kinds[] = {
    {"jsonl", &jsonl_sink},
    {"csv", &csv_sink},
#ifdef WITH_PROTOBUF_C
    {"tensorboard", &tensorboard_sink},
#else
    {"tensorboard", NULL},
#endif
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), MOST_SINKS = KINDS + 2 };

struct axle_tracker {
    axle_accelerator *accelerator;
    sink *sinks[MOST_SINKS];
    int count, finished;
};

const char *const *axle_tracker_kinds(void)
{
    static const char *const names[] = {"jsonl", "csv", "tensorboard", NULL};
    return names;
}

/* ------------------------------------------------------------------ opening */

static const struct kind *find_kind(const char *name, size_t length)
{
    for (int k = 0; k < KINDS; k++)
        if (strlen(kinds[k].name) == length && strncmp(kinds[k].name, name, length) == 0)
            return &kinds[k];
    return NULL;
}

static int open_sink(axle_tracker *tracker, const sink_class *class, const sink_setup *setup)
{
    for (int k = 0; k < tracker->count; k++)
        if (tracker->sinks[k]->class == class)
            return AXLE_OK;
    int code = class->open(setup, &tracker->sinks[tracker->count]);
    if (!code)
        tracker->count++;
    return code;
}

static int open_kind(axle_tracker *tracker, const char *name, size_t length,
                     const sink_setup *setup)
{
    const struct kind *kind = find_kind(name, length);
    if (!kind)
        return axle_error_set(AXLE_ERR_NOT_FOUND,
                              "there is no kind of tracker '%.*s'; there are jsonl, csv and "
                              "tensorboard",
                              (int)length, name);
    if (!kind->class)
        return axle_error_set(AXLE_ERR_UNSUPPORTED,
                              "this build writes no files for %s (configure --with-protobuf-c)",
                              kind->name);
    return open_sink(tracker, kind->class, setup);
}

static int open_files(axle_tracker *tracker, const char *list, const sink_setup *setup)
{
    int code = folder_make(setup->folder, NULL);
    if (!code)
        code = open_sink(tracker, &files_sink, setup);
    while (!code && list && *list) {
        size_t length = strcspn(list, ",");
        code = open_kind(tracker, list, length, setup);
        list += length + (list[length] == ',');
    }
    return code;
}

static int open_sinks(axle_tracker *tracker, const axle_tracker_options *options)
{
    sink_setup setup = {NULL, options->resume_step, options->callback, options->user};
    char *folder = NULL;
    int code = AXLE_OK;
    if (options->directory) {
        int wrong = asprintf(&folder, "%s%s%s", options->directory, options->run ? "/" : "",
                             options->run ? options->run : "") < 0;
        setup.folder = folder;
        code = wrong ? sink_no_memory() : open_files(tracker, options->kinds, &setup);
        if (!wrong)
            free(folder);
    }
    if (!code && options->callback)
        code = open_sink(tracker, &callback_sink, &setup);
    return code;
}

static int writes(const axle_accelerator *accelerator)
{
    return !accelerator || axle_is_main_process(accelerator);
}

int axle_tracker_create(axle_accelerator *accelerator, const axle_tracker_options *options,
                        axle_tracker **out)
{
    if (!options || !out)
        return axle_error_set(AXLE_ERR_INVALID, "axle_tracker_create: an argument is NULL");
    if (options->struct_size < sizeof(*options) || options->resume_step < -1)
        return axle_error_set(AXLE_ERR_INVALID, "axle_tracker_create: the options do not start "
                                                "from AXLE_TRACKER_OPTIONS_INIT");
    axle_tracker *tracker = calloc(1, sizeof(*tracker));
    if (!tracker)
        return sink_no_memory();
    tracker->accelerator = accelerator;
    int code = writes(accelerator) ? open_sinks(tracker, options) : AXLE_OK;
    if (code)
        axle_tracker_release(tracker);
    else
        *out = tracker;
    return code;
}

/* ------------------------------------------------------------------ logging */

int axle_tracker_config(axle_tracker *tracker, const char *json)
{
    if (!tracker || !json)
        return axle_error_set(AXLE_ERR_INVALID, "axle_tracker_config: an argument is NULL");
    json_error_t error;
    json_t *config = json_loads(json, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(config)) {
        json_decref(config);
        return axle_error_set(AXLE_ERR_INVALID, "the hyper-parameters are no JSON object%s%s",
                              config ? "" : ": ", config ? "" : error.text);
    }
    int code = AXLE_OK;
    double time = number_now();
    for (int k = 0; k < tracker->count && !code; k++)
        if (tracker->sinks[k]->class->config)
            code = tracker->sinks[k]->class->config(tracker->sinks[k], config, time);
    json_decref(config);
    return code;
}

/* Whether a name is valid UTF-8, free of control characters. */
static int is_text(const char *name)
{
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return 0;
    json_t *text = json_string(name);
    json_decref(text);
    return text != NULL;
}

static int check_name(const char *name)
{
    if (!name || !*name)
        return axle_error_set(AXLE_ERR_INVALID, "what is logged has no name");
    if (strcmp(name, "step") == 0 || strcmp(name, "time") == 0)
        return axle_error_set(AXLE_ERR_INVALID, "'%s' is no name for a metric: it is a column",
                              name);
    if (!is_text(name))
        return axle_error_set(AXLE_ERR_INVALID, "a metric's name is no plain UTF-8 text");
    return AXLE_OK;
}

static int check_metrics(int64_t step, const axle_metric *metrics, int count)
{
    if (step < 0 || count < 0 || (count > 0 && !metrics))
        return axle_error_set(AXLE_ERR_INVALID, "axle_tracker_log: step %lld, %d metrics",
                              (long long)step, count);
    for (int k = 0; k < count; k++) {
        int code = check_name(metrics[k].name);
        if (code)
            return code;
        for (int before = 0; before < k; before++)
            if (strcmp(metrics[before].name, metrics[k].name) == 0)
                return axle_error_set(AXLE_ERR_INVALID, "'%s' is logged twice in one call",
                                      metrics[k].name);
    }
    return AXLE_OK;
}

static int write_metrics(axle_tracker *tracker, const sink_metrics *metrics)
{
    int first = AXLE_OK;
    for (int k = 0; k < tracker->count; k++) {
        const sink_class *class = tracker->sinks[k]->class;
        int code = class->metrics ? class->metrics(tracker->sinks[k], metrics) : AXLE_OK;
        first = first ? first : code;
    }
    return first;
}

int axle_tracker_log(axle_tracker *tracker, int64_t step, const axle_metric *metrics, int count)
{
    if (!tracker)
        return axle_error_set(AXLE_ERR_INVALID, "axle_tracker_log: the tracker is NULL");
    int code = check_metrics(step, metrics, count);
    if (code || count == 0)
        return code;
    return write_metrics(tracker, &(sink_metrics){step, number_now(), metrics, count});
}

int axle_tracker_log_mean(axle_tracker *tracker, int64_t step, double weight,
                          const axle_metric *metrics, int count)
{
    if (!tracker)
        return axle_error_set(AXLE_ERR_INVALID, "axle_tracker_log_mean: the tracker is NULL");
    int code = check_metrics(step, metrics, count);
    if (code || count == 0)
        return code;
    axle_metric *means = malloc((size_t)count * sizeof(*means));
    if (!means)
        return sink_no_memory();
    for (int k = 0; k < count && !code; k++) {
        means[k] = metrics[k];
        if (tracker->accelerator)
            code =
                axle_weighted_mean(tracker->accelerator, metrics[k].value, weight, &means[k].value);
    }
    if (!code)
        code = write_metrics(tracker, &(sink_metrics){step, number_now(), means, count});
    free(means);
    return code;
}

int axle_tracker_log_image(axle_tracker *tracker, int64_t step, const char *name,
                           const axle_tensor *tensor)
{
    if (!tracker || step < 0)
        return axle_error_set(AXLE_ERR_INVALID, "axle_tracker_log_image: %s",
                              tracker ? "the step is negative" : "the tracker is NULL");
    image image = {0};
    int code = check_name(name);
    if (code || tracker->count == 0)
        return code;
    code = image_encode(tensor, &image);
    sink_picture picture = {step, number_now(), name, &image};
    for (int k = 0; k < tracker->count && !code; k++)
        if (tracker->sinks[k]->class->picture)
            code = tracker->sinks[k]->class->picture(tracker->sinks[k], &picture);
    image_release(&image);
    return code;
}

int axle_image_save(const axle_tensor *tensor, const char *path)
{
    image image = {0};
    int code = path ? image_encode(tensor, &image)
                    : axle_error_set(AXLE_ERR_INVALID, "axle_image_save: the path is NULL");
    if (!code)
        code = whole_file_write(path, image.png, image.png_size);
    image_release(&image);
    return code;
}

/* ------------------------------------------------------------------ the end */

static int end(axle_tracker *tracker, int whole)
{
    int first = AXLE_OK;
    double time = number_now();
    for (int k = 0; k < tracker->count && !tracker->finished; k++) {
        const sink_class *class = tracker->sinks[k]->class;
        int code = class->finish ? class->finish(tracker->sinks[k], whole, time) : AXLE_OK;
        first = first ? first : code;
    }
    tracker->finished = 1;
    return first;
}

int axle_tracker_finish(axle_tracker *tracker)
{
    return tracker ? end(tracker, 1)
                   : axle_error_set(AXLE_ERR_INVALID, "axle_tracker_finish: the tracker is NULL");
}

/* There is nobody to tell that its last words could not be written. */
void axle_tracker_release(axle_tracker *tracker)
{
    if (!tracker)
        return;
    end(tracker, 0);
    for (int k = 0; k < tracker->count; k++)
        tracker->sinks[k]->class->release(tracker->sinks[k]);
    free(tracker);
}
