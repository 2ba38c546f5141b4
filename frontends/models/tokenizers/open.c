/* SPDX-License-Identifier: Apache-2.0 */
/* Tokenizers from folders, and of words. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "describe.h"
#include "tokenizer.h"

enum { LONGEST_FILE = 1 << 30 };

/* ---- files */

/* NULL, recorded: out of memory. */
static char *path_of(const char *directory, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", directory, name) >= 0)
        return path;
    axle__tokenizer_out_of_memory();
    return NULL;
}

static bool is_there(const char *directory, const char *name)
{
    char *path = path_of(directory, name);
    bool there = path && access(path, F_OK) == 0;
    free(path);
    return there;
}

static int read_descriptor(int descriptor, const char *path, char **text, size_t *size)
{
    struct stat about;
    ssize_t got = 1;
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode))
        return axle_error_set(AXLE_ERR_IO, "%s: it is no regular file", path);
    if (about.st_size > LONGEST_FILE)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: it is too large", path);
    *text = malloc((size_t)about.st_size + 1);
    if (!*text)
        return axle__tokenizer_out_of_memory();
    for (*size = 0; *size < (size_t)about.st_size && got > 0; *size += got > 0 ? (size_t)got : 0)
        got = read(descriptor, *text + *size, (size_t)about.st_size - *size);
    (*text)[*size] = '\0';
    return got < 0 ? axle_error_set(AXLE_ERR_IO, "%s: %s", path, strerror(errno)) : AXLE_OK;
}

/* The content, and a NUL, for free(). */
static int read_file(const char *path, char **text, size_t *size)
{
    *text = NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return axle_error_set(errno == ENOENT ? AXLE_ERR_NOT_FOUND : AXLE_ERR_IO, "%s: %s", path,
                              strerror(errno));
    int status = read_descriptor(descriptor, path, text, size);
    close(descriptor);
    if (status)
        free(*text);
    return status;
}

/* An object. With `optional`, an empty one where there is no file. */
static int read_json(const char *directory, const char *name, bool optional, json_t **out)
{
    json_error_t error;
    char *path = path_of(directory, name), *text = NULL;
    size_t size = 0;
    int status = path ? AXLE_OK : AXLE_ERR_NOMEM;
    *out = NULL;
    if (!status && optional && access(path, F_OK) != 0) {
        *out = json_object();
        free(path);
        return *out ? AXLE_OK : axle__tokenizer_out_of_memory();
    }
    if (!status)
        status = read_file(path, &text, &size);
    if (!status) {
        *out = json_loadb(text, size, 0, &error);
        if (!json_is_object(*out)) {
            status =
                axle_error_set(AXLE_ERR_FORMAT, "%s: %s (line %d)", path,
                               *out ? "it is no JSON object" : error.text, *out ? 1 : error.line);
            json_decref(*out);
            *out = NULL;
        }
        free(text);
    }
    free(path);
    return status;
}

/* ---- lines */

typedef struct lines {
    char *text, *next, *end;
    size_t number; /* of the line, from 1 */
    const char *path;
} lines;

static int lines_open(const char *path, lines *out)
{
    size_t size = 0;
    int status = read_file(path, &out->text, &size);
    if (status)
        return status;
    bool mark = size >= 3 && memcmp(out->text, "\xEF\xBB\xBF", 3) == 0;
    out->next = out->text + (mark ? 3 : 0);
    out->end = out->text + size;
    out->number = 0;
    out->path = path;
    return AXLE_OK;
}

/* The next line without its end, NUL-terminated; *line is NULL at the end of the file. */
static int lines_next(lines *lines, char **line)
{
    *line = NULL;
    if (lines->next >= lines->end)
        return AXLE_OK;
    char *begin = lines->next;
    char *end = memchr(begin, '\n', (size_t)(lines->end - begin));
    lines->next = end ? end + 1 : lines->end;
    end = end ? end : lines->end;
    lines->number++;
    if (end > begin && end[-1] == '\r')
        end--;
    if (memchr(begin, '\0', (size_t)(end - begin)) ||
        !axle__utf8_valid(begin, (size_t)(end - begin)))
        return axle_error_set(AXLE_ERR_FORMAT, "%s: line %zu is no text", lines->path,
                              lines->number);
    *end = '\0';
    *line = begin;
    return AXLE_OK;
}

/* Ids by token, of a file with a token a line. */
static int read_words(const char *path, json_t **out)
{
    lines lines;
    char *line;
    int status = lines_open(path, &lines);
    if (status)
        return status;
    *out = json_object();
    while (!(status = lines_next(&lines, &line)) && line)
        if (json_object_set_new(*out, line, json_integer((json_int_t)lines.number - 1))) {
            status = axle__tokenizer_out_of_memory();
            break;
        }
    free(lines.text);
    if (status)
        json_decref(*out);
    return status;
}

/* Lines of merges.txt; the first may be a comment. */
static int read_merges(const char *path, json_t **out)
{
    lines lines;
    char *line;
    int status = lines_open(path, &lines);
    if (status)
        return status;
    *out = json_array();
    while (!(status = lines_next(&lines, &line)) && line) {
        if (!*line || (lines.number == 1 && strncmp(line, "#version", 8) == 0))
            continue;
        if (json_array_append_new(*out, json_string(line))) {
            status = axle__tokenizer_out_of_memory();
            break;
        }
    }
    free(lines.text);
    if (status)
        json_decref(*out);
    return status;
}

/* ---- kinds of folders; `config` is taken */

static int open_json(const char *directory, json_t *config, axle_tokenizer **out)
{
    json_t *description;
    char *path = path_of(directory, "tokenizer.json");
    int status =
        path ? read_json(directory, "tokenizer.json", false, &description) : AXLE_ERR_NOMEM;
    if (status)
        json_decref(config);
    else
        status = axle__tokenizer_build(description, config, path, out);
    free(path);
    return status;
}

static int open_words(const char *directory, json_t *config, const json_t *added,
                      axle_tokenizer **out)
{
    json_t *vocabulary;
    char *path = path_of(directory, "vocab.txt");
    int status = path ? read_words(path, &vocabulary) : AXLE_ERR_NOMEM;
    if (status)
        json_decref(config);
    else
        status = axle__tokenizer_build(axle__describe_wordpiece(vocabulary, config, added), config,
                                       path, out);
    free(path);
    return status;
}

/* RoBERTa or GPT-2, by the name of the tokenizer, or of the model, or by what tokens there are. */
static bool is_roberta(const json_t *config, const json_t *model, const json_t *vocabulary)
{
    const char *name = json_string_value(json_object_get(config, "tokenizer_class"));
    const char *type = json_string_value(json_object_get(model, "model_type"));
    if (name && strncmp(name, "GPT2", 4) == 0)
        return false;
    if (name && strncmp(name, "Roberta", 7) == 0)
        return true;
    if (type)
        return strcmp(type, "gpt2") != 0;
    return json_object_get(vocabulary, "</s>") != NULL;
}

static int open_pairs(const char *directory, json_t *config, const json_t *model,
                      const json_t *added, axle_tokenizer **out)
{
    json_t *vocabulary = NULL, *merges = NULL;
    char *path = path_of(directory, "merges.txt");
    int status = path ? read_json(directory, "vocab.json", false, &vocabulary) : AXLE_ERR_NOMEM;
    if (!status)
        status = read_merges(path, &merges);
    if (status) {
        json_decref(vocabulary);
        json_decref(config);
    } else {
        bool roberta = is_roberta(config, model, vocabulary);
        json_t *description = axle__describe_byte_level(vocabulary, merges, config, added, roberta);
        status = axle__tokenizer_build(description, config, path, out);
    }
    free(path);
    return status;
}

/* ---- folders */

static int check_size(const char *directory, const json_t *model, const axle_tokenizer *tokenizer)
{
    const json_t *size = json_object_get(model, "vocab_size");
    int64_t have = axle_tokenizer_vocab_size(tokenizer);
    if (!json_is_integer(size) || json_integer_value(size) >= have)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_FORMAT, "%s: the tokenizer has %lld tokens, the model %lld",
                          directory, (long long)have, (long long)json_integer_value(size));
}

static int open_kind(const char *directory, json_t *config, const json_t *model,
                     const json_t *added, axle_tokenizer **out)
{
    if (is_there(directory, "tokenizer.json"))
        return open_json(directory, config, out);
    if (is_there(directory, "vocab.txt"))
        return open_words(directory, config, added, out);
    if (is_there(directory, "vocab.json"))
        return open_pairs(directory, config, model, added, out);
    json_decref(config);
    return axle_error_set(AXLE_ERR_NOT_FOUND,
                          "%s: there is no tokenizer.json, vocab.txt or vocab.json", directory);
}

int axle_tokenizer_open(const char *directory, axle_tokenizer **out)
{
    json_t *config = NULL, *model = NULL, *added = NULL, *map = NULL;
    axle_tokenizer *tokenizer = NULL;
    int status = read_json(directory, "tokenizer_config.json", true, &config);
    if (!status)
        status = read_json(directory, "special_tokens_map.json", true, &map);
    if (!status)
        status = read_json(directory, "added_tokens.json", true, &added);
    if (!status)
        status = read_json(directory, "config.json", true, &model);
    if (!status && json_object_update_missing(config, map))
        status = axle__tokenizer_out_of_memory();
    if (!status)
        status = open_kind(directory, json_incref(config), model, added, &tokenizer);
    if (!status)
        status = check_size(directory, model, tokenizer);
    json_decref(config);
    json_decref(map);
    json_decref(added);
    json_decref(model);
    if (status) {
        axle_tokenizer_release(tokenizer);
        return status;
    }
    *out = tokenizer;
    return AXLE_OK;
}

/* ---- words */

static json_t *name(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *configure(const axle_wordpiece_options *options)
{
    json_t *accents =
        options->strip_accents < 0 ? json_null() : json_boolean(options->strip_accents);
    json_t *config = json_pack("{ss, sb, so, sb, so, so, so, so, so}", "tokenizer_class",
                               "BertTokenizer", "do_lower_case", options->lower_case,
                               "strip_accents", accents, "tokenize_chinese_chars",
                               options->chinese_characters, "unk_token", name(options->unknown),
                               "cls_token", name(options->cls), "sep_token", name(options->sep),
                               "pad_token", name(options->pad), "mask_token", name(options->mask));
    if (config && options->max_length > 0 &&
        json_object_set_new(config, "model_max_length", json_integer(options->max_length))) {
        json_decref(config);
        return NULL;
    }
    return config;
}

static int list_words(const char *const *words, int64_t n, json_t *out)
{
    for (int64_t k = 0; k < n; k++) {
        if (!axle__utf8_valid(words[k], strlen(words[k])))
            return axle_error_set(AXLE_ERR_FORMAT, "tokenizer: word %lld is no UTF-8",
                                  (long long)k);
        if (json_object_set_new(out, words[k], json_integer(k)))
            return axle__tokenizer_out_of_memory();
    }
    return AXLE_OK;
}

int axle_tokenizer_create_wordpiece(const char *const *words, int64_t n,
                                    const axle_wordpiece_options *given, axle_tokenizer **out)
{
    axle_wordpiece_options options = AXLE_WORDPIECE_OPTIONS_INIT;
    if (given)
        memcpy(&options, given,
               given->struct_size < sizeof(options) ? given->struct_size : sizeof(options));
    if (!options.unknown || !options.cls != !options.sep || n > AXLE__MOST_IDS)
        return axle_error_set(AXLE_ERR_INVALID,
                              "tokenizer: 'unknown' is needed, and both or none of cls and sep");
    json_t *config = configure(&options), *vocabulary = json_object();
    int status = vocabulary ? list_words(words, n, vocabulary) : AXLE_ERR_NOMEM;
    if (!status)
        return axle__tokenizer_build(config ? axle__describe_wordpiece(vocabulary, config, NULL)
                                            : NULL,
                                     config, "the words", out);
    json_decref(vocabulary);
    json_decref(config);
    return status;
}
