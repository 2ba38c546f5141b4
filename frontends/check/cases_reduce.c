/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, extrema and the like over some of the dims. */
#include "case.h"

/* X(label, bits of the axes, dims before, dims after) */
#define SHAPES(X, ...)                                                                             \
    X("over the last dim", 4, "3,5,7", "3,5,1", __VA_ARGS__)                                       \
    X("over the middle dim", 2, "3,5,7", "3,1,7", __VA_ARGS__)                                     \
    X("over the first dim", 1, "5,3,2", "1,3,2", __VA_ARGS__)                                      \
    X("over both ends", 5, "3,5,2", "1,5,1", __VA_ARGS__)                                          \
    X("over all dims", 7, "2,3,5", "1,1,1", __VA_ARGS__)                                           \
    X("over one element", 2, "4,1", "4,1", __VA_ARGS__)

#define REDUCE(where, bits, before, after, KIND, label, domain, result)                            \
    {.op = AXLE_OP_REDUCE,                                                                         \
     .name = label " " where,                                                                      \
     .in = "x:" domain "(" before ")",                                                             \
     .out = result "(" after ")",                                                                  \
     .attrs =                                                                                      \
         ATTRS(axle_reduce_attrs, .kind = AXLE_REDUCE_##KIND, .axes = (bits), .parameter = 1.0)},
#define ALL_SHAPES(...) SHAPES(REDUCE, __VA_ARGS__)
#define LONG_ROWS(...)                                                                             \
    REDUCE("over a long row", 2, "2,5003", "2,1", __VA_ARGS__)                                     \
    REDUCE("over a long column", 1, "1031,3", "1,3", __VA_ARGS__)
#define NOTHING(...) REDUCE("over nothing", 2, "3,0", "3,1", __VA_ARGS__)

#define ARG(where, number, before, after, KIND, label, domain)                                     \
    {.op = AXLE_OP_ARG_REDUCE,                                                                     \
     .name = label " " where,                                                                      \
     .in = "x:" domain "(" before ")",                                                             \
     .out = "i64(" after ")",                                                                      \
     .attrs = ATTRS(axle_arg_reduce_attrs, .kind = AXLE_REDUCE_##KIND, .axis = (number))},
#define ARGS(KIND, label)                                                                          \
    ARG("over the last dim", 2, "3,5,7", "3,5,1", KIND, label, "any")                              \
    ARG("over the middle dim", 1, "3,5,7", "3,1,7", KIND, label, "nan")                            \
    ARG("over the first dim", 0, "5,3,2", "1,3,2", KIND, label, "small")                           \
    ARG("over a long row of few values", 1, "2,1031", "2,1", KIND, label, "small")

/* clang-format off */
const op_case cases_reduce[] = {
    ALL_SHAPES(SUM, "sum", "any", "x") LONG_ROWS(SUM, "sum", "any", "x") NOTHING(SUM, "sum", "any", "x")
    ALL_SHAPES(MEAN, "mean", "any", "x") LONG_ROWS(MEAN, "mean", "any", "x")
    NOTHING(MEAN, "mean", "any", "x")
    ALL_SHAPES(PROD, "prod", "small", "x") NOTHING(PROD, "prod", "small", "x")
    ALL_SHAPES(MAX, "max", "nan", "x") LONG_ROWS(MAX, "max", "any", "x")
    ALL_SHAPES(MIN, "min", "nan", "x") LONG_ROWS(MIN, "min", "any", "x")
    ALL_SHAPES(VAR, "var", "any", "x") LONG_ROWS(VAR, "var", "up", "x") NOTHING(VAR, "var", "any", "x")
    ALL_SHAPES(NORM1, "norm1", "any", "x") LONG_ROWS(NORM1, "norm1", "any", "x")
    ALL_SHAPES(NORM2, "norm2", "any", "x") LONG_ROWS(NORM2, "norm2", "any", "x")
    ALL_SHAPES(SUM_SQUARES, "sum_squares", "any", "x")
    LONG_ROWS(SUM_SQUARES, "sum_squares", "any", "x")
    ALL_SHAPES(ANY, "any", "small", "bool") NOTHING(ANY, "any", "small", "bool")
    ALL_SHAPES(ALL, "all", "small", "bool") NOTHING(ALL, "all", "small", "bool")
    ARGS(MAX, "max")
    ARGS(MIN, "min")
    {0}};
/* clang-format on */
