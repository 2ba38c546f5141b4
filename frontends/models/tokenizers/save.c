/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a tokenizer, as transformers reads them. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/whole_file.h"
#include "read.h"

/* ---- files */

static int write_text(const char *directory, const char *name, const char *text, size_t size)
{
    char *path;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        return axle__tokenizer_out_of_memory();
    int status = whole_file_write(path, text, size);
    free(path);
    return status;
}

/* Takes the value, which is NULL without memory. */
static int write_json(const char *directory, const char *name, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(value);
    if (!text)
        return axle__tokenizer_out_of_memory();
    size_t size = strlen(text);
    text[size] = '\n';
    int status = write_text(directory, name, text, size + 1);
    free(text);
    return status;
}

/* Lines that are put together; starts as {0}. */
typedef struct lines {
    char *text;
    size_t size, room;
} lines;

static int put_line(lines *lines, const char *first, const char *second)
{
    const char *between = second ? " " : "";
    second = second ? second : "";
    size_t size = strlen(first) + strlen(between) + strlen(second) + 1;
    char *text = axle__grow(lines->text, &lines->room, lines->size + size + 1, 1);
    if (!text)
        return AXLE_ERR_NOMEM;
    lines->text = text;
    snprintf(text + lines->size, size + 1, "%s%s%s\n", first, between, second);
    lines->size += size;
    return AXLE_OK;
}

static int write_lines(const char *directory, const char *name, lines *lines, int status)
{
    if (!status)
        status = write_text(directory, name, lines->text ? lines->text : "", lines->size);
    free(lines->text);
    return status;
}

/* ---- vocabularies */

/* Ids by token. NULL: out of memory. */
static json_t *list_words(const axle__vocabulary *words)
{
    json_t *list = json_object();
    for (int32_t k = 0; list && k < words->ids; k++)
        if (words->texts[k] && json_object_set_new(list, words->texts[k], json_integer(k))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* A token with a newline cannot stand in it; then only tokenizer.json has the vocabulary. */
static bool fits_lines(const axle__vocabulary *words)
{
    for (int32_t k = 0; k < words->ids; k++)
        if (words->texts[k] && strpbrk(words->texts[k], "\r\n"))
            return false;
    return true;
}

static int write_words(const char *directory, const axle__vocabulary *words)
{
    lines lines = {NULL, 0, 0};
    int status = AXLE_OK;
    if (!fits_lines(words))
        return AXLE_OK;
    for (int32_t k = 0; k < words->ids && !status; k++)
        status = put_line(&lines, words->texts[k] ? words->texts[k] : "", NULL);
    return write_lines(directory, "vocab.txt", &lines, status);
}

static int write_merges(const char *directory, const json_t *merges)
{
    size_t k;
    json_t *merge;
    lines lines = {NULL, 0, 0};
    int status = put_line(&lines, "#version: 0.2", NULL);
    json_array_foreach((json_t *)merges, k, merge)
    {
        const char *whole = json_string_value(merge);
        if (!status && whole)
            status = put_line(&lines, whole, NULL);
        else if (!status)
            status = put_line(&lines, json_string_value(json_array_get(merge, 0)),
                              json_string_value(json_array_get(merge, 1)));
    }
    return write_lines(directory, "merges.txt", &lines, status);
}

static int write_vocabulary(const axle_tokenizer *tokenizer, const char *directory)
{
    const json_t *model = json_object_get(tokenizer->description, "model");
    if (tokenizer->model.kind == AXLE__WORDPIECE)
        return write_words(directory, &tokenizer->model.words);
    int status = write_json(directory, "vocab.json", list_words(&tokenizer->model.words));
    return status ? status : write_merges(directory, json_object_get(model, "merges"));
}

static int write_description(const axle_tokenizer *tokenizer, const char *directory)
{
    json_t *whole = json_copy(tokenizer->description);
    json_t *model = json_copy(json_object_get(whole, "model"));
    if (json_object_set_new(model, "vocab", list_words(&tokenizer->model.words)) ||
        json_object_set_new(whole, "model", json_incref(model))) {
        json_decref(whole);
        whole = NULL;
    }
    json_decref(model);
    return write_json(directory, "tokenizer.json", whole);
}

/* ---- the configuration */

static const char *class_of(const axle_tokenizer *tokenizer)
{
    if (tokenizer->model.kind == AXLE__WORDPIECE)
        return "BertTokenizer";
    return tokenizer->layout.single.count > 1 ? "RobertaTokenizer" : "GPT2Tokenizer";
}

/* What a class of transformers would take for granted otherwise. */
static int set_normalizer(const axle_tokenizer *tokenizer, json_t *config)
{
    static const char *const keys[][2] = {{"lowercase", "do_lower_case"},
                                          {"strip_accents", "strip_accents"},
                                          {"handle_chinese_chars", "tokenize_chinese_chars"}};
    json_t *normalizer = json_object_get(tokenizer->description, "normalizer");
    const char *type = json_string_value(json_object_get(normalizer, "type"));
    int wrong = 0;
    for (int k = 0; type && strcmp(type, "BertNormalizer") == 0 && k < 3; k++) {
        json_t *value = json_object_get(normalizer, keys[k][0]);
        if (value && !json_object_get(config, keys[k][1]))
            wrong |= json_object_set(config, keys[k][1], value);
    }
    return wrong;
}

static int write_config(const axle_tokenizer *tokenizer, const char *directory)
{
    json_t *config = json_copy(tokenizer->config);
    int wrong = set_normalizer(tokenizer, config);
    if (!json_object_get(config, "tokenizer_class"))
        wrong |= json_object_set_new(config, "tokenizer_class", json_string(class_of(tokenizer)));
    if (wrong) {
        json_decref(config);
        config = NULL;
    }
    return write_json(directory, "tokenizer_config.json", config);
}

static int write_map(const axle_tokenizer *tokenizer, const char *directory)
{
    static const char *const keys[] = {
#define ROLE_KEY(name, key) key,
        AXLE_TOKEN_ROLE_LIST(ROLE_KEY)
#undef ROLE_KEY
    };
    json_t *map = json_object();
    int wrong = 0;
    for (int role = 0; role < AXLE_TOKEN_ROLES; role++) {
        const char *text = axle__token_text(tokenizer, tokenizer->roles[role]);
        if (text)
            wrong |= json_object_set_new(map, keys[role], json_string(text));
    }
    if (wrong) {
        json_decref(map);
        map = NULL;
    }
    return write_json(directory, "special_tokens_map.json", map);
}

int axle_tokenizer_save(const axle_tokenizer *tokenizer, const char *directory)
{
    int status = write_vocabulary(tokenizer, directory);
    if (!status && tokenizer->extra.count)
        status = write_json(directory, "added_tokens.json", list_words(&tokenizer->extra));
    if (!status)
        status = write_map(tokenizer, directory);
    if (!status)
        status = write_config(tokenizer, directory);
    return status ? status : write_description(tokenizer, directory);
}
