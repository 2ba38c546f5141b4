/* SPDX-License-Identifier: Apache-2.0 */
#include "axle/model.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/object.h"
#include "device/hook.h"
#include "nn/module.h"
#include "nn/precision.h"

struct axle_model {
    axle_object object;
    axle_module *module;
    axle_model_fn fn;
    void *user;
};

static int create(axle_module *module, axle_model_fn fn, void *user, axle_model **out)
{
    if (!module || !fn)
        return axle__missing("axle_model_create", module ? "the function" : "the module");
    axle_model *model = axle__alloc(1, sizeof(*model));
    if (!model)
        return axle_error_code();
    axle__object_init(&model->object, AXLE__OBJECT_MODEL);
    model->module = module;
    model->fn = fn;
    model->user = user;
    *out = model;
    return AXLE_OK;
}

int axle_model_create(axle_module *module, axle_model_fn fn, void *user, axle_model **out)
{
    int status = create(module, fn, user, out);
    if (status)
        axle_module_release(module);
    return status;
}

axle_model *axle_model_retain(axle_model *model)
{
    if (model)
        axle__object_retain(&model->object);
    return model;
}

void axle_model_release(axle_model *model)
{
    if (!model || !axle__object_release(&model->object))
        return;
    axle_module_release(model->module);
    axle__free(model);
}

axle_module *axle_model_module(const axle_model *model)
{
    return model->module;
}

static axle_output forward(axle_model *model, axle_batch *batch)
{
    axle_output none = {NULL, NULL};
    if (axle_scope_push())
        return none;
    bool region = axle__precision_begin(model->module);
    axle_output output = model->fn(model->module, batch, model->user);
    axle_tensor *keep[2] = {output.loss, output.logits};
    axle__precision_end(region, keep, 2);
    if (!keep[0] && !keep[1]) {
        axle_scope_pop();
        axle_error_set(AXLE_ERR_INTERNAL, "axle_model_forward: the model gave no output");
        return none;
    }
    if (axle__scope_pop_keep_all(keep, 2))
        return none;
    return (axle_output){.loss = keep[0], .logits = keep[1]};
}

axle_output axle_model_forward(axle_model *model, axle_batch *batch)
{
    axle__hook_point phase;
    axle__phase_begin(&phase, "forward");
    axle_output output = forward(model, batch);
    axle__phase_end(&phase);
    return output;
}

/* ------------------------------------------------------------------ classifiers */

/* Ends the walk at the first parameter; element types are positive numbers. */
static int note_dtype(const char *path, axle_tensor *tensor, void *user)
{
    (void)path;
    *(int *)user = axle_tensor_dtype(tensor);
    return 1;
}

/* Data sets hold f32; a module in another type gets its input in that type. */
static axle_tensor *input_for(axle_module *module, axle_tensor *input)
{
    int dtype = 0;
    axle_module_each_parameter(module, note_dtype, &dtype);
    if (!input || dtype == 0 || !axle_dtype_is_float(axle_tensor_dtype(input)))
        return input;
    return axle_cast(input, dtype);
}

static axle_output classify(axle_module *module, axle_batch *batch, void *user)
{
    axle_output output = {NULL, NULL};
    (void)user;
    axle_tensor *input = input_for(module, axle_batch_get(batch, "input"));
    axle_tensor *logits = axle_module_forward(module, input);
    if (logits && axle_batch_has(batch, "target")) {
        output.loss = axle_cross_entropy(logits, axle_batch_get(batch, "target"), NULL);
        if (!output.loss)
            return output;
    }
    output.logits = logits;
    return output;
}

int axle_classifier_create(axle_module *module, axle_model **out)
{
    return axle_model_create(module, classify, NULL, out);
}
