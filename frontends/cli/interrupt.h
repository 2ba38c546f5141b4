/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C and its kin, as a flag that loops look at between two steps. */
#ifndef AXLE_CLI_INTERRUPT_H
#define AXLE_CLI_INTERRUPT_H

/* From now on SIGINT, SIGTERM and SIGHUP set the flag, and a closed pipe is a write error. */
void interrupt_catch(void);
/* The signal that came, 0 if none did. */
int interrupt_signal(void);

#endif
