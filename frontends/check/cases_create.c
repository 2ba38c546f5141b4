/* SPDX-License-Identifier: Apache-2.0 */
/* Filling, copying, choosing and drawing. */
#include "case.h"

#define COPY_TO(dtype)                                                                             \
    {                                                                                              \
        .op = AXLE_OP_COPY, .name = "to " #dtype, .in = "x:nat(*)", .out = #dtype "(*)",           \
        .shapes = elementwise_shapes, .flags = CASE_EXACT                                          \
    }
#define COPY(label, domain, dtype)                                                                 \
    {                                                                                              \
        .op = AXLE_OP_COPY, .name = label ", to " #dtype, .in = "x:" domain "(3,17)",              \
        .out = #dtype "(3,17)", .flags = CASE_EXACT                                                \
    }
#define RANDOM(label, from, to, offset)                                                            \
    {                                                                                              \
        .op = AXLE_OP_RANDOM, .name = label, .out = "x(*)", .shapes = elementwise_shapes,          \
        .attrs = ATTRS(axle_random_attrs, .low = (from), .high = (to)), .rng_offset = (offset),    \
        .flags = CASE_EXACT                                                                        \
    }
/* Not exact: devices divide by 1 - p with an error of some units in the last place. */
#define DROPOUT(label, domain, probability, offset)                                                \
    {                                                                                              \
        .op = AXLE_OP_DROPOUT, .name = label, .in = "x:" domain "(*)", .out = "x(*)",              \
        .shapes = elementwise_shapes, .attrs = ATTRS(axle_dropout_attrs, .p = (probability)),      \
        .rng_offset = (offset), .flags = CASE_IN_PLACE                                             \
    }

const op_case cases_create[] = {
    COPY_TO(f32),
    COPY_TO(f16),
    COPY_TO(bf16),
    COPY_TO(f64),
    COPY_TO(u8),
    COPY_TO(i32),
    COPY_TO(i64),
    COPY_TO(bool),
    COPY("of either sign", "halves", f32),
    COPY("of either sign", "halves", i32),
    COPY("of either sign", "halves", i64),
    COPY("of NaN and infinity", "special", f32),
    COPY("of NaN and infinity", "special", f16),
    COPY("of NaN and infinity", "special", bf16),
    COPY("of NaN and infinity", "special", bool),
    {.op = AXLE_OP_COPY,
     .name = "of a repeated row",
     .in = "x:any(~3,17)",
     .out = "x(3,17)",
     .flags = CASE_EXACT},
    {.op = AXLE_OP_FILL,
     .name = "with a value",
     .out = "x(*)",
     .shapes = elementwise_shapes,
     .attrs = ATTRS(axle_fill_attrs, .value = 0.1, .integer = 1),
     .flags = CASE_EXACT},
    {.op = AXLE_OP_ARANGE,
     .name = "of integers",
     .out = "x(7)",
     .attrs = ATTRS(axle_arange_attrs, .start = 3.0, .step = 2.0)},
    {.op = AXLE_OP_ARANGE,
     .name = "of fractions",
     .out = "x(100)",
     .attrs = ATTRS(axle_arange_attrs, .start = 1.3, .step = 0.1)},
    RANDOM("in [0, 1)", 0.0, 1.0, 0),
    RANDOM("in [-1.5, 2.5)", -1.5, 2.5, 0),
    RANDOM("from element 3", 0.0, 1.0, 3),
    RANDOM("across element 2^32", 0.0, 1.0, UINT64_C(0xfffffffe)),
    RANDOM("across counter 2^32", 0.0, 1.0, (UINT64_C(1) << 34) - 5),
    RANDOM("from element 2^40 + 1", 0.0, 1.0, (UINT64_C(1) << 40) + 1),
    DROPOUT("of two in five", "any", 0.4, 0),
    DROPOUT("of none", "any", 0.0, 2),
    DROPOUT("of all, NaN included", "nan", 1.0, 0),
    DROPOUT("from element 2^34 + 3", "any", 0.5, (UINT64_C(1) << 34) + 3),
    {.op = AXLE_OP_WHERE,
     .name = "",
     .in = "bool(*) x:any(*) x:any(*)",
     .out = "x(*)",
     .shapes = elementwise_shapes,
     .flags = CASE_EXACT},
    {.op = AXLE_OP_WHERE,
     .name = "with NaN not taken",
     .in = "bool:zero(3,5) x:nan(3,5) x:any(3,5)",
     .out = "x(3,5)",
     .flags = CASE_EXACT},
    {.op = AXLE_OP_WHERE,
     .name = "of repeated operands",
     .in = "bool(~4,5) x:any(4,~5) x:any(~4,~5)",
     .out = "x(4,5)",
     .flags = CASE_EXACT},
    {0}};
