/* SPDX-License-Identifier: Apache-2.0 */
/* A tokenizer of what its files say, and what it tells of its vocabulary. */
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "workspace.h"

int32_t axle__token_id(const axle_tokenizer *tokenizer, const char *text)
{
    int32_t id = axle__vocabulary_id(&tokenizer->model.words, text, strlen(text));
    return id >= 0 ? id : axle__vocabulary_id(&tokenizer->extra, text, strlen(text));
}

const char *axle__token_text(const axle_tokenizer *tokenizer, int64_t id)
{
    const axle__vocabulary *words = &tokenizer->model.words, *extra = &tokenizer->extra;
    if (id >= 0 && id < words->ids && words->texts[id])
        return words->texts[id];
    return id >= 0 && id < extra->ids ? extra->texts[id] : NULL;
}

int64_t axle_tokenizer_vocab_size(const axle_tokenizer *tokenizer)
{
    int32_t words = tokenizer->model.words.ids, extra = tokenizer->extra.ids;
    return words > extra ? words : extra;
}

int64_t axle_tokenizer_token_id(const axle_tokenizer *tokenizer, const char *token)
{
    return axle__token_id(tokenizer, token);
}

const char *axle_tokenizer_token(const axle_tokenizer *tokenizer, int64_t id)
{
    return axle__token_text(tokenizer, id);
}

int64_t axle_tokenizer_special_id(const axle_tokenizer *tokenizer, int role)
{
    return role >= 0 && role < AXLE_TOKEN_ROLES ? tokenizer->roles[role] : -1;
}

int64_t axle_tokenizer_pad_id(const axle_tokenizer *tokenizer)
{
    return tokenizer->roles[AXLE_TOKEN_PADDING];
}

int64_t axle_tokenizer_max_length(const axle_tokenizer *tokenizer)
{
    return tokenizer->max_length;
}

/* ---- life */

axle_tokenizer *axle_tokenizer_retain(axle_tokenizer *tokenizer)
{
    atomic_fetch_add(&tokenizer->references, 1);
    return tokenizer;
}

void axle_tokenizer_release(axle_tokenizer *tokenizer)
{
    if (!tokenizer || atomic_fetch_sub(&tokenizer->references, 1) != 1)
        return;
    for (axle__workspace *idle = tokenizer->idle, *next; idle; idle = next) {
        next = idle->next;
        axle__workspace_free(idle);
    }
    axle__model_free(&tokenizer->model);
    axle__vocabulary_free(&tokenizer->extra);
    axle__added_free(&tokenizer->added);
    free(tokenizer->decoder_prefix);
    json_decref(tokenizer->description);
    json_decref(tokenizer->config);
    pthread_mutex_destroy(&tokenizer->lock);
    free(tokenizer);
}

/* ---- making */

/* In this order: later ones need what earlier ones found. */
static const struct {
    const char *name;
    int (*read)(const axle__section *section, axle_tokenizer *out);
} sections[] = {
    {"model", axle__read_model},
    {"added_tokens", axle__read_added_tokens},
    {"normalizer", axle__read_normalizer},
    {"pre_tokenizer", axle__read_pre_tokenizer},
    {"post_processor", axle__read_post_processor},
    {"decoder", axle__read_decoder},
};
enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

/* What the configuration says of BERT's normaliser counts. */
static const char *const overrides[][2] = {
    {"do_lower_case", "lowercase"},
    {"strip_accents", "strip_accents"},
    {"tokenize_chinese_chars", "handle_chinese_chars"},
};

static int override(json_t *description, const json_t *config)
{
    json_t *normalizer = json_object_get(description, "normalizer");
    const char *type = json_string_value(json_object_get(normalizer, "type"));
    if (!type || strcmp(type, "BertNormalizer") != 0)
        return AXLE_OK;
    for (int k = 0; k < 3; k++) {
        json_t *value = json_object_get(config, overrides[k][0]);
        if (value && json_object_set(normalizer, overrides[k][1], value))
            return axle__tokenizer_out_of_memory();
    }
    return AXLE_OK;
}

static int read_all(axle_tokenizer *out, const char *name)
{
    static const char *const known[] = {
        "version",       "truncation",     "padding", "added_tokens", "normalizer",
        "pre_tokenizer", "post_processor", "decoder", "model",        NULL};
    axle__section whole = {name, "tokenizer", out->description};
    if (!json_is_object(out->description))
        return axle_error_set(AXLE_ERR_FORMAT, "%s: it is no JSON object", name);
    int status = axle__section_keys(&whole, known);
    if (!status)
        status = override(out->description, out->config);
    for (int k = 0; k < SECTIONS && !status; k++) {
        axle__section section = {name, sections[k].name,
                                 json_object_get(out->description, sections[k].name)};
        status = sections[k].read(&section, out);
    }
    if (!status)
        status = axle__added_prepare(&out->added, &out->normalizer);
    return status ? status : axle__read_config(out->config, out);
}

int axle__tokenizer_build(json_t *description, json_t *config, const char *name,
                          axle_tokenizer **out)
{
    axle_tokenizer *tokenizer = calloc(1, sizeof(*tokenizer));
    if (!tokenizer || !description || !config) {
        json_decref(description);
        json_decref(config);
        free(tokenizer);
        return axle__tokenizer_out_of_memory();
    }
    tokenizer->references = 1;
    tokenizer->description = description;
    tokenizer->config = config;
    pthread_mutex_init(&tokenizer->lock, NULL);
    int status = read_all(tokenizer, name);
    if (status) {
        axle_tokenizer_release(tokenizer);
        return status;
    }
    /* Both are in the model. */
    json_t *model = json_object_get(description, "model");
    json_object_del(model, "vocab");
    *out = tokenizer;
    return AXLE_OK;
}
