/* SPDX-License-Identifier: Apache-2.0 */
/* The check as a whole: ask what devices there are, run the rows, go on behind one that crashed. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "plan.h"
#include "process.h"

/* ------------------------------------------------------------------ what devices there are */

enum { TELL_PLUGIN, TELL_VERSION, TELL_DEVICE, TELL_COUNT, TELL_FAILURE, TELL_START, TELL_RESULT };
enum { MOST_DEVICES = 1024 };

static void tell(int channel, uint32_t kind, uint32_t number, int32_t status, const char *text)
{
    message m = {.kind = kind, .number = number, .status = status};
    snprintf(m.text, sizeof(m.text), "%s", text ? text : "");
    process_tell(channel, &m);
}

static int count_devices(const axle_plugin *plugin, uint32_t *count, note *n)
{
    error_room room;
    *count = 1;
    if (AXLE_HAS(plugin, axle_plugin, probe)) {
        const int32_t score = plugin->probe();
        if (score <= 0)
            return note_fail(n, "probe gives %d: it is of no use on this machine", score);
    }
    if (AXLE_HAS(plugin, axle_plugin, device_count)) {
        const axle_status status = plugin->device_count(count, error_room_init(&room));
        if (status != AXLE_OK)
            return error_room_fail(n, &room, "device_count", status);
    }
    return *count > 0 && *count <= MOST_DEVICES ? 1 : note_fail(n, "it offers %u devices", *count);
}

static void survey(void *arg, int channel)
{
    trial t = {.options = arg};
    note n;
    uint32_t count;
    if (!trial_load(&t, &n) || !count_devices(t.plugin, &count, &n)) {
        tell(channel, TELL_FAILURE, 0, 0, n.text);
        return;
    }
    tell(channel, TELL_PLUGIN, 0, 0, t.plugin->name);
    if (AXLE_HAS(t.plugin, axle_plugin, version))
        tell(channel, TELL_VERSION, 0, 0, t.plugin->version);
    tell(channel, TELL_COUNT, count, 0, NULL);
    for (uint32_t k = 0; k < count; k++) {
        axle_device_info info = {.struct_size = sizeof(info)};
        const axle_status status = t.plugin->device_info(k, &info, NULL);
        info.name[sizeof(info.name) - 1] = '\0';
        tell(channel, TELL_DEVICE, k, 0, status == AXLE_OK ? info.name : "(tells nothing)");
    }
}

typedef struct found {
    check_report *report;
    char *why;
} found;

static void on_survey(void *user, const message *m)
{
    found *f = user;
    check_report *r = f->report;
    if (m->kind == TELL_FAILURE)
        snprintf(f->why, NOTE_SIZE, "%s", m->text);
    else if (m->kind == TELL_PLUGIN)
        snprintf(r->plugin, sizeof(r->plugin), "%.63s", m->text);
    else if (m->kind == TELL_VERSION)
        snprintf(r->version, sizeof(r->version), "%.63s", m->text);
    else if (m->kind == TELL_COUNT && (r->device_names = calloc(m->number, 128)) != NULL)
        r->device_count = m->number;
    else if (m->kind == TELL_DEVICE && m->number < r->device_count)
        snprintf(r->device_names[m->number], sizeof(r->device_names[0]), "%.127s", m->text);
}

/* 1; 0 where the plugin fails, and a note on it. */
static int find_devices(const check_options *options, check_report *report, note *n)
{
    char why[NOTE_SIZE] = "";
    found f = {report, why};
    if (!process_run(survey, (void *)options, options->limit_s, on_survey, &f, n))
        return 0;
    if (why[0])
        return note_fail(n, "%s", why);
    return report->device_count ? 1 : note_fail(n, "it told nothing");
}

/* ------------------------------------------------------------------ rows */

typedef struct rows_run {
    const check_options *options;
    const plan *p;
    check_report *report;
    size_t first;         /* row that the child begins with */
    size_t started, done; /* started > done: a row is under way */
    check_progress_fn progress;
    void *user;
} rows_run;

static check_status run_row(trial *t, const row *r, note *n)
{
    if (r->device != t->index)
        trial_close(t);
    t->index = r->device;
    return r->c ? case_run(t, r->c, r->dtype, n) : r->b->run(t, n);
}

static void run_rows(void *arg, int channel)
{
    const rows_run *run = arg;
    trial t = {.options = run->options};
    for (size_t k = run->first; k < run->p->count; k++) {
        note n = {""};
        tell(channel, TELL_START, (uint32_t)k, 0, NULL);
        const check_status status = run_row(&t, &run->p->rows[k], &n);
        tell(channel, TELL_RESULT, (uint32_t)k, (int32_t)status, n.text);
    }
}

static void finish_row(rows_run *run, check_status status, const char *text)
{
    check_result *result = &run->report->results[run->done++];
    result->status = status;
    if (status == CHECK_FAILED)
        result->message = strdup(text);
    run->report->passed += status == CHECK_PASSED;
    run->report->failed += status == CHECK_FAILED;
    run->report->host += status == CHECK_HOST;
}

static void on_row(void *user, const message *m)
{
    rows_run *run = user;
    if (m->kind == TELL_RESULT && m->number == run->done) {
        finish_row(run, (check_status)m->status, m->text);
    } else if (m->kind == TELL_START && m->number < run->p->count) {
        run->started = (size_t)m->number + 1;
        if (run->progress)
            run->progress(run->user, &run->report->results[m->number], m->number, run->p->count);
    }
}

/* A row that its child did not survive has failed, unless ending was its purpose. */
static void end_row(rows_run *run, int ended, const note *n)
{
    const row *r = &run->p->rows[run->done];
    if (run->started <= run->done && ended && run->done > run->first)
        return;
    if (ended && r->b && r->b->leaves)
        finish_row(run, CHECK_PASSED, "");
    else
        finish_row(run, CHECK_FAILED, ended ? "it ended the process" : n->text);
}

static void run_all(rows_run *run)
{
    while (run->done < run->p->count) {
        note n;
        run->first = run->started = run->done;
        const int ended = process_run(run_rows, run, run->options->limit_s, on_row, run, &n);
        if (run->done < run->p->count)
            end_row(run, ended, &n);
    }
}

static int make_results(const plan *p, check_report *out, char why[512])
{
    out->results = calloc(p->count + 1, sizeof(*out->results));
    if (!out->results) {
        snprintf(why, 512, "out of memory");
        return -1;
    }
    out->count = p->count;
    for (size_t k = 0; k < p->count; k++) {
        const row *r = &p->rows[k];
        out->results[k] = (check_result){.device = r->device,
                                         .group = row_group(r),
                                         .dtype = r->c ? dtype_name(r->dtype) : "",
                                         .name = row_name(r)};
    }
    return 0;
}

/* The one row of a plugin that is not fit for others. */
static int report_unfit(check_report *out, const note *n, char why[512])
{
    static const plan nothing = {0};
    if (make_results(&nothing, out, why))
        return -1;
    out->results[0] = (check_result){.group = "interface",
                                     .dtype = "",
                                     .name = "it loads and says what devices there are",
                                     .status = CHECK_FAILED,
                                     .message = strdup(n->text)};
    out->count = out->failed = 1;
    return 0;
}

int check_run(const check_options *options, int list, check_progress_fn progress, void *user,
              check_report *out, char why[512])
{
    plan p;
    note n;
    *out = (check_report){0};
    if (!find_devices(options, out, &n))
        return report_unfit(out, &n, why);
    if (options->device >= (int64_t)out->device_count) {
        snprintf(why, 512, "there is no device %lld, only %u", (long long)options->device,
                 out->device_count);
        return -1;
    }
    if (!plan_create(options, out->device_count, &p, &n)) {
        snprintf(why, 512, "%s", n.text);
        return -1;
    }
    const int code = make_results(&p, out, why);
    rows_run run = {.options = options, .p = &p, .report = out, .progress = progress, .user = user};
    if (code == 0 && !list)
        run_all(&run);
    plan_free(&p);
    return code;
}

void check_report_free(check_report *report)
{
    for (size_t k = 0; k < report->count; k++)
        free(report->results[k].message);
    free(report->results);
    free(report->device_names);
    *report = (check_report){0};
}
