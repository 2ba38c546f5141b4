/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

uint64_t axle__hash(uint64_t before, const void *data, uint64_t size)
{
    const unsigned char *byte = data;
    uint64_t value = before;
    for (uint64_t k = 0; k < size; k++)
        value = (value ^ byte[k]) * UINT64_C(0x100000001b3);
    return value;
}
