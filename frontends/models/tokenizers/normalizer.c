/* SPDX-License-Identifier: Apache-2.0 */
#include "normalizer.h"

#include <stdlib.h>

#include "unicode.h"

void axle__normalized_free(axle__normalized *normalized)
{
    axle__aligned_free(&normalized->text);
    axle__aligned_free(&normalized->other);
    free(normalized->pieces.items);
}

/* ---- steps: they append to `out` what becomes of `in` */

typedef bool step_fn(const axle__aligned *in, axle__normalized *work, axle__aligned *out);

static bool clean(const axle__aligned *in, axle__normalized *work, axle__aligned *out)
{
    int32_t c = 0;
    (void)work;
    if (!axle__aligned_reserve(out, in->length + 4))
        return false;
    for (size_t k = 0, next; k < in->length; k = next) {
        next = k + axle__utf8_get(in->text + k, in->length - k, &c);
        unsigned classes = axle__classes(c);
        if (!(classes & AXLE__REMOVED))
            axle__aligned_put(out, classes & AXLE__SPACE ? ' ' : c, in->spans[k]);
    }
    return true;
}

static bool chinese(const axle__aligned *in, axle__normalized *work, axle__aligned *out)
{
    int32_t c = 0;
    (void)work;
    /* The characters in question are of three bytes or more. */
    if (!axle__aligned_reserve(out, 2 * in->length + 4))
        return false;
    for (size_t k = 0, next; k < in->length; k = next) {
        next = k + axle__utf8_get(in->text + k, in->length - k, &c);
        bool spaced = c >= 0x3400 && axle__classes(c) & AXLE__CHINESE;
        if (spaced)
            axle__aligned_put(out, ' ', in->spans[k]);
        axle__aligned_put(out, c, in->spans[k]);
        if (spaced)
            axle__aligned_put(out, ' ', in->spans[next - 1]);
    }
    return true;
}

static bool lowercase(const axle__aligned *in, axle__normalized *work, axle__aligned *out)
{
    int32_t c = 0, lower[2];
    (void)work;
    if (!axle__aligned_reserve(out, 2 * in->length + 4))
        return false;
    for (size_t k = 0, next; k < in->length; k = next) {
        next = k + axle__utf8_get(in->text + k, in->length - k, &c);
        int n = axle__unicode_lower(c, lower);
        axle__aligned_put(out, lower[0], in->spans[k]);
        if (n > 1)
            axle__aligned_put(out, lower[1], in->spans[next - 1]);
    }
    return true;
}

static bool write_form(const axle__aligned *in, axle__normalized *work, axle__aligned *out,
                       bool compatible, bool composed, bool strip)
{
    if (!axle__decompose(in, compatible, &work->pieces))
        return false;
    if (composed)
        axle__compose(&work->pieces);
    return axle__pieces_write(in, &work->pieces, strip, out);
}

static bool strip(const axle__aligned *in, axle__normalized *work, axle__aligned *out)
{
    return write_form(in, work, out, false, false, true);
}

static bool nfc(const axle__aligned *in, axle__normalized *work, axle__aligned *out)
{
    return write_form(in, work, out, false, true, false);
}

static bool nfd(const axle__aligned *in, axle__normalized *work, axle__aligned *out)
{
    return write_form(in, work, out, false, false, false);
}

static bool nfkc(const axle__aligned *in, axle__normalized *work, axle__aligned *out)
{
    return write_form(in, work, out, true, true, false);
}

static bool nfkd(const axle__aligned *in, axle__normalized *work, axle__aligned *out)
{
    return write_form(in, work, out, true, false, false);
}

static step_fn *const steps[] = {
    [AXLE__STEP_CLEAN] = clean,         [AXLE__STEP_CHINESE] = chinese, [AXLE__STEP_STRIP] = strip,
    [AXLE__STEP_LOWERCASE] = lowercase, [AXLE__STEP_NFC] = nfc,         [AXLE__STEP_NFD] = nfd,
    [AXLE__STEP_NFKC] = nfkc,           [AXLE__STEP_NFKD] = nfkd,
};

/* ---- all of them */

static bool has(const axle__normalizer *normalizer, axle__step_kind kind)
{
    for (int k = 0; k < normalizer->count; k++)
        if (normalizer->steps[k] == kind)
            return true;
    return false;
}

/* Of ASCII nothing but the steps that clean and lower change anything, and they may come first.
 * Returns whether it was all ASCII; then the result is complete. */
static bool ascii(const axle__normalizer *normalizer, const char *text, size_t length,
                  size_t offset, axle__aligned *out)
{
    bool cleans = has(normalizer, AXLE__STEP_CLEAN), lowers = has(normalizer, AXLE__STEP_LOWERCASE);
    size_t end = out->length;
    for (size_t k = 0; k < length; k++) {
        unsigned char c = (unsigned char)text[k];
        if (c >= 0x80)
            return false;
        unsigned classes = axle__ascii_classes[c];
        if (cleans && classes & AXLE__REMOVED)
            continue;
        if (cleans && classes & AXLE__SPACE)
            c = ' ';
        if (lowers && c >= 'A' && c <= 'Z')
            c |= 0x20;
        out->text[end] = (char)c;
        out->spans[end++] = (axle__span){(uint32_t)(offset + k), (uint32_t)(offset + k + 1)};
    }
    out->length = end;
    return true;
}

/* The text as it is, but for U+FFFD in the place of what is not well-formed. */
static void copy(const char *text, size_t length, size_t offset, axle__aligned *out)
{
    int32_t c = 0;
    for (size_t k = 0, next; k < length; k = next) {
        next = k + axle__utf8_get(text + k, length - k, &c);
        axle__span span = {(uint32_t)(offset + k), (uint32_t)(offset + next)};
        axle__aligned_put(out, c, span);
    }
}

static bool start(axle__aligned *out, size_t room)
{
    out->length = 0;
    if (!axle__aligned_reserve(out, room + 1))
        return false;
    out->text[0] = ' ';
    out->spans[0] = (axle__span){0, 0};
    out->length = 1;
    return true;
}

/* Without the byte in front. */
static axle__aligned body(const axle__aligned *whole)
{
    return (axle__aligned){whole->text + 1, whole->spans + 1, whole->length - 1, 0};
}

bool axle__normalize(const axle__normalizer *normalizer, const char *text, size_t length,
                     size_t offset, axle__normalized *result)
{
    if (!start(&result->text, 3 * length + 4))
        return false;
    if (ascii(normalizer, text, length, offset, &result->text))
        return true;
    copy(text, length, offset, &result->text);
    for (int k = 0; k < normalizer->count; k++) {
        axle__aligned in = body(&result->text);
        if (!start(&result->other, in.length) ||
            !steps[normalizer->steps[k]](&in, result, &result->other))
            return false;
        axle__aligned done = result->other;
        result->other = result->text;
        result->text = done;
    }
    return true;
}
