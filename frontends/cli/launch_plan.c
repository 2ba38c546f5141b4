/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "launch_plan.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "axle/device.h"

/* The port of several hosts, which all have to know it; torchrun's. */
enum { SHARED_PORT = 29500 };

/* Random bytes; their hexadecimal text is twice as long. */
enum { JOB_BYTES = 8, SECRET_BYTES = 32 };

/* A variable, where it is not empty. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int out_of_memory(void)
{
    return command_error(&launch_command, "out of memory");
}

/* ------------------------------------------------------------------ where values come from */

/* Say what a value is that was not on the command line; those from the file come first. */
static void say(launch_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(launch_plan *plan, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    long length = ftell(plan->said);
    if (length == plan->said_file)
        fputs(length > 0 ? "; by default: " : "by default: ", plan->said);
    else
        fputs(", ", plan->said);
    vfprintf(plan->said, format, list);
    va_end(list);
}

/* Variables that stand above the file. */
static bool environment_says(const char *option)
{
    static const struct {
        const char *option, *variable;
    } pairs[] = {
        {"backend", "AXLE_BACKEND"},       {"threads", "AXLE_THREADS"},
        {"threads", "OMP_NUM_THREADS"},    {"precision", "AXLE_PRECISION"},
        {"accumulate", "AXLE_ACCUMULATE"}, {"timeout", "AXLE_TIMEOUT"},
    };
    for (size_t k = 0; k < sizeof(pairs) / sizeof(pairs[0]); k++)
        if (strcmp(pairs[k].option, option) == 0 && variable(pairs[k].variable))
            return true;
    return false;
}

static void begin_from_file(launch_plan *plan)
{
    if (ftell(plan->said) == 0)
        fprintf(plan->said, "from %s: ", plan->file_path);
    else
        fputs(", ", plan->said);
}

static void say_from_file(launch_plan *plan, const cli_option *option)
{
    const char *at = (const char *)&plan->values + option->offset;
    begin_from_file(plan);
    if (option->kind == OPTION_INTEGER)
        fprintf(plan->said, "%s %lld", option->name, (long long)*(const int64_t *)(const void *)at);
    else if (option->kind == OPTION_CHOICE)
        fprintf(plan->said, "%s %s", option->name, option->names()[*(const int *)(const void *)at]);
    else
        fprintf(plan->said, "%s %s", option->name, *(const char *const *)(const void *)at);
    plan->said_file = ftell(plan->said);
}

/* Of accelerate's. */
static void say_switch(launch_plan *plan, const char *key, int on)
{
    if (!on)
        return;
    begin_from_file(plan);
    fputs(key, plan->said);
    plan->said_file = ftell(plan->said);
}

static size_t size_of(const cli_option *option)
{
    return option->kind == OPTION_INTEGER  ? sizeof(int64_t)
           : option->kind == OPTION_CHOICE ? sizeof(int)
                                           : sizeof(const char *);
}

/* Take from the file what nothing above it says. */
static void merge(launch_plan *plan)
{
    for (const cli_option *option = launch_options; launch_value_option(option->name); option++) {
        if (launch_value_given(&plan->values, option) || environment_says(option->name) ||
            !launch_value_given(&plan->file.values, option))
            continue;
        memcpy((char *)&plan->values + option->offset,
               (const char *)&plan->file.values + option->offset, size_of(option));
        say_from_file(plan, option);
    }
    bool chosen = plan->values.backend || environment_says("backend");
    plan->values.use_cpu = plan->file.values.use_cpu && !chosen;
    plan->values.debug = plan->file.values.debug && !variable("AXLE_LOG");
    say_switch(plan, "use_cpu", plan->values.use_cpu);
    say_switch(plan, "debug", plan->values.debug);
}

static int read_file(launch_plan *plan)
{
    const launch_settings *settings = plan->settings;
    plan->file.values = launch_defaults.values;
    plan->file_path = settings->config ? strdup(settings->config) : config_file_default_path();
    if (!plan->file_path)
        return settings->config ? out_of_memory() : -1;
    if (!settings->config && access(plan->file_path, F_OK) != 0)
        return -1;
    if (!settings->config && !config_file_supported()) {
        command_error(&launch_command, "%s is ignored: this axle was built without libyaml",
                      plan->file_path);
        return -1;
    }
    return config_file_read(&plan->file, &launch_command, plan->file_path, settings->quiet);
}

/* ------------------------------------------------------------------ processes */

static int place_host(launch_plan *plan)
{
    const launch_values *values = &plan->values;
    plan->hosts = values->num_hosts == LAUNCH_UNSET ? 1 : (int)values->num_hosts;
    plan->host = values->host_rank == LAUNCH_UNSET ? 0 : (int)values->host_rank;
    if (plan->hosts > 1 && values->host_rank == LAUNCH_UNSET)
        return options_usage(&launch_command, "--num-hosts %d needs --host-rank, from 0 to %d",
                             plan->hosts, plan->hosts - 1);
    if (plan->host >= plan->hosts)
        return options_usage(&launch_command, "--host-rank %d: --num-hosts is %d", plan->host,
                             plan->hosts);
    return -1;
}

static int count_backends(const char *list)
{
    int count = 1;
    for (; *list; list++)
        count += *list == ',';
    return count;
}

/* A process for each backend that is listed; where nobody chose one, for each GPU. */
static int choose_processes(launch_plan *plan)
{
    const char *list = plan->values.backend;
    int count = list ? count_backends(list) : 1;
    if (!list && !plan->values.use_cpu && !variable("AXLE_BACKEND")) {
        int gpus = launch_detect_gpus(&plan->gpu_backend);
        count = gpus > 1 ? gpus : 1;
        say(plan, "num-processes %d (GPUs found: %d)", count, gpus);
    } else {
        say(plan, "num-processes %d", count);
    }
    char *text;
    if (asprintf(&text, "%d", count) < 0)
        text = NULL;
    plan->values.num_processes = config_file_keep(&plan->file, text);
    return plan->values.num_processes ? -1 : out_of_memory();
}

static int place_processes(launch_plan *plan)
{
    const char *list = plan->values.num_processes;
    int count;
    plan->processes = launch_count_at(list, plan->host, &count);
    if (count != 1 && count != plan->hosts)
        return options_usage(&launch_command,
                             "--num-processes %s has %d numbers, but --num-hosts is %d", list,
                             count, plan->hosts);
    for (int host = 0; host < plan->hosts; host++) {
        if (host == plan->host)
            plan->first_rank = plan->world;
        plan->world += launch_count_at(list, host, &count);
    }
    return -1;
}

/* ------------------------------------------------------------------ backends and threads */

static int check_backends(launch_plan *plan)
{
    const char *list = plan->values.backend;
    if (list) {
        int count = count_backends(list);
        if (count != 1 && count != plan->processes)
            return options_usage(&launch_command,
                                 "--backend %s has %d entries, but this host has %d processes",
                                 list, count, plan->processes);
    } else if (!plan->values.use_cpu && !variable("AXLE_BACKEND")) {
        say(plan, "backend auto");
    }
    return -1;
}

char *launch_plan_backend(const launch_plan *plan, int local)
{
    const char *list = plan->values.backend;
    char *text = NULL;
    if (!list && variable("AXLE_BACKEND"))
        return NULL;
    if (!list && plan->values.use_cpu)
        return strdup("onednn,openblas,reference");
    if (!list)
        return plan->gpu_backend && asprintf(&text, "%s:%d", plan->gpu_backend, local) >= 0 ? text
                                                                                            : NULL;
    int several = count_backends(list) > 1;
    for (int k = 0; several && k < local; k++)
        list += strcspn(list, ",") + 1;
    return strndup(list, several ? strcspn(list, ",") : strlen(list));
}

/* A number of threads that the user set; LAUNCH_UNSET for none, or for Axle's 0, which leaves it
 * open. */
static int threads_of(const char *name)
{
    const char *value = variable(name);
    long number = value ? strtol(value, NULL, 10) : 0;
    return number > 0 && number < 1 << 20 ? (int)number : LAUNCH_UNSET;
}

/* The kernels' own threads and OpenMP's are given alike, where the user names only one. */
static void choose_threads(launch_plan *plan)
{
    int axle = threads_of("AXLE_THREADS"), omp = threads_of("OMP_NUM_THREADS");
    plan->axle_threads = plan->omp_threads = LAUNCH_UNSET;
    if (plan->values.threads != LAUNCH_UNSET) {
        plan->axle_threads = plan->omp_threads = (int)plan->values.threads;
    } else if (axle == LAUNCH_UNSET && omp == LAUNCH_UNSET) {
        int usable = axle_usable_cores(), each = usable / plan->processes;
        plan->axle_threads = plan->omp_threads = each > 0 ? each : 1;
        say(plan, "threads %d (usable cores %d / processes %d)", plan->axle_threads, usable,
            plan->processes);
    } else if (axle == LAUNCH_UNSET) {
        plan->axle_threads = omp;
    } else if (omp == LAUNCH_UNSET) {
        plan->omp_threads = axle;
    }
}

/* ------------------------------------------------------------------ the meeting */

static int choose_address(launch_plan *plan)
{
    const launch_values *values = &plan->values;
    bool elsewhere = variable("AXLE_RENDEZVOUS") != NULL;
    plan->address = values->main_address;
    plan->port = values->main_port == LAUNCH_UNSET ? 0 : (int)values->main_port;
    if (plan->hosts == 1 && !plan->address)
        plan->address = "127.0.0.1";
    if (plan->hosts == 1)
        return -1;
    if (!plan->address)
        return elsewhere ? -1
                         : options_usage(&launch_command,
                                         "--num-hosts %d needs --main-address, the name or address "
                                         "of host 0",
                                         plan->hosts);
    if (values->main_port == LAUNCH_UNSET) {
        plan->port = SHARED_PORT;
        say(plan, "main-port %d", plan->port);
    }
    if (plan->port == 0)
        return options_usage(&launch_command,
                             "--main-port 0 is a port that the other hosts cannot know; give one");
    return -1;
}

static int draw(char *hexadecimal, int bytes)
{
    unsigned char random[SECRET_BYTES];
    if (getrandom(random, (size_t)bytes, 0) != bytes)
        return command_error(&launch_command, "there are no random numbers for the job's secret");
    for (int k = 0; k < bytes; k++)
        snprintf(hexadecimal + 2 * (ptrdiff_t)k, 3, "%02x", random[k]);
    return -1;
}

/* Hosts agree on both, so that they cannot be drawn where there are several. The port tells jobs
 * apart that one host serves; hosts may call the address by different names. */
static int name_job(launch_plan *plan)
{
    const char *job = variable("AXLE_JOB"), *secret = variable("AXLE_SECRET");
    if (secret && strlen(secret) >= sizeof(plan->secret))
        return options_usage(&launch_command, "AXLE_SECRET is longer than %zu characters",
                             sizeof(plan->secret) - 1);
    if (secret)
        snprintf(plan->secret, sizeof(plan->secret), "%s", secret);
    if (plan->hosts > 1) {
        if (!secret)
            say(plan, "no AXLE_SECRET");
        if (job)
            snprintf(plan->job, sizeof(plan->job), "%s", job);
        else if (plan->address)
            snprintf(plan->job, sizeof(plan->job), "port-%d", plan->port);
        return -1;
    }
    int code = draw(plan->job, JOB_BYTES);
    return code >= 0 || secret ? code : draw(plan->secret, SECRET_BYTES);
}

/* ------------------------------------------------------------------ all of it */

int launch_plan_make(launch_plan *plan, const launch_settings *settings)
{
    *plan = (launch_plan){.settings = settings, .values = settings->values};
    plan->said = open_memstream(&plan->said_text, &plan->said_size);
    if (!plan->said)
        return out_of_memory();
    int code = read_file(plan);
    if (code >= 0)
        return code;
    merge(plan);
    if ((code = place_host(plan)) >= 0)
        return code;
    if (!plan->values.num_processes && (code = choose_processes(plan)) >= 0)
        return code;
    if ((code = place_processes(plan)) >= 0 || (code = check_backends(plan)) >= 0)
        return code;
    choose_threads(plan);
    if ((code = choose_address(plan)) >= 0)
        return code;
    return name_job(plan);
}

void launch_plan_report(launch_plan *plan)
{
    if (plan->hosts == 1 && plan->values.main_port == LAUNCH_UNSET)
        say(plan, "main-port %d (free)", plan->port);
    if (fflush(plan->said) == 0 && !plan->settings->quiet && plan->said_size > 0)
        command_error(&launch_command, "%s", plan->said_text);
}

void launch_plan_release(launch_plan *plan)
{
    if (plan->said)
        fclose(plan->said);
    free(plan->said_text);
    free(plan->gpu_backend);
    config_file_release(&plan->file);
    free(plan->file_path);
    *plan = (launch_plan){0};
}
