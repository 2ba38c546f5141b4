/* SPDX-License-Identifier: Apache-2.0 */
/* What is left without utf8proc: there are no tokenizers, and whoever asks for one is told why. */
#include "axle/tokenizer.h"

static int missing(void)
{
    return axle_error_set(AXLE_ERR_UNSUPPORTED, "tokenizers need utf8proc, without which this Axle "
                                                "was built (Debian package: libutf8proc-dev)");
}

int axle_tokenizer_open(const char *directory, axle_tokenizer **out)
{
    (void)directory, (void)out;
    return missing();
}

int axle_tokenizer_create_wordpiece(const char *const *words, int64_t n,
                                    const axle_wordpiece_options *options, axle_tokenizer **out)
{
    (void)words, (void)n, (void)options, (void)out;
    return missing();
}

int axle_tokenizer_save(const axle_tokenizer *tokenizer, const char *directory)
{
    (void)tokenizer, (void)directory;
    return missing();
}

axle_tokenizer *axle_tokenizer_retain(axle_tokenizer *tokenizer)
{
    return tokenizer;
}

void axle_tokenizer_release(axle_tokenizer *tokenizer)
{
    (void)tokenizer;
}

int64_t axle_tokenizer_vocab_size(const axle_tokenizer *tokenizer)
{
    (void)tokenizer;
    return 0;
}

int64_t axle_tokenizer_token_id(const axle_tokenizer *tokenizer, const char *token)
{
    (void)tokenizer, (void)token;
    return -1;
}

const char *axle_tokenizer_token(const axle_tokenizer *tokenizer, int64_t id)
{
    (void)tokenizer, (void)id;
    return NULL;
}

int64_t axle_tokenizer_special_id(const axle_tokenizer *tokenizer, int role)
{
    (void)tokenizer, (void)role;
    return -1;
}

int64_t axle_tokenizer_pad_id(const axle_tokenizer *tokenizer)
{
    (void)tokenizer;
    return -1;
}

int64_t axle_tokenizer_max_length(const axle_tokenizer *tokenizer)
{
    (void)tokenizer;
    return 0;
}

int axle_tokenizer_encode(const axle_tokenizer *tokenizer, const char *text, int64_t length,
                          const char *pair, int64_t pair_length, const axle_encode_options *options,
                          axle_encoding **out)
{
    (void)tokenizer, (void)text, (void)length, (void)pair, (void)pair_length, (void)options;
    (void)out;
    return missing();
}

void axle_encoding_release(axle_encoding *encoding)
{
    (void)encoding;
}

int axle_tokenizer_encode_batch(const axle_tokenizer *tokenizer, const char *const *texts,
                                const char *const *pairs, int64_t n,
                                const axle_encode_options *options, int threads,
                                axle_encoding ***out)
{
    (void)tokenizer, (void)texts, (void)pairs, (void)n, (void)options, (void)threads, (void)out;
    return missing();
}

void axle_encodings_release(axle_encoding **encodings, int64_t n)
{
    (void)encodings, (void)n;
}

int axle_tokenizer_decode(const axle_tokenizer *tokenizer, const int64_t *ids, int64_t n,
                          int skip_special, char **out)
{
    (void)tokenizer, (void)ids, (void)n, (void)skip_special, (void)out;
    return missing();
}
