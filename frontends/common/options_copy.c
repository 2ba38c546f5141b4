/* SPDX-License-Identifier: Apache-2.0 */
#include "options_copy.h"

#include <string.h>

#include "axle/status.h"

int options_copy(const char *who, const void *given, void *options, size_t size)
{
    size_t known;
    if (!given)
        return AXLE_OK;
    memcpy(&known, given, sizeof(known));
    if (known < sizeof(known))
        return axle_error_set(AXLE_ERR_INVALID,
                              "%s: struct_size of the options is %zu; start from their _INIT", who,
                              known);
    memcpy(options, given, known < size ? known : size);
    memcpy(options, &size, sizeof(size));
    return AXLE_OK;
}
