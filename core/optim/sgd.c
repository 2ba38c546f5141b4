/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options_copy.h"
#include "optim/optimizer.h"

static int sgd_update(axle_optimizer *optimizer, const axle__span *span, axle__call *call)
{
    const axle_sgd_options *o = &optimizer->options.sgd;
    const axle__group *group = &optimizer->groups[span->group];
    axle_sgd_attrs attrs = {sizeof(attrs), o->nesterov != 0, o->maximize != 0, 0};
    axle_sgd_scalars scalars = {.struct_size = sizeof(scalars),
                                .first = span->age == 1,
                                .lr = group->lr,
                                .momentum = o->momentum,
                                .dampening = o->dampening,
                                .weight_decay = group->weight_decay,
                                .grad_scale = 1.0};
    call->op = AXLE_OP_SGD;
    call->attrs = &attrs;
    call->attrs_size = sizeof(attrs);
    call->scalars = &scalars;
    if (optimizer->moment_count == 0)
        axle__call_view_out(call, NULL);
    return axle__run(call, optimizer->params);
}

int axle_sgd_create(axle_module *module, const axle_sgd_options *options, axle_optimizer **out)
{
    axle_sgd_options o = AXLE_SGD_OPTIONS_INIT;
    int status = axle__options_copy("sgd", options, &o, sizeof(o));
    if (status)
        return status;
    if (!(o.momentum >= 0.0) || (o.nesterov && (o.momentum <= 0.0 || o.dampening != 0.0)))
        return axle_error_set(AXLE_ERR_INVALID,
                              "sgd: momentum %g is negative, or Nesterov without momentum or with "
                              "dampening %g",
                              o.momentum, o.dampening);
    axle_optimizer *optimizer;
    status = axle__optimizer_create("sgd", sgd_update, o.momentum != 0.0, module, o.lr,
                                    o.weight_decay, &optimizer);
    if (status)
        return status;
    optimizer->options.sgd = o;
    *out = optimizer;
    return AXLE_OK;
}
