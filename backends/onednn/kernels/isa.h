/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included first by every file of loops/. These files are compiled once for each instruction set,
 * told by LOOP_LEVEL: 0 is the baseline of the platform, 1 AVX2 with FMA, 2 AVX-512. The target is
 * set here and not by compiler flags, so that a build needs no per-platform makefile: where the
 * platform is not x86-64, levels 1 and 2 are empty.
 */
#ifndef AXLE_ONEDNN_ISA_H
#define AXLE_ONEDNN_ISA_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifndef LOOP_LEVEL
#define LOOP_LEVEL 0
#endif

#if LOOP_LEVEL == 0 || defined(__x86_64__)
#define LOOP_ENABLED 1
#else
#define LOOP_ENABLED 0
#endif

#if LOOP_LEVEL == 1 && LOOP_ENABLED
#define LOOP(name) name##_avx2
#define LOOP_VECTOR 8
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c,bmi,bmi2")
#endif
#elif LOOP_LEVEL == 2 && LOOP_ENABLED
#define LOOP(name) name##_avx512
#define LOOP_VECTOR 16
#if defined(__clang__)
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi,bmi2"))), \
    apply_to = function)
#else
#pragma GCC target(                                                                                \
    "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi,bmi2,prefer-vector-width=512")
#endif
#else
#define LOOP(name) name##_generic
#define LOOP_VECTOR 4
#endif

/* Closes what this header opened; the last line of every file of loops/. */
#if LOOP_LEVEL > 0 && LOOP_ENABLED && defined(__clang__)
#define LOOP_END _Pragma("clang attribute pop") extern const int LOOP(cpu_loop_end)
#else
#define LOOP_END extern const int LOOP(cpu_loop_end)
#endif

#define INLINE static inline __attribute__((always_inline, unused))
#define SIMD _Pragma("omp simd")

INLINE uint32_t f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

INLINE float f32_from(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

INLINE uint64_t f64_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

INLINE double f64_from(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

#endif
