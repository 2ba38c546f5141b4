/* SPDX-License-Identifier: Apache-2.0 */
/* All loops of one instruction set. */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"

#define TABLE_TEXT(level) level == 0 ? "generic" : level == 1 ? "avx2" : "avx512"
#define TABLE_ENTRY(group) .group = &LOOP(cpu_##group##_loops),

const cpu_loops LOOP(cpu_loops) = {.isa = TABLE_TEXT(LOOP_LEVEL), LOOP_GROUPS(TABLE_ENTRY)};
#endif
LOOP_END;
