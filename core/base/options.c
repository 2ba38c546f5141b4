/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/text.h"

typedef struct option_entry {
    const char *key, *value;
} option_entry;

/* Made whole by one allocation and then never changed. Tables live as long as the process. */
typedef struct option_table {
    struct option_table *older;
    size_t count;
    option_entry entries[]; /* followed by the text that they point into */
} option_table;

static option_table *_Atomic current;
static option_table *_Atomic retired;

static size_t count_items(const char *setting)
{
    size_t count = 1;
    for (; *setting; setting++)
        count += *setting == ',';
    return count;
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        text[--length] = '\0';
    return text;
}

static void add_entry(option_table *table, char *item)
{
    item = trim(item);
    if (*item == '\0')
        return;
    char *equals = strchr(item, '=');
    if (!equals || equals == item) {
        axle__warn("settings", "AXLE_OPTIONS: '%s' is not key=value and is ignored", item);
        return;
    }
    *equals = '\0';
    table->entries[table->count++] = (option_entry){trim(item), trim(equals + 1)};
}

static option_table *parse(const char *setting)
{
    size_t heads = sizeof(option_table) + count_items(setting) * sizeof(option_entry);
    option_table *table = axle__alloc(1, heads + strlen(setting) + 1);
    if (!table)
        return NULL;
    char *rest = strcpy((char *)table + heads, setting);
    for (char *item; (item = rest) != NULL;) {
        rest = strchr(item, ',');
        if (rest)
            *rest++ = '\0';
        add_entry(table, item);
    }
    return table;
}

/* NULL only when memory runs out. */
static option_table *load(void)
{
    option_table *table = atomic_load(&current), *none = NULL;
    if (table)
        return table;
    table = parse(axle__setting(AXLE_SETTING_OPTIONS));
    if (!table || atomic_compare_exchange_strong(&current, &none, table))
        return table;
    axle__free(table); /* another thread was faster */
    return none;
}

const char *axle__option(const char *key)
{
    const option_table *table = key ? load() : NULL;
    for (size_t k = table ? table->count : 0; k-- > 0;)
        if (strcmp(table->entries[k].key, key) == 0)
            return table->entries[k].value;
    return NULL;
}

/* The names of a list, one after the other, as text of its own. */
static bool next_name(const char **list, char *name, size_t size)
{
    size_t length = strcspn(*list, "\n"), kept = length < size ? length : size - 1;
    memcpy(name, *list, kept);
    name[kept] = '\0';
    *list += length + ((*list)[length] != '\0');
    return kept > 0;
}

static void check_key(const char *key, const char *known)
{
    char name[64], nearest[64] = "";
    int best = INT_MAX;
    while (next_name(&known, name, sizeof(name))) {
        int distance = axle__edit_distance(key, name);
        if (distance < best) {
            best = distance;
            strcpy(nearest, name);
        }
    }
    if (best > 0)
        axle__warn("settings", "AXLE_OPTIONS: unknown option %s is ignored%s%s", key,
                   nearest[0] ? "; the nearest known one is " : "", nearest);
}

void axle__options_check(const char *backend, const char *known)
{
    const option_table *table = load();
    size_t length = strlen(backend);
    for (size_t k = 0; k < (table ? table->count : 0); k++) {
        const char *key = table->entries[k].key;
        if (strncmp(key, backend, length) == 0 && key[length] == '.')
            check_key(key, known);
    }
}

void axle__options_check_names(const axle__list *backends)
{
    const option_table *table = load();
    for (size_t k = 0; k < (table ? table->count : 0); k++) {
        const char *key = table->entries[k].key;
        size_t length = strcspn(key, ".");
        char *name = key[length] ? axle__format("%.*s", (int)length, key) : NULL;
        int distance;
        const char *nearest = name ? axle__list_nearest(backends, name, &distance) : NULL;
        if (nearest && distance > 0)
            axle__warn("settings",
                       "AXLE_OPTIONS: %s is ignored, since there is no backend %s; the nearest "
                       "known one is %s",
                       key, name, nearest);
        axle__free(name);
    }
}

void axle__options_reset(void)
{
    option_table *table = atomic_exchange(&current, NULL);
    if (!table)
        return;
    table->older = atomic_load(&retired);
    atomic_store(&retired, table);
}
