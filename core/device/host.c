/* SPDX-License-Identifier: Apache-2.0 */
/* The services that backends get. */
#include "axle/reference.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/threads.h"
#include "device/cache.h"
#include "device/device.h"

static void host_log(void *ctx, int32_t level, const char *component, const char *message)
{
    (void)ctx;
    axle_log_write(level, component, "%s", message ? message : "");
}

static const char *host_option(void *ctx, const char *key)
{
    (void)ctx;
    return axle__option(key);
}

static void *host_alloc(void *ctx, uint64_t size, uint64_t align)
{
    (void)ctx;
    bool fits = (size_t)size == size && (size_t)align == align;
    return fits ? axle__alloc_aligned((size_t)size, (size_t)align) : NULL;
}

static void host_free(void *ctx, void *memory)
{
    (void)ctx;
    axle__free(memory);
}

static void host_parallel_for(void *ctx, int64_t n, int64_t grain, axle_body body, void *arg)
{
    (void)ctx;
    axle__parallel_for(n, grain, body, arg);
}

static int32_t host_num_workers(void *ctx)
{
    (void)ctx;
    return axle__worker_count();
}

static axle_status host_cache_get(void *ctx, const void *key, uint64_t key_size, void **blob,
                                  uint64_t *size)
{
    (void)ctx;
    return axle__cache_get(key, key_size, blob, size);
}

static axle_status host_cache_put(void *ctx, const void *key, uint64_t key_size, const void *blob,
                                  uint64_t size)
{
    (void)ctx;
    return axle__cache_put(key, key_size, blob, size);
}

static void host_cache_drop(void *ctx, const void *key, uint64_t key_size)
{
    (void)ctx;
    axle__cache_drop(key, key_size);
}

/* The handle is the file's number, and 1 more, for a handle is never NULL. */
static axle_status host_cache_lock(void *ctx, const void *key, uint64_t key_size, void **lock)
{
    (void)ctx;
    int file;
    axle_status status = axle__cache_lock(key, key_size, &file);
    if (status == AXLE_OK)
        *lock = (void *)((intptr_t)file + 1);
    return status;
}

static void host_cache_unlock(void *ctx, void *lock)
{
    (void)ctx;
    if (lock)
        axle__cache_unlock((int)((intptr_t)lock - 1));
}

const axle_host *axle__host(void)
{
    static const axle_host host = {
        .struct_size = sizeof(axle_host),
        .abi_major = AXLE_ABI_MAJOR,
        .abi_minor = AXLE_ABI_MINOR,
        .log = host_log,
        .option = host_option,
        .alloc = host_alloc,
        .free = host_free,
        .parallel_for = host_parallel_for,
        .num_workers = host_num_workers,
        .cache_get = host_cache_get,
        .cache_put = host_cache_put,
        .cache_drop = host_cache_drop,
        .cache_lock = host_cache_lock,
        .cache_unlock = host_cache_unlock,
    };
    return &host;
}

const axle_plugin *axle_reference_init(const axle_host *host, axle_error *error)
{
    return axle__reference_init(host ? host : axle__host(), error);
}
