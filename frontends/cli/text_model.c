/* SPDX-License-Identifier: Apache-2.0 */
#include "text_model.h"

#include <string.h>

#include "axle/models.h"
#include "axle/ops.h"
#include "axle/transformers.h"

/* Their names are those of their types. */
static const struct text_kind {
    const char *name, *task;
    int tells_tokens, joined, turned;
} kinds[] = {
    {"distilbert", "sequence-classification", 0, 0, 0},
    {"gpt2", "causal-lm", 1, 1, 1},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), MOST_MODELS = 16 };

static const struct text_kind *kind_of(const char *name)
{
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, name) == 0)
            return &kinds[k];
    return NULL;
}

const char *const *all_model_names(void)
{
    static const char *names[MOST_MODELS + 1];
    int n = 0;
    for (const char *const *name = axle_image_model_names(); *name && n < MOST_MODELS; name++)
        names[n++] = *name;
    for (int k = 0; k < KINDS && n < MOST_MODELS; k++)
        names[n++] = kinds[k].name;
    return names;
}

int is_text_model(const char *name)
{
    return kind_of(name) != NULL;
}

int text_model_sizes(const char *name, text_sizes *out)
{
    const struct text_kind *kind = kind_of(name);
    text_sizes sizes = {.joined = kind->joined, .turned = kind->turned};
    axle_transformer_config *config;
    int code = axle_transformer_config_create(name, &config);
    if (code)
        return code;
    const struct {
        const char *key;
        int64_t *value;
    } wanted[] = {{"hidden_size", &sizes.width},
                  {"num_attention_heads", &sizes.heads},
                  {"num_hidden_layers", &sizes.layers},
                  {"vocab_size", &sizes.vocabulary}};
    for (size_t k = 0; k < sizeof(wanted) / sizeof(wanted[0]) && !code; k++)
        code = axle_transformer_config_get_int(config, wanted[k].key, wanted[k].value);
    axle_transformer_config_release(config);
    sizes.hidden = 4 * sizes.width;
    if (!kind->tells_tokens)
        sizes.vocabulary = 0;
    if (!code)
        *out = sizes;
    return code;
}

int text_model_create(const char *name, axle_model **out)
{
    axle_transformer_config *config;
    int code = axle_transformer_config_create(name, &config);
    if (code)
        return code;
    code = axle_transformer_create(config, kind_of(name)->task, out);
    axle_transformer_config_release(config);
    return code;
}

/* A field of integers: factor * k modulo `most` for element k. */
static int add_field(axle_batch *batch, const char *name, int rank, const int64_t *dims,
                     double factor, double most)
{
    double count = 1.0;
    for (int k = 0; k < rank; k++)
        count *= (double)dims[k];
    axle_tensor *number = axle_arange(AXLE_DTYPE_F64, 0.0, factor * count, factor);
    number = axle_remainder(number, axle_scalar(AXLE_DTYPE_F64, most));
    axle_tensor *field = axle_reshape(axle_cast(number, AXLE_DTYPE_I64), rank, dims);
    return field ? axle_batch_set(batch, name, field) : axle_error_code();
}

int text_batch_create(const char *name, int64_t rows, int64_t length, axle_batch **out)
{
    const int all = kind_of(name)->tells_tokens; /* a label a token, not a sequence */
    axle_batch *batch;
    int code = axle_batch_create(&batch);
    if (code)
        return code;
    axle_tensor *mask = axle_ones(AXLE_DTYPE_I64, AXLE_DIMS(rows, length));
    code = add_field(batch, "input_ids", AXLE_DIMS(rows, length), 97.0, 28996.0);
    if (!code)
        code = mask ? axle_batch_set(batch, "attention_mask", mask) : axle_error_code();
    if (!code)
        code = all ? add_field(batch, "labels", AXLE_DIMS(rows, length), 97.0, 28996.0)
                   : add_field(batch, "labels", AXLE_DIMS(rows), 1.0, 2.0);
    if (code)
        axle_batch_release(batch);
    else
        *out = batch;
    return code;
}
