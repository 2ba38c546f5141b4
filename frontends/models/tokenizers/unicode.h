/* SPDX-License-Identifier: Apache-2.0 */
/* What tokenizers ask about code points. */
#ifndef AXLE_TOKENIZERS_UNICODE_H
#define AXLE_TOKENIZERS_UNICODE_H

#include <stddef.h>
#include <stdint.h>

enum {
    AXLE__SPACE = 1,       /* White_Space */
    AXLE__REMOVED = 2,     /* BERT drops it: NUL, U+FFFD, controls, formats, private use */
    AXLE__PUNCTUATION = 4, /* BERT's: a word of its own */
    AXLE__MARK = 8,        /* BERT's: an accent to be stripped */
    AXLE__CHINESE = 16,
    AXLE__LETTER = 32,
    AXLE__NUMBER = 64,
    AXLE__WORD = 128 /* \w of a regular expression */
};

extern const unsigned char axle__ascii_classes[128];

/* The same for any code point. */
unsigned axle__unicode_classes(int32_t c);

static inline unsigned axle__classes(int32_t c)
{
    return c < 128 ? axle__ascii_classes[c] : axle__unicode_classes(c);
}

/* Lower case of a code point: one or two. */
int axle__unicode_lower(int32_t c, int32_t out[2]);

enum { AXLE__LONGEST_DECOMPOSITION = 32 };
/* Its full decomposition, canonical or else compatible; returns the count. */
int axle__unicode_decompose(int32_t c, int compatible, int32_t out[AXLE__LONGEST_DECOMPOSITION]);
int axle__unicode_combining_class(int32_t c);
/* What two make together; 0: they do not. */
int32_t axle__unicode_compose(int32_t a, int32_t b);

#endif
