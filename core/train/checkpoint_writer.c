/* SPDX-License-Identifier: Apache-2.0 */
/* Writing snapshots, here or on a thread, and what follows a commit. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/threads.h"
#include "train/checkpoint.h"

static size_t bytes_of(const axle__snapshot *snapshot)
{
    size_t bytes = 0;
    for (size_t k = 0; k < snapshot->count; k++)
        bytes += snapshot->files[k].size;
    return bytes;
}

/* Tell who asked, and keep for the next who waits. */
static void announce(axle__checkpoints *c, int status, size_t bytes, int64_t began)
{
    double seconds = (double)(axle__clock_ns() - began) / (double)AXLE__SECOND;
    if (status)
        axle__warn("checkpoint", "%s was not saved: %s", c->path, axle_error_message());
    else
        axle__info("checkpoint", "%s: saved, %.1f MB in %.2f s", c->path, (double)bytes * 1e-6,
                   seconds);
    c->status = status;
    snprintf(c->message, sizeof(c->message), "%s", axle_error_message());
    if (c->options.committed)
        c->options.committed(c->path, status, c->message, c->options.user);
}

/* Old ones go only now that there is a new one. */
static void write_out(axle__checkpoints *c)
{
    int64_t began = axle__clock_ns();
    size_t bytes = bytes_of(&c->snapshot);
    if (c->options.directory)
        axle__checkpoint_sweep(c->options.directory);
    int status = axle__snapshot_write(&c->snapshot, c->path);
    char *folder = status ? NULL : axle__folder_of(c->path);
    if (folder && c->options.directory && strcmp(folder, c->options.directory) == 0)
        axle__checkpoint_prune(folder, c->options.keep, c->options.best);
    axle__free(folder);
    axle__snapshot_free(&c->snapshot);
    if (!c->options.asynchronous)
        axle__rooms_free(&c->rooms);
    announce(c, status, bytes, began);
}

/* Training has all cores for itself; what it leaves will do for this. On Linux the priority is that
 * of the calling thread. */
static void step_back(void)
{
#ifdef SYS_gettid
    enum { LEAST = 19 };
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), LEAST);
#endif
}

static void *run(void *user)
{
    axle__checkpoints *c = user;
    step_back();
    write_out(c);
    axle_error_clear();
    __atomic_store_n(&c->running, 0, __ATOMIC_RELEASE);
    return NULL;
}

static void *touch(void *user)
{
    axle__checkpoints *c = user;
    axle__rooms_touch(&c->rooms, &c->stop);
    return NULL;
}

/* Where this fails the snapshot itself does without, or tells. */
void axle__checkpoint_reserve(axle__checkpoints *c, const axle_accelerator *accelerator)
{
    c->reserved = true;
    int status = axle__reserve_models(accelerator, &c->rooms);
    if (!status)
        status = axle__reserve_averages(accelerator, &c->rooms);
    if (!status)
        status = axle__reserve_optimizers(accelerator, &c->rooms);
    if (status) {
        axle__rooms_free(&c->rooms);
        axle_error_clear();
        return;
    }
    c->stop = 0;
    c->started = c->touching = axle__thread_start(&c->thread, touch, c) == 0;
}

int axle__checkpoint_start(axle__checkpoints *c, axle__snapshot *snapshot, char *path)
{
    axle__free(c->path);
    c->path = path;
    c->snapshot = *snapshot;
    *snapshot = (axle__snapshot){.rooms = snapshot->rooms};
    if (c->options.asynchronous) {
        c->running = 1;
        c->started = axle__thread_start(&c->thread, run, c) == 0;
        if (!c->started)
            c->running = 0;
    }
    if (c->started)
        return AXLE_OK;
    write_out(c);
    int status = c->status;
    c->status = AXLE_OK;
    return status;
}

int axle__checkpoint_finish(axle__checkpoints *c)
{
    if (c->touching)
        __atomic_store_n(&c->stop, 1, __ATOMIC_RELAXED);
    if (c->started)
        pthread_join(c->thread, NULL);
    c->started = c->touching = false;
    int status = c->status;
    c->status = AXLE_OK;
    return status ? axle_error_set(status, "%s", c->message) : AXLE_OK;
}
