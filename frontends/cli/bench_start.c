/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the start of a process to the end of its first update: this program runs itself, as
 * `axle train` with one update, and waits for the line that tells of it.
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
#include "text_model.h"

typedef struct starter {
    const char *model;
    int64_t rows;
    char *backend; /* "AXLE_BACKEND=..." or NULL */
} starter;

static int cannot(const char *what, int reason)
{
    return axle_error_set(AXLE_ERR_IO, "start: %s: %s", what, strerror(reason));
}

/* The environment with another backend; for free(). */
static char **environment_of(const starter *s)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **out = calloc(count + 2, sizeof(*out));
    for (size_t k = 0; k < count && out; k++)
        if (!s->backend || strncmp(environ[k], "AXLE_BACKEND=", 13) != 0)
            out[kept++] = environ[k];
    if (out && s->backend)
        out[kept] = s->backend;
    return out;
}

static int spawn(const starter *s, int output, pid_t *child)
{
    char rows[24];
    snprintf(rows, sizeof(rows), "%lld", (long long)s->rows);
    char *const arguments[] = {"axle",        "train",       "--model",   (char *)s->model,
                               "--max-steps", "1",           "--no-eval", "--quiet",
                               "--json",      "--log-every", "1",         "--batch-size",
                               rows,          NULL};
    char **environment = environment_of(s);
    if (!environment)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    int reason = posix_spawn(child, "/proc/self/exe", &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return reason ? cannot("axle train", reason) : AXLE_OK;
}

/* Until the child's first byte, which it prints after the update, or its end. */
static int first_byte(int input)
{
    char byte;
    ssize_t n;
    do
        n = read(input, &byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

static int conclude(pid_t child, int told)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return cannot("wait", errno);
    if (told && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INTERNAL, "start: axle train ended with status %d",
                          WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status));
}

static int start(void *user)
{
    int ends[2], told = 0;
    pid_t child;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return cannot("pipe", errno);
    int code = spawn(user, ends[1], &child);
    close(ends[1]);
    if (!code)
        told = first_byte(ends[0]);
    close(ends[0]);
    return code ? code : conclude(child, told);
}

static int create(const bench_subject *subject, const bench_backend *backend, bench_pair *out)
{
    starter *s = malloc(sizeof(*s));
    if (!s)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    *s = *(const starter *)subject->params;
    out->work = (bench_work){start, s, NULL};
    if (backend->spec && asprintf(&s->backend, "AXLE_BACKEND=%s", backend->spec) < 0) {
        s->backend = NULL;
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    }
    return AXLE_OK;
}

static void release(bench_pair *pair)
{
    starter *s = pair->work.user;
    if (s)
        free(s->backend);
    free(s);
}

int bench_start(const bench_settings *settings)
{
    char about[64];
    starter s = {.model = settings->model < 0 ? "lenet" : all_model_names()[settings->model]};
    s.rows = bench_batch_size(settings, s.model);
    snprintf(about, sizeof(about), "%s, batch %lld", s.model, (long long)s.rows);
    bench_subject subject = {
        .what = "start",
        .about = about,
        .unit = BENCH_MS,
        .params = &s,
        .create = create,
        .release = release,
        .more = json_pack("{s:s, s:I}", "model", s.model, "batch_size", (json_int_t)s.rows)};
    int code = bench_compare(settings, &subject);
    json_decref(subject.more);
    return code;
}
