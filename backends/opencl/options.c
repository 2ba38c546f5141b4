/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of the backend, given as in AXLE_OPTIONS=opencl.max_local=64:
 *   opencl.max_alloc   most bytes of a buffer
 *   opencl.max_local   most work-items of a work-group
 *   opencl.product     candidates for products, joined by +: plain, vector, tiled, clblast; for
 *                      attention the first two count
 *   opencl.tune        0 takes the first candidate that fits instead of the fastest
 *   opencl.selftest    0 leaves out the self-test at the first open of a device
 */
#include "opencl.h"

#include <errno.h>
#include <stdlib.h>

const char ocl_option_names[] =
    "opencl.max_alloc\nopencl.max_local\nopencl.product\nopencl.tune\nopencl.selftest";

long ocl_option_number(const char *key, long absent)
{
    const char *text =
        AXLE_HAS(ocl_host, axle_host, option) ? ocl_host->option(ocl_host->ctx, key) : NULL;
    char *end;
    if (!text || !*text)
        return absent;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno == 0 && *end == '\0' && value >= 0)
        return value;
    ocl_log(AXLE_LOG_WARN, "option %s: '%s' is no number and is ignored", key, text);
    return absent;
}
