/* SPDX-License-Identifier: Apache-2.0 */
#include "job/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "axle/status.h"
#include "base/clock.h"
#include "base/memory.h"
#include "job/socket_list.h"

/* One address gets this long, so that another has a chance before the deadline. */
#define TRY (3 * AXLE__SECOND)

enum { BACKLOG = 1024 };

int axle__socket_adopt(int fd)
{
    if (fd >= 0)
        axle__socket_list_add(fd);
    return fd;
}

void axle__socket_close(int fd)
{
    if (fd < 0)
        return;
    axle__socket_list_remove(fd);
    close(fd);
}

/* Messages are small and answers are waited for. */
static void set_up(int fd)
{
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* Whether `host` is a numeric loopback address; *out is that address and the port. */
static bool loopback_address(const char *host, int port, struct sockaddr_storage *out,
                             socklen_t *size)
{
    struct sockaddr_in *four = (struct sockaddr_in *)out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
    memset(out, 0, sizeof(*out));
    if (!axle__address_is_loopback(host))
        return false;
    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        *size = sizeof(*four);
        return true;
    }
    if (inet_pton(AF_INET6, host, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
        *size = sizeof(*six);
        return true;
    }
    return false;
}

/* Any address, of IPv6 and IPv4 where there is IPv6. */
static void any_address(bool six, int port, struct sockaddr_storage *out, socklen_t *size)
{
    memset(out, 0, sizeof(*out));
    if (six) {
        struct sockaddr_in6 *address = (struct sockaddr_in6 *)out;
        address->sin6_family = AF_INET6;
        address->sin6_port = htons((uint16_t)port);
        address->sin6_addr = in6addr_any;
        *size = sizeof(*address);
    } else {
        struct sockaddr_in *address = (struct sockaddr_in *)out;
        address->sin_family = AF_INET;
        address->sin_port = htons((uint16_t)port);
        address->sin_addr.s_addr = htonl(INADDR_ANY);
        *size = sizeof(*address);
    }
}

/* A socket that listens there; -1 and errno. */
static int listen_at(const struct sockaddr_storage *address, socklen_t size)
{
    int on = 1, off = 0;
    int fd = axle__socket_adopt(
        socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (address->ss_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, (const struct sockaddr *)address, size) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int reason = errno;
    axle__socket_close(fd);
    errno = reason;
    return -1;
}

static int port_of(int fd, int *port)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof(address);
    (void)getsockname(fd, (struct sockaddr *)&address, &size);
    if (address.ss_family == AF_INET)
        *port = ntohs(((struct sockaddr_in *)&address)->sin_port);
    else if (address.ss_family == AF_INET6)
        *port = ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    else
        return axle_error_set(AXLE_ERR_INVALID, "descriptor %d is no socket of IP", fd);
    return AXLE_OK;
}

int axle__socket_listen(const char *host, int port, int *fd, int *bound)
{
    struct sockaddr_storage address;
    socklen_t size;
    bool loopback = loopback_address(host, port, &address, &size);
    if (!loopback)
        any_address(true, port, &address, &size);
    int made = listen_at(&address, size);
    if (made < 0 && !loopback && errno != EADDRINUSE && errno != EACCES) {
        any_address(false, port, &address, &size);
        made = listen_at(&address, size);
    }
    if (made < 0 && errno == EADDRINUSE)
        return axle_error_set(AXLE_ERR_IO,
                              "port %d is in use on this host; choose another one with --main-port "
                              "or MASTER_PORT, 0 for any free one",
                              port);
    if (made < 0)
        return axle_error_set(AXLE_ERR_IO, "cannot listen at port %d: %s", port, strerror(errno));
    int code = port_of(made, bound);
    if (code) {
        axle__socket_close(made);
        return code;
    }
    *fd = made;
    return AXLE_OK;
}

int axle__socket_inherit(int fd, int *port)
{
    int listens = 0;
    socklen_t size = sizeof(listens);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens)
        return axle_error_set(AXLE_ERR_INVALID, "descriptor %d is no socket that listens", fd);
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return axle_error_set(AXLE_ERR_IO, "descriptor %d: %s", fd, strerror(errno));
    return port_of(fd, port);
}

int axle__socket_accept(int listener)
{
    int fd;
    do
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0)
        set_up(fd);
    return axle__socket_adopt(fd);
}

int axle__socket_pair(int fds[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0)
        return axle_error_set(AXLE_ERR_IO, "cannot make a pair of sockets: %s", strerror(errno));
    axle__socket_adopt(fds[0]);
    axle__socket_adopt(fds[1]);
    return AXLE_OK;
}

int axle__socket_wait(int fd, int events, int64_t deadline)
{
    for (;;) {
        struct pollfd item = {.fd = fd, .events = (short)events};
        int64_t now = axle__clock_ns();
        int ready = poll(&item, 1, axle__clock_poll_ms(now, deadline));
        if (ready > 0)
            return item.revents;
        if (ready < 0 && errno != EINTR)
            return 0;
        if (ready == 0 && axle__clock_ns() >= deadline)
            return 0;
    }
}

/* Connect to one address; -1 and errno. */
static int connect_to(const struct addrinfo *address, int64_t deadline)
{
    int failure = 0;
    socklen_t size = sizeof(failure);
    int fd = axle__socket_adopt(
        socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0)
        return -1;
    int64_t limit = axle__clock_after(axle__clock_ns(), TRY);
    if (connect(fd, address->ai_addr, address->ai_addrlen) != 0) {
        failure = errno;
        if (failure == EINPROGRESS || failure == EINTR) {
            failure = ETIMEDOUT;
            if (axle__socket_wait(fd, POLLOUT, limit < deadline ? limit : deadline) &&
                getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0)
                failure = errno;
        }
    }
    if (failure == 0) {
        set_up(fd);
        return fd;
    }
    axle__socket_close(fd);
    errno = failure;
    return -1;
}

/* A port among the ephemeral ones that nobody listens at may connect to itself. */
static bool is_own_end(int fd)
{
    struct sockaddr_storage a, b;
    socklen_t a_size = sizeof(a), b_size = sizeof(b);
    memset(&a, 0, sizeof(a));
    memset(&b, 0, sizeof(b));
    return getsockname(fd, (struct sockaddr *)&a, &a_size) == 0 &&
           getpeername(fd, (struct sockaddr *)&b, &b_size) == 0 && a_size == b_size &&
           memcmp(&a, &b, a_size) == 0;
}

/* As axle__socket_connect, for one name. */
static int connect_to_host(const char *host, int port, int64_t deadline, char *reason, size_t size,
                           bool *unknown)
{
    struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    char service[16];
    snprintf(service, sizeof(service), "%d", port);
    int code = getaddrinfo(host, service, &wanted, &found);
    if (code != 0) {
        snprintf(reason, size, "%s: %s", host, gai_strerror(code));
        *unknown = code == EAI_NONAME || code == EAI_FAIL;
        return -1;
    }
    *unknown = false;
    int fd = -1;
    for (struct addrinfo *address = found; address && fd < 0; address = address->ai_next) {
        fd = connect_to(address, deadline);
        if (fd >= 0 && is_own_end(fd)) {
            axle__socket_close(fd);
            fd = -1;
            errno = ECONNREFUSED;
        }
        if (fd < 0)
            snprintf(reason, size, "%s", strerror(errno));
    }
    freeaddrinfo(found);
    return fd;
}

int axle__socket_connect(const char *host, int port, int64_t deadline, char *reason, size_t size,
                         bool *unknown)
{
    bool none_known = true;
    snprintf(reason, size, "no host is named");
    while (*host) {
        size_t length = strcspn(host, ",");
        char name[256];
        if (length > 0 && length < sizeof(name)) {
            memcpy(name, host, length);
            name[length] = '\0';
            bool this_unknown = false;
            int fd = connect_to_host(name, port, deadline, reason, size, &this_unknown);
            if (fd >= 0)
                return fd;
            none_known = none_known && this_unknown;
        }
        host += length;
        host += *host == ',';
    }
    *unknown = none_known;
    return -1;
}

static void write_address(const struct sockaddr_storage *address, char *text, size_t size)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
    text[0] = '\0';
    if (address->ss_family == AF_INET)
        inet_ntop(AF_INET, &four->sin_addr, text, (socklen_t)size);
    else if (address->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
        inet_ntop(AF_INET, six->sin6_addr.s6_addr + 12, text, (socklen_t)size);
    else if (address->ss_family == AF_INET6)
        inet_ntop(AF_INET6, &six->sin6_addr, text, (socklen_t)size);
}

void axle__socket_local(int fd, char *address, size_t size)
{
    struct sockaddr_storage name = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof(name);
    address[0] = '\0';
    if (getsockname(fd, (struct sockaddr *)&name, &length) == 0)
        write_address(&name, address, size);
}

bool axle__address_is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}
