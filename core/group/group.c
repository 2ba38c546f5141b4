/* SPDX-License-Identifier: Apache-2.0 */
/* The group of this process: joining, the thread that works, leaving. */
#include "group/group.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/threads.h"

/* ------------------------------------------------------------------ tasks */

static axle__task *next_task(axle_group *group)
{
    pthread_mutex_lock(&group->mutex);
    while (!group->first && !group->stopping)
        pthread_cond_wait(&group->changed, &group->mutex);
    axle__task *task = group->first;
    if (task)
        group->first = task->next;
    pthread_mutex_unlock(&group->mutex);
    return task;
}

static void mark_done(axle_group *group, axle__task *task)
{
    pthread_mutex_lock(&group->mutex);
    task->done = true;
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->mutex);
}

static void *work(void *argument)
{
    axle_group *group = argument;
    for (axle__task *task; (task = next_task(group)) != NULL;) {
        axle__task_run(group, task);
        mark_done(group, task);
    }
    axle__group_unlink(group);
    return NULL;
}

/* The control thread may be about to abort the link: it sees the link or none. */
void axle__group_unlink(axle_group *group)
{
    pthread_mutex_lock(&group->mutex);
    axle_cl_group *link = group->link;
    group->link = NULL;
    pthread_mutex_unlock(&group->mutex);
    if (link)
        group->transport->group_destroy(link);
}

void axle__group_submit(axle_group *group, axle__task *task)
{
    task->header.nonfinite = group->nonfinite;
    task->header.joining = group->joining;
    group->join_count += group->joining && task->header.kind != AXLE__TASK_JOIN;
    if (group->size == 1) {
        axle__task_run(group, task);
        task->done = true;
        return;
    }
    pthread_mutex_lock(&group->mutex);
    task->next = NULL;
    if (group->first)
        group->last->next = task;
    else
        group->first = task;
    group->last = task;
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->mutex);
}

int axle__group_wait(axle_group *group, axle__task *task)
{
    if (group->size > 1) {
        pthread_mutex_lock(&group->mutex);
        int64_t start = task->done ? 0 : axle__clock_ns();
        while (!task->done)
            pthread_cond_wait(&group->changed, &group->mutex);
        group->waited_ns += start ? axle__clock_ns() - start : 0;
        pthread_mutex_unlock(&group->mutex);
    }
    return task->status ? axle_error_set(task->status, "%s", task->message) : AXLE_OK;
}

int axle__group_run(axle_group *group, axle__task *task)
{
    axle__group_submit(group, task);
    int status = axle__group_wait(group, task);
    if (status == AXLE_ERR_NONFINITE) /* everyone knows */
        group->nonfinite = AXLE__LOSS_FINITE;
    return status;
}

/* ------------------------------------------------------------------ joining */

static void when_lost(void *user, int rank, const char *reason)
{
    axle_group *group = user;
    pthread_mutex_lock(&group->mutex);
    if (group->lost_rank < 0) {
        group->lost_rank = rank;
        snprintf(group->lost_reason, sizeof(group->lost_reason), "%s", reason);
    }
    axle_cl_group *link = group->link;
    pthread_cond_broadcast(&group->changed);
    if (link && AXLE_HAS(group->transport, axle_collective, group_abort))
        group->transport->group_abort(link);
    pthread_mutex_unlock(&group->mutex);
}

static axle_status store_failed(axle_error *error)
{
    axle_status status = axle_error_code();
    if (error && error->message && error->message_capacity)
        snprintf(error->message, error->message_capacity, "%s", axle_error_message());
    axle_error_clear();
    return status;
}

static axle_status store_set(void *ctx, const char *key, const void *value, uint64_t size,
                             axle_error *error)
{
    axle_group *group = ctx;
    return axle__control_set(group->control, key, value, (size_t)size) ? store_failed(error)
                                                                       : AXLE_OK;
}

static axle_status store_get(void *ctx, const char *key, int64_t timeout_ns, void **value,
                             uint64_t *size, axle_error *error)
{
    axle_group *group = ctx;
    size_t length;
    if (axle__control_get(group->control, key, timeout_ns, value, &length))
        return store_failed(error);
    *size = length;
    return AXLE_OK;
}

/* On the group's thread, where SIGPIPE is blocked; so it is in the threads that the transport
 * starts. */
static int connect_transport(axle__task *task)
{
    axle_group *group = task->user;
    const axle_cl_store store = {sizeof(store), 0, group, store_set, store_get};
    const axle_cl_config config = {sizeof(config),   group->rank,
                                   group->size,      0,
                                   &store,           axle__control_address(group->control),
                                   group->timeout_ns};
    axle_cl_group *link = NULL;
    axle__error_buffer error;
    axle__error_buffer_init(&error);
    axle_status status = group->transport->group_create(&config, &link, &error.error);
    if (status) {
        char who[320];
        bool lost = axle__group_lost(group, who, sizeof(who));
        return axle_error_set(status, "transport %s: %s%s%s", group->transport->name, error.text,
                              lost ? "; " : "", lost ? who : "");
    }
    pthread_mutex_lock(&group->mutex);
    group->link = link;
    pthread_mutex_unlock(&group->mutex);
    return AXLE_OK;
}

static int start_thread(axle_group *group)
{
    int failed = axle__thread_start(&group->thread, work, group);
    return failed
               ? axle_error_set(AXLE_ERR_INTERNAL, "can not start a thread: %s", strerror(failed))
               : AXLE_OK;
}

static void stop_thread(axle_group *group)
{
    pthread_mutex_lock(&group->mutex);
    group->stopping = true;
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->mutex);
    pthread_join(group->thread, NULL);
}

static int meet(axle_group *group)
{
    const axle__membership *m = &group->membership;
    axle__control_config config = {.rank = m->rank,
                                   .size = m->size,
                                   .host = m->host,
                                   .port = m->port,
                                   .listen_fd = m->listen_fd,
                                   .job = m->job,
                                   .secret = m->secret,
                                   .rendezvous = m->rendezvous,
                                   .timeout_ns = group->timeout_ns,
                                   .lost = when_lost,
                                   .user = group};
    int status = axle__transport_load(&group->transport);
    if (!status)
        status = axle__control_join(&config, &group->control);
    if (!status)
        status = start_thread(group);
    if (status)
        return status;
    /* Nothing is sent before the transport is there: the first task is to connect it. */
    axle__task task = {
        .header = {.kind = AXLE__TASK_BARRIER}, .prepare = connect_transport, .user = group};
    status = axle__group_run(group, &task);
    if (status)
        stop_thread(group);
    return status;
}

static void destroy(axle_group *group)
{
    axle__control_leave(group->control);
    pthread_cond_destroy(&group->changed);
    pthread_mutex_destroy(&group->mutex);
    axle__free(group->headers);
    axle__free(group->sent);
    axle__free(group->received);
    axle__free(group->scratch);
    axle__free(group);
}

static int set_up(axle_group *group)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&group->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&group->mutex, NULL);
    group->lost_rank = -1;
    group->timeout_ns = axle__setting_integer(AXLE_SETTING_TIMEOUT) * 1000000000;
    int status = axle__membership_read(&group->membership);
    if (status)
        return status;
    group->rank = group->membership.rank;
    group->size = group->membership.size;
    axle__log_set_rank(group->rank, group->size);
    size_t size = (size_t)group->size;
    group->headers = axle__alloc(size, sizeof(*group->headers));
    group->sent = axle__alloc(size, sizeof(*group->sent));
    group->received = axle__alloc(size, sizeof(*group->received));
    if (!group->headers || !group->sent || !group->received)
        return axle_error_code();
    return group->size > 1 ? meet(group) : AXLE_OK;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static axle_group *the_group;

static int join(axle_group **out)
{
    if (the_group) {
        the_group->joins++;
        *out = the_group;
        return AXLE_OK;
    }
    axle_group *group = axle__alloc(1, sizeof(*group));
    if (!group)
        return axle_error_code();
    int status = set_up(group);
    if (status) {
        destroy(group);
        return status;
    }
    group->joins = 1;
    *out = the_group = group;
    return AXLE_OK;
}

int axle_group_join(axle_group **out)
{
    pthread_mutex_lock(&lock);
    int status = join(out);
    pthread_mutex_unlock(&lock);
    return status;
}

/* ------------------------------------------------------------------ leaving */

/* A connection that closes drops what its peer has not read yet, so nobody closes before all have
 * said, by another way, that they have read everything. */
static void see_everyone_off(axle_group *group)
{
    char key[32];
    void *value;
    size_t size;
    snprintf(key, sizeof(key), "left/%d", group->rank);
    int status = axle__control_set(group->control, key, "", 0);
    for (int rank = 0; rank < group->size && !status; rank++) {
        snprintf(key, sizeof(key), "left/%d", rank);
        status = axle__control_get(group->control, key, group->timeout_ns, &value, &size);
        if (!status)
            axle__free(value);
    }
    axle_error_clear();
}

static int leave(axle_group *group)
{
    axle__task task = {.header = {.kind = AXLE__TASK_LEAVE}};
    axle__header_site(&task.header);
    int status = AXLE_OK;
    if (group->size > 1) {
        axle__error_record outer;
        axle__error_take(&outer);
        status = axle__group_run(group, &task);
        axle_error_clear();
        if (!status)
            see_everyone_off(group);
        axle__error_restore(&outer);
        stop_thread(group);
    }
    destroy(group);
    return status ? axle_error_set(status, "%s", task.message) : AXLE_OK;
}

int axle_group_leave(axle_group *group)
{
    int status = AXLE_OK;
    pthread_mutex_lock(&lock);
    if (group && --group->joins == 0) {
        the_group = NULL;
        status = leave(group);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

double axle_group_waited(axle_group *group)
{
    pthread_mutex_lock(&group->mutex);
    int64_t waited = group->waited_ns;
    pthread_mutex_unlock(&group->mutex);
    return 1e-9 * (double)waited;
}

int axle_group_rank(const axle_group *group)
{
    return group->rank;
}

int axle_group_size(const axle_group *group)
{
    return group->size;
}

int axle_group_local_rank(const axle_group *group)
{
    return group->membership.local_rank;
}

int axle_group_local_size(const axle_group *group)
{
    return group->membership.local_size;
}
