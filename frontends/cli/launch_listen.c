/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "launch_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A job of one host listens on the loopback interface alone, unless an address was given. Others
 * listen everywhere, for names of the main host that it resolves itself to 127.0.1.1. */
static socklen_t address_of(const launch_plan *plan, int family, struct sockaddr_storage *out)
{
    memset(out, 0, sizeof(*out));
    if (family == AF_INET6) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
        in6->sin6_family = AF_INET6;
        in6->sin6_addr = in6addr_any;
        in6->sin6_port = htons((uint16_t)plan->port);
        return sizeof(*in6);
    }
    struct sockaddr_in *in = (struct sockaddr_in *)out;
    bool local = plan->hosts == 1 && !plan->values.main_address;
    in->sin_family = AF_INET;
    in->sin_addr.s_addr = htonl(local ? INADDR_LOOPBACK : INADDR_ANY);
    in->sin_port = htons((uint16_t)plan->port);
    return sizeof(*in);
}

/* Returns the socket, or -1 with errno. */
static int open_socket(const launch_plan *plan, int family)
{
    struct sockaddr_storage address;
    socklen_t size = address_of(plan, family, &address);
    int on = 1, off = 0, descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return -1;
    /* The port of a job that has just ended is not in use, although the system remembers it. */
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (family == AF_INET6)
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(descriptor, (struct sockaddr *)&address, size) == 0 &&
        listen(descriptor, SOMAXCONN) == 0)
        return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

static int port_of(int descriptor)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    if (getsockname(descriptor, (struct sockaddr *)&address, &size) != 0)
        return -1;
    return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                               : ((struct sockaddr_in *)&address)->sin_port);
}

int launch_listen(launch_plan *plan, int *descriptor)
{
    *descriptor = -1;
    if (plan->host != 0 || !plan->address)
        return -1;
    bool local = plan->hosts == 1 && !plan->values.main_address;
    int opened = local ? -1 : open_socket(plan, AF_INET6);
    /* There may be no IPv6. */
    if (opened < 0 && (local || errno != EADDRINUSE))
        opened = open_socket(plan, AF_INET);
    if (opened < 0 && errno == EADDRINUSE)
        return command_error(
            &launch_command,
            "port %d is in use on this host; choose another one with --main-port%s", plan->port,
            plan->hosts == 1 ? ", or 0 for any" : "");
    if (opened < 0)
        return command_error(&launch_command, "--main-port %d: %s", plan->port, strerror(errno));
    plan->port = port_of(opened);
    *descriptor = opened;
    return -1;
}
