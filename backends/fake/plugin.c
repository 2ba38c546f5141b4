/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the fake backend, and how it misbehaves before there is a device. */
#define _POSIX_C_SOURCE 200809L
#include "fake.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

axle_status fake_fail(axle_error *error, axle_status code, const char *format, ...)
{
    if (!error)
        return code;
    error->code = code;
    if (error->message && error->message_capacity > 0) {
        va_list list;
        va_start(list, format);
        vsnprintf(error->message, error->message_capacity, format, list);
        va_end(list);
    }
    return code;
}

static void crash(void)
{
    raise(SIGSEGV);
}

static void slow(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
}

static void hang(void)
{
    for (;;)
        pause();
}

typedef struct mischief {
    const char *name;
    void (*act)(void);
} mischief;

static const mischief mischiefs[] = {
    {"crash", crash}, {"abort", abort}, {"slow", slow}, {"hang", hang}};

void fake_misbehave(const char *how)
{
    for (size_t k = 0; k < sizeof(mischiefs) / sizeof(mischiefs[0]); k++)
        if (strcmp(mischiefs[k].name, how) == 0)
            mischiefs[k].act();
}

static const axle_host *the_host;

static int32_t probe(void)
{
    fake_misbehave(fake.probe);
    return (int32_t)fake.score;
}

static axle_status device_count(uint32_t *out, axle_error *error)
{
    (void)error;
    *out = (uint32_t)fake.devices;
    return AXLE_OK;
}

static axle_status device_info(uint32_t index, axle_device_info *out, axle_error *error)
{
    if (strcmp(fake.info, "fail") == 0 || index >= (uint32_t)fake.devices)
        return fake_fail(error, AXLE_ERR_DEVICE, "fake: device %u tells nothing", index);
    axle_device_info info = {
        .struct_size = out->struct_size,
        .kind = (uint32_t)fake.kind,
        .caps = AXLE_CAP_DETERMINISTIC,
        .mem_total = (uint64_t)fake.mem_total,
        .max_alloc = (uint64_t)fake.max_alloc,
        .base_align = 16,
    };
    if (!fake.missing_slots && !fake_lists(fake.without, "buffer_import"))
        info.caps |= AXLE_CAP_IMPORT_HOST;
    if (fake.visible)
        info.caps |= AXLE_CAP_HOST_VISIBLE;
    if (fake.lazy)
        info.caps |= AXLE_CAP_ASYNC | AXLE_CAP_EVENTS | AXLE_CAP_MULTI_QUEUE;
#define BIT(name, number, bytes, text) | AXLE_DTYPE_BIT(number)
    info.storage_dtypes = 0 AXLE_DTYPE_LIST(BIT);
#undef BIT
    info.compute_dtypes = AXLE_DTYPE_BIT(AXLE_DTYPE_F32);
    snprintf(info.name, sizeof(info.name), "Fake %u", index);
    snprintf(info.description, sizeof(info.description), "a device for tests");
    snprintf(info.driver, sizeof(info.driver), "fake");
    const size_t size = out->struct_size < sizeof(info) ? out->struct_size : sizeof(info);
    memcpy(out, &info, size);
    return AXLE_OK;
}

static axle_status device_open(uint32_t index, axle_be_device **out, axle_error *error)
{
    if (strcmp(fake.open, "fail") == 0 || index >= (uint32_t)fake.devices)
        return fake_fail(error, AXLE_ERR_DEVICE, "fake: device %u does not open", index);
    axle_be_device *device = malloc(sizeof(*device));
    if (!device)
        return fake_fail(error, AXLE_ERR_NOMEM, "fake: no memory for a device");
    device->index = index;
    *out = device;
    return AXLE_OK;
}

static void device_close(axle_be_device *device)
{
    if (fake.leak && AXLE_HAS(the_host, axle_host, alloc))
        the_host->alloc(the_host->ctx, 64, 16);
    free(device);
}

static axle_status set_option(axle_be_device *device, const char *key, const char *value,
                              axle_error *error)
{
    (void)device;
    if (fake_settings_set(key, value))
        return AXLE_OK;
    return fake_fail(error, AXLE_ERR_NOT_FOUND, "fake: there is no setting %s", key);
}

/* The slots, once; a queue needs all of the first group or none. */
#define ASYNC_SLOTS(X)                                                                             \
    X(queue_create)                                                                                \
    X(queue_destroy)                                                                               \
    X(queue_finish)                                                                                \
    X(event_create)                                                                                \
    X(event_destroy)                                                                               \
    X(event_record)                                                                                \
    X(queue_wait)                                                                                  \
    X(event_query)                                                                                 \
    X(event_wait)
#define OPTIONAL_SLOTS(X)                                                                          \
    X(buffer_import)                                                                               \
    X(buffer_map)                                                                                  \
    X(buffer_unmap)                                                                                \
    X(copy)                                                                                        \
    X(fill)                                                                                        \
    X(op_query)                                                                                    \
    X(op_prepare)                                                                                  \
    X(op_run)                                                                                      \
    X(op_release)

static axle_device_api api;

/* Whoever lacks slots lacks them from the start, since the core may keep the table. */
static void api_build(void)
{
    api = (axle_device_api){.struct_size = sizeof(api),
                            .buffer_create = fake_buffer_create,
                            .buffer_destroy = fake_buffer_destroy,
                            .write = fake_write,
                            .read = fake_read,
                            .set_option = set_option};
#define OFFER(slot)                                                                                \
    if (!fake_lists(fake.without, #slot))                                                          \
        api.slot = fake_##slot;
    if (!fake.missing_slots) {
        OPTIONAL_SLOTS(OFFER)
    }
    if (fake.lazy) {
        ASYNC_SLOTS(OFFER)
    }
#undef OFFER
}

static const axle_device_api *device_api(axle_be_device *device)
{
    (void)device;
    return &api;
}

static axle_plugin plugin = {
    .name = "fake",
    .version = "1.0",
    .vendor = "Axle",
    .license = "Apache-2.0",
    .probe = probe,
    .device_count = device_count,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .device_api = device_api,
};

static const char *settings_text(const axle_host *host)
{
    const char *text = AXLE_HAS(host, axle_host, option) ? host->option(host->ctx, "fake") : NULL;
    return text ? text : getenv("AXLE_FAKE");
}

AXLE_PLUGIN_DEFINE(host, error)
{
    the_host = host;
    fake_settings_read(settings_text(host));
    fake_misbehave(fake.init);
    if (strcmp(fake.init, "decline") == 0) {
        fake_fail(error, AXLE_ERR_DEVICE, "fake: declined, as asked");
        return NULL;
    }
    plugin.struct_size =
        fake.short_table ? offsetof(axle_plugin, extension) : (uint32_t)sizeof(plugin);
    plugin.abi_major = (uint32_t)fake.abi;
    plugin.abi_minor = (uint32_t)fake.minor;
    api_build();
    return &plugin;
}
