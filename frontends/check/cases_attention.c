/* SPDX-License-Identifier: Apache-2.0 */
/* Attention. The backward pass takes what the forward one gives. */
#include "case.h"

/* X(label, q, k, v, mask or "-", y, rows, causal, scale, dropout, number of the first element) */
#define ATTENTIONS(X)                                                                              \
    X("plain", "2,3,5,8", "2,3,5,8", "2,3,5,8", "-", "2,3,5,8", "2,3,5", 0, 0.35, 0.0, 0)          \
    X("of other lengths", "1,2,3,4", "1,2,7,4", "1,2,7,6", "-", "1,2,3,6", "1,2,3", 0, 0.5, 0.0,   \
      0)                                                                                           \
    X("long", "1,2,65,16", "1,2,67,16", "1,2,67,16", "-", "1,2,65,16", "1,2,65", 0, 0.25, 0.0, 0)  \
    X("causal", "2,2,6,8", "2,2,6,8", "2,2,6,8", "-", "2,2,6,8", "2,2,6", 1, 0.35, 0.0, 0)         \
    X("with a boolean mask", "2,2,5,8", "2,2,7,8", "2,2,7,8", "bool:mask(2,2,5,7)", "2,2,5,8",     \
      "2,2,5", 0, 0.35, 0.0, 0)                                                                    \
    X("with a mask for all heads", "2,3,4,8", "2,3,6,8", "2,3,6,8", "bool:mask(2,~3,~4,6)",        \
      "2,3,4,8", "2,3,4", 0, 0.35, 0.0, 0)                                                         \
    X("with an additive mask", "2,2,5,8", "2,2,7,8", "2,2,7,8", "x:mask(2,2,5,7)", "2,2,5,8",      \
      "2,2,5", 0, 0.35, 0.0, 0)                                                                    \
    X("causal, with a mask", "2,2,6,8", "2,2,6,8", "2,2,6,8", "bool:mask(2,~2,~6,6)", "2,2,6,8",   \
      "2,2,6", 1, 0.35, 0.0, 0)                                                                    \
    X("with dropout", "2,2,5,8", "2,2,7,8", "2,2,7,8", "-", "2,2,5,8", "2,2,5", 0, 0.35, 0.3, 0)   \
    X("with dropout from element 2^34 + 1", "2,2,5,8", "2,2,7,8", "2,2,7,8", "-", "2,2,5,8",       \
      "2,2,5", 0, 0.35, 0.3, (UINT64_C(1) << 34) + 1)                                              \
    X("large, with a mask", "1,2,100,40", "1,2,97,40", "1,2,97,36", "bool:mask(1,2,100,97)",       \
      "1,2,100,36", "1,2,100", 0, 0.16, 0.0, 0)                                                    \
    X("large and causal, with dropout", "1,2,100,40", "1,2,100,40", "1,2,100,36", "-",             \
      "1,2,100,36", "1,2,100", 1, 0.16, 0.1, 3)

#define ATTENTION_ATTRS(triangle, factor, p)                                                       \
    ATTRS(axle_attention_attrs, .causal = (triangle), .scale = (factor), .dropout = (p))
#define ATTENTION(label, q, k, v, mask, y, rows, triangle, factor, p, first)                       \
    {.op = AXLE_OP_ATTENTION,                                                                      \
     .name = label,                                                                                \
     .in = "x:any(" q ") x:any(" k ") x:any(" v ") " mask,                                         \
     .out = "x(" y ") stat(" rows ")",                                                             \
     .attrs = ATTENTION_ATTRS(triangle, factor, p),                                                \
     .rng_offset = (first)},                                                                       \
        {.op = AXLE_OP_ATTENTION,                                                                  \
         .name = label ", no lse",                                                                 \
         .in = "x:any(" q ") x:any(" k ") x:any(" v ") " mask,                                     \
         .out = "x(" y ") -",                                                                      \
         .attrs = ATTENTION_ATTRS(triangle, factor, p),                                            \
         .rng_offset = (first)},
#define ATTENTION_BACKWARD(label, q, k, v, mask, y, rows, triangle, factor, p, first)              \
    {.op = AXLE_OP_ATTENTION_BACKWARD,                                                             \
     .name = label,                                                                                \
     .in = "x:any(" y ") x:any(" q ") x:any(" k ") x:any(" v ") " mask " x(" y ") stat(" rows ")", \
     .out = "x(" q ") x(" k ") x(" v ")",                                                          \
     .attrs = ATTENTION_ATTRS(triangle, factor, p),                                                \
     .rng_offset = (first),                                                                        \
     .slack = 4,                                                                                   \
     .forward = {AXLE_OP_ATTENTION, "#1 #2 #3 #4", "#5 #6"}},

/* clang-format off */
const op_case cases_attention[] = {
    ATTENTIONS(ATTENTION)
    ATTENTIONS(ATTENTION_BACKWARD)
    {.op = AXLE_OP_ATTENTION,
     .name = "of NaN that is masked",
     .in = "x:any(1,2,3,4) x:nothing(1,2,5,4) x:nothing(1,2,5,4) bool:zero(1,~2,~3,5)",
     .out = "x(1,2,3,4) stat(1,2,3)",
     .attrs = ATTENTION_ATTRS(0, 0.5, 0.0)},
    {.op = AXLE_OP_ATTENTION,
     .name = "of NaN here and there, with a mask",
     .in = "x:any(2,2,9,8) x:any(2,2,7,8) x:nan(2,2,7,6) bool:mask(2,2,9,7)",
     .out = "x(2,2,9,6) stat(2,2,9)",
     .attrs = ATTENTION_ATTRS(0, 0.35, 0.0)},
    {.op = AXLE_OP_ATTENTION,
     .name = "of NaN here and there, causal",
     .in = "x:any(2,2,17,8) x:any(2,2,17,8) x:nan(2,2,17,6) -",
     .out = "x(2,2,17,6) stat(2,2,17)",
     .attrs = ATTENTION_ATTRS(1, 0.35, 0.0)},
    {.op = AXLE_OP_ATTENTION_BACKWARD,
     .name = "of NaN here and there, with a mask",
     .in = "x:nan(2,2,9,2) x:any(2,2,9,4) x:any(2,2,3,4) x:any(2,2,3,2) bool:mask(2,2,9,3) "
           "x(2,2,9,2) stat(2,2,9)",
     .out = "x(2,2,9,4) x(2,2,3,4) x(2,2,3,2)",
     .attrs = ATTENTION_ATTRS(0, 0.5, 0.0),
     .slack = 4,
     .forward = {AXLE_OP_ATTENTION, "#1 #2 #3 #4", "#5 #6"}},
    {0}};
/* clang-format on */
