/* SPDX-License-Identifier: Apache-2.0 */
/* WHERE: condition (...), a (...), b (...) -> y (...). Elements move as bits. */
#include "element.h"

#define DEFINE_WHERE(bytes, T)                                                                     \
    static void where_##bytes(const ref_span *span)                                                \
    {                                                                                              \
        const int64_t n = span->n;                                                                 \
        const int64_t *step = span->step;                                                          \
        unsigned char *const *p = span->p;                                                         \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T a = *(const T *)(p[2] + i * step[2]), b = *(const T *)(p[3] + i * step[3]);    \
            *(T *)(p[0] + i * step[0]) = p[1][i * step[1]] ? a : b;                                \
        }                                                                                          \
    }
REF_SIZES(DEFINE_WHERE)

#define WHERE_ENTRY(bytes, T) [bytes] = where_##bytes,
static const ref_loop wheres[9] = {REF_SIZES(WHERE_ENTRY)};

static ref_loop choose_where(const axle_op_desc *desc)
{
    const axle_view *a = desc->in[1], *b = desc->in[2], *y = desc->out[0];
    if (!ref_is(desc->in[0], REF_BOOLEAN_MASK) || !ref_is(y, REF_ANY_MASK))
        return NULL;
    return ref_same(y, a) && ref_same(y, b) ? wheres[ref_dtype_size(y->dtype)] : NULL;
}

const ref_elementwise ref_elementwise_where[] = {{AXLE_OP_WHERE, choose_where}, {0, NULL}};
