/* SPDX-License-Identifier: Apache-2.0 */
/* Event files of TensorBoard: framed messages, one of which may follow another at any time. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "append_file.h"
#include "event.pb-c.h"
#include "number.h"
#include "record.h"
#include "sink.h"

enum { HOST_SIZE = 256, NAME_SIZE = HOST_SIZE + 80 };

static const char prefix[] = "events.out.tfevents.";

typedef struct tensorboard {
    sink base;
    append_file file;
    int has_config;
} tensorboard;

/* ------------------------------------------------------------------ events */

static int write_event(tensorboard *self, const Track__Event *event)
{
    size_t size = track__event__get_packed_size(event);
    uint8_t *buffer = malloc(size + RECORD_HEAD + RECORD_TAIL);
    if (!buffer)
        return sink_no_memory();
    track__event__pack(event, buffer + RECORD_HEAD);
    record_frame(buffer, size);
    int code = append_file_write(&self->file, buffer, size + RECORD_HEAD + RECORD_TAIL);
    free(buffer);
    return code;
}

static int write_summary(tensorboard *self, int64_t step, double time, Track__SummaryValue **values,
                         int count)
{
    Track__Summary summary = TRACK__SUMMARY__INIT;
    Track__Event event = TRACK__EVENT__INIT;
    summary.n_value = (size_t)count;
    summary.value = values;
    event.wall_time = time;
    event.step = step;
    event.what_case = TRACK__EVENT__WHAT_SUMMARY;
    event.summary = &summary;
    return write_event(self, &event);
}

/* The event that every file begins with. */
static int write_version(tensorboard *self)
{
    Track__Event event = TRACK__EVENT__INIT;
    event.wall_time = number_now();
    event.what_case = TRACK__EVENT__WHAT_FILE_VERSION;
    event.file_version = "brain.Event:2";
    return write_event(self, &event);
}

/* What older files say of this step and later ones no longer counts. */
static int write_restart(tensorboard *self, int64_t step)
{
    Track__SessionLog session = TRACK__SESSION_LOG__INIT;
    Track__Event event = TRACK__EVENT__INIT;
    session.status = TRACK__SESSION_LOG__STATUS__START;
    event.wall_time = number_now();
    event.step = step;
    event.what_case = TRACK__EVENT__WHAT_SESSION_LOG;
    event.session_log = &session;
    return write_event(self, &event);
}

/* ------------------------------------------------------------------ opening */

/* The time in the name of the newest event file; -1 where there is none. */
static int64_t newest_file(const char *folder)
{
    int64_t newest = -1;
    DIR *entries = opendir(folder);
    for (const struct dirent *e; entries && (e = readdir(entries));) {
        int64_t time = strncmp(e->d_name, prefix, strlen(prefix)) == 0
                           ? strtoll(e->d_name + strlen(prefix), NULL, 10)
                           : -1;
        newest = time > newest ? time : newest;
    }
    if (entries)
        closedir(entries);
    return newest;
}

/* TensorBoard reads files in the order of their names, so a run that is resumed within a second
 * gets a later time. */
static void choose_name(int64_t newest, char name[NAME_SIZE])
{
    char host[HOST_SIZE] = "localhost";
    int64_t now = (int64_t)number_now();
    gethostname(host, sizeof(host) - 1);
    snprintf(name, NAME_SIZE, "%s%010" PRId64 ".%s.%ld.0", prefix, now > newest ? now : newest + 1,
             host, (long)getpid());
}

static void tensorboard_release(sink *self)
{
    append_file_close(&((tensorboard *)self)->file);
    free(self);
}

static int tensorboard_open(const sink_setup *setup, sink **out)
{
    char name[NAME_SIZE];
    tensorboard *self = calloc(1, sizeof(*self));
    if (!self)
        return sink_no_memory();
    self->base.class = &tensorboard_sink;
    int64_t newest = newest_file(setup->folder);
    choose_name(newest, name);
    int code = append_file_create(&self->file, setup->folder, name);
    if (!code)
        code = write_version(self);
    if (!code && newest >= 0)
        code = write_restart(self, setup->resume_step + 1);
    if (code)
        tensorboard_release(&self->base);
    else
        *out = &self->base;
    return code;
}

/* ------------------------------------------------------------------ metrics and pictures */

static int tensorboard_metrics(sink *self, const sink_metrics *metrics)
{
    size_t count = (size_t)metrics->count;
    Track__SummaryValue *values = calloc(count, sizeof(*values));
    Track__SummaryValue **pointers = calloc(count, sizeof(Track__SummaryValue *));
    int code = values && pointers ? AXLE_OK : sink_no_memory();
    for (size_t k = 0; k < count && !code; k++) {
        track__summary_value__init(&values[k]);
        values[k].tag = (char *)metrics->metrics[k].name;
        values[k].value_case = TRACK__SUMMARY_VALUE__VALUE_SIMPLE_VALUE;
        values[k].simple_value = (float)metrics->metrics[k].value;
        pointers[k] = &values[k];
    }
    if (!code)
        code = write_summary((tensorboard *)self, metrics->step, metrics->time, pointers,
                             metrics->count);
    free(pointers);
    free(values);
    return code;
}

static int tensorboard_picture(sink *self, const sink_picture *picture)
{
    Track__Image image = TRACK__IMAGE__INIT;
    Track__SummaryValue value = TRACK__SUMMARY_VALUE__INIT, *pointer = &value;
    image.height = picture->image->height;
    image.width = picture->image->width;
    image.colorspace = picture->image->channels;
    image.encoded_image_string.data = picture->image->png;
    image.encoded_image_string.len = picture->image->png_size;
    value.tag = (char *)picture->name;
    value.value_case = TRACK__SUMMARY_VALUE__VALUE_IMAGE;
    value.image = &image;
    return write_summary((tensorboard *)self, picture->step, picture->time, &pointer, 1);
}

/* ------------------------------------------------------------------ hyper-parameters */

/* A message of the plugin hparams is the content of a summary's metadata. */
static int write_hparams(tensorboard *self, const Track__HParamsPluginData *data, char *tag,
                         double time)
{
    Track__PluginData plugin = TRACK__PLUGIN_DATA__INIT;
    Track__SummaryMetadata metadata = TRACK__SUMMARY_METADATA__INIT;
    Track__SummaryValue value = TRACK__SUMMARY_VALUE__INIT, *pointer = &value;
    size_t size = track__hparams_plugin_data__get_packed_size(data);
    uint8_t *content = malloc(size + 1);
    if (!content)
        return sink_no_memory();
    plugin.plugin_name = "hparams";
    plugin.content.len = track__hparams_plugin_data__pack(data, content);
    plugin.content.data = content;
    metadata.plugin_data = &plugin;
    value.tag = tag;
    value.metadata = &metadata;
    int code = write_summary(self, 0, time, &pointer, 1);
    free(content);
    return code;
}

/* The parameters of a configuration, in one list. */
typedef struct hparam_list {
    Track__HParam **items;
    size_t count;
    int failed; /* memory ran out */
} hparam_list;

typedef struct hparam_item {
    Track__HParam param;
    Track__HParamValue value;
    char *text; /* of an array */
} hparam_item;

static void set_value(hparam_item *item, const json_t *json)
{
    Track__HParamValue *value = &item->value;
    value->kind_case = TRACK__HPARAM_VALUE__KIND_STRING_VALUE;
    value->string_value = (char *)json_string_value(json);
    if (json_is_number(json)) {
        value->kind_case = TRACK__HPARAM_VALUE__KIND_NUMBER_VALUE;
        value->number_value = json_number_value(json);
    } else if (json_is_boolean(json)) {
        value->kind_case = TRACK__HPARAM_VALUE__KIND_BOOL_VALUE;
        value->bool_value = json_is_true(json);
    } else if (json_is_null(json)) {
        value->kind_case = TRACK__HPARAM_VALUE__KIND_NULL_VALUE;
        value->null_value = 0;
    } else if (!json_is_string(json)) {
        item->text = json_dumps(json, JSON_COMPACT);
        value->string_value = item->text;
    }
}

static int grow(hparam_list *list)
{
    Track__HParam **items = realloc(list->items, (list->count + 1) * sizeof(*items));
    if (items)
        list->items = items;
    return items != NULL;
}

/* `key` is taken over. */
static void add_hparam(hparam_list *list, char *key, const json_t *json)
{
    hparam_item *item = calloc(1, sizeof(*item));
    if (!key || !item || !grow(list)) {
        list->failed = 1;
        free(item);
        free(key);
        return;
    }
    track__hparam__init(&item->param);
    track__hparam_value__init(&item->value);
    item->param.key = key;
    item->param.value = &item->value;
    set_value(item, json);
    list->failed |= json_is_array(json) && !item->text;
    list->items[list->count++] = &item->param;
}

/* Objects in objects: names are joined by points. The depth is that which Jansson parses. */
static void flatten(hparam_list *list, const char *above, json_t *object)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        char *key = NULL;
        if (asprintf(&key, "%s%s%s", above, *above ? "." : "", name) < 0)
            key = NULL;
        if (!key || !json_is_object(value)) {
            add_hparam(list, key, value);
            continue;
        }
        flatten(list, key, value);
        free(key);
    }
}

static void free_hparams(hparam_list *list)
{
    for (size_t k = 0; k < list->count; k++) {
        hparam_item *item = (hparam_item *)list->items[k];
        free(item->param.key);
        free(item->text);
        free(item);
    }
    free(list->items);
}

static int tensorboard_config(sink *base, const json_t *config, double time)
{
    tensorboard *self = (tensorboard *)base;
    Track__SessionStartInfo start = TRACK__SESSION_START_INFO__INIT;
    Track__HParamsPluginData data = TRACK__HPARAMS_PLUGIN_DATA__INIT;
    hparam_list list = {NULL, 0, 0};
    flatten(&list, "", (json_t *)config);
    start.n_hparams = list.count;
    start.hparams = list.items;
    start.start_time_secs = time;
    data.data_case = TRACK__HPARAMS_PLUGIN_DATA__DATA_SESSION_START_INFO;
    data.session_start_info = &start;
    int code = list.failed ? sink_no_memory()
                           : write_hparams(self, &data, "_hparams_/session_start_info", time);
    free_hparams(&list);
    self->has_config |= !code;
    return code;
}

/* A session that was never begun needs no end. */
static int tensorboard_finish(sink *base, int whole, double time)
{
    tensorboard *self = (tensorboard *)base;
    Track__SessionEndInfo end = TRACK__SESSION_END_INFO__INIT;
    Track__HParamsPluginData data = TRACK__HPARAMS_PLUGIN_DATA__INIT;
    if (!self->has_config)
        return AXLE_OK;
    end.status =
        whole ? TRACK__SESSION_END_INFO__STATUS__SUCCESS : TRACK__SESSION_END_INFO__STATUS__FAILURE;
    end.end_time_secs = time;
    data.data_case = TRACK__HPARAMS_PLUGIN_DATA__DATA_SESSION_END_INFO;
    data.session_end_info = &end;
    return write_hparams(self, &data, "_hparams_/session_end_info", time);
}

const sink_class tensorboard_sink = {
    .name = "tensorboard",
    .open = tensorboard_open,
    .config = tensorboard_config,
    .metrics = tensorboard_metrics,
    .picture = tensorboard_picture,
    .finish = tensorboard_finish,
    .release = tensorboard_release,
};
