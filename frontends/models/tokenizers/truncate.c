/* SPDX-License-Identifier: Apache-2.0 */
/* What is left out of texts that are too long. */
#include "axle/status.h"
#include "encoding.h"

static void keep(const axle_tokenizer *tokenizer, axle__tokenized *text, size_t count)
{
    if (count >= text->count)
        return;
    if (tokenizer->truncates_left)
        text->tokens += text->count - count;
    text->count = count;
}

/* The longer one first, until both are as long; what then is odd is the longer one's. */
static void longest_first(const axle_tokenizer *tokenizer, size_t room, axle__tokenized *first,
                          axle__tokenized *second)
{
    axle__tokenized *less = first->count > second->count ? second : first;
    axle__tokenized *more = less == first ? second : first;
    size_t few = less->count, many = few;
    if (few <= room && room - few > few)
        many = room - few;
    if (few + many > room) {
        few = room / 2;
        many = few + room % 2;
    }
    keep(tokenizer, less, few);
    keep(tokenizer, more, many);
}

static int only(const axle_tokenizer *tokenizer, size_t excess, axle__tokenized *text,
                const char *which)
{
    if (!text)
        return axle_error_set(AXLE_ERR_INVALID, "encode: there is no second text to truncate");
    if (text->count <= excess)
        return axle_error_set(AXLE_ERR_INVALID,
                              "encode: the %s text has %zu tokens, and %zu are too many", which,
                              text->count, excess);
    keep(tokenizer, text, text->count - excess);
    return AXLE_OK;
}

int axle__truncate(const axle_tokenizer *tokenizer, const axle_encode_options *options,
                   axle__tokenized *first, axle__tokenized *second)
{
    if (options->truncation == AXLE_TRUNCATE_NONE || options->max_length == 0)
        return AXLE_OK;
    const axle__template *template = second ? &tokenizer->layout.pair : &tokenizer->layout.single;
    int64_t specials = options->add_special_tokens ? axle__template_specials(template) : 0;
    if (options->max_length < specials)
        return axle_error_set(AXLE_ERR_INVALID,
                              "encode: a length of %lld has no room for %lld special tokens",
                              (long long)options->max_length, (long long)specials);
    size_t room = (size_t)(options->max_length - specials);
    size_t total = first->count + (second ? second->count : 0);
    if (total <= room)
        return AXLE_OK;
    if (room == 0) {
        keep(tokenizer, first, 0);
        if (second)
            keep(tokenizer, second, 0);
        return AXLE_OK;
    }
    if (options->truncation == AXLE_TRUNCATE_ONLY_FIRST)
        return only(tokenizer, total - room, first, "first");
    if (options->truncation == AXLE_TRUNCATE_ONLY_SECOND)
        return only(tokenizer, total - room, second, "second");
    if (second)
        longest_first(tokenizer, room, first, second);
    else
        keep(tokenizer, first, room);
    return AXLE_OK;
}
