/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "read.h"

enum { MOST_GAPS = 1 << 16 };

static int read_flags(const axle__section *token, axle__added_token *out)
{
    int status = axle__section_flag(token, "special", &out->special);
    out->normalized = !out->special;
    if (!status)
        status = axle__section_flag(token, "normalized", &out->normalized);
    if (!status)
        status = axle__section_flag(token, "single_word", &out->single_word);
    if (!status)
        status = axle__section_flag(token, "lstrip", &out->left);
    if (!status)
        status = axle__section_flag(token, "rstrip", &out->right);
    return status;
}

/* A token keeps the id that the vocabulary gives it; others are new. */
static int place(const axle__section *token, int64_t id, const char *text, axle_tokenizer *out)
{
    int32_t known = axle__token_id(out, text);
    if (known >= 0 && known != id)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: the added token '%s' has the ids %d and %lld",
                              token->file, text, known, (long long)id);
    if (known >= 0)
        return AXLE_OK;
    if (axle__token_text(out, id))
        return axle_error_set(AXLE_ERR_FORMAT, "%s: '%s' and '%s' have the same id %lld",
                              token->file, axle__token_text(out, id), text, (long long)id);
    if (id > axle_tokenizer_vocab_size(out) + MOST_GAPS)
        return axle__section_malformed(token, "id");
    return axle__vocabulary_add(&out->extra, text, id);
}

static int read_token(const axle__section *token, axle_tokenizer *out)
{
    static const char *const known[] = {"id",     "content", "single_word", "lstrip",
                                        "rstrip", "special", "normalized",  NULL};
    const json_t *id = json_object_get(token->json, "id");
    const char *text = axle__section_text(token, "content");
    axle__added_token added = {.text = (char *)text, .id = (int32_t)json_integer_value(id)};
    int status = axle__section_keys(token, known);
    if (!status && (!text || !*text))
        status = axle__section_malformed(token, "content");
    if (!status && (!json_is_integer(id) || json_integer_value(id) < 0 ||
                    json_integer_value(id) >= AXLE__MOST_IDS))
        status = axle__section_malformed(token, "id");
    if (!status)
        status = read_flags(token, &added);
    if (!status)
        status = place(token, json_integer_value(id), text, out);
    return status ? status : axle__added_put(&out->added, &added);
}

int axle__read_added_tokens(const axle__section *section, axle_tokenizer *out)
{
    size_t k;
    json_t *token;
    if (section->json && !json_is_null(section->json) && !json_is_array(section->json))
        return axle__section_malformed(section, section->name);
    json_array_foreach((json_t *)section->json, k, token)
    {
        axle__section inner = {section->file, section->name, token};
        int status = read_token(&inner, out);
        if (status)
            return status;
    }
    return AXLE_OK;
}
