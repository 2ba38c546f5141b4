/* SPDX-License-Identifier: Apache-2.0 */
/* The open descriptors that children of this process shall not keep. */
#ifndef AXLE_JOB_SOCKET_LIST_H
#define AXLE_JOB_SOCKET_LIST_H

/* Close `fd` in every child forked from now on. Where memory runs out it is not noted. */
void axle__socket_list_add(int fd);
void axle__socket_list_remove(int fd);

#endif
