/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between element types, strided loads and stores, and selection. */
#include "../isa.h"
#if LOOP_ENABLED
#include "../half.h"
#include "../loops.h"

/* Types: X(NAME, storage, domain type, read, write). `read` and `write` go to and from the domain.
 */
#define READ_SAME(v) (v)
#define WRITE_BOOL(v) ((v) != 0)
#define CONVERT_TYPES(X)                                                                           \
    X(F32, float, float, READ_SAME, READ_SAME)                                                     \
    X(F16, uint16_t, float, f16_to_f32, f32_to_f16)                                                \
    X(BF16, uint16_t, float, bf16_to_f32, f32_to_bf16)                                             \
    X(F64, double, double, READ_SAME, READ_SAME)                                                   \
    X(U8, uint8_t, int64_t, READ_SAME, (uint8_t))                                                  \
    X(I32, int32_t, int64_t, READ_SAME, (int32_t))                                                 \
    X(I64, int64_t, int64_t, READ_SAME, READ_SAME)                                                 \
    X(BOOL, uint8_t, int64_t, READ_SAME, WRITE_BOOL)

/* Unit and zero strides are the common ones and worth loops of their own. */
#define DEFINE_LOAD(name, from, to, read)                                                          \
    static void name(const void *in, int64_t stride, void *out, int64_t n)                         \
    {                                                                                              \
        const from *x = in;                                                                        \
        to *y = out;                                                                               \
        if (stride == 1) {                                                                         \
            SIMD for (int64_t i = 0; i < n; i++) y[i] = read(x[i]);                                \
        } else if (stride == 0) {                                                                  \
            const to value = read(x[0]);                                                           \
            SIMD for (int64_t i = 0; i < n; i++) y[i] = value;                                     \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++)                                                        \
                y[i] = read(x[i * stride]);                                                        \
        }                                                                                          \
    }

#define DEFINE_STORE(name, from, to, write)                                                        \
    static void name(const void *in, void *out, int64_t stride, int64_t n)                         \
    {                                                                                              \
        const from *x = in;                                                                        \
        to *y = out;                                                                               \
        if (stride == 1) {                                                                         \
            SIMD for (int64_t i = 0; i < n; i++) y[i] = write(x[i]);                               \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++)                                                        \
                y[i * stride] = write(x[i]);                                                       \
        }                                                                                          \
    }

#define DEFINE_CONVERT(NAME, storage, domain, read, write)                                         \
    DEFINE_LOAD(load_##NAME, storage, domain, read)                                                \
    DEFINE_STORE(store_##NAME, domain, storage, write)
CONVERT_TYPES(DEFINE_CONVERT)

#define RAW_TYPES(X)                                                                               \
    X(uint8_t, 0)                                                                                  \
    X(uint16_t, 1)                                                                                 \
    X(uint32_t, 2)                                                                                 \
    X(uint64_t, 3)

/* The branch not taken is never looked at as a number, so nothing of it can leak. */
#define DEFINE_RAW(type, log2)                                                                     \
    DEFINE_LOAD(load_raw_##type, type, type, READ_SAME)                                            \
    DEFINE_STORE(store_raw_##type, type, type, READ_SAME)                                          \
    static void where_##type(const void *const *in, void *out, int64_t n,                          \
                             const elem_params *params)                                            \
    {                                                                                              \
        const uint8_t *condition = in[0];                                                          \
        const type *a = in[1], *b = in[2];                                                         \
        type *y = out;                                                                             \
        (void)params;                                                                              \
        SIMD for (int64_t i = 0; i < n; i++)                                                       \
        {                                                                                          \
            const type taken = (type)(0 - (type)(condition[i] != 0));                              \
            y[i] = (type)((a[i] & taken) | (b[i] & (type)~taken));                                 \
        }                                                                                          \
    }                                                                                              \
    static void transpose_##type(const void *in, int64_t ld, int64_t rows, int64_t cols,           \
                                 void *out, int64_t out_ld)                                        \
    {                                                                                              \
        const type *x = in;                                                                        \
        for (int64_t c = 0; c < cols; c++) {                                                       \
            type *y = (type *)out + c * out_ld;                                                    \
            SIMD for (int64_t r = 0; r < rows; r++) y[r] = x[r * ld + c];                          \
        }                                                                                          \
    }                                                                                              \
    static void copy_##type(const void *const *in, void *out, int64_t n,                           \
                            const elem_params *params)                                             \
    {                                                                                              \
        (void)params;                                                                              \
        if (n > 0 && in[0] != out)                                                                 \
            memcpy(out, in[0], (size_t)n * sizeof(type));                                          \
    }
RAW_TYPES(DEFINE_RAW)

/* A float outside the range of an integer type gives an unspecified value, but always some value.
 */
INLINE int64_t to_integer(double value)
{
    return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
}

INLINE int64_t to_int32(double value)
{
    const double low = value > -0x1p31 ? value : -0x1p31;
    return (int32_t)(low < 2147483647.0 ? low : 2147483647.0);
}

/* From a domain to every type; halves of f64 and integers are rounded once. */
#define TO_F32_F32(v) (v)
#define TO_F32_F16(v) f32_to_f16(v)
#define TO_F32_BF16(v) f32_to_bf16(v)
#define TO_F32_F64(v) (double)(v)
#define TO_F32_U8(v) (uint8_t) to_int32(v)
#define TO_F32_I32(v) (int32_t) to_int32(v)
#define TO_F32_I64(v) to_integer(v)
#define TO_F32_BOOL(v) ((v) != 0)
#define TO_F64_F32(v) (float)(v)
#define TO_F64_F16(v) f32_to_f16(f64_to_odd_f32(v))
#define TO_F64_BF16(v) f32_to_bf16(f64_to_odd_f32(v))
#define TO_F64_F64(v) (v)
#define TO_F64_U8(v) (uint8_t) to_int32(v)
#define TO_F64_I32(v) (int32_t) to_int32(v)
#define TO_F64_I64(v) to_integer(v)
#define TO_F64_BOOL(v) ((v) != 0)
#define TO_I64_F32(v) (float)(v)
#define TO_I64_F16(v) f32_to_f16(f64_to_odd_f32((double)(v)))
#define TO_I64_BF16(v) f32_to_bf16(f64_to_odd_f32((double)(v)))
#define TO_I64_F64(v) (double)(v)
#define TO_I64_U8(v) (uint8_t)(v)
#define TO_I64_I32(v) (int32_t)(v)
#define TO_I64_I64(v) (v)
#define TO_I64_BOOL(v) ((v) != 0)

#define DEFINE_CAST(FROM, from, read, to_domain, TO, to)                                           \
    static void cast_##FROM##_##TO(const void *const *in, void *out, int64_t n,                    \
                                   const elem_params *params)                                      \
    {                                                                                              \
        const from *x = in[0];                                                                     \
        to *y = out;                                                                               \
        (void)params;                                                                              \
        SIMD for (int64_t i = 0; i < n; i++) y[i] = to_domain##_##TO(read(x[i]));                  \
    }

#define CAST_FROM(FROM, from, read, to_domain)                                                     \
    DEFINE_CAST(FROM, from, read, to_domain, F32, float)                                           \
    DEFINE_CAST(FROM, from, read, to_domain, F16, uint16_t)                                        \
    DEFINE_CAST(FROM, from, read, to_domain, BF16, uint16_t)                                       \
    DEFINE_CAST(FROM, from, read, to_domain, F64, double)                                          \
    DEFINE_CAST(FROM, from, read, to_domain, U8, uint8_t)                                          \
    DEFINE_CAST(FROM, from, read, to_domain, I32, int32_t)                                         \
    DEFINE_CAST(FROM, from, read, to_domain, I64, int64_t)                                         \
    DEFINE_CAST(FROM, from, read, to_domain, BOOL, uint8_t)
CAST_FROM(F32, float, READ_SAME, TO_F32)
CAST_FROM(F16, uint16_t, f16_to_f32, TO_F32)
CAST_FROM(BF16, uint16_t, bf16_to_f32, TO_F32)
CAST_FROM(F64, double, READ_SAME, TO_F64)
CAST_FROM(U8, uint8_t, READ_SAME, TO_I64)
CAST_FROM(I32, int32_t, READ_SAME, TO_I64)
CAST_FROM(I64, int64_t, READ_SAME, TO_I64)
CAST_FROM(BOOL, uint8_t, READ_SAME, TO_I64)

#define CAST_ROW(FROM)                                                                             \
    [AXLE_DTYPE_##                                                                                 \
        FROM] = {[AXLE_DTYPE_F32] = cast_##FROM##_F32,   [AXLE_DTYPE_F16] = cast_##FROM##_F16,     \
                 [AXLE_DTYPE_BF16] = cast_##FROM##_BF16, [AXLE_DTYPE_F64] = cast_##FROM##_F64,     \
                 [AXLE_DTYPE_U8] = cast_##FROM##_U8,     [AXLE_DTYPE_I32] = cast_##FROM##_I32,     \
                 [AXLE_DTYPE_I64] = cast_##FROM##_I64,   [AXLE_DTYPE_BOOL] = cast_##FROM##_BOOL}

#define LOAD_ENTRY(NAME, storage, domain, read, write) [AXLE_DTYPE_##NAME] = load_##NAME,
#define STORE_ENTRY(NAME, storage, domain, read, write) [AXLE_DTYPE_##NAME] = store_##NAME,
#define LOAD_RAW_ENTRY(type, log2) [log2] = load_raw_##type,
#define STORE_RAW_ENTRY(type, log2) [log2] = store_raw_##type,
#define COPY_ENTRY(type, log2) [log2] = copy_##type,
#define TRANSPOSE_ENTRY(type, log2) [log2] = transpose_##type,
#define WHERE_ENTRY(type, log2) [log2] = where_##type,

const struct convert_loops LOOP(cpu_convert_loops) = {
    .load = {CONVERT_TYPES(LOAD_ENTRY)},
    .store = {CONVERT_TYPES(STORE_ENTRY)},
    .load_raw = {RAW_TYPES(LOAD_RAW_ENTRY)},
    .store_raw = {RAW_TYPES(STORE_RAW_ENTRY)},
    .cast = {CAST_ROW(F32), CAST_ROW(F16), CAST_ROW(BF16), CAST_ROW(F64), CAST_ROW(U8),
             CAST_ROW(I32), CAST_ROW(I64), CAST_ROW(BOOL)},
    .copy = {RAW_TYPES(COPY_ENTRY)},
    .transpose = {RAW_TYPES(TRANSPOSE_ENTRY)},
    .where = {RAW_TYPES(WHERE_ENTRY)},
};
#endif
LOOP_END;
