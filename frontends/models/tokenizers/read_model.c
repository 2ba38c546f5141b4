/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "utf8.h"

/* How far ids may go beyond the number of tokens. */
enum { MOST_GAPS = 1 << 16, LONGEST_WORD = 100 };

static int read_words(const axle__section *section, axle__model *out)
{
    const char *text;
    json_t *id, *vocabulary = json_object_get(section->json, "vocab");
    if (!json_is_object(vocabulary))
        return axle__section_malformed(section, "vocab");
    json_int_t most = (json_int_t)json_object_size(vocabulary) + MOST_GAPS;
    json_object_foreach(vocabulary, text, id)
    {
        if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) >= most)
            return axle_error_set(AXLE_ERR_FORMAT, "%s: the token '%s' has no id that can be",
                                  section->file, text);
        int status = axle__vocabulary_add(&out->words, text, json_integer_value(id));
        if (status)
            return status;
    }
    return AXLE_OK;
}

static int read_unknown(const axle__section *section, axle__model *out)
{
    const char *text = axle__section_text(section, "unk_token");
    out->unknown = text ? axle__vocabulary_id(&out->words, text, strlen(text)) : -1;
    if (text && out->unknown < 0)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: the vocabulary lacks '%s'", section->file,
                              text);
    return AXLE_OK;
}

/* ---- WordPiece */

static int read_wordpiece(const axle__section *section, axle__model *out)
{
    static const char *const known[] = {"unk_token", "continuing_subword_prefix",
                                        "max_input_chars_per_word", "vocab", NULL};
    const char *prefix = axle__section_text(section, "continuing_subword_prefix");
    const json_t *longest = json_object_get(section->json, "max_input_chars_per_word");
    int status = axle__section_keys(section, known);
    if (!status)
        status = read_unknown(section, out);
    if (!status && out->unknown < 0)
        status = axle__section_malformed(section, "unk_token");
    if (status)
        return status;
    if (longest && (!json_is_integer(longest) || json_integer_value(longest) < 0))
        return axle__section_malformed(section, "max_input_chars_per_word");
    out->kind = AXLE__WORDPIECE;
    out->longest = longest ? json_integer_value(longest) : LONGEST_WORD;
    out->prefix = strdup(prefix ? prefix : "##");
    return out->prefix ? axle__wordpiece_prepare(out) : axle__tokenizer_out_of_memory();
}

/* ---- byte-level BPE */

/* The alphabet: printable characters of Latin-1 stand for their bytes, and the others follow from
 * U+0100 on. */
static void find_bytes(axle__model *out)
{
    int32_t next = 0x100;
    char sign[4];
    for (int32_t byte = 0; byte < 256; byte++) {
        bool itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
        size_t size = axle__utf8_put(sign, itself ? byte : next++);
        out->bytes[byte] = axle__vocabulary_id(&out->words, sign, size);
    }
}

/* The ids of two tokens and of both together; false: there is one that the vocabulary lacks. */
static bool find_merge(const axle__vocabulary *words, const char *left, size_t left_size,
                       const char *right, size_t right_size, char *scratch, int32_t out[3])
{
    memcpy(scratch, left, left_size);
    memcpy(scratch + left_size, right, right_size);
    out[0] = axle__vocabulary_id(words, left, left_size);
    out[1] = axle__vocabulary_id(words, right, right_size);
    out[2] = axle__vocabulary_id(words, scratch, left_size + right_size);
    return out[0] >= 0 && out[1] >= 0 && out[2] >= 0;
}

/* "left right", or [left, right]. */
static bool parse_merge(const json_t *merge, const char **left, size_t *left_size,
                        const char **right, size_t *right_size)
{
    *left = json_string_value(merge);
    if (*left) {
        const char *space = strchr(*left, ' ');
        *left_size = space ? (size_t)(space - *left) : 0;
        *right = space ? space + 1 : "";
    } else {
        *left = json_string_value(json_array_get(merge, 0));
        *right = json_string_value(json_array_get(merge, 1));
        if (!*left || !*right || json_array_size(merge) != 2)
            return false;
        *left_size = strlen(*left);
    }
    *right_size = strlen(*right);
    return *left_size > 0 && *right_size > 0;
}

static int read_merge(const axle__section *section, const axle__vocabulary *words, size_t k,
                      int32_t out[3])
{
    const char *left, *right;
    size_t left_size, right_size;
    const json_t *merge = json_array_get(json_object_get(section->json, "merges"), k);
    if (!parse_merge(merge, &left, &left_size, &right, &right_size))
        return axle_error_set(AXLE_ERR_FORMAT, "%s: merge %zu is malformed", section->file, k);
    char *scratch = malloc(left_size + right_size);
    if (!scratch)
        return axle__tokenizer_out_of_memory();
    bool found = find_merge(words, left, left_size, right, right_size, scratch, out);
    free(scratch);
    if (found)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_FORMAT,
                          "%s: the vocabulary lacks a token of merge %zu, '%.*s %s'", section->file,
                          k, (int)left_size, left, right);
}

static int read_merges(const axle__section *section, axle__model *out)
{
    const json_t *merges = json_object_get(section->json, "merges");
    size_t count = json_array_size(merges);
    if (!json_is_array(merges) || count >= AXLE__MOST_IDS)
        return axle__section_malformed(section, "merges");
    int32_t(*list)[3] = calloc(count + 1, sizeof(*list));
    if (!list)
        return axle__tokenizer_out_of_memory();
    int status = AXLE_OK;
    for (size_t k = 0; k < count && !status; k++)
        status = read_merge(section, &out->words, k, list[k]);
    if (!status)
        status = axle__bpe_prepare(out, (const int32_t(*)[3])list, (int32_t)count);
    free(list);
    return status;
}

static int read_bpe(const axle__section *section, axle__model *out)
{
    static const char *const known[] = {"dropout",
                                        "unk_token",
                                        "continuing_subword_prefix",
                                        "end_of_word_suffix",
                                        "fuse_unk",
                                        "byte_fallback",
                                        "ignore_merges",
                                        "vocab",
                                        "merges",
                                        NULL};
    static const char *const empty[] = {"dropout",
                                        "continuing_subword_prefix",
                                        "end_of_word_suffix",
                                        "byte_fallback",
                                        "ignore_merges",
                                        NULL};
    int status = axle__section_keys(section, known);
    for (const char *const *key = empty; *key && !status; key++)
        if (!axle__section_lacks(section, *key))
            status = axle_error_set(AXLE_ERR_UNSUPPORTED, "%s: BPE with '%s' is not supported",
                                    section->file, *key);
    if (!status)
        status = read_unknown(section, out);
    if (!status && out->unknown >= 0 && !axle__section_lacks(section, "fuse_unk"))
        status = axle_error_set(AXLE_ERR_UNSUPPORTED, "%s: BPE with 'fuse_unk' is not supported",
                                section->file);
    if (status)
        return status;
    out->kind = AXLE__BPE;
    find_bytes(out);
    return read_merges(section, out);
}

int axle__read_model(const axle__section *section, axle_tokenizer *out)
{
    const char *type = axle__section_type(section);
    bool pieces = strcmp(type, "WordPiece") == 0, pairs = strcmp(type, "BPE") == 0;
    if (!pieces && !pairs)
        return axle__section_unknown(section);
    int status = read_words(section, &out->model);
    if (status)
        return status;
    return pieces ? read_wordpiece(section, &out->model) : read_bpe(section, &out->model);
}
