/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/module.h"

struct dropout {
    axle_module base;
    double p;
};

static axle_tensor *dropout_forward(axle_module *self, axle_tensor *x)
{
    double p = ((struct dropout *)self)->p;
    return self->training && p > 0.0 ? axle_dropout(x, p) : x;
}

static const axle_module_class dropout_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "dropout",
    .instance_size = sizeof(struct dropout),
    .forward = dropout_forward,
};

int axle_dropout_create(double p, axle_module **out)
{
    if (axle__check_probability("dropout", "p", p))
        return axle_error_code();
    struct dropout *dropout = NULL;
    int status = axle_module_new(&dropout_class, (axle_module **)&dropout);
    if (!status)
        dropout->p = p;
    return axle__module_finish(status, (axle_module *)dropout, out);
}
