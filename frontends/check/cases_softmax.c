/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and cross-entropy. Backward passes take what the forward ones give. */
#include "case.h"

/* X(label, domain, dims, mask or "-", number of the axis, log, causal, scale) */
#define SOFTMAXES(X)                                                                               \
    X("over the last dim", "any", "3,5,7", "-", 2, 0, 0, 1.0)                                      \
    X("over the middle dim", "any", "3,5,7", "-", 1, 0, 0, 1.0)                                    \
    X("over the first dim", "any", "5,3", "-", 0, 0, 0, 1.0)                                       \
    X("of far numbers", "far", "6,33", "-", 1, 0, 0, 1.0)                                          \
    X("of one column", "any", "4,1", "-", 1, 0, 0, 1.0)                                            \
    X("of a long row", "any", "2,3001", "-", 1, 0, 0, 1.0)                                         \
    X("scaled", "any", "3,9", "-", 1, 0, 0, 0.125)                                                 \
    X("causal", "any", "2,5,5", "-", 2, 0, 1, 1.0)                                                 \
    X("with a boolean mask", "any", "4,6", "bool:mask(4,6)", 1, 0, 0, 1.0)                         \
    X("with an additive mask", "any", "4,6", "x:mask(4,6)", 1, 0, 0, 0.5)                          \
    X("with a repeated mask", "any", "3,4,6", "bool:mask(~3,4,6)", 2, 0, 0, 1.0)                   \
    X("log, over the last dim", "far", "5,9", "-", 1, 1, 0, 1.0)                                   \
    X("log, over the middle dim", "any", "3,5,7", "-", 1, 1, 0, 1.0)                               \
    X("log, with a boolean mask", "any", "4,6", "bool:mask(4,6)", 1, 1, 0, 1.0)

#define SOFTMAX(label, domain, dims, mask, number, logarithm, triangle, factor)                    \
    {.op = AXLE_OP_SOFTMAX,                                                                        \
     .name = label,                                                                                \
     .in = "x:" domain "(" dims ") " mask,                                                         \
     .out = "x(" dims ")",                                                                         \
     .attrs = ATTRS(axle_softmax_attrs, .axis = (number), .log = (logarithm),                      \
                    .causal = (triangle), .scale = (factor))},
#define SOFTMAX_BACKWARD(label, domain, dims, mask, number, logarithm, triangle, factor)           \
    {.op = AXLE_OP_SOFTMAX_BACKWARD,                                                               \
     .name = label,                                                                                \
     .in = "x:any(" dims ") x:" domain "(" dims ")",                                               \
     .out = "x(" dims ")",                                                                         \
     .attrs = ATTRS(axle_softmax_attrs, .axis = (number), .log = (logarithm),                      \
                    .causal = (triangle), .scale = (factor)),                                      \
     .forward = {AXLE_OP_SOFTMAX, "#1 " mask, "#1"}},

/* X(label, domain and dims of the logits, targets, weight or "-", dims of the loss and of a
 * position, reduction, smoothing) */
#define ENTROPIES(X)                                                                               \
    X("mean", "any", "5,7,1", "i64:below(5,1)=7", "-", "1,1", "5,1", MEAN, 0.0)                    \
    X("sum", "any", "5,7,1", "i64:below(5,1)=7", "-", "1,1", "5,1", SUM, 0.0)                      \
    X("none", "any", "5,7,1", "i64:below(5,1)=7", "-", "5,1", "5,1", NONE, 0.0)                    \
    X("i32 targets", "any", "5,7,1", "i32:below(5,1)=7", "-", "1,1", "5,1", MEAN, 0.0)             \
    X("mean, some ignored", "any", "9,7,1", "i64:target(9,1)=7", "-", "1,1", "9,1", MEAN, 0.0)     \
    X("mean, all ignored", "any", "5,7,1", "i64:ignored(5,1)", "-", "1,1", "5,1", MEAN, 0.0)       \
    X("none, some ignored", "any", "3,7,4", "i64:target(3,4)=7", "-", "3,4", "3,4", NONE, 0.0)     \
    X("smoothed", "any", "5,7,1", "i64:target(5,1)=7", "-", "1,1", "5,1", MEAN, 0.2)               \
    X("weighted", "any", "9,7,1", "i64:target(9,1)=7", "x:pos(7)", "1,1", "9,1", MEAN, 0.0)        \
    X("weighted, smoothed, sum", "any", "3,7,4", "i64:target(3,4)=7", "x:pos(7)", "1,1", "3,4",    \
      SUM, 0.1)                                                                                    \
    X("of far logits", "far", "4,33,1", "i64:below(4,1)=33", "-", "1,1", "4,1", MEAN, 0.0)         \
    X("of pictures", "any", "2,5,12", "i64:target(2,12)=5", "-", "1,1", "2,12", MEAN, 0.0)

#define ENTROPY_ATTRS(how, smoothing)                                                              \
    ATTRS(axle_cross_entropy_attrs, .reduction = AXLE_REDUCTION_##how, .ignore_index = -100,       \
          .label_smoothing = (smoothing))
#define ENTROPY(label, domain, dims, targets, weight, loss, positions, how, smoothing)             \
    {.op = AXLE_OP_CROSS_ENTROPY,                                                                  \
     .name = label,                                                                                \
     .in = "x:" domain "(" dims ") " targets " " weight,                                           \
     .out = "x(" loss ") stat(" positions ") stat(1,1)",                                           \
     .attrs = ENTROPY_ATTRS(how, smoothing)},
#define ENTROPY_BACKWARD(label, domain, dims, targets, weight, loss, positions, how, smoothing)    \
    {.op = AXLE_OP_CROSS_ENTROPY_BACKWARD,                                                         \
     .name = label,                                                                                \
     .in = "x:any(" loss ") x:" domain "(" dims ") " targets " " weight " stat(" positions         \
           ") stat(1,1)",                                                                          \
     .out = "x(" dims ")",                                                                         \
     .attrs = ENTROPY_ATTRS(how, smoothing),                                                       \
     .forward = {AXLE_OP_CROSS_ENTROPY, "#1 #2 #3", "x(" loss ") #4 #5"}},

/* clang-format off */
const op_case cases_softmax[] = {
    SOFTMAXES(SOFTMAX)
    SOFTMAXES(SOFTMAX_BACKWARD)
    ENTROPIES(ENTROPY)
    ENTROPIES(ENTROPY_BACKWARD)
    {.op = AXLE_OP_CROSS_ENTROPY,
     .name = "of a target outside the classes",
     .in = "x:any(5,7,1) i64:outside(5,1)=7 -",
     .out = "x(1,1) stat(5,1) stat(1,1)",
     .attrs = ENTROPY_ATTRS(MEAN, 0.0),
     .flags = CASE_BAD_INDEX},
    {0}};
/* clang-format on */
