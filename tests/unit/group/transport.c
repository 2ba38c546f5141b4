/* SPDX-License-Identifier: Apache-2.0 */
/* Transports that are not there, or not what they should be: every process says so at once. */
#include "axle/axle.h"
#include "group/processes.h"

typedef struct wrong {
    const char *transport; /* NULL: the right one, with a fault */
    const char *fault;
    const char *words[2];
} wrong;

static int joins_with(axle_group *unused, void *user)
{
    (void)unused;
    const wrong *w = user;
    axle_group *group = NULL;
    if (w->transport)
        setenv("AXLE_TRANSPORT", w->transport, 1);
    if (w->fault)
        setenv("SOCKETS_FAULT", w->fault, 1);
    double begin = job_now();
    CHECK(axle_group_join(&group) != AXLE_OK && !group);
    CHECK(strstr(axle_error_message(), w->words[0]));
    CHECK(strstr(axle_error_message(), w->words[1]));
    axle_error_clear();
    CHECK(job_now() - begin < 10.0);
    /* Nothing is left of it: the next try says the same. */
    CHECK(axle_group_join(&group) != AXLE_OK && strstr(axle_error_message(), w->words[0]));
    axle_error_clear();
    return 0;
}

static void fails_to_join(wrong w)
{
    job j = job_run_with(2, 20.0, true, joins_with, &w);
    job_expect_good(&j);
}

static void missing(void **state)
{
    (void)state;
    fails_to_join((wrong){"nowhere", NULL, {"'nowhere'", "not installed"}});
    fails_to_join((wrong){"/nonexistent/t.so", NULL, {"/nonexistent/t.so", "No such file"}});
    fails_to_join((wrong){"A B", NULL, {"A B", "no name"}});
}

static void no_transport(void **state)
{
    (void)state;
    char path[1024];
    snprintf(path, sizeof(path), "%s/tests/unit/device/.libs/broken.so", getenv("top_builddir"));
    fails_to_join((wrong){path, NULL, {"broken.so", "axle_collective_init_v1"}});
    snprintf(path, sizeof(path), "%s/tests/local.mk", getenv("top_srcdir"));
    fails_to_join((wrong){path, NULL, {"local.mk", ""}});
}

static void faulty(void **state)
{
    (void)state;
    fails_to_join((wrong){NULL, "declines", {"sockets.so", "declines as it was asked to"}});
    fails_to_join((wrong){NULL, "lacks", {"sockets.so", "slot"}});
    fails_to_join((wrong){NULL, "newer", {"sockets.so", "interface 2"}});
}

/* Rank 1 has no network: the others need not wait for the timeout to hear of it. */
static int joins_without_one(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    axle_group *group = NULL;
    if (strcmp(getenv("RANK"), "1") == 0)
        setenv("SOCKETS_FAULT", "fails", 1);
    double begin = job_now();
    CHECK(axle_group_join(&group) != AXLE_OK && !group);
    CHECK(job_now() - begin < 10.0);
    job_note_error();
    return 0;
}

static void one_cannot_connect(void **state)
{
    (void)state;
    job j = job_run_with(3, 30.0, true, joins_without_one, NULL);
    for (int rank = 0; rank < 3; rank++) {
        job_expect_exit(&j, rank, 0);
        job_expect_note(&j, rank, "the network is down");
        job_expect_note(&j, rank, rank == 1 ? "sockets" : "rank 1");
    }
    job_forget(&j);
}

static int joins_alone(axle_group *group, void *user)
{
    (void)user;
    CHECK(axle_group_size(group) == 1 && axle_barrier(group) == AXLE_OK);
    return 0;
}

/* A process that was started alone needs none. */
static void one_needs_none(void **state)
{
    (void)state;
    setenv("AXLE_TRANSPORT", "nowhere", 1);
    job j = job_run(1, joins_alone, NULL);
    unsetenv("AXLE_TRANSPORT");
    job_expect_good(&j);
}

static const struct CMUnitTest tests[] = {
    UNIT("a transport that is missing is named", missing),
    UNIT("a file that is no transport is named", no_transport),
    UNIT("a transport that declines, lacks a slot or is of another interface is named", faulty),
    UNIT("a process that can not connect is named by all at once", one_cannot_connect),
    UNIT("a process alone needs no transport", one_needs_none),
};
UNIT_MAIN(tests)
