/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the tables of cases write operands, with blanks between them:
 *
 *     x:pos(7,5)      element type, what it holds, dims
 *     x(*)            the dims are those of the shape that the case is run with
 *     stat(4)         `x` is the row's element type, `stat` that of its statistics; i64, bool ...
 * are themselves x:any(~7,5)     the first dim repeats: its stride is 0 i64:below(6)=5  what it
 * holds has a parameter +x:any(3)       an output that is read, too: it holds that before
 *     @3              an output that is the storage of input 3
 *     #1              in a forward step: input 1 of the case
 *     -               absent
 */
#ifndef AXLE_CHECK_SPEC_H
#define AXLE_CHECK_SPEC_H

#include "axle/backend.h"

typedef enum spec_kind { SPEC_ABSENT, SPEC_OPERAND, SPEC_ALIAS, SPEC_NUMBER } spec_kind;

typedef struct operand_spec {
    spec_kind kind;
    int number; /* behind @ or # */
    int updated;
    uint32_t dtype, rank;
    int64_t dim[AXLE_MAX_RANK];
    uint8_t repeats[AXLE_MAX_RANK];
    char domain[12];
    double parameter;
} operand_spec;

/* Read the next operand of `*text` and move it on. 1, 0 at the end, -1 where it is malformed. */
int spec_next(const char **text, const char *shape, uint32_t dtype, operand_spec *out);

#endif
