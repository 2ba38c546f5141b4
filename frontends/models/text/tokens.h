/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of all rows of a set. */
#ifndef AXLE_MODELS_TEXT_TOKENS_H
#define AXLE_MODELS_TEXT_TOKENS_H

#include "rows.h"

typedef struct text_tokens {
    int64_t *starts; /* (rows + 1) */
    int32_t *ids;
    uint8_t *types; /* NULL: all are 0 */
} text_tokens;

/* Starts as {0}, and is cleared also after failure. */
int axle__text_tokens_make(const text_rows *rows, const axle_text_options *options,
                           const axle_text_encoder *encoder, text_tokens *tokens);
void axle__text_tokens_clear(text_tokens *tokens);

#endif
