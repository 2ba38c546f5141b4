/* SPDX-License-Identifier: Apache-2.0 */
/* Rows added to rows. */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"

/* `wide` is the type in which sums of the type are taken: integers wrap. */
#define DEFINE_ADD(type, wide)                                                                     \
    static void add_##type(const void *from, int64_t x_step, void *to, int64_t y_step, int64_t n)  \
    {                                                                                              \
        const type *x = from;                                                                      \
        type *y = to;                                                                              \
        if (x_step == 1 && y_step == 1) {                                                          \
            SIMD for (int64_t i = 0; i < n; i++) y[i] = (type)((wide)y[i] + (wide)x[i]);           \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++)                                                        \
                y[i * y_step] = (type)((wide)y[i * y_step] + (wide)x[i * x_step]);                 \
        }                                                                                          \
    }
DEFINE_ADD(float, float)
DEFINE_ADD(double, double)
DEFINE_ADD(uint8_t, uint32_t)
DEFINE_ADD(int32_t, uint32_t)
DEFINE_ADD(int64_t, uint64_t)

const struct index_loops LOOP(cpu_index_loops) = {
    .add =
        {
            [AXLE_DTYPE_F32] = add_float,
            [AXLE_DTYPE_F64] = add_double,
            [AXLE_DTYPE_U8] = add_uint8_t,
            [AXLE_DTYPE_I32] = add_int32_t,
            [AXLE_DTYPE_I64] = add_int64_t,
        },
};
#endif
LOOP_END;
