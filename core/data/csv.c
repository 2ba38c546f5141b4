/* SPDX-License-Identifier: Apache-2.0 */
#include "data/csv.h"

#include <string.h>

#include "axle/status.h"

void axle__csv_init(axle__csv *csv, const char *path, char *text, size_t size, char separator,
                    char quote)
{
    *csv = (axle__csv){.path = path,
                       .next = text,
                       .end = text + size,
                       .separator = separator,
                       .quote = quote,
                       .lines = 1,
                       .at_start = true};
    /* A byte order mark is no part of the first field. */
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        csv->next += 3;
}

bool axle__csv_more(const axle__csv *csv)
{
    const char *next = csv->next;
    while (next < csv->end && (*next == '\n' || *next == '\r'))
        next++;
    return next < csv->end;
}

static int malformed(const axle__csv *csv, const char *what)
{
    return axle_error_set(AXLE_ERR_FORMAT, "%s:%zu: column %zu: %s", csv->path, csv->line,
                          csv->column, what);
}

/* Length of the line end at `at`: LF, CRLF or a lone CR; 0 if there is none. */
static size_t line_end(const axle__csv *csv, const char *at)
{
    if (at < csv->end && *at == '\n')
        return 1;
    if (at < csv->end && *at == '\r')
        return at + 1 < csv->end && at[1] == '\n' ? 2 : 1;
    return 0;
}

/* Step over what ends a field at `at`: a separator, a line end, or the end of the text. */
static int finish_field(axle__csv *csv, char *at, bool *last)
{
    size_t length = line_end(csv, at);
    *last = at == csv->end || length > 0;
    if (!*last && *at != csv->separator)
        return malformed(csv, "there is text behind the closing quote");
    csv->next = at == csv->end ? at : at + (length ? length : 1);
    csv->lines += length > 0;
    csv->at_start = *last;
    return AXLE_OK;
}

/* Move the field's text together over doubled quotes; gives the place behind the closing one. */
static int quoted_field(axle__csv *csv, char **behind)
{
    char *from = csv->next + 1, *to = csv->next;
    for (; from < csv->end; from++) {
        if (*from == csv->quote) {
            if (from + 1 == csv->end || from[1] != csv->quote) {
                *behind = from + 1;
                *to = '\0';
                return AXLE_OK;
            }
            from++;
        } else if (*from == '\n') {
            csv->lines++;
        }
        *to++ = *from;
    }
    return malformed(csv, "the quote is not closed");
}

int axle__csv_field(axle__csv *csv, char **out, bool *last)
{
    char *start = csv->next, *at = start;
    csv->column = csv->at_start ? 1 : csv->column + 1;
    csv->line = csv->lines;
    bool quoted = csv->quote && at < csv->end && *at == csv->quote;
    if (quoted) {
        int code = quoted_field(csv, &at);
        if (code)
            return code;
    } else {
        while (at < csv->end && *at != csv->separator && *at != '\n' && *at != '\r')
            at++;
    }
    int code = finish_field(csv, at, last);
    if (code)
        return code;
    if (!quoted) {
        if (memchr(start, '\0', (size_t)(at - start)))
            return malformed(csv, "there is a NUL byte");
        *at = '\0';
    }
    *out = start;
    return AXLE_OK;
}
