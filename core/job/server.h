/* SPDX-License-Identifier: Apache-2.0 */
/* The server of the control connections: a thread in rank 0's process. */
#ifndef AXLE_JOB_SERVER_H
#define AXLE_JOB_SERVER_H

#include "job/control.h"

typedef struct axle__server axle__server;

/* Listen and start. *client_fd is a connected socket for rank 0's own control connection, which the
 * caller owns. The listening socket of the configuration is taken over, even on failure. */
int axle__server_start(const axle__control_config *config, axle__server **out, int *client_fd);
int axle__server_port(const axle__server *server);
/* Wait until all processes have left or are lost, for the timeout at most, and only shortly where
 * the job is broken anyway; then end the server and release it. NULL is fine. */
void axle__server_stop(axle__server *server);

#endif
