/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/random.h"

#include <math.h>

static _Thread_local axle_random_state state;

static void multiply(uint32_t a, uint32_t b, uint32_t *high, uint32_t *low)
{
    uint64_t product = (uint64_t)a * b;
    *high = (uint32_t)(product >> 32);
    *low = (uint32_t)product;
}

void axle__philox(uint64_t seed, uint64_t counter, uint32_t out[4])
{
    uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = 0, c3 = 0;
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint32_t high0, low0, high1, low1;
        multiply(0xD2511F53u, c0, &high0, &low0);
        multiply(0xCD9E8D57u, c2, &high1, &low1);
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

double axle__philox_uniform(uint64_t seed, uint64_t element)
{
    uint32_t block[4];
    axle__philox(seed, element / 4, block);
    return (double)(block[element % 4] >> 8) * 0x1p-24;
}

/* A key for (seed, update, draw): two rounds of a 64-bit mixer (Steele et al., 2014). */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t axle__random_next_key(void)
{
    uint64_t key = mixed(state.seed + UINT64_C(0x9e3779b97f4a7c15));
    key = mixed(key + state.update);
    return mixed(key ^ (state.draw++ * UINT64_C(0xd1342543de82ef95)));
}

void axle__random_uniform(uint64_t key, uint64_t first, double *out, int64_t n)
{
    uint32_t block[4];
    for (int64_t i = 0; i < n; i++) {
        uint64_t number = first + (uint64_t)i;
        if (i == 0 || number % 4 == 0)
            axle__philox(key, number / 4, block);
        out[i] = (double)(block[number % 4] >> 8) * 0x1p-24;
    }
}

/* Normals 2 * pair and 2 * pair + 1 of a draw (Box and Muller). */
static void normal_pair(uint64_t key, uint64_t pair, double out[2])
{
    uint32_t block[4];
    axle__philox(key, pair, block);
    /* 32 bits a uniform, moved off zero, so that the logarithm is finite. */
    double u = ((double)block[0] + 0.5) * 0x1p-32, v = (double)block[1] * 0x1p-32;
    double radius = sqrt(-2.0 * log(u)), angle = 6.283185307179586 * v;
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}

void axle__random_normal(uint64_t key, uint64_t first, double *out, int64_t n)
{
    double pair[2] = {0.0, 0.0};
    for (int64_t i = 0; i < n; i++) {
        uint64_t number = first + (uint64_t)i;
        if (i == 0 || number % 2 == 0)
            normal_pair(key, number / 2, pair);
        out[i] = pair[number % 2];
    }
}

void axle__random_normal_from(uint64_t first, double *out, int64_t n)
{
    axle__random_normal(axle__random_next_key(), first, out, n);
}

uint64_t axle__random_first(int rank, const int64_t *dims)
{
    uint64_t a_row = 1;
    for (int k = 1; k < rank; k++)
        a_row *= (uint64_t)dims[k];
    return rank > 0 ? (uint64_t)state.row * a_row : 0;
}

void axle_seed(uint64_t seed)
{
    state = (axle_random_state){.seed = seed};
}

axle_random_state axle_random_get(void)
{
    return state;
}

void axle_random_set(axle_random_state wanted)
{
    state = wanted;
}

void axle_random_block(uint64_t seed, uint64_t counter, uint32_t out[4])
{
    axle__philox(seed, counter, out);
}
