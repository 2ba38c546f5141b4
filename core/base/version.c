/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "axle/status.h"

const char *axle_version(void)
{
    return PACKAGE_VERSION;
}
