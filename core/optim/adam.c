/* SPDX-License-Identifier: Apache-2.0 */
/* Adam and AdamW. */
#include <math.h>

#include "base/options_copy.h"
#include "optim/optimizer.h"

static int adam_update(axle_optimizer *optimizer, const axle__span *span, axle__call *call)
{
    const axle_adam_options *o = &optimizer->options.adam;
    const axle__group *group = &optimizer->groups[span->group];
    axle_adam_attrs attrs = {sizeof(attrs), optimizer->decoupled, o->maximize != 0, 0};
    axle_adam_scalars scalars = {.struct_size = sizeof(scalars),
                                 .lr = group->lr,
                                 .beta1 = o->beta1,
                                 .beta2 = o->beta2,
                                 .eps = o->eps,
                                 .weight_decay = group->weight_decay,
                                 .bias1 = 1.0 - pow(o->beta1, (double)span->age),
                                 .bias2 = 1.0 - pow(o->beta2, (double)span->age),
                                 .grad_scale = 1.0};
    call->op = AXLE_OP_ADAM;
    call->attrs = &attrs;
    call->attrs_size = sizeof(attrs);
    call->scalars = &scalars;
    if (optimizer->moment_count == 2)
        axle__call_view_out(call, NULL);
    return axle__run(call, optimizer->params);
}

static int create(const char *name, bool decoupled, axle_module *module, const axle_adam_options *o,
                  axle_optimizer **out)
{
    if (!(o->beta1 >= 0.0 && o->beta1 < 1.0) || !(o->beta2 >= 0.0 && o->beta2 < 1.0) ||
        !(o->eps >= 0.0))
        return axle_error_set(AXLE_ERR_INVALID,
                              "%s: betas %g and %g must be in [0, 1), eps %g >= 0", name, o->beta1,
                              o->beta2, o->eps);
    axle_optimizer *optimizer;
    int status = axle__optimizer_create(name, adam_update, o->amsgrad ? 3 : 2, module, o->lr,
                                        o->weight_decay, &optimizer);
    if (status)
        return status;
    optimizer->options.adam = *o;
    optimizer->decoupled = decoupled;
    *out = optimizer;
    return AXLE_OK;
}

int axle_adam_create(axle_module *module, const axle_adam_options *options, axle_optimizer **out)
{
    axle_adam_options o = AXLE_ADAM_OPTIONS_INIT;
    int status = axle__options_copy("adam", options, &o, sizeof(o));
    return status ? status : create("adam", false, module, &o, out);
}

int axle_adamw_create(axle_module *module, const axle_adamw_options *options, axle_optimizer **out)
{
    axle_adamw_options o = AXLE_ADAMW_OPTIONS_INIT;
    int status = axle__options_copy("adamw", options, &o, sizeof(o));
    return status ? status : create("adamw", true, module, &o, out);
}
