/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections of tokenizer.json. Each reader gets its section, which may be null, sets what is its own
 * in the tokenizer, and refuses by name what it does not know.
 */
#ifndef AXLE_TOKENIZERS_READ_H
#define AXLE_TOKENIZERS_READ_H

#include "tokenizer.h"

/* Where a section is, for messages. */
typedef struct axle__section {
    const char *file, *name;
    const json_t *json;
} axle__section;

int axle__read_model(const axle__section *section, axle_tokenizer *out);
/* After the model. */
int axle__read_added_tokens(const axle__section *section, axle_tokenizer *out);
int axle__read_normalizer(const axle__section *section, axle_tokenizer *out);
/* After the model. */
int axle__read_pre_tokenizer(const axle__section *section, axle_tokenizer *out);
/* After the added tokens. */
int axle__read_post_processor(const axle__section *section, axle_tokenizer *out);
int axle__read_decoder(const axle__section *section, axle_tokenizer *out);
/* What tokenizer_config.json says of special tokens and lengths. After all others. */
int axle__read_config(const json_t *config, axle_tokenizer *out);

/* ---- what they share */

/* The section's "type"; "" where there is none. */
const char *axle__section_type(const axle__section *section);
/* AXLE_ERR_UNSUPPORTED for a type. */
int axle__section_unknown(const axle__section *section);
/* AXLE_ERR_UNSUPPORTED for the first key but "type" that is not in the list, which NULL ends. */
int axle__section_keys(const axle__section *section, const char *const *known);
int axle__section_malformed(const axle__section *section, const char *what);
/* Set *out where the key has a value that is not null; AXLE_ERR_FORMAT where it is no boolean. */
int axle__section_flag(const axle__section *section, const char *key, bool *out);
/* Borrowed; NULL where it is none. */
const char *axle__section_text(const axle__section *section, const char *key);
/* Whether the key is missing, null, false, "" or 0. */
bool axle__section_lacks(const axle__section *section, const char *key);
/* Content of a token, which is a text or an object. NULL: it is neither. */
const char *axle__token_content(const json_t *token);

#endif
