/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libaxle opens its backends when it was itself loaded privately, as ctypes and other language
 * bindings do: nothing relies on symbols of the global scope.
 */
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int open_fn(const char *spec, void **out);
typedef const char *message_fn(void);

static int count;

static int check(int passed, const char *name)
{
    printf("%s %d - %s\n", passed ? "ok" : "not ok", ++count, name);
    return passed;
}

static void *load(const char *folder)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/.libs/libaxle.so.0", folder);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* ISO C has no conversion from the pointer that dlsym() returns to one to a function. */
static void find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    memcpy(function, &address, sizeof address);
}

static void opens(void *library, const char *backend)
{
    open_fn *open_device = NULL;
    message_fn *message = NULL;
    void *device = NULL;

    find(library, "axle_device_open", &open_device);
    find(library, "axle_error_message", &message);
    if (!open_device || !message)
        check(0, "the library's functions are found");
    else if (open_device(backend, &device) != 0 &&
             strstr(message(), "finds nothing on this machine"))
        printf("ok %d - %s # SKIP it finds no device\n", ++count, backend);
    else if (!check(device != NULL, backend))
        printf("# %s\n", message());
}

int main(void)
{
    const char *folder = getenv("top_builddir");
    void *library = load(folder ? folder : ".");

    if (!check(library != NULL, "the library loads into a scope of its own"))
        printf("# %s\n", dlerror());
    check(dlsym(RTLD_DEFAULT, "axle_version") == NULL, "the global scope does not see it");
    if (library) {
        opens(library, "reference");
#ifdef WITH_ONEDNN
        opens(library, "onednn");
#endif
#ifdef WITH_OPENCL
        opens(library, "opencl");
#endif
    }
    printf("1..%d\n", count);
    return 0;
}
