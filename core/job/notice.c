/* SPDX-License-Identifier: Apache-2.0 */
#include "job/notice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"
#include "base/clock.h"
#include "base/memory.h"
#include "job/socket.h"

#define PROBE (2 * AXLE__SECOND)

char *axle__notice_compose(const char *job, int port)
{
    axle__owner self;
    char hosts[512];
    axle__owner_self(&self);
    axle__owner_addresses(hosts, sizeof(hosts));
    return axle__format("axle rendezvous 1\njob %s\nhosts %s\nport %d\nprocess %ld %lld\nhost %s\n"
                        "place %s\nnetwork %s\nend\n",
                        job, hosts, port, self.pid, self.start, self.host, self.place,
                        self.network);
}

/* The rest of the line that begins with `key`, cut to `size`; false where there is none, or it does
 * not fit. */
static bool line_of(const char *text, const char *key, char *value, size_t size)
{
    size_t key_length = strlen(key);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, key, key_length) != 0 || line[key_length] != ' ')
            continue;
        const char *rest = line + key_length + 1;
        size_t length = strcspn(rest, "\n");
        if (length >= size)
            return false;
        memcpy(value, rest, length);
        value[length] = '\0';
        return true;
    }
    return false;
}

bool axle__notice_parse(const char *text, axle__notice *out)
{
    char port[16], process[64], *end;
    size_t length = strlen(text);
    memset(out, 0, sizeof(*out));
    if (length < 5 || strcmp(text + length - 5, "\nend\n") != 0 ||
        strncmp(text, "axle rendezvous 1\n", 18) != 0)
        return false;
    if (!line_of(text, "job", out->job, sizeof(out->job)) ||
        !line_of(text, "hosts", out->hosts, sizeof(out->hosts)) ||
        !line_of(text, "port", port, sizeof(port)) ||
        !line_of(text, "process", process, sizeof(process)) ||
        !line_of(text, "host", out->owner.host, sizeof(out->owner.host)) ||
        !line_of(text, "place", out->owner.place, sizeof(out->owner.place)) ||
        !line_of(text, "network", out->owner.network, sizeof(out->owner.network)))
        return false;
    out->port = (int)strtol(port, NULL, 10);
    out->owner.pid = strtol(process, &end, 10);
    out->owner.start = strtoll(end, NULL, 10);
    return out->port > 0 && out->port < 65536 && out->owner.pid > 0;
}

static bool is_same_network(const axle__notice *notice)
{
    axle__owner self;
    axle__owner_self(&self);
    return strcmp(notice->owner.network, self.network) == 0;
}

const char *axle__notice_read(const char *text, const char *job, axle__notice *out)
{
    if (!axle__notice_parse(text, out))
        return "it is not whole";
    if (strcmp(out->job, job) != 0)
        return "it is another job's";
    return axle__owner_life(&out->owner) == AXLE__LIFE_DEAD ? "a dead job left it behind" : NULL;
}

const char *axle__notice_hosts(const axle__notice *notice)
{
    return is_same_network(notice) ? "127.0.0.1" : notice->hosts;
}

axle__life axle__notice_life(const axle__notice *notice, int64_t deadline)
{
    char reason[256];
    bool unknown;
    axle__life life = axle__owner_life(&notice->owner);
    if (life != AXLE__LIFE_UNKNOWN)
        return life;
    int64_t limit = axle__clock_ns() + PROBE;
    int fd = axle__socket_connect(notice->hosts, notice->port, limit < deadline ? limit : deadline,
                                  reason, sizeof(reason), &unknown);
    if (fd >= 0) {
        axle__socket_close(fd);
        return AXLE__LIFE_ALIVE;
    }
    return strcmp(reason, strerror(ECONNREFUSED)) == 0 ? AXLE__LIFE_DEAD : AXLE__LIFE_UNKNOWN;
}

int axle__notice_busy(const axle__notice *notice, axle__life life, const char *where)
{
    const axle__owner *owner = &notice->owner;
    if (life == AXLE__LIFE_ALIVE)
        return axle_error_set(AXLE_ERR_BUSY,
                              "job '%s' is meeting already: its rank 0 is process %ld on %s; give "
                              "this job another name (AXLE_JOB), or end that one (%s)",
                              notice->job, owner->pid, owner->host, where);
    return axle_error_set(AXLE_ERR_BUSY,
                          "job '%s' may be meeting already, by process %ld on %s, which cannot be "
                          "reached; if it is over, delete %s",
                          notice->job, owner->pid, owner->host, where);
}
