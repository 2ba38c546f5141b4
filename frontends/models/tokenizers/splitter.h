/* SPDX-License-Identifier: Apache-2.0 */
/* How a normalised text is cut into words. */
#ifndef AXLE_TOKENIZERS_SPLITTER_H
#define AXLE_TOKENIZERS_SPLITTER_H

#include <stdbool.h>
#include <stddef.h>

/* The next word of `text`, which is well-formed, from *end: sets *begin and *end; false: there is
 * none. */
typedef bool axle__split_fn(const char *text, size_t length, size_t *begin, size_t *end);

bool axle__split_bert(const char *text, size_t length, size_t *begin, size_t *end);
/* \w+|[^\w\s]+ */
bool axle__split_words(const char *text, size_t length, size_t *begin, size_t *end);
/* At spaces alone. */
bool axle__split_spaces(const char *text, size_t length, size_t *begin, size_t *end);
/* GPT-2's regular expression, in which words keep the space in front of them. */
bool axle__split_byte_level(const char *text, size_t length, size_t *begin, size_t *end);

#endif
