/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling. The backward pass of a maximum takes the positions that the forward one found. */
#include "case.h"

#define WINDOW(type, rank, size, step, zeros, gap)                                                 \
    ATTRS(axle_pool_attrs, .n_spatial = (rank), .kind = AXLE_POOL_##type,                          \
          .kernel = {(size), (size), (size)}, .stride = {(step), (step), (step)},                  \
          .pad = {(zeros), (zeros), (zeros)}, .dilation = {(gap), (gap), (gap)})
#define ADAPTIVE(type, rank)                                                                       \
    ATTRS(axle_pool_attrs, .n_spatial = (rank), .kind = AXLE_POOL_##type, .adaptive = 1)

#define MAXIMUM(label, domain, x, y, window)                                                       \
    {.op = AXLE_OP_POOL,                                                                           \
     .name = "max, " label,                                                                        \
     .in = "x:" domain "(" x ")",                                                                  \
     .out = "x(" y ") i32(" y ")",                                                                 \
     .attrs = window},                                                                             \
        {.op = AXLE_OP_POOL,                                                                       \
         .name = "max, " label ", no index",                                                       \
         .in = "x:" domain "(" x ")",                                                              \
         .out = "x(" y ") -",                                                                      \
         .attrs = window},                                                                         \
        {.op = AXLE_OP_POOL_BACKWARD,                                                              \
         .name = "max, " label,                                                                    \
         .in = "x:any(" y ") i32:zero(" y ")",                                                     \
         .out = "x(" x ")",                                                                        \
         .attrs = window,                                                                          \
         .forward = {AXLE_OP_POOL, "x:" domain "(" x ")", "x(" y ") #1"}},
#define AVERAGE(label, x, y, window)                                                               \
    {.op = AXLE_OP_POOL,                                                                           \
     .name = label,                                                                                \
     .in = "x:any(" x ")",                                                                         \
     .out = "x(" y ") -",                                                                          \
     .attrs = window},                                                                             \
        {.op = AXLE_OP_POOL_BACKWARD,                                                              \
         .name = label,                                                                            \
         .in = "x:any(" y ") -",                                                                   \
         .out = "x(" x ")",                                                                        \
         .attrs = window},

/* clang-format off */
const op_case cases_pool[] = {
    MAXIMUM("2x2", "any", "2,3,6,8", "2,3,3,4", WINDOW(MAX, 2, 2, 2, 0, 1))
    MAXIMUM("3x3, overlapping and padded", "any", "2,3,7,6", "2,3,4,3", WINDOW(MAX, 2, 3, 2, 1, 1))
    MAXIMUM("with ties", "small", "2,3,7,6", "2,3,5,4", WINDOW(MAX, 2, 3, 1, 0, 1))
    MAXIMUM("with NaN", "nan", "2,3,6,6", "2,3,3,3", WINDOW(MAX, 2, 2, 2, 0, 1))
    MAXIMUM("dilated", "any", "1,2,9,9", "1,2,5,5", WINDOW(MAX, 2, 3, 1, 0, 2))
    MAXIMUM("leaving the picture on the right", "any", "2,3,7,7", "2,3,4,4", WINDOW(MAX, 2, 2, 2, 0, 1))
    MAXIMUM("along a line", "any", "2,3,11", "2,3,6", WINDOW(MAX, 1, 3, 2, 1, 1))
    MAXIMUM("in a volume", "any", "1,2,4,6,4", "1,2,2,3,2", WINDOW(MAX, 3, 2, 2, 0, 1))
    MAXIMUM("adaptive", "any", "2,3,7,5", "2,3,3,2", ADAPTIVE(MAX, 2))
    AVERAGE("avg, 2x2", "2,3,6,8", "2,3,3,4", WINDOW(AVG, 2, 2, 2, 0, 1))
    AVERAGE("avg, 3x3, padded", "2,3,7,6", "2,3,4,3", WINDOW(AVG, 2, 3, 2, 1, 1))
    AVERAGE("avg, padding not counted", "2,3,7,6", "2,3,4,3", WINDOW(AVG_NO_PAD, 2, 3, 2, 1, 1))
    AVERAGE("avg, leaving the picture on the right", "2,3,7,7", "2,3,4,4", WINDOW(AVG, 2, 2, 2, 0, 1))
    AVERAGE("avg, along a line", "2,3,11", "2,3,5", WINDOW(AVG, 1, 3, 2, 0, 1))
    AVERAGE("avg, in a volume", "1,2,4,6,4", "1,2,2,3,2", WINDOW(AVG, 3, 2, 2, 0, 1))
    AVERAGE("avg, adaptive", "2,3,7,5", "2,3,3,2", ADAPTIVE(AVG, 2))
    AVERAGE("avg, of the whole picture", "2,5,7,7", "2,5,1,1", ADAPTIVE(AVG, 2))
    {0}};
/* clang-format on */
