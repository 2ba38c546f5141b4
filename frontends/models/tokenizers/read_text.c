/* SPDX-License-Identifier: Apache-2.0 */
/* The sections normalizer, pre_tokenizer and decoder. */
#include <stdlib.h>
#include <string.h>

#include "read.h"

/* ---- normalizer */

static int add_step(const axle__section *section, axle__normalizer *out, axle__step_kind step)
{
    if (out->count == AXLE__MOST_STEPS)
        return axle_error_set(AXLE_ERR_UNSUPPORTED, "%s: the normalizer has too many steps",
                              section->file);
    out->steps[out->count++] = step;
    return AXLE_OK;
}

static int read_bert(const axle__section *section, axle__normalizer *out)
{
    static const char *const known[] = {"clean_text", "handle_chinese_chars", "strip_accents",
                                        "lowercase", NULL};
    bool cleans = true, spaces = true, lowers = true, strips;
    int status = axle__section_keys(section, known);
    if (!status)
        status = axle__section_flag(section, "clean_text", &cleans);
    if (!status)
        status = axle__section_flag(section, "handle_chinese_chars", &spaces);
    if (!status)
        status = axle__section_flag(section, "lowercase", &lowers);
    strips = lowers;
    if (!status)
        status = axle__section_flag(section, "strip_accents", &strips);
    if (!status && cleans)
        status = add_step(section, out, AXLE__STEP_CLEAN);
    if (!status && spaces)
        status = add_step(section, out, AXLE__STEP_CHINESE);
    if (!status && strips)
        status = add_step(section, out, AXLE__STEP_STRIP);
    if (!status && lowers)
        status = add_step(section, out, AXLE__STEP_LOWERCASE);
    return status;
}

static const struct {
    const char *name;
    axle__step_kind step;
} forms[] = {
    {"Lowercase", AXLE__STEP_LOWERCASE}, {"NFC", AXLE__STEP_NFC},   {"NFD", AXLE__STEP_NFD},
    {"NFKC", AXLE__STEP_NFKC},           {"NFKD", AXLE__STEP_NFKD},
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]), DEEPEST = 8 };

static int read_step(const axle__section *section, int depth, axle__normalizer *out);

static int read_steps(const axle__section *section, int depth, axle__normalizer *out)
{
    static const char *const known[] = {"normalizers", NULL};
    size_t k;
    json_t *step, *list = json_object_get(section->json, "normalizers");
    int status = axle__section_keys(section, known);
    if (!status && (!json_is_array(list) || depth >= DEEPEST))
        status = axle__section_malformed(section, "normalizers");
    if (status)
        return status;
    json_array_foreach(list, k, step)
    {
        axle__section inner = {section->file, section->name, step};
        status = read_step(&inner, depth + 1, out);
        if (status)
            return status;
    }
    return AXLE_OK;
}

static int read_step(const axle__section *section, int depth, axle__normalizer *out)
{
    static const char *const none[] = {NULL};
    const char *type = axle__section_type(section);
    if (strcmp(type, "BertNormalizer") == 0)
        return read_bert(section, out);
    if (strcmp(type, "Sequence") == 0)
        return read_steps(section, depth, out);
    for (int k = 0; k < FORMS; k++)
        if (strcmp(type, forms[k].name) == 0) {
            int status = axle__section_keys(section, none);
            return status ? status : add_step(section, out, forms[k].step);
        }
    return axle__section_unknown(section);
}

int axle__read_normalizer(const axle__section *section, axle_tokenizer *out)
{
    if (!section->json || json_is_null(section->json))
        return AXLE_OK;
    return read_step(section, 0, &out->normalizer);
}

/* ---- pre_tokenizer */

static const struct {
    const char *name;
    axle__split_fn *split;
} splitters[] = {
    {"BertPreTokenizer", axle__split_bert},
    {"Whitespace", axle__split_words},
    {"WhitespaceSplit", axle__split_spaces},
    {"ByteLevel", axle__split_byte_level},
};
enum { SPLITTERS = sizeof(splitters) / sizeof(splitters[0]) };

static int read_byte_level(const axle__section *section, axle_tokenizer *out)
{
    static const char *const known[] = {"add_prefix_space", "trim_offsets", "use_regex", NULL};
    bool splits = true;
    out->prefix_space = true;
    int status = axle__section_keys(section, known);
    if (!status)
        status = axle__section_flag(section, "add_prefix_space", &out->prefix_space);
    if (!status)
        status = axle__section_flag(section, "use_regex", &splits);
    if (!status && !splits)
        status = axle_error_set(AXLE_ERR_UNSUPPORTED,
                                "%s: pre_tokenizer ByteLevel without 'use_regex' is not supported",
                                section->file);
    return status;
}

int axle__read_pre_tokenizer(const axle__section *section, axle_tokenizer *out)
{
    static const char *const none[] = {NULL};
    const char *type = axle__section_type(section);
    for (int k = 0; k < SPLITTERS; k++)
        if (strcmp(type, splitters[k].name) == 0)
            out->split = splitters[k].split;
    if (!out->split)
        return axle__section_unknown(section);
    bool bytes = out->split == axle__split_byte_level;
    if (bytes != (out->model.kind == AXLE__BPE))
        return axle_error_set(AXLE_ERR_UNSUPPORTED,
                              "%s: the pre_tokenizer '%s' is not supported with that model",
                              section->file, type);
    return bytes ? read_byte_level(section, out) : axle__section_keys(section, none);
}

/* ---- decoder */

static int read_wordpiece_decoder(const axle__section *section, axle_tokenizer *out)
{
    static const char *const known[] = {"prefix", "cleanup", NULL};
    const char *prefix = axle__section_text(section, "prefix");
    out->decoder = AXLE__DECODE_WORDPIECE;
    out->decoder_cleans = true;
    out->decoder_prefix = strdup(prefix ? prefix : "##");
    if (!out->decoder_prefix)
        return axle__tokenizer_out_of_memory();
    int status = axle__section_keys(section, known);
    return status ? status : axle__section_flag(section, "cleanup", &out->decoder_cleans);
}

int axle__read_decoder(const axle__section *section, axle_tokenizer *out)
{
    static const char *const known[] = {"add_prefix_space", "trim_offsets", "use_regex", NULL};
    const char *type = axle__section_type(section);
    if (!section->json || json_is_null(section->json))
        return AXLE_OK;
    if (strcmp(type, "WordPiece") == 0)
        return read_wordpiece_decoder(section, out);
    if (strcmp(type, "ByteLevel") != 0)
        return axle__section_unknown(section);
    out->decoder = AXLE__DECODE_BYTE_LEVEL;
    return axle__section_keys(section, known);
}
