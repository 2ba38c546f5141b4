/* SPDX-License-Identifier: Apache-2.0 */
#include "job/owner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* The first bytes of a small file; "" where it cannot be read. */
static void read_start(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);
    text[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

/* The start of a process, field 22 of its stat; 0 where there is no such process, or it has ended
 * and only its status is kept. The second field, its name in brackets, may hold blanks and
 * brackets. */
static long long start_of(long pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    read_start(path, text, sizeof(text));
    const char *next = strrchr(text, ')');
    if (next && (strncmp(next, ") Z", 3) == 0 || strncmp(next, ") X", 3) == 0))
        return 0;
    for (int field = 2; next && field < 22; field++) {
        next = strchr(next, ' ');
        next += next != NULL;
    }
    return next ? strtoll(next, NULL, 10) : 0;
}

/* The boot of this host and a namespace of it. Blanks would end the word. */
static void place_of(const char *namespace, char *text, size_t size)
{
    char boot[64], link[64] = "";
    read_start("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
    boot[strcspn(boot, "\n ")] = '\0';
    ssize_t length = readlink(namespace, link, sizeof(link) - 1);
    link[length > 0 ? length : 0] = '\0';
    snprintf(text, size, "%s/%s", boot[0] ? boot : "?", link[0] ? link : "?");
}

void axle__owner_self(axle__owner *out)
{
    memset(out, 0, sizeof(*out));
    out->pid = (long)getpid();
    out->start = start_of(out->pid);
    if (gethostname(out->host, sizeof(out->host) - 1) != 0 || !out->host[0])
        snprintf(out->host, sizeof(out->host), "?");
    place_of("/proc/self/ns/pid", out->place, sizeof(out->place));
    place_of("/proc/self/ns/net", out->network, sizeof(out->network));
}

axle__life axle__owner_life(const axle__owner *owner)
{
    axle__owner self;
    axle__owner_self(&self);
    size_t boot = strcspn(self.place, "/");
    if (strcmp(owner->place, self.place) != 0) {
        /* A host of this name that was started anew since; names like "localhost" say nothing. */
        bool rebooted = strcmp(owner->host, self.host) == 0 &&
                        strncmp(owner->host, "localhost", 9) != 0 &&
                        strncmp(owner->place, self.place, boot + 1) != 0;
        return rebooted ? AXLE__LIFE_DEAD : AXLE__LIFE_UNKNOWN;
    }
    if (kill((pid_t)owner->pid, 0) != 0 && errno == ESRCH)
        return AXLE__LIFE_DEAD;
    long long start = start_of(owner->pid);
    return start == owner->start ? AXLE__LIFE_ALIVE : AXLE__LIFE_DEAD;
}

/* An address that leads here from another host, as text; false where it is none. */
static bool reachable(const struct ifaddrs *item, char *text, socklen_t size)
{
    if (!item->ifa_addr || !(item->ifa_flags & IFF_UP) || (item->ifa_flags & IFF_LOOPBACK))
        return false;
    if (item->ifa_addr->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)item->ifa_addr;
        return inet_ntop(AF_INET, &four->sin_addr, text, size) != NULL;
    }
    if (item->ifa_addr->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)item->ifa_addr;
        return !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) &&
               inet_ntop(AF_INET6, &six->sin6_addr, text, size) != NULL;
    }
    return false;
}

void axle__owner_addresses(char *text, size_t size)
{
    struct ifaddrs *list = NULL;
    char address[INET6_ADDRSTRLEN];
    axle__text out;
    axle__text_init(&out, text, size);
    if (getifaddrs(&list) == 0)
        for (const struct ifaddrs *item = list; item; item = item->ifa_next)
            if (reachable(item, address, sizeof(address)) &&
                out.length + strlen(address) + 2 < size)
                axle__text_add(&out, "%s%s", out.length ? "," : "", address);
    if (list)
        freeifaddrs(list);
    if (out.length == 0)
        axle__text_add(&out, "127.0.0.1");
}
