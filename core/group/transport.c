/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a transport. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/settings.h"
#include "device/elf.h"
#include "device/search.h"
#include "group/group.h"

/* Transports lie in folders of their own, beside those of backends. */
static int find(const char *name, char **out)
{
    axle__list folders;
    int status = axle__search_folders(&folders);
    if (status)
        return axle_error_code();
    status = AXLE_ERR_NOT_FOUND;
    for (size_t k = 0; k < folders.count && status == AXLE_ERR_NOT_FOUND; k++) {
        char *path = axle__format("%s/../collectives/%s.so", folders.item[k], name);
        if (path && access(path, R_OK) == 0) {
            *out = path;
            status = AXLE_OK;
            break;
        }
        axle__free(path);
    }
    if (status)
        status = axle_error_set(AXLE_ERR_NOT_FOUND,
                                "transport '%s' is not installed, so processes can not talk to "
                                "each other; looked for collectives/%s.so beside %s",
                                name, name, folders.count ? folders.item[0] : "the library");
    axle__list_free(&folders);
    return status;
}

static int check(const axle_collective *table, const char *path)
{
    if (table->struct_size < AXLE_FIELD_END(axle_collective, wait) ||
        table->abi_major != AXLE_COLLECTIVE_ABI_MAJOR)
        return axle_error_set(AXLE_ERR_ABI, "transport %s needs interface %u, this Axle offers %u",
                              path, table->abi_major, AXLE_COLLECTIVE_ABI_MAJOR);
    if (!table->name || !table->group_create || !table->group_destroy || !table->send ||
        !table->recv || !table->wait)
        return axle_error_set(AXLE_ERR_ABI, "transport %s lacks a needed slot", path);
    return AXLE_OK;
}

static int open_object(const char *path, const axle_collective **out)
{
    int status = axle__elf_check(path);
    void *object = status ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return status ? status : axle_error_set(AXLE_ERR_IO, "transport %s: %s", path, dlerror());
    axle_collective_init_fn entry = NULL;
    void *address = dlsym(object, AXLE_COLLECTIVE_ENTRY);
    memcpy(&entry, &address, sizeof(entry));
    if (!entry)
        return axle_error_set(AXLE_ERR_ABI, "%s exports no %s, so it is no transport", path,
                              AXLE_COLLECTIVE_ENTRY);
    axle__error_buffer error;
    axle__error_buffer_init(&error);
    const axle_collective *table = entry(axle__host(), &error.error);
    if (!table)
        return axle_error_set(AXLE_ERR_DEVICE, "transport %s declines: %s", path, error.text);
    status = check(table, path);
    if (!status)
        *out = table;
    return status;
}

int axle__transport_load(const axle_collective **out)
{
    const char *name = axle__setting(AXLE_SETTING_TRANSPORT);
    char *path = NULL;
    if (!strchr(name, '/') && !axle__search_is_name(name, strlen(name)))
        return axle_error_set(AXLE_ERR_INVALID, "AXLE_TRANSPORT: '%s' is no name of a transport",
                              name);
    int status = strchr(name, '/') ? AXLE_OK : find(name, &path);
    if (!status)
        status = open_object(path ? path : name, out);
    axle__free(path);
    return status;
}
