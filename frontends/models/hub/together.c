/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of several processes. The main one settles which commit it is and brings it; then the first
 * process of each other host; then all others find it in the cache. After each turn all know how
 * it went, so that an error of one is an error of all and nobody waits for ever.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hub.h"

/* What a process tells the others of its turn. */
typedef struct report {
    int code;
    char commit[41]; /* "": a folder of the machine, or it had no turn yet */
    char message[1024];
} report;

enum { TURNS = 3 };

static int turn_of(const axle_accelerator *accelerator)
{
    if (axle_is_main_process(accelerator))
        return 0;
    return axle_is_local_main_process(accelerator) ? 1 : 2;
}

/* Keep the error in the report alone: which one is recorded is decided by all. */
static void take_turn(const char *name, const axle_hub_options *options, report *mine, char **out)
{
    mine->code = axle__hub_resolve_alone(name, options, mine->commit, out);
    if (!mine->code)
        return;
    snprintf(mine->message, sizeof(mine->message), "%s", axle_error_message());
    axle_error_clear();
}

/* Everyone's report, in the order of ranks. */
static int exchange(axle_accelerator *accelerator, const report *mine, report **all)
{
    void *bytes = NULL;
    size_t *sizes = calloc((size_t)axle_process_count(accelerator), sizeof(*sizes));
    if (!sizes)
        return axle_error_set(AXLE_ERR_NOMEM, "hub: out of memory");
    int code = axle_gather_objects(accelerator, mine, sizeof(*mine), &bytes, sizes);
    free(sizes);
    *all = bytes;
    return code;
}

static int first_failure(const report *all, int count)
{
    for (int k = 0; k < count; k++)
        if (all[k].code)
            return axle_error_set(all[k].code, "process %d: %s", k, all[k].message);
    return AXLE_OK;
}

int axle__hub_resolve_together(const char *name, const axle_hub_options *options, char **out)
{
    axle_accelerator *accelerator = options->accelerator;
    axle_hub_options own = *options;
    report mine = {0}, *all = NULL;
    char *folder = NULL, commit[41] = "";
    int mine_is = turn_of(accelerator), code = axle_error_code();
    for (int turn = 0; turn < TURNS && !code; turn++) {
        if (turn == mine_is)
            take_turn(name, &own, &mine, &folder);
        code = exchange(accelerator, &mine, &all);
        if (!code)
            code = first_failure(all, axle_process_count(accelerator));
        if (!code && turn == 0 && all[0].commit[0]) {
            memcpy(commit, all[0].commit, sizeof(commit));
            own.revision = commit;
        }
        own.offline = own.offline || (turn == 1 && commit[0]);
        axle_free(all);
        all = NULL;
    }
    if (code)
        free(folder);
    else
        *out = folder;
    return code;
}
