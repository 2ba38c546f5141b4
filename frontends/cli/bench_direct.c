/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules that call oneDNN or Gloo directly. libaxle does not link them, and neither does this
 * command: a module lies in Axle's library folder if the build had its library, and beside the
 * bench sources in a build tree.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static struct {
    void *(*create)(const char *what, const int64_t sizes[3], int threads);
    int (*run)(void *workload);
    void (*release)(void *workload);
} module;

/* Folder of libaxle; "" where it is unknown. */
static void library_folder(char *out, size_t size)
{
    Dl_info info;
    char real[PATH_MAX];
    *out = '\0';
    void *address;
    const char *(*function)(void) = axle_version;
    memcpy(&address, &function, sizeof(address));
    if (!dladdr(address, &info) || !info.dli_fname || !realpath(info.dli_fname, real))
        return;
    char *slash = strrchr(real, '/');
    if (slash)
        *slash = '\0';
    snprintf(out, size, "%s", real);
}

void *bench_module_open(const char *name)
{
    static const char *const places[] = {"axle", "../bench/.libs"};
    char folder[PATH_MAX], path[PATH_MAX + 64];
    library_folder(folder, sizeof(folder));
    for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
        snprintf(path, sizeof(path), "%s/%s/axle-bench-%s.so", folder, places[k], name);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    return NULL;
}

/* ISO C has no conversion from an object's address to a function's; POSIX says that they look
 * alike. */
int bench_module_find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof(address));
    return address != NULL;
}

/* The module stays open: nothing is gained by closing it. */
static int is_loaded(void)
{
    static int tried, loaded;
    if (!tried) {
        void *library = bench_module_open("onednn");
        tried = 1;
        loaded = library && bench_module_find(library, "axle_bench_create", &module.create) &&
                 bench_module_find(library, "axle_bench_run", &module.run) &&
                 bench_module_find(library, "axle_bench_release", &module.release);
    }
    return loaded;
}

bench_work bench_direct_create(const char *what, const int64_t sizes[3])
{
    bench_work none = {NULL, NULL, NULL};
    if (!is_loaded())
        return none;
    void *workload = module.create(what, sizes, bench_threads());
    return workload ? (bench_work){module.run, workload, NULL} : none;
}

void bench_direct_release(bench_work work)
{
    if (work.run)
        module.release(work.user);
}
