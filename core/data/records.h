/* SPDX-License-Identifier: Apache-2.0 */
/* Files of records inside: a table of texts, filled by one function a format. */
#ifndef AXLE_DATA_RECORDS_H
#define AXLE_DATA_RECORDS_H

#include <stddef.h>

#include "axle/records.h"
#include "base/list.h"

struct axle_records {
    char *path;
    char *text;          /* the file, into which fields of CSV point */
    axle__list names;    /* of the columns */
    axle__list owned;    /* what fields of JSON point to */
    const char **fields; /* (rows, columns) */
    size_t *lines;       /* (rows) */
    size_t rows, room;
};

/* Fill the table from the text, whose size is given; what was read stays on failure. */
int axle__records_read_csv(axle_records *records, size_t size, const axle_records_options *options);
int axle__records_read_jsonl(axle_records *records, size_t size,
                             const axle_records_options *options);
/* Append a row that begins on `line`, and give the place of its fields, which are NULL. */
int axle__records_add_row(axle_records *records, size_t line, const char ***out);

#endif
