/* SPDX-License-Identifier: Apache-2.0 */
/* Embeddings of tokens, positions and, where the model has them, types of tokens. */
#include "axle/autocast.h"
#include "axle/autograd.h"
#include "encoder.h"

typedef struct embeddings {
    axle_module base;
    const axle__network *network; /* borrowed: it owns this module */
    axle_module *words, *positions, *types, *norm;
} embeddings;

static bool by_padding(const axle__network *network)
{
    return ((const axle__encoder *)network->kind->details)->positions_by_padding;
}

/* ------------------------------------------------------------------ positions */

/* keep (N, T) f32 of 0 and 1: how many there are up to each. Sums of so many ones are exact. */
static axle_tensor *running_count(axle_tensor *keep, int64_t length)
{
    if (!keep)
        return NULL;
    axle_tensor *numbers = axle_arange(AXLE_DTYPE_I64, 0.0, (double)length, 1.0);
    numbers = axle_to_device(numbers, axle_tensor_device(keep));
    axle_tensor *upto = axle_le(axle_unsqueeze(numbers, 1), axle_unsqueeze(numbers, 0));
    if (axle_autocast_push(AXLE_DTYPE_F32)) /* a product in bf16 would not be exact */
        return NULL;
    axle_tensor *count = axle_matmul(keep, axle_cast(upto, AXLE_DTYPE_F32));
    axle_autocast_pop();
    return count;
}

/* Padding has the position `padding`, and the k-th other token, from 1, has padding + k. */
static axle_tensor *positions_of(axle_tensor *ids, int64_t length, int64_t padding)
{
    axle_tensor *pad = axle_scalar(axle_tensor_dtype(ids), (double)padding);
    pad = axle_to_device(pad, axle_tensor_device(ids));
    axle_tensor *keep = axle_cast(axle_ne(ids, pad), AXLE_DTYPE_F32);
    axle_tensor *count = axle_mul(running_count(keep, length), keep);
    return axle_cast(axle_add_scalar(count, (double)padding), AXLE_DTYPE_I64);
}

static axle_tensor *embed_positions(const embeddings *e, axle_tensor *ids)
{
    int64_t length = axle_tensor_dim(ids, 1);
    if (by_padding(e->network))
        return axle_module_forward(e->positions,
                                   positions_of(ids, length, e->network->sizes.padding));
    return axle_slice(axle_module_parameter(e->positions, "weight"), 0, 0, length, 1); /* (T, D) */
}

/* ------------------------------------------------------------------ all of them */

static axle_tensor *embed_types(const embeddings *e, axle_tensor *types)
{
    if (types)
        return axle_module_forward(e->types, types);
    return axle_slice(axle_module_parameter(e->types, "weight"), 0, 0, 1, 1); /* (1, D) */
}

static axle_tensor *embeddings_call(axle_module *self, axle_tensor *const *in, int n_in)
{
    const embeddings *e = (embeddings *)self;
    axle_tensor *x = axle_module_forward(e->words, in[0]);
    if (e->types)
        x = axle_add(x, embed_types(e, n_in > 1 ? in[1] : NULL));
    x = axle_add(x, embed_positions(e, in[0]));
    return axle__drop(self, axle_module_forward(e->norm, x), e->network->sizes.dropout);
}

static const axle_module_class embeddings_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "transformer_embeddings",
    .instance_size = sizeof(embeddings),
    .call = embeddings_call,
};

axle_tensor *axle__embeddings_run(const axle__network *network, const axle__inputs *in)
{
    return axle_module_call(network->embeddings, (axle_tensor *[]){in->ids, in->types}, 2);
}

void axle__embeddings_build(axle__builder *b, axle__network *network)
{
    const axle__sizes *sizes = &network->sizes;
    int64_t width = sizes->embedding;
    axle_module *module = axle__build_module(b, network->body, "embeddings", &embeddings_class);
    if (!module)
        return;
    embeddings *e = (embeddings *)module;
    network->embeddings = module;
    network->longest = sizes->positions - (by_padding(network) ? sizes->padding + 1 : 0);
    e->network = network;
    e->words = axle__build_embedding(b, module, "word_embeddings", sizes->vocabulary, width,
                                     sizes->padding);
    network->words = e->words;
    e->positions = axle__build_embedding(b, module, "position_embeddings", sizes->positions, width,
                                         by_padding(network) ? sizes->padding : -1);
    if (sizes->types > 0)
        e->types =
            axle__build_embedding(b, module, "token_type_embeddings", sizes->types, width, -1);
    e->norm = axle__build_norm(b, module, "LayerNorm", width, sizes->eps);
}

/* ------------------------------------------------------------------ initial values */

/* Zeros for the token, or position, of padding. */
static int clear_row(axle_tensor *weight, int64_t row)
{
    if (row < 0)
        return AXLE_OK;
    if (axle_scope_push())
        return axle_error_code();
    axle_tensor *slice = axle_slice(axle_detach(weight), 0, row, row + 1, 1);
    int status = slice ? axle_init_constant(slice, 0.0) : axle_error_code();
    axle_scope_pop();
    return status;
}

int axle__embeddings_adjust(const axle__network *network, const char *path, axle_tensor *tensor)
{
    bool words = axle__ends_with(path, "word_embeddings.weight");
    bool positions = axle__ends_with(path, "position_embeddings.weight");
    if (words || (positions && by_padding(network)))
        return clear_row(tensor, network->sizes.padding);
    return AXLE_OK;
}
