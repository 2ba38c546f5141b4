/* SPDX-License-Identifier: Apache-2.0 */
#include "spec.h"

#include <stdlib.h>
#include <string.h>

#include "dtype.h"

static int starts(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

static uint32_t dtype_of(const char *text, size_t length, uint32_t dtype)
{
    if (starts(text, length, "x"))
        return dtype;
    if (starts(text, length, "stat"))
        return dtype == AXLE_DTYPE_F64 ? AXLE_DTYPE_F64 : AXLE_DTYPE_F32;
    return dtype_find(text, length);
}

/* Numbers with commas between, up to `)` or the end. */
static int read_dims(const char **text, operand_spec *out)
{
    const char *at = *text;
    while (*at && *at != ')') {
        char *end;
        if (out->rank == AXLE_MAX_RANK)
            return 0;
        out->repeats[out->rank] = *at == '~';
        at += *at == '~';
        out->dim[out->rank++] = strtoll(at, &end, 10);
        if (end == at)
            return 0;
        at = *end == ',' ? end + 1 : end;
    }
    *text = at;
    return 1;
}

static int read_operand(const char **text, const char *shape, uint32_t dtype, operand_spec *out)
{
    const char *at = *text;
    out->kind = SPEC_OPERAND;
    out->updated = *at == '+';
    at += *at == '+';
    const size_t word = strcspn(at, ":(");
    out->dtype = dtype_of(at, word, dtype);
    at += word;
    if (*at == ':') {
        const size_t length = strcspn(++at, "(");
        if (length >= sizeof(out->domain))
            return 0;
        memcpy(out->domain, at, length);
        at += length;
    }
    if (*at++ != '(' || !out->dtype)
        return 0;
    if (*at == '*') {
        if (!shape || !read_dims(&shape, out))
            return 0;
        at++;
    } else if (!read_dims(&at, out)) {
        return 0;
    }
    if (*at++ != ')')
        return 0;
    if (*at == '=') {
        char *end;
        out->parameter = strtod(at + 1, &end);
        at = end;
    }
    *text = at;
    return *at == ' ' || *at == '\0';
}

int spec_next(const char **text, const char *shape, uint32_t dtype, operand_spec *out)
{
    const char *at = *text ? *text : "";
    *out = (operand_spec){.kind = SPEC_ABSENT};
    at += strspn(at, " ");
    if (*at == '\0')
        return 0;
    if (*at == '-') {
        *text = at + 1;
        return 1;
    }
    if (*at == '@' || *at == '#') {
        char *end;
        out->kind = *at == '@' ? SPEC_ALIAS : SPEC_NUMBER;
        out->number = (int)strtol(at + 1, &end, 10);
        *text = end;
        return 1;
    }
    *text = at;
    return read_operand(text, shape, dtype, out) ? 1 : -1;
}
