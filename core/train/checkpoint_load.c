/* SPDX-License-Identifier: Apache-2.0 */
/* Loading: read, check, agree, and only then change anything. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/settings.h"
#include "train/agree.h"
#include "train/checkpoint.h"

/* A checkpoint's files on this process: mapped, or received. */
typedef struct source {
    axle__checkpoint_files files; /* of the main process; of the others: state and blobs alone */
    bool received;
    char *path;
} source;

/* ------------------------------------------------------------------ which one */

static bool is_checkpoint(const char *path)
{
    char state[PATH_MAX];
    int length = snprintf(state, sizeof(state), "%s/" AXLE__CHECKPOINT_STATE, path);
    return length < (int)sizeof(state) && access(state, F_OK) == 0;
}

/* A folder with neither a checkpoint nor a name like one is one of checkpoints. */
static int choose(const axle_accelerator *accelerator, const char *path, char **out)
{
    const char *wanted = path ? path : accelerator->checkpoints->options.directory;
    if (!wanted)
        return axle_error_set(AXLE_ERR_STATE,
                              "axle_load_state: no path is given, and none was configured");
    if (!axle__folder_exists(wanted))
        return axle_error_set(AXLE_ERR_NOT_FOUND, "%s: there is no such folder", wanted);
    const char *slash = strrchr(wanted, '/');
    bool named = axle__checkpoint_number(slash ? slash + 1 : wanted) >= 0;
    if (!path || (!is_checkpoint(wanted) && !named))
        return axle_latest_checkpoint(wanted, out);
    *out = axle__strdup(wanted);
    return *out ? AXLE_OK : AXLE_ERR_NOMEM;
}

/* ------------------------------------------------------------------ to all processes */

static int broadcast_text(axle_accelerator *accelerator, char **text)
{
    void *bytes = *text;
    size_t size = *text ? strlen(*text) + 1 : 0;
    int status = axle_broadcast_bytes(accelerator->group, &bytes, &size, 0);
    if (!status)
        *text = bytes;
    return status;
}

static int broadcast_state(axle_accelerator *accelerator, source *s)
{
    char *text = NULL;
    bool main = axle_is_main_process(accelerator);
    if (main) {
        text = json_dumps(s->files.state, JSON_COMPACT | JSON_REAL_PRECISION(17));
        if (!text)
            return axle__json_failed();
    }
    int status = broadcast_text(accelerator, &text);
    if (main) {
        free(text);
        return status;
    }
    json_error_t error;
    if (!status && !(s->files.state = json_loads(text, 0, &error)))
        status = axle__json_failed();
    axle__free(text);
    return status;
}

static int broadcast_files(axle_accelerator *accelerator, source *s)
{
    json_t *files = json_object_get(s->files.state, "files"), *about;
    const char *name;
    size_t k = 0;
    if (s->received && !(s->files.blobs = axle__alloc(json_object_size(files), sizeof(axle__blob))))
        return AXLE_ERR_NOMEM;
    json_object_foreach(files, name, about)
    {
        void *bytes = s->received ? NULL : (void *)(uintptr_t)s->files.blobs[k].bytes;
        size_t size = s->received ? 0 : s->files.blobs[k].size;
        int status = axle_broadcast_bytes(accelerator->group, &bytes, &size, 0);
        if (status)
            return status;
        if (s->received)
            s->files.blobs[s->files.count++] = (axle__blob){name, bytes, size};
        k++;
    }
    return AXLE_OK;
}

static int distribute(axle_accelerator *accelerator, source *s)
{
    if (axle_process_count(accelerator) == 1)
        return AXLE_OK;
    int status = broadcast_text(accelerator, &s->path);
    if (!status)
        status = broadcast_state(accelerator, s);
    return status ? status : broadcast_files(accelerator, s);
}

static void release(source *s)
{
    for (size_t k = 0; s->received && k < s->files.count; k++)
        axle__free((void *)(uintptr_t)s->files.blobs[k].bytes);
    if (s->received)
        s->files.count = 0;
    axle__checkpoint_close(&s->files);
    axle__free(s->path);
}

/* ------------------------------------------------------------------ parts */

static int each_part(axle__restore *restore, bool apply, int first, int last)
{
    int status = AXLE_OK;
    for (int k = first; k < last && !status; k++) {
        const axle__part *part = &axle__parts[k];
        const json_t *value = json_object_get(restore->state, part->name);
        if (!apply && !value)
            status =
                axle__restore_error(restore, AXLE_ERR_FORMAT, "its %s are missing", part->name);
        else
            status = apply ? part->apply(restore, value) : part->check(restore, value);
    }
    return status;
}

/* The program's own state may be refused, and comes first. */
static int take(axle_accelerator *accelerator, const source *s)
{
    axle__restore restore = {.accelerator = accelerator,
                             .path = s->path,
                             .state = s->files.state,
                             .files = s->files.blobs,
                             .count = s->files.count};
    int status = axle__agree(accelerator, each_part(&restore, false, 0, axle__part_count));
    if (!status)
        status = axle__agree(accelerator, each_part(&restore, true, 0, 1));
    if (!status)
        status = axle__agree(accelerator, each_part(&restore, true, 1, axle__part_count));
    axle__unstage_models(&restore);
    axle__unstage_averages(&restore);
    axle__unstage_optimizers(&restore);
    return status;
}

int axle_restart_count(void)
{
    return (int)axle__setting_integer(AXLE_SETTING_RESTART);
}

int axle_load_state(axle_accelerator *accelerator, const char *path)
{
    axle__checkpoints *c;
    source s = {.received = !axle_is_main_process(accelerator)};
    int status = axle__checkpoints_of(accelerator, &c);
    if (!status && accelerator->count == 0)
        status = axle_error_set(AXLE_ERR_STATE, "axle_load_state: nothing was prepared");
    if (!status && !accelerator->group)
        status = axle_error_set(AXLE_ERR_STATE, "axle_load_state: the training was ended");
    if (status)
        return status;
    if (!s.received) {
        status = axle__checkpoint_finish(c);
        if (!status)
            status = choose(accelerator, path, &s.path);
        if (!status)
            status = axle__checkpoint_open(s.path, &s.files);
    }
    status = axle__agree(accelerator, status);
    if (!status)
        status = axle__agree(accelerator, distribute(accelerator, &s));
    if (!status)
        status = take(accelerator, &s);
    if (!status) {
        accelerator->window = (axle__window){.ends = true};
        accelerator->last = false;
        c->last = axle__updates_of(accelerator);
        if (!s.received)
            axle__info("checkpoint", "%s: loaded, %lld updates", s.path, (long long)c->last);
    }
    release(&s);
    return status;
}
