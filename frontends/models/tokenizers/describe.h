/* SPDX-License-Identifier: Apache-2.0 */
/* A tokenizer.json of what other files say, as transformers makes it of them. */
#ifndef AXLE_TOKENIZERS_DESCRIBE_H
#define AXLE_TOKENIZERS_DESCRIBE_H

#include <jansson.h>

/* Each takes `vocabulary` (an object of ids), and gives NULL without memory. What `config` lacks of
 * special tokens is added to it. `added` (an object of ids, or NULL) is of added_tokens.json. */
json_t *axle__describe_wordpiece(json_t *vocabulary, json_t *config, const json_t *added);
/* `merges` (an array) is taken, too. @param roberta  or else of GPT-2. */
json_t *axle__describe_byte_level(json_t *vocabulary, json_t *merges, json_t *config,
                                  const json_t *added, int roberta);

#endif
