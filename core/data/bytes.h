/* SPDX-License-Identifier: Apache-2.0 */
/* The order of bytes in files. */
#ifndef AXLE_DATA_BYTES_H
#define AXLE_DATA_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool axle__host_is_big_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

/* Reverse the bytes of each of `count` elements of `size` bytes. */
static inline void axle__swap_bytes(void *data, size_t count, size_t size)
{
    unsigned char *element = data;
    for (size_t k = 0; k < count; k++, element += size)
        for (size_t low = 0, high = size - 1; low < high; low++, high--) {
            unsigned char byte = element[low];
            element[low] = element[high];
            element[high] = byte;
        }
}

static inline uint32_t axle__big_endian_32(const unsigned char bytes[4])
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

#endif
