/* SPDX-License-Identifier: Apache-2.0 */
#include "services.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ------------------------------------------------------------------ memory */

enum { GUARD = 32, GUARD_BYTE = 0xc5 };
static const uint64_t live_mark = UINT64_C(0x6d656d6f72792b2b);

/* Stands right before what the plugin gets; as many bytes as the alignment lie before it. */
typedef struct block {
    void *memory;
    uint64_t size, mark;
} block;

static int64_t live, broken, fail_countdown = -1;
static int fail_reached;

static int fails_now(void)
{
    if (fail_countdown < 0 || fail_countdown-- > 0)
        return 0;
    fail_reached = 1;
    return 1;
}

static void *serve_alloc(void *ctx, uint64_t size, uint64_t align)
{
    (void)ctx;
    size_t head = align > sizeof(block) ? (size_t)align : 64;
    void *memory = NULL;
    pthread_mutex_lock(&lock);
    const int fails = fails_now();
    pthread_mutex_unlock(&lock);
    if (fails || align > 1 << 30 || (align & (align - 1)) || size > SIZE_MAX / 2 ||
        posix_memalign(&memory, head, head + (size_t)size + GUARD) != 0)
        return NULL;
    unsigned char *given = (unsigned char *)memory + head;
    const block b = {memory, size, live_mark};
    memcpy(given - sizeof(b), &b, sizeof(b));
    memset(given, 0xff, (size_t)size < 4096 ? (size_t)size : 4096);
    memset(given + size, GUARD_BYTE, GUARD);
    pthread_mutex_lock(&lock);
    live++;
    pthread_mutex_unlock(&lock);
    return given;
}

static int guard_holds(const unsigned char *guard)
{
    for (int k = 0; k < GUARD; k++)
        if (guard[k] != GUARD_BYTE)
            return 0;
    return 1;
}

static void serve_free(void *ctx, void *p)
{
    block b;
    (void)ctx;
    if (!p)
        return;
    memcpy(&b, (unsigned char *)p - sizeof(b), sizeof(b));
    const int known = b.mark == live_mark;
    pthread_mutex_lock(&lock);
    live -= known;
    broken += !known || !guard_holds((unsigned char *)p + b.size);
    pthread_mutex_unlock(&lock);
    if (!known)
        return;
    memset((unsigned char *)p - sizeof(b), 0, sizeof(b));
    free(b.memory);
}

int64_t services_live_blocks(void)
{
    pthread_mutex_lock(&lock);
    const int64_t count = live;
    pthread_mutex_unlock(&lock);
    return count;
}

int64_t services_broken_blocks(void)
{
    pthread_mutex_lock(&lock);
    const int64_t count = broken;
    pthread_mutex_unlock(&lock);
    return count;
}

int services_fail_after(int64_t after)
{
    pthread_mutex_lock(&lock);
    const int reached = fail_reached;
    fail_reached = 0;
    fail_countdown = after;
    pthread_mutex_unlock(&lock);
    return reached;
}

/* ------------------------------------------------------------------ log and options */

static void serve_log(void *ctx, int32_t level, const char *component, const char *message)
{
    (void)ctx, (void)level, (void)component, (void)message;
}

static char option_text[4096]; /* items of AXLE_OPTIONS, key=value, each ended by 0 */
static size_t option_length;
static pthread_once_t option_once = PTHREAD_ONCE_INIT;

static void option_read(void)
{
    const char *setting = getenv("AXLE_OPTIONS");
    if (!setting)
        return;
    strncpy(option_text, setting, sizeof(option_text) - 1);
    option_length = strlen(option_text);
    for (size_t k = 0; k < option_length; k++)
        if (option_text[k] == ',')
            option_text[k] = '\0';
}

/* Of equal keys the last one counts. */
static const char *serve_option(void *ctx, const char *key)
{
    const char *found = NULL;
    const size_t length = strlen(key);
    (void)ctx;
    pthread_once(&option_once, option_read);
    for (const char *item = option_text; item < option_text + option_length;
         item += strlen(item) + 1)
        if (strncmp(item, key, length) == 0 && item[length] == '=')
            found = item + length + 1;
    return found;
}

/* ------------------------------------------------------------------ workers */

enum { MOST_WORKERS = 4 };

/* At least two, so that bodies meet other workers on any machine. */
static int32_t serve_num_workers(void *ctx)
{
    cpu_set_t set;
    (void)ctx;
    const int cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 2;
    return cores < 2 ? 2 : cores > MOST_WORKERS ? MOST_WORKERS : cores;
}

typedef struct piece {
    axle_body body;
    void *arg;
    int64_t begin, end;
    int32_t worker;
    pthread_t thread;
    int started;
} piece;

static void *run_piece(void *arg)
{
    const piece *p = arg;
    p->body(p->arg, p->begin, p->end, p->worker);
    return NULL;
}

static void serve_parallel_for(void *ctx, int64_t n, int64_t grain, axle_body body, void *arg)
{
    piece pieces[MOST_WORKERS] = {{0}};
    int64_t count = serve_num_workers(ctx);
    if (n <= 0)
        return;
    if (grain > 0 && count > n / grain)
        count = n / grain > 0 ? n / grain : 1;
    for (int32_t k = 0; k < count; k++) {
        pieces[k] = (piece){.body = body,
                            .arg = arg,
                            .begin = n / count * k + (k < n % count ? k : n % count),
                            .worker = k};
        pieces[k].end = pieces[k].begin + n / count + (k < n % count);
    }
    for (int64_t k = 1; k < count; k++)
        pieces[k].started = pthread_create(&pieces[k].thread, NULL, run_piece, &pieces[k]) == 0;
    run_piece(&pieces[0]);
    for (int64_t k = 1; k < count; k++) {
        if (pieces[k].started)
            pthread_join(pieces[k].thread, NULL);
        else
            run_piece(&pieces[k]);
    }
}

/* ------------------------------------------------------------------ cache of blobs, in memory */

typedef struct entry {
    struct entry *next;
    uint64_t key_size, size;
    unsigned char bytes[]; /* the key, then the blob */
} entry;

static entry *entries;

/* The link that leads to a key's entry, or the last one. */
static entry **link_of(const void *key, uint64_t key_size)
{
    entry **link = &entries;
    while (*link &&
           ((*link)->key_size != key_size || memcmp((*link)->bytes, key, (size_t)key_size) != 0))
        link = &(*link)->next;
    return link;
}

static void drop_locked(const void *key, uint64_t key_size)
{
    entry **link = link_of(key, key_size), *found = *link;
    if (found) {
        *link = found->next;
        free(found);
    }
}

static axle_status serve_cache_get(void *ctx, const void *key, uint64_t key_size, void **blob,
                                   uint64_t *size)
{
    axle_status status = AXLE_ERR_NOT_FOUND;
    pthread_mutex_lock(&lock);
    const entry *found = *link_of(key, key_size);
    pthread_mutex_unlock(&lock); /* entries are dropped by the plugin alone */
    if (found) {
        void *copy = serve_alloc(ctx, found->size, 16);
        status = copy ? AXLE_OK : AXLE_ERR_NOMEM;
        if (copy) {
            memcpy(copy, found->bytes + found->key_size, (size_t)found->size);
            *blob = copy;
            *size = found->size;
        }
    }
    return status;
}

static axle_status serve_cache_put(void *ctx, const void *key, uint64_t key_size, const void *blob,
                                   uint64_t size)
{
    entry *added = malloc(sizeof(*added) + (size_t)key_size + (size_t)size);
    (void)ctx;
    if (!added)
        return AXLE_ERR_NOMEM;
    added->key_size = key_size;
    added->size = size;
    memcpy(added->bytes, key, (size_t)key_size);
    memcpy(added->bytes + key_size, blob, (size_t)size);
    pthread_mutex_lock(&lock);
    drop_locked(key, key_size);
    added->next = entries;
    entries = added;
    pthread_mutex_unlock(&lock);
    return AXLE_OK;
}

static void serve_cache_drop(void *ctx, const void *key, uint64_t key_size)
{
    (void)ctx;
    pthread_mutex_lock(&lock);
    drop_locked(key, key_size);
    pthread_mutex_unlock(&lock);
}

const axle_host *services_table(void)
{
    static const axle_host table = {
        .struct_size = sizeof(table),
        .abi_major = AXLE_ABI_MAJOR,
        .abi_minor = AXLE_ABI_MINOR,
        .log = serve_log,
        .option = serve_option,
        .alloc = serve_alloc,
        .free = serve_free,
        .parallel_for = serve_parallel_for,
        .num_workers = serve_num_workers,
        .cache_get = serve_cache_get,
        .cache_put = serve_cache_put,
        .cache_drop = serve_cache_drop,
    };
    return &table;
}
