/* SPDX-License-Identifier: Apache-2.0 */
/* Low-rank adapters of linear layers: computing, merging, and coming and going. */
#include "axle/lora.h"

#include <string.h>

#include "axle/autograd.h"
#include "base/memory.h"
#include "nn/linear.h"
#include "tensor/elementwise.h"

static const char name_a[] = "lora_A", name_b[] = "lora_B";

axle_tensor *axle__lora_add(const axle__linear *linear, axle_tensor *x, axle_tensor *y)
{
    const axle__lora *lora = linear->lora;
    if (linear->base.training && lora->dropout > 0.0)
        x = axle_dropout(x, lora->dropout);
    x = axle_linear(axle_linear(x, lora->a, NULL), lora->b, NULL);
    return axle_add(y, axle_mul_scalar(x, lora->alpha / (double)lora->rank));
}

/* ------------------------------------------------------------------ coming and going */

/* A child like a linear layer without bias, on the device and in the type of the layer. */
static int add_factor(axle__linear *linear, const char *name, double bound, int64_t rows,
                      int64_t columns, axle_tensor **out)
{
    axle__linear *factor = NULL;
    int status = axle_module_new(&axle__linear_class, (axle_module **)&factor);
    if (status)
        return status;
    status = axle__add_uniform(&factor->base, "weight", bound, AXLE_DIMS(rows, columns),
                               &factor->weight);
    if (!status)
        status = axle_module_to_dtype(&factor->base, axle_tensor_dtype(linear->weight));
    if (!status)
        status = axle_module_to_device(&factor->base, axle_tensor_device(linear->weight));
    if (status) {
        axle_module_release(&factor->base);
        return status;
    }
    factor->base.training = linear->base.training;
    *out = factor->weight;
    return axle_module_add_child(&linear->base, name, &factor->base);
}

int axle__lora_attach(axle__linear *linear, int64_t rank, double alpha, double dropout)
{
    int64_t out = axle_tensor_dim(linear->weight, 0), in = axle_tensor_dim(linear->weight, 1);
    linear->lora = axle__alloc(1, sizeof(*linear->lora));
    if (!linear->lora)
        return axle_error_code();
    *linear->lora = (axle__lora){.rank = rank, .alpha = alpha, .dropout = dropout};
    int status = add_factor(linear, name_a, axle__fan_bound(in), rank, in, &linear->lora->a);
    if (!status)
        status = add_factor(linear, name_b, 0.0, out, rank, &linear->lora->b);
    if (status)
        axle__lora_detach(linear);
    return status;
}

void axle__lora_free(axle__linear *linear)
{
    if (linear->lora)
        axle_tensor_release(linear->lora->plain);
    axle__free(linear->lora);
    linear->lora = NULL;
}

void axle__lora_detach(axle__linear *linear)
{
    axle__slots *children = &linear->base.state->slots[AXLE__CHILDREN];
    axle__lora_free(linear);
    axle_module_release(axle__slots_remove(children, name_a));
    axle_module_release(axle__slots_remove(children, name_b));
}

static bool is_factor(const char *path)
{
    static const char *const endings[] = {"lora_A.weight", "lora_B.weight"};
    size_t length = strlen(path);
    for (int k = 0; k < 2; k++) {
        size_t n = strlen(endings[k]);
        if (length >= n && strcmp(path + length - n, endings[k]) == 0 &&
            (length == n || path[length - n - 1] == '.'))
            return true;
    }
    return false;
}

static int freeze_plain(const char *path, axle_tensor *tensor, void *user)
{
    (void)user;
    if (is_factor(path))
        return AXLE_OK;
    int status = axle_tensor_set_grad(tensor, NULL);
    return status ? status : axle_tensor_set_requires_grad(tensor, 0);
}

int axle__lora_freeze(axle_module *module)
{
    return axle_module_each_parameter(module, freeze_plain, NULL);
}

/* ------------------------------------------------------------------ all layers of a tree */

static int count_adapted(const char *path, axle_module *module, void *user)
{
    const axle__linear *linear = axle__linear_of(module);
    (void)path;
    *(int *)user += linear && linear->lora;
    return AXLE_OK;
}

int axle_lora_count(axle_module *module)
{
    int count = 0;
    axle_module_each_module(module, count_adapted, &count);
    return count;
}

/* Adapters of a layer are its children, so its place in the walk has to be left first. */
static axle__linear *next_adapted(axle_module *module)
{
    axle__linear *linear = axle__linear_of(module);
    if (linear && linear->lora)
        return linear;
    for (int k = 0; k < axle_module_child_count(module); k++) {
        axle__linear *found = next_adapted(axle__child_at(module, k));
        if (found)
            return found;
    }
    return NULL;
}

int axle_lora_remove(axle_module *module)
{
    axle__linear *linear;
    while ((linear = next_adapted(module)))
        axle__lora_detach(linear);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ merging */

struct uses {
    const axle_tensor *weight;
    int count;
};

static int count_use(const char *path, axle_tensor *tensor, void *user)
{
    struct uses *uses = user;
    (void)path;
    uses->count += tensor == uses->weight;
    return AXLE_OK;
}

/* Whether a merge would change more than the layer. A layer with several paths counts once. */
static int check_untied(const char *path, axle_module *module, void *root)
{
    const axle__linear *linear = axle__linear_of(module);
    if (!linear || !linear->lora || linear->lora->plain)
        return AXLE_OK;
    struct uses uses = {linear->weight, 0};
    int status = axle__module_walk(root, AXLE__PARAMETERS, true, count_use, &uses);
    if (status || uses.count == 1)
        return status;
    return axle_error_set(AXLE_ERR_STATE,
                          "axle_lora_merge: the weight of '%s' is tied to another parameter", path);
}

static int add_product(axle__linear *linear)
{
    const axle__lora *lora = linear->lora;
    axle_tensor *product = axle_matmul(lora->b, lora->a); /* (out, in) */
    product = axle_mul_scalar(product, lora->alpha / (double)lora->rank);
    axle_tensor *merged = axle_add(linear->weight, product);
    return merged ? axle_tensor_assign(linear->weight, merged) : axle_error_code();
}

static int merge(const char *path, axle_module *module, void *user)
{
    axle__linear *linear = axle__linear_of(module);
    (void)path, (void)user;
    if (!linear || !linear->lora || linear->lora->plain)
        return AXLE_OK;
    const axle_tensor *weight = linear->weight;
    axle_tensor *plain = axle__tensor_new("lora", weight->device, (int)axle__dtype(weight),
                                          axle__rank(weight), weight->view.dim, NULL);
    int status = plain ? axle_scope_push() : axle_error_code();
    if (!status) {
        status = axle__copy_into(plain, weight);
        if (!status)
            status = add_product(linear);
        axle_scope_pop();
    }
    if (status)
        axle_tensor_release(plain);
    else
        linear->lora->plain = plain;
    return status;
}

static int unmerge(const char *path, axle_module *module, void *user)
{
    axle__linear *linear = axle__linear_of(module);
    (void)path, (void)user;
    if (!linear || !linear->lora || !linear->lora->plain)
        return AXLE_OK;
    int status = axle_tensor_assign(linear->weight, linear->lora->plain);
    if (status)
        return status;
    axle_tensor_release(linear->lora->plain);
    linear->lora->plain = NULL;
    return AXLE_OK;
}

int axle_lora_merge(axle_module *module)
{
    int status = axle_module_each_module(module, check_untied, module);
    axle_no_grad_push();
    if (!status)
        status = axle_module_each_module(module, merge, NULL);
    axle_no_grad_pop();
    return status;
}

int axle_lora_unmerge(axle_module *module)
{
    axle_no_grad_push();
    int status = axle_module_each_module(module, unmerge, NULL);
    axle_no_grad_pop();
    return status;
}
