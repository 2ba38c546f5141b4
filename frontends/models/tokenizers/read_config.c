/* SPDX-License-Identifier: Apache-2.0 */
/* What tokenizer_config.json says of special tokens, lengths and sides. */
#include <stdlib.h>
#include <string.h>

#include "read.h"

static const char *const keys[] = {
#define ROLE_KEY(name, key) key,
    AXLE_TOKEN_ROLE_LIST(ROLE_KEY)
#undef ROLE_KEY
};

/* What models call them that do not say. */
static const char *const usual[AXLE_TOKEN_ROLES][3] = {
    [AXLE_TOKEN_UNKNOWN] = {"[UNK]", "<unk>", "<|endoftext|>"},
    [AXLE_TOKEN_BEGIN] = {"<s>", "<|endoftext|>", NULL},
    [AXLE_TOKEN_END] = {"</s>", "<|endoftext|>", NULL},
    [AXLE_TOKEN_SEPARATOR] = {"[SEP]", "</s>", NULL},
    [AXLE_TOKEN_PADDING] = {"[PAD]", "<pad>", NULL},
    [AXLE_TOKEN_CLASS] = {"[CLS]", "<s>", NULL},
    [AXLE_TOKEN_MASK] = {"[MASK]", "<mask>", NULL},
};

static int32_t find_usual(const axle_tokenizer *tokenizer, int role)
{
    for (int k = 0; k < 3 && usual[role][k]; k++) {
        int32_t id = axle__token_id(tokenizer, usual[role][k]);
        const axle__added_token *token = id < 0 ? NULL : axle__added_find(&tokenizer->added, id);
        if (token && token->special)
            return id;
    }
    return -1;
}

static int read_role(const json_t *config, int role, axle_tokenizer *out)
{
    const json_t *token = json_object_get(config, keys[role]);
    const char *text = axle__token_content(token);
    if (!token) {
        bool unknown = role == AXLE_TOKEN_UNKNOWN && out->model.unknown >= 0;
        out->roles[role] = unknown ? out->model.unknown : find_usual(out, role);
        return AXLE_OK;
    }
    out->roles[role] = -1;
    if (json_is_null(token))
        return AXLE_OK;
    if (!text)
        return axle_error_set(AXLE_ERR_FORMAT, "tokenizer_config.json: %s is no token", keys[role]);
    out->roles[role] = axle__token_id(out, text);
    if (out->roles[role] < 0)
        return axle_error_set(AXLE_ERR_FORMAT, "tokenizer: the vocabulary lacks the %s '%s'",
                              keys[role], text);
    return AXLE_OK;
}

static int read_side(const json_t *config, const char *key, bool *left)
{
    const json_t *value = json_object_get(config, key);
    const char *side = json_string_value(value);
    if (!value || json_is_null(value))
        return AXLE_OK;
    *left = side && strcmp(side, "left") == 0;
    if (*left || (side && strcmp(side, "right") == 0))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_FORMAT, "tokenizer_config.json: %s is neither left nor right",
                          key);
}

/* {"100": {"content": "[UNK]", ...}}: what tokenizer.json has, too. */
static int check_added(const json_t *config, const axle_tokenizer *tokenizer)
{
    const char *key;
    json_t *token;
    json_object_foreach(json_object_get(config, "added_tokens_decoder"), key, token)
    {
        const char *text = axle__token_content(token);
        if (!text || axle__token_id(tokenizer, text) != strtoll(key, NULL, 10))
            return axle_error_set(AXLE_ERR_FORMAT,
                                  "tokenizer_config.json: the tokenizer has no token %s '%s'", key,
                                  text ? text : "");
    }
    return AXLE_OK;
}

int axle__read_config(const json_t *config, axle_tokenizer *out)
{
    /* Transformers writes 1e30 where there is no limit. */
    const json_t *longest = json_object_get(config, "model_max_length");
    double length = json_number_value(longest);
    out->max_length = length >= 1 && length <= INT32_MAX ? (int64_t)length : 0;
    int status = check_added(config, out);
    if (!status)
        status = read_side(config, "padding_side", &out->pads_left);
    if (!status)
        status = read_side(config, "truncation_side", &out->truncates_left);
    for (int role = 0; role < AXLE_TOKEN_ROLES && !status; role++)
        status = read_role(config, role, out);
    return status;
}
