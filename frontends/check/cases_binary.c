/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of two operands. */
#include "case.h"

#define SAME(KIND, label, a, b, result)                                                            \
    {.op = AXLE_OP_BINARY,                                                                         \
     .name = label,                                                                                \
     .in = "x:" a "(*) x:" b "(*)",                                                                \
     .out = result "(*)",                                                                          \
     .shapes = elementwise_shapes,                                                                 \
     .attrs = ATTRS(axle_binary_attrs, .kind = AXLE_BINARY_##KIND, .alpha = 1.0),                  \
     .flags = CASE_IN_PLACE},
#define REPEATED(KIND, label, a, b, result)                                                        \
    {.op = AXLE_OP_BINARY,                                                                         \
     .name = label ", repeated",                                                                   \
     .in = "x:" a "(5,~7) x:" b "(~5,7)",                                                          \
     .out = result "(5,7)",                                                                        \
     .attrs = ATTRS(axle_binary_attrs, .kind = AXLE_BINARY_##KIND, .alpha = 1.0)},
#define BINARY(...) SAME(__VA_ARGS__) REPEATED(__VA_ARGS__)

/* clang-format off */
const op_case cases_binary[] = {
    BINARY(ADD, "add", "any", "any", "x")
    BINARY(SUB, "sub", "any", "any", "x")
    BINARY(MUL, "mul", "any", "any", "x")
    BINARY(DIV, "div", "any", "pos", "x")
    SAME(DIV, "div, by 0 where there are integers", "any", "small", "x")
    BINARY(POW, "pow", "pos", "any", "x")
    BINARY(MAXIMUM, "maximum", "any", "nan", "x")
    BINARY(MINIMUM, "minimum", "nan", "any", "x")
    BINARY(ATAN2, "atan2", "any", "any", "x")
    BINARY(REMAINDER, "remainder", "any", "pos", "x")
    BINARY(FMOD, "fmod", "any", "pos", "x")
    BINARY(BCE_WITH_LOGITS, "bce_with_logits", "far", "prob", "x")
    BINARY(EQ, "eq", "small", "small", "bool")
    BINARY(NE, "ne", "small", "nan", "bool")
    BINARY(LT, "lt", "small", "small", "bool")
    BINARY(LE, "le", "small", "small", "bool")
    BINARY(GT, "gt", "small", "small", "bool")
    BINARY(GE, "ge", "small", "nan", "bool")
    BINARY(LOGICAL_AND, "logical_and", "small", "small", "bool")
    BINARY(LOGICAL_OR, "logical_or", "small", "small", "bool")
    BINARY(LOGICAL_XOR, "logical_xor", "small", "small", "bool")
    {.op = AXLE_OP_BINARY,
     .name = "add, scaled",
     .in = "x:any(*) x:any(*)",
     .out = "x(*)",
     .shapes = elementwise_shapes,
     .attrs = ATTRS(axle_binary_attrs, .kind = AXLE_BINARY_ADD, .alpha = -3.0),
     .flags = CASE_IN_PLACE},
    {0}};
/* clang-format on */
