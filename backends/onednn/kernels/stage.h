/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands whose element type a kernel does not take, copied to dense f32 in the workspace and
 * back. A copy keeps the order of memory: channels-last operands stay channels-last.
 */
#ifndef AXLE_ONEDNN_STAGE_H
#define AXLE_ONEDNN_STAGE_H

#include "elem.h"

typedef struct stage {
    int active;     /* 0: the operand is used where it lies, or absent */
    axle_view view; /* as the kernel sees it */
    elem_plan in, out;
    size_t at; /* in the workspace */
} stage;

/* Plan an operand, reserving room in the workspace that is being laid out. */
void cpu_stage_init(stage *s, const cpu_loops *loops, const axle_view *view, size_t *total);

/* The operand to read from, or to write to; what is written goes home with cpu_stage_leave. */
const void *cpu_stage_read(const stage *s, const void *data, unsigned char *workspace);
void *cpu_stage_target(const stage *s, void *data, unsigned char *workspace);
void cpu_stage_leave(const stage *s, void *data, unsigned char *workspace);

#endif
