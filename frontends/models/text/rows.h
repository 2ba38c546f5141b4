/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of texts as they stand in a file or came from a caller, before anything is made of them. */
#ifndef AXLE_MODELS_TEXT_ROWS_H
#define AXLE_MODELS_TEXT_ROWS_H

#include "axle/text.h"

typedef struct text_rows {
    int64_t count;
    /* A pointer for each row, into the records or the store; pairs and labels NULL where there are
     * none. A label may be NULL. */
    const char **texts, **pairs, **labels;
    axle_records *records; /* NULL: rows of a caller */
    char *store;
} text_rows;

/* Start as {0}, and are cleared also after failure. */
int axle__text_rows_read(const char *path, const axle_text_options *options, text_rows *rows);
int axle__text_rows_copy(int64_t n, const char *const *texts, const char *const *pairs,
                         const char *const *labels, text_rows *rows);
void axle__text_rows_clear(text_rows *rows);
/* Record an error about a row, with its file and line. Returns the code. */
int axle__text_rows_error(const text_rows *rows, int64_t row, int code, const char *format, ...)
    AXLE_PRINTF(4, 5);

#endif
