/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, one code point at a time. */
#ifndef AXLE_TOKENIZERS_UTF8_H
#define AXLE_TOKENIZERS_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AXLE__REPLACEMENT = 0xFFFD };

/* Code point of text[0..], of which there are `left` > 0 bytes; returns how many it takes. Of what
 * is not well-formed the longest part that could begin a character is one U+FFFD. */
size_t axle__utf8_long(const char *text, size_t left, int32_t *out);

static inline size_t axle__utf8_get(const char *text, size_t left, int32_t *out)
{
    if ((unsigned char)*text < 0x80) {
        *out = *text;
        return 1;
    }
    return axle__utf8_long(text, left, out);
}

/* The code point before text + end, end > 0; returns how many bytes it takes. */
size_t axle__utf8_before(const char *text, size_t end, int32_t *out);

/* Write a code point; returns how many bytes it takes, 1 to 4. */
static inline size_t axle__utf8_put(char *out, int32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

/* Whether all of it is well-formed. */
bool axle__utf8_valid(const char *text, size_t length);

#endif
