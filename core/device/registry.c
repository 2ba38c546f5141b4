/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "device/registry.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/finalize.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/settings.h"
#include "base/threads.h"
#include "device/hook.h"
#include "device/plugin.h"
#include "device/search.h"

enum { STACK_MAX = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static axle__backend *backends;
static axle_device *devices;
static bool options_checked;
static axle_device *_Atomic default_device, *_Atomic host_device;

/* Devices that this thread pushed. */
static _Thread_local struct {
    int depth;
    axle_device *device[STACK_MAX];
} pushed;

void axle__registry_lock(void)
{
    pthread_mutex_lock(&lock);
}

void axle__registry_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ backends */

static axle__backend *seen_path(const char *path)
{
    axle__backend *backend = backends;
    while (backend && !(backend->path ? path && strcmp(backend->path, path) == 0 : !path))
        backend = backend->next;
    return backend;
}

/* The backend of a file, NULL for the built-in one: seen before, else loaded. */
static int find_path(const char *name, const char *path, axle__backend **out)
{
    axle__backend *backend = seen_path(path);
    if (!backend) {
        int code = axle__plugin_load(name, path, &backend);
        if (code)
            return code;
        backend->next = backends;
        backends = backend;
    }
    *out = backend;
    return AXLE_OK;
}

static int find_name(const char *name, axle__backend **out)
{
    char *path;
    if (strcmp(name, AXLE__REFERENCE) == 0)
        return find_path(name, NULL, out);
    int code = axle__search_find(name, &path);
    if (code)
        return code;
    code = find_path(name, path, out);
    axle__free(path);
    return code;
}

/* One file has one record, however it is spelt. */
static int find_real_path(const char *path, axle__backend **out)
{
    char *real = realpath(path, NULL);
    if (!real)
        return AXLE_ERR_NOT_FOUND;
    int code = find_path(NULL, real, out);
    free(real);
    return code;
}

int axle__registry_find(const char *name, const char *path, axle__backend **out)
{
    axle__settings_check();
    return path ? find_real_path(path, out) : find_name(name, out);
}

/* Usable ones first, by score, then by name, so that the order is the same everywhere. */
static int compare_backends(const void *a, const void *b)
{
    const axle__backend *x = *(axle__backend *const *)a, *y = *(axle__backend *const *)b;
    if (!x->plugin != !y->plugin)
        return x->plugin ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool is_skipped(const axle__list *skip, const char *name)
{
    for (size_t k = 0; skip && k < skip->count; k++)
        if (strcmp(skip->item[k], name) == 0)
            return true;
    return false;
}

/* Add the backend of `path` to the list, unless its name is to be skipped. */
static int collect(const char *path, const axle__list *skip, axle__backend **list, size_t *count)
{
    char *name = path ? axle__search_name_of(path) : axle__strdup(AXLE__REFERENCE);
    int code = name ? AXLE_OK : AXLE_ERR_NOMEM;
    /* A file cannot take the built-in backend's place. */
    bool shadowed = name && path && strcmp(name, AXLE__REFERENCE) == 0;
    if (code == AXLE_OK && !shadowed && !is_skipped(skip, name)) {
        code = find_path(name, path, &list[*count]);
        *count += code == AXLE_OK;
    }
    axle__free(name);
    return code;
}

int axle__registry_all(const axle__list *skip, axle__backend ***out, size_t *count)
{
    axle__list paths;
    axle__settings_check();
    int code = axle__search_all(&paths);
    if (code)
        return code;
    size_t found = 0;
    axle__backend **list = axle__alloc(paths.count + 1, sizeof(axle__backend *));
    code = list ? collect(NULL, skip, list, &found) : AXLE_ERR_NOMEM;
    for (size_t k = 0; k < paths.count && code == AXLE_OK; k++)
        code = collect(paths.item[k], skip, list, &found);
    axle__list_free(&paths);
    if (code) {
        axle__free(list);
        return code;
    }
    qsort(list, found, sizeof(axle__backend *), compare_backends);
    *out = list;
    *count = found;
    return AXLE_OK;
}

static bool is_listed(axle__backend *const *list, size_t count, const axle__backend *backend)
{
    for (size_t k = 0; k < count; k++)
        if (list[k] == backend)
            return true;
    return false;
}

int axle__registry_known(axle__backend ***out, size_t *count)
{
    axle__backend **list;
    size_t found, room;
    axle__select_load_paths(axle__setting(AXLE_SETTING_BACKEND));
    int code = axle__registry_all(NULL, &list, &found);
    if (code)
        return code;
    room = found;
    for (const axle__backend *b = backends; b; b = b->next)
        room++;
    axle__backend **all = axle__resize(list, room, sizeof(*all));
    if (!all) {
        axle__free(list);
        return AXLE_ERR_NOMEM;
    }
    for (axle__backend *b = backends; b; b = b->next)
        if (!is_listed(all, found, b))
            all[found++] = b;
    axle__registry_check_options();
    *out = all;
    *count = found;
    return AXLE_OK;
}

void axle__registry_check_options(void)
{
    axle__list names;
    if (options_checked || !*axle__setting(AXLE_SETTING_OPTIONS))
        return;
    options_checked = true;
    if (axle__select_names(&names))
        return;
    for (const axle__backend *b = backends; b; b = b->next)
        axle__list_take(&names, axle__strdup(b->name));
    axle__options_check_names(&names);
    axle__list_free(&names);
}

/* ------------------------------------------------------------------ devices */

int axle__registry_open(axle__backend *backend, uint32_t index, axle_device **out)
{
    axle_device *device = devices;
    while (device && (device->plugin != backend->plugin || device->index != index))
        device = device->next;
    if (!device) {
        int code = axle__device_create(backend, index, &device);
        if (code)
            return code;
        device->next = devices;
        devices = device;
        axle__debug("device", "opened %s: %s", device->plugin->name, device->info.name);
    }
    *out = device;
    return AXLE_OK;
}

/* Hooks are on before the first device: what AXLE_HOOK asks for is not a matter of one backend. */
static int select_device(const char *spec, axle_device **out)
{
    int code = axle__hooks_start();
    if (!code)
        code = axle__select(spec, out);
    if (!code)
        axle__registry_check_options();
    return code;
}

int axle_device_open(const char *spec, axle_device **out)
{
    if (!out)
        return axle_error_set(AXLE_ERR_INVALID,
                              "axle_device_open: there is no place for the device");
    axle__registry_lock();
    int code = select_device(spec, out);
    axle__registry_unlock();
    return code;
}

static int open_host(axle_device **out)
{
    axle__backend *backend;
    int code = axle__hooks_start();
    if (code == AXLE_OK)
        code = axle__registry_find(AXLE__REFERENCE, NULL, &backend);
    return code ? code : axle__registry_open(backend, 0, out);
}

axle_device *axle_device_host(void)
{
    axle_device *device = atomic_load_explicit(&host_device, memory_order_acquire);
    if (device)
        return device;
    axle__registry_lock();
    if (open_host(&device) == AXLE_OK)
        atomic_store_explicit(&host_device, device, memory_order_release);
    axle__registry_unlock();
    return device;
}

/* Another thread may have opened it, or set one, since the caller looked. */
static axle_device *open_default(void)
{
    axle__registry_lock();
    axle_device *device = atomic_load(&default_device);
    if (!device && select_device(NULL, &device) == AXLE_OK)
        atomic_store_explicit(&default_device, device, memory_order_release);
    axle__registry_unlock();
    return device;
}

axle_device *axle_device_current(void)
{
    if (pushed.depth > 0)
        return pushed.device[pushed.depth - 1];
    axle_device *device = atomic_load_explicit(&default_device, memory_order_acquire);
    return device ? device : open_default();
}

int axle_device_push(axle_device *device)
{
    if (!device)
        return axle_error_set(AXLE_ERR_INVALID, "axle_device_push: there is no device");
    if (pushed.depth == STACK_MAX)
        return axle_error_set(AXLE_ERR_STATE, "axle_device_push: %d devices are pushed already",
                              STACK_MAX);
    pushed.device[pushed.depth++] = device;
    return AXLE_OK;
}

void axle_device_pop(void)
{
    if (pushed.depth > 0)
        pushed.depth--;
}

int axle_device_set_default(axle_device *device)
{
    if (!device)
        return axle_error_set(AXLE_ERR_INVALID, "axle_device_set_default: there is no device");
    axle__registry_lock();
    atomic_store_explicit(&default_device, device, memory_order_release);
    axle__registry_unlock();
    return AXLE_OK;
}

/* ------------------------------------------------------------------ the end */

static void close_devices(void)
{
    atomic_store(&default_device, NULL);
    atomic_store(&host_device, NULL);
    options_checked = false;
    while (devices) {
        axle_device *device = devices;
        devices = device->next;
        axle__device_destroy(device);
    }
}

static void close_backends(void)
{
    while (backends) {
        axle__backend *backend = backends;
        backends = backend->next;
        if (backend->plugin && AXLE_HAS(backend->plugin, axle_plugin, shutdown))
            backend->plugin->shutdown();
        axle__plugin_forget(backend);
    }
}

/* What uses devices goes first, then devices, then backends, last the threads that they work with.
 */
void axle_finalize(void)
{
    axle__finalize_run();
    axle__registry_lock();
    pushed.depth = 0;
    close_devices();
    close_backends();
    axle__hooks_stop();
    axle__registry_unlock();
    axle__threads_stop();
}
