/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "axle/status.h"
#include "clock.h"

enum { BAR = 14, COLUMNS = 80, LINE_SIZE = 256 };

static const double redraw_interval = 0.1;
static const char clear_line[] = "\r\033[K";

/* A line of the library's log, while the progress line is on the screen. */
static void log_above(int level, const char *component, const char *message, void *user)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    (void)user;
    fprintf(stderr, "%saxle: %s: %s: %s\n", clear_line, names[level], component, message);
}

void progress_begin(progress *progress, int quiet, int64_t epochs, int64_t updates, int64_t every,
                    double waited)
{
    progress->quiet = quiet;
    progress->terminal = isatty(STDERR_FILENO);
    progress->epochs = epochs;
    progress->updates = updates;
    progress->every = every;
    progress->before = 0;
    progress->start = clock_seconds();
    progress->drawn = 0.0;
    progress->waited = waited;
    if (!quiet && progress->terminal)
        axle_log_redirect(log_above, NULL);
}

static int terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return COLUMNS;
}

/* "1:02:03", "2:03". */
static void format_duration(double seconds, char *out, size_t size)
{
    int64_t s = (int64_t)(seconds + 0.5);
    if (s >= 3600)
        snprintf(out, size, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
    else
        snprintf(out, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

static void format_state(const progress *progress, const progress_state *state, double now,
                         const char *bar, char *out, size_t size)
{
    double elapsed = now - progress->start;
    double an_update = elapsed / (double)(state->update - progress->before);
    double left = an_update * (double)(progress->updates - state->update);
    char time[32], waiting[32] = "";
    format_duration(left, time, sizeof(time));
    if (state->waited >= 0.0 && elapsed > 0.0)
        snprintf(waiting, sizeof(waiting), "  comm %.0f%%",
                 100.0 * (state->waited - progress->waited) / elapsed);
    snprintf(out, size,
             "epoch %" PRId64 "/%" PRId64 " %s %" PRId64 "/%" PRId64
             "  loss %.4f  lr %.2g  %.0f samples/s%s  %s left",
             state->epoch, progress->epochs, bar, state->update, progress->updates, state->loss,
             state->lr, elapsed > 0.0 ? (double)state->rows / elapsed : 0.0, waiting, time);
}

static void draw(const progress *progress, const progress_state *state, double now)
{
    char bar[BAR + 3], line[LINE_SIZE];
    int done = (int)((double)state->update / (double)progress->updates * BAR);
    bar[0] = '[';
    memset(bar + 1, '#', (size_t)done);
    memset(bar + 1 + done, '.', (size_t)(BAR - done));
    bar[BAR + 1] = ']';
    bar[BAR + 2] = '\0';
    format_state(progress, state, now, bar, line, sizeof(line));
    fprintf(stderr, "%s%.*s", clear_line, terminal_columns() - 1, line);
    fflush(stderr);
}

void progress_update(progress *progress, const progress_state *state)
{
    if (progress->quiet)
        return;
    int last = state->update == progress->updates;
    if (!progress->terminal && !last && state->update % progress->every != 0)
        return;
    double now = clock_seconds();
    if (!progress->terminal) {
        char line[LINE_SIZE];
        format_state(progress, state, now, "update", line, sizeof(line));
        fprintf(stderr, "%s\n", line);
    } else if (last || now - progress->drawn >= redraw_interval) {
        progress->drawn = now;
        draw(progress, state, now);
    }
}

void progress_end(progress *progress)
{
    if (progress->quiet || !progress->terminal)
        return;
    fputs(clear_line, stderr);
    fflush(stderr);
    axle_log_redirect(NULL, NULL);
}
