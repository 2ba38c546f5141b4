/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Environment variables. Each is one line of settings.def with its default and help; nothing else
 * in Axle calls getenv for an AXLE_ name.
 */
#ifndef AXLE_BASE_SETTINGS_H
#define AXLE_BASE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

/* AXLE_SETTING_BACKEND ... */
enum {
#define AXLE_SETTING(name, fallback, help) AXLE_SETTING_##name,
#include "base/settings.def"
#undef AXLE_SETTING
    AXLE_SETTING_COUNT
};

typedef struct axle__setting_info {
    const char *name; /* "AXLE_BACKEND" */
    const char *fallback, *help;
} axle__setting_info;

const axle__setting_info *axle__setting_describe(int setting);
/* Value, else the default; valid until the process ends. Read from the environment at first use. */
const char *axle__setting(int setting);
/* The same for people's eyes: a secret is not shown. */
const char *axle__setting_shown(int setting);
/* Whether the environment gives it. */
bool axle__setting_given(int setting);
int64_t axle__setting_integer(int setting);
/* Warn once, in the log, about AXLE_ variables that no table knows, with the nearest name. */
void axle__settings_check(void);
/* Read the environment afresh; for tests. */
void axle__settings_reset(void);

#endif
