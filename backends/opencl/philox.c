/* SPDX-License-Identifier: Apache-2.0 */
/* The host's Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011), which the self-test compares. */
#include "opencl.h"

double ocl_philox_uniform(uint64_t seed, uint64_t element)
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    uint32_t c[4] = {(uint32_t)(element / 4), (uint32_t)(element / 4 >> 32), 0, 0};
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];
        c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
        c[1] = (uint32_t)p1;
        c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
        c[3] = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (c[element % 4] >> 8) * 0x1p-24;
}
