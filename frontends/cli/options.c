/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "names.h"

/* getopt_long() returns FIRST plus the position in the table, above every character. */
enum { HELP = 'h', FIRST = 256 };

static void *field(void *settings, const cli_option *option)
{
    return (char *)settings + option->offset;
}

static const void *default_of(const command *command, const cli_option *option)
{
    return (const char *)command->defaults + option->offset;
}

/* ------------------------------------------------------------------ messages */

static int usage_error(const command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int usage_error(const command *command, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "axle %s: ", command->name);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\nTry 'axle %s --help'.\n", command->name);
    va_end(list);
    return EXIT_USAGE;
}

/* Say that `text`, given for `what`, is none of the names. */
static int unknown_name(const command *command, const char *what, const char *text,
                        const char *const *names)
{
    const char *nearest = names_nearest(names, text);
    fprintf(stderr, "axle %s: %s: there is no '%s'; ", command->name, what, text);
    if (nearest)
        fprintf(stderr, "did you mean '%s'? ", nearest);
    fputs("There are: ", stderr);
    names_print(names, stderr);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

/* ------------------------------------------------------------------ values */

static int parse_integer(const command *command, const cli_option *option, const char *text,
                         void *value)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end != '\0')
        return usage_error(command, "--%s: '%s' is no whole number", option->name, text);
    if (errno == ERANGE || (double)number < option->low ||
        (option->high != 0.0 && (double)number > option->high)) {
        if (option->high != 0.0)
            return usage_error(command, "--%s: %s does not lie in [%.0f, %.0f]", option->name, text,
                               option->low, option->high);
        return usage_error(command, "--%s: %s is %s", option->name, text,
                           errno == ERANGE && number > 0 ? "too large" : "too small");
    }
    *(int64_t *)value = number;
    return -1;
}

static int parse_real(const command *command, const cli_option *option, const char *text,
                      void *value)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(number))
        return usage_error(command, "--%s: '%s' is no number", option->name, text);
    if (number < option->low || (option->high != 0.0 && number > option->high)) {
        if (option->high != 0.0)
            return usage_error(command, "--%s: %s does not lie in [%g, %g]", option->name, text,
                               option->low, option->high);
        return usage_error(command, "--%s: %s is too small", option->name, text);
    }
    *(double *)value = number;
    return -1;
}

static int parse_flag(const command *command, const cli_option *option, const char *text,
                      void *value)
{
    (void)command;
    (void)option;
    (void)text;
    *(int *)value = 1;
    return -1;
}

static int parse_choice(const command *command, const cli_option *option, const char *text,
                        void *value)
{
    const char *const *names = option->names();
    int position = names_find(names, text);
    if (position < 0) {
        char what[64];
        snprintf(what, sizeof(what), "--%s", option->name);
        return unknown_name(command, what, text, names);
    }
    *(int *)value = position;
    return -1;
}

static int parse_text(const command *command, const cli_option *option, const char *text,
                      void *value)
{
    if (*text == '\0')
        return usage_error(command, "--%s: the value is empty", option->name);
    *(const char **)value = text;
    return -1;
}

static int parse_list(const command *command, const cli_option *option, const char *text,
                      void *value)
{
    option_list *list = value;
    if (list->count == MAX_LIST)
        return usage_error(command, "--%s: more than %d values", option->name, MAX_LIST);
    list->item[list->count++] = text;
    return -1;
}

static int (*const parsers[])(const command *, const cli_option *, const char *, void *) = {
    [OPTION_FLAG] = parse_flag,     [OPTION_INTEGER] = parse_integer, [OPTION_REAL] = parse_real,
    [OPTION_CHOICE] = parse_choice, [OPTION_TEXT] = parse_text,       [OPTION_FILE] = parse_text,
    [OPTION_FOLDER] = parse_text,   [OPTION_LIST] = parse_list,
};

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
        return usage_error(command, "unknown option %s; did you mean --%s?", given, nearest);
    return usage_error(command, "unknown option %s", given);
}

/* What getopt_long() complains about with '?': optopt is 0 for an unknown long option, else the
 * option that was given a value although it takes none, or an unknown letter. */
static int reject(const command *command, char **argv, const struct option *table)
{
    if (optopt >= FIRST || optopt == HELP)
        return usage_error(command, "%s takes no value", argv[optind - 1]);
    if (optopt == 0)
        return unknown_option(command, argv[optind - 1], table);
    char letter[] = {'-', (char)optopt, '\0'};
    return unknown_option(command, letter, table);
}

static int parse_operands(const command *command, int argc, char **argv, int *operands, int *n)
{
    *n = 0;
    for (int k = optind; k < argc; k++) {
        if (!command->operands)
            return usage_error(command, "unexpected argument '%s'", argv[k]);
        const char *const *names = command->operands();
        int position = names_find(names, argv[k]);
        if (position < 0)
            return unknown_name(command, command->operand, argv[k], names);
        if (*n == MAX_OPERANDS)
            return usage_error(command, "too many arguments");
        operands[(*n)++] = position;
    }
    return -1;
}

int options_parse(const command *command, int argc, char **argv, void *settings, int *operands,
                  int *n)
{
    struct option table[MAX_OPTIONS + 2];
    translate(command, table);
    optind = 1;
    opterr = 0;
    int found;
    while ((found = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (found == HELP) {
            options_help(command, stdout);
            return EXIT_DONE;
        }
        if (found == ':')
            return usage_error(command, "%s needs a value", argv[optind - 1]);
        if (found == '?')
            return reject(command, argv, table);
        const cli_option *option = &command->options[found - FIRST];
        int code = parsers[option->kind](command, option, optarg, field(settings, option));
        if (code >= 0)
            return code;
    }
    return parse_operands(command, argc, argv, operands, n);
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

static void print_option(const command *command, const cli_option *option, FILE *to)
{
    char left[40];
    snprintf(left, sizeof(left), "--%s%s%s", option->name, option->value ? " " : "",
             option->value ? option->value : "");
    fprintf(to, "  %-24s %s", left, option->help);
    if (option->names) {
        fputs(": ", to);
        names_print(option->names(), to);
    }
    print_default(command, option, to);
    fputc('\n', to);
}

void options_help(const command *command, FILE *to)
{
    fprintf(to, "Usage: axle %s [OPTION]...", command->name);
    if (command->operand)
        fprintf(to, " [%s]...", command->operand);
    fprintf(to, "\n\n%s\n\n", command->about);
    if (command->operands) {
        fprintf(to, "%s: ", command->operand);
        names_print(command->operands(), to);
        fputs("\n\n", to);
    }
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
    if (command->operands)
        print_lines(command->operands(), to);
}
