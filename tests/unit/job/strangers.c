/* SPDX-License-Identifier: Apache-2.0 */
/* Who does not belong to the job talks to rank 0's server. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "job/ranks.h"
#include "job/wire.h"

#define PATIENT 60.0
enum { IDLE = 100 };

/* A stranger's connection to the job. */
static int stranger(const ranks_job *job)
{
    char reason[256];
    bool unknown;
    int64_t deadline = axle__clock_ns() + 20 * AXLE__SECOND;
    return axle__socket_connect("127.0.0.1", job->port, deadline, reason, sizeof(reason), &unknown);
}

static void say(int fd, const void *bytes, size_t size)
{
    const char *next = bytes;
    while (size > 0) {
        ssize_t sent = send(fd, next, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN)
            axle__socket_wait(fd, POLLOUT, axle__clock_ns() + AXLE__SECOND);
        else if (sent < 0)
            return;
        else
            next += sent, size -= (size_t)sent;
    }
}

static void say_message(int fd, int kind, const void *bytes, size_t size)
{
    unsigned char header[AXLE__WIRE_HEADER];
    axle__wire_header(header, kind, size);
    say(fd, header, sizeof(header));
    say(fd, bytes, size);
}

/* Everything that comes until the server closes; false where it has not after 30 s. */
static bool is_closed(int fd, char *heard, size_t room, size_t *size)
{
    int64_t deadline = axle__clock_ns() + 30 * AXLE__SECOND;
    *size = 0;
    for (;;) {
        char bytes[256];
        if (!axle__socket_wait(fd, POLLIN, deadline))
            return false;
        ssize_t got = recv(fd, bytes, sizeof(bytes), 0);
        if (got <= 0)
            return got == 0 || errno == ECONNRESET;
        for (ssize_t k = 0; k < got && *size < room; k++)
            heard[(*size)++] = bytes[k];
    }
}

static void random_bytes(const ranks_job *job, uint32_t *seed)
{
    unsigned char bytes[4096];
    for (int round = 0; round < 20; round++) {
        int fd = stranger(job);
        size_t size = 1 + round * 200u;
        for (size_t k = 0; k < size; k++) {
            *seed = *seed * 1664525u + 1013904223u;
            bytes[k] = (unsigned char)(*seed >> 24);
        }
        say(fd, bytes, size);
        axle__socket_close(fd);
    }
}

/* Right headers, wrong order, lengths and proofs. */
static void near_misses(const ranks_job *job)
{
    unsigned char header[AXLE__WIRE_HEADER], bytes[256] = {0};
    static const size_t sizes[] = {0, 1, 15, 16, 17, 80, 120};
    for (int kind = 1; kind < AXLE__WIRE_KINDS; kind++)
        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            int fd = stranger(job);
            if (k % 2)
                say_message(fd, AXLE__WIRE_HELLO, bytes, 16);
            say_message(fd, kind, bytes, sizes[k]);
            axle__socket_close(fd);
        }
    int fd = stranger(job);
    axle__wire_header(header, AXLE__WIRE_HELLO, 0xffffffffu);
    say(fd, header, sizeof(header));
    axle__socket_close(fd);
}

/* Words of other protocols get no answer and the connection ends. */
static bool wrong_protocol_is_dropped(const ranks_job *job)
{
    static const char words[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char heard[64];
    size_t size;
    int fd = stranger(job);
    say(fd, words, sizeof(words) - 1);
    bool closed = is_closed(fd, heard, sizeof(heard), &size);
    axle__socket_close(fd);
    return closed && size == 0;
}

/* A client that knows the protocol and not the secret. */
static bool guess_is_refused(const ranks_job *job)
{
    char heard[1024];
    size_t size;
    axle__wire_writer payload = {0};
    unsigned char nonce[16] = {1}, proof[32] = {2};
    int fd = stranger(job);
    say_message(fd, AXLE__WIRE_HELLO, nonce, sizeof(nonce));
    axle__wire_put_u32(&payload, 1);
    axle__wire_put_u32(&payload, 2);
    axle__wire_put_text(&payload, "a job");
    axle__wire_put_text(&payload, "somebody");
    axle__wire_put(&payload, proof, sizeof(proof));
    say_message(fd, AXLE__WIRE_JOIN, payload.data, payload.size);
    axle__wire_free(&payload);
    bool closed = is_closed(fd, heard, sizeof(heard) - 1, &size);
    axle__socket_close(fd);
    heard[size] = '\0';
    for (size_t k = 0; k < size; k++)
        heard[k] = heard[k] ? heard[k] : ' ';
    return closed && strstr(heard, "AXLE_SECRET");
}

/* Idle ones, and others that make noise. */
static void pester(const ranks_job *job, int idle[IDLE])
{
    uint32_t seed = 7;
    unsigned char header[AXLE__WIRE_HEADER];
    for (int k = 0; k < IDLE; k++) {
        idle[k] = stranger(job);
        /* Some begin to say something. */
        axle__wire_header(header, AXLE__WIRE_HELLO, 16);
        say(idle[k], header, (size_t)k % sizeof(header));
    }
    random_bytes(job, &seed);
    near_misses(job);
}

static void strangers_do_not_disturb_the_meeting(void **state)
{
    (void)state;
    ranks_job job;
    int idle[IDLE];
    ranks_open(&job, 2, PATIENT, NULL);
    job.size = 1;
    ranks_start(&job, 0);
    pester(&job, idle);
    bool dropped = wrong_protocol_is_dropped(&job), refused = guess_is_refused(&job);
    ranks_live(&job.members[1]);
    ranks_end(&job, 0);
    job.size = 2;
    ranks_expect_met(&job);
    assert_true(dropped);
    assert_true(refused);
    for (int k = 0; k < IDLE; k++)
        axle__socket_close(idle[k]);
    ranks_close(&job);
}

static void live_among_strangers(ranks_member *member)
{
    int idle[IDLE];
    void *value;
    size_t size;
    if (member->config.rank == 1) {
        pester(member->job, idle);
        bool good = wrong_protocol_is_dropped(member->job) && guess_is_refused(member->job);
        member->result = axle__control_set(member->control, "key", "value", 5);
        member->result = good ? member->result : 1;
        for (int k = 0; k < IDLE; k++)
            axle__socket_close(idle[k]);
        return;
    }
    member->result = axle__control_get(member->control, "key", 50 * AXLE__SECOND, &value, &size);
    if (!member->result)
        axle__free(value);
}

static void strangers_do_not_disturb_the_job(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 3, PATIENT, live_among_strangers);
    ranks_run(&job);
    ranks_expect_met(&job);
    for (int rank = 0; rank < 3; rank++) {
        assert_int_equal(job.members[rank].result, AXLE_OK);
        for (int other = 0; other < 3; other++)
            assert_int_equal(job.members[rank].losses[other], 0);
    }
    ranks_close(&job);
}

/* The other way round: what listens at rank 0's port is no server of Axle's. */
static void stranger_at_the_port_is_told(void **state)
{
    (void)state;
    ranks_job job;
    char heard[64];
    size_t size;
    ranks_open(&job, 2, 1.0, NULL);
    assert_int_equal(pthread_create(&job.threads[1], NULL, ranks_live, &job.members[1]), 0);
    /* It comes again until its time is over. */
    while (axle__socket_wait(job.listen_fd, POLLIN, axle__clock_ns() + 2 * AXLE__SECOND)) {
        int fd = axle__socket_accept(job.listen_fd);
        say(fd, "220 mail.example.org ESMTP\r\n", 28);
        (void)is_closed(fd, heard, sizeof(heard), &size);
        axle__socket_close(fd);
    }
    pthread_join(job.threads[1], NULL);
    ranks_expect_refused(&job, 1, AXLE_ERR_TIMEOUT, "is no message of Axle's");
    axle__socket_close(job.listen_fd);
    ranks_close(&job);
}

static const struct CMUnitTest tests[] = {
    UNIT("strangers do not disturb the meeting", strangers_do_not_disturb_the_meeting),
    UNIT("strangers do not disturb a job that has met", strangers_do_not_disturb_the_job),
    UNIT("another server at rank 0's port is told", stranger_at_the_port_is_told),
};
UNIT_MAIN(tests)
