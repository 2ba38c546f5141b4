/* SPDX-License-Identifier: Apache-2.0 */
/* Moving a module's tensors to another device or element type. Every tensor is converted before the
 * first one changes, so that a failure leaves the module as it was. */
#include "autograd/node.h"
#include "base/memory.h"
#include "nn/module.h"

struct change {
    axle_tensor *tensor;
    axle_tensor *value, *grad; /* what replaces its storage and its gradient's; retained, or NULL */
};

struct plan {
    axle_device *device; /* NULL: leave it */
    int dtype;           /* 0: leave it */
    struct change *change;
    size_t count, room;
};

static axle_tensor *converted(const struct plan *plan, axle_tensor *x)
{
    if (plan->dtype && axle_dtype_is_float((int)axle__dtype(x)))
        x = axle_cast(x, plan->dtype);
    return plan->device ? axle_to_device(x, plan->device) : x;
}

/* A converted copy with a reference of its own; NULL in *out where x needs no change. */
static int convert(const struct plan *plan, axle_tensor *x, axle_tensor **out)
{
    axle_tensor *y = converted(plan, x);
    if (!y)
        return axle_error_code();
    *out = y == x ? NULL : axle_tensor_retain(y);
    return AXLE_OK;
}

static int plan_tensor(const char *path, axle_tensor *tensor, void *user)
{
    struct plan *plan = user;
    (void)path;
    if (plan->count == plan->room) {
        size_t room = plan->room ? 2 * plan->room : 32;
        struct change *change = axle__resize(plan->change, room, sizeof(*change));
        if (!change)
            return axle_error_code();
        plan->change = change;
        plan->room = room;
    }
    struct change *change = &plan->change[plan->count++];
    *change = (struct change){tensor, NULL, NULL};
    axle_tensor *grad = axle_tensor_grad(tensor);
    int status = convert(plan, tensor, &change->value);
    return status || !grad ? status : convert(plan, grad, &change->grad);
}

/* Nothing here allocates, so nothing fails. */
static void apply(const struct change *change)
{
    bool had_grad = axle__grad_present(change->tensor);
    if (change->value)
        axle__tensor_rebind(change->tensor, change->value);
    if (!change->grad)
        return;
    axle__grad_forget(change->tensor);
    if (axle__grad_bind(change->tensor, change->grad) == AXLE_OK && had_grad)
        axle__grad_set_present(change->tensor);
}

static void free_plan(struct plan *plan)
{
    for (size_t k = 0; k < plan->count; k++) {
        axle_tensor_release(plan->change[k].value);
        axle_tensor_release(plan->change[k].grad);
    }
    axle__free(plan->change);
}

static int carry_out(axle_module *module, struct plan *plan)
{
    if (axle_scope_push())
        return axle_error_code();
    axle_no_grad_push();
    int status = axle_module_each_parameter(module, plan_tensor, plan);
    if (!status)
        status = axle_module_each_buffer(module, plan_tensor, plan);
    axle_no_grad_pop();
    for (size_t k = 0; k < plan->count && !status; k++)
        apply(&plan->change[k]);
    free_plan(plan);
    axle_scope_pop();
    return status;
}

int axle_module_to_device(axle_module *module, axle_device *device)
{
    if (!device) {
        int earlier = axle_error_code();
        return earlier ? earlier
                       : axle_error_set(AXLE_ERR_INVALID, "axle_module_to_device: no device");
    }
    struct plan plan = {.device = device};
    return carry_out(module, &plan);
}

int axle_module_to_dtype(axle_module *module, int dtype)
{
    if (!axle_dtype_is_float(dtype)) {
        const char *name = axle_dtype_name(dtype);
        return axle_error_set(AXLE_ERR_DTYPE, "axle_module_to_dtype: wants a float type, got %s",
                              name ? name : "an unknown one");
    }
    struct plan plan = {.dtype = dtype};
    return carry_out(module, &plan);
}
