/* SPDX-License-Identifier: Apache-2.0 */
/* COPY: x (...) -> y (...), with a cast where the element types differ. */
#include "element.h"

#include <string.h>

/* An i64 of more than 53 bits: keep a sticky bit, so that the conversion to f64 is exact and the
 * rounding that follows is the only one. */
static double sticky_double(int64_t x)
{
    const int wide = x > INT64_C(1) << 53 || x < -(INT64_C(1) << 53);
    if (wide && (x & 0x7ff))
        x = (x & ~INT64_C(0x7ff)) | 0x800;
    return (double)x;
}

static inline uint16_t f16_from_integer(int64_t x)
{
    return ref_f64_to_f16(sticky_double(x));
}

static inline uint16_t bf16_from_integer(int64_t x)
{
    return ref_f64_to_bf16(sticky_double(x));
}

/* What to do depends on what an element is computed in, so a table of twenty-four casts does. */
#define CAST_f32(x) ((float)(x))
#define CAST_f64(x) ((double)(x))
#define CAST_f16(x)                                                                                \
    _Generic((x), float : ref_f32_to_f16, double : ref_f64_to_f16, int64_t : f16_from_integer)(x)
#define CAST_bf16(x)                                                                               \
    _Generic((x), float : ref_f32_to_bf16, double : ref_f64_to_bf16, int64_t : bf16_from_integer)(x)
#define INTEGER(x)                                                                                 \
    _Generic((x), float : ref_to_integer, double : ref_to_integer, int64_t : ref_get_i64)(x)
#define CAST_u8(x) ref_put_u8(INTEGER(x))
#define CAST_i32(x) ref_put_i32(INTEGER(x))
#define CAST_i64(x) INTEGER(x)
#define CAST_bool(x) ((x) != 0)

#define DEFINE_CAST(FROM, from, From, C, to, To)                                                   \
    REF_LOOP_1(to##_from_##from, To, From, , CAST_##to(ref_get_##from(x)))
#define DEFINE_CASTS_TO(to, To) REF_TYPES(DEFINE_CAST, to, To)

DEFINE_CASTS_TO(f32, float)
DEFINE_CASTS_TO(f64, double)
DEFINE_CASTS_TO(f16, uint16_t)
DEFINE_CASTS_TO(bf16, uint16_t)
DEFINE_CASTS_TO(u8, uint8_t)
DEFINE_CASTS_TO(i32, int32_t)
DEFINE_CASTS_TO(i64, int64_t)
DEFINE_CASTS_TO(bool, uint8_t)

#define CAST_ENTRY(FROM, from, From, C, to) [AXLE_DTYPE_##FROM] = to##_from_##from,
static const ref_loop casts[REF_DTYPE_LIMIT][REF_DTYPE_LIMIT] = {
    [AXLE_DTYPE_F32] = {REF_TYPES(CAST_ENTRY, f32)},
    [AXLE_DTYPE_F64] = {REF_TYPES(CAST_ENTRY, f64)},
    [AXLE_DTYPE_F16] = {REF_TYPES(CAST_ENTRY, f16)},
    [AXLE_DTYPE_BF16] = {REF_TYPES(CAST_ENTRY, bf16)},
    [AXLE_DTYPE_U8] = {REF_TYPES(CAST_ENTRY, u8)},
    [AXLE_DTYPE_I32] = {REF_TYPES(CAST_ENTRY, i32)},
    [AXLE_DTYPE_I64] = {REF_TYPES(CAST_ENTRY, i64)},
    [AXLE_DTYPE_BOOL] = {REF_TYPES(CAST_ENTRY, bool)},
};

/* Bits move unchanged, NaN payloads and all. */
#define DEFINE_MOVE(bytes, T)                                                                      \
    REF_LOOP_1(move_strided_##bytes, T, T, , x)                                                    \
    static void move_##bytes(const ref_span *span)                                                 \
    {                                                                                              \
        if (span->step[0] == bytes && span->step[1] == bytes)                                      \
            memcpy(span->p[0], span->p[1], (size_t)span->n *bytes);                                \
        else                                                                                       \
            move_strided_##bytes(span);                                                            \
    }
REF_SIZES(DEFINE_MOVE)

#define MOVE_ENTRY(bytes, T) [bytes] = move_##bytes,
static const ref_loop moves[9] = {REF_SIZES(MOVE_ENTRY)};

static ref_loop choose_copy(const axle_op_desc *desc)
{
    const axle_view *x = desc->in[0], *y = desc->out[0];
    if (!ref_is(x, REF_ANY_MASK) || !ref_is(y, REF_ANY_MASK))
        return NULL;
    return x->dtype == y->dtype ? moves[ref_dtype_size(x->dtype)] : casts[y->dtype][x->dtype];
}

const ref_elementwise ref_elementwise_copy[] = {{AXLE_OP_COPY, choose_copy}, {0, NULL}};
