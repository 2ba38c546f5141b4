/* SPDX-License-Identifier: Apache-2.0 */
#include "data/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "axle/status.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/bytes.h"

static const struct {
    const char *descr; /* without the byte order */
    int dtype;
} types[] = {
    {"f4", AXLE_DTYPE_F32}, {"f2", AXLE_DTYPE_F16}, {"f8", AXLE_DTYPE_F64},  {"u1", AXLE_DTYPE_U8},
    {"i4", AXLE_DTYPE_I32}, {"i8", AXLE_DTYPE_I64}, {"b1", AXLE_DTYPE_BOOL},
};
enum { TYPE_COUNT = sizeof(types) / sizeof(types[0]) };

/* A place in the dictionary. The first error stays in `code` and makes what follows a no-op. */
typedef struct cursor {
    const char *path, *next, *end;
    int code;
} cursor;

static void malformed(cursor *c, const char *what)
{
    if (!c->code)
        c->code = axle_error_set(AXLE_ERR_FORMAT, "%s: malformed .npy header: %s", c->path, what);
}

static void skip_blanks(cursor *c)
{
    while (c->next < c->end && strchr(" \t\n\r", *c->next) && *c->next)
        c->next++;
}

/* Step over a character, behind blanks, if it is the next. */
static bool take(cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->code || c->next == c->end || *c->next != wanted)
        return false;
    c->next++;
    return true;
}

static void expect(cursor *c, char wanted)
{
    char what[] = "a ' ' is missing";
    what[3] = wanted;
    if (!take(c, wanted))
        malformed(c, what);
}

/* A string in single or double quotes; `text` is left empty on error. */
static void parse_string(cursor *c, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    char quote = '\'';
    if (!take(c, quote)) {
        quote = '"';
        expect(c, quote);
    }
    while (!c->code && c->next < c->end && *c->next != quote && length + 1 < size)
        text[length++] = *c->next++;
    text[length] = '\0';
    expect(c, quote);
}

static bool take_word(cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->next) < length || memcmp(c->next, word, length) != 0)
        return false;
    c->next += length;
    return true;
}

static int64_t parse_dim(cursor *c)
{
    int64_t value = 0;
    skip_blanks(c);
    if (c->next == c->end || *c->next < '0' || *c->next > '9')
        malformed(c, "a dim is not a number from 0");
    while (!c->code && c->next < c->end && *c->next >= '0' && *c->next <= '9') {
        if (value > (INT64_MAX - 9) / 10)
            malformed(c, "a dim is too large");
        else
            value = value * 10 + (*c->next++ - '0');
    }
    return value;
}

static void parse_shape(cursor *c, axle__npy_header *header)
{
    expect(c, '(');
    while (!c->code && !take(c, ')')) {
        if (header->rank == AXLE_MAX_RANK) {
            malformed(c, "there are too many dims");
            return;
        }
        header->dims[header->rank++] = parse_dim(c);
        if (!take(c, ',')) {
            expect(c, ')');
            return;
        }
    }
}

static void parse_descr(cursor *c, axle__npy_header *header)
{
    char descr[64] = {0};
    parse_string(c, descr, sizeof(descr));
    bool native = descr[0] == '=' || descr[0] == '|', big = descr[0] == '>';
    for (size_t k = 0; !c->code && k < TYPE_COUNT; k++)
        if (strcmp(descr + 1, types[k].descr) == 0 && (native || big || descr[0] == '<'))
            header->dtype = types[k].dtype;
    header->swapped =
        !native && big != axle__host_is_big_endian() && axle_dtype_size(header->dtype) > 1;
    if (!c->code && !header->dtype)
        c->code = axle_error_set(AXLE_ERR_DTYPE, "%s: elements of type '%s' are not supported",
                                 c->path, descr);
}

static void parse_entry(cursor *c, axle__npy_header *header, unsigned *seen)
{
    char key[16];
    parse_string(c, key, sizeof(key));
    expect(c, ':');
    if (c->code)
        return;
    unsigned bit = 0;
    if (strcmp(key, "descr") == 0) {
        bit = 1;
        parse_descr(c, header);
    } else if (strcmp(key, "fortran_order") == 0) {
        bit = 2;
        header->fortran = take_word(c, "True");
        if (!header->fortran && !take_word(c, "False"))
            malformed(c, "fortran_order is neither True nor False");
    } else if (strcmp(key, "shape") == 0) {
        bit = 4;
        header->rank = 0;
        parse_shape(c, header);
    } else {
        malformed(c, "there is an unknown key");
    }
    if (*seen & bit)
        malformed(c, "a key is there twice");
    *seen |= bit;
}

static void parse_dictionary(cursor *c, axle__npy_header *header)
{
    unsigned seen = 0;
    expect(c, '{');
    while (!c->code && !take(c, '}')) {
        parse_entry(c, header, &seen);
        if (!take(c, ',')) {
            expect(c, '}');
            break;
        }
    }
    skip_blanks(c);
    if (c->next != c->end)
        malformed(c, "there is text behind the dictionary");
    if (seen != 7)
        malformed(c, "descr, fortran_order or shape is missing");
}

/* Where the dictionary lies. */
static int find_dictionary(const char *path, const char *bytes, size_t size, cursor *out)
{
    static const char magic[] = "\x93NUMPY";
    const unsigned char *byte = (const unsigned char *)bytes;
    if (size < 6 || memcmp(bytes, magic, 6) != 0)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: not a .npy file", path);
    size_t length_bytes = size > 6 && byte[6] == 1 ? 2 : 4, start = 8 + length_bytes, length = 0;
    if (size < start)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: truncated: the .npy header has %zu bytes", path,
                              size);
    if (byte[6] < 1 || byte[6] > 3 || byte[7] != 0)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: version %d.%d of .npy is unknown", path,
                              byte[6], byte[7]);
    for (size_t k = length_bytes; k > 0; k--)
        length = length << 8 | byte[8 + k - 1];
    if (length > size - start)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: truncated: only %zu of %zu bytes of the header",
                              path, size - start, length);
    *out = (cursor){path, bytes + start, bytes + start + length, AXLE_OK};
    return AXLE_OK;
}

int axle__npy_header_parse(const char *path, const char *bytes, size_t size, axle__npy_header *out)
{
    cursor c = {0};
    axle__npy_header header = {0};
    int code = find_dictionary(path, bytes, size, &c);
    if (code)
        return code;
    header.offset = (size_t)(c.end - bytes);
    parse_dictionary(&c, &header);
    if (c.code)
        return c.code;
    size_t total = axle_dtype_size(header.dtype);
    for (int k = 0; k < header.rank; k++)
        if ((uint64_t)header.dims[k] > SIZE_MAX ||
            !axle__size_mul(total, (size_t)header.dims[k], &total))
            return axle_error_set(AXLE_ERR_FORMAT, "%s: the product of its dims overflows", path);
    header.count = total / axle_dtype_size(header.dtype);
    *out = header;
    return AXLE_OK;
}

static const char *descr_of(int dtype)
{
    for (size_t k = 0; k < TYPE_COUNT; k++)
        if (types[k].dtype == dtype)
            return types[k].descr;
    return NULL;
}

int axle__npy_header_format(const char *path, int dtype, int rank, const int64_t *dims, char **out,
                            size_t *size)
{
    char dictionary[320];
    const char *descr = descr_of(dtype);
    if (!descr)
        return axle_error_set(AXLE_ERR_DTYPE, "cannot write %s: .npy files know no %s", path,
                              axle_dtype_name(dtype));
    char order = axle_dtype_size(dtype) == 1 ? '|' : axle__host_is_big_endian() ? '>' : '<';
    axle__text text;
    axle__text_init(&text, dictionary, sizeof(dictionary));
    axle__text_add(&text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order, descr);
    for (int k = 0; k < rank; k++)
        axle__text_add(&text, "%s%" PRId64 "%s", k ? ", " : "", dims[k], rank == 1 ? "," : "");
    axle__text_add(&text, "), }");
    /* Blanks and a newline fill up to a multiple of 64, where the elements begin. */
    size_t total = (10 + text.length + 1 + 63) / 64 * 64;
    char *header = axle__alloc(total, 1);
    if (!header)
        return AXLE_ERR_NOMEM;
    memset(header, ' ', total);
    memcpy(header, "\x93NUMPY\x01", 8);
    header[8] = (char)((total - 10) & 0xff);
    header[9] = (char)((total - 10) >> 8);
    memcpy(header + 10, dictionary, text.length);
    header[total - 1] = '\n';
    *out = header;
    *size = total;
    return AXLE_OK;
}
