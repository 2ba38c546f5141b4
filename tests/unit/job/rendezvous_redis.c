/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Against a thread that behaves like a Redis server, well or not. With TEST_REDIS_PORT in the
 * environment, what holds with good servers is tested against the one at that port of this host,
 * whose password is PASSWORD.
 */
#include "job/rendezvous.h"

#include "files.h"
#include "job/notice.h"
#include "job/ranks.h"
#include "job/redis.h"
#include "job/redis_server.h"
#include "job/redis_url.h"

#define PATIENT 60.0
#define PASSWORD "a secret%"
#define ENCODED "a%20secret%25"
#define KEY "axle:rendezvous:a job"
#define LATE (3 * AXLE__SECOND) /* what a loaded machine may add to a span */

static redis_server server;
static bool is_real;
static char where[128], name[128];

static void locate(const char *credentials, int port)
{
    snprintf(where, sizeof(where), "redis://%s127.0.0.1:%d/3", credentials, port);
    snprintf(name, sizeof(name), "redis://127.0.0.1:%d/3", port);
}

/* A good server, empty. */
static int set_up(void **state)
{
    const char *port = getenv("TEST_REDIS_PORT");
    (void)state;
    is_real = port != NULL;
    redis_init(&server);
    server.password = PASSWORD;
    if (!is_real)
        redis_start(&server);
    locate(":" ENCODED "@", is_real ? atoi(port) : server.port);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (!is_real)
        redis_stop(&server);
    return 0;
}

/* A server that needs no password and was told how to fail. */
static void start_failing(void)
{
    redis_start(&server);
    locate("", server.port);
}

static int init_only(void **state)
{
    (void)state;
    redis_init(&server);
    return 0;
}

static axle__redis_answer ask(const char **words, int count)
{
    axle__redis *redis;
    axle__redis_answer answer = {0};
    char reason[512];
    assert_ok(axle__redis_open(where, &redis));
    if (axle__redis_ask(redis, axle__clock_ns() + 20 * AXLE__SECOND, words, count, &answer, reason,
                        sizeof(reason)))
        fail_msg("%s", reason);
    axle__redis_close(redis);
    return answer;
}

static axle__redis_answer get(void)
{
    return ask((const char *[]){"GET", KEY}, 2);
}

static void set(const char *value)
{
    ask((const char *[]){"SET", KEY, value}, 3);
}

/* Delete the key. */
static void clear(void)
{
    static const char script[] = "return redis.call('del', KEYS[1])";
    axle__redis_answer held = get();
    if (held.is_set)
        ask((const char *[]){"EVAL", script, "1", KEY, held.text}, 5);
}

static void open_job(ranks_job *job, int size, double timeout)
{
    ranks_open(job, size, timeout, NULL);
    axle__socket_close(job->listen_fd);
    for (int rank = 0; rank < size; rank++) {
        axle__control_config *config = &job->members[rank].config;
        config->host = "";
        config->port = 0;
        config->listen_fd = -1;
        config->rendezvous = where;
    }
}

/* Rank 0, then rank 1, are refused; in the time that was given, and without the password. */
static void expect_both_refused(double timeout, int code, const char *words)
{
    ranks_job job;
    open_job(&job, 2, timeout);
    for (int rank = 0; rank < 2; rank++) {
        ranks_live(&job.members[rank]);
        ranks_expect_refused(&job, rank, code, words);
        ranks_expect_refused(&job, rank, code, name);
        assert_null(strstr(job.members[rank].message, "secret"));
        assert_true(job.members[rank].took < (int64_t)(timeout * 1e9) + LATE);
    }
    ranks_close(&job);
}

static void jobs_meet_through_a_server(void **state)
{
    (void)state;
    ranks_job job;
    for (int again = 0; again < 2; again++) {
        open_job(&job, 4, PATIENT);
        ranks_run(&job);
        ranks_expect_met(&job);
        ranks_close(&job);
        assert_false(get().is_set);
    }
}

static void early_ranks_wait_for_the_key(void **state)
{
    (void)state;
    ranks_job job;
    open_job(&job, 2, PATIENT);
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
    open_job(&job, 2, 0.5);
    ranks_live(&job.members[1]);
    ranks_expect_refused(&job, 1, AXLE_ERR_TIMEOUT, "key '" KEY "' of redis://127.0.0.1:");
    ranks_expect_refused(&job, 1, AXLE_ERR_TIMEOUT, "rank 0 has not set it yet");
    ranks_close(&job);
}

static void failed_meeting_leaves_nothing(void **state)
{
    (void)state;
    ranks_job job;
    open_job(&job, 2, 1.0);
    ranks_live(&job.members[0]);
    ranks_expect_refused(&job, 0, AXLE_ERR_TIMEOUT, "rank 1 of 2 had not come");
    assert_false(get().is_set);
    ranks_close(&job);
}

/* Set the key to what another rank 0 would have. */
static void set_notice(const axle__owner *owner, const char *hosts, int port)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "axle rendezvous 1\njob a job\nhosts %s\nport %d\nprocess %ld %lld\nhost %s\n"
             "place %s\nnetwork %s\nend\n",
             hosts, port, owner->pid, owner->start, owner->host, owner->place, owner->network);
    set(text);
}

static void leftover_of_a_dead_job_is_taken_away(void **state)
{
    (void)state;
    ranks_job job;
    axle__owner owner;
    axle__owner_self(&owner);
    owner.start++; /* another process had this number before */
    set_notice(&owner, "127.0.0.1", 1);
    open_job(&job, 2, PATIENT);
    ranks_start(&job, 1); /* it sees the leftover first */
    ranks_sleep(0.2);
    ranks_live(&job.members[0]);
    ranks_end(&job, 1);
    ranks_expect_met(&job);
    ranks_close(&job);
    assert_false(get().is_set);
}

static void living_job_of_the_same_name_is_not_disturbed(void **state)
{
    (void)state;
    ranks_job job;
    axle__owner owner;
    axle__owner_self(&owner);
    set_notice(&owner, "127.0.0.1", 1);
    axle__redis_answer before = get();
    open_job(&job, 2, PATIENT);
    ranks_live(&job.members[0]);
    ranks_expect_refused(&job, 0, AXLE_ERR_BUSY, "job 'a job' is meeting already");
    ranks_expect_refused(&job, 0, AXLE_ERR_BUSY, "AXLE_JOB");
    ranks_expect_refused(&job, 0, AXLE_ERR_BUSY, name);
    ranks_close(&job);
    assert_string_equal(get().text, before.text);
    clear();
}

static void leftover_of_another_host_is_judged_by_its_port(void **state)
{
    (void)state;
    static const axle__owner elsewhere = {7, 8, "elsewhere", "a-boot/pid:[1]", "a-boot/net:[1]"};
    int listener, port;
    axle__rendezvous *rendezvous;
    assert_ok(axle__socket_listen("127.0.0.1", 0, &listener, &port));
    set_notice(&elsewhere, "127.0.0.1", port);
    assert_ok(
        axle__rendezvous_open(where, "a job", axle__clock_ns() + 60 * AXLE__SECOND, &rendezvous));
    assert_failed(axle__rendezvous_publish(rendezvous, 1), AXLE_ERR_BUSY, "process 7 on elsewhere",
                  KEY, NULL);
    axle__socket_close(listener);
    assert_ok(axle__rendezvous_publish(rendezvous, 1234));
    assert_non_null(strstr(get().text, "port 1234"));
    /* What another one set meanwhile is not taken back. */
    set("another");
    axle__rendezvous_close(rendezvous);
    assert_string_equal(get().text, "another");
    clear();
}

static void foreign_key_is_named(void **state)
{
    (void)state;
    ranks_job job;
    set("42");
    open_job(&job, 2, 0.5);
    ranks_live(&job.members[0]);
    ranks_expect_refused(&job, 0, AXLE_ERR_BUSY, "key '" KEY "'");
    ranks_live(&job.members[1]);
    ranks_expect_refused(&job, 1, AXLE_ERR_TIMEOUT, "it is not whole");
    ranks_close(&job);
    clear();
}

static void wrong_password_is_refused_at_once(void **state)
{
    (void)state;
    int port = is_real ? atoi(getenv("TEST_REDIS_PORT")) : server.port;
    locate(":wrong%20secret@", port);
    expect_both_refused(PATIENT / 6, AXLE_ERR_INVALID, "WRONGPASS");
    locate("", port);
    expect_both_refused(PATIENT / 6, AXLE_ERR_INVALID, "NOAUTH");
}

static void missing_database_is_refused_at_once(void **state)
{
    (void)state;
    char *slash = strrchr(where, '/');
    strcpy(slash, "/99");
    strcpy(strrchr(name, '/'), "/99");
    expect_both_refused(PATIENT / 6, AXLE_ERR_INVALID, "DB index is out of range");
}

static void key_outlives_the_deadline_only_for_a_while(void **state)
{
    (void)state;
    axle__rendezvous *rendezvous;
    assert_ok(
        axle__rendezvous_open(where, "a job", axle__clock_ns() + 500 * AXLE__SECOND, &rendezvous));
    assert_ok(axle__rendezvous_publish(rendezvous, 1));
    int expiry = redis_find(&server, "3", KEY)->expiry;
    axle__rendezvous_close(rendezvous);
    assert_true(expiry >= 500 && expiry <= 560);
    /* Who waits for ever gives an expiry that servers take. */
    assert_ok(axle__rendezvous_open(where, "a job", INT64_MAX, &rendezvous));
    assert_ok(axle__rendezvous_publish(rendezvous, 1));
    expiry = redis_find(&server, "3", KEY)->expiry;
    axle__rendezvous_close(rendezvous);
    assert_true(expiry >= 500 && expiry < 366 * 86400);
}

static void nobody_at_the_port_is_a_timeout(void **state)
{
    (void)state;
    redis_start(&server);
    locate("", server.port);
    redis_stop(&server);
    expect_both_refused(0.5, AXLE_ERR_TIMEOUT, "cannot be reached: Connection refused");
}

static void server_that_never_answers_is_a_timeout(void **state)
{
    (void)state;
    server.silent_from = 0;
    start_failing();
    expect_both_refused(0.5, AXLE_ERR_TIMEOUT, "does not answer");
    redis_stop(&server);
}

static void answer_that_never_ends_is_a_timeout(void **state)
{
    (void)state;
    server.trickles = true;
    start_failing();
    expect_both_refused(0.5, AXLE_ERR_TIMEOUT, "does not answer");
    redis_stop(&server);
}

static void other_servers_are_recognised(void **state)
{
    (void)state;
    static const char *const greetings[] = {"SSH-2.0-OpenSSH_9.2\r\n",
                                            "HTTP/1.1 400 Bad\r\n\r\n",
                                            "*1000000000\r\n",
                                            "$12x\r\n",
                                            ":-\r\n",
                                            "\x16\x03"};
    for (size_t k = 0; k < sizeof(greetings) / sizeof(greetings[0]); k++) {
        redis_init(&server);
        server.greeting = greetings[k];
        start_failing();
        expect_both_refused(PATIENT / 6, AXLE_ERR_IO, "is no Redis server");
        redis_stop(&server);
    }
}

static void loading_server_is_waited_for(void **state)
{
    (void)state;
    ranks_job job;
    server.loading = 9;
    start_failing();
    open_job(&job, 2, PATIENT);
    ranks_run(&job);
    ranks_expect_met(&job);
    ranks_close(&job);
    redis_stop(&server);
    assert_null(redis_find(&server, "3", KEY));
}

static void dropped_connections_are_made_again(void **state)
{
    (void)state;
    axle__redis *redis;
    axle__redis_answer answer;
    char reason[512] = "";
    const char *words[] = {"GET", KEY};
    server.hangs_up = true;
    redis_start(&server);
    snprintf(where, sizeof(where), "redis://127.0.0.1:%d", server.port);
    assert_ok(axle__redis_open(where, &redis));
    for (int k = 0; k < 5; k++)
        if (axle__redis_ask(redis, axle__clock_ns() + 20 * AXLE__SECOND, words, 2, &answer, reason,
                            sizeof(reason)))
            fail_msg("%s", reason);
    axle__redis_close(redis);
    redis_stop(&server);
    assert_int_equal(server.commands, 5);
}

static void server_that_falls_silent_holds_nobody_up(void **state)
{
    (void)state;
    ranks_job job;
    server.silent_from = 2; /* SELECT and SET are answered */
    start_failing();
    open_job(&job, 2, 1.0);
    ranks_live(&job.members[0]);
    ranks_expect_refused(&job, 0, AXLE_ERR_TIMEOUT, "rank 1 of 2 had not come");
    assert_true(job.members[0].took < AXLE__SECOND + LATE);
    ranks_close(&job);
    redis_stop(&server);
}

static void urls_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        axle__redis_url url;
    } good[] = {
        {"redis://host", {"host", 6379, "", "0"}},
        {"redis://host/", {"host", 6379, "", "0"}},
        {"redis://host:7/12", {"host", 7, "", "12"}},
        {"redis://:p%40%2fs@s@host:65535", {"host", 65535, "p@/s@s", "0"}},
        {"redis://:@host", {"host", 6379, "", "0"}},
        {"redis://:x@[fd00::1]:8/1", {"fd00::1", 8, "x", "1"}},
    };
    for (size_t k = 0; k < sizeof(good) / sizeof(good[0]); k++) {
        axle__redis_url url;
        assert_ok(axle__redis_url_parse(good[k].text, &url));
        assert_string_equal(url.host, good[k].url.host);
        assert_string_equal(url.password, good[k].url.password);
        assert_string_equal(url.database, good[k].url.database);
        assert_int_equal(url.port, good[k].url.port);
    }
}

static void wrong_urls_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "redis://",         "redis://:6379",         "redis://host:",     "redis://host:0",
        "redis://host:1x",  "redis://host:65536",    "redis://host/x",    "redis://host/-1",
        "redis://host/ 1",  "redis://[::1",          "redis://[::1]x",    "redis://secret@host",
        "redis://u:p@host", "redis://:%@host",       "redis://:%0x@host", "redis://:%00@host",
        "redis://:secret@", "redis://:a/secret@host"};
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
        axle__rendezvous *none = NULL;
        int code = axle__rendezvous_open(wrong[k], "a job", INT64_MAX, &none);
        if (code != AXLE_ERR_INVALID || none || strstr(axle_error_message(), "secret"))
            fail_msg("%s: %d: %s", wrong[k], code, axle_error_message());
        axle_error_clear();
    }
}

static void allocations_may_fail(void **state)
{
    (void)state;
    axle__rendezvous *rendezvous = NULL;
    EACH_ALLOCATION_FAILS(axle__rendezvous_open("redis://host", "a job", INT64_MAX, &rendezvous),
                          axle__rendezvous_close(rendezvous))
}

#define GOOD(sentence, function)                                                                   \
    {                                                                                              \
        sentence, function, set_up, tear_down, NULL                                                \
    }
#define FAILING(sentence, function)                                                                \
    {                                                                                              \
        sentence, function, init_only, NULL, NULL                                                  \
    }

/* What holds with every good server. */
#define GOOD_TESTS                                                                                 \
    GOOD("jobs meet through a server, again and again, and leave nothing",                         \
         jobs_meet_through_a_server),                                                              \
        GOOD("ranks that come first wait for rank 0's key", early_ranks_wait_for_the_key),         \
        GOOD("who finds no key says where it looked", who_finds_nothing_says_where_it_looked),     \
        GOOD("a meeting that fails leaves nothing", failed_meeting_leaves_nothing),                \
        GOOD("what a dead job left behind is taken away", leftover_of_a_dead_job_is_taken_away),   \
        GOOD("a living job of the same name is not disturbed",                                     \
             living_job_of_the_same_name_is_not_disturbed),                                        \
        GOOD("a leftover of another host is judged by its port",                                   \
             leftover_of_another_host_is_judged_by_its_port),                                      \
        GOOD("a key that is no notice is named", foreign_key_is_named),                            \
        GOOD("a wrong password is refused at once", wrong_password_is_refused_at_once),            \
        GOOD("a database that does not exist is refused at once",                                  \
             missing_database_is_refused_at_once)

static const struct CMUnitTest good_tests[] = {GOOD_TESTS};

static const struct CMUnitTest tests[] = {
    GOOD_TESTS,
    GOOD("the key outlives the deadline, but only for a while",
         key_outlives_the_deadline_only_for_a_while),
    FAILING("nobody at the port is a timeout that says so", nobody_at_the_port_is_a_timeout),
    FAILING("a server that never answers is a timeout", server_that_never_answers_is_a_timeout),
    FAILING("an answer that never ends is a timeout", answer_that_never_ends_is_a_timeout),
    FAILING("servers of other protocols are recognised", other_servers_are_recognised),
    FAILING("a server that is loading is waited for", loading_server_is_waited_for),
    FAILING("dropped connections are made again", dropped_connections_are_made_again),
    FAILING("a server that falls silent holds nobody up", server_that_falls_silent_holds_nobody_up),
    UNIT("URLs are read", urls_are_read),
    UNIT("wrong URLs are refused, and show no password", wrong_urls_are_refused),
    UNIT("any allocation may fail", allocations_may_fail),
};

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    if (getenv("TEST_REDIS_PORT"))
        return cmocka_run_group_tests(good_tests, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
