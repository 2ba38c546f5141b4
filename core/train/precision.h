/* SPDX-License-Identifier: Apache-2.0 */
/* Mixed precision of the accelerators of a process. */
#ifndef AXLE_TRAIN_PRECISION_H
#define AXLE_TRAIN_PRECISION_H

/* The element type of products that a text asks for; 0: that of their operands. NULL or "": what
 * AXLE_PRECISION says, else what living accelerators have. Accelerators that live at the same time
 * agree on one: another is AXLE_ERR_STATE. Each success wants an axle__precision_leave(). */
int axle__precision_join(const char *text, int *dtype);
void axle__precision_leave(void);

#endif
