/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of one text or two to what the caller gets. */
#ifndef AXLE_TOKENIZERS_ENCODING_H
#define AXLE_TOKENIZERS_ENCODING_H

#include "workspace.h"

/* A text, and what it became. */
typedef struct axle__tokenized {
    const char *text;
    size_t length;
    axle__token *tokens;
    size_t count;
} axle__tokenized;

/* Options checked and completed. */
int axle__encode_options_complete(const axle_tokenizer *tokenizer, const axle_encode_options *given,
                                  axle_encode_options *out);
/* Leave as many tokens as may stay. @param second  NULL: there is one text. */
int axle__truncate(const axle_tokenizer *tokenizer, const axle_encode_options *options,
                   axle__tokenized *first, axle__tokenized *second);
/* Put the special tokens around them. */
int axle__encoding_create(const axle_tokenizer *tokenizer, const axle_encode_options *options,
                          const axle__tokenized *first, const axle__tokenized *second,
                          axle_encoding **out);
/* Replace an encoding by one that is padded to `length`, or to the next multiple that the options
 * ask for. */
int axle__encoding_pad(const axle_tokenizer *tokenizer, const axle_encode_options *options,
                       int64_t length, axle_encoding **encoding);
/* Everything but padding to the longest. @param second  NULL: there is one text. */
int axle__encode_one(const axle_tokenizer *tokenizer, axle__workspace *workspace,
                     const axle_encode_options *options, axle__tokenized *first,
                     axle__tokenized *second, axle_encoding **out);

#endif
