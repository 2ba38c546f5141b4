/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "launch_environment.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void append(launch_environment *environment, char *entry)
{
    if (!environment->failed && entry && environment->count + 1 >= environment->room) {
        int room = 2 * environment->room + 64;
        char **grown = reallocarray(environment->entries, (size_t)room, sizeof(*grown));
        if (grown) {
            environment->entries = grown;
            environment->room = room;
        }
        environment->failed = !grown;
    }
    if (environment->failed || !entry) {
        environment->failed = true;
        free(entry);
        return;
    }
    environment->entries[environment->count++] = entry;
    environment->entries[environment->count] = NULL;
}

static void drop(launch_environment *environment, const char *name)
{
    size_t length = strlen(name);
    for (int k = 0; k < environment->count; k++) {
        char *entry = environment->entries[k];
        if (strncmp(entry, name, length) != 0 || entry[length] != '=')
            continue;
        free(entry);
        environment->entries[k--] = environment->entries[--environment->count];
        environment->entries[environment->count] = NULL;
    }
}

static void set_text(launch_environment *environment, const char *name, const char *value)
{
    char *entry;
    drop(environment, name);
    append(environment, asprintf(&entry, "%s=%s", name, value) < 0 ? NULL : entry);
}

static void set_number(launch_environment *environment, const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%lld", (long long)value);
    set_text(environment, name, text);
}

/* What was given; what was not stays as the launcher found it. */
static void set_given_number(launch_environment *environment, const char *name, int64_t value)
{
    if (value != LAUNCH_UNSET)
        set_number(environment, name, value);
}

static void set_given_text(launch_environment *environment, const char *name, const char *value)
{
    if (value)
        set_text(environment, name, value);
}

static void set_place(launch_environment *environment, const launch_plan *plan, int local)
{
    const struct {
        const char *name;
        int value;
    } numbers[] = {
        {"RANK", plan->first_rank + local},    {"WORLD_SIZE", plan->world}, {"LOCAL_RANK", local},
        {"LOCAL_WORLD_SIZE", plan->processes}, {"GROUP_RANK", plan->host},
    };
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
        set_number(environment, numbers[k].name, numbers[k].value);
}

static void set_meeting(launch_environment *environment, const launch_plan *plan, int listen_fd)
{
    if (plan->address) {
        set_text(environment, "MASTER_ADDR", plan->address);
        set_number(environment, "MASTER_PORT", plan->port);
    }
    set_text(environment, "AXLE_JOB", plan->job);
    set_given_text(environment, "AXLE_SECRET", plan->secret[0] ? plan->secret : NULL);
    /* One that the launcher itself inherited is of another job. */
    drop(environment, "AXLE_LISTEN_FD");
    if (listen_fd >= 0)
        set_number(environment, "AXLE_LISTEN_FD", listen_fd);
}

static void set_work(launch_environment *environment, const launch_plan *plan, int local)
{
    const launch_values *values = &plan->values;
    char *backend = launch_plan_backend(plan, local);
    set_given_text(environment, "AXLE_BACKEND", backend);
    free(backend);
    set_given_number(environment, "AXLE_THREADS", plan->axle_threads);
    set_given_number(environment, "OMP_NUM_THREADS", plan->omp_threads);
    set_given_number(environment, "AXLE_TIMEOUT", values->timeout);
    set_given_number(environment, "AXLE_ACCUMULATE", values->accumulate);
    if (values->precision != LAUNCH_UNSET)
        set_text(environment, "AXLE_PRECISION", launch_precisions()[values->precision]);
    if (values->debug)
        set_text(environment, "AXLE_LOG", "debug");
}

int launch_environment_make(const launch_plan *plan, int local, int restart, int listen_fd,
                            launch_environment *out)
{
    *out = (launch_environment){0};
    for (char **entry = environ; entry && *entry; entry++)
        append(out, strdup(*entry));
    set_place(out, plan, local);
    set_meeting(out, plan, listen_fd);
    set_work(out, plan, local);
    set_number(out, "AXLE_RESTART", restart);
    return out->failed ? -1 : 0;
}

void launch_environment_release(launch_environment *environment)
{
    for (int k = 0; k < environment->count; k++)
        free(environment->entries[k]);
    free(environment->entries);
    *environment = (launch_environment){0};
}
