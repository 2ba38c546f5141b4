/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search path of backends: AXLE_PLUGIN_PATH, then folders beside the library itself, so that a
 * tree that was moved works, then the folder it was configured for. Beside the library means
 * axle/backends, which is where both `make` and `make install` put them relative to libaxle.so, and
 * backends.
 */
#define _GNU_SOURCE 1
#include "device/search.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "axle/status.h"
#include "base/memory.h"
#include "base/settings.h"

bool axle__search_is_name(const char *text, size_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    return length > 0 && strspn(text, letters) >= length;
}

int axle__search_library(char **out)
{
    static const char inside = 0;
    Dl_info info;
    char real[PATH_MAX];
    if (!dladdr(&inside, &info) || !info.dli_fname || !realpath(info.dli_fname, real))
        return AXLE_ERR_NOT_FOUND;
    char *copy = axle__strdup(real);
    if (!copy)
        return AXLE_ERR_NOMEM;
    *out = copy;
    return AXLE_OK;
}

/* Each folder between colons; relative ones count from the working folder, as in PATH. */
static int add_setting(axle__list *list)
{
    const char *text = axle__setting(AXLE_SETTING_PLUGIN_PATH);
    while (*text) {
        size_t length = strcspn(text, ":");
        if (length > 0 && axle__list_take(list, axle__format("%.*s", (int)length, text)))
            return AXLE_ERR_NOMEM;
        text += length + (text[length] == ':');
    }
    return AXLE_OK;
}

static int add_beside_library(axle__list *list)
{
    char *library;
    int code = axle__search_library(&library);
    if (code == AXLE_ERR_NOT_FOUND)
        return AXLE_OK;
    if (code)
        return code;
    char *slash = strrchr(library, '/');
    *slash = '\0';
    code = axle__list_take(list, axle__format("%s/axle/backends", library));
    if (code == AXLE_OK)
        code = axle__list_take(list, axle__format("%s/backends", library));
    axle__free(library);
    return code;
}

/* A folder that is named twice would only be listed twice. */
static int add_configured(axle__list *list)
{
#ifdef AXLE_PKGLIBDIR
    for (size_t k = 0; k < list->count; k++)
        if (strcmp(list->item[k], AXLE_PKGLIBDIR "/backends") == 0)
            return AXLE_OK;
    return axle__list_take(list, axle__strdup(AXLE_PKGLIBDIR "/backends"));
#else
    (void)list;
    return AXLE_OK;
#endif
}

int axle__search_folders(axle__list *out)
{
    axle__list list = {0};
    if (add_setting(&list) || add_beside_library(&list) || add_configured(&list)) {
        axle__list_free(&list);
        return AXLE_ERR_NOMEM;
    }
    *out = list;
    return AXLE_OK;
}

int axle__search_find(const char *name, char **out)
{
    axle__list folders;
    int code = axle__search_folders(&folders);
    if (code)
        return code;
    code = AXLE_ERR_NOT_FOUND;
    for (size_t k = 0; k < folders.count && code == AXLE_ERR_NOT_FOUND; k++) {
        char *path = axle__format("%s/%s.so", folders.item[k], name);
        if (path && access(path, F_OK) == 0) {
            *out = path;
            code = AXLE_OK;
            break;
        }
        if (!path)
            code = AXLE_ERR_NOMEM;
        axle__free(path);
    }
    axle__list_free(&folders);
    return code;
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *axle__search_name_of(const char *path)
{
    const char *file = file_of(path);
    size_t length = strlen(file);
    if (length > 3 && strcmp(file + length - 3, ".so") == 0)
        length -= 3;
    return axle__format("%.*s", (int)length, file);
}

static bool is_backend_file(const char *file)
{
    size_t length = strlen(file);
    return length > 3 && strcmp(file + length - 3, ".so") == 0 &&
           axle__search_is_name(file, length - 3);
}

static bool is_listed(const axle__list *list, const char *file)
{
    for (size_t k = 0; k < list->count; k++)
        if (strcmp(file_of(list->item[k]), file) == 0)
            return true;
    return false;
}

static int add_folder(axle__list *list, const char *folder)
{
    DIR *dir = opendir(folder);
    int code = AXLE_OK;
    if (!dir)
        return AXLE_OK;
    for (struct dirent *entry; code == AXLE_OK && (entry = readdir(dir)) != NULL;)
        if (is_backend_file(entry->d_name) && !is_listed(list, entry->d_name))
            code = axle__list_take(list, axle__format("%s/%s", folder, entry->d_name));
    closedir(dir);
    return code;
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(file_of(*(char *const *)a), file_of(*(char *const *)b));
}

int axle__search_all(axle__list *out)
{
    axle__list folders, list = {0};
    int code = axle__search_folders(&folders);
    if (code)
        return code;
    for (size_t k = 0; k < folders.count && code == AXLE_OK; k++)
        code = add_folder(&list, folders.item[k]);
    axle__list_free(&folders);
    if (code) {
        axle__list_free(&list);
        return code;
    }
    if (list.count > 0)
        qsort(list.item, list.count, sizeof(*list.item), compare_files);
    *out = list;
    return AXLE_OK;
}
