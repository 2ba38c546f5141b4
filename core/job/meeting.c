/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process's way to the meeting: connect, again and again until the deadline, prove to belong to
 * the job, and wait until the others are there. It runs on the caller's thread; the control thread
 * starts afterwards.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "axle/status.h"
#include "base/clock.h"
#include "base/log.h"
#include "job/auth.h"
#include "job/control_state.h"
#include "job/pause.h"
#include "job/peer.h"
#include "job/rendezvous.h"

/* One handshake; and names that nobody knows, which a fresh host's may be for a while. */
#define HANDSHAKE (5 * AXLE__SECOND)
#define UNKNOWN_NAME (10 * AXLE__SECOND)
#define FIRST_LINE (2 * AXLE__SECOND)
#define LINE_EVERY (5 * AXLE__SECOND)

/* Of a handshake: try again later. Positive, as codes of errors are negative. */
enum { AGAIN = 1 };

typedef struct attempt {
    axle__control *control;
    const axle__control_config *config;
    axle__rendezvous *rendezvous;
    char host[512]; /* of rank 0, or several addresses; "" where it is not known yet */
    int port;
    int64_t started, deadline;
    char reason[AXLE__WIRE_REASON]; /* why the last try failed */
    char missing[256];              /* what the server said last of who is missing */
    unsigned char client_nonce[AXLE__WIRE_NONCE], server_nonce[AXLE__WIRE_NONCE];
} attempt;

/* Wait for a message; false where none came before `until`, or the channel broke. */
static bool receive(axle__channel *channel, int64_t until, axle__message *message)
{
    for (;;) {
        axle__channel_flush(channel);
        if (axle__channel_next(channel, message))
            return true;
        if (channel->broken[0])
            return false;
        int events = axle__channel_pending(channel) ? POLLIN | POLLOUT : POLLIN;
        if (!axle__socket_wait(channel->fd, events, until))
            return false;
        axle__channel_fill(channel);
    }
}

/* The server's words of refusal become this process's error. */
static int refused(axle__wire_reader *said)
{
    char reason[AXLE__WIRE_REASON];
    int code = -(int)axle__wire_get_u32(said);
    axle__wire_get_text(said, reason, sizeof(reason));
    if (!axle__wire_done(said) || code >= AXLE_OK)
        return axle_error_set(AXLE_ERR_IO, "rank 0 refused this process without a reason");
    return axle_error_set(code, "%s", reason);
}

static int try_again(attempt *at, const axle__channel *channel)
{
    /* A try that the deadline cut off says less than the one before. */
    if (channel->broken[0] || !at->reason[0] || axle__clock_ns() < at->deadline)
        snprintf(at->reason, sizeof(at->reason), "%s",
                 channel->broken[0] ? channel->broken : "it does not answer");
    return AGAIN;
}

static int say_hello(attempt *at, axle__channel *channel)
{
    axle__wire_writer payload = {0};
    int code = axle__random_bytes(at->client_nonce, AXLE__WIRE_NONCE);
    if (code)
        return code;
    axle__wire_put(&payload, at->client_nonce, AXLE__WIRE_NONCE);
    axle__channel_send(channel, AXLE__WIRE_HELLO, &payload);
    return AXLE_OK;
}

/* The server's proof. Where several addresses were given, the one that was reached may be another
 * host's. */
static int check_server(attempt *at, axle__wire_reader *said)
{
    unsigned char right[AXLE__WIRE_PROOF];
    const unsigned char *nonce = axle__wire_get(said, AXLE__WIRE_NONCE);
    const unsigned char *proof = axle__wire_get(said, AXLE__WIRE_PROOF);
    snprintf(at->reason, sizeof(at->reason),
             "the process that listens there does not know the secret of this job (AXLE_SECRET)");
    if (!axle__wire_done(said))
        return AGAIN;
    memcpy(at->server_nonce, nonce, AXLE__WIRE_NONCE);
    axle__proof_make(at->config->secret, 'S', at->client_nonce, at->server_nonce, "", 0, right);
    if (axle__proof_equal(proof, right))
        return AXLE_OK;
    if (strchr(at->host, ','))
        return AGAIN;
    return axle_error_set(AXLE_ERR_INVALID, "rank 0 at %s:%d: %s", at->host, at->port, at->reason);
}

static void say_who(attempt *at, axle__channel *channel)
{
    unsigned char proof[AXLE__WIRE_PROOF];
    char who[128];
    axle__wire_writer payload = {0};
    axle__group_who(who, sizeof(who));
    axle__wire_put_u32(&payload, (uint32_t)at->config->rank);
    axle__wire_put_u32(&payload, (uint32_t)at->config->size);
    axle__wire_put_text(&payload, at->config->job);
    axle__wire_put_text(&payload, who);
    axle__proof_make(at->config->secret, 'C', at->client_nonce, at->server_nonce, payload.data,
                     payload.size, proof);
    axle__wire_put(&payload, proof, sizeof(proof));
    axle__channel_send(channel, AXLE__WIRE_JOIN, &payload);
}

/* Up to the server's welcome: AXLE_OK, AGAIN, or an error. */
static int shake_hands(attempt *at, axle__channel *channel)
{
    axle__message message;
    int64_t until = axle__clock_after(axle__clock_ns(), HANDSHAKE);
    until = until < at->deadline ? until : at->deadline;
    int code = say_hello(at, channel);
    if (code)
        return code;
    if (!receive(channel, until, &message) || message.kind != AXLE__WIRE_CHALLENGE)
        return try_again(at, channel);
    code = check_server(at, &message.payload);
    if (code)
        return code;
    say_who(at, channel);
    /* The server may have taken this process in already: to break off now would be its loss. */
    if (!receive(channel, at->deadline, &message))
        return try_again(at, channel);
    if (message.kind == AXLE__WIRE_REFUSE)
        return refused(&message.payload);
    return message.kind == AXLE__WIRE_WELCOME ? AXLE_OK : try_again(at, channel);
}

/* This process's address: as its connection shows, or, where that leads to the own host, the one at
 * which processes of other hosts reached rank 0. */
static void note_address(axle__control *control, axle__wire_reader *said)
{
    char server[AXLE__ADDRESS_TEXT];
    axle__wire_get_text(said, server, sizeof(server));
    axle__socket_local(control->channel.fd, control->address, sizeof(control->address));
    if (control->address[0] == '\0' || axle__address_is_loopback(control->address))
        snprintf(control->address, sizeof(control->address), "%s", server);
}

/* The others shall not wait for one that gave up. */
static int give_up(attempt *at)
{
    axle__channel *channel = &at->control->channel;
    double waited = (double)(axle__clock_ns() - at->started) / 1e9;
    axle__wire_writer payload = {0};
    int code = axle_error_set(AXLE_ERR_TIMEOUT, "%s of %d had not come to rank 0 after %.1f s",
                              at->missing, at->config->size, waited);
    axle__wire_put_u32(&payload, (uint32_t)-code);
    axle__wire_put_text(&payload, axle_error_message());
    axle__channel_send(channel, AXLE__WIRE_FAIL, &payload);
    axle__channel_flush(channel);
    return code;
}

/* Until all are there. */
static int wait_for_all(attempt *at)
{
    axle__control *control = at->control;
    axle__message message;
    for (;;) {
        int64_t until = axle__clock_after(axle__clock_ns(), control->interval);
        if (!receive(&control->channel, until < at->deadline ? until : at->deadline, &message)) {
            if (control->channel.broken[0])
                return axle_error_set(AXLE_ERR_IO, "rank 0 was lost while the processes met: %s",
                                      control->channel.broken);
            if (axle__clock_ns() >= at->deadline)
                return give_up(at);
        } else if (message.kind == AXLE__WIRE_REFUSE) {
            return refused(&message.payload);
        } else if (message.kind == AXLE__WIRE_MET) {
            note_address(control, &message.payload);
            return AXLE_OK;
        } else if (message.kind == AXLE__WIRE_PING && !axle__wire_done(&message.payload)) {
            axle__wire_get_text(&message.payload, at->missing, sizeof(at->missing));
            axle__channel_send(&control->channel, AXLE__WIRE_PING, NULL);
        }
    }
}

/* One try; takes the socket over. */
static int attend_over(attempt *at, int fd)
{
    axle__channel *channel = &at->control->channel;
    axle__channel_open(channel, fd, AXLE__WIRE_LONGEST);
    int code = shake_hands(at, channel);
    if (!code)
        code = wait_for_all(at);
    if (code)
        axle__channel_close(channel);
    return code;
}

static int unreached(const attempt *at, int code)
{
    double waited = (double)(axle__clock_ns() - at->started) / 1e9;
    if (!at->host[0])
        return axle_error_set(code, "rank 0 was not found for %.1f s: %s", waited, at->reason);
    return axle_error_set(code, "rank 0 was not reached at %s:%d for %.1f s: %s", at->host,
                          at->port, waited, at->reason);
}

/* Find rank 0 and connect to it: *fd is -1, and the reason noted, where there is no way yet. */
static int reach(attempt *at, bool *unknown, int *fd)
{
    char reason[AXLE__WIRE_REASON];
    *unknown = false;
    *fd = -1;
    int code = at->rendezvous ? axle__rendezvous_find(at->rendezvous, at->host, sizeof(at->host),
                                                      &at->port, at->reason, sizeof(at->reason))
                              : AXLE_OK;
    if (code) {
        at->host[0] = '\0';
        return code == AXLE_ERR_NOT_READY ? AXLE_OK : code;
    }
    *fd = axle__socket_connect(at->host, at->port, at->deadline, reason, sizeof(reason), unknown);
    if (*fd < 0)
        snprintf(at->reason, sizeof(at->reason), "%s", reason);
    return AXLE_OK;
}

static void say_progress(const attempt *at, int64_t now)
{
    double waited = (double)(now - at->started) / 1e9;
    if (at->host[0])
        axle__info("group", "waiting for rank 0 at %s:%d, %.0f s so far: %s", at->host, at->port,
                   waited, at->reason);
    else
        axle__info("group", "waiting for rank 0, %.0f s so far: %s", waited, at->reason);
}

static int attend_from_afar(attempt *at)
{
    int64_t pause = AXLE__FIRST_PAUSE, next_line = at->started + FIRST_LINE;
    for (;;) {
        bool unknown;
        int fd, code = reach(at, &unknown, &fd);
        if (!code)
            code = fd < 0 ? AGAIN : attend_over(at, fd);
        if (code != AGAIN)
            return code;
        int64_t now = axle__clock_ns();
        if (now >= at->deadline)
            return unreached(at, unknown ? AXLE_ERR_IO : AXLE_ERR_TIMEOUT);
        if (unknown && now - at->started > UNKNOWN_NAME)
            return unreached(at, AXLE_ERR_IO);
        if (now >= next_line) {
            next_line = now + LINE_EVERY;
            say_progress(at, now);
        }
        axle__pause(&pause, at->deadline);
    }
}

int axle__meeting_attend(axle__control *control, const axle__control_config *config,
                         axle__rendezvous *rendezvous, int64_t deadline, int fd)
{
    attempt at = {.control = control,
                  .config = config,
                  .rendezvous = rendezvous,
                  .started = axle__clock_ns(),
                  .deadline = deadline,
                  .port = config->port};
    snprintf(at.host, sizeof(at.host), "%s", config->host);
    snprintf(at.missing, sizeof(at.missing), "some");
    if (fd < 0)
        return attend_from_afar(&at);
    int code = attend_over(&at, fd);
    return code == AGAIN
               ? axle_error_set(AXLE_ERR_TIMEOUT, "this process's own server: %s", at.reason)
               : code;
}
