/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection: from a specification such as AXLE_BACKEND to an open device. A specification is a list
 * of items that are tried in turn. Each failed try leaves a reason, and the reasons make up the
 * message if nothing works in the end.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/text.h"
#include "device/registry.h"
#include "device/search.h"

static const char blanks[] = " \t";

/* The text of an item cut into parts; they point into it. */
typedef struct item {
    char *backend;  /* name, or path from '/' on */
    char *selector; /* behind the colon; NULL where there is none */
} item;

static char *trim(char *text)
{
    text += strspn(text, blanks);
    size_t length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* Cut a list at its commas; items are trimmed. */
static int split(const char *text, axle__list *out)
{
    axle__list list = {0};
    for (bool more = true; more;) {
        size_t length = strcspn(text, ",");
        char *item = axle__format("%.*s", (int)length, text);
        char *trimmed = item ? trim(item) : NULL;
        if (item)
            memmove(item, trimmed, strlen(trimmed) + 1);
        if (axle__list_take(&list, item)) {
            axle__list_free(&list);
            return AXLE_ERR_NOMEM;
        }
        more = text[length] == ',';
        text += length + more;
    }
    *out = list;
    return AXLE_OK;
}

/* ------------------------------------------------------------------ what is there, for messages */

int axle__select_names(axle__list *out)
{
    axle__list paths, names = {0};
    int code = axle__search_all(&paths);
    if (code)
        return code;
    code = axle__list_take(&names, axle__strdup(AXLE__REFERENCE));
    for (size_t k = 0; k < paths.count && code == AXLE_OK; k++) {
        char *name = axle__search_name_of(paths.item[k]);
        if (name && strcmp(name, AXLE__REFERENCE) == 0)
            axle__free(name); /* a file can not take the built-in backend's place */
        else
            code = axle__list_take(&names, name);
    }
    axle__list_free(&paths);
    if (code) {
        axle__list_free(&names);
        return code;
    }
    *out = names;
    return AXLE_OK;
}

/* "; there are: onednn, reference" */
static void add_names(axle__text *text, const axle__list *names)
{
    for (size_t k = 0; k < names->count; k++)
        axle__text_add(text, "%s%s", k == 0 ? "; there are: " : ", ", names->item[k]);
}

static void add_folders(axle__text *text)
{
    axle__list folders;
    if (axle__search_folders(&folders))
        return;
    for (size_t k = 0; k < folders.count; k++)
        axle__text_add(text, "%s%s", k == 0 ? "; looked in " : ", ", folders.item[k]);
    axle__list_free(&folders);
}

/* A name that is likely to be meant; NULL if none comes near. */
static const char *similar_name(const axle__list *names, const char *name)
{
    int distance, limit = 1 + (int)strlen(name) / 3;
    const char *nearest = axle__list_nearest(names, name, &distance);
    return nearest && distance <= limit ? nearest : NULL;
}

static int no_such_backend(const char *name)
{
    char buffer[AXLE__ERROR_MESSAGE_SIZE];
    axle__text text;
    axle__list names;
    if (axle__select_names(&names))
        return AXLE_ERR_NOMEM;
    axle__text_init(&text, buffer, sizeof(buffer));
    const char *similar = similar_name(&names, name);
    if (similar)
        axle__text_add(&text, " (did you mean '%s'?)", similar);
    add_names(&text, &names);
    add_folders(&text);
    axle__list_free(&names);
    return axle_error_set(AXLE_ERR_NOT_FOUND, "there is no backend '%s'%s", name, buffer);
}

static int can_not_serve(const axle__backend *backend)
{
    char buffer[AXLE__ERROR_MESSAGE_SIZE];
    axle__text text;
    axle__list names;
    if (axle__select_names(&names))
        return AXLE_ERR_NOMEM;
    axle__text_init(&text, buffer, sizeof(buffer));
    add_names(&text, &names);
    axle__list_free(&names);
    return axle_error_set(backend->code, "backend '%s' can not serve: it %s%s",
                          backend->path ? backend->path : backend->name, backend->reason, buffer);
}

static int no_such_device(const axle__backend *backend, const char *selector)
{
    char buffer[AXLE__ERROR_MESSAGE_SIZE];
    axle__text text;
    axle__text_init(&text, buffer, sizeof(buffer));
    for (uint32_t k = 0; k < backend->device_count; k++)
        axle__text_add(&text, "%s%u (%.60s)", k ? ", " : "", k, backend->devices[k].name);
    return axle_error_set(AXLE_ERR_NOT_FOUND, "backend '%s' has no device '%s'; it has: %s",
                          backend->name, selector, buffer);
}

/* ------------------------------------------------------------------ items */

/* A path ends in ".so", which a colon and a selector may follow. */
static int parse_path(char *text, item *out)
{
    char *end = NULL;
    for (char *at = strstr(text, ".so"); at; at = strstr(at + 1, ".so"))
        if (at[3] == '\0' || at[3] == ':')
            end = at + 3;
    if (!end)
        return axle_error_set(AXLE_ERR_INVALID, "'%s' is no path of a .so file", text);
    *out = (item){text, *end ? end + 1 : NULL};
    *end = '\0';
    return AXLE_OK;
}

static int parse_name(char *text, item *out)
{
    size_t length = strcspn(text, ":");
    if (strchr(text, '/'))
        return axle_error_set(AXLE_ERR_INVALID,
                              "'%s' is no name of a backend, and the path of one is absolute",
                              text);
    if (!axle__search_is_name(text, length))
        return axle_error_set(
            AXLE_ERR_INVALID,
            "'%.*s' is no name of a backend: those have lower-case letters, digits "
            "and underscores",
            (int)length, text);
    *out = (item){text, text[length] ? text + length + 1 : NULL};
    text[length] = '\0';
    return AXLE_OK;
}

static int parse_item(char *text, item *out)
{
    if (*text == '\0')
        return axle_error_set(AXLE_ERR_INVALID, "an item is empty");
    if (*text == '^')
        return axle_error_set(AXLE_ERR_INVALID,
                              "'%s': ^ stands before the whole list of what is excluded", text);
    int code = *text == '/' ? parse_path(text, out) : parse_name(text, out);
    if (code == AXLE_OK && out->selector && *out->selector == '\0')
        code = axle_error_set(AXLE_ERR_INVALID, "'%s:' names no device", out->backend);
    return code;
}

/* Whether a device's name contains a text; or, where the text is a kind, is of that kind. */
static bool is_selected(const axle_device_info *info, const char *selector)
{
    static const struct {
        const char *name;
        uint32_t kind;
    } kinds[] = {{"gpu", AXLE_DEVICE_GPU},
                 {"gpu", AXLE_DEVICE_IGPU},
                 {"accelerator", AXLE_DEVICE_ACCELERATOR},
                 {"cpu", AXLE_DEVICE_CPU}};
    bool is_kind = false;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        if (strcasecmp(kinds[k].name, selector) == 0) {
            is_kind = true;
            if (kinds[k].kind == info->kind)
                return true;
        }
    return !is_kind && strcasestr(info->name, selector);
}

/* realpath() has an allocator of its own. */
static int real_path(const char *path, char **out)
{
    char *real = realpath(path, NULL);
    if (!real)
        return axle_error_set(AXLE_ERR_NOT_FOUND, "there is no file '%s'", path);
    char *copy = axle__strdup(real);
    free(real);
    if (!copy)
        return AXLE_ERR_NOMEM;
    *out = copy;
    return AXLE_OK;
}

int axle_backend_path(const char *backend, char **out)
{
    char *found;
    if (!backend || !out)
        return axle_error_set(AXLE_ERR_INVALID, "axle_backend_path: there is no %s",
                              backend ? "place for the path" : "name");
    if (strcmp(backend, AXLE__REFERENCE) == 0) {
        *out = NULL;
        return AXLE_OK;
    }
    if (strchr(backend, '/'))
        return real_path(backend, out);
    if (!axle__search_is_name(backend, strlen(backend)))
        return axle_error_set(AXLE_ERR_INVALID, "'%s' is neither a name nor a path of a backend",
                              backend);
    int code = axle__search_find(backend, &found);
    if (code)
        return code == AXLE_ERR_NOT_FOUND ? no_such_backend(backend) : code;
    code = real_path(found, out);
    axle__free(found);
    return code;
}

/* Number of this process among those of its host. */
static int local_number;

void axle__select_for_process(int number)
{
    __atomic_store_n(&local_number, number, __ATOMIC_RELAXED);
}

static bool is_shared_out(const axle_device_info *info)
{
    return info->kind == AXLE_DEVICE_GPU || info->kind == AXLE_DEVICE_ACCELERATOR;
}

/* The device of a backend where none is named: processes of one host take turns at the GPUs, or
 * other accelerators, that stand beside the first one. */
static uint32_t own_device(const axle__backend *backend)
{
    const axle_device_info *info = backend->devices;
    uint32_t alike = 1, number = (uint32_t)__atomic_load_n(&local_number, __ATOMIC_RELAXED);
    if (!is_shared_out(&info[0]))
        return 0;
    while (alike < backend->device_count && info[alike].kind == info[0].kind)
        alike++;
    return number % alike;
}

static int find_device(const axle__backend *backend, const char *selector, uint32_t *out)
{
    int64_t number;
    if (!selector) {
        *out = own_device(backend);
        return AXLE_OK;
    }
    if (axle__parse_integer(selector, &number)) {
        if (number < 0 || number >= (int64_t)backend->device_count)
            return no_such_device(backend, selector);
        *out = (uint32_t)number;
        return AXLE_OK;
    }
    for (uint32_t k = 0; k < backend->device_count; k++)
        if (is_selected(&backend->devices[k], selector)) {
            *out = k;
            return AXLE_OK;
        }
    return no_such_device(backend, selector);
}

static int open_item(const item *item, axle_device **out)
{
    axle__backend *backend;
    uint32_t index = 0;
    const char *path = *item->backend == '/' ? item->backend : NULL;
    int code = axle__registry_find(path ? NULL : item->backend, path, &backend);
    if (code == AXLE_ERR_NOT_FOUND)
        return path ? axle_error_set(code, "there is no file '%s'", path)
                    : no_such_backend(item->backend);
    if (code)
        return code;
    if (!backend->plugin)
        return can_not_serve(backend);
    code = find_device(backend, item->selector, &index);
    return code ? code : axle__registry_open(backend, index, out);
}

/* ------------------------------------------------------------------ automatic choice */

/* Take the reason of a failed try off the thread's record and add it to the others. */
static void note_reason(axle__text *reasons, const char *prefix)
{
    axle__error_record record;
    axle__error_take(&record);
    axle__text_add(reasons, "%s%s%s", reasons->length ? "; " : "", prefix, record.message);
}

static int open_best(const axle__list *excluded, axle_device **out)
{
    char buffer[AXLE__ERROR_MESSAGE_SIZE];
    axle__text reasons;
    axle__backend **list;
    size_t count;
    int code = axle__registry_all(excluded, &list, &count);
    if (code)
        return code;
    axle__text_init(&reasons, buffer, sizeof(buffer));
    code = AXLE_ERR_NOT_FOUND;
    for (size_t k = 0; k < count && code; k++) {
        code = list[k]->plugin ? axle__registry_open(list[k], own_device(list[k]), out)
                               : can_not_serve(list[k]);
        if (code)
            note_reason(&reasons, "");
    }
    axle__free(list);
    return code ? axle_error_set(code, "no backend works: %s",
                                 count ? buffer : "all that there are were excluded")
                : AXLE_OK;
}

/* Excluded names need not exist, so that one setting serves several machines. */
static int open_excluding(const char *text, axle_device **out)
{
    axle__list names;
    int code = split(text, &names);
    if (code)
        return code;
    for (size_t k = 0; k < names.count && code == AXLE_OK; k++)
        if (!axle__search_is_name(names.item[k], strlen(names.item[k])))
            code = axle_error_set(AXLE_ERR_INVALID, "'%s' is no name of a backend to exclude",
                                  names.item[k]);
    if (code == AXLE_OK)
        code = open_best(&names, out);
    axle__list_free(&names);
    return code;
}

/* ------------------------------------------------------------------ lists */

static int try_item(char *text, axle_device **out)
{
    item item = {0};
    if (strcmp(text, "auto") == 0)
        return open_best(NULL, out);
    int code = parse_item(text, &item);
    return code ? code : open_item(&item, out);
}

/* A mistake in the specification is told at once; what merely does not work is passed over. */
static int open_list(const char *text, axle_device **out)
{
    char buffer[AXLE__ERROR_MESSAGE_SIZE];
    axle__text reasons;
    axle__list items;
    int code = split(text, &items);
    if (code)
        return code;
    axle__text_init(&reasons, buffer, sizeof(buffer));
    code = AXLE_ERR_NOT_FOUND;
    for (size_t k = 0; k < items.count && code; k++) {
        code = try_item(items.item[k], out);
        if (code == AXLE_ERR_INVALID || code == AXLE_ERR_NOMEM)
            break;
        if (code)
            note_reason(&reasons, "");
    }
    axle__list_free(&items);
    return code ? axle_error_set(code, "%s", buffer) : AXLE_OK;
}

void axle__select_load_paths(const char *spec)
{
    axle__error_record outer, inner;
    axle__list items = {0};
    axle__error_take(&outer);
    if (split(spec, &items) == AXLE_OK)
        for (size_t k = 0; k < items.count; k++) {
            item item = {0};
            axle__backend *backend;
            if (*items.item[k] == '/' && parse_item(items.item[k], &item) == AXLE_OK)
                axle__registry_find(NULL, item.backend, &backend);
        }
    axle__list_free(&items);
    axle__error_take(&inner);
    axle__error_restore(&outer);
}

static int open_spec(const char *spec, axle_device **out)
{
    spec += strspn(spec, blanks);
    if (*spec == '\0')
        return open_best(NULL, out);
    return *spec == '^' ? open_excluding(spec + 1, out) : open_list(spec, out);
}

int axle__select(const char *spec, axle_device **out)
{
    axle__error_record outer, inner;
    axle_device *device = NULL;
    bool from_setting = spec == NULL;
    if (from_setting)
        spec = axle__setting(AXLE_SETTING_BACKEND);
    axle__error_take(&outer);
    int code = open_spec(spec, &device);
    axle__error_take(&inner);
    axle__error_restore(&outer);
    if (code)
        return axle_error_set(code, "%s%s%s%s", from_setting ? "AXLE_BACKEND=" : "backend ", spec,
                              ": ", inner.message);
    *out = device;
    return AXLE_OK;
}
