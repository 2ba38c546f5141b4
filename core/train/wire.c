/* SPDX-License-Identifier: Apache-2.0 */
#include "train/wire.h"

#include "axle/types.h"
#include "group/half.h"

#define AXLE__WIRE_LOOPS(half, type, name)                                                         \
    static void pack_##half##_##name(const void *from, double factor, uint16_t *to, uint64_t n)    \
    {                                                                                              \
        const type *x = from;                                                                      \
        for (uint64_t i = 0; i < n; i++)                                                           \
            to[i] = axle__##half##_narrow(factor * (double)x[i]);                                  \
    }                                                                                              \
    static void unpack_##half##_##name(const uint16_t *from, void *to, uint64_t n)                 \
    {                                                                                              \
        type *x = to;                                                                              \
        for (uint64_t i = 0; i < n; i++)                                                           \
            x[i] = (type)axle__##half##_widen(from[i]);                                            \
    }

AXLE__WIRE_LOOPS(bf16, float, f32)
AXLE__WIRE_LOOPS(bf16, double, f64)
AXLE__WIRE_LOOPS(f16, float, f32)
AXLE__WIRE_LOOPS(f16, double, f64)

typedef struct loops {
    void (*pack)(const void *from, double factor, uint16_t *to, uint64_t n);
    void (*unpack)(const uint16_t *from, void *to, uint64_t n);
} loops;

static const loops *loops_of(int wire, int dtype)
{
    static const loops table[2][2] = {
        {{pack_bf16_f32, unpack_bf16_f32}, {pack_bf16_f64, unpack_bf16_f64}},
        {{pack_f16_f32, unpack_f16_f32}, {pack_f16_f64, unpack_f16_f64}},
    };
    return &table[wire == AXLE_DTYPE_F16][dtype == AXLE_DTYPE_F64];
}

void axle__wire_pack(int wire, int dtype, const void *from, double factor, uint16_t *to,
                     uint64_t count)
{
    loops_of(wire, dtype)->pack(from, factor, to, count);
}

void axle__wire_unpack(int wire, const uint16_t *from, int dtype, void *to, uint64_t count)
{
    loops_of(wire, dtype)->unpack(from, to, count);
}
