/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "option_value.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

static int wrong(char *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int wrong(char *problem, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(problem, PROBLEM_SIZE, format, list);
    va_end(list);
    return -1;
}

void option_value_unknown(const char *text, const char *const *names, char problem[PROBLEM_SIZE])
{
    const char *nearest = names_nearest(names, text);
    FILE *stream = fmemopen(problem, PROBLEM_SIZE, "w");
    if (!stream) {
        wrong(problem, "there is no '%s'", text);
        return;
    }
    fprintf(stream, "there is no '%s'; ", text);
    if (nearest)
        fprintf(stream, "did you mean '%s'? ", nearest);
    fputs(nearest ? "There are: " : "there are: ", stream);
    names_print(names, stream);
    fclose(stream);
    problem[PROBLEM_SIZE - 1] = '\0';
}

static int parse_integer(const cli_option *option, const char *text, void *value, char *problem)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end != '\0')
        return wrong(problem, "'%s' is no whole number", text);
    if (errno == ERANGE || (double)number < option->low ||
        (option->high != 0.0 && (double)number > option->high)) {
        if (option->high != 0.0)
            return wrong(problem, "%s does not lie in [%.0f, %.0f]", text, option->low,
                         option->high);
        return wrong(problem, "%s is %s", text,
                     errno == ERANGE && number > 0 ? "too large" : "too small");
    }
    *(int64_t *)value = number;
    return 0;
}

static int parse_real(const cli_option *option, const char *text, void *value, char *problem)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(number))
        return wrong(problem, "'%s' is no number", text);
    if (number < option->low || (option->high != 0.0 && number > option->high)) {
        if (option->high != 0.0)
            return wrong(problem, "%s does not lie in [%g, %g]", text, option->low, option->high);
        return wrong(problem, "%s is too small", text);
    }
    *(double *)value = number;
    return 0;
}

static int parse_flag(const cli_option *option, const char *text, void *value, char *problem)
{
    (void)option;
    (void)text;
    (void)problem;
    *(int *)value = 1;
    return 0;
}

static int parse_choice(const cli_option *option, const char *text, void *value, char *problem)
{
    const char *const *names = option->names();
    int position = names_find(names, text);
    if (position < 0) {
        option_value_unknown(text, names, problem);
        return -1;
    }
    *(int *)value = position;
    return 0;
}

static int parse_text(const cli_option *option, const char *text, void *value, char *problem)
{
    if (*text == '\0')
        return wrong(problem, "the value is empty");
    if (option->check && option->check(text, problem))
        return -1;
    *(const char **)value = text;
    return 0;
}

static int parse_list(const cli_option *option, const char *text, void *value, char *problem)
{
    (void)option;
    option_list *list = value;
    if (list->count == MAX_LIST)
        return wrong(problem, "more than %d values", MAX_LIST);
    list->item[list->count++] = text;
    return 0;
}

static int (*const parsers[])(const cli_option *, const char *, void *, char *) = {
    [OPTION_FLAG] = parse_flag,     [OPTION_INTEGER] = parse_integer, [OPTION_REAL] = parse_real,
    [OPTION_CHOICE] = parse_choice, [OPTION_TEXT] = parse_text,       [OPTION_FILE] = parse_text,
    [OPTION_FOLDER] = parse_text,   [OPTION_LIST] = parse_list,
};

int option_value_parse(const cli_option *option, const char *text, void *settings,
                       char problem[PROBLEM_SIZE])
{
    return parsers[option->kind](option, text, (char *)settings + option->offset, problem);
}
