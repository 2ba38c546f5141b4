/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of backends share: a folder to put them in, their settings, and the log. */
#ifndef AXLE_TESTS_UNIT_PLUGINS_H
#define AXLE_TESTS_UNIT_PLUGINS_H

#include "unit/files.h"
#include "unit/unit.h"

#include "axle/device.h"
#include "base/options.h"
#include "base/settings.h"

static char plugins_log[8192];

static inline void plugins_capture(int level, const char *component, const char *message,
                                   void *user)
{
    size_t length = strlen(plugins_log);
    (void)level;
    (void)user;
    snprintf(plugins_log + length, sizeof(plugins_log) - length, "%s: %s\n", component, message);
}

/* Begin anew: nothing loaded, settings read again, an empty log. */
static inline void plugins_reset(const char *backend, const char *options)
{
    axle_finalize();
    if (backend)
        setenv("AXLE_BACKEND", backend, 1);
    else
        unsetenv("AXLE_BACKEND");
    if (options)
        setenv("AXLE_OPTIONS", options, 1);
    else
        unsetenv("AXLE_OPTIONS");
    setenv("AXLE_PLUGIN_PATH", files_folder, 1);
    axle__settings_reset();
    axle__options_reset();
    plugins_log[0] = '\0';
    axle_error_clear();
}

static inline int plugins_setup(void **state)
{
    if (files_setup(state))
        return -1;
    axle_log_redirect(plugins_capture, NULL);
    plugins_reset(NULL, NULL);
    return 0;
}

static inline int plugins_teardown(void **state)
{
    axle_finalize();
    axle_log_redirect(NULL, NULL);
    axle_error_clear();
    return files_teardown(state);
}

/* Copy a plugin that was built for the tests to the folder, cut off after `most` bytes if not 0.
 * Returns its path there. */
static inline const char *plugins_install(const char *plugin, const char *name, size_t most)
{
    static char content[1 << 20];
    char path[512];
    const char *build = getenv("top_builddir");
    snprintf(path, sizeof(path), "%s/tests/unit/device/.libs/%s.so", build ? build : ".", plugin);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s is missing", path);
    size_t size = fread(content, 1, sizeof(content), file);
    fclose(file);
    return files_write(name, content, most && most < size ? most : size);
}

#define PLUGINS(sentence, function)                                                                \
    {                                                                                              \
        sentence, function, plugins_setup, plugins_teardown, NULL                                  \
    }

#endif
