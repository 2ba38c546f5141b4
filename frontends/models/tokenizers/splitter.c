/* SPDX-License-Identifier: Apache-2.0 */
#include "splitter.h"

#include "unicode.h"
#include "utf8.h"

/* Go on from `k` while `(classes & mask) == wanted`. */
static size_t pass(const char *text, size_t length, size_t k, unsigned mask, unsigned wanted)
{
    int32_t c;
    while (k < length) {
        size_t size = axle__utf8_get(text + k, length - k, &c);
        if ((axle__classes(c) & mask) != wanted)
            break;
        k += size;
    }
    return k;
}

bool axle__split_bert(const char *text, size_t length, size_t *begin, size_t *end)
{
    int32_t c;
    *begin = pass(text, length, *end, AXLE__SPACE, AXLE__SPACE);
    if (*begin >= length)
        return false;
    *end = pass(text, length, *begin, AXLE__SPACE | AXLE__PUNCTUATION, 0);
    if (*end == *begin)
        *end += axle__utf8_get(text + *begin, length - *begin, &c);
    return true;
}

bool axle__split_words(const char *text, size_t length, size_t *begin, size_t *end)
{
    *begin = pass(text, length, *end, AXLE__SPACE, AXLE__SPACE);
    if (*begin >= length)
        return false;
    *end = pass(text, length, *begin, AXLE__WORD, AXLE__WORD);
    if (*end == *begin)
        *end = pass(text, length, *begin, AXLE__WORD | AXLE__SPACE, 0);
    return true;
}

bool axle__split_spaces(const char *text, size_t length, size_t *begin, size_t *end)
{
    *begin = pass(text, length, *end, AXLE__SPACE, AXLE__SPACE);
    *end = pass(text, length, *begin, AXLE__SPACE, 0);
    return *begin < length;
}

/* Length of 's, 't, 're, 've, 'm, 'll or 'd at the beginning; 0: there is none. */
static size_t contraction(const char *text, size_t left)
{
    if (left < 2 || text[0] != '\'')
        return 0;
    char a = text[1], b = left > 2 ? text[2] : '\0';
    if (a == 's' || a == 't' || a == 'm' || a == 'd')
        return 2;
    return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
}

/* Spaces from `k`; all but the last one where something else follows, if there are several. */
static size_t spaces(const char *text, size_t length, size_t k)
{
    int32_t c;
    size_t end = pass(text, length, k, AXLE__SPACE, AXLE__SPACE);
    if (end >= length)
        return end;
    size_t last = end - axle__utf8_before(text, end, &c);
    return last > k ? last : end;
}

bool axle__split_byte_level(const char *text, size_t length, size_t *begin, size_t *end)
{
    const unsigned kinds = AXLE__SPACE | AXLE__LETTER | AXLE__NUMBER;
    int32_t c;
    size_t k = *begin = *end;
    if (k >= length)
        return false;
    size_t short_form = contraction(text + k, length - k);
    if (short_form) {
        *end = k + short_form;
        return true;
    }
    if (text[k] == ' ' && k + 1 < length)
        k++;
    axle__utf8_get(text + k, length - k, &c);
    unsigned kind = axle__classes(c) & kinds;
    *end = kind & AXLE__SPACE ? spaces(text, length, *begin) : pass(text, length, k, kinds, kind);
    return true;
}
