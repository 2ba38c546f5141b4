/* SPDX-License-Identifier: Apache-2.0 */
/* axle tokenize: what a model's tokenizer makes of texts. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "axle/hub.h"
#include "axle/status.h"
#include "axle/tokenizer.h"
#include "command.h"
#include "texts.h"

typedef struct tokenize_settings {
    option_list operands; /* the model, and texts */
    const char *file, *revision;
    int64_t max_length, multiple;
    int pairs, truncation, padding, plain, as_text, json;
} tokenize_settings;

static const tokenize_settings defaults = {.truncation = AXLE_TRUNCATE_NONE};

enum { MOST = 1 << 30, BATCH = 1024 };

/* In the order of AXLE_TRUNCATE_... and AXLE_PAD_... */
static const char *const *truncation_names(void)
{
    static const char *const names[] = {"none", "longest_first", "only_first", "only_second", NULL};
    return names;
}

static const char *const *padding_names(void)
{
    static const char *const names[] = {"none", "longest", "max_length", NULL};
    return names;
}

#define TOKENIZE_OPTION(label, type, field, ...)                                                   \
    CLI_OPTION(label, type, tokenize_settings, field, __VA_ARGS__)

static const cli_option options[] = {
    TOKENIZE_OPTION("file", FILE, file, .value = "FILE", .unset = "standard input, without TEXT",
                    .help = "texts, one a line"),
    TOKENIZE_OPTION("pairs", FLAG, pairs, .help = "a tab separates two texts that belong together"),
    TOKENIZE_OPTION("max-length", INTEGER, max_length, .value = "N", .low = 1, .high = MOST,
                    .unset = "what the model takes",
                    .help = "tokens for --truncation and --padding"),
    TOKENIZE_OPTION("truncation", CHOICE, truncation, .value = "WAY", .names = truncation_names,
                    .help = "which text of a pair is cut where there are more"),
    TOKENIZE_OPTION("padding", CHOICE, padding, .value = "WAY", .names = padding_names,
                    .help = "up to how many tokens padding is added"),
    TOKENIZE_OPTION("pad-to-multiple-of", INTEGER, multiple, .value = "N", .low = 1, .high = MOST,
                    .unset = "1", .help = "tokens for --padding are a multiple of N"),
    TOKENIZE_OPTION("no-special-tokens", FLAG, plain,
                    .help = "leave out what the model expects around texts"),
    TOKENIZE_OPTION("specials-as-text", FLAG, as_text,
                    .help = "special tokens that stand in a text are plain text"),
    TOKENIZE_OPTION("revision", TEXT, revision, .value = "NAME", .unset = "main",
                    .help = "branch, tag or commit of the model on the hub"),
    TOKENIZE_OPTION("json", FLAG, json, .help = "print a JSON object a text"),
    CLI_OPTION_END,
};

/* ------------------------------------------------------------------ printing */

static void print_table(const axle_tokenizer *tokenizer, const axle_encoding *e)
{
    printf("%8s  %-20s %6s %6s  %4s %4s\n", "id", "token", "begin", "end", "word", "type");
    for (int64_t k = 0; k < e->length; k++) {
        const char *token = axle_tokenizer_token(tokenizer, e->ids[k]);
        printf("%8lld  %-20s %6lld %6lld  %4lld %4lld%s\n", (long long)e->ids[k],
               token ? token : "", (long long)e->offsets[k][0], (long long)e->offsets[k][1],
               (long long)e->words[k], (long long)e->type_ids[k],
               e->attention_mask[k] ? "" : "  padding");
    }
    putchar('\n');
}

static json_t *integers(const int64_t *values, int64_t n)
{
    json_t *array = json_array();
    for (int64_t k = 0; k < n && array; k++)
        json_array_append_new(array, json_integer((json_int_t)values[k]));
    return array;
}

/* Bytes that are no UTF-8 are shown as question marks. */
static json_t *token_text(const char *token)
{
    json_t *string = json_string(token ? token : "");
    return string ? string : json_string("?");
}

static int print_json(const axle_tokenizer *tokenizer, const axle_encoding *e)
{
    json_t *tokens = json_array(), *offsets = json_array();
    for (int64_t k = 0; k < e->length; k++) {
        json_array_append_new(tokens, token_text(axle_tokenizer_token(tokenizer, e->ids[k])));
        json_array_append_new(offsets, integers(e->offsets[k], 2));
    }
    json_t *line =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "input_ids", integers(e->ids, e->length),
                  "token_type_ids", integers(e->type_ids, e->length), "attention_mask",
                  integers(e->attention_mask, e->length), "special_tokens_mask",
                  integers(e->special_mask, e->length), "word_ids", integers(e->words, e->length),
                  "tokens", tokens, "offsets", offsets);
    if (!line)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    json_dumpf(line, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(line);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ the command */

typedef struct job {
    const tokenize_settings *settings;
    axle_tokenizer *tokenizer;
    axle_encode_options encode;
} job;

static int show(void *user, const char *const *texts, const char *const *pairs, int64_t n)
{
    const job *j = user;
    axle_encoding **encodings;
    int code =
        axle_tokenizer_encode_batch(j->tokenizer, texts, pairs, n, &j->encode, 0, &encodings);
    if (code)
        return code;
    for (int64_t k = 0; k < n && !code; k++)
        if (j->settings->json)
            code = print_json(j->tokenizer, encodings[k]);
        else
            print_table(j->tokenizer, encodings[k]);
    axle_encodings_release(encodings, n);
    if (!code && fflush(stdout) != 0)
        code = axle_error_set(AXLE_ERR_IO, "standard output: %s", strerror(errno));
    return code;
}

/* A tokenizer takes none of the model's weights. */
static int open_tokenizer(const tokenize_settings *settings, axle_tokenizer **out)
{
    static const char *const files[] = {"*.json", "vocab.txt", "merges.txt", NULL};
    axle_hub_options hub = AXLE_HUB_OPTIONS_INIT;
    char *folder = NULL;
    hub.revision = settings->revision;
    hub.files = files;
    int code = axle_hub_resolve(settings->operands.item[0], &hub, &folder);
    if (!code)
        code = axle_tokenizer_open(folder, out);
    axle_free(folder);
    return code;
}

static int run(const void *given, const int *operands, int n)
{
    const tokenize_settings *settings = given;
    job j = {.settings = settings, .encode = AXLE_ENCODE_OPTIONS_INIT};
    const text_source source = {&settings->operands, settings->file, settings->pairs, BATCH};
    (void)operands;
    (void)n;
    if (settings->file && settings->operands.count > 1)
        return options_usage(&tokenize_command, "--file and texts do not go together");
    j.encode.max_length = settings->max_length;
    j.encode.truncation = settings->truncation;
    j.encode.padding = settings->padding;
    j.encode.pad_to_multiple_of = settings->multiple;
    j.encode.add_special_tokens = !settings->plain;
    j.encode.specials_as_text = settings->as_text;
    int code = open_tokenizer(settings, &j.tokenizer);
    if (!code)
        code = texts_each(&source, show, &j);
    int status = code ? command_failed(&tokenize_command, NULL) : EXIT_DONE;
    axle_tokenizer_release(j.tokenizer);
    return status;
}

static const cli_option operand = TOKENIZE_OPTION("model", LIST, operands, .value = "MODEL");

const command tokenize_command = {
    .name = "tokenize",
    .summary = "show the tokens of texts",
    .about = "Show what the tokenizer of a model, in a folder or by its name on the hub, makes of "
             "texts: a table a text of ids, tokens, the bytes that they stand for, and words. "
             "Without TEXT and --file, lines of standard input are answered as they come.",
    .operand = "MODEL [TEXT]",
    .needed = &operand,
    .options = options,
    .defaults = &defaults,
    .settings_size = sizeof(defaults),
    .run = run,
};
