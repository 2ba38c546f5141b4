/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "names.h"
#include "option_value.h"

/* getopt_long() returns FIRST plus the position in the table, above every character, or a letter.
 */
enum { HELP = 'h', FIRST = 256 };

static const void *default_of(const command *command, const cli_option *option)
{
    return (const char *)command->defaults + option->offset;
}

/* ------------------------------------------------------------------ messages */

int options_usage(const command *command, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "axle %s: ", command->name);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\nTry 'axle %s --help'.\n", command->name);
    va_end(list);
    return EXIT_USAGE;
}

/* ------------------------------------------------------------------ parsing */

/* The table in getopt's form. Returns the number of our options. */
static int translate(const command *command, struct option *out)
{
    int count = 0;
    for (const cli_option *from = command->options; from->name && count < MAX_OPTIONS;
         from++, count++)
        out[count] =
            (struct option){from->name, from->kind == OPTION_FLAG ? no_argument : required_argument,
                            NULL, FIRST + count};
    out[count] = (struct option){"help", no_argument, NULL, HELP};
    out[count + 1] = (struct option){NULL, 0, NULL, 0};
    return count;
}

static int unknown_option(const command *command, const char *given, const struct option *table)
{
    const char *names[MAX_OPTIONS + 2] = {NULL};
    for (int k = 0; table[k].name; k++)
        names[k] = table[k].name;
    char name[64];
    snprintf(name, sizeof(name), "%s", given + strspn(given, "-"));
    name[strcspn(name, "=")] = '\0';
    const char *nearest = given[1] == '-' ? names_nearest(names, name) : NULL;
    if (nearest)
        return options_usage(command, "unknown option %s; did you mean --%s?", given, nearest);
    return options_usage(command, "unknown option %s", given);
}

/* What getopt_long() complains about with '?': optopt is 0 for an unknown long option, else the
 * option that was given a value although it takes none, or an unknown letter. */
static int reject(const command *command, char **argv, const struct option *table)
{
    if (optopt >= FIRST || optopt == HELP)
        return options_usage(command, "%s takes no value", argv[optind - 1]);
    if (optopt == 0)
        return unknown_option(command, argv[optind - 1], table);
    char letter[] = {'-', (char)optopt, '\0'};
    return unknown_option(command, letter, table);
}

/* The one operand of a command that needs one. */
static int parse_needed(const command *command, int argc, char **argv, void *settings)
{
    char problem[PROBLEM_SIZE];
    if (optind == argc)
        return options_usage(command, "there is no %s", command->operand);
    if (command->needed->kind != OPTION_LIST && optind + 1 < argc)
        return options_usage(command, "unexpected argument '%s'", argv[optind + 1]);
    for (int k = optind; k < argc; k++)
        if (option_value_parse(command->needed, argv[k], settings, problem))
            return options_usage(command, "%s: %s", command->operand, problem);
    return -1;
}

static int parse_operands(const command *command, int argc, char **argv, int *operands, int *n)
{
    *n = 0;
    for (int k = optind; k < argc; k++) {
        if (!command->operands)
            return options_usage(command, "unexpected argument '%s'", argv[k]);
        const char *const *names = command->operands();
        int position = names_find(names, argv[k]);
        if (position < 0) {
            char problem[PROBLEM_SIZE];
            option_value_unknown(argv[k], names, problem);
            return options_usage(command, "%s: %s", command->operand, problem);
        }
        if (*n == MAX_OPERANDS)
            return options_usage(command, "too many arguments");
        operands[(*n)++] = position;
    }
    return -1;
}

/* getopt's short options: each letter, with ':' where it takes a value. A '+' ends options at the
 * first other argument, for commands that start a program with options of its own. */
static void translate_letters(const command *command, char letters[2 * MAX_OPTIONS + 4])
{
    char *to = letters;
    if (command->program)
        *to++ = '+';
    *to++ = ':';
    *to++ = HELP;
    const cli_option *option = command->options;
    for (int k = 0; k < MAX_OPTIONS && option[k].name; k++)
        if (option[k].letter) {
            *to++ = option[k].letter;
            if (option[k].kind != OPTION_FLAG)
                *to++ = ':';
        }
    *to = '\0';
}

static const cli_option *option_of(const command *command, int found)
{
    const cli_option *option = command->options;
    if (found >= FIRST)
        return &option[found - FIRST];
    while (option->letter != found)
        option++;
    return option;
}

static int parse_option(const command *command, int found, char **argv, const struct option *table,
                        void *settings)
{
    if (found == ':')
        return options_usage(command, "%s needs a value", argv[optind - 1]);
    if (found == '?')
        return reject(command, argv, table);
    char problem[PROBLEM_SIZE];
    const cli_option *option = option_of(command, found);
    if (option_value_parse(option, optarg, settings, problem))
        return options_usage(command, "--%s: %s", option->name, problem);
    return -1;
}

int options_parse(const command *command, int argc, char **argv, void *settings, int *operands,
                  int *n)
{
    struct option table[MAX_OPTIONS + 2];
    char letters[2 * MAX_OPTIONS + 4];
    translate(command, table);
    translate_letters(command, letters);
    optind = 1;
    opterr = 0;
    int found;
    while ((found = getopt_long(argc, argv, letters, table, NULL)) != -1) {
        if (found == HELP) {
            options_help(command, stdout);
            return EXIT_DONE;
        }
        int code = parse_option(command, found, argv, table, settings);
        if (code >= 0)
            return code;
    }
    *n = 0;
    if (command->needed)
        return parse_needed(command, argc, argv, settings);
    if (!command->program)
        return parse_operands(command, argc, argv, operands, n);
    *(char ***)(void *)((char *)settings + command->program_offset) = argv + optind;
    return -1;
}

/* ------------------------------------------------------------------ help */

/* ` [default]` where there is one to tell. */
static void print_default(const command *command, const cli_option *option, FILE *to)
{
    const void *value = default_of(command, option);
    const char *text = NULL;
    char number[32];
    if (option->unset)
        text = option->unset;
    else if (option->kind == OPTION_INTEGER)
        snprintf(number, sizeof(number), "%lld", (long long)*(const int64_t *)value);
    else if (option->kind == OPTION_REAL)
        snprintf(number, sizeof(number), "%g", *(const double *)value);
    else if (option->kind == OPTION_CHOICE)
        text = option->names()[*(const int *)value];
    else
        return;
    fprintf(to, " [%s]", text ? text : number);
}

/* A list that is longer is left to completion, and to the answer to an unknown name. */
enum { MOST_NAMES = 20 };

/* Where the texts of options stand. */
enum { INDENT = 27, WIDTH = 80 };

/* Print words in lines that begin behind `indent` columns and end within WIDTH; the first stands
 * behind `used` columns. */
static void print_wrapped(const char *text, int indent, int used, FILE *to)
{
    int column = used > indent ? WIDTH : used;
    while (*text) {
        int length = (int)strcspn(text, " \n"), gap = column > indent ? 1 : indent - column;
        if (column + gap + length > WIDTH) {
            putc('\n', to);
            column = 0;
            gap = indent;
        }
        fprintf(to, "%*s%.*s", gap, "", length, text);
        column += gap + length;
        text += length;
        text += strspn(text, " \n");
    }
    fputc('\n', to);
}

static void print_option(const command *command, const cli_option *option, FILE *to)
{
    char left[48], letter[] = {'-', option->letter, ',', ' ', '\0'}, *right = NULL;
    size_t size;
    snprintf(left, sizeof(left), "%s--%s%s%s", option->letter ? letter : "", option->name,
             option->value ? " " : "", option->value ? option->value : "");
    FILE *words = open_memstream(&right, &size);
    if (!words)
        return;
    fputs(option->help, words);
    if (option->names && names_count(option->names()) <= MOST_NAMES) {
        fputs(": ", words);
        names_print(option->names(), words);
    }
    print_default(command, option, words);
    fclose(words);
    print_wrapped(right, INDENT, fprintf(to, "  %s", left), to);
    free(right);
}

static int takes_several(const command *command)
{
    return command->needed && command->needed->kind == OPTION_LIST;
}

static void print_operands(const command *command, FILE *to)
{
    char *list = NULL;
    size_t size;
    FILE *words = command->operands ? open_memstream(&list, &size) : NULL;
    if (!words)
        return;
    fprintf(words, "%s: ", command->operand);
    names_print(command->operands(), words);
    fclose(words);
    print_wrapped(list, 0, 0, to);
    putc('\n', to);
    free(list);
}

void options_help(const command *command, FILE *to)
{
    fprintf(to, "Usage: axle %s [OPTION]...", command->name);
    if (command->operand)
        fprintf(to,
                !command->needed         ? " [%s]..."
                : takes_several(command) ? " %s..."
                                         : " %s",
                command->operand);
    if (command->program)
        fprintf(to, " [--] %s", command->program);
    fputs("\n\n", to);
    print_wrapped(command->about, 0, 0, to);
    putc('\n', to);
    print_operands(command, to);
    for (const cli_option *option = command->options; option->name; option++)
        print_option(command, option, to);
    fprintf(to, "  %-24s %s\n", "-h, --help", "print this text");
}

/* ------------------------------------------------------------------ completion */

static void print_lines(const char *const *names, FILE *to)
{
    for (int k = 0; names[k]; k++)
        fprintf(to, "%s\n", names[k]);
}

static void complete_value(const cli_option *option, FILE *to)
{
    if (option->names)
        print_lines(option->names(), to);
    else if (option->kind == OPTION_FILE)
        fputs("<file>\n", to);
    else if (option->kind == OPTION_FOLDER)
        fputs("<folder>\n", to);
    else if (option->kind != OPTION_FLAG)
        fputs("<value>\n", to);
}

void options_complete(const command *command, const char *name, FILE *to)
{
    for (const cli_option *option = command->options; option->name; option++) {
        if (!name)
            fprintf(to, "--%s\n", option->name);
        else if (strncmp(name, "--", 2) == 0 && strcmp(name + 2, option->name) == 0)
            complete_value(option, to);
    }
    if (name)
        return;
    fputs("--help\n", to);
    if (command->program)
        fputs("<program>\n", to);
    if (command->operands)
        print_lines(command->operands(), to);
    if (takes_several(command))
        fputs("<file>\n", to);
    else if (command->needed)
        complete_value(command->needed, to);
}
