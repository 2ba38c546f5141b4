/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hook "trace": an event in a Chrome trace for each point, on the thread that it happened on.
 *
 * The member "time" of an operator's arguments says what its duration is: "run" that of a
 * synchronous run; "enqueue" what it took to enqueue it on an asynchronous device. There the
 * device has a row of its own, on which the operator's event lies between markers ("events").
 * Where a device has no events its waits, named "finish", are all that tells of its work.
 */
#include "device/hook_trace.h"

#include <string.h>

#include "base/memory.h"
#include "base/settings.h"
#include "device/hook.h"
#include "device/op_text.h"
#include "device/profile.h"
#include "device/trace_file.h"
#include "device/trace_queue.h"

/* An event fits: 14 operands of 8 dims, and names. */
enum { EVENT = 8192 };

/* Rows of devices come after every number that a thread can have. */
static const int64_t device_rows = 1 << 23;

/* How kinds of points appear: their category, and what they are summed up under. */
static const struct {
    const char *category;
    axle__profile_group group;
} looks[AXLE__HOOK_KINDS] = {
    [AXLE__HOOK_RUN] = {"operator", AXLE__PROFILE_OPERATORS},
    [AXLE__HOOK_FALLBACK] = {"fallback", AXLE__PROFILE_FALLBACKS},
    [AXLE__HOOK_WRITE] = {"transfer", AXLE__PROFILE_TRANSFERS},
    [AXLE__HOOK_READ] = {"transfer", AXLE__PROFILE_TRANSFERS},
    [AXLE__HOOK_FINISH] = {"wait", AXLE__PROFILE_TRANSFERS},
    [AXLE__HOOK_ALLOCATE] = {"memory", AXLE__PROFILE_MEMORY},
    [AXLE__HOOK_RELEASE] = {"memory", AXLE__PROFILE_MEMORY},
    [AXLE__HOOK_COLLECTIVE] = {"collective", AXLE__PROFILE_COLLECTIVES},
    [AXLE__HOOK_PHASE] = {"phase", AXLE__PROFILE_PHASES},
};

static const char *label_of(const axle__hook_point *point)
{
    if (point->call)
        return axle__call_label(point->call);
    return point->name ? point->name : axle__hook_kind_name(point->kind);
}

static const char *backend_of(const axle__hook_point *point)
{
    return point->device ? point->device->plugin->name : NULL;
}

/* Bytes that the operands span together. */
static uint64_t bytes_of(const axle__hook_point *point)
{
    uint64_t bytes = point->bytes;
    for (uint32_t k = 0; point->call && k < point->call->n_in; k++)
        bytes += point->call->in[k] ? axle__view_bytes(point->call->in[k]) : 0;
    for (uint32_t k = 0; point->call && k < point->call->n_out; k++)
        bytes += point->call->out[k] ? axle__view_bytes(point->call->out[k]) : 0;
    return bytes;
}

/* ------------------------------------------------------------------ events */

static void add_call(axle__text *text, const axle__hook_point *point)
{
    axle__text_add(text, ",\"in\":\"");
    axle__views_text(text, point->call->n_in, point->call->in);
    axle__text_add(text, "\",\"out\":\"");
    axle__views_text(text, point->call->n_out, point->call->out);
    axle__text_add(text, "\"");
    if (point->impl && *point->impl) {
        axle__text_add(text, ",\"impl\":");
        axle__trace_string(text, point->impl);
    }
}

static void add_arguments(axle__text *text, const axle__hook_point *point, const char *time,
                          int status)
{
    axle__text_add(text, ",\"args\":{\"bytes\":%llu", (unsigned long long)bytes_of(point));
    if (point->device) {
        axle__text_add(text, ",\"device\":");
        axle__trace_string(text, point->device->plugin->name);
        axle__text_add(text, ",\"index\":%u", point->device->index);
    }
    if (point->call)
        add_call(text, point);
    if (time)
        axle__text_add(text, ",\"time\":\"%s\"", time);
    if (status)
        axle__text_add(text, ",\"error\":\"%s\"", axle_status_text(status));
    axle__text_add(text, "}");
}

/* The event of a point but for its place and duration. */
static void describe(axle__text *text, const axle__hook_point *point, const char *time, int status)
{
    axle__text_add(text, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", looks[point->kind].category);
    axle__trace_string(text, label_of(point));
    add_arguments(text, point, time, status);
}

static void finish_event(axle__text *text, int64_t thread, int64_t start, int64_t end)
{
    axle__text_add(text, ",");
    axle__trace_place(text, thread, start);
    axle__text_add(text, ",\"dur\":%lld.%03d}", (long long)((end - start) / 1000),
                   (int)((end - start) % 1000));
    axle__trace_file_add(text);
}

/* ------------------------------------------------------------------ work on a queue */

typedef struct queued {
    const char *backend, *label;
    uint64_t bytes;
    int64_t row;
    char event[]; /* without place and duration */
} queued;

static void queued_done(void *user, int64_t start, int64_t end)
{
    queued *q = user;
    char buffer[EVENT];
    axle__text text;
    axle__text_init(&text, buffer, sizeof(buffer));
    axle__text_add(&text, "%s", q->event);
    finish_event(&text, q->row, start, end);
    axle__profile_add(AXLE__PROFILE_OPERATORS, q->backend, q->label, end - start, q->bytes);
    axle__free(q);
}

static void follow(const axle__hook_point *point, int64_t start)
{
    char buffer[EVENT];
    axle__text text;
    axle__text_init(&text, buffer, sizeof(buffer));
    describe(&text, point, "events", AXLE_OK);
    queued *q = axle__alloc(1, sizeof(*q) + text.length + 1);
    if (!q)
        return;
    *q = (queued){.backend = backend_of(point),
                  .label = label_of(point),
                  .bytes = bytes_of(point),
                  .row = device_rows + point->device->index};
    memcpy(q->event, buffer, text.length + 1);
    axle__trace_queue_add(point->device, start, queued_done, q);
}

/* ------------------------------------------------------------------ the hook */

static int before(const axle__hook_point *point, axle__hook_state *state)
{
    (void)point;
    state->time = axle__trace_now();
    return AXLE_OK;
}

static int after(const axle__hook_point *point, axle__hook_state *state, int status)
{
    int64_t end = axle__trace_now();
    char buffer[EVENT];
    axle__text text;
    if (!axle__trace_file_is_open())
        return status;
    bool is_run = point->kind == AXLE__HOOK_RUN;
    bool queued = is_run && !point->device->synchronous;
    bool followed = queued && !status && axle__trace_queue_serves(point->device);
    axle__text_init(&text, buffer, sizeof(buffer));
    describe(&text, point, !is_run ? NULL : queued ? "enqueue" : "run", status);
    finish_event(&text, axle__trace_thread(), state->time, end);
    if (followed)
        follow(point, state->time);
    else
        axle__profile_add(looks[point->kind].group, backend_of(point), label_of(point),
                          end - state->time, bytes_of(point));
    return status;
}

static void name_row(const char *kind, int64_t thread, const char *name)
{
    char buffer[512];
    axle__text text;
    axle__text_init(&text, buffer, sizeof(buffer));
    axle__text_add(&text, "{\"ph\":\"M\",\"name\":\"%s\",\"args\":{\"name\":\"%s\"},", kind, name);
    axle__trace_place(&text, thread, axle__trace_now());
    axle__text_add(&text, "}");
    axle__trace_file_add(&text);
}

static const char *wanted_path;

static int start(void)
{
    int status =
        axle__trace_file_open(wanted_path ? wanted_path : axle__setting(AXLE_SETTING_TRACE_FILE));
    if (status)
        return status;
    axle__profile_reset();
    name_row("process_name", axle__trace_thread(), "axle");
    name_row("thread_name", axle__trace_thread(), "main");
    name_row("thread_name", device_rows, "device");
    return AXLE_OK;
}

/* Why the file could not be finished. */
static int close_status;

static void stop(void)
{
    axle__trace_queue_drain();
    close_status = axle__trace_file_close();
}

static void forget(axle_device *device)
{
    (void)device;
    axle__trace_queue_drain();
}

const axle__hook axle__hook_trace = {.name = "trace",
                                     .start = start,
                                     .stop = stop,
                                     .before = before,
                                     .after = after,
                                     .forget = forget};

int axle__trace_start(const char *path)
{
    wanted_path = path;
    int status = axle__hook_start(AXLE__HOOK_TRACE);
    wanted_path = NULL;
    return status;
}

int axle__trace_stop(void)
{
    close_status = AXLE_OK;
    axle__hook_stop(AXLE__HOOK_TRACE);
    return close_status;
}
