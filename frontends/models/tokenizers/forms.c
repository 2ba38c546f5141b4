/* SPDX-License-Identifier: Apache-2.0 */
#include "forms.h"

#include "unicode.h"

/* It is no composition where the tables were made that vocabularies rest on. */
enum { DIVES_AKURU_O = 0x11938 };

static bool push(axle__pieces *out, int32_t c, int32_t change)
{
    axle__piece *items =
        axle__grow(out->items, &out->capacity, out->count + 1, sizeof(axle__piece));
    if (!items)
        return false;
    out->items = items;
    items[out->count++] = (axle__piece){c, change};
    return true;
}

/* Marks stand in the order of their combining classes; equal ones as they came. */
static void settle(axle__pieces *out, size_t first)
{
    axle__piece last = out->items[out->count - 1];
    int class = axle__unicode_combining_class(last.c);
    size_t k = out->count - 1;
    for (; k > first && axle__unicode_combining_class(out->items[k - 1].c) > class; k--)
        out->items[k] = out->items[k - 1];
    out->items[k] = last;
}

bool axle__decompose(const axle__aligned *text, int compatible, axle__pieces *out)
{
    int32_t parts[AXLE__LONGEST_DECOMPOSITION], c = 0;
    size_t block = 0;
    out->count = 0;
    for (size_t k = 0; k < text->length;) {
        k += axle__utf8_get(text->text + k, text->length - k, &c);
        parts[0] = c;
        bool whole = c < 0xA0 || c == DIVES_AKURU_O;
        int n = whole ? 1 : axle__unicode_decompose(c, compatible, parts);
        for (int j = 0; j < n; j++) {
            if (!push(out, parts[j], j > 0))
                return false;
            if (parts[j] < 0x300 || axle__unicode_combining_class(parts[j]) == 0)
                block = out->count;
            else
                settle(out, block);
        }
    }
    return true;
}

/* Pieces are read at `k` and written at `end`, which is not beyond it. A starter waits at `starter`
 * for what it may be composed with; marks after it that it was not composed with follow it. */
void axle__compose(axle__pieces *pieces)
{
    axle__piece *items = pieces->items;
    size_t end = 0, starter = SIZE_MAX;
    int last = -1;
    for (size_t k = 0; k < pieces->count; k++) {
        axle__piece piece = items[k];
        int class = axle__unicode_combining_class(piece.c);
        bool blocked = starter == SIZE_MAX || (last >= 0 && last >= class);
        int32_t both = blocked ? 0 : axle__unicode_compose(items[starter].c, piece.c);
        if (both) {
            items[starter] = (axle__piece){both, items[starter].change + piece.change - 1};
            continue;
        }
        if (class == 0) {
            starter = end;
            last = -1;
        } else {
            last = class;
        }
        items[end++] = piece;
    }
    pieces->count = end;
}

/* The text's characters in turn. */
typedef struct source {
    const axle__aligned *text;
    size_t position;
    axle__span last; /* of the last one taken */
} source;

static axle__span take(source *from)
{
    int32_t c;
    if (from->position >= from->text->length)
        return from->last;
    axle__span span = from->text->spans[from->position];
    size_t left = from->text->length - from->position;
    from->position += axle__utf8_get(from->text->text + from->position, left, &c);
    from->last = from->text->spans[from->position - 1];
    return span;
}

bool axle__pieces_write(const axle__aligned *text, const axle__pieces *pieces, bool strip,
                        axle__aligned *out)
{
    source from = {text, 0, {0, 0}};
    if (!axle__aligned_reserve(out, 4 * pieces->count))
        return false;
    for (size_t k = 0; k < pieces->count; k++) {
        axle__piece piece = pieces->items[k];
        axle__span span = piece.change > 0 ? from.last : take(&from);
        if (!strip || !(axle__classes(piece.c) & AXLE__MARK))
            axle__aligned_put(out, piece.c, span);
        for (; piece.change < 0; piece.change++)
            take(&from);
    }
    return true;
}
