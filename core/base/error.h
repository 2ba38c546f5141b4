/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Setting a thread's error record aside. Code that tries several ways, of which some may fail,
 * takes the record that is there first, reads and forgets what each try records, and puts the first
 * back.
 */
#ifndef AXLE_BASE_ERROR_H
#define AXLE_BASE_ERROR_H

enum { AXLE__ERROR_MESSAGE_SIZE = 1024 };

typedef struct axle__error_record {
    int code;
    char message[AXLE__ERROR_MESSAGE_SIZE];
} axle__error_record;

/* Move the record to *out, so that none is recorded. */
void axle__error_take(axle__error_record *out);
/* Make *record the thread's record, whatever is recorded. */
void axle__error_restore(const axle__error_record *record);

/* What the caller was given is NULL: an earlier error may have made it so, and stays the error;
 * else AXLE_ERR_INVALID, "WHO: WHAT is NULL". Returns its code. */
int axle__missing(const char *who, const char *what);

#endif
