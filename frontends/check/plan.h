/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows there are. */
#ifndef AXLE_CHECK_PLAN_H
#define AXLE_CHECK_PLAN_H

#include "trial.h"

/* Either a behaviour or a case. */
typedef struct row {
    uint32_t device, dtype;
    const behaviour *b;
    const op_case *c;
} row;

typedef struct plan {
    row *rows;
    size_t count, room;
} plan;

/* The rows for so many devices that the options leave. */
int plan_create(const check_options *options, uint32_t devices, plan *out, note *n);
void plan_free(plan *p);

const char *row_group(const row *r);
const char *row_name(const row *r);

#endif
