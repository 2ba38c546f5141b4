/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of optimizers over flat storage. */
#include "case.h"

static const char *const lengths[] = {"7", "1", "1031", "4096", NULL};

#define STEP(OP, label, outputs, attributes, values)                                               \
    {                                                                                              \
        .op = AXLE_OP_##OP, .name = label, .in = "x:any(*)", .out = outputs, .shapes = lengths,    \
        .attrs = attributes, .scalars = values, .flags = CASE_FLAT                                 \
    }

#define SGD(label, outputs, look_ahead, ascend, begin, m, damp, decay)                             \
    STEP(SGD, label, outputs,                                                                      \
         ATTRS(axle_sgd_attrs, .nesterov = (look_ahead), .maximize = (ascend)),                    \
         ATTRS(axle_sgd_scalars, .first = (begin), .lr = 0.1, .momentum = (m),                     \
               .dampening = (damp), .weight_decay = (decay), .grad_scale = 0.5))
/* After two steps: 1 - 0.9^2 and 1 - 0.999^2. */
#define ADAM(label, outputs, apart, ascend, decay)                                                 \
    STEP(ADAM, label, outputs, ATTRS(axle_adam_attrs, .decoupled = (apart), .maximize = (ascend)), \
         ATTRS(axle_adam_scalars, .lr = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8,           \
               .weight_decay = (decay), .bias1 = 0.19, .bias2 = 0.001999, .grad_scale = 0.5))
#define RMSPROP(label, outputs, ascend, m, decay)                                                  \
    STEP(RMSPROP, label, outputs, ATTRS(axle_rmsprop_attrs, .maximize = (ascend)),                 \
         ATTRS(axle_rmsprop_scalars, .lr = 0.01, .alpha = 0.9, .eps = 1e-6,                        \
               .weight_decay = (decay), .momentum = (m), .grad_scale = 0.5))

const op_case cases_optimizer[] = {
    SGD("plain", "+x:any(*) -", 0, 0, 0, 0.0, 0.0, 0.0),
    SGD("with decay, ascending", "+x:any(*) -", 0, 1, 0, 0.0, 0.0, 0.01),
    SGD("with momentum", "+x:any(*) +x:any(*)", 0, 0, 0, 0.9, 0.1, 0.0),
    SGD("with momentum, its first step", "+x:any(*) +x:nothing(*)", 0, 0, 1, 0.9, 0.1, 0.0),
    SGD("with Nesterov's momentum", "+x:any(*) +x:any(*)", 1, 0, 0, 0.9, 0.0, 0.01),
    ADAM("plain", "+x:any(*) +x:any(*) +x:prob(*) -", 0, 0, 0.0),
    ADAM("with decay", "+x:any(*) +x:any(*) +x:prob(*) -", 0, 0, 0.01),
    ADAM("with decay apart", "+x:any(*) +x:any(*) +x:prob(*) -", 1, 0, 0.01),
    ADAM("with the largest moment", "+x:any(*) +x:any(*) +x:prob(*) +x:prob(*)", 0, 0, 0.0),
    ADAM("ascending", "+x:any(*) +x:any(*) +x:prob(*) -", 0, 1, 0.0),
    RMSPROP("plain", "+x:any(*) +x:prob(*) - -", 0, 0.0, 0.0),
    RMSPROP("with momentum and decay", "+x:any(*) +x:prob(*) +x:any(*) -", 0, 0.9, 0.01),
    RMSPROP("centered", "+x:any(*) +x:pos(*) - +x:zero(*)", 0, 0.0, 0.0),
    RMSPROP("centered, with momentum, ascending", "+x:any(*) +x:pos(*) +x:any(*) +x:zero(*)", 1,
            0.9, 0.0),
    {0}};
