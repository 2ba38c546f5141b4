/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about buffers: what is written is read, and nothing beside it changes. */
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"
#include "trial.h"

enum { SIZE = 1027, BACKGROUND = 0x3c };

/* Pieces of a buffer: at odd places, of odd sizes, single bytes, all of it. */
static const struct {
    uint64_t offset, size;
} pieces[] = {{0, SIZE}, {0, 1}, {1, 1}, {3, 5}, {7, 64}, {64, 64}, {SIZE - 1, 1}, {513, 514}};
enum { PIECES = sizeof(pieces) / sizeof(pieces[0]) };

/* A buffer on the device beside an image of what it should hold. */
typedef struct twin {
    axle_be_buffer *buffer;
    unsigned char image[SIZE];
} twin;

static int twin_create(const machine *m, uint32_t kind, twin *out, note *n)
{
    out->buffer = NULL;
    memset(out->image, BACKGROUND, SIZE);
    return machine_buffer_create(m, kind, SIZE, &out->buffer, n) &&
           machine_write(m, m->queue, out->buffer, 0, out->image, SIZE, n);
}

static int twin_agrees(const machine *m, const twin *w, note *n)
{
    unsigned char now[SIZE];
    if (!machine_read(m, m->queue, w->buffer, 0, now, SIZE, n))
        return 0;
    for (int k = 0; k < SIZE; k++)
        if (now[k] != w->image[k])
            return note_fail(n, "byte %d is 0x%02x instead of 0x%02x", k, now[k], w->image[k]);
    return 1;
}

static void draw(unsigned char *bytes, uint64_t size, uint64_t salt)
{
    for (uint64_t k = 0; k < size; k++)
        bytes[k] = (unsigned char)(k * 37 + salt * 101 + 11);
}

/* Do something with each piece of a twin, and see what it holds then. */
typedef int (*piece_fn)(const machine *m, twin *w, uint64_t offset, uint64_t size, note *n);

static check_status each_piece(trial *t, uint32_t kind, piece_fn fn, note *n)
{
    twin w;
    if (!trial_open(t, n))
        return CHECK_FAILED;
    int good = twin_create(&t->subject, kind, &w, n);
    for (int k = 0; k < PIECES && good; k++)
        good = (fn(&t->subject, &w, pieces[k].offset, pieces[k].size, n) &&
                twin_agrees(&t->subject, &w, n)) ||
               note_prefix(n, "%d bytes at %d: ", (int)pieces[k].size, (int)pieces[k].offset);
    machine_buffer_destroy(&t->subject, w.buffer);
    return good ? CHECK_PASSED : CHECK_FAILED;
}

static int write_piece(const machine *m, twin *w, uint64_t offset, uint64_t size, note *n)
{
    draw(w->image + offset, size, offset);
    return machine_write(m, m->queue, w->buffer, offset, w->image + offset, size, n);
}

static check_status writes(trial *t, note *n)
{
    return each_piece(t, AXLE_BUFFER_DEVICE, write_piece, n);
}

static check_status staging_writes(trial *t, note *n)
{
    return each_piece(t, AXLE_BUFFER_STAGING, write_piece, n);
}

static int read_piece(const machine *m, twin *w, uint64_t offset, uint64_t size, note *n)
{
    unsigned char now[SIZE + 2];
    memset(now, 0x77, sizeof(now));
    if (!machine_read(m, m->queue, w->buffer, offset, now + 1, size, n))
        return 0;
    if (now[0] != 0x77 || now[size + 1] != 0x77)
        return note_fail(n, "read writes beside the memory that it was given");
    return memcmp(now + 1, w->image + offset, (size_t)size) == 0
               ? write_piece(m, w, offset, size, n)
               : note_fail(n, "what is read is not what was written");
}

static check_status reads(trial *t, note *n)
{
    return each_piece(t, AXLE_BUFFER_DEVICE, read_piece, n);
}

/* The host's memory stays as it is until the queue has finished. */
static int write_later(const machine *m, twin *w, uint64_t offset, uint64_t size, note *n)
{
    error_room room;
    draw(w->image + offset, size, offset + 1);
    const axle_status status = m->api->write(m->queue, w->buffer, offset, w->image + offset, size,
                                             AXLE_HOST_UNTIL_COMPLETE, error_room_init(&room));
    return status == AXLE_OK ? machine_finish(m, m->queue, n)
                             : error_room_fail(n, &room, "write", status);
}

static int read_later(const machine *m, twin *w, uint64_t offset, uint64_t size, note *n)
{
    error_room room;
    unsigned char now[SIZE];
    const axle_status status = m->api->read(m->queue, w->buffer, offset, now, size,
                                            AXLE_HOST_UNTIL_COMPLETE, error_room_init(&room));
    if (status != AXLE_OK)
        return error_room_fail(n, &room, "read", status);
    if (!machine_finish(m, m->queue, n))
        return 0;
    return memcmp(now, w->image + offset, (size_t)size) == 0
               ? write_later(m, w, offset, size, n)
               : note_fail(n, "what is read is not what was written");
}

static check_status copies_later(trial *t, note *n)
{
    if (!trial_open(t, n))
        return CHECK_FAILED;
    if (!MACHINE_HAS(&t->subject, write) || !MACHINE_HAS(&t->subject, read))
        return CHECK_HOST;
    return each_piece(t, AXLE_BUFFER_DEVICE, read_later, n);
}

/* ------------------------------------------------------------------ map, copy, fill */

static int map_piece(const machine *m, twin *w, uint64_t offset, uint64_t size, note *n)
{
    error_room room;
    void *p = NULL;
    axle_status status =
        m->api->buffer_map(m->queue, w->buffer, offset, size, AXLE_MAP_READ | AXLE_MAP_WRITE, &p,
                           error_room_init(&room));
    if (status != AXLE_OK || !p)
        return error_room_fail(n, &room, "buffer_map", status);
    const int same = memcmp(p, w->image + offset, (size_t)size) == 0;
    draw(w->image + offset, size, offset + 2);
    memcpy(p, w->image + offset, (size_t)size);
    if (MACHINE_HAS(m, buffer_unmap))
        status = m->api->buffer_unmap(m->queue, w->buffer, p, error_room_init(&room));
    if (status != AXLE_OK)
        return error_room_fail(n, &room, "buffer_unmap", status);
    return same ? 1 : note_fail(n, "what is mapped is not what was written");
}

static check_status maps(trial *t, note *n)
{
    if (!trial_open(t, n))
        return CHECK_FAILED;
    return MACHINE_HAS(&t->subject, buffer_map) ? each_piece(t, AXLE_BUFFER_DEVICE, map_piece, n)
                                                : CHECK_HOST;
}

static int copy_piece(const machine *m, twin *w, uint64_t offset, uint64_t size, note *n)
{
    error_room room;
    twin from;
    const uint64_t source = SIZE - size - (offset + size < SIZE ? 1 : 0);
    int good = twin_create(m, AXLE_BUFFER_DEVICE, &from, n);
    draw(from.image, SIZE, offset + 3);
    good = good && machine_write(m, m->queue, from.buffer, 0, from.image, SIZE, n);
    if (good) {
        const axle_status status = m->api->copy(m->queue, w->buffer, offset, from.buffer, source,
                                                size, error_room_init(&room));
        good = status == AXLE_OK || error_room_fail(n, &room, "copy", status);
    }
    memcpy(w->image + offset, from.image + source, (size_t)size);
    good = good && (twin_agrees(m, &from, n) || note_prefix(n, "the source: "));
    machine_buffer_destroy(m, from.buffer);
    return good;
}

static check_status copies(trial *t, note *n)
{
    if (!trial_open(t, n))
        return CHECK_FAILED;
    return MACHINE_HAS(&t->subject, copy) ? each_piece(t, AXLE_BUFFER_DEVICE, copy_piece, n)
                                          : CHECK_HOST;
}

static int fill_with(const machine *m, twin *w, uint32_t pattern_size, uint64_t offset,
                     uint64_t count, note *n)
{
    static const unsigned char pattern[8] = {1, 2, 3, 5, 8, 13, 21, 34};
    error_room room;
    const axle_status status = m->api->fill(m->queue, w->buffer, offset, count * pattern_size,
                                            pattern, pattern_size, error_room_init(&room));
    if (status != AXLE_OK)
        return error_room_fail(n, &room, "fill", status);
    for (uint64_t k = 0; k < count * pattern_size; k++)
        w->image[offset + k] = pattern[k % pattern_size];
    return twin_agrees(m, w, n);
}

/* At multiples of the pattern's size, as elements lie. */
static check_status fills(trial *t, note *n)
{
    twin w;
    if (!trial_open(t, n))
        return CHECK_FAILED;
    const machine *m = &t->subject;
    if (!MACHINE_HAS(m, fill))
        return CHECK_HOST;
    int good = twin_create(m, AXLE_BUFFER_DEVICE, &w, n);
    for (uint32_t size = 1; size <= 8 && good; size *= 2)
        good = (fill_with(m, &w, size, size, 1, n) && fill_with(m, &w, size, 3 * size, 41, n) &&
                fill_with(m, &w, size, 0, SIZE / size, n)) ||
               note_prefix(n, "a pattern of %u bytes: ", size);
    machine_buffer_destroy(m, w.buffer);
    return good ? CHECK_PASSED : CHECK_FAILED;
}

static check_status imports(trial *t, note *n)
{
    error_room room;
    twin w;
    if (!trial_open(t, n))
        return CHECK_FAILED;
    const machine *m = &t->subject;
    if (!MACHINE_HAS(m, buffer_import) || !(m->info.caps & AXLE_CAP_IMPORT_HOST))
        return CHECK_HOST;
    unsigned char *memory = aligned_alloc(64, SIZE / 64 * 64 + 64);
    if (!memory)
        return ROW_FAILED(n, "no memory to lend");
    memset(w.image, BACKGROUND, SIZE);
    memcpy(memory, w.image, SIZE);
    const axle_status status =
        m->api->buffer_import(m->device, memory, SIZE, &w.buffer, error_room_init(&room));
    int good = status == AXLE_OK || error_room_fail(n, &room, "buffer_import", status);
    if (good) {
        good = twin_agrees(m, &w, n) && write_piece(m, &w, 3, 501, n) && twin_agrees(m, &w, n) &&
               machine_finish(m, m->queue, n);
        machine_buffer_destroy(m, w.buffer);
    }
    if (good && memcmp(memory, w.image, SIZE) != 0)
        good = note_fail(n, "what was written is not in the memory that was lent");
    free(memory);
    return good ? CHECK_PASSED : CHECK_FAILED;
}

static check_status addresses_are_aligned(trial *t, note *n)
{
    error_room room;
    if (!trial_open(t, n))
        return CHECK_FAILED;
    const machine *m = &t->subject;
    if (!(m->info.caps & AXLE_CAP_HOST_VISIBLE) || !MACHINE_HAS(m, buffer_map))
        return CHECK_HOST;
    for (uint64_t size = 1; size < 4096; size = size * 3 + 1) {
        axle_be_buffer *buffer = NULL;
        void *p = NULL, *again = NULL;
        if (!machine_buffer_create(m, AXLE_BUFFER_DEVICE, size, &buffer, n))
            return CHECK_FAILED;
        m->api->buffer_map(m->queue, buffer, 0, size, AXLE_MAP_WRITE, &p, error_room_init(&room));
        m->api->buffer_map(m->queue, buffer, 0, size, AXLE_MAP_READ, &again, NULL);
        const uint32_t align = m->info.base_align ? m->info.base_align : 1;
        machine_buffer_destroy(m, buffer);
        if (!p || p != again)
            return ROW_FAILED(n, "a buffer's address does not stay, although "
                                 "AXLE_CAP_HOST_VISIBLE is claimed");
        if ((uintptr_t)p % align != 0)
            return ROW_FAILED(n, "a buffer of %d bytes begins at no multiple of base_align, %u",
                              (int)size, align);
    }
    return CHECK_PASSED;
}

const behaviour behaviours_memory[] = {
    {"memory", "writes of any size arrive", writes, 0},
    {"memory", "reads of any size give what was written", reads, 0},
    {"memory", "staging buffers hold what is written", staging_writes, 0},
    {"memory", "copies that finish later", copies_later, 0},
    {"memory", "mappings show and take what is there", maps, 0},
    {"memory", "copies inside the device", copies, 0},
    {"memory", "fills with patterns of 1 to 8 bytes", fills, 0},
    {"memory", "memory of the host can be lent", imports, 0},
    {"memory", "addresses stay and are aligned", addresses_are_aligned, 0},
    {NULL, NULL, NULL, 0}};
