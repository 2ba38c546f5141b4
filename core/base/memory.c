/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "axle/status.h"

/* From this size on, memory is worth huge pages: fewer faults and fewer misses in the TLB. */
enum { HUGE_PAGE = 2 << 20, HUGE_FROM = 4 << 20 };

static _Thread_local long fail_at;
static _Thread_local bool failed;

/* Whether the test at hand wants this allocation to fail. */
static bool must_fail(void)
{
    if (fail_at == 0 || --fail_at > 0)
        return false;
    failed = true;
    return true;
}

void axle__alloc_fail_at(long n)
{
    fail_at = n > 0 ? n : 0;
    failed = false;
}

bool axle__alloc_failed(void)
{
    return failed;
}

bool axle__size_mul(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

bool axle__size_add(size_t a, size_t b, size_t *out)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

static void *exhausted(size_t size)
{
    axle_error_set(AXLE_ERR_NOMEM, "out of memory: %zu bytes asked for", size);
    return NULL;
}

/* count * size, at least 1 so that no allocator answers NULL for nothing; 0 on overflow. */
static size_t byte_count(size_t count, size_t size)
{
    size_t bytes;
    if (!axle__size_mul(count, size, &bytes)) {
        axle_error_set(AXLE_ERR_NOMEM, "out of memory: %zu times %zu bytes overflow", count, size);
        return 0;
    }
    return bytes ? bytes : 1;
}

void *axle__alloc(size_t count, size_t size)
{
    size_t bytes = byte_count(count, size);
    if (bytes == 0)
        return NULL;
    void *memory = must_fail() ? NULL : calloc(1, bytes);
    return memory ? memory : exhausted(bytes);
}

void *axle__resize(void *old, size_t count, size_t size)
{
    size_t bytes = byte_count(count, size);
    if (bytes == 0)
        return NULL;
    void *memory = must_fail() ? NULL : realloc(old, bytes);
    return memory ? memory : exhausted(bytes);
}

void *axle__alloc_aligned(size_t size, size_t align)
{
    bool huge = size >= HUGE_FROM;
    if (align < sizeof(void *))
        align = sizeof(void *);
    if (huge && align < HUGE_PAGE)
        align = HUGE_PAGE;
    void *memory = NULL;
    if (must_fail() || posix_memalign(&memory, align, size ? size : 1) != 0)
        return exhausted(size);
    if (huge)
        madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

char *axle__strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = axle__alloc(bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

char *axle__format(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length < 0) {
        axle_error_set(AXLE_ERR_INVALID, "text can not be formatted: '%s'", format);
        return NULL;
    }
    char *text = axle__alloc((size_t)length + 1, 1);
    if (!text)
        return NULL;
    va_start(list, format);
    vsnprintf(text, (size_t)length + 1, format, list);
    va_end(list);
    return text;
}

void axle__free(void *memory)
{
    free(memory);
}

void axle_free(void *memory)
{
    free(memory);
}
