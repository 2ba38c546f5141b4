/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The element types as kernels see them: lists to generate typed code from, and for each type how
 * to read an element into the type it is computed in and how to write it back.
 */
#ifndef AXLE_REFERENCE_ELEMENT_H
#define AXLE_REFERENCE_ELEMENT_H

#include "map.h"

/* X(NAME, suffix, storage, type to compute in, ...). Integers compute in i64 and wrap. */
#define REF_FLOATS(X, ...)                                                                         \
    X(F32, f32, float, float, __VA_ARGS__)                                                         \
    X(F64, f64, double, double, __VA_ARGS__)                                                       \
    X(F16, f16, uint16_t, float, __VA_ARGS__)                                                      \
    X(BF16, bf16, uint16_t, float, __VA_ARGS__)
#define REF_INTEGERS(X, ...)                                                                       \
    X(U8, u8, uint8_t, int64_t, __VA_ARGS__)                                                       \
    X(I32, i32, int32_t, int64_t, __VA_ARGS__)                                                     \
    X(I64, i64, int64_t, int64_t, __VA_ARGS__)
#define REF_BOOLEANS(X, ...) X(BOOL, bool, uint8_t, int64_t, __VA_ARGS__)
#define REF_NUMBERS(X, ...) REF_FLOATS(X, __VA_ARGS__) REF_INTEGERS(X, __VA_ARGS__)
#define REF_TYPES(X, ...) REF_NUMBERS(X, __VA_ARGS__) REF_BOOLEANS(X, __VA_ARGS__)

/* Elements of one size, where the type does not matter: X(bytes, storage). */
#define REF_SIZES(X) X(1, uint8_t) X(2, uint16_t) X(4, uint32_t) X(8, uint64_t)

enum {
    REF_DTYPE_LIMIT = AXLE_DTYPE_BOOL + 1,
    REF_FLOAT_MASK =
        1 << AXLE_DTYPE_F32 | 1 << AXLE_DTYPE_F16 | 1 << AXLE_DTYPE_BF16 | 1 << AXLE_DTYPE_F64,
    REF_INTEGER_MASK = 1 << AXLE_DTYPE_U8 | 1 << AXLE_DTYPE_I32 | 1 << AXLE_DTYPE_I64,
    REF_BOOLEAN_MASK = 1 << AXLE_DTYPE_BOOL,
    REF_INDEX_MASK = 1 << AXLE_DTYPE_I32 | 1 << AXLE_DTYPE_I64,
    REF_NUMBER_MASK = REF_FLOAT_MASK | REF_INTEGER_MASK,
    REF_ANY_MASK = REF_NUMBER_MASK | REF_BOOLEAN_MASK
};

/* Whether a view is there and its type is in the mask. */
static inline int ref_is(const axle_view *view, uint32_t mask)
{
    return view && view->dtype < REF_DTYPE_LIMIT && (mask >> view->dtype & 1);
}

/* Whether another view is there and has the same type. */
static inline int ref_same(const axle_view *view, const axle_view *other)
{
    return other && other->dtype == view->dtype;
}

static inline float ref_get_f32(float x)
{
    return x;
}
static inline double ref_get_f64(double x)
{
    return x;
}
static inline float ref_get_f16(uint16_t x)
{
    return ref_f16_to_f32(x);
}
static inline float ref_get_bf16(uint16_t x)
{
    return ref_bf16_to_f32(x);
}
static inline int64_t ref_get_u8(uint8_t x)
{
    return x;
}
static inline int64_t ref_get_i32(int32_t x)
{
    return x;
}
static inline int64_t ref_get_i64(int64_t x)
{
    return x;
}
static inline int64_t ref_get_bool(uint8_t x)
{
    return x != 0;
}

static inline float ref_put_f32(double x)
{
    return (float)x;
}
static inline double ref_put_f64(double x)
{
    return x;
}
static inline uint16_t ref_put_f16(double x)
{
    return ref_f32_to_f16((float)x);
}
static inline uint16_t ref_put_bf16(double x)
{
    return ref_f32_to_bf16((float)x);
}
static inline uint8_t ref_put_u8(int64_t x)
{
    return (uint8_t)x;
}
static inline int32_t ref_put_i32(int64_t x)
{
    return (int32_t)x;
}
static inline int64_t ref_put_i64(int64_t x)
{
    return x;
}
static inline uint8_t ref_put_bool(int64_t x)
{
    return x != 0;
}

/* Integer arithmetic that wraps where C leaves overflow undefined. */
static inline int64_t ref_wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t ref_wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
static inline int64_t ref_wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* Toward zero; values out of range go to the nearest end, NaN to 0. */
static inline int64_t ref_to_integer(double x)
{
    if (x >= 0x1p63)
        return INT64_MAX;
    if (x >= -0x1p63)
        return (int64_t)x;
    return x != x ? 0 : INT64_MIN;
}

/*
 * Loops over one and two inputs. `setup` declares what every element needs; `value` is written in
 * terms of x (and y, the second input), elements in storage form. The dense case is the same text
 * with constant steps.
 */
#define REF_LOOP_1(name, Out, X, setup, value)                                                     \
    static inline void name##_steps(const ref_span *span, int64_t step_out, int64_t step_x)        \
    {                                                                                              \
        const int64_t n = span->n;                                                                 \
        unsigned char *out = span->p[0];                                                           \
        const unsigned char *in = span->p[1];                                                      \
        setup;                                                                                     \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const X x = *(const X *)(in + i * step_x);                                             \
            *(Out *)(out + i * step_out) = value;                                                  \
        }                                                                                          \
    }                                                                                              \
    static void name(const ref_span *span)                                                         \
    {                                                                                              \
        if (span->step[0] == sizeof(Out) && span->step[1] == sizeof(X))                            \
            name##_steps(span, sizeof(Out), sizeof(X));                                            \
        else                                                                                       \
            name##_steps(span, span->step[0], span->step[1]);                                      \
    }

#define REF_LOOP_2(name, Out, T, setup, value)                                                     \
    static inline void name##_steps(const ref_span *span, int64_t step_out, int64_t step_x,        \
                                    int64_t step_y)                                                \
    {                                                                                              \
        const int64_t n = span->n;                                                                 \
        unsigned char *out = span->p[0];                                                           \
        const unsigned char *in_x = span->p[1], *in_y = span->p[2];                                \
        setup;                                                                                     \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = *(const T *)(in_x + i * step_x);                                           \
            const T y = *(const T *)(in_y + i * step_y);                                           \
            *(Out *)(out + i * step_out) = value;                                                  \
        }                                                                                          \
    }                                                                                              \
    static void name(const ref_span *span)                                                         \
    {                                                                                              \
        if (span->step[0] == sizeof(Out) && span->step[1] == sizeof(T) &&                          \
            span->step[2] == sizeof(T))                                                            \
            name##_steps(span, sizeof(Out), sizeof(T), sizeof(T));                                 \
        else                                                                                       \
            name##_steps(span, span->step[0], span->step[1], span->step[2]);                       \
    }

#endif
