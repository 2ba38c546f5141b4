/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "tokens.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "axle/device.h"
#include "axle/status.h"

enum { MOST_THREADS = 64, ROWS_A_THREAD = 256, SPECIAL_ROOM = 16 };

/* Rows that one thread encodes. */
typedef struct part {
    const text_rows *rows;
    const axle_text_encoder *encoder;
    int64_t max_length, first, last;
    int64_t *lengths; /* of all rows */
    int32_t *ids;
    uint8_t *types;
    int64_t count, room;
    int has_types;
    int64_t *row_ids, *row_types; /* of the row under way */
    int64_t row_room;
    int code;
    char message[400];
} part;

static int no_memory(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "texts: out of memory");
}

/* ------------------------------------------------------------------ a row */

static int grow_row(part *part, int64_t room)
{
    if (room <= part->row_room)
        return AXLE_OK;
    int64_t *both = malloc(2 * (size_t)room * sizeof(*both));
    if (!both)
        return no_memory();
    free(part->row_ids);
    part->row_ids = both;
    part->row_types = both + room;
    part->row_room = room;
    return AXLE_OK;
}

/* Encode a row into the part's buffers, once more where the room was too little. */
static int encode_row(part *part, int64_t row, int64_t *length)
{
    const text_rows *rows = part->rows;
    const char *text = rows->texts[row], *pair = rows->pairs ? rows->pairs[row] : NULL;
    int64_t room = part->max_length;
    if (room == 0)
        room = (int64_t)(strlen(text) + (pair ? strlen(pair) : 0)) + SPECIAL_ROOM;
    for (int again = 0; again < 2; again++) {
        int code = grow_row(part, room);
        if (code)
            return code;
        int64_t n = part->encoder->encode(part->encoder->user, text, pair, part->max_length,
                                          part->row_room, part->row_ids, part->row_types);
        if (n < 0)
            return (int)n;
        *length = n;
        if (n <= part->row_room)
            break;
        room = n;
    }
    if (*length <= part->row_room && (part->max_length == 0 || *length <= part->max_length))
        return AXLE_OK;
    return axle__text_rows_error(rows, row, AXLE_ERR_INVALID, "the encoder gave %" PRId64 " tokens",
                                 *length);
}

static int grow(part *part, int64_t more)
{
    if (part->count + more <= part->room)
        return AXLE_OK;
    int64_t room = 2 * part->room + more + 1024;
    int32_t *ids = realloc(part->ids, (size_t)room * sizeof(*ids));
    if (ids)
        part->ids = ids;
    uint8_t *types = realloc(part->types, (size_t)room);
    if (types)
        part->types = types;
    if (!ids || !types)
        return no_memory();
    part->room = room;
    return AXLE_OK;
}

static int add_row(part *part, int64_t row)
{
    int64_t length;
    int code = encode_row(part, row, &length);
    if (!code)
        code = grow(part, length);
    if (code)
        return code;
    for (int64_t k = 0; k < length; k++) {
        part->ids[part->count + k] = (int32_t)part->row_ids[k];
        part->types[part->count + k] = (uint8_t)part->row_types[k];
        part->has_types |= part->row_types[k] != 0;
    }
    part->lengths[row] = length;
    part->count += length;
    return AXLE_OK;
}

/* ------------------------------------------------------------------ threads */

/* Errors are recorded for the thread that meets them, so the message is carried over. */
static void *encode_part(void *user)
{
    part *part = user;
    for (int64_t row = part->first; row < part->last && !part->code; row++) {
        part->code = add_row(part, row);
        if (part->code && axle_error_code())
            strncpy(part->message, axle_error_message(), sizeof(part->message) - 1);
    }
    free(part->row_ids);
    axle_error_clear();
    return NULL;
}

/* The last part is the caller's own work; so is one whose thread cannot be had. */
static void encode_parts(part *parts, int n)
{
    pthread_t threads[MOST_THREADS];
    int started[MOST_THREADS] = {0};
    for (int k = 0; k + 1 < n; k++)
        started[k] = pthread_create(&threads[k], NULL, encode_part, &parts[k]) == 0;
    for (int k = 0; k < n; k++)
        if (!started[k])
            encode_part(&parts[k]);
    for (int k = 0; k + 1 < n; k++)
        if (started[k])
            pthread_join(threads[k], NULL);
}

static int count_threads(int64_t rows, int wanted)
{
    int64_t n = wanted > 0 ? wanted : axle_usable_cores(), most = rows / ROWS_A_THREAD + 1;
    n = n < most ? n : most;
    return (int)(n < MOST_THREADS ? n : MOST_THREADS);
}

/* ------------------------------------------------------------------ all rows */

static int first_error(const part *parts, int n)
{
    for (int k = 0; k < n; k++)
        if (parts[k].code)
            return axle_error_set(parts[k].code, "%s",
                                  *parts[k].message ? parts[k].message
                                                    : "texts: the encoder failed");
    return AXLE_OK;
}

static int join(const part *parts, int n, text_tokens *tokens)
{
    int64_t count = 0, at = 0;
    int has_types = 0;
    for (int k = 0; k < n; k++) {
        count += parts[k].count;
        has_types |= parts[k].has_types;
    }
    tokens->ids = malloc((size_t)count * sizeof(*tokens->ids) + 1);
    tokens->types = has_types ? malloc((size_t)count) : NULL;
    if (!tokens->ids || (has_types && !tokens->types))
        return no_memory();
    for (int k = 0; k < n; at += parts[k++].count) {
        if (parts[k].count == 0)
            continue;
        memcpy(tokens->ids + at, parts[k].ids, (size_t)parts[k].count * sizeof(*tokens->ids));
        if (has_types)
            memcpy(tokens->types + at, parts[k].types, (size_t)parts[k].count);
    }
    return AXLE_OK;
}

int axle__text_tokens_make(const text_rows *rows, const axle_text_options *options,
                           const axle_text_encoder *encoder, text_tokens *tokens)
{
    int n = count_threads(rows->count, options->threads);
    part parts[MOST_THREADS];
    tokens->starts = calloc((size_t)rows->count + 1, sizeof(*tokens->starts));
    if (!tokens->starts)
        return no_memory();
    for (int k = 0; k < n; k++)
        parts[k] = (part){.rows = rows,
                          .encoder = encoder,
                          .max_length = options->max_length,
                          .first = rows->count * k / n,
                          .last = rows->count * (k + 1) / n,
                          .lengths = tokens->starts + 1};
    encode_parts(parts, n);
    int code = first_error(parts, n);
    if (!code)
        code = join(parts, n, tokens);
    for (int k = 0; k < n; k++) {
        free(parts[k].ids);
        free(parts[k].types);
    }
    /* Lengths become the places where rows end. */
    for (int64_t k = 0; k < rows->count; k++)
        tokens->starts[k + 1] += tokens->starts[k];
    return code;
}

void axle__text_tokens_clear(text_tokens *tokens)
{
    free(tokens->starts);
    free(tokens->ids);
    free(tokens->types);
    *tokens = (text_tokens){0};
}
