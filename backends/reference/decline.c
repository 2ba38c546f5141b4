/* SPDX-License-Identifier: Apache-2.0 */
/* The message that says which operands an operator does not take. */
#include "slots.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

typedef struct text {
    char characters[384];
    size_t length;
} text;

AXLE_PRINTF(2, 3) static void text_add(text *t, const char *format, ...);

static void text_add(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n =
        vsnprintf(t->characters + t->length, sizeof(t->characters) - t->length, format, args);
    va_end(args);
    if (n > 0)
        t->length += (size_t)n;
    if (t->length >= sizeof(t->characters))
        t->length = sizeof(t->characters) - 1;
}

static void text_add_views(text *t, const axle_view *const *view, uint32_t n)
{
    static const char *const names[] = {
#define NAME(name, number, bytes, text) [number] = text,
        AXLE_DTYPE_LIST(NAME)
#undef NAME
    };
    for (uint32_t k = 0; k < n; k++) {
        text_add(t, k ? ", " : "");
        if (!view[k]) {
            text_add(t, "none");
            continue;
        }
        const uint32_t dtype = view[k]->dtype;
        const char *name = ref_dtype_size(dtype) ? names[dtype] : "unknown";
        text_add(t, "%s (", name);
        for (uint32_t d = 0; d < view[k]->rank && d < AXLE_MAX_RANK; d++)
            text_add(t, d ? ", %" PRId64 : "%" PRId64, view[k]->dim[d]);
        text_add(t, ")");
    }
}

/* The kind of an operator that has kinds, or "". Attributes with a kind all begin alike. */
static const char *kind_of(const axle_op_desc *desc)
{
#define KIND(number, name, text, ...) [number] = text,
    static const char *const unary[AXLE_UNARY_LIMIT] = {AXLE_UNARY_LIST(KIND)};
    static const char *const binary[AXLE_BINARY_LIMIT] = {AXLE_BINARY_LIST(KIND)};
#undef KIND
#define KIND(number, name, text) [number] = text,
    static const char *const reduce[AXLE_REDUCE_LIMIT] = {AXLE_REDUCE_LIST(KIND)};
#undef KIND
    static const struct {
        const char *const *names;
        uint32_t limit;
    } kinds[AXLE_OP_LIMIT] = {
        [AXLE_OP_UNARY] = {unary, AXLE_UNARY_LIMIT},
        [AXLE_OP_UNARY_BACKWARD] = {unary, AXLE_UNARY_LIMIT},
        [AXLE_OP_BINARY] = {binary, AXLE_BINARY_LIMIT},
        [AXLE_OP_REDUCE] = {reduce, AXLE_REDUCE_LIMIT},
        [AXLE_OP_ARG_REDUCE] = {reduce, AXLE_REDUCE_LIMIT},
    };
    if (!kinds[desc->op].names)
        return "";
    const uint32_t kind = ((const axle_unary_attrs *)desc->attrs)->kind;
    const char *name = kind < kinds[desc->op].limit ? kinds[desc->op].names[kind] : NULL;
    return name ? name : "of unknown kind";
}

axle_status ref_decline(const axle_op_desc *desc, const char *name, axle_error *error)
{
    text t = {.length = 0};
    const char *kind = kind_of(desc);
    text_add(&t, "%s%s%s: the reference backend does not take ", name, *kind ? " " : "", kind);
    text_add_views(&t, desc->in, desc->n_in);
    text_add(&t, " -> ");
    text_add_views(&t, desc->out, desc->n_out);
    return ref_fail(error, AXLE_ERR_UNSUPPORTED, "%s", t.characters);
}
