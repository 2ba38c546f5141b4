/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "library.h"
#include "selfcheck.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* What the first try gave; kept, like the library itself, until the process ends. */
static struct {
    pthread_mutex_t lock;
    int tried;
    axle_status status;
    char reason[512];
    blas_library library;
} the = {.lock = PTHREAD_MUTEX_INITIALIZER};

const char *blas_library_name(const axle_host *host)
{
    const char *option =
        AXLE_HAS(host, axle_host, option) ? host->option(host->ctx, "openblas.library") : NULL;
    return option && *option ? option : CBLAS_LIBRARY;
}

/* ISO C has no conversion from what dlsym() returns to a pointer to a function. */
static int find(void *handle, const char *symbol, void *out, size_t size)
{
    void *const address = dlsym(handle, symbol);
    if (address)
        memcpy(out, &address, size);
    return address != NULL;
}

/* An OpenBLAS older than the processor may not know it, and then runs code that uses few of its
 * instructions. */
static void note_old_code(void *handle, blas_library *library)
{
#if defined(__x86_64__)
    static const char *const old[] = {"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem"};
    const char *(*core_name)(void);
    if (!__builtin_cpu_supports("avx2") ||
        !find(handle, "openblas_get_corename", &core_name, sizeof(core_name)))
        return;
    const char *core = core_name();
    for (size_t k = 0; k < sizeof(old) / sizeof(old[0]); k++)
        if (strcmp(core, old[k]) == 0)
            snprintf(library->advice, sizeof(library->advice),
                     "%s takes this processor for a %s, and is slow; OPENBLAS_CORETYPE=%s in the "
                     "environment tells it better",
                     library->name, core,
                     __builtin_cpu_supports("avx512bw") ? "SkylakeX" : "Haswell");
#else
    (void)handle, (void)library;
#endif
}

static axle_status load(const axle_host *host, blas_library *out, axle_error *error)
{
    const char *name = blas_library_name(host);
    blas_library library = {.name = name};
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        return blas_fail(error, AXLE_ERR_NOT_FOUND, "openblas: cannot load the CBLAS library: %s",
                         why ? why : name);
    }
    if (!find(handle, "cblas_sgemm", &library.sgemm, sizeof(library.sgemm)) ||
        !find(handle, "cblas_dgemm", &library.dgemm, sizeof(library.dgemm))) {
        dlclose(handle);
        return blas_fail(error, AXLE_ERR_ABI, "openblas: %s has no cblas_sgemm and cblas_dgemm",
                         name);
    }
    (void)find(handle, "openblas_set_num_threads", &library.set_threads,
               sizeof(library.set_threads));
    note_old_code(handle, &library);
    *out = library;
    return AXLE_OK;
}

static void try_once(const axle_host *host)
{
    axle_error error = {.struct_size = sizeof(error),
                        .message_capacity = sizeof(the.reason),
                        .message = the.reason};
    the.tried = 1;
    the.status = load(host, &the.library, &error);
    if (the.status == AXLE_OK)
        the.status = blas_selfcheck(&the.library, &error);
}

axle_status blas_library_open(const axle_host *host, const blas_library **out, axle_error *error)
{
    pthread_mutex_lock(&the.lock);
    if (!the.tried)
        try_once(host);
    pthread_mutex_unlock(&the.lock);
    if (the.status != AXLE_OK)
        return blas_fail(error, the.status, "%s", the.reason);
    *out = &the.library;
    return AXLE_OK;
}

void blas_library_advise(const axle_host *host, const blas_library *library)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (library->advice[0] && AXLE_HAS(host, axle_host, log) && !atomic_flag_test_and_set(&told))
        host->log(host->ctx, AXLE_LOG_WARN, "openblas", library->advice);
}
