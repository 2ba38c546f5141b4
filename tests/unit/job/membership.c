/* SPDX-License-Identifier: Apache-2.0 */
#include "job/membership.h"

#include <stdbool.h>
#include <unistd.h>

#include "base/settings.h"
#include "job/socket.h"
#include "unit/unit.h"

extern char **environ;

/* Start from an environment without any job. */
static int clear(void **state)
{
    static const char *const prefixes[] = {"AXLE_", "MASTER_", "RANK=", "WORLD_SIZE=", "LOCAL_",
                                           "OMPI_", "PMI",     "MPI_",  "SLURM_",      "TORCH"};
    (void)state;
    for (bool again = true; again;) {
        again = false;
        for (char **entry = environ; entry && *entry && !again; entry++)
            for (size_t k = 0; k < sizeof(prefixes) / sizeof(prefixes[0]) && !again; k++)
                if (strncmp(*entry, prefixes[k], strlen(prefixes[k])) == 0) {
                    char name[128];
                    snprintf(name, sizeof(name), "%.*s", (int)strcspn(*entry, "="), *entry);
                    again = unsetenv(name) == 0;
                }
    }
    axle__settings_reset();
    axle_error_clear();
    return 0;
}

/* "NAME=value NAME=value" */
static void set(const char *text)
{
    char copy[1024];
    clear(NULL);
    snprintf(copy, sizeof(copy), "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value = '\0';
        setenv(word, value + 1, 1);
    }
}

typedef struct expectation {
    const char *environment;
    int rank, size, local_rank, local_size;
    const char *host;
    int port; /* -1: any but the usual one */
    const char *job, *source;
} expectation;

static void expect(const expectation *row)
{
    axle__membership m;
    set(row->environment);
    if (axle__membership_read(&m))
        fail_msg("%s: %s", row->environment, axle_error_message());
    if (m.rank != row->rank || m.size != row->size || m.local_rank != row->local_rank ||
        m.local_size != row->local_size)
        fail_msg("%s: rank %d of %d, local %d of %d", row->environment, m.rank, m.size,
                 m.local_rank, m.local_size);
    assert_string_equal(m.host, row->host);
    assert_string_equal(m.job, row->job);
    assert_string_equal(m.source, row->source);
    if (row->port >= 0)
        assert_int_equal(m.port, row->port);
    else
        assert_true(m.port >= 10000 && m.port < 30000 && m.port != 29500);
    assert_int_equal(m.listen_fd, -1);
}

static void launchers_are_understood(void **state)
{
    (void)state;
    static const expectation rows[] = {
        {"A=1", 0, 1, 0, 1, "", 0, "", "one process"},
        {"RANK= WORLD_SIZE=", 0, 1, 0, 1, "", 0, "", "one process"},
        {"RANK=0 WORLD_SIZE=1", 0, 1, 0, 1, "", 0, "", "torchrun"},
        {"RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=77", 3, 4,
         1, 2, "a", 77, "", "torchrun"},
        {"RANK=1 WORLD_SIZE=2 MASTER_ADDR=::1 AXLE_JOB=j TORCHELASTIC_RUN_ID=t", 1, 2, 1, 2, "::1",
         29500, "j", "torchrun"},
        {"RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2", 1, 2, 1, 2, "127.0.0.1", 29500, "",
         "torchrun"},
        {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=1 "
         "OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_MCA_ess_base_jobid=123456 PMIX_RANK=1",
         1, 2, 1, 2, "127.0.0.1", -1, "123456", "Open MPI"},
        {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 "
         "OMPI_COMM_WORLD_LOCAL_SIZE=2 MASTER_ADDR=b MASTER_PORT=5",
         1, 4, 1, 2, "b", 5, "", "Open MPI"},
        {"PMI_RANK=2 PMI_SIZE=3 MPI_LOCALRANKID=2 MPI_LOCALNRANKS=3", 2, 3, 2, 3, "127.0.0.1",
         29500, "", "PMI"},
        {"PMI_RANK=2 PMI_SIZE=3", 2, 3, 2, 3, "127.0.0.1", 29500, "", "PMI"},
        {"SLURM_PROCID=5 SLURM_NTASKS=6 SLURM_LOCALID=1 SLURM_STEP_ID=0 SLURM_JOB_ID=99 "
         "SLURM_STEP_NODELIST=gpu[03-05] SLURM_NODEID=2 SLURM_STEP_TASKS_PER_NODE=2(x3)",
         5, 6, 1, 2, "gpu03", -1, "slurm 99.0", "Slurm"},
        {"SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=8 SLURM_LOCALID=0 SLURM_STEP_ID=3 "
         "SLURM_JOB_ID=99 SLURM_JOB_NODELIST=n1,n2 MASTER_PORT=80 SLURM_NODEID=1 "
         "SLURM_TASKS_PER_NODE=1(x2)",
         1, 2, 0, 1, "n1", 80, "slurm 99.3", "Slurm"},
        {"SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_LOCALID=0 SLURM_JOB_ID=99 SLURM_JOB_NODELIST=n1", 0,
         1, 0, 1, "", 0, "", "one process"},
        {"RANK=1 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=7 SLURM_PROCID=0 SLURM_NTASKS=1 "
         "SLURM_STEP_ID=0",
         1, 2, 1, 2, "a", 7, "", "torchrun"},
        {"RANK=1 WORLD_SIZE=2 MASTER_ADDR=a AXLE_RENDEZVOUS=file:///x", 1, 2, 1, 2, "", 0, "",
         "torchrun"},
    };
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
        expect(&rows[k]);
}

static void contradictions_are_named(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"RANK=1", "RANK is set, and WORLD_SIZE is not"},
        {"WORLD_SIZE=2", "WORLD_SIZE is set, and RANK is not"},
        {"RANK=x WORLD_SIZE=2", "RANK=x"},
        {"RANK=-1 WORLD_SIZE=2", "RANK=-1"},
        {"RANK=0 WORLD_SIZE=0", "WORLD_SIZE=0"},
        {"RANK=2 WORLD_SIZE=2", "RANK=2 is not below WORLD_SIZE=2"},
        {"RANK=99999999999 WORLD_SIZE=2", "RANK=99999999999"},
        {"RANK=1 WORLD_SIZE=4 LOCAL_RANK=2 LOCAL_WORLD_SIZE=2", "local rank 2 of 2"},
        {"RANK=1 WORLD_SIZE=4 LOCAL_RANK=2 LOCAL_WORLD_SIZE=5", "local rank 2 of 5"},
        {"RANK=1 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2", "set MASTER_ADDR"},
        {"RANK=1 WORLD_SIZE=2", "set MASTER_ADDR"},
        {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_SIZE=2",
         "Open MPI: 2 of 4 processes are on this host"},
        {"RANK=1 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=65536", "MASTER_PORT=65536"},
        {"RANK=1 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=http", "MASTER_PORT=http"},
        {"RANK=1 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=0", "MASTER_PORT=0"},
        {"RANK=0 WORLD_SIZE=2 MASTER_ADDR=a AXLE_LISTEN_FD=x", "AXLE_LISTEN_FD=x"},
        {"SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=[", "'['"},
    };
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        axle__membership m = {.rank = 77};
        set(rows[k][0]);
        if (axle__membership_read(&m) != AXLE_ERR_INVALID)
            fail_msg("%s is accepted", rows[k][0]);
        unit_expect_error(AXLE_ERR_INVALID, rows[k][1]);
        assert_int_equal(m.rank, 77);
    }
}

static void long_texts_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"AXLE_JOB", "AXLE_SECRET", "AXLE_RENDEZVOUS",
                                        "MASTER_ADDR"};
    char text[600];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        axle__membership m;
        set("RANK=1 WORLD_SIZE=2 MASTER_ADDR=a");
        setenv(names[k], text, 1);
        assert_int_equal(axle__membership_read(&m), AXLE_ERR_INVALID);
        unit_expect_error(AXLE_ERR_INVALID, names[k]);
    }
}

static void secret_and_listener_are_taken(void **state)
{
    (void)state;
    axle__membership m;
    char text[200];
    int fd, port;
    assert_int_equal(axle__socket_listen("127.0.0.1", 0, &fd, &port), AXLE_OK);
    snprintf(text, sizeof(text),
             "RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=%d AXLE_LISTEN_FD=%d "
             "AXLE_SECRET=s",
             port, fd);
    set(text);
    assert_int_equal(axle__membership_read(&m), AXLE_OK);
    assert_int_equal(m.listen_fd, fd);
    assert_string_equal(m.secret, "s");
    assert_string_equal(axle__setting_shown(AXLE_SETTING_SECRET), "(not shown)");
    set("RANK=0 WORLD_SIZE=2 AXLE_RENDEZVOUS=redis://:password@host");
    assert_string_equal(axle__setting_shown(AXLE_SETTING_RENDEZVOUS), "(not shown)");
    set("RANK=0 WORLD_SIZE=2 AXLE_RENDEZVOUS=redis://host");
    assert_string_equal(axle__setting_shown(AXLE_SETTING_RENDEZVOUS), "redis://host");
    set(text);
    /* Another rank has no use for it, nor has rank 0 once it is closed. */
    setenv("RANK", "1", 1);
    assert_int_equal(axle__membership_read(&m), AXLE_OK);
    assert_int_equal(m.listen_fd, -1);
    setenv("RANK", "0", 1);
    axle__socket_close(fd);
    assert_int_equal(axle__membership_read(&m), AXLE_OK);
    assert_int_equal(m.listen_fd, -1);
    assert_int_equal(m.port, port);
}

static void first_host_of_a_list(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"n1", "n1"},          {"n1,n2", "n1"},
        {"n[1-3]", "n1"},      {"gpu[03-05,9],login", "gpu03"},
        {"gpu[9,03]", "gpu9"}, {"rack[1-2]n[3-4],x", "rack1n3"},
        {"a[1]-b", "a1-b"},
    };
    static const char *const wrong[] = {"", ",", "n[1-2", "[", "n[]", "n[-1]"};
    char host[64];
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        assert_int_equal(axle__hostlist_first(rows[k][0], host, sizeof(host)), AXLE_OK);
        assert_string_equal(host, rows[k][1]);
    }
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
        assert_int_equal(axle__hostlist_first(wrong[k], host, sizeof(host)), AXLE_ERR_INVALID);
        unit_expect_error(AXLE_ERR_INVALID, "names no host");
    }
    assert_int_equal(axle__hostlist_first("abcd", host, 4), AXLE_ERR_INVALID);
    axle_error_clear();
    assert_int_equal(axle__hostlist_first("abc[10-12]", host, 5), AXLE_ERR_INVALID);
    axle_error_clear();
}

static void tasks_of_nodes(void **state)
{
    (void)state;
    assert_int_equal(axle__tasks_of_node("2(x3),1", 0), 2);
    assert_int_equal(axle__tasks_of_node("2(x3),1", 2), 2);
    assert_int_equal(axle__tasks_of_node("2(x3),1", 3), 1);
    assert_int_equal(axle__tasks_of_node("2(x3),1", 4), 0);
    assert_int_equal(axle__tasks_of_node("4", 0), 4);
    assert_int_equal(axle__tasks_of_node("", 0), 0);
    assert_int_equal(axle__tasks_of_node("x", 0), 0);
    assert_int_equal(axle__tasks_of_node("2(x0)", 0), 0);
    assert_int_equal(axle__tasks_of_node("0,3", 1), 0);
}

#define CLEAR(sentence, function)                                                                  \
    {                                                                                              \
        sentence, function, clear, clear, NULL                                                     \
    }

static const struct CMUnitTest tests[] = {
    CLEAR("what launchers say is understood", launchers_are_understood),
    CLEAR("variables that contradict each other are named", contradictions_are_named),
    CLEAR("texts that are too long are refused by name", long_texts_are_refused),
    CLEAR("the secret and rank 0's socket are taken; the secret is not shown",
          secret_and_listener_are_taken),
    CLEAR("the first host of a list is found", first_host_of_a_list),
    CLEAR("the tasks of a node are found", tasks_of_nodes),
};
UNIT_MAIN(tests)
