/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots, and bringing one to the disk. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/memory.h"
#include "train/checkpoint.h"

/* Files of tensors are cut where they would be longer. */
static const uint64_t shard_size = UINT64_C(5) << 30;

/* ------------------------------------------------------------------ memory */

/* Touching fresh memory page by page costs more than copying into it; large pages are few. */
static void *fresh_memory(size_t size)
{
    enum { LARGE_PAGE = 2 << 20, LARGE = 4 * LARGE_PAGE };
    bool large = size >= LARGE;
    void *data = axle__alloc_aligned(size ? size : 1, large ? LARGE_PAGE : 64);
#ifdef MADV_HUGEPAGE
    if (data && large)
        madvise(data, size, MADV_HUGEPAGE);
#endif
    return data;
}

static int add_room(axle__rooms *rooms, size_t size, bool taken, void **out)
{
    axle__room *at = axle__resize(rooms->at, rooms->count + 1, sizeof(*at));
    if (!at)
        return AXLE_ERR_NOMEM;
    rooms->at = at;
    void *data = fresh_memory(size);
    if (!data)
        return AXLE_ERR_NOMEM;
    at[rooms->count++] = (axle__room){data, size, taken};
    *out = data;
    return AXLE_OK;
}

static int take_room(axle__rooms *rooms, size_t size, void **out)
{
    for (size_t k = 0; k < rooms->count; k++)
        if (!rooms->at[k].taken && rooms->at[k].size == size) {
            rooms->at[k].taken = true;
            *out = rooms->at[k].data;
            return AXLE_OK;
        }
    return add_room(rooms, size, true, out);
}

int axle__rooms_reserve(axle__rooms *rooms, size_t size)
{
    void *data;
    return add_room(rooms, size, false, &data);
}

/* Returns whether to go on. */
static bool rest(int64_t ns, const int *stop)
{
    const int64_t most = AXLE__SECOND / 200;
    for (; ns > 0 && !__atomic_load_n(stop, __ATOMIC_RELAXED); ns -= most)
        nanosleep(&(struct timespec){0, (long)(ns < most ? ns : most)}, NULL);
    return !__atomic_load_n(stop, __ATOMIC_RELAXED);
}

static void touch(unsigned char *data, size_t size)
{
    enum { PAGE = 4096 };
    for (size_t at = 0; at < size; at += PAGE)
        ((volatile unsigned char *)data)[at] = 0;
}

/* A twelfth of the time, which is what training loses at most. At a low priority it would get next
 * to nothing, since kernels that wait for each other never leave a core. */
void axle__rooms_touch(const axle__rooms *rooms, const int *stop)
{
    enum { PIECE = 2 << 20, SHARE = 12 };
    for (size_t k = 0; k < rooms->count; k++)
        for (size_t at = 0; at < rooms->at[k].size && !rooms->at[k].taken; at += PIECE) {
            size_t left = rooms->at[k].size - at;
            int64_t began = axle__clock_ns();
            touch((unsigned char *)rooms->at[k].data + at, left < PIECE ? left : PIECE);
            if (!rest((SHARE - 1) * (axle__clock_ns() - began), stop))
                return;
        }
}

static void give_back(axle__rooms *rooms, const void *data)
{
    for (size_t k = 0; k < rooms->count; k++)
        if (rooms->at[k].data == data)
            rooms->at[k].taken = false;
}

void axle__rooms_free(axle__rooms *rooms)
{
    size_t kept = 0;
    for (size_t k = 0; k < rooms->count; k++)
        if (rooms->at[k].taken)
            rooms->at[kept++] = rooms->at[k];
        else
            axle__free(rooms->at[k].data);
    rooms->count = kept;
    if (kept > 0)
        return;
    axle__free(rooms->at);
    rooms->at = NULL;
}

int axle__snapshot_add(axle__snapshot *snapshot, char *name, axle__snapshot_file **out)
{
    axle__snapshot_file *files =
        name ? axle__resize(snapshot->files, snapshot->count + 1, sizeof(*files)) : NULL;
    if (!files) {
        axle__free(name);
        return AXLE_ERR_NOMEM;
    }
    snapshot->files = files;
    *out = &files[snapshot->count++];
    **out = (axle__snapshot_file){.name = name};
    return AXLE_OK;
}

int axle__snapshot_room(axle__snapshot *snapshot, axle__snapshot_file *file, size_t size)
{
    void *data;
    int status = take_room(snapshot->rooms, size, &data);
    if (status)
        return status;
    file->data = data;
    file->size = size;
    return AXLE_OK;
}

void axle__snapshot_free(axle__snapshot *snapshot)
{
    for (size_t k = 0; k < snapshot->count; k++) {
        axle__snapshot_file *file = &snapshot->files[k];
        if (file->data)
            give_back(snapshot->rooms, file->data);
        axle__state_content_free(file->sources, &file->content);
        axle__state_free(&file->entries);
        axle__list_free(&file->names);
        axle__free(file->name);
    }
    axle__free(snapshot->files);
    json_decref(snapshot->state);
    *snapshot = (axle__snapshot){.rooms = snapshot->rooms};
}

/* ------------------------------------------------------------------ files of tensors */

/* Each begins at a multiple of this. */
static size_t aligned(size_t size)
{
    return (size + 63) / 64 * 64;
}

/* What the tensors take, one after the other. */
static size_t size_of(const axle__snapshot_file *file)
{
    size_t size = 0;
    for (size_t k = 0; k < file->content.count; k++)
        size += aligned(file->sources[k].entry.size);
    return size;
}

static int copy_values(axle__snapshot *snapshot, axle__snapshot_file *file)
{
    size_t at = 0;
    int status = axle__snapshot_room(snapshot, file, size_of(file));
    for (size_t k = 0; k < file->content.count && !status; k++) {
        axle__safetensors_source *source = &file->sources[k];
        source->entry.data = file->data + at;
        status = axle_tensor_read(source->tensor, file->data + at, source->entry.size);
        source->tensor = NULL;
        at += aligned(source->entry.size);
    }
    return status;
}

int axle__snapshot_tensors(axle__snapshot *snapshot, char *name, axle__collect_fn collect,
                           const void *what)
{
    axle__snapshot_file *file;
    int status = axle__snapshot_add(snapshot, name, &file);
    if (!status)
        status = collect(what, file);
    return status ? status : copy_values(snapshot, file);
}

int axle__rooms_reserve_tensors(axle__rooms *rooms, axle__collect_fn collect, const void *what)
{
    axle__snapshot none = {0};
    axle__snapshot_file *file;
    int status = axle__snapshot_add(&none, axle__strdup("reserved"), &file);
    if (!status)
        status = collect(what, file);
    if (!status)
        status = axle__rooms_reserve(rooms, size_of(file));
    axle__snapshot_free(&none);
    return status;
}

/* ------------------------------------------------------------------ writing */

/* A file that was written, in the manifest. */
static int note_file(const char *name, axle__file_sum sum, void *user)
{
    json_t *files = user;
    char text[9];
    snprintf(text, sizeof(text), "%08x", (unsigned)sum.crc32c);
    json_t *about = json_pack("{s:I, s:s}", "size", (json_int_t)sum.size, "crc32c", text);
    return json_object_set_new(files, name, about) ? axle__json_failed() : AXLE_OK;
}

static int write_bytes(const char *folder, const char *name, const void *data, size_t size,
                       json_t *files)
{
    char *path = axle__format("%s/%s", folder, name);
    axle__file_writer *writer;
    int status = path ? axle__file_writer_open(path, &writer) : AXLE_ERR_NOMEM;
    axle__free(path);
    if (status)
        return status;
    axle__file_writer_write(writer, data, size);
    axle__file_sum sum = axle__file_writer_sum(writer);
    status = axle__file_writer_commit(writer);
    return status || !files ? status : note_file(name, sum, files);
}

static int write_files(const axle__snapshot *snapshot, const char *folder, json_t *files)
{
    int status = AXLE_OK;
    for (size_t k = 0; k < snapshot->count && !status; k++) {
        const axle__snapshot_file *file = &snapshot->files[k];
        if (file->raw)
            status = write_bytes(folder, file->name, file->data, file->size, files);
        else
            status = axle__shards_write(folder, file->name, &file->content, shard_size, note_file,
                                        files);
    }
    return status;
}

/* The manifest comes last: without it the folder is no checkpoint. */
static int write_folder(axle__snapshot *snapshot, const char *folder)
{
    json_t *files = json_object();
    int status = files ? write_files(snapshot, folder, files) : axle__json_failed();
    if (!status && json_object_set(snapshot->state, "files", files))
        status = axle__json_failed();
    json_decref(files);
    char *text = status ? NULL : axle__manifest_text(snapshot->state);
    if (!status && !text)
        status = axle__json_failed();
    if (!status)
        status = write_bytes(folder, AXLE__CHECKPOINT_STATE, text, strlen(text), NULL);
    free(text);
    return status ? status : axle__folder_sync(folder);
}

/* Under its name, and what had that name away. */
static int publish(const char *temporary, const char *path, const char *parent)
{
    bool swapped;
    int status = axle__folder_replace(temporary, path, &swapped);
    if (!status)
        status = axle__folder_sync(parent);
    if (!status && swapped)
        status = axle__folder_remove(temporary);
    return status;
}

int axle__snapshot_write(axle__snapshot *snapshot, const char *path)
{
    char *parent = axle__folder_of(path), *temporary = axle__checkpoint_temporary(path);
    int status = parent && temporary ? axle__folder_make(parent) : AXLE_ERR_NOMEM;
    if (!status)
        status = axle__folder_remove(temporary);
    if (!status)
        status = axle__folder_make(temporary);
    if (!status) {
        status = write_folder(snapshot, temporary);
        if (!status)
            status = publish(temporary, path, parent);
        if (status)
            axle__folder_remove(temporary);
    }
    axle__free(parent);
    axle__free(temporary);
    return status;
}
