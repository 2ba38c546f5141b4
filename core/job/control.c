/* SPDX-License-Identifier: Apache-2.0 */
#include "job/control.h"

#include <string.h>
#include <unistd.h>

#include "axle/status.h"
#include "base/clock.h"
#include "base/memory.h"
#include "job/control_state.h"
#include "job/peer.h"

/* The server's good-bye is waited for this long. */
#define GOOD_BYE (5 * AXLE__SECOND)

/* What is known of all of them fits one message. */
enum { MOST_PROCESSES = 8192 };

static int check_config(const axle__control_config *config)
{
    if (config->size > MOST_PROCESSES)
        return axle_error_set(AXLE_ERR_INVALID, "a job of %d processes; at most %d can meet",
                              config->size, MOST_PROCESSES);
    if (config->size < 2 || config->rank < 0 || config->rank >= config->size)
        return axle_error_set(AXLE_ERR_INVALID, "rank %d of %d processes cannot meet others",
                              config->rank, config->size);
    bool any_port = config->rank == 0 || (config->rendezvous && config->rendezvous[0]);
    if (config->port < !any_port || config->port > 65535)
        return axle_error_set(AXLE_ERR_INVALID, "port %d of rank 0 is not between %d and 65535",
                              config->port, !any_port);
    if (config->timeout_ns <= 0)
        return axle_error_set(AXLE_ERR_INVALID,
                              "a timeout of %.3f s (AXLE_TIMEOUT); it has to be longer than 0",
                              (double)config->timeout_ns / 1e9);
    if (strlen(config->job) > 127 || strlen(config->secret) > 127)
        return axle_error_set(AXLE_ERR_INVALID,
                              "the name of a job and its secret have at most 127 bytes");
    return AXLE_OK;
}

int axle__control_check(const axle__control *control)
{
    if (control->pid == getpid())
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_STATE,
                          "process %ld was forked from process %ld, rank %d, and is no member of "
                          "its job",
                          (long)getpid(), (long)control->pid, control->rank);
}

static void init_lock(axle__control *control)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&control->lock, NULL);
    pthread_cond_init(&control->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void release(axle__control *control)
{
    axle__socket_close(control->wake);
    axle__channel_close(&control->channel);
    pthread_cond_destroy(&control->changed);
    pthread_mutex_destroy(&control->lock);
    axle__free(control->lost);
    axle__free(control);
}

static axle__control *create(const axle__control_config *config)
{
    axle__control *control = axle__alloc(1, sizeof(*control));
    bool *lost = axle__alloc((size_t)config->size, sizeof(*lost));
    if (!control || !lost) {
        axle__free(control);
        axle__free(lost);
        return NULL;
    }
    control->lost = lost;
    control->rank = config->rank;
    control->size = config->size;
    control->port = config->port;
    control->pid = getpid();
    control->timeout = config->timeout_ns;
    control->interval = axle__group_interval(config->timeout_ns);
    control->on_loss = config->lost;
    control->user = config->user;
    control->first_lost = -1;
    control->wake = control->channel.fd = -1;
    control->is_reported = true;
    init_lock(control);
    return control;
}

/* Rank 0's server. */
static int serve(axle__control *control, const axle__control_config *config,
                 axle__rendezvous *rendezvous, int *fd)
{
    int code = axle__server_start(config, &control->server, fd);
    if (code)
        return code;
    control->port = axle__server_port(control->server);
    code = rendezvous ? axle__rendezvous_publish(rendezvous, control->port) : AXLE_OK;
    if (code)
        axle__socket_close(*fd);
    return code;
}

static int meet(axle__control *control, const axle__control_config *config,
                axle__rendezvous *rendezvous, int64_t deadline)
{
    int fd = -1;
    int code = config->rank == 0 ? serve(control, config, rendezvous, &fd) : AXLE_OK;
    code = code ? code : axle__meeting_attend(control, config, rendezvous, deadline, fd);
    return code ? code : axle__listener_start(control);
}

/* Once all have met, or will not, nobody needs the rendezvous any more. */
static int find_and_meet(axle__control *control, const axle__control_config *config)
{
    axle__rendezvous *rendezvous = NULL;
    int64_t deadline = axle__clock_after(axle__clock_ns(), config->timeout_ns);
    if (config->rendezvous && config->rendezvous[0]) {
        int code = axle__rendezvous_open(config->rendezvous, config->job, deadline, &rendezvous);
        if (code) {
            if (config->rank == 0)
                axle__socket_close(config->listen_fd);
            return code;
        }
    }
    int code = meet(control, config, rendezvous, deadline);
    axle__rendezvous_close(rendezvous);
    return code;
}

int axle__control_join(const axle__control_config *config, axle__control **out)
{
    int code = check_config(config);
    axle__control *control = code ? NULL : create(config);
    if (!control) {
        if (config->rank == 0 && config->listen_fd >= 0)
            axle__socket_close(config->listen_fd);
        return code ? code : AXLE_ERR_NOMEM;
    }
    code = find_and_meet(control, config);
    if (code) {
        axle__channel_close(&control->channel);
        axle__server_stop(control->server);
        release(control);
        return code;
    }
    *out = control;
    return AXLE_OK;
}

/* Say good-bye and wait for the answer, so that it counts whatever happens to the connection. */
static void say_goodbye(axle__control *control)
{
    int64_t wait = control->timeout < GOOD_BYE ? control->timeout : GOOD_BYE;
    struct timespec until = axle__clock_timespec(axle__clock_ns() + wait);
    pthread_mutex_lock(&control->lock);
    control->leaving = true;
    if (!control->gone)
        axle__listener_send(control, AXLE__WIRE_LEAVE, NULL);
    while (!control->bye && !control->gone &&
           pthread_cond_timedwait(&control->changed, &control->lock, &until) == 0)
        continue;
    pthread_mutex_unlock(&control->lock);
}

void axle__control_leave(axle__control *control)
{
    /* The sockets were closed in the child of a fork, and the threads never were there. */
    if (!control || control->pid != getpid())
        return;
    say_goodbye(control);
    axle__listener_stop(control);
    axle__channel_close(&control->channel);
    axle__server_stop(control->server);
    release(control);
}

const char *axle__control_address(const axle__control *control)
{
    return control->address;
}

int axle__control_port(const axle__control *control)
{
    return control->port;
}
