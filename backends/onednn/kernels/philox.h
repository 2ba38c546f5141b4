/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), many counters
 * at a time: the same ten rounds run on every lane of a vector.
 */
#ifndef AXLE_ONEDNN_PHILOX_H
#define AXLE_ONEDNN_PHILOX_H

#include "isa.h"

enum { PHILOX_LANES = LOOP_VECTOR / 2, PHILOX_BLOCKS = 16, PHILOX_WORDS = 4 * PHILOX_BLOCKS };

/* Words live in the low halves of 64-bit lanes; what the high halves hold does not matter. */
typedef uint64_t philox_vector __attribute__((vector_size(8 * LOOP_VECTOR / 2)));

/* The full product of the low halves. Compilers do not find this instruction by themselves. */
INLINE philox_vector philox_multiply(philox_vector a, uint32_t b)
{
    const philox_vector factor = (philox_vector){0} + b;
#if LOOP_LEVEL == 2 && defined(__x86_64__)
    return (philox_vector)_mm512_mul_epu32((__m512i)a, (__m512i)factor);
#elif LOOP_LEVEL == 1 && defined(__x86_64__)
    return (philox_vector)_mm256_mul_epu32((__m256i)a, (__m256i)factor);
#elif defined(__x86_64__)
    return (philox_vector)_mm_mul_epu32((__m128i)a, (__m128i)factor);
#else
    return (a & UINT32_MAX) * factor;
#endif
}

#if LOOP_VECTOR == 16
#define PHILOX_NUMBERS 0, 1, 2, 3, 4, 5, 6, 7
#define PHILOX_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define PHILOX_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#elif LOOP_VECTOR == 8
#define PHILOX_NUMBERS 0, 1, 2, 3
#define PHILOX_LOW 0, 4, 1, 5
#define PHILOX_HIGH 2, 6, 3, 7
#else
#define PHILOX_NUMBERS 0, 1
#define PHILOX_LOW 0, 2
#define PHILOX_HIGH 1, 3
#endif

#if defined(__clang__)
#define PHILOX_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PHILOX_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (philox_vector){__VA_ARGS__})
#endif

/* The words of one vector of blocks, in order. */
INLINE void philox_store(philox_vector c0, philox_vector c1, philox_vector c2, philox_vector c3,
                         uint32_t *out)
{
    const philox_vector first = (c0 & UINT32_MAX) | (c1 << 32);
    const philox_vector second = (c2 & UINT32_MAX) | (c3 << 32);
    const philox_vector low = PHILOX_SHUFFLE(first, second, PHILOX_LOW);
    const philox_vector high = PHILOX_SHUFFLE(first, second, PHILOX_HIGH);
    memcpy(out, &low, sizeof(low));
    memcpy(out + 2 * PHILOX_LANES, &high, sizeof(high));
}

/* Two vectors of blocks at a time keep the multiplier busy. */
INLINE void philox_two_vectors(uint64_t seed, uint64_t counter, uint32_t *out)
{
    const philox_vector numbers = {PHILOX_NUMBERS};
    philox_vector a0 = numbers + counter, a1 = a0 >> 32, a2 = {0}, a3 = {0};
    philox_vector b0 = a0 + PHILOX_LANES, b1 = b0 >> 32, b2 = {0}, b3 = {0};
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; round++) {
        const philox_vector pa = philox_multiply(a0, 0xD2511F53u);
        const philox_vector qa = philox_multiply(a2, 0xCD9E8D57u);
        const philox_vector pb = philox_multiply(b0, 0xD2511F53u);
        const philox_vector qb = philox_multiply(b2, 0xCD9E8D57u);
        a0 = (qa >> 32) ^ a1 ^ key0;
        b0 = (qb >> 32) ^ b1 ^ key0;
        a2 = (pa >> 32) ^ a3 ^ key1;
        b2 = (pb >> 32) ^ b3 ^ key1;
        a1 = qa;
        b1 = qb;
        a3 = pa;
        b3 = pb;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    philox_store(a0, a1, a2, a3, out);
    philox_store(b0, b1, b2, b3, out + 4 * PHILOX_LANES);
}

/* PHILOX_BLOCKS blocks that follow each other, as PHILOX_WORDS words in order. */
INLINE void philox_group(uint64_t seed, uint64_t counter, uint32_t *out)
{
    for (int block = 0; block < PHILOX_BLOCKS; block += 2 * PHILOX_LANES)
        philox_two_vectors(seed, counter + (uint64_t)block, out + 4 * block);
}

#endif
