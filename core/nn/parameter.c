/* SPDX-License-Identifier: Apache-2.0 */
/* New parameters and buffers, and what the constructors of layers share. */
#include <math.h>
#include <stdatomic.h>

#include "nn/module.h"
#include "tensor/elementwise.h"

static atomic_int default_dtype = AXLE_DTYPE_F32;
/* Regions of this thread in which nothing is drawn. */
static _Thread_local int skipping;

int axle_set_default_dtype(int dtype)
{
    if (dtype != AXLE_DTYPE_F32 && dtype != AXLE_DTYPE_F64) {
        const char *name = axle_dtype_name(dtype);
        return axle_error_set(AXLE_ERR_DTYPE,
                              "axle_set_default_dtype: parameters are f32 or f64, not %s",
                              name ? name : "an unknown type");
    }
    atomic_store(&default_dtype, dtype);
    return AXLE_OK;
}

int axle_default_dtype(void)
{
    return atomic_load(&default_dtype);
}

void axle_init_skip_push(void)
{
    skipping++;
}

void axle_init_skip_pop(void)
{
    skipping -= skipping > 0;
}

/* ------------------------------------------------------------------ making tensors */

struct filling {
    int (*fill)(axle_tensor *tensor, double a, double b);
    double a, b;
};

static int fill_constant(axle_tensor *tensor, double value, double unused)
{
    (void)unused;
    return axle_init_constant(tensor, value);
}

static int make(const axle_module *module, int dtype, int rank, const int64_t *dims,
                const struct filling *filling, axle_tensor **out)
{
    axle_device *device = axle_device_current();
    axle_tensor *tensor = axle__tensor_new(module->type->name, device, dtype, rank, dims, NULL);
    if (!tensor)
        return axle_error_code();
    int status = filling->fill(tensor, filling->a, filling->b);
    if (status)
        axle_tensor_release(tensor);
    else
        *out = tensor;
    return status;
}

static int add_parameter(axle_module *module, const char *name, const struct filling *filling,
                         int rank, const int64_t *dims, axle_tensor **out)
{
    static const struct filling zeros = {fill_constant, 0.0, 0.0};
    axle_tensor *tensor = NULL;
    int status =
        make(module, axle_default_dtype(), rank, dims, skipping ? &zeros : filling, &tensor);
    if (!status)
        status = axle_module_add_parameter(module, name, tensor);
    if (!status && out)
        *out = tensor;
    return status;
}

int axle__add_uniform(axle_module *module, const char *name, double bound, int rank,
                      const int64_t *dims, axle_tensor **out)
{
    struct filling filling = {axle_init_uniform, -bound, bound};
    return add_parameter(module, name, &filling, rank, dims, out);
}

int axle__add_normal(axle_module *module, const char *name, int rank, const int64_t *dims,
                     axle_tensor **out)
{
    struct filling filling = {axle_init_normal, 0.0, 1.0};
    return add_parameter(module, name, &filling, rank, dims, out);
}

int axle__add_constant(axle_module *module, const char *name, double value, int rank,
                       const int64_t *dims, axle_tensor **out)
{
    struct filling filling = {fill_constant, value, 0.0};
    return add_parameter(module, name, &filling, rank, dims, out);
}

int axle__add_buffer(axle_module *module, const char *name, int dtype, double value, int rank,
                     const int64_t *dims, axle_tensor **out)
{
    struct filling filling = {fill_constant, value, 0.0};
    axle_tensor *tensor = NULL;
    int status = make(module, dtype, rank, dims, &filling, &tensor);
    if (!status)
        status = axle_module_add_buffer(module, name, tensor);
    if (!status && out)
        *out = tensor;
    return status;
}

/* ------------------------------------------------------------------ ends of constructors */

int axle__module_finish(int status, axle_module *module, axle_module **out)
{
    if (status)
        axle_module_release(module);
    else
        *out = module;
    return status;
}

double axle__fan_bound(int64_t fan)
{
    return fan > 0 ? 1.0 / sqrt((double)fan) : 0.0;
}

/* ------------------------------------------------------------------ temporaries */

int axle__scope_pop_keep_all(axle_tensor **keep, int n)
{
    int status = AXLE_OK;
    for (int k = 0; k < n; k++)
        axle_tensor_retain(keep[k]);
    axle_scope_pop();
    for (int k = 0; k < n; k++) {
        if (keep[k] && !axle__scope_own(keep[k]))
            status = axle_error_code();
    }
    for (int k = 0; k < n && status; k++)
        keep[k] = NULL;
    return status;
}

axle_tensor *axle__filled(const char *who, axle_device *device, int dtype, int rank,
                          const int64_t *dims, double value)
{
    axle_tensor *y = axle__result(who, device, dtype, rank, dims);
    return y ? axle__checked(axle__fill(y, value), y) : NULL;
}
