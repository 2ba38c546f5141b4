/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t caught;

static void note(int number)
{
    caught = number;
}

/*
 * A hangup stays ignored for those who started us with nohup. SIGINT is caught even where it was
 * ignored: shells ignore it for what a script starts in the background, and whoever interrupts such
 * a script means its training, too.
 */
void interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

int interrupt_signal(void)
{
    return caught;
}
