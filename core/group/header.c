/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "axle/status.h"
#include "group/task.h"

static const struct kind {
    const char *text;
    int checks;
} kinds[] = {
#define AXLE__TASK_ROW(name, text, checks) [AXLE__TASK_##name] = {text, checks},
    AXLE__TASK_LIST(AXLE__TASK_ROW)
#undef AXLE__TASK_ROW
};

static const char *reduction_text(int reduction)
{
    switch (reduction) {
#define AXLE__REDUCTION_CASE(number, name, text)                                                   \
    case AXLE_REDUCE_##name:                                                                       \
        return text;
        AXLE_REDUCE_LIST(AXLE__REDUCTION_CASE)
#undef AXLE__REDUCTION_CASE
    default:
        return "?";
    }
}

static const struct kind *kind_of(const axle__header *header)
{
    static const struct kind unknown = {"something unknown", 0};
    return header->kind > 0 && header->kind < AXLE__TASK_LIMIT ? &kinds[header->kind] : &unknown;
}

const char *axle__task_name(const axle__header *header)
{
    return kind_of(header)->text;
}

/* snprintf that appends; returns the new end. */
static size_t append_dims(const axle__header *header, char *text, size_t size, size_t end)
{
    if (end >= size)
        return end;
    end += (size_t)snprintf(text + end, size - end, " of (");
    for (int k = 0; k < header->rank && k < AXLE_MAX_RANK && end < size; k++)
        end += (size_t)snprintf(text + end, size - end, "%s%lld", k ? ", " : "",
                                (long long)header->dims[k]);
    const char *dtype = axle_dtype_name(header->dtype);
    if (end < size)
        end += (size_t)snprintf(text + end, size - end, ") %s", dtype ? dtype : "?");
    return end;
}

const char *axle__header_text(const axle__header *header, char *text, size_t size)
{
    const struct kind *kind = kind_of(header);
    size_t end = (size_t)snprintf(text, size, "%s", kind->text);
    if (kind->checks & AXLE__CHECK_REDUCTION && end < size)
        end += (size_t)snprintf(text + end, size - end, " (%s)", reduction_text(header->reduction));
    if (header->dtype)
        end = append_dims(header, text, size, end);
    if (kind->checks & AXLE__CHECK_ROOT && end < size)
        end += (size_t)snprintf(text + end, size - end, " root %d", header->root);
    if (header->site[0] && end < size)
        snprintf(text + end, size - end, " at %.*s", AXLE__SITE_SIZE, header->site);
    return text;
}

static bool same_dims(const axle__header *a, const axle__header *b, int from)
{
    if (a->dtype != b->dtype || a->rank != b->rank)
        return false;
    for (int k = from; k < a->rank && k < AXLE_MAX_RANK; k++)
        if (a->dims[k] != b->dims[k])
            return false;
    return true;
}

static bool same_request(const axle__header *a, const axle__header *b)
{
    int checks = kind_of(a)->checks;
    return a->magic == b->magic && a->sequence == b->sequence && a->kind == b->kind &&
           a->weighted == b->weighted && (!(checks & AXLE__CHECK_ROOT) || a->root == b->root) &&
           (!(checks & AXLE__CHECK_REDUCTION) || a->reduction == b->reduction) &&
           (!(checks & AXLE__CHECK_DIMS) || same_dims(a, b, 0)) &&
           (!(checks & AXLE__CHECK_ROWS) || same_dims(a, b, 1));
}

/* Runs of processes that ask for the same, each with what it asks for. */
static int differ(const axle__header *all, int size)
{
    char text[AXLE__TASK_MESSAGE], one[256];
    size_t end = 0;
    for (int first = 0, next; first < size && end < sizeof(text); first = next) {
        for (next = first + 1; next < size && same_request(&all[first], &all[next]) &&
                               same_dims(&all[first], &all[next], 0);)
            next++;
        const char *what = axle__header_text(&all[first], one, sizeof(one));
        const char *separator = first ? "; " : "";
        if (next == first + 1)
            end += (size_t)snprintf(text + end, sizeof(text) - end, "%srank %d asks for %s",
                                    separator, first, what);
        else
            end += (size_t)snprintf(text + end, sizeof(text) - end, "%sranks %d to %d ask for %s",
                                    separator, first, next - 1, what);
    }
    bool kinds_differ = false;
    for (int k = 1; k < size; k++)
        kinds_differ = kinds_differ || all[k].kind != all[0].kind;
    return axle_error_set(kinds_differ ? AXLE_ERR_STATE : AXLE_ERR_SHAPE,
                          "the processes do not do the same: %s", text);
}

uint8_t axle__loss_kind(double loss)
{
    if (isnan(loss))
        return AXLE__LOSS_NAN;
    if (isinf(loss))
        return loss > 0.0 ? AXLE__LOSS_INF : AXLE__LOSS_MINUS_INF;
    return AXLE__LOSS_FINITE;
}

int axle__headers_finite(const axle__header *all, int size)
{
    static const char *const texts[] = {"finite", "nan", "inf", "-inf"};
    for (int k = 0; k < size; k++)
        if (all[k].nonfinite)
            return axle_error_set(AXLE_ERR_NONFINITE, "the loss of rank %d is %s", k,
                                  texts[all[k].nonfinite & 3]);
    return AXLE_OK;
}

int axle__headers_agree(const axle__header *all, int size)
{
    for (int k = 1; k < size; k++)
        if (!same_request(&all[0], &all[k]))
            return differ(all, size);
    return AXLE_OK;
}
