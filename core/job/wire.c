/* SPDX-License-Identifier: Apache-2.0 */
#include "job/wire.h"

#include <string.h>

#include "base/memory.h"

static const unsigned char magic[4] = {'A', 'X', 'L', 'C'};

static bool grow(axle__wire_writer *writer, size_t more)
{
    size_t needed, capacity;
    if (!axle__size_add(writer->size, more, &needed))
        return false;
    if (needed <= writer->capacity)
        return true;
    capacity = writer->capacity ? writer->capacity : 64;
    while (capacity < needed)
        if (!axle__size_mul(capacity, 2, &capacity))
            return false;
    unsigned char *data = axle__resize(writer->data, capacity, 1);
    if (!data)
        return false;
    writer->data = data;
    writer->capacity = capacity;
    return true;
}

void axle__wire_put(axle__wire_writer *writer, const void *bytes, size_t size)
{
    if (writer->failed || !grow(writer, size)) {
        writer->failed = true;
        return;
    }
    if (size > 0)
        memcpy(writer->data + writer->size, bytes, size);
    writer->size += size;
}

static void put_number(axle__wire_writer *writer, uint64_t value, size_t bytes)
{
    unsigned char text[8];
    for (size_t k = 0; k < bytes; k++)
        text[k] = (unsigned char)(value >> (8 * k));
    axle__wire_put(writer, text, bytes);
}

void axle__wire_put_u8(axle__wire_writer *writer, uint8_t value)
{
    put_number(writer, value, 1);
}

void axle__wire_put_u32(axle__wire_writer *writer, uint32_t value)
{
    put_number(writer, value, 4);
}

void axle__wire_put_u64(axle__wire_writer *writer, uint64_t value)
{
    put_number(writer, value, 8);
}

void axle__wire_put_text(axle__wire_writer *writer, const char *text)
{
    axle__wire_put_value(writer, text, strlen(text));
}

void axle__wire_put_value(axle__wire_writer *writer, const void *bytes, size_t size)
{
    if (size > UINT32_MAX) {
        writer->failed = true;
        return;
    }
    axle__wire_put_u32(writer, (uint32_t)size);
    axle__wire_put(writer, bytes, size);
}

void axle__wire_free(axle__wire_writer *writer)
{
    axle__free(writer->data);
    *writer = (axle__wire_writer){0};
}

const unsigned char *axle__wire_get(axle__wire_reader *reader, size_t size)
{
    if (reader->failed || (size_t)(reader->end - reader->next) < size) {
        reader->failed = true;
        return NULL;
    }
    const unsigned char *bytes = reader->next;
    reader->next += size;
    return bytes;
}

static uint64_t get_number(axle__wire_reader *reader, size_t bytes)
{
    const unsigned char *text = axle__wire_get(reader, bytes);
    uint64_t value = 0;
    for (size_t k = 0; text && k < bytes; k++)
        value |= (uint64_t)text[k] << (8 * k);
    return value;
}

uint8_t axle__wire_get_u8(axle__wire_reader *reader)
{
    return (uint8_t)get_number(reader, 1);
}

uint32_t axle__wire_get_u32(axle__wire_reader *reader)
{
    return (uint32_t)get_number(reader, 4);
}

uint64_t axle__wire_get_u64(axle__wire_reader *reader)
{
    return get_number(reader, 8);
}

void axle__wire_get_text(axle__wire_reader *reader, char *text, size_t size)
{
    size_t length = 0;
    const unsigned char *bytes = axle__wire_get_value(reader, &length);
    text[0] = '\0';
    if (!bytes)
        return;
    if (length >= size) {
        reader->failed = true;
        return;
    }
    for (size_t k = 0; k < length; k++)
        text[k] = (char)(bytes[k] < ' ' || bytes[k] == 0x7f ? '?' : bytes[k]);
    text[length] = '\0';
}

const unsigned char *axle__wire_get_value(axle__wire_reader *reader, size_t *size)
{
    size_t length = axle__wire_get_u32(reader);
    const unsigned char *bytes = axle__wire_get(reader, length);
    *size = bytes ? length : 0;
    return bytes;
}

bool axle__wire_done(const axle__wire_reader *reader)
{
    return !reader->failed && reader->next == reader->end;
}

void axle__wire_header(unsigned char *header, int kind, size_t size)
{
    memcpy(header, magic, sizeof(magic));
    header[4] = AXLE__WIRE_VERSION;
    header[5] = (unsigned char)kind;
    header[6] = header[7] = 0;
    for (int k = 0; k < 4; k++)
        header[8 + k] = (unsigned char)(size >> (8 * k));
}

bool axle__wire_parse_header(const unsigned char *header, int *kind, size_t *size)
{
    if (memcmp(header, magic, sizeof(magic)) != 0 || header[4] != AXLE__WIRE_VERSION ||
        header[5] == 0 || header[5] >= AXLE__WIRE_KINDS || header[6] || header[7])
        return false;
    *kind = header[5];
    *size = 0;
    for (int k = 0; k < 4; k++)
        *size |= (size_t)header[8 + k] << (8 * k);
    return true;
}
