/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes beside one: the same number of threads and the same global batch, once in one
 * process and once in two that sum their gradients. This program starts itself, as
 * `axle launch ... axle bench overlap`, for each in turns.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { PROCESSES = 2, TURNS = 3, USUAL_BATCH = 512, NUMBER = 24, MOST_ARGUMENTS = 24 };

static const char self[] = "/proc/self/exe";

typedef struct job {
    char processes[NUMBER], threads[NUMBER], rows[NUMBER], parameters[NUMBER], repeat[NUMBER];
    const char *backend;
} job;

static job make_job(const bench_settings *settings, int processes, int threads, int64_t rows)
{
    job j = {.backend = settings->backend[0].spec};
    snprintf(j.processes, NUMBER, "%d", processes);
    snprintf(j.threads, NUMBER, "%d", threads);
    snprintf(j.rows, NUMBER, "%lld", (long long)rows);
    snprintf(j.parameters, NUMBER, "%lld", (long long)settings->parameters);
    snprintf(j.repeat, NUMBER, "%lld", (long long)settings->repeat);
    return j;
}

static int cannot(const char *what, int reason)
{
    return axle_error_set(AXLE_ERR_IO, "processes: %s: %s", what, strerror(reason));
}

static int spawn(const job *j, int output, pid_t *child)
{
    const char *arguments[MOST_ARGUMENTS] = {
        "axle",     "launch",   "--quiet", "-n",           j->processes, "--threads",
        j->threads, self,       "bench",   "overlap",      "--json",     "--batch-size",
        j->rows,    "--repeat", j->repeat, "--parameters", j->parameters};
    if (j->backend) {
        int at = 0;
        while (arguments[at])
            at++;
        arguments[at] = "--backend";
        arguments[at + 1] = j->backend;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    int reason = posix_spawn(child, self, &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return reason ? cannot("axle launch", reason) : AXLE_OK;
}

static int conclude(pid_t child, const char *processes)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return cannot("wait", errno);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INTERNAL, "processes: axle launch -n %s ended with status %d",
                          processes,
                          WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status));
}

/* The line that the job's first process prints; *out is for json_decref(). */
static int run_job(const job *j, json_t **out)
{
    int ends[2];
    pid_t child;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return cannot("pipe", errno);
    int code = spawn(j, ends[1], &child);
    close(ends[1]);
    json_t *line = code ? NULL : json_loadfd(ends[0], 0, NULL);
    close(ends[0]);
    if (!code)
        code = conclude(child, j->processes);
    if (!code && !json_is_number(json_object_get(line, "step_ms")))
        code = axle_error_set(AXLE_ERR_INTERNAL, "processes: axle bench overlap told no time");
    if (code)
        json_decref(line);
    else
        *out = line;
    return code;
}

/* ------------------------------------------------------------------ the result */

typedef struct result {
    double one[TURNS], two[TURNS], ratio[TURNS], hidden[TURNS];
} result;

static double number(const json_t *line, const char *key)
{
    return json_number_value(json_object_get(line, key));
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* An odd number of turns has one in the middle. */
static double median(double *value)
{
    qsort(value, TURNS, sizeof(*value), compare);
    return value[TURNS / 2];
}

static int take_turn(const job *one, const job *two, result *r, int turn)
{
    json_t *line = NULL;
    int code = run_job(one, &line);
    if (code)
        return code;
    r->one[turn] = number(line, "step_ms");
    json_decref(line);
    code = run_job(two, &line);
    if (code)
        return code;
    r->two[turn] = number(line, "step_ms");
    r->hidden[turn] = number(line, "hidden_share");
    r->ratio[turn] = r->two[turn] / r->one[turn];
    json_decref(line);
    return AXLE_OK;
}

static int print_json(const bench_settings *settings, const char *about, int64_t rows, int threads,
                      const double *number)
{
    static const char *const keys[] = {"median_ms", "one_process_step_ms", "ratio", "hidden_share"};
    const axle_device *device = settings->backend[0].device;
    json_t *line = json_pack(
        "{s:s, s:s, s:s, s:s, s:i, s:i, s:I, s:I, s:I, s:f}", "bench", "processes", "case", about,
        "backend", axle_device_backend(device), "device", axle_device_name(device), "processes",
        PROCESSES, "threads", threads, "repeat", (json_int_t)settings->repeat, "parameters",
        (json_int_t)settings->parameters, "batch_size", (json_int_t)rows, "step_ms", number[0]);
    int failed = !line;
    for (int k = 0; k < 4 && !failed; k++)
        failed = json_object_set_new(line, keys[k], json_real(number[k]));
    failed = failed || json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(line);
    if (failed)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    putchar('\n');
    fflush(stdout);
    return AXLE_OK;
}

/* Each turn has a ratio of its own, since the machine may change its pace between turns. */
static int report(const bench_settings *settings, int64_t rows, int threads, result *r)
{
    char about[96];
    double number[] = {median(r->two), median(r->one), median(r->ratio), median(r->hidden)};
    snprintf(about, sizeof(about), "%.1f M parameters, batch %lld",
             1e-6 * (double)settings->parameters, (long long)rows);
    if (settings->json)
        return print_json(settings, about, rows, threads, number);
    printf("%-10s %-30s %10.3f ms   %d x %d threads; 1 x %d threads %.3f ms; ratio %.2f, %.2f "
           "hidden\n",
           "processes", about, number[0], PROCESSES, threads, PROCESSES * threads, number[1],
           number[2], number[3]);
    fflush(stdout);
    return AXLE_OK;
}

int bench_processes(const bench_settings *settings)
{
    result r;
    int threads = bench_threads() / PROCESSES > 1 ? bench_threads() / PROCESSES : 1;
    int64_t rows = settings->batch_size ? settings->batch_size : USUAL_BATCH;
    job one = make_job(settings, 1, PROCESSES * threads, PROCESSES * rows);
    job two = make_job(settings, PROCESSES, threads, rows);
    int code = AXLE_OK;
    for (int turn = 0; turn < TURNS && !code; turn++)
        code = take_turn(&one, &two, &r, turn);
    return code ? code : report(settings, PROCESSES * rows, threads, &r);
}
