/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a subcommand. One table says what there is; parsing, the help text with its defaults,
 * and shell completion follow from it:
 *
 *     typedef struct settings { int64_t epochs; const char *data; } settings;
 *     static const cli_option options[] = {
 *         CLI_OPTION("epochs", INTEGER, settings, epochs, .value = "N", .help = "passes", .low =
 * 1), CLI_OPTION("data", FOLDER, settings, data, .value = "DIR", .help = "folder of IDX files"),
 *         CLI_OPTION_END,
 *     };
 */
#ifndef AXLE_CLI_OPTIONS_H
#define AXLE_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MAX_OPTIONS = 64, MAX_OPERANDS = 16, MAX_LIST = 256 };

/* What is at the option's offset in the settings. */
typedef enum option_kind {
    OPTION_FLAG,    /* int, set to 1 */
    OPTION_INTEGER, /* int64_t in [low, high] */
    OPTION_REAL,    /* double in [low, high]; a default of NAN is shown as `unset` says */
    OPTION_CHOICE,  /* int, position in names() */
    OPTION_TEXT,    /* const char * */
    OPTION_FILE,    /* const char *, completed as a file */
    OPTION_FOLDER,  /* const char *, completed as a folder */
    OPTION_LIST     /* option_list; each use of the option adds an item */
} option_kind;

typedef struct option_list {
    int count;
    const char *item[MAX_LIST];
} option_list;

/* NULL-terminated. */
typedef const char *const *(*names_fn)(void);

typedef struct cli_option {
    const char *name;
    option_kind kind;
    size_t offset;
    const char *value; /* placeholder in the help; NULL for flags */
    const char *help;
    double low, high; /* high 0 means no bound */
    names_fn names;
    const char *unset; /* what the help says in place of the default */
    char letter;       /* 'n' for a short form -n; 0: none */
    /* For texts: returns 0, or -1 with what is wrong, in PROBLEM_SIZE bytes; NULL. */
    int (*check)(const char *text, char *problem);
} cli_option;

#define CLI_OPTION(label, type, settings, field, ...)                                              \
    {                                                                                              \
        .name = (label), .kind = OPTION_##type, .offset = offsetof(settings, field), __VA_ARGS__   \
    }
#define CLI_OPTION_END                                                                             \
    {                                                                                              \
        .name = NULL                                                                               \
    }

struct command;

/*
 * Parse argv (argv[0] is the subcommand's name) into `settings`, which hold the defaults.
 * Operands are positions in the command's operands(), *n of them.
 * Returns -1 to go on, or the exit code: 0 after --help, 2 after a message that names what is
 * wrong.
 */
int options_parse(const struct command *command, int argc, char **argv, void *settings,
                  int *operands, int *n);

/* Print `axle NAME: message`, and where to find help. Returns the exit code of wrong usage. */
int options_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Print `axle NAME --help`. */
void options_help(const struct command *command, FILE *to);

/*
 * Print completions, one a line: options and operands of the command, or with `name` (as "--lr")
 * the values of an option; `<file>` and `<folder>` stand for those.
 */
void options_complete(const struct command *command, const char *name, FILE *to);

#endif
