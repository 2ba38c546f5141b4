/* SPDX-License-Identifier: Apache-2.0 */
#include "job/channel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "job/socket.h"

/* A peer that does not read may leave this much unsent, and gets this much read in one turn. */
enum { MOST_UNSENT = 64 << 20, TURN = 256 << 10, FIRST_BUFFER = 2048 };

void axle__channel_open(axle__channel *channel, int fd, size_t limit)
{
    *channel = (axle__channel){.fd = fd, .limit = limit};
}

void axle__channel_close(axle__channel *channel)
{
    axle__socket_close(channel->fd);
    axle__free(channel->in);
    axle__wire_free(&channel->out);
    *channel = (axle__channel){.fd = -1};
}

/* The first reason stays. */
static void break_off(axle__channel *channel, const char *what, int reason)
{
    if (channel->broken[0])
        return;
    if (reason)
        snprintf(channel->broken, sizeof(channel->broken), "%s: %s", what, strerror(reason));
    else
        snprintf(channel->broken, sizeof(channel->broken), "%s", what);
}

void axle__channel_send(axle__channel *channel, int kind, axle__wire_writer *payload)
{
    axle__wire_writer none = {0};
    if (!payload)
        payload = &none;
    unsigned char header[AXLE__WIRE_HEADER];
    axle__wire_header(header, kind, payload->size);
    if (!channel->broken[0]) {
        axle__wire_put(&channel->out, header, sizeof(header));
        axle__wire_put(&channel->out, payload->data, payload->size);
        if (channel->out.failed || payload->failed)
            break_off(channel, "no memory is left for its messages", 0);
        else if (channel->out.size - channel->out_sent > MOST_UNSENT)
            break_off(channel, "it does not read what it is sent", 0);
    }
    axle__wire_free(payload);
}

/* Forget what was sent, once moving the rest is cheap. */
static void drop_sent(axle__channel *channel)
{
    size_t unsent = channel->out.size - channel->out_sent;
    if (unsent > channel->out_sent)
        return;
    if (unsent > 0)
        memmove(channel->out.data, channel->out.data + channel->out_sent, unsent);
    channel->out.size = unsent;
    channel->out_sent = 0;
}

void axle__channel_flush(axle__channel *channel)
{
    while (!channel->broken[0] && axle__channel_pending(channel)) {
        ssize_t sent = send(channel->fd, channel->out.data + channel->out_sent,
                            channel->out.size - channel->out_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0)
            channel->out_sent += (size_t)sent;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return;
        else if (errno != EINTR)
            break_off(channel, "its connection broke", errno);
    }
    drop_sent(channel);
}

bool axle__channel_pending(const axle__channel *channel)
{
    return channel->out.size > channel->out_sent;
}

/* Make room for at least `more` bytes behind what is unread, which moves to the front. */
static bool make_room(axle__channel *channel, size_t more)
{
    size_t unread = channel->in_size - channel->in_used;
    if (channel->in_used > 0 && unread > 0)
        memmove(channel->in, channel->in + channel->in_used, unread);
    channel->in_size = unread;
    channel->in_used = 0;
    if (channel->in_capacity - unread >= more)
        return true;
    size_t capacity = channel->in_capacity ? channel->in_capacity : FIRST_BUFFER;
    while (capacity - unread < more)
        capacity *= 2;
    unsigned char *in = axle__resize(channel->in, capacity, 1);
    if (!in) {
        break_off(channel, "no memory is left for its messages", 0);
        return false;
    }
    channel->in = in;
    channel->in_capacity = capacity;
    return true;
}

void axle__channel_fill(axle__channel *channel)
{
    size_t turn = 0;
    while (!channel->broken[0] && turn < TURN) {
        /* Senders of more than what is accepted are cut off before that is held. */
        if (channel->in_size - channel->in_used > channel->limit + AXLE__WIRE_HEADER)
            return;
        if (!make_room(channel, FIRST_BUFFER))
            return;
        ssize_t got = recv(channel->fd, channel->in + channel->in_size,
                           channel->in_capacity - channel->in_size, MSG_DONTWAIT);
        if (got > 0) {
            channel->in_size += (size_t)got;
            turn += (size_t)got;
        } else if (got == 0) {
            break_off(channel, "its connection was closed", 0);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (errno != EINTR) {
            break_off(channel, "its connection broke", errno);
        }
    }
}

bool axle__channel_next(axle__channel *channel, axle__message *out)
{
    size_t unread = channel->in_size - channel->in_used, size;
    int kind;
    if (unread < AXLE__WIRE_HEADER)
        return false;
    const unsigned char *start = channel->in + channel->in_used;
    if (!axle__wire_parse_header(start, &kind, &size) || size > channel->limit) {
        break_off(channel, "what it sends is no message of Axle's", 0);
        channel->in_used = channel->in_size;
        return false;
    }
    if (unread - AXLE__WIRE_HEADER < size)
        return false;
    start += AXLE__WIRE_HEADER;
    *out = (axle__message){.kind = kind, .payload = {.next = start, .end = start + size}};
    channel->in_used += AXLE__WIRE_HEADER + size;
    return true;
}
