/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file types.h
 * The few words that every part of Axle shares: status codes, element types, limits.
 *
 * Both sides of the plugin boundary include this file, so the numbers below are part of the binary
 * interface: they are never changed and never reused.
 */
#ifndef AXLE_TYPES_H
#define AXLE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define AXLE_BEGIN_DECLS extern "C" {
#define AXLE_END_DECLS }
#define AXLE_EXTERN extern "C"
#else
#define AXLE_BEGIN_DECLS
#define AXLE_END_DECLS
#define AXLE_EXTERN extern
#endif

#if defined(__GNUC__)
#define AXLE_API __attribute__((visibility("default")))
#define AXLE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define AXLE_API
#define AXLE_PRINTF(text, first)
#endif

/** Most dimensions that a tensor can have. */
#define AXLE_MAX_RANK 8

/**
 * Status codes: X(name, value, text). 0 is success, everything else negative.
 * A function that returns `int` returns one of these.
 */
#define AXLE_STATUS_LIST(X)                                                                        \
    X(OK, 0, "success")                                                                            \
    X(ERR_INVALID, -1, "invalid argument")                                                         \
    X(ERR_SHAPE, -2, "shapes do not fit")                                                          \
    X(ERR_DTYPE, -3, "element type does not fit")                                                  \
    X(ERR_DEVICE, -4, "device does not fit or cannot serve")                                       \
    X(ERR_NOMEM, -5, "out of memory")                                                              \
    X(ERR_UNSUPPORTED, -6, "not supported")                                                        \
    X(ERR_INDEX, -7, "index out of range")                                                         \
    X(ERR_IO, -8, "input or output failed")                                                        \
    X(ERR_FORMAT, -9, "malformed data")                                                            \
    X(ERR_NOT_FOUND, -10, "not found")                                                             \
    X(ERR_TIMEOUT, -11, "timed out")                                                               \
    X(ERR_DEVICE_LOST, -12, "device lost")                                                         \
    X(ERR_COMPILE, -13, "kernel does not compile")                                                 \
    X(ERR_NOT_READY, -14, "not finished yet")                                                      \
    X(ERR_INTERNAL, -15, "internal error")                                                         \
    X(ERR_ABI, -16, "plugin interface does not fit")                                               \
    X(ERR_BUSY, -17, "busy")                                                                       \
    X(ERR_STATE, -18, "not possible in this state")                                                \
    X(ERR_NONFINITE, -19, "value is not finite")                                                   \
    X(ERR_INTERRUPTED, -20, "interrupted")

enum {
#define AXLE_STATUS_ENUM(name, value, text) AXLE_##name = value,
    AXLE_STATUS_LIST(AXLE_STATUS_ENUM)
#undef AXLE_STATUS_ENUM
};

/**
 * Element types: X(name, number, bytes, text). Booleans are one byte, 0 or 1. Numbers 5 and 7 are
 * kept for 8- and 16-bit signed integers.
 */
#define AXLE_DTYPE_LIST(X)                                                                         \
    X(F32, 1, 4, "f32")                                                                            \
    X(F16, 2, 2, "f16")                                                                            \
    X(BF16, 3, 2, "bf16")                                                                          \
    X(F64, 4, 8, "f64")                                                                            \
    X(U8, 6, 1, "u8")                                                                              \
    X(I32, 8, 4, "i32")                                                                            \
    X(I64, 9, 8, "i64")                                                                            \
    X(BOOL, 10, 1, "bool")

enum {
#define AXLE_DTYPE_ENUM(name, number, bytes, text) AXLE_DTYPE_##name = number,
    AXLE_DTYPE_LIST(AXLE_DTYPE_ENUM)
#undef AXLE_DTYPE_ENUM
};

/** The bit of an element type in a mask of element types. */
#define AXLE_DTYPE_BIT(dtype) (UINT64_C(1) << (dtype))

#endif
