/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "config_ask.h"

#include <stdlib.h>
#include <string.h>

#include "option_value.h"

static bool several_hosts(const launch_values *values)
{
    return values->num_hosts > 1;
}

static const struct question {
    const char *option, *text;
    const char
        *usual; /* what an empty answer means; "": to leave it open; NULL: it has to be answered */
    bool (*asked)(const launch_values *values);
} questions[] = {
    {"num-hosts", "How many hosts take part?", "1", NULL},
    {"host-rank", "Which number has this host, from 0?", "0", several_hosts},
    {"main-address", "Name or address of host 0, as the others reach it?", NULL, several_hosts},
    {"main-port", "Port on host 0 where processes meet?", "29500", several_hosts},
    {"num-processes", "How many processes on each host?", "1", NULL},
    {"backend", "Backend, or one for each process, separated by commas? (empty: the best)", "",
     NULL},
    {"threads", "Threads of each process? (empty: usable cores / processes)", "", NULL},
    {"precision", "Precision of products: no (f32), bf16 or fp16? (empty: the program's)", "",
     NULL},
    {"accumulate", "Batches an update? (empty: the program's)", "", NULL},
};
enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

/* A line without its end, as memory for free(); NULL at the end of input. */
static char *read_line(void)
{
    char *line = NULL;
    size_t size = 0;
    fflush(stdout);
    ssize_t length = getline(&line, &size, stdin);
    if (length < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

/* Returns 1 when it is answered, 0 to ask again, -1 at the end of input. */
static int ask_once(config_file *file, const struct question *question, const cli_option *option)
{
    char problem[PROBLEM_SIZE];
    printf("%s %s%s%s", question->text, question->usual && *question->usual ? "[" : "",
           question->usual ? question->usual : "", question->usual && *question->usual ? "] " : "");
    char *answer = config_file_keep(file, read_line());
    if (!answer)
        return -1;
    const char *text = *answer || !question->usual ? answer : question->usual;
    if (*text == '\0' && question->usual)
        return 1;
    if (option_value_parse(option, text, &file->values, problem) == 0)
        return 1;
    printf("  %s\n", problem);
    return 0;
}

int config_ask(config_file *file, const struct command *command)
{
    for (int k = 0; k < QUESTIONS; k++) {
        const cli_option *option = launch_value_option(questions[k].option);
        int answered = questions[k].asked && !questions[k].asked(&file->values);
        while (answered == 0)
            answered = ask_once(file, &questions[k], option);
        if (answered < 0) {
            putchar('\n');
            return command_error(command, "the questions were not answered; nothing is written");
        }
    }
    return -1;
}

bool config_confirm(const char *question)
{
    printf("%s [no] ", question);
    char *answer = read_line();
    bool yes = answer && (strcmp(answer, "y") == 0 || strcmp(answer, "yes") == 0);
    free(answer);
    return yes;
}
