/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices. Transposed operands come with the layouts. */
#include "case.h"

#define MATMUL(label, a, b, bias, y, factor, adds, function)                                       \
    {                                                                                              \
        .op = AXLE_OP_MATMUL, .name = label, .in = "x:any(" a ") x:any(" b ") " bias, .out = y,    \
        .attrs = ATTRS(axle_matmul_attrs, .alpha = (factor), .accumulate = (adds),                 \
                       .activation = (function))                                                   \
    }
#define ACTIVATED(KIND, label)                                                                     \
    MATMUL("(7,5) . (5,3), bias, " label, "7,5", "5,3", "x:any(~7,3)", "x(7,3)", 1.0, 0,           \
           AXLE_UNARY_##KIND)

const op_case cases_product[] = {
    MATMUL("(7,5) . (5,3)", "7,5", "5,3", "-", "x(7,3)", 1.0, 0, 0),
    MATMUL("(1,1) . (1,1)", "1,1", "1,1", "-", "x(1,1)", 1.0, 0, 0),
    MATMUL("(1,300) . (300,1)", "1,300", "300,1", "-", "x(1,1)", 1.0, 0, 0),
    MATMUL("(65,33) . (33,67)", "65,33", "33,67", "-", "x(65,67)", 1.0, 0, 0),
    MATMUL("(129,70) . (70,131)", "129,70", "70,131", "-", "x(129,131)", 1.0, 0, 0),
    MATMUL("(33,1) . (1,17)", "33,1", "1,17", "-", "x(33,17)", 1.0, 0, 0),
    MATMUL("(2,3,7,5) . (2,3,5,4)", "2,3,7,5", "2,3,5,4", "-", "x(2,3,7,4)", 1.0, 0, 0),
    MATMUL("batch of a repeats", "~4,7,5", "4,5,3", "-", "x(4,7,3)", 1.0, 0, 0),
    MATMUL("batch of b repeats", "4,7,5", "~4,5,3", "-", "x(4,7,3)", 1.0, 0, 0),
    MATMUL("full bias", "7,5", "5,3", "x:any(7,3)", "x(7,3)", 1.0, 0, 0),
    MATMUL("bias of a row", "7,5", "5,3", "x:any(~7,3)", "x(7,3)", 1.0, 0, 0),
    MATMUL("bias of a column", "7,5", "5,3", "x:any(7,~3)", "x(7,3)", 1.0, 0, 0),
    MATMUL("alpha", "7,5", "5,3", "-", "x(7,3)", -0.25, 0, 0),
    MATMUL("alpha and bias", "7,5", "5,3", "x:any(~7,3)", "x(7,3)", 0.5, 0, 0),
    MATMUL("accumulated", "7,5", "5,3", "-", "+x:any(7,3)", 1.0, 1, 0),
    MATMUL("accumulated, alpha and bias", "17,9", "9,20", "x:any(~17,20)", "+x:any(17,20)", 2.0, 1,
           0),
    MATMUL("inner size 0", "3,0", "0,2", "-", "x(3,2)", 1.0, 0, 0),
    MATMUL("inner size 0, bias", "3,0", "0,2", "x:any(~3,2)", "x(3,2)", 1.0, 0, 0),
    MATMUL("inner size 0, accumulated", "3,0", "0,2", "-", "+x:any(3,2)", 1.0, 1, 0),
    MATMUL("no row", "0,4", "4,3", "-", "x(0,3)", 1.0, 0, 0),
    ACTIVATED(RELU, "relu"),
    ACTIVATED(GELU, "gelu"),
    ACTIVATED(GELU_TANH, "gelu_tanh"),
    ACTIVATED(SIGMOID, "sigmoid"),
    ACTIVATED(TANH, "tanh"),
    ACTIVATED(SILU, "silu"),
    {0}};
