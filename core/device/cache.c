/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file an entry, named by the hash of its key and written under another name first, so that
 * processes that work on one folder see whole files only. The file holds the key, since hashes
 * collide, and a checksum, since disks do worse. Whatever is wrong with an entry makes it absent; a
 * folder that can not be written makes the cache absent. When the folder outgrows its limit, the
 * entries that were longest unused go.
 */
#define _GNU_SOURCE 1
#include "device/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/settings.h"

enum { STALE_SECONDS = 3600, LOCK_PAUSE_MS = 10 };

static const char magic[8] = {'A', 'X', 'L', 'E', 'B', 'L', 'O', 'B'};
static const char suffix[] = ".blob", temporary[] = ".part-";
static atomic_uint_fast64_t limit = UINT64_C(256) << 20, patience = 120000;

/* What a file begins with; key and blob follow. */
typedef struct head {
    char magic[8];
    uint32_t version, reserved;
    uint64_t key_size, blob_size, checksum;
} head;

void axle__cache_set_limit(uint64_t bytes)
{
    atomic_store(&limit, bytes);
}

static uint64_t hash(const void *data, uint64_t size)
{
    return axle__hash(AXLE__HASH_START, data, size);
}

/* ------------------------------------------------------------------ the folder */

static bool join(char *out, const char *a, const char *b)
{
    return snprintf(out, PATH_MAX, "%s%s", a, b) < PATH_MAX;
}

static bool folder_name(char *out)
{
    const char *own = axle__setting(AXLE_SETTING_CACHE_DIR);
    const char *xdg = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    if (*own)
        return join(out, own, "");
    if (xdg && *xdg == '/')
        return join(out, xdg, "/axle");
    return home && *home == '/' && join(out, home, "/.cache/axle");
}

/* Make a folder and those above it. */
static bool make_folder(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int failed = mkdir(path, 0700) != 0 && errno != EEXIST;
        *slash = '/';
        if (failed)
            return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool entry_name(const char *folder, const void *key, uint64_t key_size, char *out)
{
    return snprintf(out, PATH_MAX, "%s/%016" PRIx64 "%s", folder, hash(key, key_size), suffix) <
           PATH_MAX;
}

static bool entry_path(const void *key, uint64_t key_size, char *out)
{
    char folder[PATH_MAX];
    return folder_name(folder) && entry_name(folder, key, key_size, out);
}

/* ------------------------------------------------------------------ files */

static bool read_all(int file, void *data, uint64_t size)
{
    char *at = data;
    while (size > 0) {
        ssize_t n = read(file, at, size < INT_MAX ? size : INT_MAX);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (uint64_t)n;
    }
    return true;
}

static bool write_all(int file, const void *data, uint64_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = write(file, at, size < INT_MAX ? size : INT_MAX);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (uint64_t)n;
    }
    return true;
}

/* Whether the file's sizes are what the head says, without overflow. */
static bool is_whole(int file, const head *head)
{
    struct stat about;
    uint64_t sum;
    return memcmp(head->magic, magic, sizeof(magic)) == 0 && head->version == 1 &&
           !__builtin_add_overflow(head->key_size, head->blob_size, &sum) &&
           !__builtin_add_overflow(sum, sizeof(*head), &sum) && fstat(file, &about) == 0 &&
           about.st_size >= 0 && (uint64_t)about.st_size == sum;
}

typedef enum { ENTRY_GOOD, ENTRY_OTHER, ENTRY_DAMAGED } entry_state;

/* Read the blob of an open entry; memory is the caller's when the entry is good. */
static entry_state read_entry(int file, const void *key, uint64_t key_size, void **out,
                              uint64_t *size)
{
    head head;
    if (!read_all(file, &head, sizeof(head)) || !is_whole(file, &head))
        return ENTRY_DAMAGED;
    if (head.key_size != key_size)
        return ENTRY_OTHER;
    char *content = axle__alloc_aligned(key_size + head.blob_size, 64);
    if (!content)
        return ENTRY_OTHER;
    entry_state state = ENTRY_DAMAGED;
    if (read_all(file, content, key_size + head.blob_size)) {
        bool same = memcmp(content, key, key_size) == 0;
        bool intact = hash(content + key_size, head.blob_size) == head.checksum;
        state = !same ? ENTRY_OTHER : intact ? ENTRY_GOOD : ENTRY_DAMAGED;
    }
    if (state != ENTRY_GOOD) {
        axle__free(content);
        return state;
    }
    memmove(content, content + key_size, head.blob_size);
    *out = content;
    *size = head.blob_size;
    return ENTRY_GOOD;
}

axle_status axle__cache_get(const void *key, uint64_t key_size, void **blob, uint64_t *size)
{
    char path[PATH_MAX];
    int file = entry_path(key, key_size, path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return AXLE_ERR_NOT_FOUND;
    entry_state state = read_entry(file, key, key_size, blob, size);
    if (state == ENTRY_GOOD)
        futimens(file, NULL); /* used now */
    close(file);
    if (state == ENTRY_DAMAGED)
        unlink(path);
    return state == ENTRY_GOOD ? AXLE_OK : AXLE_ERR_NOT_FOUND;
}

void axle__cache_drop(const void *key, uint64_t key_size)
{
    char path[PATH_MAX];
    if (entry_path(key, key_size, path))
        unlink(path);
}

/* ------------------------------------------------------------------ the limit */

typedef struct file_entry {
    char name[48];
    uint64_t size;
    struct timespec used;
} file_entry;

typedef struct file_list {
    file_entry *item;
    size_t count, capacity;
    uint64_t total;
} file_list;

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool add_file(file_list *list, const char *name, const struct stat *about)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        file_entry *item = axle__resize(list->item, capacity, sizeof(*item));
        if (!item)
            return false;
        list->item = item;
        list->capacity = capacity;
    }
    file_entry *entry = &list->item[list->count++];
    snprintf(entry->name, sizeof(entry->name), "%s", name);
    entry->size = (uint64_t)about->st_size;
    entry->used = about->st_mtim;
    list->total += entry->size;
    return true;
}

/* List the entries, and remove what writers left behind that died. */
static void list_files(DIR *dir, file_list *list)
{
    struct stat about;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strlen(entry->d_name) >= sizeof(list->item->name) ||
            fstatat(dirfd(dir), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(about.st_mode))
            continue;
        if (strncmp(entry->d_name, temporary, sizeof(temporary) - 1) == 0) {
            if (time(NULL) - about.st_mtime > STALE_SECONDS)
                unlinkat(dirfd(dir), entry->d_name, 0);
        } else if (ends_in(entry->d_name, suffix) && !add_file(list, entry->d_name, &about)) {
            return;
        }
    }
}

static int compare_use(const void *a, const void *b)
{
    const struct timespec *x = &((const file_entry *)a)->used, *y = &((const file_entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Down to three quarters, so that the next entries do not do this again. */
static void keep_limit(const char *folder)
{
    file_list list = {0};
    uint64_t most = atomic_load(&limit);
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    list_files(dir, &list);
    if (list.total > most) {
        qsort(list.item, list.count, sizeof(*list.item), compare_use);
        for (size_t k = 0; k < list.count && list.total > most / 4 * 3; k++)
            if (unlinkat(dirfd(dir), list.item[k].name, 0) == 0)
                list.total -= list.item[k].size;
    }
    axle__free(list.item);
    closedir(dir);
}

/* ------------------------------------------------------------------ writing */

static bool write_entry(int file, const void *key, uint64_t key_size, const void *blob,
                        uint64_t size)
{
    head head = {.version = 1, .key_size = key_size, .blob_size = size};
    memcpy(head.magic, magic, sizeof(magic));
    head.checksum = hash(blob, size);
    return write_all(file, &head, sizeof(head)) && write_all(file, key, key_size) &&
           write_all(file, blob, size);
}

axle_status axle__cache_put(const void *key, uint64_t key_size, const void *blob, uint64_t size)
{
    char folder[PATH_MAX], path[PATH_MAX], part[PATH_MAX];
    if (size > atomic_load(&limit) || !folder_name(folder) || !make_folder(folder) ||
        !entry_name(folder, key, key_size, path) ||
        snprintf(part, sizeof(part), "%s/%sXXXXXX", folder, temporary) >= (int)sizeof(part))
        return AXLE_ERR_IO;
    int file = mkostemp(part, O_CLOEXEC);
    if (file < 0)
        return AXLE_ERR_IO;
    bool written = write_entry(file, key, key_size, blob, size);
    written = close(file) == 0 && written;
    if (!written || rename(part, path) != 0) {
        unlink(part);
        return AXLE_ERR_IO;
    }
    keep_limit(folder);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ one maker at a time */

/* A byte of this file stands for a key. The kernel lets go of a lock when its process dies. */
static int lock_file_open(void)
{
    char folder[PATH_MAX], path[PATH_MAX];
    if (!folder_name(folder) || !make_folder(folder) || !join(path, folder, "/.lock"))
        return -1;
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static bool lock_try(int file, uint64_t place, bool *busy)
{
    struct flock range = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)(place >> 2), .l_len = 1};
    bool locked = fcntl(file, F_OFD_SETLK, &range) == 0;
    *busy = !locked && (errno == EAGAIN || errno == EACCES);
    return locked;
}

/* Whoever waited in vain once does not wait for the same process again and again. */
axle_status axle__cache_lock(const void *key, uint64_t key_size, int *out)
{
    const struct timespec pause = {0, LOCK_PAUSE_MS * 1000000L};
    int file = lock_file_open();
    if (file < 0)
        return AXLE_ERR_IO;
    uint64_t place = hash(key, key_size), waited = 0, most = atomic_load(&patience);
    bool busy = false, locked = lock_try(file, place, &busy);
    for (; !locked && busy && waited < most; waited += LOCK_PAUSE_MS) {
        nanosleep(&pause, NULL);
        locked = lock_try(file, place, &busy);
    }
    if (!locked && busy)
        atomic_store(&patience, 0);
    *out = file;
    return AXLE_OK;
}

void axle__cache_unlock(int file)
{
    close(file);
}

void axle__cache_set_patience(uint64_t milliseconds)
{
    atomic_store(&patience, milliseconds);
}
