/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guard around a backend's first calls. A broken driver likes to crash when it is asked what is
 * there, and that must not take the program along.
 *
 * It works in the process, by signal handlers that are there only while the guarded function runs:
 * a child process would be safer, but would load each backend twice and cost more than all the rest
 * of the start. What it can not undo is what the crash left behind: a lock that was held stays
 * locked. So a backend that crashed is never called again, and loading the file itself (the
 * constructors of its libraries) is not guarded, since the dynamic loader holds a lock there.
 */
#define _GNU_SOURCE 1
#include "device/guard.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { STACK_SIZE = 1 << 16 };

static const struct {
    int number;
    const char *name;
} crashes[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
               {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"}, {SIGSYS, "SIGSYS"}};
enum { CRASH_COUNT = sizeof(crashes) / sizeof(crashes[0]) };

/* The handlers are the process's, the guarded call is one thread's. */
static sigjmp_buf jump;
static _Thread_local volatile sig_atomic_t guarded;
static struct sigaction old_actions[CRASH_COUNT + 1];
static unsigned char stack[STACK_SIZE]; /* a crash may be that of a stack that ran over */

/* Unlikely to be anybody else's. */
static int timer_signal(void)
{
    return SIGRTMAX - 3;
}

static int signal_of(int k)
{
    return k < CRASH_COUNT ? crashes[k].number : timer_signal();
}

/* A crash of another thread is not ours: put the old handler back and let it happen again. */
static void pass_on(int number)
{
    for (int k = 0; k < CRASH_COUNT; k++)
        if (crashes[k].number == number)
            sigaction(number, &old_actions[k], NULL);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    if (!guarded) {
        pass_on(number);
        return;
    }
    guarded = 0;
    siglongjmp(jump, number == timer_signal() ? AXLE__GUARD_TIMEOUT : number);
}

static void install(sigset_t *old_mask, stack_t *old_stack)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
    sigset_t open;
    sigemptyset(&action.sa_mask);
    sigemptyset(&open);
    sigaltstack(&own, old_stack);
    for (int k = 0; k <= CRASH_COUNT; k++) {
        sigaction(signal_of(k), &action, &old_actions[k]);
        sigaddset(&open, signal_of(k));
    }
    pthread_sigmask(SIG_UNBLOCK, &open, old_mask);
}

static void uninstall(const sigset_t *old_mask, const stack_t *old_stack)
{
    pthread_sigmask(SIG_SETMASK, old_mask, NULL);
    for (int k = 0; k <= CRASH_COUNT; k++)
        sigaction(signal_of(k), &old_actions[k], NULL);
    sigaltstack(old_stack, NULL);
}

/* A timer that signals this thread; without one the call just has no limit. */
static bool start_timer(int limit_ms, timer_t *timer)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = timer_signal()};
    struct itimerspec limit = {
        .it_value = {.tv_sec = limit_ms / 1000, .tv_nsec = limit_ms % 1000 * 1000000L}};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, timer) != 0)
        return false;
    timer_settime(*timer, 0, &limit, NULL);
    return true;
}

/* In a function of its own, whose variables no jump can spoil. */
static int call_until_jump(void (*fn)(void *arg), void *arg)
{
    int outcome = sigsetjmp(jump, 1);
    if (outcome == 0) {
        guarded = 1;
        fn(arg);
    }
    guarded = 0;
    return outcome;
}

int axle__guard_call(void (*fn)(void *arg), void *arg, int limit_ms)
{
    sigset_t old_mask;
    stack_t old_stack;
    timer_t timer;
    install(&old_mask, &old_stack);
    bool timed = start_timer(limit_ms, &timer);
    int outcome = call_until_jump(fn, arg);
    if (timed)
        timer_delete(timer);
    uninstall(&old_mask, &old_stack);
    return outcome;
}

const char *axle__guard_signal_name(int number)
{
    for (int k = 0; k < CRASH_COUNT; k++)
        if (crashes[k].number == number)
            return crashes[k].name;
    return "an unknown signal";
}
