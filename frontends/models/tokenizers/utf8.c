/* SPDX-License-Identifier: Apache-2.0 */
#include "utf8.h"

/* What a lead byte promises: continuation bytes, and the range of the first of them (the Unicode
 * Standard, table 3-7). */
typedef struct lead {
    unsigned char first, last, more, low, high;
} lead;

static const lead leads[] = {
    {0xC2, 0xDF, 1, 0x80, 0xBF}, {0xE0, 0xE0, 2, 0xA0, 0xBF}, {0xE1, 0xEC, 2, 0x80, 0xBF},
    {0xED, 0xED, 2, 0x80, 0x9F}, {0xEE, 0xEF, 2, 0x80, 0xBF}, {0xF0, 0xF0, 3, 0x90, 0xBF},
    {0xF1, 0xF3, 3, 0x80, 0xBF}, {0xF4, 0xF4, 3, 0x80, 0x8F},
};
enum { LEADS = sizeof(leads) / sizeof(leads[0]) };

static const lead *lead_of(unsigned char byte)
{
    for (int k = 0; k < LEADS; k++)
        if (byte >= leads[k].first && byte <= leads[k].last)
            return &leads[k];
    return NULL;
}

size_t axle__utf8_long(const char *text, size_t left, int32_t *out)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const lead *lead = lead_of(bytes[0]);
    *out = AXLE__REPLACEMENT;
    if (!lead)
        return 1;
    int32_t c = bytes[0] & (0x3F >> lead->more);
    for (size_t k = 1; k <= lead->more; k++) {
        unsigned low = k == 1 ? lead->low : 0x80, high = k == 1 ? lead->high : 0xBF;
        if (k >= left || bytes[k] < low || bytes[k] > high)
            return k;
        c = c << 6 | (bytes[k] & 0x3F);
    }
    *out = c;
    return lead->more + 1u;
}

size_t axle__utf8_before(const char *text, size_t end, int32_t *out)
{
    for (size_t length = 1; length <= 4 && length <= end; length++) {
        unsigned char byte = (unsigned char)text[end - length];
        if ((byte & 0xC0) != 0x80) {
            if (axle__utf8_get(text + end - length, length, out) == length)
                return length;
            break;
        }
    }
    *out = AXLE__REPLACEMENT;
    return 1;
}

bool axle__utf8_valid(const char *text, size_t length)
{
    int32_t c = 0;
    for (size_t k = 0; k < length;) {
        size_t size = axle__utf8_get(text + k, length - k, &c);
        if (c == AXLE__REPLACEMENT && (size != 3 || (unsigned char)text[k] != 0xEF))
            return false;
        k += size;
    }
    return true;
}
