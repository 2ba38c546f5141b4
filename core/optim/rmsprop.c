/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options_copy.h"
#include "optim/optimizer.h"

/* Moments are kept in the order square, momentum, mean, those that are not used left out. */
static int rmsprop_update(axle_optimizer *optimizer, const axle__span *span, axle__call *call)
{
    const axle_rmsprop_options *o = &optimizer->options.rmsprop;
    const axle__group *group = &optimizer->groups[span->group];
    axle_rmsprop_attrs attrs = {sizeof(attrs), o->maximize != 0};
    axle_rmsprop_scalars scalars = {.struct_size = sizeof(scalars),
                                    .lr = group->lr,
                                    .alpha = o->alpha,
                                    .eps = o->eps,
                                    .weight_decay = group->weight_decay,
                                    .momentum = o->momentum,
                                    .grad_scale = 1.0};
    call->op = AXLE_OP_RMSPROP;
    call->attrs = &attrs;
    call->attrs_size = sizeof(attrs);
    call->scalars = &scalars;
    int next = 2;
    const axle_view *momentum = o->momentum != 0.0 ? call->out[next++] : NULL;
    const axle_view *mean = o->centered ? call->out[next] : NULL;
    call->n_out = 2;
    axle__call_view_out(call, momentum);
    axle__call_view_out(call, mean);
    return axle__run(call, optimizer->params);
}

int axle_rmsprop_create(axle_module *module, const axle_rmsprop_options *options,
                        axle_optimizer **out)
{
    axle_rmsprop_options o = AXLE_RMSPROP_OPTIONS_INIT;
    int status = axle__options_copy("rmsprop", options, &o, sizeof(o));
    if (status)
        return status;
    if (!(o.alpha >= 0.0) || !(o.eps >= 0.0) || !(o.momentum >= 0.0))
        return axle_error_set(AXLE_ERR_INVALID, "rmsprop: alpha %g, eps %g, momentum %g", o.alpha,
                              o.eps, o.momentum);
    axle_optimizer *optimizer;
    int moments = 1 + (o.momentum != 0.0) + (o.centered != 0);
    status = axle__optimizer_create("rmsprop", rmsprop_update, moments, module, o.lr,
                                    o.weight_decay, &optimizer);
    if (status)
        return status;
    optimizer->options.rmsprop = o;
    *out = optimizer;
    return AXLE_OK;
}
