/* SPDX-License-Identifier: Apache-2.0 */
/* What loading has to tell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

int axle__names_add(axle__names *names, const char *name)
{
    if (names->count == names->room) {
        size_t room = names->room ? 2 * names->room : 16;
        const char **at = realloc((void *)names->at, room * sizeof(*at));
        if (!at)
            return axle_error_set(AXLE_ERR_NOMEM, "out of memory for names of tensors");
        names->at = at;
        names->room = room;
    }
    names->at[names->count++] = name;
    return AXLE_OK;
}

/* ------------------------------------------------------------------ the report */

/* A list and its names in one piece; for free(). */
static const char *const *copy_of(const axle__names *names)
{
    size_t size = (names->count + 1) * sizeof(char *), at = size;
    for (size_t k = 0; k < names->count; k++)
        size += strlen(names->at[k]) + 1;
    char **list = malloc(size);
    for (size_t k = 0; list && k < names->count; k++) {
        list[k] = (char *)list + at;
        strcpy(list[k], names->at[k]);
        at += strlen(names->at[k]) + 1;
    }
    if (list)
        list[names->count] = NULL;
    return (const char *const *)list;
}

int axle__report_create(const axle__loading *loading, axle_load_report **out)
{
    axle_load_report *report = malloc(sizeof(*report));
    if (report)
        *report = (axle_load_report){.missing = copy_of(&loading->missing),
                                     .unexpected = copy_of(&loading->unexpected),
                                     .mismatched = copy_of(&loading->mismatched)};
    if (report && report->missing && report->unexpected && report->mismatched) {
        *out = report;
        return AXLE_OK;
    }
    axle_load_report_release(report);
    return axle_error_set(AXLE_ERR_NOMEM, "out of memory for a report");
}

void axle_load_report_release(axle_load_report *report)
{
    if (!report)
        return;
    free((void *)report->missing);
    free((void *)report->unexpected);
    free((void *)report->mismatched);
    free(report);
}

/* ------------------------------------------------------------------ the log */

/* As many names as fit. */
static void join(const axle__names *names, char *text, size_t size)
{
    size_t at = 0;
    *text = '\0';
    for (size_t k = 0; k < names->count && at < size; k++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", k ? ", " : "", names->at[k]);
    if (at >= size)
        strcpy(text + size - 4, "...");
}

static bool is_of_body(const axle__network *network, const char *name)
{
    size_t length = strlen(network->kind->prefix);
    return !network->task->head ||
           (strncmp(name, network->kind->prefix, length) == 0 && name[length] == '.');
}

/* A head that is new is what one expects of a pretrained model; a body that is, is not. */
static int level_of(const axle__loading *loading)
{
    enum { INFO = 1, WARNING = 2 };
    for (size_t k = 0; k < loading->missing.count; k++)
        if (is_of_body(loading->network, loading->missing.at[k]))
            return WARNING;
    return loading->mismatched.count ? WARNING : INFO;
}

void axle__report_log(const axle__loading *loading)
{
    static const char component[] = "transformers";
    char text[1024];
    int level = level_of(loading);
    join(&loading->missing, text, sizeof(text));
    if (*text)
        axle_log_write(level, component, "not in the files, random: %s", text);
    join(&loading->mismatched, text, sizeof(text));
    if (*text)
        axle_log_write(level, component, "of other dims in the files, random: %s", text);
    join(&loading->unexpected, text, sizeof(text));
    if (*text)
        axle_log_write(1, component, "in the files, of no use: %s", text);
}
