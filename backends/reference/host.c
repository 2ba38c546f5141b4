/* SPDX-License-Identifier: Apache-2.0 */
/* Services of the host, and what to do without those it lacks. */
#include "reference.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

axle_status ref_fail(axle_error *error, axle_status code, const char *format, ...)
{
    if (!error)
        return code;
    if (error->struct_size >= AXLE_FIELD_END(axle_error, code))
        error->code = code;
    if (AXLE_HAS(error, axle_error, message) && error->message_capacity > 0) {
        va_list args;
        va_start(args, format);
        vsnprintf(error->message, error->message_capacity, format, args);
        va_end(args);
    }
    return code;
}

enum { ALIGN = 64 };

void *ref_alloc(const axle_host *host, uint64_t size)
{
    const uint64_t rounded = size / ALIGN * ALIGN + ALIGN;
    if (rounded < size || rounded > SIZE_MAX)
        return NULL;
    if (AXLE_HAS(host, axle_host, alloc) && AXLE_HAS(host, axle_host, free))
        return host->alloc(host->ctx, rounded, ALIGN);
    return aligned_alloc(ALIGN, rounded);
}

void ref_free(const axle_host *host, void *p)
{
    if (!p)
        return;
    if (AXLE_HAS(host, axle_host, alloc) && AXLE_HAS(host, axle_host, free))
        host->free(host->ctx, p);
    else
        free(p);
}

void ref_parallel(const ref_call *call, int64_t n, int64_t grain, axle_body body, void *arg)
{
    const axle_host *host = call->host;
    if (n <= 0)
        return;
    if (n <= grain || !AXLE_HAS(host, axle_host, parallel_for))
        body(arg, 0, n, 0);
    else
        host->parallel_for(host->ctx, n, grain > 0 ? grain : 1, body, arg);
}
