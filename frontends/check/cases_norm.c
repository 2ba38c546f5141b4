/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisation. Backward passes take the statistics that the forward ones give. */
#include "case.h"

/* With a smaller eps the gradients of groups of a few equal numbers are differences of large ones,
 * and their last places noise. */
#define LAYER_ATTRS(type) ATTRS(axle_layer_norm_attrs, .kind = AXLE_NORM_##type, .eps = 1e-2)
#define BATCH_ATTRS(trains)                                                                        \
    ATTRS(axle_batch_norm_attrs, .training = (trains), .eps = 1e-2, .momentum = 0.1)
#define GROUP_ATTRS(number) ATTRS(axle_group_norm_attrs, .groups = (number), .eps = 1e-2)

/* X(label, domain, rows, columns) */
#define LAYERS(X)                                                                                  \
    X("(5,7)", "any", "5", "7")                                                                    \
    X("(3,259)", "any", "3", "259")                                                                \
    X("(70,16)", "any", "70", "16")                                                                \
    X("about 1000", "up", "4", "64")

#define LAYER(label, domain, r, d)                                                                 \
    {.op = AXLE_OP_LAYER_NORM,                                                                     \
     .name = "layer " label,                                                                       \
     .in = "x:" domain "(" r "," d ") x:any(" d ") x:any(" d ")",                                  \
     .out = "x(" r "," d ") stat(" r ") stat(" r ")",                                              \
     .attrs = LAYER_ATTRS(LAYER)},                                                                 \
        {.op = AXLE_OP_LAYER_NORM,                                                                 \
         .name = "layer " label ", plain",                                                         \
         .in = "x:" domain "(" r "," d ") - -",                                                    \
         .out = "x(" r "," d ") - -",                                                              \
         .attrs = LAYER_ATTRS(LAYER)},                                                             \
        {.op = AXLE_OP_LAYER_NORM,                                                                 \
         .name = "rms " label,                                                                     \
         .in = "x:" domain "(" r "," d ") x:any(" d ") -",                                         \
         .out = "x(" r "," d ") - stat(" r ")",                                                    \
         .attrs = LAYER_ATTRS(RMS)},
#define LAYER_BACKWARD(label, domain, r, d)                                                        \
    {.op = AXLE_OP_LAYER_NORM_BACKWARD,                                                            \
     .name = "layer " label,                                                                       \
     .in = "x:any(" r "," d ") x:" domain "(" r "," d ") x:any(" d ") stat(" r ") stat(" r ")",    \
     .out = "x(" r "," d ") x(" d ") x(" d ")",                                                    \
     .attrs = LAYER_ATTRS(LAYER),                                                                  \
     .slack = 4,                                                                                   \
     .forward = {AXLE_OP_LAYER_NORM, "#1 #2 -", "x(" r "," d ") #3 #4"}},                          \
        {.op = AXLE_OP_LAYER_NORM_BACKWARD,                                                        \
         .name = "layer " label ", plain",                                                         \
         .in = "x:any(" r "," d ") x:" domain "(" r "," d ") - stat(" r ") stat(" r ")",           \
         .out = "x(" r "," d ") - -",                                                              \
         .attrs = LAYER_ATTRS(LAYER),                                                              \
         .slack = 4,                                                                               \
         .forward = {AXLE_OP_LAYER_NORM, "#1 - -", "x(" r "," d ") #3 #4"}},                       \
        {.op = AXLE_OP_LAYER_NORM_BACKWARD,                                                        \
         .name = "rms " label,                                                                     \
         .in = "x:any(" r "," d ") x:" domain "(" r "," d ") x:any(" d ") - stat(" r ")",          \
         .out = "x(" r "," d ") x(" d ") -",                                                       \
         .attrs = LAYER_ATTRS(RMS),                                                                \
         .slack = 4,                                                                               \
         .forward = {AXLE_OP_LAYER_NORM, "#1 #2 -", "x(" r "," d ") - #4"}},

/* X(label, x, channels) */
#define BATCHES(X)                                                                                 \
    X("(8,5)", "8,5", "5")                                                                         \
    X("(4,3,7)", "4,3,7", "3")                                                                     \
    X("(3,4,5,6)", "3,4,5,6", "4")                                                                 \
    X("(2,16,9,9)", "2,16,9,9", "16")                                                              \
    X("(2,3,2,3,4)", "2,3,2,3,4", "3")

#define BATCH(label, x, c)                                                                         \
    {.op = AXLE_OP_BATCH_NORM,                                                                     \
     .name = label ", training",                                                                   \
     .in = "x:any(" x ") x:any(" c ") x:any(" c ") x:any(" c ") x:pos(" c ")",                     \
     .out = "x(" x ") stat(" c ") stat(" c ") @3 @4",                                              \
     .attrs = BATCH_ATTRS(1)},                                                                     \
        {.op = AXLE_OP_BATCH_NORM,                                                                 \
         .name = label ", training, plain",                                                        \
         .in = "x:any(" x ") - - - -",                                                             \
         .out = "x(" x ") stat(" c ") stat(" c ") - -",                                            \
         .attrs = BATCH_ATTRS(1)},                                                                 \
        {.op = AXLE_OP_BATCH_NORM,                                                                 \
         .name = label ", inference",                                                              \
         .in = "x:any(" x ") x:any(" c ") x:any(" c ") x:any(" c ") x:pos(" c ")",                 \
         .out = "x(" x ") stat(" c ") stat(" c ") - -",                                            \
         .attrs = BATCH_ATTRS(0)},
#define BATCH_BACKWARD(label, x, c)                                                                \
    {.op = AXLE_OP_BATCH_NORM_BACKWARD,                                                            \
     .name = label ", training",                                                                   \
     .in = "x:any(" x ") x:any(" x ") x:any(" c ") stat(" c ") stat(" c ")",                       \
     .out = "x(" x ") x(" c ") x(" c ")",                                                          \
     .attrs = BATCH_ATTRS(1),                                                                      \
     .slack = 4,                                                                                   \
     .forward = {AXLE_OP_BATCH_NORM, "#1 #2 - - -", "x(" x ") #3 #4 - -"}},                        \
        {.op = AXLE_OP_BATCH_NORM_BACKWARD,                                                        \
         .name = label ", training, plain",                                                        \
         .in = "x:any(" x ") x:any(" x ") - stat(" c ") stat(" c ")",                              \
         .out = "x(" x ") - -",                                                                    \
         .attrs = BATCH_ATTRS(1),                                                                  \
         .slack = 4,                                                                               \
         .forward = {AXLE_OP_BATCH_NORM, "#1 - - - -", "x(" x ") #3 #4 - -"}},                     \
        {.op = AXLE_OP_BATCH_NORM_BACKWARD,                                                        \
         .name = label ", inference",                                                              \
         .in = "x:any(" x ") x:any(" x ") x:any(" c ") stat:any(" c ") stat:pos(" c ")",           \
         .out = "x(" x ") x(" c ") x(" c ")",                                                      \
         .attrs = BATCH_ATTRS(0),                                                                  \
         .slack = 4},

/* X(label, x, channels, groups, number of groups, dims of the statistics) */
#define GROUPS(X)                                                                                  \
    X("(2,6) in 3", "2,6", "6", 3, "2,3")                                                          \
    X("(2,4,3,5) in 2", "2,4,3,5", "4", 2, "2,2")                                                  \
    X("(3,4,7) in 1", "3,4,7", "4", 1, "3,1")                                                      \
    X("(2,4,5,3) in 4", "2,4,5,3", "4", 4, "2,4")

#define GROUP(label, x, c, groups, stats)                                                          \
    {.op = AXLE_OP_GROUP_NORM,                                                                     \
     .name = label,                                                                                \
     .in = "x:any(" x ") x:any(" c ") x:any(" c ")",                                               \
     .out = "x(" x ") stat(" stats ") stat(" stats ")",                                            \
     .attrs = GROUP_ATTRS(groups)},                                                                \
        {.op = AXLE_OP_GROUP_NORM,                                                                 \
         .name = label ", plain",                                                                  \
         .in = "x:any(" x ") - -",                                                                 \
         .out = "x(" x ") - -",                                                                    \
         .attrs = GROUP_ATTRS(groups)},
#define GROUP_BACKWARD(label, x, c, groups, stats)                                                 \
    {.op = AXLE_OP_GROUP_NORM_BACKWARD,                                                            \
     .name = label,                                                                                \
     .in = "x:any(" x ") x:any(" x ") x:any(" c ") stat(" stats ") stat(" stats ")",               \
     .out = "x(" x ") x(" c ") x(" c ")",                                                          \
     .attrs = GROUP_ATTRS(groups),                                                                 \
     .slack = 4,                                                                                   \
     .forward = {AXLE_OP_GROUP_NORM, "#1 #2 -", "x(" x ") #3 #4"}},                                \
        {.op = AXLE_OP_GROUP_NORM_BACKWARD,                                                        \
         .name = label ", plain",                                                                  \
         .in = "x:any(" x ") x:any(" x ") - stat(" stats ") stat(" stats ")",                      \
         .out = "x(" x ") - -",                                                                    \
         .attrs = GROUP_ATTRS(groups),                                                             \
         .slack = 4,                                                                               \
         .forward = {AXLE_OP_GROUP_NORM, "#1 - -", "x(" x ") #3 #4"}},

/* clang-format off */
const op_case cases_norm[] = {
    LAYERS(LAYER)
    LAYER("(1,1)", "any", "1", "1")
    LAYERS(LAYER_BACKWARD)
    BATCHES(BATCH)
    BATCHES(BATCH_BACKWARD)
    GROUPS(GROUP)
    GROUPS(GROUP_BACKWARD)
    {0}};
/* clang-format on */
