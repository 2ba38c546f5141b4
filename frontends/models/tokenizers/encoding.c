/* SPDX-License-Identifier: Apache-2.0 */
#include "encoding.h"

#include <stdlib.h>

#include "axle/status.h"

/* Six arrays: offsets count twice. */
enum { NUMBERS = 7 };

static axle_encoding *create(int64_t length)
{
    size_t numbers = (size_t)length * NUMBERS;
    axle_encoding *encoding = malloc(sizeof(*encoding) + numbers * sizeof(int64_t));
    if (!encoding) {
        axle__tokenizer_out_of_memory();
        return NULL;
    }
    int64_t *at = (int64_t *)(encoding + 1);
    encoding->length = length;
    encoding->ids = at;
    encoding->type_ids = at + length;
    encoding->attention_mask = at + 2 * length;
    encoding->special_mask = at + 3 * length;
    encoding->words = at + 4 * length;
    encoding->offsets = (int64_t(*)[2])(at + 5 * length);
    return encoding;
}

void axle_encoding_release(axle_encoding *encoding)
{
    free(encoding);
}

void axle_encodings_release(axle_encoding **encodings, int64_t n)
{
    for (int64_t k = 0; encodings && k < n; k++)
        axle_encoding_release(encodings[k]);
    free(encodings);
}

/* ---- places */

static void put(axle_encoding *out, int64_t k, int64_t id, int64_t type, int special)
{
    out->ids[k] = id;
    out->type_ids[k] = type;
    out->attention_mask[k] = 1;
    out->special_mask[k] = special;
    out->words[k] = -1;
    out->offsets[k][0] = out->offsets[k][1] = 0;
}

/* Leave out spaces at the token's ends. A space in front of the text's first token, which
 * `own_space` says is none of the text's, has been counted and does not count. */
static void trim(const axle__tokenized *text, const axle__token *token, bool own_space,
                 int64_t offset[2])
{
    size_t begin = token->begin, end = token->end, leading = token->leading, left = begin;
    int32_t c;
    if (own_space && leading)
        leading--;
    for (size_t k = 0; k < leading && begin < end; k++)
        begin += axle__utf8_get(text->text + begin, text->length - begin, &c);
    left = begin > end ? end : begin;
    for (size_t k = 0; k < token->trailing && end > left; k++)
        end -= axle__utf8_before(text->text, end, &c);
    offset[0] = (int64_t)left;
    offset[1] = (int64_t)(end < left ? left : end);
}

static int64_t put_text(const axle_tokenizer *tokenizer, const axle__tokenized *text, int64_t type,
                        axle_encoding *out, int64_t k)
{
    const axle__layout *layout = &tokenizer->layout;
    for (size_t j = 0; j < text->count; j++, k++) {
        const axle__token *token = &text->tokens[j];
        put(out, k, token->id, type, 0);
        out->words[k] = token->word;
        out->offsets[k][0] = token->begin;
        out->offsets[k][1] = token->end;
        bool own_space = layout->adds_space && (j == 0 || token->begin == 0);
        if (layout->trims)
            trim(text, token, own_space, out->offsets[k]);
    }
    return k;
}

/* How many tokens the template makes. */
static int64_t count_of(const axle__template *template, bool specials, const axle__tokenized *first,
                        const axle__tokenized *second)
{
    int64_t count = 0;
    for (int k = 0; k < template->count; k++) {
        int32_t id = template->places[k].id;
        if (id >= 0)
            count += specials;
        else
            count += (int64_t)(id == AXLE__FIRST_TEXT ? first : second)->count;
    }
    return count;
}

int axle__encoding_create(const axle_tokenizer *tokenizer, const axle_encode_options *options,
                          const axle__tokenized *first, const axle__tokenized *second,
                          axle_encoding **out)
{
    const axle__template *template = second ? &tokenizer->layout.pair : &tokenizer->layout.single;
    bool specials = options->add_special_tokens;
    axle_encoding *encoding = create(count_of(template, specials, first, second));
    if (!encoding)
        return AXLE_ERR_NOMEM;
    int64_t k = 0;
    for (int j = 0; j < template->count; j++) {
        const axle__place *place = &template->places[j];
        if (place->id >= 0 && specials)
            put(encoding, k++, place->id, place->type, 1);
        else if (place->id < 0)
            k = put_text(tokenizer, place->id == AXLE__FIRST_TEXT ? first : second, place->type,
                         encoding, k);
    }
    *out = encoding;
    return AXLE_OK;
}

/* ---- padding */

static void move(const axle_encoding *from, axle_encoding *to, int64_t at)
{
    size_t size = (size_t)from->length * sizeof(int64_t);
    memcpy(to->ids + at, from->ids, size);
    memcpy(to->type_ids + at, from->type_ids, size);
    memcpy(to->attention_mask + at, from->attention_mask, size);
    memcpy(to->special_mask + at, from->special_mask, size);
    memcpy(to->words + at, from->words, size);
    memcpy(to->offsets + at, from->offsets, 2 * size);
}

int axle__encoding_pad(const axle_tokenizer *tokenizer, const axle_encode_options *options,
                       int64_t length, axle_encoding **encoding)
{
    int64_t multiple = options->pad_to_multiple_of, have = (*encoding)->length;
    if (length < have)
        length = have;
    if (multiple > 0 && length % multiple)
        length += multiple - length % multiple;
    if (length == have)
        return AXLE_OK;
    axle_encoding *padded = create(length);
    if (!padded)
        return AXLE_ERR_NOMEM;
    int64_t first = tokenizer->pads_left ? 0 : have;
    for (int64_t k = first; k < first + length - have; k++) {
        put(padded, k, tokenizer->roles[AXLE_TOKEN_PADDING], 0, 1);
        padded->attention_mask[k] = 0;
    }
    move(*encoding, padded, tokenizer->pads_left ? length - have : 0);
    axle_encoding_release(*encoding);
    *encoding = padded;
    return AXLE_OK;
}
