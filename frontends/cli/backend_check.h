/* SPDX-License-Identifier: Apache-2.0 */
/* How the result of axle backend-check is shown. */
#ifndef AXLE_CLI_BACKEND_CHECK_H
#define AXLE_CLI_BACKEND_CHECK_H

#include "../check/check.h"

/* What a report is about, and how its rows are reproduced. */
typedef struct report_subject {
    const char *name; /* as it was given */
    const char *path; /* NULL: built in */
    int64_t seed;
    int quick;
} report_subject;

void report_list(const check_report *report);
void report_table(const check_report *report, const report_subject *subject);
/* Returns -1 when memory runs out. */
int report_json(const check_report *report, const report_subject *subject);

#endif
