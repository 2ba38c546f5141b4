/* SPDX-License-Identifier: Apache-2.0 */
/* axle generate: texts that a language model continues. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"
#include "clock.h"
#include "command.h"
#include "interrupt.h"
#include "pretrained.h"
#include "texts.h"

typedef struct generate_settings {
    option_list operands; /* the model, and beginnings */
    const char *file, *revision;
    int64_t max_new_tokens, top_k, seed;
    double temperature, top_p; /* NAN: not given */
    int sample, ignore_end, json;
} generate_settings;

static const generate_settings defaults = {.max_new_tokens = 50, .temperature = NAN, .top_p = NAN};

enum { MOST = 1 << 30 };
#define MOST_SEED 0x1p53
#define MOST_TEMPERATURE 1e6

#define GENERATE_OPTION(label, type, field, ...)                                                   \
    CLI_OPTION(label, type, generate_settings, field, __VA_ARGS__)

static const cli_option options[] = {
    GENERATE_OPTION("file", FILE, file, .value = "FILE", .unset = "standard input, without TEXT",
                    .help = "texts, one a line"),
    GENERATE_OPTION("max-new-tokens", INTEGER, max_new_tokens, .value = "N", .low = 1, .high = MOST,
                    .help = "most tokens that are added"),
    GENERATE_OPTION("sample", FLAG, sample,
                    .help = "draw tokens; otherwise the likeliest are taken"),
    GENERATE_OPTION("temperature", REAL, temperature, .value = "T", .low = 1e-6,
                    .high = MOST_TEMPERATURE, .unset = "1",
                    .help = "logits are divided by it; for --sample"),
    GENERATE_OPTION("top-k", INTEGER, top_k, .value = "N", .low = 1, .high = MOST, .unset = "all",
                    .help = "draw from the likeliest so many; for --sample"),
    GENERATE_OPTION("top-p", REAL, top_p, .value = "P", .low = 1e-9, .high = 1, .unset = "1",
                    .help = "draw from the likeliest that together reach it; for --sample"),
    GENERATE_OPTION("seed", INTEGER, seed, .value = "N", .low = 0, .high = MOST_SEED,
                    .help = "of draws"),
    GENERATE_OPTION("ignore-end", FLAG, ignore_end,
                    .help = "go on behind the token that ends texts"),
    GENERATE_OPTION("revision", TEXT, revision, .value = "NAME", .unset = "main",
                    .help = "branch, tag or commit of the model on the hub"),
    GENERATE_OPTION("json", FLAG, json, .help = "print a JSON object a text, when it is complete"),
    CLI_OPTION_END,
};

typedef struct writer {
    const generate_settings *settings;
    axle_accelerator *accelerator;
    pretrained model;
    axle_generate_options options;
    /* Of the text under way: its new tokens, and how much of them is printed. */
    int64_t *ids, count, room;
    size_t printed;
} writer;

/* ------------------------------------------------------------------ output */

/* Whether bytes end within a character: then its token is still to come. */
static int ends_early(const char *text, size_t length)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    return length >= 3 && memcmp(text + length - 3, replacement, 3) == 0;
}

static int keep(writer *w, int64_t id)
{
    if (w->count == w->room) {
        int64_t room = w->room ? 2 * w->room : 64;
        int64_t *ids = realloc(w->ids, (size_t)room * sizeof(*ids));
        if (!ids)
            return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
        w->ids = ids;
        w->room = room;
    }
    w->ids[w->count++] = id;
    return AXLE_OK;
}

/* Print what the tokens so far add, but for a character of which bytes are missing. */
static int print_more(writer *w, int all)
{
    char *text;
    int code = axle_tokenizer_decode(w->model.tokenizer, w->ids, w->count, 1, &text);
    if (code)
        return code;
    size_t length = strlen(text);
    if (length > w->printed && (all || !ends_early(text, length))) {
        fwrite(text + w->printed, 1, length - w->printed, stdout);
        w->printed = length;
    }
    axle_free(text);
    return fflush(stdout) == 0
               ? AXLE_OK
               : axle_error_set(AXLE_ERR_IO, "standard output: %s", strerror(errno));
}

static int take_token(void *user, int64_t id)
{
    writer *w = user;
    return interrupt_signal() != 0 || keep(w, id) || (!w->settings->json && print_more(w, 0));
}

static int print_json(const writer *w, const char *beginning, int64_t n, const int64_t *ids,
                      int64_t count, double seconds)
{
    char *text;
    int code = axle_tokenizer_decode(w->model.tokenizer, ids, count, 1, &text);
    if (code)
        return code;
    json_t *numbers = json_array();
    for (int64_t k = 0; k < count && numbers; k++)
        json_array_append_new(numbers, json_integer((json_int_t)ids[k]));
    json_t *line = json_pack("{s:s+, s:s, s:o, s:I, s:I, s:f}", "text", beginning, text,
                             "generated", text, "ids", numbers, "prompt_tokens", (json_int_t)n,
                             "new_tokens", (json_int_t)count, "seconds", seconds);
    axle_free(text);
    if (!line)
        return axle_error_set(AXLE_ERR_FORMAT, "the text is not UTF-8");
    json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(line);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ a text */

static int continue_text(writer *w, const char *beginning, const axle_encoding *encoding)
{
    int64_t *ids, count;
    double start = clock_seconds();
    w->count = 0;
    w->printed = 0;
    if (!w->settings->json)
        fputs(beginning, stdout);
    int code = axle_transformer_generate(w->model.model, encoding->ids, encoding->length,
                                         &w->options, &ids, &count);
    if (code)
        return code;
    if (w->settings->json) {
        code = print_json(w, beginning, encoding->length, ids, count, clock_seconds() - start);
    } else {
        code = print_more(w, 1);
        putchar('\n');
    }
    axle_free(ids);
    if (!code && axle_error_code())
        code = axle_error_code();
    if (!code && fflush(stdout) != 0)
        code = axle_error_set(AXLE_ERR_IO, "standard output: %s", strerror(errno));
    return code;
}

static int answer(void *user, const char *const *texts, const char *const *pairs, int64_t n)
{
    writer *w = user;
    int code = AXLE_OK;
    (void)pairs;
    for (int64_t k = 0; k < n && !code && !interrupt_signal(); k++) {
        axle_encoding *encoding;
        code = axle_tokenizer_encode(w->model.tokenizer, texts[k], -1, NULL, 0, NULL, &encoding);
        if (code)
            break;
        code = continue_text(w, texts[k], encoding);
        axle_encoding_release(encoding);
    }
    return code;
}

/* ------------------------------------------------------------------ the command */

static int begin(writer *w)
{
    const generate_settings *settings = w->settings;
    axle_accelerator_options wanted = AXLE_ACCELERATOR_OPTIONS_INIT;
    wanted.quiet = 1;
    int code = axle_accelerator_create(&wanted, &w->accelerator);
    if (!code)
        code = pretrained_find(settings->operands.item[0], settings->revision, w->accelerator, 0,
                               &w->model);
    if (!code)
        code = pretrained_load_for(&w->model, "causal-lm");
    return code ? code : axle_prepare(w->accelerator, w->model.model);
}

static void set_options(writer *w)
{
    const generate_settings *s = w->settings;
    axle_generate_options *o = &w->options;
    o->max_new_tokens = s->max_new_tokens;
    o->sample = s->sample;
    o->temperature = isnan(s->temperature) ? 1.0 : s->temperature;
    o->top_k = s->top_k;
    o->top_p = isnan(s->top_p) ? 1.0 : s->top_p;
    o->seed = (uint64_t)s->seed;
    o->end = s->ignore_end ? -2 : -1;
    o->token = take_token;
    o->user = w;
}

static int run(const void *given, const int *operands, int n)
{
    const generate_settings *settings = given;
    writer w = {.settings = settings, .options = AXLE_GENERATE_OPTIONS_INIT};
    const text_source source = {&settings->operands, settings->file, 0, 1};
    (void)operands;
    (void)n;
    if (settings->file && settings->operands.count > 1)
        return options_usage(&generate_command, "--file and texts do not go together");
    if (!settings->sample &&
        (settings->top_k || !isnan(settings->temperature) || !isnan(settings->top_p)))
        return options_usage(&generate_command,
                             "--temperature, --top-k and --top-p are for --sample");
    set_options(&w);
    interrupt_catch();
    int code = begin(&w);
    if (!code)
        code = texts_each(&source, answer, &w);
    int status = code ? command_failed(&generate_command, NULL) : EXIT_DONE;
    free(w.ids);
    pretrained_release(&w.model);
    axle_accelerator_release(w.accelerator);
    axle_finalize();
    return interrupt_signal() ? EXIT_SIGNAL + interrupt_signal() : status;
}

static const cli_option operand = GENERATE_OPTION("model", LIST, operands, .value = "MODEL");

const command generate_command = {
    .name = "generate",
    .summary = "continue texts",
    .about = "Continue texts with a language model (GPT-2), in a folder or by its name on the hub. "
             "Tokens are printed as they come. Without TEXT and --file, lines of standard input "
             "are continued.",
    .operand = "MODEL [TEXT]",
    .needed = &operand,
    .options = options,
    .defaults = &defaults,
    .settings_size = sizeof(defaults),
    .run = run,
};
