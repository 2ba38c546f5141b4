/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file records.h
 * Files of records: CSV, TSV and JSON lines, each field as text.
 *
 *     axle_records *records;
 *     int column;
 *     axle_records_open("reviews.tsv", NULL, &records);
 *     axle_records_column(records, "text", &column);
 *     for (int64_t k = 0; k < axle_records_count(records); k++)
 *         puts(axle_records_field(records, k, column));
 *     axle_records_release(records);
 *
 * A file is read whole when it is opened, and does not change afterwards: any thread may read it.
 * Malformed ones are AXLE_ERR_FORMAT, with the file's name and the line.
 */
#ifndef AXLE_RECORDS_H
#define AXLE_RECORDS_H

#include "axle/types.h"

AXLE_BEGIN_DECLS

typedef struct axle_records axle_records;

enum {
    AXLE_RECORDS_BY_NAME = 0, /**< .tsv and .tab, .jsonl, .ndjson and .json; else CSV */
    AXLE_RECORDS_CSV = 1,     /**< RFC 4180: quoted fields may hold separators and newlines */
    AXLE_RECORDS_TSV = 2,     /**< tabs between fields; a quotation mark is like any character */
    /** A JSON object a line. Keys are columns, those of the first line in its order; another line
     * may lack some, but has no others. Numbers, arrays and objects stand as JSON text. */
    AXLE_RECORDS_JSONL = 3
};

/** Starts from AXLE_RECORDS_OPTIONS_INIT. */
typedef struct axle_records_options {
    size_t struct_size;
    int format;     /**< AXLE_RECORDS_... */
    int header;     /**< the first record holds names; else columns are called "0", "1", ... */
    char separator; /**< 0: that of the format */
    int quote;      /**< the character that quotes fields; 0: none; -1: that of the format */
} axle_records_options;
#define AXLE_RECORDS_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(axle_records_options), AXLE_RECORDS_BY_NAME, 1, 0, -1                               \
    }

/** @param options  NULL for the defaults. @return AXLE_OK; AXLE_ERR_NOT_FOUND, AXLE_ERR_IO;
 * AXLE_ERR_FORMAT also for a file without records. */
AXLE_API int axle_records_open(const char *path, const axle_records_options *options,
                               axle_records **out);
/** NULL is fine. */
AXLE_API void axle_records_release(axle_records *records);
AXLE_API int64_t axle_records_count(const axle_records *records);
AXLE_API int axle_records_column_count(const axle_records *records);
/** Borrowed; NULL and AXLE_ERR_INDEX if there is none of that number. */
AXLE_API const char *axle_records_column_name(const axle_records *records, int column);
/** Find a column by its name; where none has it, by its number from 0. AXLE_ERR_NOT_FOUND, listing
 * what there is; AXLE_ERR_FORMAT where several have the name. */
AXLE_API int axle_records_column(const axle_records *records, const char *name, int *out);
/** Whether a column has that name. */
AXLE_API int axle_records_has_column(const axle_records *records, const char *name);
/** Text of a field, borrowed, without a NUL inside. NULL where a line of JSON has no such key, or
 * null; out of range also AXLE_ERR_INDEX. */
AXLE_API const char *axle_records_field(const axle_records *records, int64_t row, int column);
/** The same as a finite number, read with a decimal point whatever the locale. AXLE_ERR_FORMAT with
 * file, line and column. */
AXLE_API int axle_records_number(const axle_records *records, int64_t row, int column, double *out);
/** Line of the file on which a record begins, from 1. */
AXLE_API int64_t axle_records_line(const axle_records *records, int64_t row);
/** As it was opened; borrowed. */
AXLE_API const char *axle_records_path(const axle_records *records);

AXLE_END_DECLS

#endif
