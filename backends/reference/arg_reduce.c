/* SPDX-License-Identifier: Apache-2.0 */
/* ARG_REDUCE: x (...) -> y (...), i64, dim `axis` becomes 1: where the maximum or minimum is. */
#include "element.h"

/* The dim that is searched. */
typedef struct axis {
    int64_t n, step;
} axis;

/* The first element wins over equal ones, and a NaN over everything but an earlier NaN. */
#define DEFINE_ARG(name, f, T, C, worse)                                                           \
    static int64_t name##_##f##_of(const unsigned char *x, int64_t n, int64_t step)                \
    {                                                                                              \
        C best = ref_get_##f(*(const T *)x);                                                       \
        int64_t at = 0;                                                                            \
        for (int64_t i = 1; i < n && best == best; i++) {                                          \
            const C v = ref_get_##f(*(const T *)(x + i * step));                                   \
            if (!(v worse best)) {                                                                 \
                best = v;                                                                          \
                at = i;                                                                            \
            }                                                                                      \
        }                                                                                          \
        return at;                                                                                 \
    }                                                                                              \
    static void name##_##f(const ref_span *span)                                                   \
    {                                                                                              \
        const axis *a = span->attrs;                                                               \
        for (int64_t i = 0; i < span->n; i++)                                                      \
            *(int64_t *)(span->p[0] + i * span->step[0]) =                                         \
                name##_##f##_of(span->p[1] + i * span->step[1], a->n, a->step);                    \
    }
#define DEFINE_ARGS(F, f, T, C, ...)                                                               \
    DEFINE_ARG(arg_max, f, T, C, <=) DEFINE_ARG(arg_min, f, T, C, >=)
REF_TYPES(DEFINE_ARGS, )

#define ENTRY(F, f, T, C, name) [AXLE_DTYPE_##F] = name##_##f,
static const ref_loop loops[AXLE_REDUCE_LIMIT][REF_DTYPE_LIMIT] = {
    [AXLE_REDUCE_MAX] = {REF_TYPES(ENTRY, arg_max)},
    [AXLE_REDUCE_MIN] = {REF_TYPES(ENTRY, arg_min)},
};

static axle_status arg_reduce(const ref_call *call)
{
    const axle_arg_reduce_attrs *attrs = call->attrs;
    const axle_view *x = call->args->in[0], *y = call->args->out[0];
    const axis a = {x->dim[attrs->axis],
                    x->stride[attrs->axis] * (int64_t)ref_dtype_size(x->dtype)};
    const ref_span start = {.p = {ref_data(y), ref_data(x)}, .attrs = &a};
    ref_map map;

    ref_map_init(&map, y);
    ref_map_add(&map, y);
    ref_map_add(&map, x);
    ref_map_merge(&map);
    if (map.count > 0 && a.n == 0)
        return ref_fail(call->error, AXLE_ERR_SHAPE, "arg_reduce: axis %u has no element",
                        attrs->axis);
    ref_map_run(&map, call->host, 1 + REF_GRAIN / (a.n + 1), loops[attrs->kind][x->dtype], &start);
    return AXLE_OK;
}

static int accepts_arg_reduce(const axle_op_desc *desc)
{
    const axle_arg_reduce_attrs *attrs = desc->attrs;
    const axle_view *x = desc->in[0], *y = desc->out[0];
    if (!ref_is(x, REF_ANY_MASK) || !ref_is(y, 1 << AXLE_DTYPE_I64) || x->rank != y->rank)
        return 0;
    if (attrs->axis >= x->rank)
        return 0;
    for (uint32_t d = 0; d < x->rank; d++)
        if (y->dim[d] != (d == attrs->axis ? 1 : x->dim[d]))
            return 0;
    return attrs->kind < AXLE_REDUCE_LIMIT && loops[attrs->kind][x->dtype];
}

const ref_entry ref_entries_arg_reduce[] = {{AXLE_OP_ARG_REDUCE, arg_reduce, accepts_arg_reduce},
                                            {0, NULL, NULL}};
