/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object with the entry of an interface that is yet to come. */
#include "axle/types.h"

AXLE_API const void *axle_plugin_init_v2(const void *host, void *error);
const void *axle_plugin_init_v2(const void *host, void *error)
{
    (void)host;
    (void)error;
    return NULL;
}
