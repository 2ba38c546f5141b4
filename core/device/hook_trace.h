/* SPDX-License-Identifier: Apache-2.0 */
/* Tracing on request rather than by AXLE_HOOK. */
#ifndef AXLE_DEVICE_HOOK_TRACE_H
#define AXLE_DEVICE_HOOK_TRACE_H

/* Turn the hook "trace" on; NULL is AXLE_TRACE_FILE. */
int axle__trace_start(const char *path);
/* Turn it off and finish the file. What was summed up stays. */
int axle__trace_stop(void);

#endif
