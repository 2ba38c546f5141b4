/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/precision.h"

#include "autograd/autocast.h"
#include "nn/module.h"

static int check_parameter(const char *path, axle_tensor *tensor, void *user)
{
    const int *dtype = user;
    if (axle__dtype(tensor) != AXLE_DTYPE_F64)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_DTYPE,
                          "axle_prepare: parameter '%s' is f64; mixed precision with %s is for f32",
                          path, axle_dtype_name(*dtype));
}

static void mark(axle_module *module, int dtype)
{
    module->state->precision = dtype;
    for (int k = 0; k < axle_module_child_count(module); k++)
        mark(axle__child_at(module, k), dtype);
}

int axle__module_set_precision(axle_module *module, int dtype)
{
    int status = dtype ? axle_module_each_parameter(module, check_parameter, &dtype) : AXLE_OK;
    if (!status)
        mark(module, dtype);
    return status;
}

bool axle__precision_begin(const axle_module *module)
{
    int dtype = module ? module->state->precision : 0;
    return dtype && !axle__autocast_is_open() && axle_autocast_push(dtype) == AXLE_OK;
}

void axle__precision_end(bool begun, axle_tensor **out, int n)
{
    for (int k = 0; k < n && begun; k++)
        if (out[k] &&
            (axle__dtype(out[k]) == AXLE_DTYPE_BF16 || axle__dtype(out[k]) == AXLE_DTYPE_F16))
            out[k] = axle_cast(out[k], AXLE_DTYPE_F32);
    if (begun)
        axle_autocast_pop();
}
