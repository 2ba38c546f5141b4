/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/module.h"

struct pool {
    axle_module base;
    axle_pool_params params;
};

struct adaptive_pool {
    axle_module base;
    int dims;
    int64_t size[3];
};

static axle_tensor *max_pool_forward(axle_module *self, axle_tensor *x)
{
    return axle_max_pool(x, &((struct pool *)self)->params);
}

static axle_tensor *avg_pool_forward(axle_module *self, axle_tensor *x)
{
    return axle_avg_pool(x, &((struct pool *)self)->params);
}

static axle_tensor *adaptive_avg_pool_forward(axle_module *self, axle_tensor *x)
{
    const struct adaptive_pool *pool = (struct adaptive_pool *)self;
    char text[AXLE__DIMS_TEXT];
    if (axle__rank(x) == pool->dims + 2)
        return axle_adaptive_avg_pool(x, pool->size);
    axle_error_set(AXLE_ERR_SHAPE,
                   "adaptive_avg_pool: wants %d dims after batch and channels, got %s", pool->dims,
                   axle__shape_text(x, text));
    return NULL;
}

static const axle_module_class max_pool_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "max_pool",
    .instance_size = sizeof(struct pool),
    .forward = max_pool_forward,
};

static const axle_module_class avg_pool_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "avg_pool",
    .instance_size = sizeof(struct pool),
    .forward = avg_pool_forward,
};

static const axle_module_class adaptive_avg_pool_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "adaptive_avg_pool",
    .instance_size = sizeof(struct adaptive_pool),
    .forward = adaptive_avg_pool_forward,
};

/* How many of the three numbers count is known when a tensor arrives; the operator checks them
 * then. What no number of dims can make right is refused here. */
static int check_params(const char *who, const axle_pool_params *params)
{
    if (axle__check_least(who, "kernel", params->kernel[0], 1) ||
        axle__check_least(who, "dilation", params->dilation[0], 1))
        return axle_error_code();
    for (int k = 0; k < 3; k++)
        if (axle__check_least(who, "kernel", params->kernel[k], 0) ||
            axle__check_least(who, "stride", params->stride[k], 0) ||
            axle__check_least(who, "padding", params->padding[k], 0) ||
            axle__check_least(who, "dilation", params->dilation[k], 0))
            return axle_error_code();
    return AXLE_OK;
}

static int create(const axle_module_class *type, const axle_pool_params *given, axle_module **out)
{
    axle_pool_params params = AXLE_POOL_PARAMS_INIT;
    if (axle__options_copy(type->name, given, &params, sizeof(params)) ||
        check_params(type->name, &params))
        return axle_error_code();
    struct pool *pool = NULL;
    int status = axle_module_new(type, (axle_module **)&pool);
    if (!status)
        pool->params = params;
    return axle__module_finish(status, (axle_module *)pool, out);
}

int axle_max_pool_create(const axle_pool_params *params, axle_module **out)
{
    return create(&max_pool_class, params, out);
}

int axle_avg_pool_create(const axle_pool_params *params, axle_module **out)
{
    return create(&avg_pool_class, params, out);
}

int axle_adaptive_avg_pool_create(int dims, const int64_t *size, axle_module **out)
{
    if (dims < 1 || dims > 3 || !size)
        return axle_error_set(AXLE_ERR_INVALID,
                              "adaptive_avg_pool: dims is %d, must be 1 to 3 with a size for each",
                              dims);
    for (int k = 0; k < dims; k++)
        if (axle__check_least("adaptive_avg_pool", "size", size[k], 1))
            return axle_error_code();
    struct adaptive_pool *pool = NULL;
    int status = axle_module_new(&adaptive_avg_pool_class, (axle_module **)&pool);
    if (!status) {
        pool->dims = dims;
        for (int k = 0; k < dims; k++)
            pool->size[k] = size[k];
    }
    return axle__module_finish(status, (axle_module *)pool, out);
}
