/* SPDX-License-Identifier: Apache-2.0 */
/* What a subcommand of axle is. */
#ifndef AXLE_CLI_COMMAND_H
#define AXLE_CLI_COMMAND_H

#include "options.h"

/* Exit codes. A signal's is EXIT_SIGNAL plus its number, as a shell has it. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_SIGNAL = 128 };

typedef struct command {
    const char *name;
    const char *summary; /* one line for `axle --help` */
    const char *about;   /* a paragraph for `axle NAME --help` */
    const char *operand; /* placeholder in the usage line; NULL: it takes none */
    names_fn operands;   /* what an operand may be */
    const char *program; /* placeholder of a program with arguments, which end the options; NULL */
    size_t program_offset; /* where the settings keep it: a char **, NULL-terminated */
    /* Where there is no such list: the one operand that the command needs, taken like the value of
     * an option; of a list, one or more files or folders. */
    const cli_option *needed;
    const cli_option *options;
    const void *defaults; /* the settings struct that the options' offsets refer to */
    size_t settings_size;
    /* Returns an exit code. `operands` has `n` checked names, as positions in operands(). */
    int (*run)(const void *settings, const int *operands, int n);
} command;

extern const command backend_check_command, bench_command, config_command, eval_command,
    generate_command, info_command, launch_command, plot_command, predict_command, test_command,
    tokenize_command, train_command;

/* Print `axle NAME: message` on standard error, where the message is Axle's recorded error, with a
 * prefix if that is not NULL. Returns EXIT_FAILED. */
int command_failed(const command *command, const char *prefix);
/* The same with a message of one's own. */
int command_error(const command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
