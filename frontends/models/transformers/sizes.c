/* SPDX-License-Identifier: Apache-2.0 */
/* From a configuration's values to numbers that a network can be made by. */
#include "sizes.h"

#include <stddef.h>
#include <string.h>

#include "config.h"

/* ------------------------------------------------------------------ activations */

static const struct {
    const char *name;
    axle__activation fn;
} activations[] = {
    {"gelu", axle_gelu}, {"gelu_new", axle_gelu_tanh}, {"gelu_pytorch_tanh", axle_gelu_tanh},
    {"relu", axle_relu}, {"silu", axle_silu},          {"swish", axle_silu},
    {"tanh", axle_tanh},
};

int axle__hidden_act_find(const char *name, axle__activation *out)
{
    char list[128] = "";
    for (size_t k = 0; k < sizeof(activations) / sizeof(activations[0]); k++) {
        if (name && strcmp(activations[k].name, name) == 0) {
            *out = activations[k].fn;
            return AXLE_OK;
        }
        strcat(strcat(list, k ? ", " : ""), activations[k].name);
    }
    return axle_error_set(AXLE_ERR_UNSUPPORTED,
                          "config.json: there is no activation '%.40s'; there are %s",
                          name ? name : "", list);
}

/* ------------------------------------------------------------------ numbers */

enum { MOST = 1 << 30 };

typedef struct count {
    const char *name;
    size_t offset;
    int64_t least, most;
} count;
#define COUNT(name, member, least, most)                                                           \
    {                                                                                              \
        name, offsetof(axle__sizes, member), least, most                                           \
    }
static const count counts[] = {
    COUNT("vocab_size", vocabulary, 1, MOST),
    COUNT("max_position_embeddings", positions, 1, MOST),
    COUNT("type_vocab_size", types, 0, MOST),
    COUNT("hidden_size", hidden, 1, MOST),
    COUNT("embedding_size", embedding, 1, MOST),
    COUNT("intermediate_size", inner, 1, MOST),
    COUNT("num_hidden_layers", layers, 0, 1 << 12),
    COUNT("num_attention_heads", heads, 1, 1 << 20),
    COUNT("pad_token_id", padding, 0, MOST),
};

typedef struct share {
    const char *name;
    size_t offset;
    double most;
} share;
#define SHARE(name, member, most)                                                                  \
    {                                                                                              \
        name, offsetof(axle__sizes, member), most                                                  \
    }
static const share shares[] = {
    SHARE("hidden_dropout_prob", dropout, 1.0),
    SHARE("embedding_dropout_prob", embedding_dropout, 1.0),
    SHARE("attention_probs_dropout_prob", attention_dropout, 1.0),
    SHARE("classifier_dropout", classifier_dropout, 1.0),
    SHARE("layer_norm_eps", eps, 1.0),
    SHARE("initializer_range", deviation, 1e6),
};

/* Whether the model has the key, and a value for it. */
static bool has(const axle_transformer_config *config, const char *name)
{
    const axle__key *row = axle__config_row(config->kind, name);
    if (!row)
        return false;
    return axle__config_value(config, name) ||
           (!json_object_get(config->root, row->key) && !isnan(row->number));
}

static int read_count(const axle_transformer_config *config, const count *one, axle__sizes *out)
{
    int64_t value = 0;
    if (!has(config, one->name))
        return AXLE_OK;
    int status = axle_transformer_config_get_int(config, one->name, &value);
    if (status)
        return status;
    if (value < one->least || value > one->most)
        return axle_error_set(AXLE_ERR_INVALID, "config.json: '%s' cannot be %lld",
                              axle__config_row(config->kind, one->name)->key, (long long)value);
    memcpy((char *)out + one->offset, &value, sizeof(value));
    return AXLE_OK;
}

static int read_share(const axle_transformer_config *config, const share *one, axle__sizes *out)
{
    double value = 0.0;
    if (!has(config, one->name))
        return AXLE_OK;
    int status = axle_transformer_config_get_double(config, one->name, &value);
    if (status)
        return status;
    if (!(value >= 0.0 && value <= one->most))
        return axle_error_set(AXLE_ERR_INVALID, "config.json: '%s' cannot be %g",
                              axle__config_row(config->kind, one->name)->key, value);
    memcpy((char *)out + one->offset, &value, sizeof(value));
    return AXLE_OK;
}

/* What null stands for, and what must fit together. */
static int complete(axle__sizes *sizes)
{
    if (sizes->embedding == 0)
        sizes->embedding = sizes->hidden;
    if (sizes->inner == 0)
        sizes->inner = 4 * sizes->hidden;
    if (sizes->classifier_dropout < 0.0)
        sizes->classifier_dropout = sizes->dropout;
    if (sizes->hidden % sizes->heads != 0)
        return axle_error_set(AXLE_ERR_INVALID, "config.json: %lld heads do not divide width %lld",
                              (long long)sizes->heads, (long long)sizes->hidden);
    if (sizes->padding >= sizes->vocabulary)
        return axle_error_set(AXLE_ERR_INVALID, "config.json: padding is token %lld of %lld",
                              (long long)sizes->padding, (long long)sizes->vocabulary);
    return AXLE_OK;
}

int axle__sizes_read(const axle_transformer_config *config, axle__sizes *out)
{
    axle__sizes sizes = {.padding = -1, .classifier_dropout = -1.0};
    const char *activation = axle_transformer_config_get_string(config, "hidden_act");
    int status = axle__hidden_act_find(activation, &sizes.activation);
    for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]) && !status; k++)
        status = read_count(config, &counts[k], &sizes);
    for (size_t k = 0; k < sizeof(shares) / sizeof(shares[0]) && !status; k++)
        status = read_share(config, &shares[k], &sizes);
    if (!status)
        status = axle__config_flag(config, "tie_word_embeddings", true, &sizes.tied);
    if (!status)
        status = complete(&sizes);
    if (!status)
        *out = sizes;
    return status;
}
