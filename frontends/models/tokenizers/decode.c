/* SPDX-License-Identifier: Apache-2.0 */
/* Ids to text. */
#include <stdlib.h>
#include <string.h>

#include "tokenizer.h"

/* Text that grows; a failure stays, and what follows does nothing. Starts as {0}. */
typedef struct text {
    char *bytes;
    size_t length, room;
    bool failed;
} text;

static void put(text *out, const char *bytes, size_t length)
{
    char *grown =
        out->failed ? NULL : axle__grow(out->bytes, &out->room, out->length + length + 1, 1);
    if (!grown) {
        out->failed = true;
        return;
    }
    out->bytes = grown;
    memcpy(grown + out->length, bytes, length);
    out->length += length;
    grown[out->length] = '\0';
}

/* ---- WordPiece */

/* What stands apart as tokens and not in a text, in the order in which it is replaced. */
static const char *const cleaned[][2] = {
    {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
    {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
    {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
};
enum { CLEANED = sizeof(cleaned) / sizeof(cleaned[0]) };

/* The replacements are not longer than what they replace. */
static size_t replace(char *bytes, size_t length, const char *from, const char *to)
{
    size_t size = strlen(from), end = 0;
    for (size_t k = 0; k < length;) {
        if (length - k >= size && memcmp(bytes + k, from, size) == 0) {
            memcpy(bytes + end, to, strlen(to));
            end += strlen(to);
            k += size;
        } else {
            bytes[end++] = bytes[k++];
        }
    }
    return end;
}

static void put_piece(const axle_tokenizer *tokenizer, const char *token, bool first, text *out)
{
    size_t prefix = strlen(tokenizer->decoder_prefix), begin = out->length;
    if (!first && strncmp(token, tokenizer->decoder_prefix, prefix) == 0)
        token += prefix;
    else if (!first)
        put(out, " ", 1);
    put(out, token, strlen(token));
    if (out->failed || !tokenizer->decoder_cleans)
        return;
    size_t length = out->length - begin;
    for (int k = 0; k < CLEANED; k++)
        length = replace(out->bytes + begin, length, cleaned[k][0], cleaned[k][1]);
    out->length = begin + length;
    out->bytes[out->length] = '\0';
}

/* ---- byte level */

/* The byte that a character of the alphabet stands for; -1: it is none. */
static int byte_of(int32_t c)
{
    if ((c >= 33 && c <= 126) || (c >= 161 && c <= 255 && c != 173))
        return c;
    if (c < 0x100 || c > 0x143)
        return -1;
    int n = c - 0x100;
    return n < 33 ? n : n < 67 ? 127 + n - 33 : 173;
}

/* A token that has a character of no byte stands for itself. */
static void put_bytes(const char *token, text *out)
{
    size_t length = strlen(token), begin = out->length;
    int32_t c;
    for (size_t k = 0; k < length;) {
        k += axle__utf8_get(token + k, length - k, &c);
        char byte = (char)byte_of(c);
        if (byte_of(c) < 0) {
            out->length = begin;
            put(out, token, length);
            return;
        }
        put(out, &byte, 1);
    }
}

/* U+FFFD for what is not well-formed. */
static text repair(const text *in)
{
    text out = {NULL, 0, 0, in->failed};
    char sign[4];
    int32_t c;
    for (size_t k = 0; k < in->length && !out.failed;) {
        k += axle__utf8_get(in->bytes + k, in->length - k, &c);
        put(&out, sign, axle__utf8_put(sign, c));
    }
    return out;
}

/* ---- all */

static int put_tokens(const axle_tokenizer *tokenizer, const int64_t *ids, int64_t n,
                      int skip_special, text *out)
{
    bool first = true;
    for (int64_t k = 0; k < n; k++) {
        const char *token = axle__token_text(tokenizer, ids[k]);
        if (!token)
            return axle_error_set(AXLE_ERR_INDEX, "decode: no token has the id %lld",
                                  (long long)ids[k]);
        const axle__added_token *added = axle__added_find(&tokenizer->added, (int32_t)ids[k]);
        if (skip_special && added && added->special)
            continue;
        if (tokenizer->decoder == AXLE__DECODE_BYTE_LEVEL)
            put_bytes(token, out);
        else if (tokenizer->decoder == AXLE__DECODE_WORDPIECE)
            put_piece(tokenizer, token, first, out);
        else {
            put(out, " ", first ? 0 : 1);
            put(out, token, strlen(token));
        }
        first = false;
    }
    return AXLE_OK;
}

int axle_tokenizer_decode(const axle_tokenizer *tokenizer, const int64_t *ids, int64_t n,
                          int skip_special, char **out)
{
    text decoded = {NULL, 0, 0, false};
    put(&decoded, "", 0);
    int status = put_tokens(tokenizer, ids, n, skip_special, &decoded);
    if (!status && tokenizer->decoder == AXLE__DECODE_BYTE_LEVEL) {
        text repaired = repair(&decoded);
        put(&repaired, "", 0);
        free(decoded.bytes);
        decoded = repaired;
    }
    if (!status && decoded.failed)
        status = AXLE_ERR_NOMEM;
    if (status) {
        free(decoded.bytes);
        return status;
    }
    *out = decoded.bytes;
    return AXLE_OK;
}
