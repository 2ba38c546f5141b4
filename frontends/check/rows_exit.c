/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about the end. They come last: what the rows before them left behind shows here. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe_op.h"
#include "services.h"
#include "trial.h"

/* The first opening may keep tables for the life of the process; later ones may not add to them. */
static check_status everything_comes_back(trial *t, note *n)
{
    enum { LIVES = 3 };
    int64_t blocks = 0;
    trial_close(t);
    for (int k = 0; k < LIVES; k++) {
        if (!trial_open(t, n) || !probe_op_works(&t->subject, n))
            return CHECK_FAILED;
        trial_close(t);
        const int64_t now = services_live_blocks();
        if (k > 0 && now > blocks)
            return ROW_FAILED(n, "%" PRId64 " blocks of the host's memory are not given back",
                              now - blocks);
        blocks = now;
    }
    if (services_broken_blocks())
        return ROW_FAILED(n,
                          "%" PRId64 " blocks of the host's memory were written to behind their "
                          "end, or freed twice",
                          services_broken_blocks());
    return CHECK_PASSED;
}

static check_status shutdown_gives_back(trial *t, note *n)
{
    if (!trial_load(t, n))
        return CHECK_FAILED;
    trial_end(t);
    if (AXLE_HAS(t->plugin, axle_plugin, shutdown))
        t->plugin->shutdown();
    t->plugin = NULL;
    if (services_live_blocks())
        return ROW_FAILED(n, "%" PRId64 " blocks of the host's memory are not given back",
                          services_live_blocks());
    return CHECK_PASSED;
}

/* Destructors and handlers of atexit() run. */
static check_status process_ends(trial *t, note *n)
{
    (void)t, (void)n;
    exit(EXIT_SUCCESS);
}

const behaviour behaviours_exit[] = {
    {"exit", "closing gives everything back", everything_comes_back, 0},
    {"exit", "shutdown gives everything back", shutdown_gives_back, 0},
    {"exit", "the process ends well after shutdown", process_ends, 1},
    {NULL, NULL, NULL, 0}};
