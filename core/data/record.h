/* SPDX-License-Identifier: Apache-2.0 */
/* One record of a file of separated fields. */
#ifndef AXLE_DATA_RECORD_H
#define AXLE_DATA_RECORD_H

#include "data/csv.h"

typedef struct axle__field {
    char *text;
    size_t line;
} axle__field;

/* Starts zeroed, and is used for one record after the other. */
typedef struct axle__record {
    axle__field *fields; /* for axle__free() */
    size_t count, room;
} axle__record;

/* Read the fields of the next record. */
int axle__record_read(axle__csv *csv, axle__record *record);
/* Check that a record has as many columns as the first. */
int axle__record_check(const axle__record *record, const axle__csv *csv, size_t columns);

#endif
