/* SPDX-License-Identifier: Apache-2.0 */
/* The socket at which the processes meet. The launcher binds it and rank 0 inherits it, so that
 * nobody can take the port in between. */
#ifndef AXLE_CLI_LAUNCH_LISTEN_H
#define AXLE_CLI_LAUNCH_LISTEN_H

#include "launch_plan.h"

/* Where this is the main host: listen, and set the plan's port where it is 0. *descriptor is -1 on
 * other hosts. Returns -1 to go on, or an exit code after a message. */
int launch_listen(launch_plan *plan, int *descriptor);

#endif
