/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "device/guard.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "unit/unit.h"

static int calls;

static void count_call(void *arg)
{
    calls += *(int *)arg;
}

static void raise_signal(void *arg)
{
    raise(*(int *)arg);
}

static void wait_for_ever(void *arg)
{
    (void)arg;
    for (;;)
        usleep(1000);
}

static void good_call_returns(void **state)
{
    (void)state;
    int step = 3;
    assert_int_equal(axle__guard_call(count_call, &step, 1000), 0);
    assert_int_equal(calls, 3);
}

static void each_crash_is_named(void **state)
{
    (void)state;
    static const struct {
        int number;
        const char *name;
    } signals[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
                   {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"}, {SIGSYS, "SIGSYS"}};
    for (size_t k = 0; k < sizeof(signals) / sizeof(signals[0]); k++) {
        int number = signals[k].number;
        assert_int_equal(axle__guard_call(raise_signal, &number, 1000), number);
        assert_string_equal(axle__guard_signal_name(number), signals[k].name);
    }
    assert_non_null(axle__guard_signal_name(12345));
}

static void time_is_limited(void **state)
{
    (void)state;
    assert_int_equal(axle__guard_call(wait_for_ever, NULL, 20), AXLE__GUARD_TIMEOUT);
    int step = 1;
    assert_int_equal(axle__guard_call(count_call, &step, 20), 0);
    usleep(40000); /* the timer of a call that returned is gone */
}

static volatile sig_atomic_t handled;

static void handle(int number)
{
    handled = number;
}

static void handlers_are_put_back(void **state)
{
    (void)state;
    struct sigaction mine = {.sa_handler = handle}, before, after;
    int number = SIGFPE;
    sigset_t mask_before, mask_after;
    sigaction(SIGFPE, &mine, &before);
    pthread_sigmask(SIG_BLOCK, NULL, &mask_before);
    assert_int_equal(axle__guard_call(raise_signal, &number, 1000), SIGFPE);
    assert_int_equal(handled, 0);
    raise(SIGFPE);
    assert_int_equal(handled, SIGFPE);
    sigaction(SIGFPE, &before, &after);
    assert_ptr_equal(after.sa_handler, handle);
    pthread_sigmask(SIG_BLOCK, NULL, &mask_after);
    for (int k = 1; k < 32; k++)
        assert_int_equal(sigismember(&mask_before, k), sigismember(&mask_after, k));
}

static void blocked_signals_are_caught(void **state)
{
    (void)state;
    sigset_t set;
    int number = SIGABRT;
    sigemptyset(&set);
    sigaddset(&set, SIGABRT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    assert_int_equal(axle__guard_call(raise_signal, &number, 1000), SIGABRT);
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    assert_true(sigismember(&set, SIGABRT));
    sigemptyset(&set);
    sigaddset(&set, SIGABRT);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static const struct CMUnitTest tests[] = {
    UNIT("a call that returns leaves no trace", good_call_returns),
    UNIT("a crash is caught and its signal named", each_crash_is_named),
    UNIT("a call that takes too long is ended", time_is_limited),
    UNIT("the program's handlers and mask are put back", handlers_are_put_back),
    UNIT("a crash is caught where its signal is blocked", blocked_signals_are_caught),
};
UNIT_MAIN(tests)
