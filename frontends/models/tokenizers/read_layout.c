/* SPDX-License-Identifier: Apache-2.0 */
/* The section post_processor. */
#include <string.h>

#include "read.h"

enum { DEEPEST = 8 };

static int put(const axle__section *section, axle__template *out, int64_t id, int64_t type)
{
    if (type < 0 || type > INT32_MAX || id >= AXLE__MOST_IDS)
        return axle__section_malformed(section, "type_id");
    if (axle__template_put(out, (int32_t)id, (int32_t)type))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_UNSUPPORTED, "%s: the template has more than %d places",
                          section->file, AXLE__MOST_PLACES);
}

/* ---- BertProcessing and RobertaProcessing */

/* ["[SEP]", 102] */
static int read_special(const axle__section *section, const char *key, const axle_tokenizer *out,
                        int64_t *id)
{
    const json_t *pair = json_object_get(section->json, key), *number = json_array_get(pair, 1);
    if (!json_is_integer(number) || !axle__token_text(out, json_integer_value(number)))
        return axle__section_malformed(section, key);
    *id = json_integer_value(number);
    return AXLE_OK;
}

/* CLS A SEP, and of pairs SEP... B SEP. */
static int build(const axle__section *section, int64_t cls, int64_t sep, bool roberta,
                 axle__layout *out)
{
    axle__template single = {.count = 0}, pair;
    int type = !roberta;
    int status = put(section, &single, cls, 0);
    if (!status)
        status = put(section, &single, AXLE__FIRST_TEXT, 0);
    if (!status)
        status = put(section, &single, sep, 0);
    pair = single;
    if (!status && roberta)
        status = put(section, &pair, sep, 0);
    if (!status)
        status = put(section, &pair, AXLE__SECOND_TEXT, type);
    if (!status)
        status = put(section, &pair, sep, type);
    out->single = single;
    out->pair = pair;
    return status;
}

static int read_flags(const axle__section *section, axle_tokenizer *out)
{
    out->layout.trims = true;
    out->layout.adds_space = true;
    int status = axle__section_flag(section, "trim_offsets", &out->layout.trims);
    return status ? status
                  : axle__section_flag(section, "add_prefix_space", &out->layout.adds_space);
}

static int read_bert(const axle__section *section, axle_tokenizer *out)
{
    static const char *const bert[] = {"sep", "cls", NULL};
    static const char *const more[] = {"sep", "cls", "trim_offsets", "add_prefix_space", NULL};
    bool roberta = strcmp(axle__section_type(section), "RobertaProcessing") == 0;
    int64_t cls = 0, sep = 0;
    int status = axle__section_keys(section, roberta ? more : bert);
    if (!status)
        status = read_special(section, "cls", out, &cls);
    if (!status)
        status = read_special(section, "sep", out, &sep);
    if (!status)
        status = build(section, cls, sep, roberta, &out->layout);
    return status || !roberta ? status : read_flags(section, out);
}

static int read_byte_level(const axle__section *section, axle_tokenizer *out)
{
    static const char *const known[] = {"add_prefix_space", "trim_offsets", "use_regex", NULL};
    int status = axle__section_keys(section, known);
    return status ? status : read_flags(section, out);
}

/* ---- TemplateProcessing */

/* {"id": "[CLS]", "ids": [101], "tokens": ["[CLS]"]} of "special_tokens". */
static int put_special(const axle__section *section, const char *name, int64_t type,
                       const axle_tokenizer *tokenizer, axle__template *out)
{
    const json_t *all = json_object_get(section->json, "special_tokens");
    const json_t *ids = json_object_get(json_object_get(all, name), "ids");
    if (!json_is_array(ids))
        return axle__section_malformed(section, "special_tokens");
    int status = AXLE_OK;
    for (size_t k = 0; k < json_array_size(ids) && !status; k++) {
        const json_t *id = json_array_get(ids, k);
        if (!json_is_integer(id) || !axle__token_text(tokenizer, json_integer_value(id)))
            return axle__section_malformed(section, "special_tokens");
        status = put(section, out, json_integer_value(id), type);
    }
    return status;
}

static int read_place(const axle__section *section, const json_t *place,
                      const axle_tokenizer *tokenizer, axle__template *out)
{
    const json_t *text = json_object_get(place, "Sequence");
    const json_t *what = text ? text : json_object_get(place, "SpecialToken");
    const char *id = json_string_value(json_object_get(what, "id"));
    const json_t *type = json_object_get(what, "type_id");
    if (!id || !json_is_integer(type) || json_object_size(place) != 1)
        return axle__section_malformed(section, "single and pair");
    if (!text)
        return put_special(section, id, json_integer_value(type), tokenizer, out);
    if (strcmp(id, "A") != 0 && strcmp(id, "B") != 0)
        return axle__section_malformed(section, "Sequence");
    return put(section, out, *id == 'A' ? AXLE__FIRST_TEXT : AXLE__SECOND_TEXT,
               json_integer_value(type));
}

/* How often a text is in a template. */
static int count_of(const axle__template *template, int32_t text)
{
    int count = 0;
    for (int k = 0; k < template->count; k++)
        count += template->places[k].id == text;
    return count;
}

static int read_places(const axle__section *section, const char *key, int texts,
                       const axle_tokenizer *tokenizer, axle__template *out)
{
    const json_t *list = json_object_get(section->json, key);
    axle__template template = {.count = 0};
    int status = json_is_array(list) ? AXLE_OK : axle__section_malformed(section, key);
    for (size_t k = 0; k < json_array_size(list) && !status; k++)
        status = read_place(section, json_array_get(list, k), tokenizer, &template);
    if (!status && (count_of(&template, AXLE__FIRST_TEXT) != 1 ||
                    count_of(&template, AXLE__SECOND_TEXT) != texts - 1))
        status = axle__section_malformed(section, key);
    *out = template;
    return status;
}

static int read_template(const axle__section *section, axle_tokenizer *out)
{
    static const char *const known[] = {"single", "pair", "special_tokens", NULL};
    int status = axle__section_keys(section, known);
    if (!status)
        status = read_places(section, "single", 1, out, &out->layout.single);
    if (!status)
        status = read_places(section, "pair", 2, out, &out->layout.pair);
    return status;
}

/* ---- all */

typedef int read_fn(const axle__section *section, axle_tokenizer *out);

static const struct {
    const char *name;
    read_fn *read;
} processors[] = {
    {"BertProcessing", read_bert},
    {"RobertaProcessing", read_bert},
    {"TemplateProcessing", read_template},
    {"ByteLevel", read_byte_level},
};
enum { PROCESSORS = sizeof(processors) / sizeof(processors[0]) };

static int read_processor(const axle__section *section, int depth, axle_tokenizer *out)
{
    static const char *const known[] = {"processors", NULL};
    const char *type = axle__section_type(section);
    for (int k = 0; k < PROCESSORS; k++)
        if (strcmp(type, processors[k].name) == 0)
            return processors[k].read(section, out);
    if (strcmp(type, "Sequence") != 0)
        return axle__section_unknown(section);
    const json_t *list = json_object_get(section->json, "processors");
    int status = axle__section_keys(section, known);
    if (!status && (!json_is_array(list) || depth >= DEEPEST))
        status = axle__section_malformed(section, "processors");
    for (size_t k = 0; k < json_array_size(list) && !status; k++) {
        axle__section inner = {section->file, section->name, json_array_get(list, k)};
        status = read_processor(&inner, depth + 1, out);
    }
    return status;
}

int axle__read_post_processor(const axle__section *section, axle_tokenizer *out)
{
    out->layout = axle__layout_plain;
    if (!section->json || json_is_null(section->json))
        return AXLE_OK;
    return read_processor(section, 0, out);
}
