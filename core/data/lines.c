/* SPDX-License-Identifier: Apache-2.0 */
#include "data/lines.h"

#include <stdbool.h>
#include <string.h>

static bool is_blank(const char *text, size_t length)
{
    size_t k = 0;
    while (k < length && strchr(" \t\r", text[k]) && text[k])
        k++;
    return k == length;
}

int axle__each_line(const char *text, size_t size, axle__line_fn fn, void *user)
{
    const char *end = text + size;
    int code = 0;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    for (size_t line = 1; !code && text < end; line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((newline ? newline : end) - text);
        if (!is_blank(text, length))
            code = fn(user, line, text, length);
        text += length + (newline ? 1 : 0);
    }
    return code;
}
