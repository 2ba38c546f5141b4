/* SPDX-License-Identifier: Apache-2.0 */
/* A transport for tests: the one at $GLOO, which turns a bit in the last byte of large messages. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "axle/collective.h"

enum { LARGE = 1000000, MOST = 4096 };

static const axle_collective *inner;

/* Large messages under way. */
static struct {
    const axle_cl_request *request;
    unsigned char *last;
} received[MOST];

static axle_status receive(axle_cl_group *group, int32_t peer, uint64_t tag, void *data,
                           uint64_t size, axle_cl_request **out, axle_error *error)
{
    axle_status status = inner->recv(group, peer, tag, data, size, out, error);
    for (int k = 0; k < MOST && !status && size > LARGE; k++)
        if (!received[k].request) {
            received[k].request = *out;
            received[k].last = (unsigned char *)data + size - 1;
            break;
        }
    return status;
}

static axle_status wait_for(axle_cl_request *request, int64_t timeout_ns, axle_error *error)
{
    axle_status status = inner->wait(request, timeout_ns, error);
    for (int k = 0; k < MOST; k++)
        if (received[k].request == request) {
            received[k].request = NULL;
            *received[k].last ^= 1;
            break;
        }
    return status;
}

AXLE_COLLECTIVE_DEFINE(host, error)
{
    static axle_collective table;
    const char *path = getenv("GLOO");
    void *module = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = module ? dlsym(module, AXLE_COLLECTIVE_ENTRY) : NULL;
    axle_collective_init_fn init;
    if (!symbol)
        return NULL;
    *(void **)&init = symbol;
    inner = init(host, error);
    if (!inner)
        return NULL;
    table = *inner;
    table.name = "disturbed";
    table.recv = receive;
    table.wait = wait_for;
    return &table;
}
