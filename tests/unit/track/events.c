/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "events.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ checksums */

/* CRC-32C by its definition: the remainder of a polynomial, bits of a byte from the lowest. */
static uint32_t crc32c(const uint8_t *data, size_t size)
{
    uint32_t remainder = 0xffffffffU;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        unsigned in = data[bit / 8] >> bit % 8 & 1U;
        unsigned top = remainder >> 31;
        remainder = (remainder << 1) ^ (in != top ? 0x1edc6f41U : 0);
    }
    uint32_t mirrored = 0;
    for (int k = 0; k < 32; k++)
        mirrored |= (remainder >> k & 1U) << (31 - k);
    return ~mirrored;
}

static uint64_t little(const uint8_t *from, int bytes)
{
    uint64_t value = 0;
    for (int k = 0; k < bytes; k++)
        value |= (uint64_t)from[k] << (8 * k);
    return value;
}

static int is_masked_crc(const uint8_t *stored, const uint8_t *data, size_t size)
{
    uint32_t turned = (uint32_t)little(stored, 4) - 0xa282ead8U;
    return crc32c(data, size) == (turned >> 17 | turned << 15);
}

/* ------------------------------------------------------------------ the wire of messages */

typedef struct field {
    int number;
    uint64_t value; /* of what is no text */
    const uint8_t *bytes;
    size_t size;
} field;

static int varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return 1;
    }
    return 0;
}

/* The next field; 0 at the end, -1 where the bytes are no message. */
static int next_field(const uint8_t **at, const uint8_t *end, field *out)
{
    uint64_t key, size = 0;
    if (*at == end)
        return 0;
    if (!varint(at, end, &key))
        return -1;
    *out = (field){(int)(key >> 3), 0, NULL, 0};
    switch (key & 7) {
    case 0:
        return varint(at, end, &out->value) ? 1 : -1;
    case 1:
        size = 8;
        break;
    case 5:
        size = 4;
        break;
    case 2:
        if (!varint(at, end, &size))
            return -1;
        break;
    default:
        return -1;
    }
    if (size > (uint64_t)(end - *at))
        return -1;
    out->bytes = *at;
    out->size = size;
    if ((key & 7) != 2)
        out->value = little(*at, (int)size);
    *at += size;
    return 1;
}

/* ------------------------------------------------------------------ events */

static void keep_text(char *to, size_t size, const field *text)
{
    snprintf(to, size, "%.*s", (int)text->size, (const char *)text->bytes);
}

static const uint8_t *find_bytes(const uint8_t *at, size_t size, int number, size_t *found)
{
    const uint8_t *end = at + size;
    field f;
    while (next_field(&at, end, &f) > 0)
        if (f.number == number) {
            *found = f.size;
            return f.bytes;
        }
    return NULL;
}

static int read_value(const field *from, event_value *out)
{
    const uint8_t *at = from->bytes, *end = at + from->size;
    field f;
    int got;
    out->kind = 'm';
    while ((got = next_field(&at, end, &f)) > 0) {
        if (f.number == 1)
            keep_text(out->tag, sizeof(out->tag), &f);
        if (f.number == 2) {
            uint32_t bits = (uint32_t)f.value;
            memcpy(&out->value, &bits, sizeof(bits));
            out->kind = 's';
        }
        if (f.number == 4 || f.number == 9) {
            out->kind = f.number == 4 ? 'i' : 'm';
            out->bytes = f.number == 4 ? find_bytes(f.bytes, f.size, 4, &out->size) : f.bytes;
            out->size = f.number == 4 ? out->size : f.size;
        }
    }
    return got;
}

static event_value *add(event_file *file, const event_value *head)
{
    const int most = sizeof(file->values) / sizeof(file->values[0]);
    event_value *value = &file->values[file->count < most ? file->count++ : most - 1];
    *value = *head;
    return value;
}

static int read_summary(event_file *file, const event_value *head, const field *summary)
{
    const uint8_t *at = summary->bytes, *end = at + summary->size;
    field f;
    int got;
    while ((got = next_field(&at, end, &f)) > 0)
        if (f.number == 1 && read_value(&f, add(file, head)) < 0)
            return -1;
    return got;
}

static int read_event(event_file *file, const uint8_t *at, size_t size)
{
    const uint8_t *end = at + size;
    event_value head = {0};
    field f;
    int got;
    while ((got = next_field(&at, end, &f)) > 0) {
        if (f.number == 1)
            memcpy(&head.wall_time, &f.value, sizeof(head.wall_time));
        else if (f.number == 2)
            head.step = (int64_t)f.value;
        else if (f.number == 3)
            keep_text(head.tag, sizeof(head.tag), &f), add(file, &head)->kind = 'v';
        else if (f.number == 5 && read_summary(file, &head, &f) < 0)
            return -1;
        else if (f.number == 7)
            add(file, &head)->kind = 'r';
    }
    return got;
}

static const char *read_records(event_file *file)
{
    const uint8_t *at = file->data;
    size_t left = file->size;
    while (left > 0) {
        uint64_t size = left < 12 ? 0 : little(at, 8);
        file->cut = left < 16 || size > left - 16;
        if (file->cut)
            return NULL;
        if (!is_masked_crc(at + 8, at, 8))
            return "the checksum of a length is wrong";
        if (!is_masked_crc(at + 12 + size, at + 12, size))
            return "the checksum of an event is wrong";
        if (read_event(file, at + 12, size) < 0)
            return "an event is no message";
        at += size + 16;
        left -= size + 16;
    }
    return NULL;
}

static int is_event_file(const struct dirent *entry)
{
    return strstr(entry->d_name, "tfevents") != NULL;
}

static uint8_t *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(1 << 20);
    *size = file && data ? fread(data, 1, 1 << 20, file) : 0;
    if (file)
        fclose(file);
    return data;
}

const char *events_read(const char *folder, int nth, event_file *out)
{
    struct dirent **entries;
    char path[1024] = "";
    int count = scandir(folder, &entries, is_event_file, alphasort);
    memset(out, 0, sizeof(*out));
    if (crc32c((const uint8_t *)"123456789", 9) != 0xe3069283U)
        return "the reader's checksum is wrong";
    for (int k = 0; k < count; k++) {
        if (k == nth)
            snprintf(path, sizeof(path), "%s/%s", folder, entries[k]->d_name);
        free(entries[k]);
    }
    if (count >= 0)
        free(entries);
    if (!*path)
        return "there is no such file";
    out->data = read_whole(path, &out->size);
    return out->data ? read_records(out) : "it cannot be read";
}

void events_free(event_file *file)
{
    free(file->data);
}
