/* SPDX-License-Identifier: Apache-2.0 */
/* Which process of which job this is, as the environment says. */
#ifndef AXLE_JOB_MEMBERSHIP_H
#define AXLE_JOB_MEMBERSHIP_H

#include <stddef.h>

typedef struct axle__membership {
    int rank, size;             /* 0 of 1 where nothing says otherwise */
    int local_rank, local_size; /* among the processes of this host */
    char host[256];             /* where rank 0's server listens; "" for a job of one, and where the
                                   rendezvous says it */
    int port;                   /* 0: rank 0 takes any, and the rendezvous says which */
    int listen_fd;              /* a listening socket that rank 0 inherited; -1 */
    char job[128];              /* "" where nothing names it */
    char secret[128];
    char rendezvous[512]; /* where host and port are found: file:///folder or redis://host */
    const char *source;   /* what was understood: "torchrun", "Open MPI", "Slurm", ... */
} axle__membership;

/* AXLE_ERR_INVALID where variables contradict each other or are no numbers; the message names
 * them. */
int axle__membership_read(axle__membership *out);

/* The first host of a list as Slurm writes it, "gpu[03-05,9],login": "gpu03". AXLE_ERR_INVALID
 * where there is none, or it does not fit. */
int axle__hostlist_first(const char *list, char *host, size_t size);
/* How many tasks node number `node` has, by a list like "2(x3),1"; 0 where the list does not say.
 */
int axle__tasks_of_node(const char *list, int node);

#endif
