/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-head attention (Vaswani et al., 2017) with PyTorch's packed projection. */
#include <math.h>

#include "nn/module.h"
#include "nn/precision.h"
#include "nn/unbind.h"

struct attention {
    axle_module base;
    int64_t features;
    int heads;
    double dropout;
    axle_tensor *in_weight; /* (3E, E): query, key, value */
    axle_tensor *in_bias;   /* (3E) */
    axle_module *out_proj;  /* E to E */
};

static int check_input(const struct attention *attention, const char *what, const axle_tensor *x)
{
    char text[AXLE__DIMS_TEXT];
    if (axle__rank(x) == 3 && x->view.dim[2] == attention->features)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_SHAPE, "multihead_attention: %s is %s, not (B, L, %lld)", what,
                          axle__shape_text(x, text), (long long)attention->features);
}

/* x (B, L, E) projected by parts first..first+n-1 of the packed weight; each result is
 * (B, H, L, E/H). */
static int project(const struct attention *attention, axle_tensor *x, int first, int n,
                   axle_tensor **out)
{
    int64_t features = attention->features, heads = attention->heads;
    axle_tensor *weight = attention->in_weight, *bias = attention->in_bias;
    if (n < 3) {
        weight = axle_slice(weight, 0, first * features, (first + n) * features, 1);
        bias = axle_slice(bias, 0, first * features, (first + n) * features, 1);
    }
    if (!weight || !bias)
        return axle_error_code();
    axle_tensor *y = axle_linear(x, weight, bias); /* (B, L, nE) */
    int64_t dims[5] = {x->view.dim[0], x->view.dim[1], n, heads, features / heads};
    if (axle__unbind(axle_reshape(y, 5, dims), 2, n, out))
        return axle_error_code();
    for (int k = 0; k < n; k++) {
        out[k] = axle_permute(out[k], (const int[]){0, 2, 1, 3});
        if (!out[k])
            return axle_error_code();
    }
    return AXLE_OK;
}

/* One product for all inputs that are the same tensor. */
static int project_all(const struct attention *attention, axle_tensor *query, axle_tensor *key,
                       axle_tensor *value, axle_tensor *out[3])
{
    if (query == key && key == value)
        return project(attention, query, 0, 3, out);
    int status = project(attention, query, 0, 1, &out[0]);
    if (!status && key == value)
        return project(attention, key, 1, 2, &out[1]);
    if (!status)
        status = project(attention, key, 1, 1, &out[1]);
    return status ? status : project(attention, value, 2, 1, &out[2]);
}

static axle_tensor *attend(const struct attention *attention, axle_tensor *query, axle_tensor *key,
                           axle_tensor *value, axle_tensor *mask, int causal)
{
    axle_attention_params params = AXLE_ATTENTION_PARAMS_INIT;
    axle_tensor *part[3];
    params.causal = causal;
    params.dropout = attention->base.training ? attention->dropout : 0.0;
    if (project_all(attention, query, key, value, part))
        return NULL;
    axle_tensor *y = axle_attention(part[0], part[1], part[2], mask, &params); /* (B, H, L, D) */
    y = axle_permute(y, (const int[]){0, 2, 1, 3});
    y = axle_reshape(y, AXLE_DIMS(query->view.dim[0], query->view.dim[1], attention->features));
    return axle_module_forward(attention->out_proj, y);
}

static axle_tensor *attend_again(axle_tensor *const *in, int n_in, void *user)
{
    const axle__again *again = user;
    const struct attention *attention = (struct attention *)again->module;
    (void)n_in;
    if (check_input(attention, "query", in[0]) || check_input(attention, "key", in[1]) ||
        check_input(attention, "value", in[2]) || axle_scope_push())
        return NULL;
    bool region = axle__precision_begin(again->module);
    axle_tensor *y = attend(attention, in[0], in[1], in[2], in[3], again->number[0]);
    axle__precision_end(region, &y, 1);
    return axle_scope_pop_keep(y);
}

static axle_tensor *attention_forward(axle_module *self, axle_tensor *x)
{
    return attend_again((axle_tensor *[]){x, x, x, NULL}, 4, &(axle__again){.module = self});
}

static const axle_module_class attention_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "multihead_attention",
    .instance_size = sizeof(struct attention),
    .forward = attention_forward,
};

axle_tensor *axle_multihead_attention_forward(axle_module *module, axle_tensor *query,
                                              axle_tensor *key, axle_tensor *value,
                                              axle_tensor *mask, int causal)
{
    axle__again again = {module, {causal, 0}};
    axle_tensor *in[4] = {query, key, value, mask};
    if (!query || !key || !value ||
        axle__check_class("axle_multihead_attention_forward", module, &attention_class))
        return NULL;
    if (axle__is_recomputed(module))
        return axle__recomputed(&again, attend_again, in, 4);
    return attend_again(in, 4, &again);
}

/* ------------------------------------------------------------------ construction */

static int add_projections(struct attention *attention)
{
    axle_module *module = &attention->base;
    int64_t features = attention->features;
    /* Xavier's bound for the packed matrix as a whole. */
    double bound = sqrt(6.0 / (double)(4 * features));
    int status = axle__add_uniform(module, "in_proj_weight", bound,
                                   AXLE_DIMS(3 * features, features), &attention->in_weight);
    if (!status)
        status = axle__add_constant(module, "in_proj_bias", 0.0, AXLE_DIMS(3 * features),
                                    &attention->in_bias);
    if (!status)
        status = axle_linear_create(features, features, 1, &attention->out_proj);
    if (!status)
        status = axle_module_add_child(module, "out_proj", attention->out_proj);
    if (!status)
        status = axle_init_constant(axle_module_parameter(module, "out_proj.bias"), 0.0);
    return status;
}

int axle_multihead_attention_create(int64_t features, int heads, double dropout, axle_module **out)
{
    const char *who = attention_class.name;
    if (axle__check_least(who, "features", features, 1) ||
        axle__check_least(who, "heads", heads, 1) ||
        axle__check_divides(who, "heads", heads, "features", features) ||
        axle__check_probability(who, "dropout", dropout))
        return axle_error_code();
    struct attention *attention = NULL;
    int status = axle_module_new(&attention_class, (axle_module **)&attention);
    if (!status) {
        attention->features = features;
        attention->heads = heads;
        attention->dropout = dropout;
        status = add_projections(attention);
    }
    return axle__module_finish(status, (axle_module *)attention, out);
}
