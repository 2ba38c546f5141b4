/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport for tests: one TCP connection to each process, and a thread that reads from it. It
 * does what the interface allows at its most careless: it writes without looking at SIGPIPE, and
 * into the caller's memory until the group is destroyed.
 *
 * SOCKETS_FAULT in the environment makes it a bad one: "declines", "lacks" a slot, is "newer", or
 * "fails" to connect.
 */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "axle/collective.h"

enum { PEERS_MOST = 64 };

typedef struct frame {
    uint64_t tag, size;
} frame;

struct axle_cl_request {
    axle_cl_group *group;
    int peer;
    frame frame;
    void *data;
    bool expected, done; /* expected: no data has come for it */
    axle_cl_request *next;
};

/* Data that came before it was asked for. */
typedef struct arrival {
    int peer;
    frame frame;
    struct arrival *next;
    unsigned char data[];
} arrival;

typedef struct reader {
    axle_cl_group *group;
    int peer, fd;
    bool started, broken;
    pthread_t thread;
} reader;

struct axle_cl_group {
    int rank, size, timeout_ms;
    pthread_mutex_t turn; /* to send or to receive */
    reader readers[PEERS_MOST];
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    axle_cl_request *requests;
    arrival *arrivals;
    bool aborted;
};

static const axle_host *services;

static axle_status fail(axle_error *error, axle_status code, const char *what)
{
    if (error && error->message && error->message_capacity)
        snprintf(error->message, error->message_capacity, "sockets: %s", what);
    return code;
}

/* ------------------------------------------------------------------ bytes */

/* What arrives may be the answer to what was sent, and go to the same place: sending and receiving
 * take turns, a piece at a time, so that ThreadSanitizer sees which came first. */
static ssize_t move_piece(axle_cl_group *group, int fd, short event, void *data, uint64_t size)
{
    struct pollfd wanted = {.fd = fd, .events = event};
    int limit = event == POLLOUT ? group->timeout_ms : -1;
    for (;;) {
        int ready = poll(&wanted, 1, limit);
        if (ready == 0) {
            errno = ETIMEDOUT;
            return -1;
        }
        pthread_mutex_lock(&group->turn);
        ssize_t n = event == POLLOUT ? send(fd, data, size, MSG_DONTWAIT)
                                     : recv(fd, data, size, MSG_DONTWAIT);
        int code = errno;
        pthread_mutex_unlock(&group->turn);
        errno = code;
        if (n >= 0 || (code != EAGAIN && code != EINTR))
            return n;
    }
}

static bool read_all(axle_cl_group *group, int fd, void *data, uint64_t size)
{
    for (unsigned char *at = data; size > 0;) {
        ssize_t n = move_piece(group, fd, POLLIN, at, size);
        if (n <= 0)
            return false;
        at += n;
        size -= (uint64_t)n;
    }
    return true;
}

static int write_all(axle_cl_group *group, int fd, const void *data, uint64_t size)
{
    for (const unsigned char *at = data; size > 0;) {
        ssize_t n = move_piece(group, fd, POLLOUT, (void *)at, size);
        if (n < 0)
            return errno;
        at += n;
        size -= (uint64_t)n;
    }
    return 0;
}

/* ------------------------------------------------------------------ reading */

/* The first request that waits for such a message; called with the mutex held. */
static axle_cl_request *take_expected(axle_cl_group *group, int peer, frame f)
{
    for (axle_cl_request *r = group->requests; r; r = r->next)
        if (r->expected && r->peer == peer && r->frame.tag == f.tag && r->frame.size == f.size) {
            r->expected = false;
            return r;
        }
    return NULL;
}

static void append_arrival(axle_cl_group *group, arrival *a)
{
    arrival **end = &group->arrivals;
    while (*end)
        end = &(*end)->next;
    *end = a;
}

static bool read_unexpected(reader *r, frame f)
{
    axle_cl_group *group = r->group;
    arrival *a = malloc(sizeof(*a) + f.size);
    if (!a || !read_all(group, r->fd, a->data, f.size)) {
        free(a);
        return false;
    }
    *a = (arrival){.peer = r->peer, .frame = f};
    pthread_mutex_lock(&group->mutex);
    axle_cl_request *request = take_expected(group, r->peer, f);
    if (request) {
        memcpy(request->data, a->data, f.size);
        request->done = true;
        free(a);
    } else {
        append_arrival(group, a);
    }
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->mutex);
    return true;
}

static bool read_message(reader *r)
{
    frame f;
    axle_cl_group *group = r->group;
    if (!read_all(group, r->fd, &f, sizeof(f)))
        return false;
    pthread_mutex_lock(&group->mutex);
    axle_cl_request *request = take_expected(group, r->peer, f);
    pthread_mutex_unlock(&group->mutex);
    if (!request)
        return read_unexpected(r, f);
    bool good = read_all(group, r->fd, request->data, f.size);
    pthread_mutex_lock(&group->mutex);
    request->done = good;
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->mutex);
    return good;
}

static void *read_messages(void *argument)
{
    reader *r = argument;
    while (read_message(r))
        continue;
    pthread_mutex_lock(&r->group->mutex);
    r->broken = true;
    pthread_cond_broadcast(&r->group->changed);
    pthread_mutex_unlock(&r->group->mutex);
    return NULL;
}

/* ------------------------------------------------------------------ connecting */

static int listen_at(const char *address, int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (inet_pton(AF_INET, address, &at.sin_addr) != 1 || fd < 0 ||
        bind(fd, (struct sockaddr *)&at, size) || listen(fd, PEERS_MOST) ||
        getsockname(fd, (struct sockaddr *)&at, &size)) {
        close(fd);
        return -1;
    }
    *port = ntohs(at.sin_port);
    return fd;
}

static int connect_to(axle_cl_group *group, const char *place)
{
    char address[64];
    int port, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET};
    int32_t me = group->rank;
    if (sscanf(place, "%63s %d", address, &port) != 2 ||
        inet_pton(AF_INET, address, &at.sin_addr) != 1) {
        close(fd);
        return -1;
    }
    at.sin_port = htons((uint16_t)port);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) ||
        write_all(group, fd, &me, sizeof(me))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* A connection of a process of a higher rank, which it says first. */
static int accept_from(axle_cl_group *group, int listener, int32_t *rank)
{
    struct pollfd wanted = {.fd = listener, .events = POLLIN};
    if (poll(&wanted, 1, group->timeout_ms) <= 0)
        return -1;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 || !read_all(group, fd, rank, sizeof(*rank))) {
        close(fd);
        return -1;
    }
    return fd;
}

static void use(axle_cl_group *group, int peer, int fd)
{
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    group->readers[peer] = (reader){.group = group, .peer = peer, .fd = fd};
}

static axle_status tell_place(const axle_cl_config *config, int port, axle_error *error)
{
    char key[32], place[96];
    snprintf(key, sizeof(key), "sockets%d", config->rank);
    snprintf(place, sizeof(place), "%s %d", config->address, port);
    return config->store->set(config->store->ctx, key, place, strlen(place) + 1, error);
}

/* Everyone's place is asked for, also of those who connect to this process: the store knows whether
 * they are lost. */
static axle_status connect_lower(axle_cl_group *group, const axle_cl_config *config,
                                 axle_error *error)
{
    for (int peer = 0; peer < group->size; peer++) {
        char key[32];
        void *place;
        uint64_t size;
        snprintf(key, sizeof(key), "sockets%d", peer);
        axle_status status =
            config->store->get(config->store->ctx, key, config->timeout_ns, &place, &size, error);
        if (status)
            return status;
        int fd = peer < group->rank ? connect_to(group, place) : -1;
        services->free(services->ctx, place);
        if (fd < 0 && peer < group->rank)
            return fail(error, AXLE_ERR_IO, strerror(errno));
        if (fd >= 0)
            use(group, peer, fd);
    }
    return AXLE_OK;
}

static axle_status accept_higher(axle_cl_group *group, int listener, axle_error *error)
{
    for (int k = group->rank + 1; k < group->size; k++) {
        int32_t peer = -1;
        int fd = accept_from(group, listener, &peer);
        if (fd < 0 || peer <= group->rank || peer >= group->size)
            return fail(error, AXLE_ERR_IO, "nobody connected");
        use(group, peer, fd);
    }
    return AXLE_OK;
}

static axle_status start_readers(axle_cl_group *group, axle_error *error)
{
    for (int peer = 0; peer < group->size; peer++) {
        reader *r = &group->readers[peer];
        if (peer == group->rank)
            continue;
        if (pthread_create(&r->thread, NULL, read_messages, r))
            return fail(error, AXLE_ERR_INTERNAL, "no thread");
        r->started = true;
    }
    return AXLE_OK;
}

static void group_destroy(axle_cl_group *group);

static axle_status group_create(const axle_cl_config *config, axle_cl_group **out,
                                axle_error *error)
{
    const char *fault = getenv("SOCKETS_FAULT");
    if (fault && strcmp(fault, "fails") == 0)
        return fail(error, AXLE_ERR_IO, "the network is down");
    int port, listener = listen_at(config->address, &port);
    axle_cl_group *group = calloc(1, sizeof(*group));
    if (listener < 0 || !group || config->size > PEERS_MOST) {
        free(group);
        close(listener);
        return fail(error, AXLE_ERR_IO, "can not listen");
    }
    group->rank = config->rank;
    group->size = config->size;
    group->timeout_ms = (int)(config->timeout_ns / 1000000);
    for (int peer = 0; peer < PEERS_MOST; peer++)
        group->readers[peer].fd = -1;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&group->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&group->mutex, NULL);
    pthread_mutex_init(&group->turn, NULL);
    axle_status status = tell_place(config, port, error);
    if (!status)
        status = connect_lower(group, config, error);
    if (!status)
        status = accept_higher(group, listener, error);
    if (!status)
        status = start_readers(group, error);
    close(listener);
    if (status)
        group_destroy(group);
    else
        *out = group;
    return status;
}

static void shut_down(axle_cl_group *group)
{
    for (int peer = 0; peer < group->size; peer++)
        if (group->readers[peer].fd >= 0)
            shutdown(group->readers[peer].fd, SHUT_RDWR);
}

static void group_destroy(axle_cl_group *group)
{
    shut_down(group);
    for (int peer = 0; peer < group->size; peer++) {
        reader *r = &group->readers[peer];
        if (r->started)
            pthread_join(r->thread, NULL);
        if (r->fd >= 0)
            close(r->fd);
    }
    for (axle_cl_request *r; (r = group->requests) != NULL; free(r))
        group->requests = r->next;
    for (arrival *a; (a = group->arrivals) != NULL; free(a))
        group->arrivals = a->next;
    pthread_cond_destroy(&group->changed);
    pthread_mutex_destroy(&group->mutex);
    pthread_mutex_destroy(&group->turn);
    free(group);
}

static void group_abort(axle_cl_group *group)
{
    pthread_mutex_lock(&group->mutex);
    group->aborted = true;
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->mutex);
    shut_down(group);
}

/* ------------------------------------------------------------------ messages */

static axle_cl_request *new_request(axle_cl_group *group, int peer, uint64_t tag, uint64_t size)
{
    axle_cl_request *request = calloc(1, sizeof(*request));
    if (!request)
        return NULL;
    *request = (axle_cl_request){.group = group, .peer = peer, .frame = {tag, size}};
    pthread_mutex_lock(&group->mutex);
    axle_cl_request **end = &group->requests;
    while (*end)
        end = &(*end)->next;
    *end = request;
    pthread_mutex_unlock(&group->mutex);
    return request;
}

static axle_status send_message(axle_cl_group *group, int32_t peer, uint64_t tag, const void *data,
                                uint64_t size, axle_cl_request **out, axle_error *error)
{
    axle_cl_request *request = new_request(group, peer, tag, size);
    if (!request)
        return fail(error, AXLE_ERR_NOMEM, "no memory");
    int fd = group->readers[peer].fd;
    int code = write_all(group, fd, &request->frame, sizeof(request->frame));
    code = code ? code : write_all(group, fd, data, size);
    if (code)
        return fail(error, code == ETIMEDOUT ? AXLE_ERR_TIMEOUT : AXLE_ERR_IO, strerror(code));
    pthread_mutex_lock(&group->mutex);
    request->done = true;
    pthread_mutex_unlock(&group->mutex);
    *out = request;
    return AXLE_OK;
}

/* Give a request what came already. */
static void take_arrival(axle_cl_group *group, axle_cl_request *request)
{
    for (arrival **at = &group->arrivals; *at; at = &(*at)->next) {
        arrival *a = *at;
        if (a->peer != request->peer || a->frame.tag != request->frame.tag ||
            a->frame.size != request->frame.size)
            continue;
        memcpy(request->data, a->data, a->frame.size);
        request->expected = false;
        request->done = true;
        *at = a->next;
        free(a);
        return;
    }
}

static axle_status recv_message(axle_cl_group *group, int32_t peer, uint64_t tag, void *data,
                                uint64_t size, axle_cl_request **out, axle_error *error)
{
    axle_cl_request *request = new_request(group, peer, tag, size);
    if (!request)
        return fail(error, AXLE_ERR_NOMEM, "no memory");
    pthread_mutex_lock(&group->mutex);
    request->data = data;
    request->expected = true;
    take_arrival(group, request);
    pthread_mutex_unlock(&group->mutex);
    *out = request;
    return AXLE_OK;
}

static void forget(axle_cl_group *group, axle_cl_request *request)
{
    axle_cl_request **at = &group->requests;
    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
    free(request);
}

static axle_status wait_for(axle_cl_request *request, int64_t timeout_ns, axle_error *error)
{
    axle_cl_group *group = request->group;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + timeout_ns;
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    int late = 0;
    pthread_mutex_lock(&group->mutex);
    const reader *r = &group->readers[request->peer];
    while (!request->done && !group->aborted && !r->broken && !late)
        late = pthread_cond_timedwait(&group->changed, &group->mutex, &until);
    axle_status status = request->done    ? AXLE_OK
                         : group->aborted ? fail(error, AXLE_ERR_INTERRUPTED, "aborted")
                         : r->broken      ? fail(error, AXLE_ERR_IO, "the connection is gone")
                                          : fail(error, AXLE_ERR_TIMEOUT, "timed out");
    if (!status)
        forget(group, request);
    pthread_mutex_unlock(&group->mutex);
    return status;
}

static axle_collective table = {.struct_size = sizeof(table),
                                .abi_major = AXLE_COLLECTIVE_ABI_MAJOR,
                                .abi_minor = AXLE_COLLECTIVE_ABI_MINOR,
                                .name = "sockets",
                                .version = "1",
                                .vendor = "Axle",
                                .license = "Apache-2.0",
                                .group_create = group_create,
                                .group_destroy = group_destroy,
                                .group_abort = group_abort,
                                .send = send_message,
                                .recv = recv_message,
                                .wait = wait_for};

AXLE_COLLECTIVE_DEFINE(host, error)
{
    services = host;
    const char *fault = getenv("SOCKETS_FAULT");
    if (fault && strcmp(fault, "declines") == 0) {
        fail(error, AXLE_ERR_DEVICE, "declines as it was asked to");
        return NULL;
    }
    if (fault && strcmp(fault, "lacks") == 0)
        table.wait = NULL;
    if (fault && strcmp(fault, "newer") == 0)
        table.abi_major++;
    return &table;
}
