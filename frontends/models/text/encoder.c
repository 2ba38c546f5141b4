/* SPDX-License-Identifier: Apache-2.0 */
/* Tokenizers as encoders of data sets. */
#include <string.h>

#include "axle/status.h"
#include "axle/text.h"

static int64_t encode(void *user, const char *text, const char *pair, int64_t max_length,
                      int64_t room, int64_t *ids, int64_t *types)
{
    axle_encode_options options = AXLE_ENCODE_OPTIONS_INIT;
    axle_encoding *encoding;
    options.max_length = max_length;
    options.truncation = max_length > 0 ? AXLE_TRUNCATE_LONGEST_FIRST : AXLE_TRUNCATE_NONE;
    int code = axle_tokenizer_encode(user, text, -1, pair, -1, &options, &encoding);
    if (code)
        return code;
    int64_t length = encoding->length, n = length < room ? length : room;
    if (n > 0) {
        memcpy(ids, encoding->ids, (size_t)n * sizeof(*ids));
        memcpy(types, encoding->type_ids, (size_t)n * sizeof(*types));
    }
    axle_encoding_release(encoding);
    return length;
}

axle_text_encoder axle_text_encoder_of(axle_tokenizer *tokenizer)
{
    axle_text_encoder encoder = AXLE_TEXT_ENCODER_INIT;
    int64_t pad = tokenizer ? axle_tokenizer_pad_id(tokenizer) : -1;
    encoder.encode = tokenizer ? encode : NULL;
    encoder.user = tokenizer;
    /* Without a token for it any will do, for its mask is 0. */
    encoder.pad_id = pad < 0 ? 0 : pad;
    return encoder;
}

int axle_synthetic_tokenizer_create(axle_tokenizer **out)
{
    const char *const *words = axle_synthetic_text_words();
    int64_t n = 0;
    while (words[n])
        n++;
    return axle_tokenizer_create_wordpiece(words, n, NULL, out);
}
