/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's thread. It waits in poll() for all its sockets, takes one turn for whatever came,
 * and never blocks elsewhere, so that nobody can keep it from serving the others.
 */
#include "job/server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "axle/status.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/threads.h"
#include "job/peer.h"
#include "job/server_state.h"
#include "job/socket.h"

/* Of a broken job's processes, until the server ends; and of last words. */
#define SHORTLY (1 * AXLE__SECOND)

/* Strangers at one time; above it those go first that came first. */
enum { MOST_STRANGERS = 64, ACCEPTS_A_TURN = 64 };

void axle__connection_end(axle__server *server, axle__connection *connection)
{
    if (connection->stage >= AXLE__STAGE_ENDING)
        return;
    connection->stage = AXLE__STAGE_ENDING;
    connection->since = server->now;
}

bool axle__connection_is_stranger(const axle__connection *connection)
{
    return connection->stage < AXLE__STAGE_MEMBER && !connection->is_own;
}

static axle__connection *oldest_stranger(axle__server *server, int *count)
{
    axle__connection *oldest = NULL;
    *count = 0;
    for (size_t k = 0; k < server->connection_count; k++) {
        axle__connection *connection = server->connections[k];
        if (!axle__connection_is_stranger(connection))
            continue;
        (*count)++;
        if (!oldest || connection->since < oldest->since)
            oldest = connection;
    }
    return oldest;
}

/* Room for one more connection and its place in poll(). */
static bool make_room(axle__server *server)
{
    if (server->connection_count < server->connection_capacity)
        return true;
    size_t capacity = server->connection_capacity ? 2 * server->connection_capacity : 16;
    struct pollfd *items = axle__resize(server->items, capacity + 2, sizeof(*items));
    if (!items)
        return false;
    server->items = items;
    axle__connection **connections =
        axle__resize(server->connections, capacity, sizeof(*connections));
    if (!connections)
        return false;
    server->connections = connections;
    server->connection_capacity = capacity;
    return true;
}

/* Serve a connected socket, which is taken over. */
static bool add_connection(axle__server *server, int fd, bool is_own)
{
    axle__connection *connection = make_room(server) ? axle__alloc(1, sizeof(*connection)) : NULL;
    if (!connection) {
        axle__socket_close(fd);
        return false;
    }
    axle__channel_open(&connection->channel, fd, AXLE__WIRE_STRANGER);
    connection->since = server->now;
    connection->rank = -1;
    connection->is_own = is_own;
    server->connections[server->connection_count++] = connection;
    return true;
}

static void accept_some(axle__server *server)
{
    for (int k = 0; k < ACCEPTS_A_TURN; k++) {
        int strangers;
        int fd = axle__socket_accept(server->listener);
        if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (fd < 0) {
            /* Without descriptors the same connection would wake the thread again and again. */
            if (errno != ECONNABORTED)
                server->accept_after = server->now + SHORTLY / 10;
            return;
        }
        axle__connection *oldest = oldest_stranger(server, &strangers);
        if (strangers >= MOST_STRANGERS + server->size)
            oldest->stage = AXLE__STAGE_OVER;
        add_connection(server, fd, false);
    }
}

/* What came on one connection. */
static void serve(axle__server *server, axle__connection *connection)
{
    axle__message message;
    axle__channel_fill(&connection->channel);
    while (connection->stage < AXLE__STAGE_OVER &&
           axle__channel_next(&connection->channel, &message)) {
        if (connection->stage < AXLE__STAGE_MEMBER)
            axle__admission_take(server, connection, &message);
        else if (connection->stage == AXLE__STAGE_MEMBER)
            axle__service_take(server, connection, &message);
    }
}

/* A channel that broke: of a member, a loss. */
static void look_after(axle__server *server, axle__connection *connection)
{
    if (connection->stage == AXLE__STAGE_OVER || !connection->channel.broken[0])
        return;
    if (connection->stage == AXLE__STAGE_MEMBER)
        axle__service_lose(server, connection->rank, connection->channel.broken);
    connection->stage = AXLE__STAGE_OVER;
}

/* Last words are sent, then the other end shall close: who closes first while something is unread
 * may take its own last words back. */
static void wind_up(axle__server *server, axle__connection *connection)
{
    if (connection->stage != AXLE__STAGE_ENDING)
        return;
    if (!connection->is_shut && !axle__channel_pending(&connection->channel)) {
        connection->is_shut = true;
        (void)shutdown(connection->channel.fd, SHUT_WR);
    }
    if (server->now - connection->since > SHORTLY)
        connection->stage = AXLE__STAGE_OVER;
}

static void sweep(axle__server *server)
{
    size_t kept = 0;
    for (size_t k = 0; k < server->connection_count; k++) {
        axle__connection *connection = server->connections[k];
        if (connection->stage == AXLE__STAGE_OVER) {
            axle__channel_close(&connection->channel);
            axle__free(connection);
        } else {
            server->connections[kept++] = connection;
        }
    }
    server->connection_count = kept;
}

/* Members that are there, or last words under way. */
static bool is_needed(const axle__server *server)
{
    for (size_t k = 0; k < server->connection_count; k++)
        if (server->connections[k]->stage == AXLE__STAGE_MEMBER ||
            server->connections[k]->stage == AXLE__STAGE_ENDING)
            return true;
    return false;
}

static int64_t next_time(const axle__server *server)
{
    int64_t next = axle__service_next(server);
    int64_t soon = server->now + SHORTLY / 10;
    bool hurry = atomic_load(&server->stopping) || server->accept_after > server->now;
    for (size_t k = 0; k < server->connection_count; k++)
        hurry = hurry || server->connections[k]->stage == AXLE__STAGE_ENDING;
    if (hurry && soon < next)
        next = soon;
    if (server->phase == AXLE__PHASE_MEETING && server->deadline < next)
        next = server->deadline;
    return next;
}

/* Wait for events; false where the wait failed. */
static bool await(axle__server *server)
{
    struct pollfd *items = server->items;
    size_t count = server->connection_count;
    bool listens = server->now >= server->accept_after;
    items[0] = (struct pollfd){.fd = server->wake, .events = POLLIN};
    items[1] = (struct pollfd){.fd = listens ? server->listener : -1, .events = POLLIN};
    for (size_t k = 0; k < count; k++) {
        axle__channel *channel = &server->connections[k]->channel;
        items[k + 2] = (struct pollfd){.fd = channel->fd, .events = POLLIN};
        if (axle__channel_pending(channel))
            items[k + 2].events |= POLLOUT;
    }
    server->looked = server->now = axle__clock_ns();
    int wait = axle__clock_poll_ms(server->now, next_time(server));
    int ready = poll(items, (nfds_t)(count + 2), wait);
    server->now = axle__clock_ns();
    return ready >= 0;
}

/* One wait and what follows from it. */
static void turn(axle__server *server)
{
    struct pollfd *items = server->items;
    size_t count = server->connection_count;
    uint64_t wakes;
    if (!await(server))
        return;
    if (items[0].revents && read(server->wake, &wakes, sizeof(wakes)) < 0)
        axle__debug("group", "eventfd: %s", strerror(errno));
    for (size_t k = 0; k < count; k++)
        if (items[k + 2].revents)
            serve(server, server->connections[k]);
    if (items[1].revents)
        accept_some(server);
    for (size_t k = 0; k < server->connection_count; k++)
        look_after(server, server->connections[k]);
    axle__admission_tick(server);
    axle__service_tick(server);
    for (size_t k = 0; k < server->connection_count; k++) {
        axle__channel_flush(&server->connections[k]->channel);
        look_after(server, server->connections[k]);
        wind_up(server, server->connections[k]);
    }
    /* Losses noticed while flushing left words for connections that had been flushed before. */
    for (size_t k = 0; k < server->connection_count; k++)
        axle__channel_flush(&server->connections[k]->channel);
    sweep(server);
    axle_error_clear();
}

/* Whoever is still there after rank 0 waited for it sees rank 0 lost. */
static void say_goodbye(axle__server *server)
{
    for (int rank = 0; rank < server->size; rank++) {
        axle__seat *seat = &server->seats[rank];
        axle__wire_writer payload = {0};
        if (!seat->connection)
            continue;
        axle__wire_put_u32(&payload, 0);
        axle__wire_put_text(&payload, server->broken ? "it ended after the loss of another process"
                                                     : "it left and waited in vain for the others");
        axle__channel_send(&seat->connection->channel, AXLE__WIRE_LOST, &payload);
        axle__connection_end(server, seat->connection);
        seat->connection = NULL;
        seat->left = true;
    }
}

static void *run(void *arg)
{
    axle__server *server = arg;
    int64_t stop_asked = 0;
    while (!stop_asked || is_needed(server)) {
        turn(server);
        if (!stop_asked && atomic_load(&server->stopping))
            stop_asked = server->now;
        if (!stop_asked)
            continue;
        int64_t patience = server->timeout;
        if (server->broken && SHORTLY < patience)
            patience = SHORTLY;
        if (server->now - stop_asked > patience)
            say_goodbye(server);
    }
    return NULL;
}

static void release(axle__server *server)
{
    for (size_t k = 0; k < server->connection_count; k++)
        server->connections[k]->stage = AXLE__STAGE_OVER;
    sweep(server);
    axle__free(server->connections);
    axle__free(server->items);
    axle__service_free(server);
    axle__free(server->seats);
    axle__socket_close(server->listener);
    axle__socket_close(server->wake);
    axle__free(server);
}

static int start_thread(axle__server *server)
{
    int reason = axle__thread_start(&server->thread, run, server);
    if (reason)
        return axle_error_set(AXLE_ERR_IO, "cannot start the thread of the server: %s",
                              strerror(reason));
    return AXLE_OK;
}

static int open_sockets(axle__server *server, const axle__control_config *config, int pair[2])
{
    int code = AXLE_OK;
    if (server->listener >= 0)
        code = axle__socket_inherit(server->listener, &server->port);
    else
        code = axle__socket_listen(config->host, config->port, &server->listener, &server->port);
    if (code)
        return code;
    server->wake = axle__socket_adopt(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (server->wake < 0)
        return axle_error_set(AXLE_ERR_IO, "cannot make an eventfd: %s", strerror(errno));
    return axle__socket_pair(pair);
}

static void set_up(axle__server *server, const axle__control_config *config)
{
    server->size = config->size;
    server->wake = -1;
    server->timeout = config->timeout_ns;
    server->interval = axle__group_interval(config->timeout_ns);
    snprintf(server->job, sizeof(server->job), "%s", config->job);
    snprintf(server->secret, sizeof(server->secret), "%s", config->secret);
    server->now = server->started = axle__clock_ns();
    server->deadline = axle__clock_after(server->now, server->timeout);
    server->next_ping = server->now + server->interval;
    server->next_line = server->now + 2 * AXLE__SECOND;
    axle__group_who(server->seats[0].who, sizeof(server->seats[0].who));
}

int axle__server_start(const axle__control_config *config, axle__server **out, int *client_fd)
{
    int pair[2] = {-1, -1};
    axle__server *server = axle__alloc(1, sizeof(*server));
    if (!server) {
        axle__socket_close(config->listen_fd);
        return AXLE_ERR_NOMEM;
    }
    server->wake = -1;
    server->listener = axle__socket_adopt(config->listen_fd);
    server->seats = axle__alloc((size_t)config->size, sizeof(*server->seats));
    int code = server->seats ? AXLE_OK : AXLE_ERR_NOMEM;
    if (!code) {
        set_up(server, config);
        code = open_sockets(server, config, pair);
    }
    if (!code && !add_connection(server, pair[0], true))
        code = AXLE_ERR_NOMEM;
    else if (!code)
        code = start_thread(server);
    if (code) {
        axle__socket_close(pair[1]);
        release(server);
        return code;
    }
    *client_fd = pair[1];
    *out = server;
    return AXLE_OK;
}

int axle__server_port(const axle__server *server)
{
    return server->port;
}

void axle__server_stop(axle__server *server)
{
    if (!server)
        return;
    uint64_t one = 1;
    atomic_store(&server->stopping, true);
    ssize_t written = write(server->wake, &one, sizeof(one));
    (void)written; /* it wakes up on its own, too, if later */
    pthread_join(server->thread, NULL);
    release(server);
}
