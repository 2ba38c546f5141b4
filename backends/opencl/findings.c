/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was met while devices were looked for. Loaders pass over drivers that they can not load
 * without a word, so the folder that they read is looked at again here: with ocl-icd's rules, of
 * which Khronos' loader knows the folders.
 */
#include "opencl.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_TEXT = 4096 };

static char findings[MOST_TEXT]; /* lines; what does not fit is dropped */
static size_t length;

void ocl_note(const char *format, ...)
{
    va_list args;
    size_t at = length;
    if (at > 0 && at + 1 < sizeof(findings))
        findings[at++] = '\n';
    va_start(args, format);
    const int n = vsnprintf(findings + at, sizeof(findings) - at, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < sizeof(findings) - at)
        length = at + (size_t)n;
    findings[length] = '\0';
}

const char *ocl_findings(void)
{
    return findings;
}

/* A library that is loaded already need not be opened to know that it can be. */
static void note_library(const char *where, const char *library)
{
    void *object = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (!object)
        object = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (object)
        dlclose(object);
    else
        ocl_note("%s: %s", where, dlerror());
}

static void note_icd_file(const char *path)
{
    char library[1024];
    FILE *file = fopen(path, "r");
    if (!file) {
        ocl_note("%s: %s", path, strerror(errno));
        return;
    }
    library[0] = '\0';
    if (fgets(library, sizeof(library), file))
        library[strcspn(library, "\r\n")] = '\0';
    fclose(file);
    if (library[0])
        note_library(path, library);
    else
        ocl_note("%s: its first line names no library", path);
}

static int ends_in_icd(const char *name)
{
    const size_t size = strlen(name);
    return size > 4 && strcmp(name + size - 4, ".icd") == 0;
}

static void note_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    int count = 0;
    if (!dir) {
        ocl_note("vendor folder %s: %s", folder, strerror(errno));
        return;
    }
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += ends_in_icd(entry->d_name);
    ocl_note("vendor folder %s: %d .icd file%s", folder, count, count == 1 ? "" : "s");
    rewinddir(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[1024];
        if (ends_in_icd(entry->d_name) &&
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < (int)sizeof(path))
            note_icd_file(path);
    }
    closedir(dir);
}

static const char *given(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? value : NULL;
}

/* The .icd file that OCL_ICD_VENDORS names: one of the folder where it holds no slash. */
static void note_named_file(const char *folder, const char *name)
{
    char path[1024];
    struct stat about;
    if (!strchr(name, '/') &&
        snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) &&
        stat(path, &about) == 0)
        note_icd_file(path);
    else
        note_icd_file(name);
}

void ocl_note_vendors(void)
{
    const char *vendors = given("OCL_ICD_VENDORS"), *folder = given("OPENCL_VENDOR_PATH");
    struct stat about;
    if (!folder)
        folder = "/etc/OpenCL/vendors";
    if (!vendors)
        note_folder(folder);
    else if (stat(vendors, &about) == 0 && S_ISDIR(about.st_mode))
        note_folder(vendors);
    else if (ends_in_icd(vendors))
        note_named_file(folder, vendors);
    else
        note_library("OCL_ICD_VENDORS", vendors);
}
