/* SPDX-License-Identifier: Apache-2.0 */
/* Saving, and when to. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/options_copy.h"
#include "train/agree.h"
#include "train/checkpoint.h"

int axle__checkpoints_of(axle_accelerator *accelerator, axle__checkpoints **out)
{
    if (!accelerator->checkpoints) {
        axle__checkpoints *c = axle__alloc(1, sizeof(*c));
        if (!c)
            return AXLE_ERR_NOMEM;
        c->last = -1;
        accelerator->checkpoints = c;
    }
    *out = accelerator->checkpoints;
    return AXLE_OK;
}

int axle__checkpoints_settle(axle__checkpoints *checkpoints)
{
    return checkpoints ? axle__checkpoint_finish(checkpoints) : AXLE_OK;
}

void axle__checkpoints_destroy(axle__checkpoints *checkpoints)
{
    if (!checkpoints)
        return;
    axle__checkpoint_finish(checkpoints);
    for (int k = 0; k < checkpoints->custom_count; k++)
        axle__free(checkpoints->custom[k].name);
    axle__rooms_free(&checkpoints->rooms);
    axle__free(checkpoints->custom);
    axle__free(checkpoints->ema);
    axle__free(checkpoints->path);
    axle__free((void *)(uintptr_t)checkpoints->options.directory);
    axle__free(checkpoints);
}

int64_t axle__updates_of(const axle_accelerator *accelerator)
{
    int at = 0;
    axle_object *object = axle__next_prepared(accelerator, AXLE__OBJECT_OPTIMIZER, &at);
    return object ? axle_optimizer_updates((axle_optimizer *)object) : 0;
}

/* ------------------------------------------------------------------ what is asked for */

/* A folder's path without slashes at its end. */
static char *plain_path(const char *path)
{
    char *copy = axle__strdup(path);
    size_t length = copy ? strlen(copy) : 0;
    while (length > 1 && copy[length - 1] == '/')
        copy[--length] = '\0';
    return copy;
}

/* Once there is something to save regularly. */
static void reserve(axle_accelerator *accelerator)
{
    axle__checkpoints *c = accelerator->checkpoints;
    if (c && c->options.asynchronous && c->options.every > 0 && !c->reserved && !c->started &&
        accelerator->count > 0 && axle_is_main_process(accelerator))
        axle__checkpoint_reserve(c, accelerator);
}

int axle_checkpoint_configure(axle_accelerator *accelerator, const axle_checkpoint_options *options)
{
    axle_checkpoint_options o = AXLE_CHECKPOINT_OPTIONS_INIT;
    axle__checkpoints *c;
    int status = axle__options_copy("axle_checkpoint_configure", options, &o, sizeof(o));
    if (status)
        return status;
    if (!o.directory || !*o.directory)
        return axle_error_set(AXLE_ERR_INVALID, "axle_checkpoint_configure: there is no folder");
    if (o.every < 0 || o.keep < 0 || o.best < AXLE_BEST_NONE || o.best > AXLE_BEST_MAX)
        return axle_error_set(AXLE_ERR_INVALID,
                              "axle_checkpoint_configure: every %lld updates, the last %d, best %d",
                              (long long)o.every, o.keep, o.best);
    status = axle__checkpoints_of(accelerator, &c);
    if (status)
        return status;
    if (!(o.directory = plain_path(o.directory)))
        return AXLE_ERR_NOMEM;
    if (axle__checkpoint_finish(c)) {
        axle__warn("checkpoint", "%s", axle_error_message());
        axle_error_clear();
    }
    axle__free((void *)(uintptr_t)c->options.directory);
    c->options = o;
    if (axle_is_main_process(accelerator))
        axle__checkpoint_sweep(o.directory);
    reserve(accelerator);
    return AXLE_OK;
}

/* Gradients of a window are in no file. One that a loop left unfinished is dropped anyway. */
static bool in_window(const axle_accelerator *accelerator)
{
    int at = 0;
    bool loops = axle__next_prepared(accelerator, AXLE__OBJECT_LOADER, &at) != NULL;
    const axle__window *window = &accelerator->window;
    return !window->ends && window->batches > 0 && (accelerator->loop_count > 0 || !loops);
}

static int check_time(const axle_accelerator *accelerator, const char *who)
{
    if (accelerator->count == 0)
        return axle_error_set(AXLE_ERR_STATE, "%s: nothing was prepared", who);
    if (!accelerator->group)
        return axle_error_set(AXLE_ERR_STATE, "%s: the training was ended", who);
    if (in_window(accelerator))
        return axle_error_set(AXLE_ERR_STATE,
                              "%s: %lld batches of a window of %d are accumulated; save after its "
                              "update",
                              who, (long long)accelerator->window.batches,
                              accelerator->options.accumulate);
    int local = accelerator->options.local_sgd;
    if (local > 0 && axle_process_count(accelerator) > 1 && axle__updates_of(accelerator) % local)
        return axle_error_set(AXLE_ERR_STATE,
                              "%s: the processes' parameters differ until they are averaged, after "
                              "every %d updates",
                              who, local);
    return AXLE_OK;
}

/* A folder that holds something else is not replaced. */
static int check_place(const char *path)
{
    axle__list names = {0};
    if (!axle__folder_exists(path))
        return AXLE_OK;
    char *state = axle__format("%s/" AXLE__CHECKPOINT_STATE, path);
    int status = state ? axle__folder_list(path, &names) : AXLE_ERR_NOMEM;
    bool ours = names.count == 0;
    for (size_t k = 0; k < names.count; k++)
        ours |= strcmp(names.item[k], AXLE__CHECKPOINT_STATE) == 0;
    if (!status && !ours)
        status = axle_error_set(AXLE_ERR_IO, "%s: it is there, and is no checkpoint", path);
    axle__list_free(&names);
    axle__free(state);
    return status;
}

static int choose_path(const axle_accelerator *accelerator, const char *directory, char **out)
{
    const axle__checkpoints *c = accelerator->checkpoints;
    if (!directory && !c->options.directory)
        return axle_error_set(AXLE_ERR_STATE,
                              "axle_save_state: no folder is given, and none was configured");
    *out = directory ? plain_path(directory)
                     : axle__checkpoint_path(c->options.directory, axle__updates_of(accelerator));
    if (!*out)
        return AXLE_ERR_NOMEM;
    return directory ? check_place(*out) : AXLE_OK;
}

/* ------------------------------------------------------------------ capturing */

static int begin_state(axle__capture *capture, const char *path, double metric)
{
    char *folder = axle__folder_of(path);
    if (!folder)
        return AXLE_ERR_NOMEM;
    json_t *state = json_pack("{s:I, s:I, s:i, s:o}", "step",
                              (json_int_t)axle__updates_of(capture->accelerator), "serial",
                              (json_int_t)axle__checkpoint_next_serial(folder), "processes",
                              axle_process_count(capture->accelerator), "metric",
                              isfinite(metric) ? json_real(metric) : json_null());
    axle__free(folder);
    capture->snapshot.state = state;
    return state ? AXLE_OK : axle__json_failed();
}

/* All parts are asked, also after an error: those that are spread over processes meet there. */
static void capture_parts(axle__capture *capture)
{
    for (int k = 0; k < axle__part_count; k++) {
        json_t *value = NULL;
        int status = axle__parts[k].capture(capture, &value);
        if (!status && capture->main &&
            json_object_set_new(capture->snapshot.state, axle__parts[k].name, value))
            status = axle__json_failed();
        else if (status)
            json_decref(value);
        capture->status = capture->status ? capture->status : status;
    }
}

/* What is wrong with the one before is told after this one was started. */
static int save(axle_accelerator *accelerator, const char *directory, double metric)
{
    axle__checkpoints *c;
    axle__error_record earlier = {0};
    char *path = NULL;
    int status = axle__checkpoints_of(accelerator, &c);
    if (!status)
        status = check_time(accelerator, "axle_save_state");
    if (status)
        return status;
    c->reserved = true;
    axle__capture capture = {accelerator, axle_is_main_process(accelerator), {0}, AXLE_OK};
    capture.snapshot.rooms = &c->rooms;
    if (capture.main) {
        if (axle__checkpoint_finish(c))
            axle__error_take(&earlier);
        status = choose_path(accelerator, directory, &path);
        if (!status)
            status = begin_state(&capture, path, metric);
    }
    capture.status = axle__agree(accelerator, status);
    bool goes_on = capture.status == AXLE_OK;
    if (goes_on)
        capture_parts(&capture);
    axle__rooms_free(&c->rooms);
    status = goes_on ? axle__agree(accelerator, capture.status) : capture.status;
    if (!status && capture.main) {
        status = axle__checkpoint_start(c, &capture.snapshot, path);
        path = NULL;
    }
    axle__snapshot_free(&capture.snapshot);
    axle__free(path);
    if (!status && earlier.code) {
        axle__error_restore(&earlier);
        status = earlier.code;
    }
    if (goes_on)
        status = axle__agree(accelerator, status);
    return status;
}

static int save_now(axle_accelerator *accelerator, const char *directory, double metric)
{
    int status = save(accelerator, directory, metric);
    if (accelerator->checkpoints)
        accelerator->checkpoints->last = axle__updates_of(accelerator);
    return status;
}

int axle_save_state(axle_accelerator *accelerator, const char *directory)
{
    return save_now(accelerator, directory, NAN);
}

int axle_checkpoint_step(axle_accelerator *accelerator, double metric, int *saved)
{
    const axle__checkpoints *c = accelerator->checkpoints;
    int64_t updates = axle__updates_of(accelerator);
    bool due = c && c->options.every > 0 && updates > 0 && updates % c->options.every == 0 &&
               updates != c->last && !in_window(accelerator);
    if (saved)
        *saved = due;
    if (!due)
        reserve(accelerator);
    return due ? save_now(accelerator, NULL, metric) : AXLE_OK;
}

int axle_checkpoint_wait(axle_accelerator *accelerator)
{
    axle__checkpoints *c = accelerator->checkpoints;
    if (!c || !accelerator->group)
        return c ? axle__checkpoint_finish(c) : AXLE_OK;
    return axle__agree(accelerator, axle__checkpoint_finish(c));
}

int axle_checkpoint_pending(const axle_accelerator *accelerator)
{
    const axle__checkpoints *c = accelerator->checkpoints;
    return c && __atomic_load_n(&c->running, __ATOMIC_ACQUIRE);
}
