/* SPDX-License-Identifier: Apache-2.0 */
/* The axle command: finds the subcommand, reads its options, runs it. */
#define _GNU_SOURCE 1
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"
#include "command.h"
#include "estimate_memory.h"
#include "names.h"

enum { MAX_COMMANDS = 16 };

static const command *const commands[] = {
    &info_command,         &train_command,    &eval_command,   &predict_command,
    &tokenize_command,     &generate_command, &launch_command, &config_command,
    &test_command,         &plot_command,     &bench_command,  &estimate_memory_command,
    &backend_check_command};
static const int command_count = sizeof(commands) / sizeof(commands[0]);

int command_error(const command *command, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "axle %s: ", command->name);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    return EXIT_FAILED;
}

int command_failed(const command *command, const char *prefix)
{
    const char *message = axle_error_message();
    if (*message == '\0')
        message = "it failed without saying why";
    command_error(command, "%s%s%s", prefix ? prefix : "", prefix ? ": " : "", message);
    axle_error_clear();
    return EXIT_FAILED;
}

static const command *find_command(const char *name)
{
    for (int k = 0; k < command_count; k++)
        if (strcmp(commands[k]->name, name) == 0)
            return commands[k];
    return NULL;
}

static int print_help(FILE *to)
{
    fputs("Usage: axle COMMAND [OPTION]...\n\n"
          "Train models on whatever hardware is there.\n\n",
          to);
    for (int k = 0; k < command_count; k++)
        fprintf(to, "  %-14s %s\n", commands[k]->name, commands[k]->summary);
    fputs("\n  --version    print the version\n"
          "  -h, --help   print this text; 'axle COMMAND --help' prints that of a command\n\n"
          "The backend is chosen with AXLE_BACKEND; 'axle info --settings' lists all such "
          "settings.\n",
          to);
    return EXIT_DONE;
}

static int print_version(void)
{
    printf("axle %s\n", axle_version());
    return EXIT_DONE;
}

/* `axle --complete [COMMAND [OPTION]]`, for the shell's completion. */
static int complete(int argc, char **argv)
{
    const command *command = argc > 0 ? find_command(argv[0]) : NULL;
    if (command)
        options_complete(command, argc > 1 ? argv[1] : NULL, stdout);
    if (argc > 0)
        return EXIT_DONE;
    for (int k = 0; k < command_count; k++)
        puts(commands[k]->name);
    puts("--help\n--version");
    return EXIT_DONE;
}

static int unknown_command(const char *name)
{
    const char *names[MAX_COMMANDS + 1] = {NULL};
    for (int k = 0; k < command_count; k++)
        names[k] = commands[k]->name;
    const char *nearest = names_nearest(names, name);
    fprintf(stderr, "axle: unknown %s '%s'", *name == '-' ? "option" : "command", name);
    if (nearest)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fputs("\nTry 'axle --help'.\n", stderr);
    return EXIT_USAGE;
}

static int run_command(const command *command, int argc, char **argv)
{
    void *settings = malloc(command->settings_size);
    if (!settings)
        return command_error(command, "out of memory");
    memcpy(settings, command->defaults, command->settings_size);
    int operands[MAX_OPERANDS], n;
    int code = options_parse(command, argc, argv, settings, operands, &n);
    if (code < 0)
        code = command->run(settings, operands, n);
    free(settings);
    return code;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return print_help(stdout);
    if (strcmp(name, "--version") == 0)
        return print_version();
    if (strcmp(name, "--complete") == 0)
        return complete(argc - 2, argv + 2);
    const command *command = find_command(name);
    return command ? run_command(command, argc - 1, argv + 1) : unknown_command(name);
}

int main(int argc, char **argv)
{
    int code = dispatch(argc, argv);
    /* A full disk shows only now. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("axle: standard output");
        return code ? code : EXIT_FAILED;
    }
    return code;
}
