/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "job/rendezvous_kind.h"

#include <string.h>

#include "axle/status.h"

static const axle__rendezvous_kind *const kinds[] = {
    &axle__rendezvous_file,
#ifdef HAVE_HIREDIS
    &axle__rendezvous_redis,
#endif
};

/* What stands before an '@' may be a password. */
static const char *shown(const char *where)
{
    return strchr(where, '@') ? "(not shown)" : where;
}

int axle__rendezvous_open(const char *where, const char *job, int64_t deadline,
                          axle__rendezvous **out)
{
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        if (strncmp(where, kinds[k]->scheme, strlen(kinds[k]->scheme)) == 0)
            return kinds[k]->open(where, job, deadline, out);
    if (strncmp(where, "redis://", 8) == 0)
        return axle_error_set(AXLE_ERR_UNSUPPORTED,
                              "AXLE_RENDEZVOUS=%s: this build cannot talk to Redis; configure it "
                              "with --with-hiredis=yes",
                              shown(where));
    return axle_error_set(AXLE_ERR_INVALID,
                          "AXLE_RENDEZVOUS=%s is neither file:///folder nor redis://host",
                          shown(where));
}

int axle__rendezvous_publish(axle__rendezvous *rendezvous, int port)
{
    return rendezvous->kind->publish(rendezvous, port);
}

int axle__rendezvous_find(axle__rendezvous *rendezvous, char *hosts, size_t hosts_size, int *port,
                          char *reason, size_t reason_size)
{
    return rendezvous->kind->find(rendezvous, hosts, hosts_size, port, reason, reason_size);
}

void axle__rendezvous_close(axle__rendezvous *rendezvous)
{
    if (rendezvous)
        rendezvous->kind->close(rendezvous);
}
