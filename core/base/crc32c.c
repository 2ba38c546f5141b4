/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crc32c.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* The polynomial, its bits reversed. */
static const uint32_t polynomial = 0x82f63b78u;

/* table[k][b]: what byte b contributes when k more bytes follow it in a step of eight. */
static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_table(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t value = b;
        for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? value >> 1 ^ polynomial : value >> 1;
        table[0][b] = value;
    }
    for (uint32_t b = 0; b < 256; b++)
        for (int k = 1; k < 8; k++)
            table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
}

static uint32_t step_of_eight(uint32_t sum, const unsigned char *byte)
{
    uint32_t next = 0;
    for (int k = 0; k < 4; k++)
        next ^= table[7 - k][(sum >> (8 * k) ^ byte[k]) & 0xff];
    for (int k = 4; k < 8; k++)
        next ^= table[7 - k][byte[k]];
    return next;
}

uint32_t axle__crc32c_plain(uint32_t before, const void *data, size_t size)
{
    const unsigned char *byte = data;
    uint32_t sum = ~before;
    pthread_once(&once, fill_table);
    for (; size >= 8; byte += 8, size -= 8)
        sum = step_of_eight(sum, byte);
    for (; size > 0; byte++, size--)
        sum = sum >> 8 ^ table[0][(sum ^ *byte) & 0xff];
    return ~sum;
}

#if defined(__x86_64__) && defined(__GNUC__)

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t before, const void *data,
                                                                 size_t size)
{
    const unsigned char *byte = data;
    uint64_t sum = ~before;
    for (; size >= 8; byte += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, byte, 8);
        sum = __builtin_ia32_crc32di(sum, word);
    }
    for (; size > 0; byte++, size--)
        sum = __builtin_ia32_crc32qi((uint32_t)sum, *byte);
    return ~(uint32_t)sum;
}

uint32_t axle__crc32c(uint32_t before, const void *data, size_t size)
{
    bool fast = __builtin_cpu_supports("sse4.2");
    return fast ? by_instruction(before, data, size) : axle__crc32c_plain(before, data, size);
}

#else

uint32_t axle__crc32c(uint32_t before, const void *data, size_t size)
{
    return axle__crc32c_plain(before, data, size);
}

#endif
