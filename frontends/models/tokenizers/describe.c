/* SPDX-License-Identifier: Apache-2.0 */
#include "describe.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "axle/tokenizer.h"
#include "read.h"

typedef struct special {
    const char *key, *text;
    bool needed; /* else it is taken where the vocabulary has it */
} special;

static const special bert[] = {{"unk_token", "[UNK]", true},    {"sep_token", "[SEP]", true},
                               {"pad_token", "[PAD]", true},    {"cls_token", "[CLS]", true},
                               {"mask_token", "[MASK]", false}, {NULL, NULL, false}};
static const special roberta_tokens[] = {
    {"bos_token", "<s>", true},      {"eos_token", "</s>", true},  {"sep_token", "</s>", true},
    {"cls_token", "<s>", true},      {"unk_token", "<unk>", true}, {"pad_token", "<pad>", true},
    {"mask_token", "<mask>", false}, {NULL, NULL, false}};
static const special gpt2[] = {{"unk_token", "<|endoftext|>", true},
                               {"bos_token", "<|endoftext|>", true},
                               {"eos_token", "<|endoftext|>", true},
                               {NULL, NULL, false}};

/* ---- added tokens */

/* The list, by id. */
typedef struct listing {
    json_t *tokens;
    const json_t *vocabulary, *added;
    bool wrong; /* out of memory */
} listing;

static json_t *id_of(const listing *list, const char *text)
{
    json_t *id = json_object_get(list->vocabulary, text);
    return id ? id : json_object_get(list->added, text);
}

static bool is_listed(const listing *list, const char *text)
{
    size_t k;
    json_t *token;
    json_array_foreach(list->tokens, k,
                       token) if (strcmp(axle__token_content(token), text) == 0) return true;
    return false;
}

static bool flag(const json_t *token, const char *key, bool otherwise)
{
    const json_t *value = json_object_get(token, key);
    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

/* @param token  a text, or an object with flags. */
static void list_token(listing *list, const json_t *token, json_t *id, bool special, bool left)
{
    const char *text = axle__token_content(token);
    if (!text || !id || is_listed(list, text))
        return;
    special = flag(token, "special", special);
    json_t *item = json_pack("{sO, ss, sb, sb, sb, sb, sb}", "id", id, "content", text,
                             "single_word", flag(token, "single_word", false), "lstrip",
                             flag(token, "lstrip", left), "rstrip", flag(token, "rstrip", false),
                             "normalized", flag(token, "normalized", !special), "special", special);
    list->wrong |= json_array_append_new(list->tokens, item) != 0;
}

/* Special tokens by their roles. Those that the configuration lacks get into it. */
static void list_roles(listing *list, const special *specials, json_t *config)
{
    for (; specials->key; specials++) {
        json_t *token = json_object_get(config, specials->key);
        if (!token && !specials->needed && !id_of(list, specials->text))
            continue;
        if (!token) {
            list->wrong |=
                json_object_set_new(config, specials->key, json_string(specials->text)) != 0;
            token = json_object_get(config, specials->key);
        }
        const char *text = axle__token_content(token);
        bool left = text && strcmp(text, "<mask>") == 0;
        list_token(list, token, text ? id_of(list, text) : NULL, true, left);
    }
}

/* "added_tokens_decoder" of the configuration: {"100": {"content": "[UNK]", ...}}. */
static void list_decoder(listing *list, const json_t *config)
{
    const char *key;
    json_t *token, *all = json_object_get(config, "added_tokens_decoder");
    json_object_foreach(all, key, token)
    {
        char *end;
        json_t *id = json_integer(strtoll(key, &end, 10));
        if (!*end)
            list_token(list, token, id, false, false);
        json_decref(id);
    }
}

static bool is_additional(const json_t *config, const char *text)
{
    size_t k;
    json_t *token, *all = json_object_get(config, "additional_special_tokens");
    json_array_foreach(all, k, token)
    {
        const char *content = axle__token_content(token);
        if (content && strcmp(content, text) == 0)
            return true;
    }
    return false;
}

static void list_others(listing *list, const json_t *config)
{
    const char *text;
    size_t k;
    json_t *id, *token;
    json_object_foreach((json_t *)list->added, text, id)
    {
        json_t *content = json_string(text);
        list_token(list, content, id, is_additional(config, text), false);
        json_decref(content);
    }
    json_array_foreach(json_object_get(config, "additional_special_tokens"), k, token)
    {
        const char *content = axle__token_content(token);
        list_token(list, token, content ? id_of(list, content) : NULL, true, false);
    }
}

static int by_id(const void *a, const void *b)
{
    json_int_t first = json_integer_value(json_object_get(*(json_t *const *)a, "id"));
    json_int_t second = json_integer_value(json_object_get(*(json_t *const *)b, "id"));
    return first < second ? -1 : first > second;
}

/* Readers number them in the order of the list. NULL: out of memory. */
static json_t *sort(const json_t *tokens)
{
    size_t count = json_array_size(tokens), done = 0;
    json_t **items = malloc((count + 1) * sizeof(json_t *));
    json_t *sorted = items ? json_array() : NULL;
    for (size_t k = 0; items && k < count; k++)
        items[k] = json_array_get(tokens, k);
    if (items)
        qsort(items, count, sizeof(json_t *), by_id);
    while (sorted && done < count && json_array_append(sorted, items[done]) == 0)
        done++;
    free(items);
    if (sorted && done == count)
        return sorted;
    json_decref(sorted);
    return NULL;
}

/* NULL: out of memory. */
static json_t *list_all(const json_t *vocabulary, const special *specials, json_t *config,
                        const json_t *added)
{
    listing list = {json_array(), vocabulary, added, false};
    list_decoder(&list, config);
    list_roles(&list, specials, config);
    list_others(&list, config);
    json_t *sorted = list.wrong ? NULL : sort(list.tokens);
    json_decref(list.tokens);
    return sorted;
}

/* ---- sections */

static json_t *id_of_role(const json_t *vocabulary, const json_t *config, const json_t *added,
                          const char *key, const char **text)
{
    *text = axle__token_content(json_object_get(config, key));
    json_t *id = *text ? json_object_get(vocabulary, *text) : NULL;
    return !id && *text ? json_object_get(added, *text) : id;
}

/* null, where a token is not there; reading the roles tells so. */
static json_t *around(const json_t *vocabulary, const json_t *config, const json_t *added)
{
    const char *cls, *sep;
    json_t *cls_id = id_of_role(vocabulary, config, added, "cls_token", &cls);
    json_t *sep_id = id_of_role(vocabulary, config, added, "sep_token", &sep);
    if (!cls_id || !sep_id)
        return json_null();
    json_t *first = json_pack("{s{ss,si}}", "SpecialToken", "id", cls, "type_id", 0);
    json_t *text = json_pack("{s{ss,si}}", "Sequence", "id", "A", "type_id", 0);
    json_t *end = json_pack("{s{ss,si}}", "SpecialToken", "id", sep, "type_id", 0);
    json_t *second = json_pack("{s{ss,si}}", "Sequence", "id", "B", "type_id", 1);
    json_t *last = json_pack("{s{ss,si}}", "SpecialToken", "id", sep, "type_id", 1);
    return json_pack("{ss, s[OOO], s[ooooo], s{s{ss,s[O],s[s]}, s{ss,s[O],s[s]}}}", "type",
                     "TemplateProcessing", "single", first, text, end, "pair", first, text, end,
                     second, last, "special_tokens", cls, "id", cls, "ids", cls_id, "tokens", cls,
                     sep, "id", sep, "ids", sep_id, "tokens", sep);
}

static json_t *bert_normalizer(const json_t *config)
{
    json_t *accents = json_object_get(config, "strip_accents");
    return json_pack("{ss, sb, sb, sO, sb}", "type", "BertNormalizer", "clean_text", 1,
                     "handle_chinese_chars", flag(config, "tokenize_chinese_chars", true),
                     "strip_accents", accents ? accents : json_null(), "lowercase",
                     flag(config, "do_lower_case", true));
}

json_t *axle__describe_wordpiece(json_t *vocabulary, json_t *config, const json_t *added)
{
    json_t *tokens = list_all(vocabulary, bert, config, added);
    const char *unknown = axle__token_content(json_object_get(config, "unk_token"));
    json_t *model = json_pack("{ss, ss*, ss, si, so}", "type", "WordPiece", "unk_token", unknown,
                              "continuing_subword_prefix", "##", "max_input_chars_per_word", 100,
                              "vocab", json_incref(vocabulary));
    json_t *whole = json_pack("{ss, sn, sn, so, so, s{ss}, so, s{ss, ss, sb}, so}", "version",
                              "1.0", "truncation", "padding", "added_tokens", tokens, "normalizer",
                              bert_normalizer(config), "pre_tokenizer", "type", "BertPreTokenizer",
                              "post_processor", around(vocabulary, config, added), "decoder",
                              "type", "WordPiece", "prefix", "##", "cleanup", 1, "model", model);
    json_decref(vocabulary);
    return whole;
}

static json_t *roberta_processor(const json_t *vocabulary, const json_t *config,
                                 const json_t *added, bool space)
{
    const char *cls, *sep;
    json_t *cls_id = id_of_role(vocabulary, config, added, "cls_token", &cls);
    json_t *sep_id = id_of_role(vocabulary, config, added, "sep_token", &sep);
    if (!cls_id || !sep_id)
        return json_null();
    return json_pack("{ss, s[sO], s[sO], sb, sb}", "type", "RobertaProcessing", "sep", sep, sep_id,
                     "cls", cls, cls_id, "trim_offsets", 1, "add_prefix_space", space);
}

json_t *axle__describe_byte_level(json_t *vocabulary, json_t *merges, json_t *config,
                                  const json_t *added, int roberta)
{
    bool space = flag(config, "add_prefix_space", false);
    json_t *tokens = list_all(vocabulary, roberta ? roberta_tokens : gpt2, config, added);
    json_t *processor = roberta
                            ? roberta_processor(vocabulary, config, added, space)
                            : json_pack("{ss, sb, sb, sb}", "type", "ByteLevel", "add_prefix_space",
                                        1, "trim_offsets", 0, "use_regex", 1);
    json_t *model =
        json_pack("{ss, sn, sn, ss, ss, sb, so, so}", "type", "BPE", "dropout", "unk_token",
                  "continuing_subword_prefix", "", "end_of_word_suffix", "", "fuse_unk", 0, "vocab",
                  json_incref(vocabulary), "merges", merges);
    json_t *whole =
        json_pack("{ss, sn, sn, so, sn, s{ss, sb, sb, sb}, so, s{ss, sb, sb, sb}, so}", "version",
                  "1.0", "truncation", "padding", "added_tokens", tokens, "normalizer",
                  "pre_tokenizer", "type", "ByteLevel", "add_prefix_space", space, "trim_offsets",
                  1, "use_regex", 1, "post_processor", processor, "decoder", "type", "ByteLevel",
                  "add_prefix_space", 1, "trim_offsets", 1, "use_regex", 1, "model", model);
    json_decref(vocabulary);
    return whole;
}
