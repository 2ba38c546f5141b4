/* SPDX-License-Identifier: Apache-2.0 */
#include "job/rendezvous.h"

#include "files.h"
#include "job/owner.h"
#include "job/ranks.h"

#define PATIENT 60.0

static char where[128];

static int set_up(void **state)
{
    if (files_setup(state))
        return -1;
    snprintf(where, sizeof(where), "file://%s", files_folder);
    return 0;
}

/* A job whose ranks know only the folder. */
static void open_job(ranks_job *job, int size, double timeout, ranks_body body)
{
    ranks_open(job, size, timeout, body);
    axle__socket_close(job->listen_fd);
    for (int rank = 0; rank < size; rank++) {
        axle__control_config *config = &job->members[rank].config;
        config->host = "";
        config->port = 0;
        config->listen_fd = -1;
        config->rendezvous = where;
    }
}

static void jobs_meet_in_a_folder(void **state)
{
    (void)state;
    ranks_job job;
    for (int again = 0; again < 2; again++) {
        open_job(&job, 4, PATIENT, NULL);
        ranks_run(&job);
        ranks_expect_met(&job);
        ranks_close(&job);
        assert_int_equal(files_count(0), 0);
    }
}

static void early_ranks_wait_for_the_file(void **state)
{
    (void)state;
    ranks_job job;
    open_job(&job, 2, PATIENT, NULL);
    ranks_start(&job, 1);
    ranks_sleep(0.3);
    ranks_live(&job.members[0]);
    ranks_end(&job, 1);
    ranks_expect_met(&job);
    ranks_close(&job);
}

static void who_finds_nothing_says_where_it_looked(void **state)
{
    (void)state;
    ranks_job job;
    open_job(&job, 2, 0.3, NULL);
    ranks_live(&job.members[1]);
    ranks_expect_refused(&job, 1, AXLE_ERR_TIMEOUT, files_path("axle-a_job-"));
    ranks_expect_refused(&job, 1, AXLE_ERR_TIMEOUT, "rank 0 has not written it yet");
    ranks_close(&job);
}

static void failed_meeting_leaves_nothing(void **state)
{
    (void)state;
    ranks_job job;
    open_job(&job, 2, 0.5, NULL);
    ranks_live(&job.members[0]);
    ranks_expect_refused(&job, 0, AXLE_ERR_TIMEOUT, "rank 1 of 2 had not come");
    assert_int_equal(files_count(0), 0);
    ranks_close(&job);
}

/* All ranks are killed while they meet; the next run finds what they left. */
static void leftover_of_a_killed_job_is_taken_away(void **state)
{
    (void)state;
    ranks_job job;
    open_job(&job, 2, PATIENT, NULL);
    pid_t child = ranks_fork(&job, 0);
    for (int k = 0; k < 400 && files_count(0) == 0; k++)
        ranks_sleep(0.05);
    ranks_reap(child, SIGKILL);
    assert_int_equal(files_count(0), 1);
    ranks_start(&job, 1); /* it sees the leftover first */
    ranks_sleep(0.2);
    ranks_live(&job.members[0]);
    ranks_end(&job, 1);
    ranks_expect_met(&job);
    assert_int_equal(files_count(0), 0);
    ranks_close(&job);
}

static void living_job_of_the_same_name_is_not_disturbed(void **state)
{
    (void)state;
    ranks_job job, other;
    open_job(&job, 2, PATIENT, NULL);
    open_job(&other, 2, PATIENT, NULL);
    pid_t child = ranks_fork(&job, 0);
    for (int k = 0; k < 400 && files_count(0) == 0; k++)
        ranks_sleep(0.05);
    ranks_live(&other.members[0]);
    ranks_expect_refused(&other, 0, AXLE_ERR_BUSY, "job 'a job' is meeting already");
    ranks_expect_refused(&other, 0, AXLE_ERR_BUSY, "AXLE_JOB");
    assert_int_equal(files_count(0), 1);
    ranks_live(&job.members[1]);
    assert_int_equal(job.members[1].code, AXLE_OK);
    assert_int_equal(ranks_reap(child, 0), 0);
    ranks_close(&job);
    ranks_close(&other);
}

/* Write what the rank 0 of an unnamed job on another host would have. */
static void write_notice(const char *hosts, int port)
{
    char text[512];
    snprintf(text, sizeof(text),
             "axle rendezvous 1\njob \nhosts %s\nport %d\nprocess 7 8\nhost elsewhere\n"
             "place a-boot/pid:[1]\nnetwork a-boot/net:[1]\nend\n",
             hosts, port);
    files_write_text("axle-job.address", text);
}

static void leftover_of_another_host_is_judged_by_its_port(void **state)
{
    (void)state;
    int listener, port;
    axle__rendezvous *rendezvous;
    assert_ok(axle__socket_listen("127.0.0.1", 0, &listener, &port));
    write_notice("127.0.0.1", port);
    assert_ok(axle__rendezvous_open(where, "", INT64_MAX, &rendezvous));
    assert_failed(axle__rendezvous_publish(rendezvous, 1), AXLE_ERR_BUSY, "process 7 on elsewhere",
                  files_path("axle-job.address"), NULL);
    axle__socket_close(listener);
    assert_ok(axle__rendezvous_publish(rendezvous, 1234));
    axle__rendezvous_close(rendezvous);
    assert_int_equal(files_count(0), 0);
}

static void unreachable_leftover_is_named(void **state)
{
    (void)state;
    axle__rendezvous *rendezvous;
    write_notice("no.such.host.of.a.name.that.is.longer.than.any.label.may.be-------------------"
                 "--------------",
                 5);
    assert_ok(axle__rendezvous_open(where, "", INT64_MAX, &rendezvous));
    assert_failed(axle__rendezvous_publish(rendezvous, 1), AXLE_ERR_BUSY, "if it is over, delete ",
                  files_path("axle-job.address"), NULL);
    axle__rendezvous_close(rendezvous);
    assert_int_equal(files_count(0), 1);
}

static void others_find_what_was_published(void **state)
{
    (void)state;
    axle__rendezvous *rendezvous, *reader;
    char hosts[512], reason[256];
    int port;
    assert_ok(axle__rendezvous_open(where, "", INT64_MAX, &rendezvous));
    assert_ok(axle__rendezvous_open(where, "", INT64_MAX, &reader));
    write_notice("10.0.0.1,fd00::1", 77);
    assert_int_equal(axle__rendezvous_find(reader, hosts, sizeof(hosts), &port, reason, 256),
                     AXLE_OK);
    assert_string_equal(hosts, "10.0.0.1,fd00::1");
    assert_int_equal(port, 77);
    unlink(files_path("axle-job.address"));
    assert_ok(axle__rendezvous_publish(rendezvous, 99));
    assert_int_equal(axle__rendezvous_find(reader, hosts, sizeof(hosts), &port, reason, 256),
                     AXLE_OK);
    assert_string_equal(hosts, "127.0.0.1");
    assert_int_equal(port, 99);
    /* What another one wrote meanwhile is not taken back. */
    write_notice("10.0.0.1", 77);
    axle__rendezvous_close(rendezvous);
    axle__rendezvous_close(reader);
    assert_int_equal(files_count(0), 1);
}

static void damaged_files_are_no_addresses(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "axle rendezvous 1\n",
        "end\n",
        "\nend\n",
        ("axle rendezvous 1\njob \nhosts a\nport 99999\nprocess 1 1\nhost h\nplace p\nnetwork n\n"
         "end\n"),
        "axle rendezvous 1\njob \nhosts a\nport 99\nprocess 1 1\nhost h\nplace p\nnetwork n\n"};
    axle__rendezvous *reader;
    char hosts[512], reason[256];
    int port = -5;
    assert_ok(axle__rendezvous_open(where, "", INT64_MAX, &reader));
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
        files_write_text("axle-job.address", texts[k]);
        assert_int_equal(axle__rendezvous_find(reader, hosts, sizeof(hosts), &port, reason, 256),
                         AXLE_ERR_NOT_READY);
        assert_non_null(strstr(reason, "it is not whole"));
    }
    assert_int_equal(port, -5);
    axle__rendezvous_close(reader);
}

static void names_of_jobs_do_not_collide(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",
        "a",
        "a/b",
        "a_b",
        "../a",
        "a\nb",
        "a name that is quite long: longer than what fits, 0123456",
        "a name that is quite long: longer than what fits, 0123457"};
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    axle__rendezvous *all[COUNT];
    for (size_t k = 0; k < COUNT; k++) {
        assert_ok(axle__rendezvous_open(where, names[k], INT64_MAX, &all[k]));
        assert_ok(axle__rendezvous_publish(all[k], 1));
    }
    assert_int_equal(files_count(0), COUNT);
    for (size_t k = 0; k < COUNT; k++)
        axle__rendezvous_close(all[k]);
    assert_int_equal(files_count(0), 0);
}

static void other_places_are_refused(void **state)
{
    (void)state;
    axle__rendezvous *none = NULL;
    assert_failed(axle__rendezvous_open("folder", "", INT64_MAX, &none), AXLE_ERR_INVALID,
                  "file:///folder", NULL);
    assert_failed(axle__rendezvous_open("file://folder", "", INT64_MAX, &none), AXLE_ERR_INVALID,
                  NULL);
    assert_failed(axle__rendezvous_open("rediss://:secret@host", "", INT64_MAX, &none),
                  AXLE_ERR_INVALID, "(not shown)", NULL);
#ifndef HAVE_HIREDIS
    assert_failed(axle__rendezvous_open("redis://host:1", "", INT64_MAX, &none),
                  AXLE_ERR_UNSUPPORTED, "redis://host:1", "--with-hiredis", NULL);
#endif
    assert_failed(axle__rendezvous_open("file:///no/such/folder", "", INT64_MAX, &none),
                  AXLE_ERR_IO, "/no/such/folder", NULL);
    assert_null(none);
    axle__rendezvous_close(NULL);
}

static void life_of_processes_is_known(void **state)
{
    (void)state;
    axle__owner self, other;
    axle__owner_self(&self);
    assert_int_equal(axle__owner_life(&self), AXLE__LIFE_ALIVE);
    other = self;
    other.start++;
    assert_int_equal(axle__owner_life(&other), AXLE__LIFE_DEAD);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    other = self;
    other.pid = child;
    ranks_reap(child, 0);
    assert_int_equal(axle__owner_life(&other), AXLE__LIFE_DEAD);
    other = self;
    snprintf(other.place, sizeof(other.place), "another boot/pid:[1]");
    snprintf(other.host, sizeof(other.host), "another");
    assert_int_equal(axle__owner_life(&other), AXLE__LIFE_UNKNOWN);
}

#define FOLDER(sentence, function)                                                                 \
    {                                                                                              \
        sentence, function, set_up, files_teardown, NULL                                           \
    }

static const struct CMUnitTest tests[] = {
    FOLDER("a job meets in a folder, again and again, and leaves nothing", jobs_meet_in_a_folder),
    FOLDER("ranks that come first wait for rank 0's file", early_ranks_wait_for_the_file),
    FOLDER("who finds no file says where it looked", who_finds_nothing_says_where_it_looked),
    FOLDER("a meeting that fails leaves nothing", failed_meeting_leaves_nothing),
    FOLDER("what a killed job left behind is taken away", leftover_of_a_killed_job_is_taken_away),
    FOLDER("a living job of the same name is not disturbed",
           living_job_of_the_same_name_is_not_disturbed),
    FOLDER("a leftover of another host is judged by its port",
           leftover_of_another_host_is_judged_by_its_port),
    FOLDER("a leftover whose host cannot be reached is named", unreachable_leftover_is_named),
    FOLDER("others find what was published", others_find_what_was_published),
    FOLDER("damaged files are no addresses", damaged_files_are_no_addresses),
    FOLDER("names of jobs do not collide", names_of_jobs_do_not_collide),
    FOLDER("other places are refused", other_places_are_refused),
    FOLDER("a process is known to be dead or alive", life_of_processes_is_known),
};
UNIT_MAIN(tests)
