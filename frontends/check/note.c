/* SPDX-License-Identifier: Apache-2.0 */
#include "note.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int note_fail(note *n, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(n->text, sizeof(n->text), format, list);
    va_end(list);
    return 0;
}

int note_prefix(note *n, const char *format, ...)
{
    char before[NOTE_SIZE];
    va_list list;
    va_start(list, format);
    vsnprintf(before, sizeof(before), format, list);
    va_end(list);
    const size_t length = strlen(before);
    memmove(n->text + length, n->text, sizeof(n->text) - length);
    memcpy(n->text, before, length);
    n->text[sizeof(n->text) - 1] = '\0';
    return 0;
}
