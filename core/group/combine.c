/* SPDX-License-Identifier: Apache-2.0 */
#include "group/combine.h"

#include <stdbool.h>

#include "axle/backend_ops.h"
#include "axle/status.h"
#include "group/half.h"

/* Numbers of more than a register's width at a time, kept in the nearest cache. */
enum { BLOCK = 512 };

typedef struct combination {
    int reduction, part_count;
    const void *const *parts;
    double scale;
    void *out;
} combination;

static double max_of(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

static double min_of(double a, double b)
{
    return isnan(a) || a < b ? a : b;
}

/* The loops over one block; f64 accumulators are filled part by part, so that each is a loop
 * without branches. */
#define AXLE__COMBINE_FLOAT(name, type, widen, narrow)                                             \
    static void combine_##name(const combination *c, uint64_t first, int count)                    \
    {                                                                                              \
        double sum[BLOCK];                                                                         \
        for (int p = 0; p < c->part_count; p++) {                                                  \
            const type *part = (const type *)c->parts[p] + first;                                  \
            if (p == 0)                                                                            \
                for (int i = 0; i < count; i++)                                                    \
                    sum[i] = widen(part[i]);                                                       \
            else if (c->reduction == AXLE_REDUCE_MAX)                                              \
                for (int i = 0; i < count; i++)                                                    \
                    sum[i] = max_of(sum[i], widen(part[i]));                                       \
            else if (c->reduction == AXLE_REDUCE_MIN)                                              \
                for (int i = 0; i < count; i++)                                                    \
                    sum[i] = min_of(sum[i], widen(part[i]));                                       \
            else                                                                                   \
                for (int i = 0; i < count; i++)                                                    \
                    sum[i] += widen(part[i]);                                                      \
        }                                                                                          \
        type *out = (type *)c->out + first;                                                        \
        if (c->scale != 1.0)                                                                       \
            for (int i = 0; i < count; i++)                                                        \
                sum[i] *= c->scale;                                                                \
        for (int i = 0; i < count; i++)                                                            \
            out[i] = narrow(sum[i]);                                                               \
    }

#define AXLE__COMBINE_INTEGER(name, type)                                                          \
    static void combine_##name(const combination *c, uint64_t first, int count)                    \
    {                                                                                              \
        for (int i = 0; i < count; i++) {                                                          \
            int64_t value = ((const type *)c->parts[0])[first + (uint64_t)i];                      \
            for (int p = 1; p < c->part_count; p++) {                                              \
                int64_t other = ((const type *)c->parts[p])[first + (uint64_t)i];                  \
                if (c->reduction == AXLE_REDUCE_MAX)                                               \
                    value = other > value ? other : value;                                         \
                else if (c->reduction == AXLE_REDUCE_MIN)                                          \
                    value = other < value ? other : value;                                         \
                else                                                                               \
                    value = (int64_t)((uint64_t)value + (uint64_t)other);                          \
            }                                                                                      \
            ((type *)c->out)[first + (uint64_t)i] = (type)value;                                   \
        }                                                                                          \
    }

#define AXLE__AS_IS(x) ((double)(x))
#define AXLE__TO_FLOAT(x) ((float)(x))
AXLE__COMBINE_FLOAT(f32, float, AXLE__AS_IS, AXLE__TO_FLOAT)
AXLE__COMBINE_FLOAT(f64, double, AXLE__AS_IS, AXLE__AS_IS)
AXLE__COMBINE_FLOAT(f16, uint16_t, axle__f16_widen, axle__f16_narrow)
AXLE__COMBINE_FLOAT(bf16, uint16_t, axle__bf16_widen, axle__bf16_narrow)
AXLE__COMBINE_INTEGER(u8, uint8_t)
AXLE__COMBINE_INTEGER(i32, int32_t)
AXLE__COMBINE_INTEGER(i64, int64_t)

static const struct {
    void (*fn)(const combination *c, uint64_t first, int count);
} table[] = {
    [AXLE_DTYPE_F32] = {combine_f32},   [AXLE_DTYPE_F16] = {combine_f16},
    [AXLE_DTYPE_BF16] = {combine_bf16}, [AXLE_DTYPE_F64] = {combine_f64},
    [AXLE_DTYPE_U8] = {combine_u8},     [AXLE_DTYPE_I32] = {combine_i32},
    [AXLE_DTYPE_I64] = {combine_i64},   [AXLE_DTYPE_BOOL] = {combine_u8},
};
enum { TABLE = sizeof(table) / sizeof(table[0]) };

static bool is_ordered(int reduction)
{
    return reduction == AXLE_REDUCE_MAX || reduction == AXLE_REDUCE_MIN;
}

int axle__combine_check(int reduction, int dtype)
{
    if (dtype <= 0 || dtype >= TABLE || !table[dtype].fn)
        return axle_error_set(AXLE_ERR_DTYPE, "element type %d", dtype);
    bool ordered = is_ordered(reduction);
    if (!ordered && reduction != AXLE_REDUCE_SUM && reduction != AXLE_REDUCE_MEAN)
        return axle_error_set(AXLE_ERR_INVALID, "reduction %d is none of sum, mean, max and min",
                              reduction);
    if (reduction == AXLE_REDUCE_MEAN && !axle_dtype_is_float(dtype))
        return axle_error_set(AXLE_ERR_DTYPE, "a mean of %s; only floats have one",
                              axle_dtype_name(dtype));
    if (!ordered && dtype == AXLE_DTYPE_BOOL)
        return axle_error_set(AXLE_ERR_DTYPE, "a sum of bool; max is any, min is all");
    return AXLE_OK;
}

int axle__combine(int reduction, int dtype, const void *const *parts, int part_count, double scale,
                  void *out, uint64_t count)
{
    int status = axle__combine_check(reduction, dtype);
    if (!status && dtype == AXLE_DTYPE_F32 && !is_ordered(reduction)) {
        axle__sum_f32(parts, part_count, scale, out, count);
        return AXLE_OK;
    }
    combination c = {reduction, part_count, parts, scale, out};
    for (uint64_t first = 0; first < count && !status; first += BLOCK)
        table[dtype].fn(&c, first, count - first < BLOCK ? (int)(count - first) : BLOCK);
    return status;
}
