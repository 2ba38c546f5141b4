/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file collective.h
 * The interface of transports: shared objects that carry messages between the processes of a job.
 *
 * A transport exports one function, written with AXLE_COLLECTIVE_DEFINE, that receives the host
 * services of backend.h and returns a table of its own. It moves bytes; what the bytes mean, that
 * all processes ask for the same, and in which order numbers are added is the core's business: it
 * composes every collective of messages, so that sums have the same bits on every process and over
 * every transport.
 *
 * The rules R1, R2, R5, R6 and R7 of backend.h hold here, too. group_create, send, recv, wait and
 * group_destroy are called from one thread for each group, in which SIGPIPE is blocked, and threads
 * that the transport starts in group_create inherit that; group_abort is called from any thread.
 */
#ifndef AXLE_COLLECTIVE_H
#define AXLE_COLLECTIVE_H

#include "axle/backend.h"

AXLE_BEGIN_DECLS

#define AXLE_COLLECTIVE_ABI_MAJOR 1u
#define AXLE_COLLECTIVE_ABI_MINOR 0u

/* Opaque to the core. */
typedef struct axle_cl_group axle_cl_group;
typedef struct axle_cl_request axle_cl_request; /**< A message under way. */

/** A store that all processes of the job see, for addresses. Keys are words; each is set once. */
typedef struct axle_cl_store {
    uint32_t struct_size, reserved;
    void *ctx;
    axle_status (*set)(void *ctx, const char *key, const void *value, uint64_t size,
                       axle_error *error);
    /** Waits for the key. *value is for host->free(). */
    axle_status (*get)(void *ctx, const char *key, int64_t timeout_ns, void **value, uint64_t *size,
                       axle_error *error);
} axle_cl_store;

typedef struct axle_cl_config {
    uint32_t struct_size;
    int32_t rank, size;
    int32_t reserved;
    const axle_cl_store *store; /**< valid until group_create returns */
    const char *address;        /**< numeric address of this process to bind and tell the others */
    int64_t timeout_ns;         /**< for connecting */
} axle_cl_config;

/** The table; every slot is needed but abort and shutdown. */
typedef struct axle_collective {
    uint32_t struct_size, abi_major, abi_minor, flags;
    const char *name; /**< lower-case word used in AXLE_TRANSPORT */
    const char *version, *vendor, *license;

    /** Connect all processes with each other. */
    axle_status (*group_create)(const axle_cl_config *config, axle_cl_group **out,
                                axle_error *error);
    /** No message is waited for. Messages under way are dropped. */
    void (*group_destroy)(axle_cl_group *group);
    /** Let pending and later waits return AXLE_ERR_INTERRUPTED soon. */
    void (*group_abort)(axle_cl_group *group);

    /* Messages. One of `size` bytes (> 0) goes from a process to a peer; sender and receiver name
     * the same tag and the same size. Messages of one tag arrive in order. A receiver may ask
     * before or after the sender sends; a sender may have to wait for the receiver. Memory stays
     * with the caller, untouched (read, for send) until wait; only the answer of a peer to a
     * message that it has received whole may be received to where that message was sent from. */
    axle_status (*send)(axle_cl_group *group, int32_t peer, uint64_t tag, const void *data,
                        uint64_t size, axle_cl_request **out, axle_error *error);
    axle_status (*recv)(axle_cl_group *group, int32_t peer, uint64_t tag, void *data, uint64_t size,
                        axle_cl_request **out, axle_error *error);
    /** Wait for a message and forget the request, on failure, too. AXLE_ERR_TIMEOUT;
     * AXLE_ERR_INTERRUPTED after an abort; AXLE_ERR_IO: the peer or the way to it is gone. After a
     * failure only waits and group_destroy follow. */
    axle_status (*wait)(axle_cl_request *request, int64_t timeout_ns, axle_error *error);

    void (*shutdown)(void);
} axle_collective;

/** The only exported symbol; the major version is part of its name. */
#define AXLE_COLLECTIVE_ENTRY "axle_collective_init_v1"
typedef const axle_collective *(*axle_collective_init_fn)(const axle_host *host, axle_error *error);
/** Head of that function's definition. It returns NULL, and fills *error, to decline. */
#define AXLE_COLLECTIVE_DEFINE(host, error)                                                        \
    AXLE_EXTERN AXLE_API const axle_collective *axle_collective_init_v1(const axle_host *host,     \
                                                                        axle_error *error);        \
    AXLE_API const axle_collective *axle_collective_init_v1(const axle_host *host,                 \
                                                            axle_error *error)

AXLE_END_DECLS

#endif
