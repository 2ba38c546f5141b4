/* SPDX-License-Identifier: Apache-2.0 */
/* Layer, RMS, batch and group normalisation. */
#include "axle/autograd.h"
#include "nn/module.h"

struct norm {
    axle_module base;
    double eps;
    axle_tensor *weight; /* (features) */
    axle_tensor *bias;   /* (features); not of rms_norm */
    int groups;          /* group_norm only */
    /* batch_norm only: */
    double momentum;
    axle_tensor *mean, *variance; /* (features), running */
    axle_tensor *batches;         /* (), i64: batches that the running statistics have seen */
};

static axle_tensor *layer_norm_forward(axle_module *self, axle_tensor *x)
{
    const struct norm *norm = (struct norm *)self;
    return axle_layer_norm(x, 1, norm->weight, norm->bias, norm->eps);
}

static axle_tensor *rms_norm_forward(axle_module *self, axle_tensor *x)
{
    const struct norm *norm = (struct norm *)self;
    return axle_rms_norm(x, norm->weight, norm->eps);
}

static axle_tensor *group_norm_forward(axle_module *self, axle_tensor *x)
{
    const struct norm *norm = (struct norm *)self;
    return axle_group_norm(x, norm->groups, norm->weight, norm->bias, norm->eps);
}

/* batches += 1, on the device it is on. */
static int count_batch(const struct norm *norm)
{
    axle_tensor *one = axle__filled("batch_norm", axle_tensor_device(norm->batches), AXLE_DTYPE_I64,
                                    AXLE_SCALAR, 1.0);
    axle_tensor *more = axle_add(norm->batches, one);
    return more ? axle_tensor_assign(norm->batches, more) : axle_error_code();
}

static axle_tensor *batch_norm_forward(axle_module *self, axle_tensor *x)
{
    const struct norm *norm = (struct norm *)self;
    if (self->training && axle_recomputing()) /* the first pass was counted */
        return axle_batch_norm(x, norm->weight, norm->bias, NULL, NULL, 1, norm->momentum,
                               norm->eps);
    axle_tensor *y = axle_batch_norm(x, norm->weight, norm->bias, norm->mean, norm->variance,
                                     self->training, norm->momentum, norm->eps);
    return y && self->training && count_batch(norm) ? NULL : y;
}

#define NORM_CLASS(kind)                                                                           \
    {                                                                                              \
        .struct_size = sizeof(axle_module_class), .name = #kind,                                   \
        .instance_size = sizeof(struct norm), .forward = kind##_forward,                           \
    }
static const axle_module_class layer_norm_class = NORM_CLASS(layer_norm);
static const axle_module_class rms_norm_class = NORM_CLASS(rms_norm);
static const axle_module_class batch_norm_class = NORM_CLASS(batch_norm);
static const axle_module_class group_norm_class = NORM_CLASS(group_norm);

/* ------------------------------------------------------------------ construction */

/* With the weight 1 and, where there is one, the bias 0. */
static int create(const axle_module_class *type, int64_t features, double eps, bool bias,
                  struct norm **out)
{
    if (axle__check_least(type->name, "the number of features", features, 1) ||
        axle__check_eps(type->name, eps))
        return axle_error_code();
    struct norm *norm = NULL;
    int status = axle_module_new(type, (axle_module **)&norm);
    if (!status)
        status = axle__add_constant(&norm->base, "weight", 1.0, AXLE_DIMS(features), &norm->weight);
    if (!status && bias)
        status = axle__add_constant(&norm->base, "bias", 0.0, AXLE_DIMS(features), &norm->bias);
    if (status) {
        axle_module_release((axle_module *)norm);
        return status;
    }
    norm->eps = eps;
    *out = norm;
    return AXLE_OK;
}

int axle_layer_norm_create(int64_t features, double eps, axle_module **out)
{
    struct norm *norm = NULL;
    int status = create(&layer_norm_class, features, eps, true, &norm);
    return axle__module_finish(status, (axle_module *)norm, out);
}

int axle_rms_norm_create(int64_t features, double eps, axle_module **out)
{
    struct norm *norm = NULL;
    int status = create(&rms_norm_class, features, eps, false, &norm);
    return axle__module_finish(status, (axle_module *)norm, out);
}

int axle_group_norm_create(int groups, int64_t channels, double eps, axle_module **out)
{
    if (axle__check_least("group_norm", "groups", groups, 1) ||
        axle__check_divides("group_norm", "groups", groups, "channels", channels))
        return axle_error_code();
    struct norm *norm = NULL;
    int status = create(&group_norm_class, channels, eps, true, &norm);
    if (!status)
        norm->groups = groups;
    return axle__module_finish(status, (axle_module *)norm, out);
}

static int add_statistics(struct norm *norm, int64_t channels)
{
    axle_module *module = &norm->base;
    int dtype = axle_default_dtype();
    int status =
        axle__add_buffer(module, "running_mean", dtype, 0.0, AXLE_DIMS(channels), &norm->mean);
    if (!status)
        status = axle__add_buffer(module, "running_var", dtype, 1.0, AXLE_DIMS(channels),
                                  &norm->variance);
    if (!status)
        status = axle__add_buffer(module, "num_batches_tracked", AXLE_DTYPE_I64, 0.0, AXLE_SCALAR,
                                  &norm->batches);
    return status;
}

int axle_batch_norm_create(int64_t channels, double eps, double momentum, axle_module **out)
{
    if (axle__check_probability("batch_norm", "momentum", momentum))
        return axle_error_code();
    struct norm *norm = NULL;
    int status = create(&batch_norm_class, channels, eps, true, &norm);
    if (!status) {
        norm->momentum = momentum;
        status = add_statistics(norm, channels);
    }
    return axle__module_finish(status, (axle_module *)norm, out);
}
