/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open device, as the core sees it: the plugin's table, a queue, the allocator and the cache of
 * prepared operators. Plugins are seen through this folder alone.
 */
#ifndef AXLE_DEVICE_DEVICE_H
#define AXLE_DEVICE_DEVICE_H

#include <pthread.h>
#include <stdbool.h>

#include "axle/backend.h"
#include "axle/backend_ops.h"
#include "axle/device.h"
#include "axle/status.h"

typedef struct axle__allocator axle__allocator; /* allocator.c */
typedef struct axle__op_cache axle__op_cache;   /* op_cache.c */

struct axle_device {
    const axle_plugin *plugin;
    const axle_device_api *api;
    axle_be_device *handle;
    axle_be_queue *queue; /* the compute queue; NULL where the plugin has none */
    axle_device_info info;
    uint32_t index;    /* among its backend's devices */
    bool host_visible; /* blocks have a host address */
    bool synchronous;  /* operators are done when they return */
    bool lost;         /* a sticky error was reported */
    bool dry;          /* operators take memory and compute nothing */
    axle__allocator *allocator;
    axle__op_cache *cache;
    uint64_t op_runs, fallbacks; /* atomic */
    uint64_t fallback_logged[2]; /* bit per operator number */
    pthread_mutex_t queue_lock;  /* serialises calls on the queue of an asynchronous device */
    struct axle_device *next;    /* registry.c's list */
};

/* Whether the host may use the device's memory as its own, without waiting. */
static inline bool axle__device_is_direct(const axle_device *device)
{
    return device->host_visible && device->synchronous;
}

/* A piece of device memory. */
typedef struct axle__block {
    axle_device *device;
    axle_be_buffer *buffer;
    uint64_t offset, size;    /* bytes; size is at least what was asked for */
    unsigned char *host;      /* address of the first byte on host-visible devices, else NULL */
    struct axle__block *link; /* the allocator's */
} axle__block;

/* Memory of `size` bytes (> 0), aligned to 64 bytes or more; content undefined. Cached blocks are
 * used again; when the device is out of memory caches are emptied and it is tried once more. */
axle__block *axle__block_alloc(axle_device *device, uint64_t size);
/* A block over `size` bytes (> 0) of the program's, which `release` (may be NULL) is told when it
 * is freed. AXLE_ERR_DEVICE where the device does not compute in such memory. */
axle__block *axle__block_import(axle_device *device, void *host, uint64_t size,
                                void (*release)(void *user), void *user);
/* Return a block; running work of the device's queue may still use it. NULL is fine. */
void axle__block_free(axle__block *block);

int axle__allocator_create(axle_device *device, axle__allocator **out);
void axle__allocator_destroy(axle__allocator *allocator);
void axle__allocator_trim(axle__allocator *allocator);
void axle__allocator_reset_peak(axle__allocator *allocator);
void axle__allocator_stats(const axle__allocator *allocator, axle_device_stats *out);

/* Copies between host and device, and within a device; done (read) or host memory free again
 * (write) on return. */
int axle__block_write(axle__block *block, uint64_t offset, const void *data, uint64_t size);
int axle__block_read(axle__block *block, uint64_t offset, void *data, uint64_t size);
/* Wait for all work. */
int axle__device_finish(axle_device *device);

/* Report a plugin's failure: records code and message once, marks the device lost on sticky errors.
 */
int axle__device_failed(axle_device *device, const char *doing, axle_status status,
                        const axle_error *error);

/* An axle_error with room for a message. */
typedef struct axle__error_buffer {
    axle_error error;
    char text[512];
} axle__error_buffer;
void axle__error_buffer_init(axle__error_buffer *buffer);

/* The host table that plugins get. */
const axle_host *axle__host(void);
/* The built-in backend. */
const axle_plugin *axle__reference_init(const axle_host *host, axle_error *error);

int axle__op_cache_create(axle__op_cache **out);
void axle__op_cache_destroy(axle__op_cache *cache);
uint64_t axle__op_cache_count(const axle__op_cache *cache);

#endif
