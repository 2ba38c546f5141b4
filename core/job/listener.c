/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control thread of a process. It alone reads from the server and writes to it; callers queue
 * what they ask, and wait for their answer.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "axle/status.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "job/control_state.h"

static void wake_up(axle__control *control)
{
    uint64_t one = 1;
    ssize_t written = write(control->wake, &one, sizeof(one));
    (void)written; /* it fails where the counter is full, that is, where the thread is awake */
}

void axle__listener_send(axle__control *control, int kind, axle__wire_writer *payload)
{
    axle__channel_send(&control->channel, kind, payload);
    wake_up(control);
}

/* The request with this number, taken off the list; NULL where nobody waits any more. */
static axle__request *take_request(axle__control *control, uint32_t id)
{
    for (axle__request **link = &control->requests; *link; link = &(*link)->next)
        if ((*link)->id == id) {
            axle__request *request = *link;
            *link = request->next;
            return request;
        }
    return NULL;
}

static void finish(axle__control *control, axle__request *request, int code, const char *reason)
{
    request->code = code;
    snprintf(request->reason, sizeof(request->reason), "%s", reason);
    request->done = true;
    pthread_cond_broadcast(&control->changed);
}

/* End requests that can have no answer any more: all, or those that may wait for the lost one. */
static void end_requests(axle__control *control, bool all, int rank, const char *reason)
{
    char text[AXLE__WIRE_REASON];
    axle__request **link = &control->requests;
    snprintf(text, sizeof(text), "rank %d was lost: %.400s", rank, reason);
    while (*link) {
        axle__request *request = *link;
        if (all || request->needs_all) {
            *link = request->next;
            finish(control, request, AXLE_ERR_IO, text);
        } else {
            link = &request->next;
        }
    }
}

/* Note a loss and tell of it, once a rank. Called without the lock. */
static void lose(axle__control *control, int rank, const char *reason)
{
    pthread_mutex_lock(&control->lock);
    bool is_new = !control->lost[rank] && !control->leaving;
    control->lost[rank] = true;
    if (control->first_lost < 0) {
        control->first_lost = rank;
        snprintf(control->first_reason, sizeof(control->first_reason), "%s", reason);
    }
    end_requests(control, control->gone, rank, reason);
    pthread_mutex_unlock(&control->lock);
    if (is_new && control->on_loss)
        control->on_loss(control->user, rank, reason);
}

/* The server cannot be reached any more: rank 0 is lost, unless this process is what was lost. */
static void lose_server(axle__control *control, const char *reason)
{
    pthread_mutex_lock(&control->lock);
    bool was_gone = control->gone, expelled = control->lost[control->rank];
    int rank = expelled ? control->rank : 0;
    control->gone = true;
    if (expelled)
        end_requests(control, true, rank, control->first_reason);
    pthread_cond_broadcast(&control->changed);
    pthread_mutex_unlock(&control->lock);
    if (!was_gone && !expelled)
        lose(control, 0, reason);
}

static bool take_done(axle__control *control, axle__wire_reader *said)
{
    char reason[AXLE__WIRE_REASON];
    uint32_t id = axle__wire_get_u32(said);
    int code = -(int)axle__wire_get_u32(said);
    axle__wire_get_text(said, reason, sizeof(reason));
    axle__request *request = axle__wire_done(said) ? take_request(control, id) : NULL;
    if (request)
        finish(control, request, code, reason);
    return axle__wire_done(said);
}

static bool take_value(axle__control *control, axle__wire_reader *said)
{
    size_t size;
    uint32_t id = axle__wire_get_u32(said);
    const unsigned char *value = axle__wire_get_value(said, &size);
    if (!axle__wire_done(said))
        return false;
    axle__request *request = take_request(control, id);
    if (!request)
        return true;
    request->value = axle__alloc(size + 1, 1);
    if (!request->value) {
        finish(control, request, AXLE_ERR_NOMEM, axle_error_message());
        axle_error_clear();
        return true;
    }
    memcpy(request->value, value, size);
    request->size = size;
    finish(control, request, AXLE_OK, "");
    return true;
}

static bool take_table(axle__control *control, axle__wire_reader *said)
{
    uint32_t id = axle__wire_get_u32(said), size = axle__wire_get_u32(said);
    axle__request *request = take_request(control, id);
    if (!request)
        return true;
    for (int rank = 0; rank < control->size && size == (uint32_t)control->size; rank++) {
        axle__peer *peer = &request->peers[rank];
        peer->lost = axle__wire_get_u8(said) != 0;
        peer->silent_ns = (int64_t)axle__wire_get_u64(said);
        peer->sequence = axle__wire_get_u64(said);
        axle__wire_get_text(said, peer->what, sizeof(peer->what));
    }
    bool good = axle__wire_done(said);
    finish(control, request, good ? AXLE_OK : AXLE_ERR_FORMAT, "the answer makes no sense");
    return good;
}

static void put_report(const axle__control *control, axle__wire_writer *payload)
{
    axle__wire_put_u64(payload, control->sequence);
    axle__wire_put_text(payload, control->what);
}

static bool take_ask(axle__control *control, axle__wire_reader *said)
{
    axle__wire_writer payload = {0};
    uint64_t round = axle__wire_get_u64(said);
    axle__wire_put_u64(&payload, round);
    put_report(control, &payload);
    control->is_reported = true;
    axle__channel_send(&control->channel, AXLE__WIRE_REPORT, &payload);
    return axle__wire_done(said);
}

static bool take_bye(axle__control *control, axle__wire_reader *said)
{
    control->bye = true;
    pthread_cond_broadcast(&control->changed);
    return axle__wire_done(said);
}

static bool take_ping(axle__control *control, axle__wire_reader *said)
{
    (void)control;
    (void)said;
    return true;
}

/* What is handled with the lock held. */
static bool take_locked(axle__control *control, axle__message *message)
{
    static bool (*const take[AXLE__WIRE_KINDS])(axle__control *, axle__wire_reader *) = {
        [AXLE__WIRE_PING] = take_ping,      [AXLE__WIRE_DONE] = take_done,
        [AXLE__WIRE_VALUE_IS] = take_value, [AXLE__WIRE_TABLE] = take_table,
        [AXLE__WIRE_ASK] = take_ask,        [AXLE__WIRE_BYE] = take_bye,
    };
    if (!take[message->kind])
        return false;
    pthread_mutex_lock(&control->lock);
    bool good = take[message->kind](control, &message->payload);
    pthread_mutex_unlock(&control->lock);
    return good;
}

static bool take_lost(axle__control *control, axle__wire_reader *said)
{
    char reason[AXLE__WIRE_REASON];
    uint32_t rank = axle__wire_get_u32(said);
    axle__wire_get_text(said, reason, sizeof(reason));
    if (!axle__wire_done(said) || rank >= (uint32_t)control->size)
        return false;
    lose(control, (int)rank, reason);
    return true;
}

static void take(axle__control *control, axle__message *message)
{
    bool good = message->kind == AXLE__WIRE_LOST ? take_lost(control, &message->payload)
                                                 : take_locked(control, message);
    if (!good)
        lose_server(control, "what it sent makes no sense");
}

/* What has come, and then whether the connection is whole. */
static void read_all(axle__control *control)
{
    axle__message message;
    char broken[sizeof(control->channel.broken)];
    pthread_mutex_lock(&control->lock);
    axle__channel_fill(&control->channel);
    pthread_mutex_unlock(&control->lock);
    for (;;) {
        pthread_mutex_lock(&control->lock);
        bool got = !control->gone && axle__channel_next(&control->channel, &message);
        control->heard = got ? axle__clock_ns() : control->heard;
        memcpy(broken, control->channel.broken, sizeof(broken));
        pthread_mutex_unlock(&control->lock);
        if (!got)
            break;
        take(control, &message);
    }
    if (broken[0])
        lose_server(control, broken);
}

/* A sign of life, with the last report where the server does not have it. */
static void ping(axle__control *control)
{
    axle__wire_writer payload = {0};
    pthread_mutex_lock(&control->lock);
    if (!control->is_reported)
        put_report(control, &payload);
    control->is_reported = true;
    axle__channel_send(&control->channel, AXLE__WIRE_PING, &payload);
    pthread_mutex_unlock(&control->lock);
}

/* Silence counts until the last look at what had come; see the server's. */
static void judge_silence(axle__control *control, int64_t looked)
{
    char reason[80];
    pthread_mutex_lock(&control->lock);
    int64_t silent = looked - control->heard;
    bool over = !control->gone && silent > control->timeout - control->interval;
    pthread_mutex_unlock(&control->lock);
    if (!over)
        return;
    snprintf(reason, sizeof(reason), "nothing was heard from it for %.1f s", (double)silent / 1e9);
    lose_server(control, reason);
}

/* Send what is queued; *gone and *pending say how things stand. False: it is time to stop. */
static bool send_all(axle__control *control, bool *gone, bool *pending)
{
    pthread_mutex_lock(&control->lock);
    axle__channel_flush(&control->channel);
    *gone = control->gone;
    *pending = axle__channel_pending(&control->channel);
    bool go_on = !control->stopping;
    pthread_mutex_unlock(&control->lock);
    return go_on;
}

static void *run(void *arg)
{
    axle__control *control = arg;
    int64_t next_ping = axle__clock_ns();
    bool gone, pending;
    read_all(control); /* what came with the last word of the meeting */
    while (send_all(control, &gone, &pending)) {
        struct pollfd items[2] = {{.fd = control->wake, .events = POLLIN},
                                  {.fd = gone ? -1 : control->channel.fd, .events = POLLIN}};
        if (pending)
            items[1].events |= POLLOUT;
        int64_t looked = axle__clock_ns();
        int wait = gone ? -1 : axle__clock_poll_ms(looked, next_ping);
        if (poll(items, 2, wait) < 0)
            continue;
        uint64_t wakes;
        if (items[0].revents && read(control->wake, &wakes, sizeof(wakes)) < 0 && errno != EAGAIN)
            axle_error_clear();
        if (gone)
            continue;
        if (items[1].revents)
            read_all(control);
        judge_silence(control, looked);
        if (axle__clock_ns() >= next_ping) {
            next_ping = axle__clock_ns() + control->interval;
            ping(control);
        }
    }
    return NULL;
}

int axle__listener_start(axle__control *control)
{
    control->heard = axle__clock_ns();
    control->wake = axle__socket_adopt(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (control->wake < 0)
        return axle_error_set(AXLE_ERR_IO, "cannot make an eventfd: %s", strerror(errno));
    int reason = axle__thread_start(&control->thread, run, control);
    if (reason)
        return axle_error_set(AXLE_ERR_IO, "cannot start the control thread: %s", strerror(reason));
    return AXLE_OK;
}

void axle__listener_stop(axle__control *control)
{
    pthread_mutex_lock(&control->lock);
    control->stopping = true;
    wake_up(control);
    pthread_mutex_unlock(&control->lock);
    pthread_join(control->thread, NULL);
}
