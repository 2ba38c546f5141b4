/* SPDX-License-Identifier: Apache-2.0 */
/* FILL and ARANGE: -> y (...) and -> y (n). */
#include "element.h"

/* Write the same value, or one that depends on the element's number k, n times. */
#define WRITE_LOOP(name, T, setup, value)                                                          \
    static void name(const ref_span *span)                                                         \
    {                                                                                              \
        const int64_t n = span->n, step = span->step[0];                                           \
        unsigned char *out = span->p[0];                                                           \
        setup;                                                                                     \
        for (int64_t i = 0; i < n; i++)                                                            \
            *(T *)(out + i * step) = value;                                                        \
    }

#define FILL_FLOAT(F, f, T, C, convert)                                                            \
    WRITE_LOOP(fill_##f, T, const axle_fill_attrs *attrs = span->attrs;                            \
               const T filling = convert(attrs->value), filling)
FILL_FLOAT(F32, f32, float, float, ref_put_f32)
FILL_FLOAT(F64, f64, double, double, ref_put_f64)
FILL_FLOAT(F16, f16, uint16_t, float, ref_f64_to_f16)
FILL_FLOAT(BF16, bf16, uint16_t, float, ref_f64_to_bf16)

#define FILL_INTEGER(I, i_, T, C, ...)                                                             \
    WRITE_LOOP(fill_##i_, T, const axle_fill_attrs *attrs = span->attrs;                           \
               const T filling = ref_put_##i_(attrs->integer), filling)
REF_INTEGERS(FILL_INTEGER, )
REF_BOOLEANS(FILL_INTEGER, )

#define FILL_ENTRY(F, f, ...) [AXLE_DTYPE_##F] = fill_##f,
static const ref_loop fills[REF_DTYPE_LIMIT] = {REF_TYPES(FILL_ENTRY, )};

static ref_loop choose_fill(const axle_op_desc *desc)
{
    return ref_is(desc->out[0], REF_ANY_MASK) ? fills[desc->out[0]->dtype] : NULL;
}

#define ARANGE_FLOAT(F, f, T, C, ...)                                                              \
    WRITE_LOOP(arange_##f, T, const axle_arange_attrs *attrs = span->attrs;                        \
               const double start = attrs->start; const double by = attrs->step;                   \
               const int64_t first = span->first, ref_put_##f(start + (double)(first + i) * by))
REF_FLOATS(ARANGE_FLOAT, )

#define ARANGE_INTEGER(I, i_, T, C, ...)                                                           \
    WRITE_LOOP(arange_##i_, T, const axle_arange_attrs *attrs = span->attrs;                       \
               const int64_t start = ref_to_integer(attrs->start);                                 \
               const int64_t by = ref_to_integer(attrs->step);                                     \
               const int64_t first = span->first,                                                  \
               ref_put_##i_(ref_wrap_add(start, ref_wrap_mul(first + i, by))))
REF_INTEGERS(ARANGE_INTEGER, )

#define ARANGE_ENTRY(F, f, ...) [AXLE_DTYPE_##F] = arange_##f,
static const ref_loop aranges[REF_DTYPE_LIMIT] = {REF_NUMBERS(ARANGE_ENTRY, )};

static ref_loop choose_arange(const axle_op_desc *desc)
{
    const axle_view *y = desc->out[0];
    return ref_is(y, REF_NUMBER_MASK) && y->rank <= 1 ? aranges[y->dtype] : NULL;
}

const ref_elementwise ref_elementwise_fill[] = {
    {AXLE_OP_FILL, choose_fill},
    {AXLE_OP_ARANGE, choose_arange},
    {0, NULL},
};
