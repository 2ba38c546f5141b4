/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of operators: the tables of what is tried. */
#ifndef AXLE_CHECK_CASE_H
#define AXLE_CHECK_CASE_H

#include "axle/backend.h"
#include "axle/backend_ops.h"

enum {
    CASE_EXACT = 1,     /* the result is the reference's, bit for bit */
    CASE_FLAT = 2,      /* operands lie in row-major order, always */
    CASE_IN_PLACE = 4,  /* the output may be the first input */
    CASE_BAD_INDEX = 8, /* must end in AXLE_ERR_INDEX */
    CASE_LONG = 16      /* left out of a quick run */
};

typedef struct op_case {
    uint32_t op;
    const char *name;
    const char *in, *out; /* operands, see spec.h */
    const void *attrs, *scalars;
    uint32_t flags;
    const char *const *shapes; /* the case is tried with each; ended by NULL; NULL: none */
    double slack;              /* so many times the usual error is allowed; 0: 1 */
    uint64_t rng_offset;
    /* Inputs that another operator's result is needed for, computed by the reference. */
    struct {
        uint32_t op;
        const char *in, *out;
    } forward;
} op_case;

/* Tables, each ended by op = 0. */
#define CASE_FILES(X)                                                                              \
    X(create)                                                                                      \
    X(unary)                                                                                       \
    X(binary)                                                                                      \
    X(reduce)                                                                                      \
    X(product)                                                                                     \
    X(conv)                                                                                        \
    X(pool)                                                                                        \
    X(softmax)                                                                                     \
    X(norm)                                                                                        \
    X(index)                                                                                       \
    X(attention)                                                                                   \
    X(optimizer)
#define DECLARE_CASES(file) extern const op_case cases_##file[];
CASE_FILES(DECLARE_CASES)
#undef DECLARE_CASES

/* An attribute or scalar struct: ATTRS(axle_fill_attrs, .value = 1.0). */
#define ATTRS(type, ...) (&(const type){.struct_size = sizeof(type), __VA_ARGS__})

extern const char *const elementwise_shapes[];

#endif
