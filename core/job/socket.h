/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets of the control connection. They close on exec, and in the child of a fork: a child that
 * held a copy would keep its parent's connections alive after the parent's end.
 */
#ifndef AXLE_JOB_SOCKET_H
#define AXLE_JOB_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AXLE__ADDRESS_TEXT = 64 };

/* Note an open descriptor as one of ours, to close it in children. Returns it; a negative one and
 * one that there is no memory to note are passed on. */
int axle__socket_adopt(int fd);
/* Close it. A negative one is fine. */
void axle__socket_close(int fd);

/*
 * Listen at `port`, 0 for any free one, and write the port to *bound. Where `host` is a numeric
 * loopback address, at that one; else at all addresses, because the name of this host often stands
 * for 127.0.1.1 in its own tables. AXLE_ERR_IO where the port is in use.
 */
int axle__socket_listen(const char *host, int port, int *fd, int *bound);
/* Make a socket that another program opened one like ours; its port goes into *port.
 * AXLE_ERR_INVALID where it is none that listens. */
int axle__socket_inherit(int fd, int *port);
/* A connection that waits at the listening socket; -1 and errno where there is none. */
int axle__socket_accept(int listener);
/* Two connected sockets. */
int axle__socket_pair(int fds[2]);

/*
 * One try to connect to any address of `host`, a name, a numeric address, or several with commas
 * between, until `deadline` at most. Returns a descriptor, or -1 with the reason in `reason`;
 * *unknown says whether no address is known for the name.
 */
int axle__socket_connect(const char *host, int port, int64_t deadline, char *reason, size_t size,
                         bool *unknown);

/* The numeric local address of a connected socket, "" where it has none; addresses of IPv4 look
 * like those even where the socket speaks IPv6. */
void axle__socket_local(int fd, char *address, size_t size);
bool axle__address_is_loopback(const char *address);

/* Wait for events of poll() on one descriptor, until `deadline`; 0 where there were none. */
int axle__socket_wait(int fd, int events, int64_t deadline);

#endif
