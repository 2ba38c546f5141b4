/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each way of starting processes has a row of variables; the first row that is there counts. What
 * Axle's own variables say wins over what is derived from others'.
 */
#include "job/membership.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "axle/status.h"
#include "base/settings.h"
#include "base/text.h"

/* Where nothing says a port: the one that others use, too. */
enum { USUAL_PORT = 29500 };

/* Ports made of a job's name: below those that the system hands out. */
enum { DERIVED_FIRST = 10000, DERIVED_COUNT = 20000 };

enum { NAMES = 3 };

/* Names of variables; of several, the first that is set counts. */
typedef struct launcher {
    const char *source;
    const char *rank[NAMES], *size[NAMES], *local_rank[NAMES], *local_size[NAMES];
    const char *job[NAMES];    /* unique to the job, and equal in all its processes */
    const char *needed[NAMES]; /* without any of them the row does not count; none: it does */
} launcher;

/* Batch scripts of Slurm have SLURM_PROCID, too, without being a process of many; only a step's
 * processes have a step. */
static const launcher launchers[] = {
    {"torchrun",
     {"RANK"},
     {"WORLD_SIZE"},
     {"LOCAL_RANK"},
     {"LOCAL_WORLD_SIZE"},
     {"TORCHELASTIC_RUN_ID"},
     {NULL}},
    {"Open MPI",
     {"OMPI_COMM_WORLD_RANK"},
     {"OMPI_COMM_WORLD_SIZE"},
     {"OMPI_COMM_WORLD_LOCAL_RANK"},
     {"OMPI_COMM_WORLD_LOCAL_SIZE"},
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"},
     {NULL}},
    {"PMI",
     {"PMI_RANK"},
     {"PMI_SIZE"},
     {"MPI_LOCALRANKID", "PMI_LOCAL_RANK"},
     {"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"},
     {"PMI_JOBID"},
     {NULL}},
    {"Slurm",
     {"SLURM_PROCID"},
     {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
     {"SLURM_LOCALID"},
     {NULL},
     {NULL},
     {"SLURM_STEP_ID", "SLURM_STEP_NODELIST", "SLURM_STEP_NUM_TASKS"}},
};

/* An empty variable counts as none. */
static const char *variable(const char *name)
{
    const char *value = name ? secure_getenv(name) : NULL;
    return value && value[0] ? value : NULL;
}

/* The first of the names that is set; NULL. */
static const char *first_set(const char *const names[NAMES])
{
    for (int k = 0; k < NAMES; k++)
        if (variable(names[k]))
            return names[k];
    return NULL;
}

/* The number in a variable, from `low` on; untouched where none of the names is set. */
static int read_number(const char *const names[NAMES], int low, int *out)
{
    int64_t number;
    const char *name = first_set(names);
    if (!name)
        return AXLE_OK;
    if (!axle__parse_integer(variable(name), &number) || number < low || number > INT_MAX)
        return axle_error_set(AXLE_ERR_INVALID, "%s=%s is no whole number from %d on", name,
                              variable(name), low);
    *out = (int)number;
    return AXLE_OK;
}

static int read_one(const char *name, int low, int *out)
{
    const char *const names[NAMES] = {name};
    return read_number(names, low, out);
}

/* The row that counts, NULL where none does. A rank without a size, or a size without a rank, is an
 * error. */
static int choose(const launcher **out)
{
    for (size_t k = 0; k < sizeof(launchers) / sizeof(launchers[0]); k++) {
        const launcher *row = &launchers[k];
        const char *rank = first_set(row->rank), *size = first_set(row->size);
        bool counts = !row->needed[0] || first_set(row->needed);
        if (!counts || (!rank && !size))
            continue;
        if (!rank || !size)
            return axle_error_set(AXLE_ERR_INVALID, "%s is set, and %s is not", rank ? rank : size,
                                  rank ? row->size[0] : row->rank[0]);
        *out = row;
        return AXLE_OK;
    }
    *out = NULL;
    return AXLE_OK;
}

/* Slurm says the processes of each host, in order. */
static void read_slurm_local_size(axle__membership *m)
{
    static const char *const lists[NAMES] = {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"};
    const char *list = first_set(lists);
    int node = -1;
    if (!list || read_one("SLURM_NODEID", 0, &node) || node < 0)
        return;
    int tasks = axle__tasks_of_node(variable(list), node);
    if (tasks > 0)
        m->local_size = tasks;
}

static int read_place(const launcher *row, axle__membership *m)
{
    m->source = row->source;
    int code = read_number(row->rank, 0, &m->rank);
    code = code ? code : read_number(row->size, 1, &m->size);
    if (code)
        return code;
    if (m->rank >= m->size)
        return axle_error_set(AXLE_ERR_INVALID, "%s=%d is not below %s=%d", first_set(row->rank),
                              m->rank, first_set(row->size), m->size);
    m->local_rank = m->local_size = -1;
    code = read_number(row->local_rank, 0, &m->local_rank);
    code = code ? code : read_number(row->local_size, 1, &m->local_size);
    if (code)
        return code;
    if (strcmp(row->source, "Slurm") == 0)
        read_slurm_local_size(m);
    if (m->local_size > m->size || (m->local_size > 0 && m->local_rank >= m->local_size))
        return axle_error_set(AXLE_ERR_INVALID, "%s: rank %d of %d cannot be local rank %d of %d",
                              row->source, m->rank, m->size, m->local_rank, m->local_size);
    return AXLE_OK;
}

/* Copy a text of the environment; too long a one is an error that names the variable. */
static int copy(char *out, size_t size, const char *name, const char *value)
{
    if (strlen(value) >= size)
        return axle_error_set(AXLE_ERR_INVALID, "%s is longer than %zu characters", name, size - 1);
    memcpy(out, value, strlen(value) + 1);
    return AXLE_OK;
}

static int copy_setting(char *out, size_t size, int setting)
{
    return copy(out, size, axle__setting_describe(setting)->name, axle__setting(setting));
}

/* What distinguishes the job, made of what its launcher says. */
static void derive_job(const launcher *row, axle__membership *m)
{
    const char *name = first_set(row->job);
    const char *id = variable("SLURM_JOB_ID"), *step = variable("SLURM_STEP_ID");
    if (name)
        snprintf(m->job, sizeof(m->job), "%s", variable(name));
    else if (id)
        snprintf(m->job, sizeof(m->job), "slurm %s.%s", id, step ? step : "0");
}

static int read_job(const launcher *row, axle__membership *m)
{
    int code = copy_setting(m->job, sizeof(m->job), AXLE_SETTING_JOB);
    if (!code && !m->job[0])
        derive_job(row, m);
    code = code ? code : copy_setting(m->secret, sizeof(m->secret), AXLE_SETTING_SECRET);
    return code ? code
                : copy_setting(m->rendezvous, sizeof(m->rendezvous), AXLE_SETTING_RENDEZVOUS);
}

/* The host of rank 0: said, the first of Slurm's, or this one, where it has all processes. */
static int find_host(axle__membership *m)
{
    static const char *const lists[NAMES] = {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"};
    const char *said = variable("MASTER_ADDR"), *list = first_set(lists);
    if (m->rendezvous[0])
        return AXLE_OK;
    if (said)
        return copy(m->host, sizeof(m->host), "MASTER_ADDR", said);
    if (m->local_size == m->size || (m->local_size < 0 && strcmp(m->source, "PMI") == 0))
        return copy(m->host, sizeof(m->host), "", "127.0.0.1");
    if (list && strcmp(m->source, "torchrun") != 0)
        return axle__hostlist_first(variable(list), m->host, sizeof(m->host));
    return axle_error_set(AXLE_ERR_INVALID,
                          "%s: %d of %d processes are on this host, and nothing says where rank 0 "
                          "is; set MASTER_ADDR and MASTER_PORT, or AXLE_RENDEZVOUS",
                          m->source, m->local_size < 0 ? 1 : m->local_size, m->size);
}

/* The same port in all processes of a job, and probably another one in other jobs. */
static int derived_port(const char *job)
{
    uint32_t hash = 2166136261u;
    for (const char *c = job; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return DERIVED_FIRST + (int)(hash % DERIVED_COUNT);
}

static int find_port(axle__membership *m)
{
    m->port = -1;
    int code = read_one("MASTER_PORT", 0, &m->port);
    if (code)
        return code;
    if (m->port > 65535)
        return axle_error_set(AXLE_ERR_INVALID, "MASTER_PORT=%d is above 65535", m->port);
    if (m->port < 0 && !m->host[0])
        m->port = 0;
    else if (m->port < 0)
        m->port =
            m->job[0] && strcmp(m->source, "torchrun") != 0 ? derived_port(m->job) : USUAL_PORT;
    if (m->port == 0 && m->host[0] && m->size > 1 && m->rank > 0 && !m->rendezvous[0])
        return axle_error_set(AXLE_ERR_INVALID, "MASTER_PORT=0 does not say where rank 0 listens");
    return AXLE_OK;
}

static int find_listener(axle__membership *m)
{
    int64_t number;
    const char *text = axle__setting(AXLE_SETTING_LISTEN_FD);
    if (!text[0] || m->rank != 0)
        return AXLE_OK;
    if (!axle__parse_integer(text, &number) || number < 0 || number > INT_MAX)
        return axle_error_set(AXLE_ERR_INVALID, "AXLE_LISTEN_FD=%s is no descriptor", text);
    /* An earlier meeting of this process may have taken it over and closed it. Then rank 0 listens
     * at the port by itself. */
    int listens = 0;
    socklen_t size = sizeof(listens);
    if (getsockopt((int)number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens)
        m->listen_fd = (int)number;
    return AXLE_OK;
}

/* Where processes' places on their hosts are not said, all are taken to be on one. */
static void complete_local(axle__membership *m)
{
    if (m->local_rank < 0)
        m->local_rank = m->local_size > 0 ? m->rank % m->local_size : m->rank;
    if (m->local_size < 0)
        m->local_size = m->local_rank == m->rank ? m->size : m->local_rank + 1;
}

int axle__membership_read(axle__membership *out)
{
    axle__membership m = {.size = 1, .local_size = 1, .listen_fd = -1, .source = "one process"};
    const launcher *row;
    int code = choose(&row);
    if (!code && row)
        code = read_place(row, &m);
    if (!code && m.size > 1) {
        code = read_job(row, &m);
        code = code ? code : find_host(&m);
        code = code ? code : find_port(&m);
        code = code ? code : find_listener(&m);
    }
    if (code)
        return code;
    complete_local(&m);
    *out = m;
    return AXLE_OK;
}
