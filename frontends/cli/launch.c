/* SPDX-License-Identifier: Apache-2.0 */
/* axle launch: one program, several processes. */
#define _GNU_SOURCE 1
#include "launch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../common/folder.h"
#include "launch_child.h"
#include "launch_plan.h"
#include "launch_supervisor.h"

/* So that no pipe gets the number of a standard stream that we were started without. */
static void open_standard_streams(void)
{
    int descriptor;
    do
        descriptor = open("/dev/null", O_RDWR);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0)
        close(descriptor);
}

static int run_plan(launch_plan *plan, const launch_settings *settings)
{
    const char *problem = "out of memory";
    char *path = launch_find_program(settings->program[0], &problem);
    if (!path) {
        command_error(&launch_command, "%s: %s", settings->program[0], problem);
        return EXIT_USAGE;
    }
    int created, code = EXIT_FAILED;
    if (settings->log_dir && folder_prepare(settings->log_dir, &created))
        command_failed(&launch_command, "--log-dir");
    else
        code = launch_supervise(plan, path);
    free(path);
    return code;
}

static int run(const void *given, const int *operands, int n)
{
    const launch_settings *settings = given;
    launch_plan plan;
    (void)operands;
    (void)n;
    if (!settings->program[0])
        return options_usage(&launch_command, "there is no program to start");
    open_standard_streams();
    int code = launch_plan_make(&plan, settings);
    if (code < 0)
        code = run_plan(&plan, settings);
    launch_plan_release(&plan);
    return code;
}

const command launch_command = {
    .name = "launch",
    .summary = "run a program as several processes that train together",
    .about =
        "Run a program as several processes that train together, on one host or more, and end\n"
        "all of them when one fails. A value comes from the command line, else from the\n"
        "environment, else from the configuration file, else from what is found.",
    .program = "PROGRAM [ARGUMENT]...",
    .program_offset = offsetof(launch_settings, program),
    .options = launch_options,
    .defaults = &launch_defaults,
    .settings_size = sizeof(launch_defaults),
    .run = run,
};
