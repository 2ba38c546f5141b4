/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "curl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The same interface by two libraries for TLS. */
static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static axle__curl functions;
static char reason[256];
static int opened;

/* A pointer to data is copied as one to a function: POSIX says that they are alike. */
static int find(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, sizeof(symbol));
    if (!symbol)
        snprintf(reason, sizeof(reason), "%s", dlerror());
    return symbol != NULL;
}

static void open_library(void)
{
    void *library = NULL;
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]) && !library; k++) {
        library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
        if (!library && k == 0)
            snprintf(reason, sizeof(reason), "%s", dlerror());
    }
    if (!library)
        return;
    int found = 1;
#define AXLE__CURL_FIND(name) found = found && find(library, "curl_" #name, &functions.name);
    AXLE__CURL_FUNCTIONS(AXLE__CURL_FIND)
#undef AXLE__CURL_FIND
    opened = found && functions.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

const axle__curl *axle__curl_open(const char **why)
{
    pthread_once(&once, open_library);
    *why = reason;
    return opened ? &functions : NULL;
}
