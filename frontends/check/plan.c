/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "axle/reference.h"
#include "dtype.h"

static const char *const op_names[AXLE_OP_LIMIT] = {
#define NAME(number, name, text, n_in, n_out) [number] = text,
    AXLE_OP_LIST(NAME)
#undef NAME
};

static const op_case *const case_tables[] = {
#define TABLE(file) cases_##file,
    CASE_FILES(TABLE)
#undef TABLE
};

static const behaviour *const tables_before[] = {
#define TABLE(file) behaviours_##file,
    BEHAVIOUR_FILES_BEFORE(TABLE)
#undef TABLE
};

static const behaviour *const tables_after[] = {
#define TABLE(file) behaviours_##file,
    BEHAVIOUR_FILES_AFTER(TABLE)
#undef TABLE
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

const char *row_group(const row *r)
{
    return r->c ? op_names[r->c->op] : r->b->group;
}

const char *row_name(const row *r)
{
    return r->c ? r->c->name : r->b->name;
}

static int is_wanted(const check_options *options, const row *r)
{
    const char *dtype = r->c ? dtype_name(r->dtype) : NULL;
    return (!options->op || strcmp(options->op, row_group(r)) == 0) &&
           (!options->dtype || (dtype && strcmp(options->dtype, dtype) == 0));
}

static int add(plan *p, const check_options *options, row r, note *n)
{
    if (!is_wanted(options, &r))
        return 1;
    if (p->count == p->room) {
        const size_t room = p->room ? 2 * p->room : 1024;
        row *larger = realloc(p->rows, room * sizeof(*larger));
        if (!larger)
            return note_fail(n, "no memory for the rows");
        p->rows = larger;
        p->room = room;
    }
    p->rows[p->count++] = r;
    return 1;
}

static int add_behaviours(plan *p, const check_options *options, uint32_t device,
                          const behaviour *const *tables, size_t count, note *n)
{
    for (size_t k = 0; k < count; k++)
        for (const behaviour *b = tables[k]; b->group; b++)
            if (!add(p, options, (row){.device = device, .b = b}, n))
                return 0;
    return 1;
}

/* A case stands for a row in each element type that the reference takes it in. */
static int add_case(plan *p, const check_options *options, uint32_t device, const op_case *c,
                    const machine *reference, note *n)
{
    int rows = 0;
    for (const uint32_t *dtype = dtype_all; *dtype; dtype++) {
        const int applies = case_applies(reference, c, *dtype);
        rows += applies != 0;
        if (applies && !add(p, options, (row){.device = device, .dtype = *dtype, .c = c}, n))
            return 0;
    }
    return rows ? 1
                : note_fail(n, "the case '%s %s' is malformed: the reference does not take it",
                            op_names[c->op], c->name);
}

static int add_cases(plan *p, const check_options *options, uint32_t device,
                     const machine *reference, note *n)
{
    for (size_t k = 0; k < COUNT(case_tables); k++)
        for (const op_case *c = case_tables[k]; c->op; c++)
            if (!add_case(p, options, device, c, reference, n))
                return 0;
    return 1;
}

int plan_create(const check_options *options, uint32_t devices, plan *out, note *n)
{
    const axle_plugin *plugin = axle_reference_init(NULL, NULL);
    machine reference;
    plan p = {0};
    if (!plugin || !machine_open(&reference, plugin, 0, n))
        return 0;
    int good = 1;
    for (uint32_t device = 0; device < devices && good; device++) {
        if (options->device >= 0 && options->device != (int64_t)device)
            continue;
        good = add_behaviours(&p, options, device, tables_before, COUNT(tables_before), n) &&
               add_cases(&p, options, device, &reference, n) &&
               add_behaviours(&p, options, device, tables_after, COUNT(tables_after), n);
    }
    machine_close(&reference);
    if (good)
        *out = p;
    else
        plan_free(&p);
    return good;
}

void plan_free(plan *p)
{
    free(p->rows);
    *p = (plan){0};
}

/* ------------------------------------------------------------------ names for the options */

static int is_listed(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return 1;
    return 0;
}

static void list_groups(const char **names, size_t room, const behaviour *const *tables,
                        size_t count)
{
    size_t have = 0;
    while (names[have])
        have++;
    for (size_t k = 0; k < count; k++)
        for (const behaviour *b = tables[k]; b->group; b++)
            if (!is_listed(names, b->group) && have + 1 < room)
                names[have++] = b->group;
}

const char *const *check_group_names(void)
{
    static const char *names[AXLE_OP_LIMIT + 32] = {
#define NAME(number, name, text, n_in, n_out) text,
        AXLE_OP_LIST(NAME)
#undef NAME
    };
    list_groups(names, COUNT(names), tables_before, COUNT(tables_before));
    list_groups(names, COUNT(names), tables_after, COUNT(tables_after));
    return names;
}

const char *const *check_dtype_names(void)
{
    static const char *const names[] = {
#define NAME(name, number, bytes, text) text,
        AXLE_DTYPE_LIST(NAME)
#undef NAME
            NULL};
    return names;
}
