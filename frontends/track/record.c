/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

/* CRC-32C (Castagnoli) of RFC 3720, bits reversed. Events are small: a bit at a time will do. */
static uint32_t crc32c(const uint8_t *data, size_t size)
{
    uint32_t crc = ~(uint32_t)0;
    for (size_t k = 0; k < size; k++) {
        crc ^= data[k];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0x82f63b78U & (0U - (crc & 1U)));
    }
    return ~crc;
}

static void put(uint8_t *to, uint64_t value, int bytes)
{
    for (int k = 0; k < bytes; k++)
        to[k] = (uint8_t)(value >> (8 * k));
}

static void put_checksum(uint8_t *to, const uint8_t *data, size_t size)
{
    uint32_t crc = crc32c(data, size);
    put(to, ((crc >> 15) | (crc << 17)) + 0xa282ead8U, 4);
}

void record_frame(uint8_t *buffer, size_t size)
{
    put(buffer, size, 8);
    put_checksum(buffer + 8, buffer, 8);
    put_checksum(buffer + RECORD_HEAD + size, buffer + RECORD_HEAD, size);
}
