/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment is read once a setting and kept, so that a value stays valid and the same
 * whatever the program does to its environment. Programs with raised privileges (setuid) take no
 * setting from it at all: several of them name files to load or to write.
 */
#define _GNU_SOURCE 1
#include "base/settings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

static const axle__setting_info table[] = {
#define AXLE_SETTING(name, fallback, help) {"AXLE_" #name, fallback, help},
#include "base/settings.def"
#undef AXLE_SETTING
};

/* A value that was read. Values live as long as the process: somebody may hold them. */
typedef struct setting_value {
    struct setting_value *older;
    bool given;
    char text[];
} setting_value;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static setting_value *_Atomic values[AXLE_SETTING_COUNT];
static setting_value *retired;
static atomic_bool checked;

const axle__setting_info *axle__setting_describe(int setting)
{
    return setting >= 0 && setting < AXLE_SETTING_COUNT ? &table[setting] : NULL;
}

/* An empty variable counts as none, as `AXLE_BACKEND= program` means to unset it. */
static setting_value *read_value(int setting)
{
    const char *given = secure_getenv(table[setting].name);
    if (given && given[0] == '\0')
        given = NULL;
    const char *text = given ? given : table[setting].fallback;
    size_t bytes = strlen(text) + 1;
    setting_value *value = axle__alloc(1, sizeof(*value) + bytes);
    if (!value)
        return NULL;
    value->given = given != NULL;
    memcpy(value->text, text, bytes);
    return value;
}

/* NULL only when memory runs out. */
static setting_value *value_of(int setting)
{
    setting_value *value = atomic_load_explicit(&values[setting], memory_order_acquire);
    if (value)
        return value;
    pthread_mutex_lock(&lock);
    value = atomic_load_explicit(&values[setting], memory_order_relaxed);
    if (!value) {
        value = read_value(setting);
        atomic_store_explicit(&values[setting], value, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return value;
}

const char *axle__setting(int setting)
{
    const setting_value *value = value_of(setting);
    return value ? value->text : table[setting].fallback;
}

/* A URL may hold a password, before an '@'. */
static bool is_secret(int setting, const char *text)
{
    return setting == AXLE_SETTING_SECRET ||
           (setting == AXLE_SETTING_RENDEZVOUS && strchr(text, '@'));
}

const char *axle__setting_shown(int setting)
{
    const char *text = axle__setting(setting);
    return axle__setting_given(setting) && is_secret(setting, text) ? "(not shown)" : text;
}

bool axle__setting_given(int setting)
{
    const setting_value *value = value_of(setting);
    return value && value->given;
}

int64_t axle__setting_integer(int setting)
{
    int64_t number = 0;
    const char *text = axle__setting(setting);
    if (axle__parse_integer(text, &number))
        return number;
    axle__warn("settings", "%s=%s is no whole number; %s is used", table[setting].name, text,
               table[setting].fallback);
    axle__parse_integer(table[setting].fallback, &number);
    return number;
}

static bool is_known(const char *name, size_t length)
{
    for (int k = 0; k < AXLE_SETTING_COUNT; k++)
        if (strncmp(table[k].name, name, length) == 0 && table[k].name[length] == '\0')
            return true;
    return false;
}

static const char *nearest_name(const char *name)
{
    int best = 0, best_distance = 1 << 10;
    for (int k = 0; k < AXLE_SETTING_COUNT; k++) {
        int distance = axle__edit_distance(name, table[k].name);
        if (distance < best_distance) {
            best_distance = distance;
            best = k;
        }
    }
    return table[best].name;
}

void axle__settings_check(void)
{
    if (atomic_exchange(&checked, true))
        return;
    for (char **entry = environ; entry && *entry; entry++) {
        if (strncmp(*entry, "AXLE_", 5) != 0)
            continue;
        size_t length = strcspn(*entry, "=");
        char name[64];
        if (is_known(*entry, length))
            continue;
        size_t kept = length < sizeof(name) ? length : sizeof(name) - 1;
        memcpy(name, *entry, kept);
        name[kept] = '\0';
        axle__warn("settings", "unknown variable %s is ignored; the nearest known one is %s", name,
                   nearest_name(name));
    }
}

void axle__settings_reset(void)
{
    pthread_mutex_lock(&lock);
    for (int k = 0; k < AXLE_SETTING_COUNT; k++) {
        setting_value *value = atomic_exchange(&values[k], NULL);
        if (value) {
            value->older = retired;
            retired = value;
        }
    }
    atomic_store(&checked, false);
    pthread_mutex_unlock(&lock);
}
