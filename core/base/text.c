/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDIT_MAX = 63 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

int axle__edit_distance(const char *a, const char *b)
{
    size_t rows = strnlen(a, EDIT_MAX), columns = strnlen(b, EDIT_MAX);
    unsigned char cost[EDIT_MAX + 1][EDIT_MAX + 1];
    for (size_t i = 0; i <= rows; i++)
        cost[i][0] = (unsigned char)i;
    for (size_t j = 0; j <= columns; j++)
        cost[0][j] = (unsigned char)j;
    for (size_t i = 1; i <= rows; i++)
        for (size_t j = 1; j <= columns; j++) {
            int best = smaller(cost[i - 1][j], cost[i][j - 1]) + 1;
            best = smaller(best, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smaller(best, cost[i - 2][j - 2] + 1);
            cost[i][j] = (unsigned char)best;
        }
    return cost[rows][columns];
}

bool axle__parse_integer(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno == ERANGE)
        return false;
    *out = value;
    return true;
}

void axle__text_init(axle__text *text, char *data, size_t size)
{
    *text = (axle__text){data, size, 0};
    data[0] = '\0';
}

void axle__text_add(axle__text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text->data + text->length, text->size - text->length, format, list);
    va_end(list);
    if (length < 0)
        return;
    size_t end = text->length + (size_t)length;
    text->length = end < text->size ? end : text->size - 1;
}
