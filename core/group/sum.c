/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of f32, of which nearly all gradients are made: this loop runs beside backward and takes
 * its time from it. All operands of an element are added in registers, in f64 and in their order,
 * so that the bits are those of any other loop that does the same.
 */
#include <string.h>

#include "group/combine.h"

/* Bytes of a vector register pair of f64; compilers cut it to what the processor has. */
enum { WIDTH = 8 };
typedef float floats __attribute__((vector_size(WIDTH * sizeof(float))));
typedef double doubles __attribute__((vector_size(WIDTH * sizeof(double))));

static inline __attribute__((always_inline)) uint64_t
add_vectors(const float *const *parts, int part_count, double scale, float *out, uint64_t count)
{
    uint64_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH) {
        floats narrow;
        memcpy(&narrow, parts[0] + i, sizeof(narrow));
        doubles sum = __builtin_convertvector(narrow, doubles);
        for (int p = 1; p < part_count; p++) {
            memcpy(&narrow, parts[p] + i, sizeof(narrow));
            sum += __builtin_convertvector(narrow, doubles);
        }
        narrow = __builtin_convertvector(sum * scale, floats);
        memcpy(out + i, &narrow, sizeof(narrow));
    }
    return i;
}

/* Of two, the usual number, so that nothing is left of the inner loop. */
static inline __attribute__((always_inline)) uint64_t
add_any(const float *const *parts, int part_count, double scale, float *out, uint64_t count)
{
    if (part_count != 2)
        return add_vectors(parts, part_count, scale, out, count);
    const float *const pair[] = {parts[0], parts[1]};
    return add_vectors(pair, 2, scale, out, count);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static uint64_t add_avx2(const float *const *parts, int part_count,
                                                         double scale, float *out, uint64_t count)
{
    return add_any(parts, part_count, scale, out, count);
}
#endif

static uint64_t add_most(const float *const *parts, int part_count, double scale, float *out,
                         uint64_t count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return add_avx2(parts, part_count, scale, out, count);
#endif
    return add_any(parts, part_count, scale, out, count);
}

void axle__sum_f32(const void *const *parts, int part_count, double scale, float *out,
                   uint64_t count)
{
    const float *const *operands = (const float *const *)parts;
    for (uint64_t i = add_most(operands, part_count, scale, out, count); i < count; i++) {
        double sum = operands[0][i];
        for (int p = 1; p < part_count; p++)
            sum += operands[p][i];
        out[i] = (float)(sum * scale);
    }
}
