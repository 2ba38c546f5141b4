/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading a backend: open the file, check that its interface fits, ask it what it has to offer.
 * Each step that fails records why, and the record becomes the reason that the backend keeps.
 */
#define _GNU_SOURCE 1
#include "device/plugin.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"
#include "device/elf.h"
#include "device/guard.h"
#include "device/search.h"

enum {
    DEVICES_MAX = 1024,   /* more is a plugin's mistake */
    STRUCT_MAX = 1 << 16, /* so is a larger table */
    SCORE_UNASKED = 1,    /* of a backend without probe */
    SCORE_REFERENCE = 10
};

/* A machine on which many processes start at once is slow at loading drivers, and a backend that is
 * given up too early is missing without need. */
static atomic_int limit_ms = 30000;

void axle__plugin_set_limit(int ms)
{
    atomic_store(&limit_ms, ms);
}

/* What the first calls of a backend bring. They run guarded, so they only fill this. */
typedef struct first_call {
    axle_plugin_init_fn init;
    const axle_plugin *plugin;
    int32_t score;
    uint32_t count, k;
    axle_device_info *devices;
    const char *name;     /* that the plugin must have; NULL for any */
    const char *findings; /* the plugin's; NULL for none */
    const char *options;  /* as well */
    int checked;          /* what check_table says */
    bool broken;          /* it crashed or hung: never call it again */
    axle_status status;
    axle__error_buffer error;
} first_call;

/* A function of the object; ISO C has no cast from what dlsym returns. */
static axle_plugin_init_fn entry_of(void *object, const char *symbol)
{
    axle_plugin_init_fn entry = NULL;
    void *address = dlsym(object, symbol);
    memcpy(&entry, &address, sizeof(entry));
    return entry;
}

/* The entry's name ends in the major version, so one for another version can be told from no
 * plugin. */
static int no_entry(void *object)
{
    for (unsigned major = 0; major < 32; major++) {
        char symbol[40];
        snprintf(symbol, sizeof(symbol), "axle_plugin_init_v%u", major);
        if (major != AXLE_ABI_MAJOR && dlsym(object, symbol))
            return axle_error_set(AXLE_ERR_ABI, "needs interface %u, this Axle offers %u", major,
                                  AXLE_ABI_MAJOR);
    }
    return axle_error_set(AXLE_ERR_ABI, "exports no %s, so it is no backend", AXLE_PLUGIN_ENTRY);
}

/* Objects stay open, since what they hand out is used until the process ends. */
static int open_object(const char *path, axle_plugin_init_fn *out)
{
    int code = axle__elf_check(path);
    if (code)
        return code;
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        const char *why = dlerror();
        return axle_error_set(AXLE_ERR_DEVICE, "can not be loaded: %s", why ? why : path);
    }
    axle_plugin_init_fn entry = entry_of(object, AXLE_PLUGIN_ENTRY);
    if (!entry)
        return no_entry(object);
    *out = entry;
    return AXLE_OK;
}

static int check_slots(const axle_plugin *plugin)
{
    const char *missing = NULL;
    if (!AXLE_HAS(plugin, axle_plugin, device_api))
        missing = "device_api";
    if (!AXLE_HAS(plugin, axle_plugin, device_open))
        missing = "device_open";
    if (!AXLE_HAS(plugin, axle_plugin, device_info))
        missing = "device_info";
    return missing ? axle_error_set(AXLE_ERR_ABI, "lacks the slot %s", missing) : AXLE_OK;
}

static int check_table(const axle_plugin *plugin, const char *name)
{
    if (plugin->struct_size < AXLE_FIELD_END(axle_plugin, name) || plugin->struct_size > STRUCT_MAX)
        return axle_error_set(AXLE_ERR_ABI, "its table claims %u bytes, which can not be",
                              plugin->struct_size);
    if (plugin->abi_major != AXLE_ABI_MAJOR)
        return axle_error_set(AXLE_ERR_ABI, "needs interface %u, this Axle offers %u",
                              plugin->abi_major, AXLE_ABI_MAJOR);
    if (!plugin->name || !axle__search_is_name(plugin->name, strlen(plugin->name)))
        return axle_error_set(AXLE_ERR_ABI, "calls itself '%s', which is no lower-case word",
                              plugin->name ? plugin->name : "");
    if (name && strcmp(name, plugin->name) != 0)
        return axle_error_set(AXLE_ERR_ABI, "calls itself '%s', but its file is '%s.so'",
                              plugin->name, name);
    return check_slots(plugin);
}

static void call_init(void *arg)
{
    first_call *call = arg;
    call->plugin = call->init(axle__host(), &call->error.error);
}

static void call_check(void *arg)
{
    first_call *call = arg;
    call->checked = check_table(call->plugin, call->name);
}

static void call_probe(void *arg)
{
    first_call *call = arg;
    call->score =
        AXLE_HAS(call->plugin, axle_plugin, probe) ? call->plugin->probe() : SCORE_UNASKED;
}

static void call_extension(void *arg)
{
    first_call *call = arg;
    call->findings = call->plugin->extension(AXLE_EXTENSION_FINDINGS);
    call->options = call->plugin->extension(AXLE_EXTENSION_OPTIONS);
}

static void call_count(void *arg)
{
    first_call *call = arg;
    call->count = 1;
    if (AXLE_HAS(call->plugin, axle_plugin, device_count))
        call->status = call->plugin->device_count(&call->count, &call->error.error);
}

static void call_info(void *arg)
{
    first_call *call = arg;
    for (call->k = 0; call->k < call->count && call->status == AXLE_OK; call->k++)
        call->status =
            call->plugin->device_info(call->k, &call->devices[call->k], &call->error.error);
}

/* Run one of the above; `doing` completes "crashed in". The built-in backend needs no guard. */
static int guarded(first_call *call, void (*fn)(void *), const char *doing, bool trusted)
{
    axle__error_buffer_init(&call->error);
    call->status = AXLE_OK;
    int outcome = 0;
    if (trusted)
        fn(call);
    else
        outcome = axle__guard_call(fn, call, atomic_load(&limit_ms));
    call->broken = outcome != 0;
    if (outcome == AXLE__GUARD_TIMEOUT)
        return axle_error_set(AXLE_ERR_TIMEOUT, "did not return from %s within %d seconds", doing,
                              atomic_load(&limit_ms) / 1000);
    if (outcome != 0)
        return axle_error_set(AXLE_ERR_DEVICE, "crashed in %s (%s)", doing,
                              axle__guard_signal_name(outcome));
    if (call->status != AXLE_OK)
        return axle_error_set(AXLE_ERR_DEVICE, "fails in %s: %s", doing,
                              call->error.text[0] ? call->error.text
                                                  : axle_status_text(call->status));
    return AXLE_OK;
}

static int read_devices(first_call *call, bool trusted)
{
    int code = guarded(call, call_count, "device_count", trusted);
    if (code)
        return code;
    if (call->count == 0 || call->count > DEVICES_MAX)
        return axle_error_set(AXLE_ERR_DEVICE, "offers %u devices", call->count);
    call->devices = axle__alloc(call->count, sizeof(*call->devices));
    if (!call->devices)
        return AXLE_ERR_NOMEM;
    for (uint32_t k = 0; k < call->count; k++)
        call->devices[k].struct_size = sizeof(*call->devices);
    code = guarded(call, call_info, "device_info", trusted);
    for (uint32_t k = 0; k < call->count; k++) {
        axle_device_info *info = &call->devices[k];
        info->name[sizeof(info->name) - 1] = '\0';
        info->description[sizeof(info->description) - 1] = '\0';
        info->driver[sizeof(info->driver) - 1] = '\0';
    }
    return code;
}

/* A plugin that serves nothing says why in its findings, if it can. */
static int finds_nothing(const first_call *call)
{
    char why[AXLE__ERROR_MESSAGE_SIZE];
    axle__text text;
    axle__text_init(&text, why, sizeof(why));
    for (const char *line = call->findings; line && *line;) {
        int length = (int)strcspn(line, "\n");
        axle__text_add(&text, "%s%.*s", text.length ? "; " : ": ", length, line);
        line += length + (line[length] != '\0');
    }
    return axle_error_set(AXLE_ERR_DEVICE, "finds nothing on this machine that it can use%s", why);
}

static int ask(first_call *call, bool trusted)
{
    int code = guarded(call, call_init, AXLE_PLUGIN_ENTRY, trusted);
    if (code)
        return code;
    if (!call->plugin)
        return axle_error_set(AXLE_ERR_DEVICE, "declines: %s",
                              call->error.text[0] ? call->error.text : "without a reason");
    code = guarded(call, call_check, "its table", trusted);
    if (code == AXLE_OK)
        code = call->checked;
    if (code == AXLE_OK)
        code = guarded(call, call_probe, "probe", trusted);
    if (code == AXLE_OK && AXLE_HAS(call->plugin, axle_plugin, extension))
        code = guarded(call, call_extension, "extension", trusted);
    if (code == AXLE_OK && call->score <= 0)
        code = finds_nothing(call);
    return code ? code : read_devices(call, trusted);
}

static int load(const char *name, axle__backend *backend)
{
    first_call call = {.init = axle__reference_init, .name = name};
    bool trusted = backend->path == NULL;
    int code = trusted ? AXLE_OK : open_object(backend->path, &call.init);
    if (code == AXLE_OK)
        code = ask(&call, trusted);
    if (call.findings && !call.broken && !(backend->findings = axle__strdup(call.findings)))
        code = AXLE_ERR_NOMEM;
    if (code == AXLE_OK && !backend->name)
        code = (backend->name = axle__strdup(call.plugin->name)) ? AXLE_OK : AXLE_ERR_NOMEM;
    if (code) {
        axle__free(call.devices);
        backend->broken = call.broken;
        return code;
    }
    if (call.options)
        axle__options_check(backend->name, call.options);
    backend->plugin = call.plugin;
    backend->score = trusted ? SCORE_REFERENCE : call.score;
    backend->device_count = call.count;
    backend->devices = call.devices;
    return AXLE_OK;
}

/* Keep why a backend is of no use. What broke is worth a warning, what merely can not serve is not.
 */
static int reject(axle__backend *backend, int code)
{
    axle__error_record record;
    axle__error_take(&record);
    if (!backend->name)
        backend->name = axle__search_name_of(backend->path);
    backend->reason = axle__strdup(record.message);
    if (!backend->name || !backend->reason)
        return AXLE_ERR_NOMEM;
    backend->code = code;
    axle_log_write(backend->broken ? AXLE_LOG_WARN : AXLE_LOG_DEBUG, "device",
                   "backend '%s' (%s) is not used: it %s", backend->name,
                   backend->path ? backend->path : "built in", record.message);
    return AXLE_OK;
}

int axle__plugin_load(const char *name, const char *path, axle__backend **out)
{
    axle__error_record outer;
    axle__error_take(&outer);
    axle__backend *backend = axle__alloc(1, sizeof(*backend));
    int code = backend ? AXLE_OK : AXLE_ERR_NOMEM;
    if (code == AXLE_OK && ((name && !(backend->name = axle__strdup(name))) ||
                            (path && !(backend->path = axle__strdup(path)))))
        code = AXLE_ERR_NOMEM;
    if (code == AXLE_OK)
        code = load(name, backend);
    if (code && code != AXLE_ERR_NOMEM)
        code = reject(backend, code);
    if (code)
        axle__plugin_forget(backend);
    else
        *out = backend;
    if (code == AXLE_OK || outer.code)
        axle__error_restore(&outer);
    return code;
}

void axle__plugin_forget(axle__backend *backend)
{
    if (!backend)
        return;
    axle__free(backend->devices);
    axle__free(backend->findings);
    axle__free(backend->reason);
    axle__free(backend->path);
    axle__free(backend->name);
    axle__free(backend);
}
