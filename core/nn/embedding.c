/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/module.h"

#include "tensor/elementwise.h"

struct embedding {
    axle_module base;
    axle_tensor *weight; /* (count, features) */
    int64_t padding_idx; /* -1: none */
};

static axle_tensor *embedding_forward(axle_module *self, axle_tensor *ids)
{
    const struct embedding *embedding = (struct embedding *)self;
    return axle_embedding(embedding->weight, ids, embedding->padding_idx);
}

static const axle_module_class embedding_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "embedding",
    .instance_size = sizeof(struct embedding),
    .forward = embedding_forward,
};

/* Fill row `row` of a tensor (rows, features) with zeros, unseen by autograd. */
static int clear_row(const axle_tensor *weight, int64_t row)
{
    axle_view view = weight->view;
    view.dim[0] = 1;
    view.offset += (uint64_t)(row * view.stride[0]) * axle_dtype_size((int)axle__dtype(weight));
    axle_tensor *alias = axle__tensor_alias(weight, &view);
    int status = alias ? axle__fill(alias, 0.0) : axle_error_code();
    axle_tensor_release(alias);
    return status;
}

int axle_embedding_create(int64_t count, int64_t features, int64_t padding_idx, axle_module **out)
{
    if (axle__check_least("embedding", "count", count, 1) ||
        axle__check_least("embedding", "features", features, 1))
        return axle_error_code();
    if (padding_idx < -1 || padding_idx >= count)
        return axle_error_set(AXLE_ERR_INDEX, "embedding: padding_idx is %lld of %lld rows",
                              (long long)padding_idx, (long long)count);
    struct embedding *embedding = NULL;
    int status = axle_module_new(&embedding_class, (axle_module **)&embedding);
    if (!status) {
        embedding->padding_idx = padding_idx;
        status = axle__add_normal(&embedding->base, "weight", AXLE_DIMS(count, features),
                                  &embedding->weight);
    }
    if (!status && padding_idx >= 0)
        status = clear_row(embedding->weight, padding_idx);
    return axle__module_finish(status, (axle_module *)embedding, out);
}
