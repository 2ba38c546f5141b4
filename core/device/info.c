/* SPDX-License-Identifier: Apache-2.0 */
/* axle_info_json(): this installation, described for people and programs. */
#include "config.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/threads.h"
#include "device/registry.h"
#include "device/search.h"
#include "device/survey.h"

/* Jansson takes NULL for a value as failure and passes it up, so one check at the end is enough. */
static bool put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

/* Drivers are free with their bytes; JSON wants UTF-8. */
static json_t *text(const char *value)
{
    json_t *string = json_string(value ? value : "");
    return string ? string : json_string("(not UTF-8)");
}

static json_t *describe_build(void)
{
    json_t *build = json_object();
    bool complete = build != NULL;
#ifdef AXLE_BUILD_OPTIONS
#define PUT_OPTION(label, value) complete = complete && put(build, label, text(value));
    AXLE_BUILD_OPTIONS(PUT_OPTION)
#undef PUT_OPTION
#endif
    if (complete)
        return build;
    json_decref(build);
    return NULL;
}

static json_t *describe_library(void)
{
    char *path;
    if (axle__search_library(&path))
        return json_null();
    json_t *value = text(path);
    axle__free(path);
    return value;
}

static json_t *describe_search_path(void)
{
    axle__list folders;
    if (axle__search_folders(&folders))
        return NULL;
    json_t *array = json_array();
    for (size_t k = 0; k < folders.count; k++)
        json_array_append_new(array, text(folders.item[k]));
    axle__list_free(&folders);
    return array;
}

static json_t *describe_dtypes(uint64_t mask)
{
    json_t *array = json_array();
#define PUT_DTYPE(name, number, bytes, label)                                                      \
    if (mask & AXLE_DTYPE_BIT(number))                                                             \
        json_array_append_new(array, json_string(label));
    AXLE_DTYPE_LIST(PUT_DTYPE)
#undef PUT_DTYPE
    return array;
}

static const char *kind_name(uint32_t kind)
{
    static const char *const names[] = {
        [AXLE_DEVICE_CPU] = "cpu",
        [AXLE_DEVICE_GPU] = "gpu",
        [AXLE_DEVICE_IGPU] = "integrated gpu",
        [AXLE_DEVICE_ACCELERATOR] = "accelerator",
    };
    return kind > 0 && kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

static json_t *describe_caps(uint64_t caps)
{
    static const char *const names[] = {"async",       "events",   "host visible",  "import host",
                                        "multi queue", "own pool", "deterministic", "fork unsafe"};
    json_t *array = json_array();
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        if (caps >> k & 1)
            json_array_append_new(array, json_string(names[k]));
    return array;
}

static json_t *describe_device(const axle_device_info *info)
{
    return json_pack("{s:o, s:s, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "name", text(info->name),
                     "kind", kind_name(info->kind), "description", text(info->description),
                     "driver", text(info->driver), "memory_bytes", (json_int_t)info->mem_total,
                     "memory_free_bytes", (json_int_t)info->mem_free, "largest_buffer_bytes",
                     (json_int_t)info->max_alloc, "dtypes", describe_dtypes(info->compute_dtypes),
                     "storage_dtypes", describe_dtypes(info->storage_dtypes), "capabilities",
                     describe_caps(info->caps));
}

static json_t *describe_support(axle_device *device)
{
    json_t *array = json_array();
#define PUT_SUPPORTED(number, name, label, n_in, n_out)                                            \
    if (axle__survey_supports(device, number, AXLE_DTYPE_F32))                                     \
        json_array_append_new(array, json_string(label));
    AXLE_OP_LIST(PUT_SUPPORTED)
#undef PUT_SUPPORTED
    return array;
}

/* Operators are known to open devices only; one that does not open says why. */
static bool put_support(json_t *object, axle__backend *backend, uint32_t index)
{
    axle__error_record outer, inner;
    axle_device *device;
    axle__error_take(&outer);
    int code = axle__registry_open(backend, index, &device);
    axle__error_take(&inner);
    axle__error_restore(&outer);
    return code ? put(object, "error", text(inner.message))
                : put(object, "operators", describe_support(device));
}

static json_t *describe_devices(axle__backend *backend)
{
    json_t *array = json_array();
    for (uint32_t k = 0; k < backend->device_count; k++) {
        json_t *device = describe_device(&backend->devices[k]);
        if (!device || !put_support(device, backend, k)) {
            json_decref(device);
            json_decref(array);
            return NULL;
        }
        json_array_append_new(array, device);
    }
    return array;
}

static json_t *describe_findings(const char *findings)
{
    json_t *array = json_array();
    for (const char *line = findings; array && line && *line;) {
        size_t length = strcspn(line, "\n");
        json_t *string = json_stringn(line, length);
        json_array_append_new(array, string ? string : text(NULL));
        line += length + (line[length] != '\0');
    }
    return array;
}

static json_t *describe_backend(axle__backend *backend)
{
    json_t *object = json_pack("{s:o, s:o}", "name", text(backend->name), "path",
                               backend->path ? text(backend->path) : json_null());
    bool complete = object != NULL;
    if (backend->plugin) {
        const axle_plugin *plugin = backend->plugin;
        bool has_version = AXLE_HAS(plugin, axle_plugin, version);
        complete =
            complete && put(object, "status", json_string("ok")) &&
            put(object, "version", text(has_version ? plugin->version : "")) &&
            put(object, "interface", json_sprintf("%u.%u", plugin->abi_major, plugin->abi_minor)) &&
            put(object, "score", json_integer(backend->score)) &&
            put(object, "devices", describe_devices(backend));
    } else {
        complete = complete && put(object, "status", json_string("rejected")) &&
                   put(object, "reason", json_sprintf("it %s", backend->reason));
    }
    complete = complete && put(object, "findings", describe_findings(backend->findings));
    if (complete)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *describe_backends(void)
{
    axle__backend **list;
    size_t count;
    axle__registry_lock();
    if (axle__registry_known(&list, &count)) {
        axle__registry_unlock();
        return NULL;
    }
    json_t *array = json_array();
    for (size_t k = 0; k < count && array; k++)
        if (json_array_append_new(array, describe_backend(list[k])) != 0) {
            json_decref(array);
            array = NULL;
        }
    axle__registry_unlock();
    axle__free(list);
    return array;
}

static json_t *describe_operators(void)
{
    json_t *array = json_array();
#define PUT_OPERATOR(number, name, label, n_in, n_out)                                             \
    json_array_append_new(array, json_string(label));
    AXLE_OP_LIST(PUT_OPERATOR)
#undef PUT_OPERATOR
    return array;
}

static json_t *describe_settings(void)
{
    json_t *array = json_array();
    for (int k = 0; k < AXLE_SETTING_COUNT; k++) {
        const axle__setting_info *about = axle__setting_describe(k);
        json_t *item = json_pack("{s:s, s:o, s:s, s:b, s:s}", "name", about->name, "value",
                                 text(axle__setting_shown(k)), "default", about->fallback, "given",
                                 axle__setting_given(k), "help", about->help);
        if (json_array_append_new(array, item) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *describe_all(void)
{
    json_t *info = json_object();
    if (info && put(info, "version", json_string(axle_version())) &&
        put(info, "build", describe_build()) && put(info, "library", describe_library()) &&
        put(info, "search_path", describe_search_path()) &&
        put(info, "cores", json_integer(axle__usable_cores(NULL))) &&
        put(info, "threads", json_integer(axle__worker_count())) &&
        put(info, "backends", describe_backends()) &&
        put(info, "operators", describe_operators()) && put(info, "settings", describe_settings()))
        return info;
    json_decref(info);
    return NULL;
}

int axle_info_json(char **out)
{
    if (!out)
        return axle_error_set(AXLE_ERR_INVALID, "axle_info_json: there is no place for the text");
    json_t *info = describe_all();
    char *dump = info ? json_dumps(info, JSON_INDENT(2) | JSON_ENSURE_ASCII) : NULL;
    json_decref(info);
    char *copy = dump ? axle__strdup(dump) : NULL; /* Jansson may have an allocator of its own */
    free(dump);
    if (!copy)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory while this installation is described");
    *out = copy;
    return AXLE_OK;
}
