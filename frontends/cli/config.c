/* SPDX-License-Identifier: Apache-2.0 */
/* axle config: the file that axle launch reads by itself. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "config_ask.h"
#include "config_file.h"
#include "launch_plan.h"

typedef struct config_settings {
    const char *config;
    int as_default, force, show;
} config_settings;

static const config_settings defaults = {NULL, 0, 0, 0};

static const cli_option options[] = {
    CLI_OPTION("config", FILE, config_settings, config, .value = "FILE",
               .unset = "axle/config.yaml in ~/.config", .help = "the file"),
    CLI_OPTION("default", FLAG, config_settings, as_default,
               .help = "ask nothing, write what suits this host"),
    CLI_OPTION("force", FLAG, config_settings, force, .help = "replace a file without asking"),
    CLI_OPTION("show", FLAG, config_settings, show, .help = "print what the file says"),
    CLI_OPTION_END,
};

static int show(const char *path)
{
    config_file file;
    int code = config_file_read(&file, &config_command, path, 0);
    if (code < 0) {
        printf("# %s\n", path);
        code = config_file_print(&config_command, stdout, &file.values);
    }
    config_file_release(&file);
    return code;
}

/* Returns -1 to go on, or an exit code. */
static int may_replace(const config_settings *settings, const char *path)
{
    char *question;
    if (settings->force || access(path, F_OK) != 0)
        return -1;
    if (settings->as_default)
        return command_error(&config_command, "%s exists; --force replaces it", path);
    if (asprintf(&question, "%s exists. Replace it?", path) < 0)
        return command_error(&config_command, "out of memory");
    bool yes = config_confirm(question);
    free(question);
    return yes ? -1 : command_error(&config_command, "%s stays as it is", path);
}

static int choose_default(config_file *file)
{
    char *backend, *text;
    int gpus = launch_detect_gpus(&backend);
    free(backend);
    file->values.num_hosts = 1;
    if (asprintf(&text, "%d", gpus > 1 ? gpus : 1) < 0)
        text = NULL;
    file->values.num_processes = config_file_keep(file, text);
    return file->values.num_processes ? -1 : command_error(&config_command, "out of memory");
}

static int make(const config_settings *settings, const char *path)
{
    config_file file = {.command = &config_command, .path = path, .values = launch_defaults.values};
    if (!settings->as_default && !isatty(STDIN_FILENO))
        return options_usage(&config_command,
                             "it asks questions, and standard input is no terminal; --default asks "
                             "none");
    int code = may_replace(settings, path);
    if (code < 0)
        code = settings->as_default ? choose_default(&file) : config_ask(&file, &config_command);
    if (code < 0)
        code = config_file_write(&config_command, path, &file.values);
    if (code == EXIT_DONE)
        printf("%s is written\n", path);
    config_file_release(&file);
    return code;
}

static int run(const void *given, const int *operands, int n)
{
    const config_settings *settings = given;
    (void)operands;
    (void)n;
    if (!config_file_supported())
        return command_error(&config_command, "this axle was built without libyaml");
    if (settings->show && (settings->as_default || settings->force))
        return options_usage(&config_command, "--show goes with neither --default nor --force");
    char *path = settings->config ? strdup(settings->config) : config_file_default_path();
    if (!path)
        return command_error(&config_command,
                             "neither XDG_CONFIG_HOME nor HOME is set; give --config");
    int code = settings->show ? show(path) : make(settings, path);
    free(path);
    return code;
}

const command config_command = {
    .name = "config",
    .summary = "ask how axle launch should start programs, and keep the answers",
    .about = "Ask how axle launch should start programs, and write the answers to a file that it\n"
             "reads by itself.",
    .options = options,
    .defaults = &defaults,
    .settings_size = sizeof(defaults),
    .run = run,
};
