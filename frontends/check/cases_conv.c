/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions, their gradients, and nearest-neighbour interpolation. */
#include "case.h"

#define GEOMETRY(rank, step, zeros, gap, parts, function)                                          \
    ATTRS(axle_conv_attrs, .n_spatial = (rank), .groups = (parts), .activation = (function),       \
          .stride = {(step), (step), (step)}, .pad = {(zeros), (zeros), (zeros)},                  \
          .dilation = {(gap), (gap), (gap)})

/* X(label, x, w, channels in, channels out, y, spatial dims, stride, pad, dilation, groups) */
#define GEOMETRIES(X)                                                                              \
    X("3x3", "2,3,7,6", "4,3,3,3", "3", "4", "2,4,5,4", 2, 1, 0, 1, 1)                             \
    X("3x3, padded", "2,3,7,6", "5,3,3,3", "3", "5", "2,5,7,6", 2, 1, 1, 1, 1)                     \
    X("3x3, stride 2", "2,3,9,8", "4,3,3,3", "3", "4", "2,4,5,4", 2, 2, 1, 1, 1)                   \
    X("3x3, dilated", "1,2,9,9", "3,2,3,3", "2", "3", "1,3,5,5", 2, 1, 0, 2, 1)                    \
    X("5x5 of one channel", "3,1,12,12", "6,1,5,5", "1", "6", "3,6,12,12", 2, 1, 2, 1, 1)          \
    X("1x1", "2,5,4,3", "7,5,1,1", "5", "7", "2,7,4,3", 2, 1, 0, 1, 1)                             \
    X("1x1, stride 2", "2,4,5,5", "8,4,1,1", "4", "8", "2,8,3,3", 2, 2, 0, 1, 1)                   \
    X("two groups", "2,4,6,5", "6,2,3,3", "4", "6", "2,6,6,5", 2, 1, 1, 1, 2)                      \
    X("a group a channel", "2,4,6,6", "4,1,3,3", "4", "4", "2,4,6,6", 2, 1, 1, 1, 4)               \
    X("as large as the picture", "2,3,4,4", "5,3,4,4", "3", "5", "2,5,1,1", 2, 1, 0, 1, 1)         \
    X("16 to 32 channels", "2,16,10,10", "32,16,3,3", "16", "32", "2,32,10,10", 2, 1, 1, 1, 1)     \
    X("along a line", "2,3,11", "4,3,5", "3", "4", "2,4,6", 1, 2, 2, 1, 1)                         \
    X("in a volume", "1,2,5,4,6", "3,2,3,3,3", "2", "3", "1,3,5,4,6", 3, 1, 1, 1, 1)

#define CONV(label, x, w, ci, co, y, rank, step, zeros, gap, parts)                                \
    {.op = AXLE_OP_CONV,                                                                           \
     .name = label,                                                                                \
     .in = "x:any(" x ") x:any(" w ") -",                                                          \
     .out = "x(" y ")",                                                                            \
     .attrs = GEOMETRY(rank, step, zeros, gap, parts, 0)},                                         \
        {.op = AXLE_OP_CONV,                                                                       \
         .name = label ", bias, relu",                                                             \
         .in = "x:any(" x ") x:any(" w ") x:any(" co ")",                                          \
         .out = "x(" y ")",                                                                        \
         .attrs = GEOMETRY(rank, step, zeros, gap, parts, AXLE_UNARY_RELU)},
#define DATA(label, x, w, ci, co, y, rank, step, zeros, gap, parts)                                \
    {.op = AXLE_OP_CONV_BACKWARD_DATA,                                                             \
     .name = label,                                                                                \
     .in = "x:any(" y ") x:any(" w ") -",                                                          \
     .out = "x(" x ")",                                                                            \
     .attrs = GEOMETRY(rank, step, zeros, gap, parts, 0)},                                         \
        {.op = AXLE_OP_CONV_BACKWARD_DATA,                                                         \
         .name = label ", bias",                                                                   \
         .in = "x:any(" y ") x:any(" w ") x:any(" ci ")",                                          \
         .out = "x(" x ")",                                                                        \
         .attrs = GEOMETRY(rank, step, zeros, gap, parts, 0)},
#define WEIGHT(label, x, w, ci, co, y, rank, step, zeros, gap, parts)                              \
    {.op = AXLE_OP_CONV_BACKWARD_WEIGHT,                                                           \
     .name = label,                                                                                \
     .in = "x:any(" y ") x:any(" x ")",                                                            \
     .out = "x(" w ") x(" co ")",                                                                  \
     .attrs = GEOMETRY(rank, step, zeros, gap, parts, 0)},                                         \
        {.op = AXLE_OP_CONV_BACKWARD_WEIGHT,                                                       \
         .name = label ", no bias",                                                                \
         .in = "x:any(" y ") x:any(" x ")",                                                        \
         .out = "x(" w ") -",                                                                      \
         .attrs = GEOMETRY(rank, step, zeros, gap, parts, 0)},

/* clang-format off */
const op_case cases_conv[] = {
    GEOMETRIES(CONV)
    GEOMETRIES(DATA)
    GEOMETRIES(WEIGHT)
    {.op = AXLE_OP_CONV_BACKWARD_WEIGHT,
     .name = "of the bias alone",
     .in = "x:any(2,4,5,4) x:any(2,3,7,6)",
     .out = "- x(4)",
     .attrs = GEOMETRY(2, 1, 0, 1, 1, 0)},
    {.op = AXLE_OP_CONV_BACKWARD_WEIGHT,
     .name = "of no picture",
     .in = "x:any(0,4,5,4) x:any(0,3,7,6)",
     .out = "x(4,3,3,3) x(4)",
     .attrs = GEOMETRY(2, 1, 0, 1, 1, 0)},
    {.op = AXLE_OP_CONV,
     .name = "of no picture",
     .in = "x:any(0,3,7,6) x:any(4,3,3,3) -",
     .out = "x(0,4,5,4)",
     .attrs = GEOMETRY(2, 1, 0, 1, 1, 0)},
    {.op = AXLE_OP_INTERPOLATE, .name = "larger", .in = "x:any(2,3,4,5)", .out = "x(2,3,7,10)"},
    {.op = AXLE_OP_INTERPOLATE, .name = "smaller", .in = "x:any(2,3,7,5)", .out = "x(2,3,3,4)"},
    {.op = AXLE_OP_INTERPOLATE, .name = "along a line", .in = "x:any(2,3,4)", .out = "x(2,3,9)"},
    {.op = AXLE_OP_INTERPOLATE_BACKWARD, .name = "larger", .in = "x:any(2,3,7,10)",
     .out = "x(2,3,4,5)"},
    {.op = AXLE_OP_INTERPOLATE_BACKWARD, .name = "smaller", .in = "x:any(2,3,3,4)",
     .out = "x(2,3,7,5)"},
    {.op = AXLE_OP_INTERPOLATE_BACKWARD, .name = "along a line", .in = "x:any(2,3,9)",
     .out = "x(2,3,4)"},
    {0}};
/* clang-format on */
