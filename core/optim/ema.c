/* SPDX-License-Identifier: Apache-2.0 */
#include "optim/ema.h"

#include <string.h>

#include "axle/autograd.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/options_copy.h"
#include "optim/optimizer.h"
#include "tensor/elementwise.h"
#include "tensor/shape.h"

static int add_item(const char *path, axle_tensor *tensor, void *user)
{
    axle_ema *ema = user;
    if (!axle_tensor_requires_grad(tensor) || tensor->count == 0)
        return AXLE_OK;
    if (!axle__view_is_dense(&tensor->view))
        return axle_error_set(AXLE_ERR_UNSUPPORTED, "axle_ema_create: parameter '%s' has gaps",
                              path);
    axle__averaged *item = axle__resize(ema->item, (size_t)ema->count + 1, sizeof(*item));
    if (!item)
        return axle_error_code();
    ema->item = item;
    char *copy = axle__strdup(path);
    if (!copy)
        return axle_error_code();
    item[ema->count++] = (axle__averaged){.path = copy, .tensor = axle_tensor_retain(tensor)};
    return AXLE_OK;
}

static int check_create(axle_module *module, double decay)
{
    if (!module)
        return axle__missing("axle_ema_create", "the module");
    if (decay >= 0.0 && decay < 1.0)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID, "axle_ema_create: decay %g is not in [0, 1)", decay);
}

int axle_ema_create(axle_module *module, double decay, const axle_ema_options *options,
                    axle_ema **out)
{
    axle_ema_options o = AXLE_EMA_OPTIONS_INIT;
    int code = check_create(module, decay);
    if (!code)
        code = axle__options_copy("axle_ema_create", options, &o, sizeof(o));
    axle_ema *ema = code ? NULL : axle__alloc(1, sizeof(*ema));
    if (!ema)
        return axle_error_code();
    ema->module = axle_module_retain(module);
    ema->decay = decay;
    ema->options = o;
    ema->seen = -1;
    int status = axle_module_each_parameter(module, add_item, ema);
    if (!status)
        status = axle__ema_lay_out(ema);
    if (status)
        axle_ema_release(ema);
    else
        *out = ema;
    return status;
}

void axle_ema_release(axle_ema *ema)
{
    if (!ema)
        return;
    if (ema->swapped)
        axle_ema_swap(ema);
    for (int k = 0; k < ema->count; k++) {
        axle_tensor_release(ema->item[k].tensor);
        axle_tensor_release(ema->item[k].average);
        axle__free(ema->item[k].path);
    }
    axle__ema_free_runs(ema->run, ema->run_count);
    axle__free(ema->item);
    axle_module_release(ema->module);
    axle__free(ema);
}

/* ------------------------------------------------------------------ updates */

static int check_not_swapped(const axle_ema *ema, const char *who)
{
    if (!ema->swapped)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_STATE, "%s: the module holds the averages; swap them back first",
                          who);
}

/* A step of SGD that descends from the average a to the parameter p: a -= (1 - decay) * (a - p),
 * with p for the gradient of what is maximised, and a itself added as decay. */
static int approach(const axle__average_run *run, double decay)
{
    axle_sgd_attrs attrs = {.struct_size = sizeof(attrs), .maximize = 1};
    axle_sgd_scalars scalars = {.struct_size = sizeof(scalars),
                                .first = 1,
                                .lr = 1.0 - decay,
                                .weight_decay = 1.0,
                                .grad_scale = 1.0};
    axle__call call = AXLE__CALL(AXLE_OP_SGD, attrs);
    call.scalars = &scalars;
    axle__call_in(&call, run->params);
    axle__call_out(&call, run->average);
    axle__call_out(&call, NULL);
    axle__tensor_touch(run->average);
    return axle__run(&call, run->average);
}

static double decay_at(const axle_ema *ema, double t)
{
    double early = (1.0 + t) / (10.0 + t);
    return ema->options.warmup && early < ema->decay ? early : ema->decay;
}

/* Whether the optimizer has made an update since the last call, after which all processes have the
 * same parameters. */
static bool is_news(axle_ema *ema, const axle_optimizer *optimizer)
{
    if (!optimizer)
        return true;
    bool news = ema->seen < 0 ? optimizer->updates > 0 && !optimizer->skipped
                              : optimizer->updates != ema->seen;
    ema->seen = optimizer->updates;
    bool alike = !optimizer->alike_every || optimizer->updates % optimizer->alike_every == 0;
    return news && alike;
}

int axle_ema_update(axle_ema *ema, const axle_optimizer *optimizer)
{
    int status = check_not_swapped(ema, "axle_ema_update");
    if (status || !is_news(ema, optimizer))
        return status;
    status = axle__ema_lay_out(ema);
    double decay = decay_at(ema, (double)ema->updates + 1.0);
    for (int k = 0; k < ema->run_count && !status; k++)
        status = approach(&ema->run[k], decay);
    if (!status)
        ema->updates++;
    return status;
}

int64_t axle_ema_updates(const axle_ema *ema)
{
    return ema->updates;
}

/* ------------------------------------------------------------------ swapping */

static int exchange(axle__average_run *run, axle_tensor *spare)
{
    int status = axle__copy_into(spare, run->params);
    if (!status)
        status = axle__copy_into(run->params, run->average);
    return status ? status : axle__copy_into(run->average, spare);
}

/* Everything is allocated before anything changes. */
int axle_ema_swap(axle_ema *ema)
{
    int status = axle_scope_push();
    if (status)
        return status;
    axle_tensor **spare = axle__alloc((size_t)ema->run_count + 1, sizeof(*spare));
    status = spare ? axle__ema_lay_out(ema) : axle_error_code();
    for (int k = 0; k < ema->run_count && !status; k++) {
        const axle_tensor *average = ema->run[k].average;
        spare[k] =
            axle__result("ema", average->device, (int)axle__dtype(average), 1, average->view.dim);
        status = spare[k] ? AXLE_OK : axle_error_code();
    }
    for (int k = 0; k < ema->run_count && !status; k++)
        status = exchange(&ema->run[k], spare[k]);
    if (!status)
        ema->swapped = !ema->swapped;
    axle__free(spare);
    axle_scope_pop();
    return status;
}

int axle_ema_swapped(const axle_ema *ema)
{
    return ema->swapped;
}

axle_tensor *axle_ema_average(const axle_ema *ema, const char *path)
{
    for (int k = 0; k < ema->count; k++)
        if (strcmp(ema->item[k].path, path) == 0)
            return ema->item[k].average;
    return NULL;
}
