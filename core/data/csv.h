/* SPDX-License-Identifier: Apache-2.0 */
/* Records of separated fields (RFC 4180), read one field at a time from text in memory. */
#ifndef AXLE_DATA_CSV_H
#define AXLE_DATA_CSV_H

#include <stdbool.h>
#include <stddef.h>

typedef struct axle__csv {
    const char *path; /* for messages */
    char *next, *end;
    char separator, quote;
    size_t line, column; /* of the field read last, from 1 */
    size_t lines;        /* begun so far */
    bool at_start;       /* of a record */
} axle__csv;

/* Read `size` bytes of text, which is changed: a NUL ends each field where it lies. */
void axle__csv_init(axle__csv *csv, const char *path, char *text, size_t size, char separator,
                    char quote);
/* Whether another record begins. Empty lines at the end are none; elsewhere they are one empty
 * field. */
bool axle__csv_more(const axle__csv *csv);
/* The next field, and whether it is the record's last. AXLE_ERR_FORMAT. */
int axle__csv_field(axle__csv *csv, char **out, bool *last);

#endif
