/* SPDX-License-Identifier: Apache-2.0 */
#include "job/redis.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <hiredis.h>

#include "axle/status.h"
#include "base/clock.h"
#include "base/memory.h"
#include "job/redis_url.h"
#include "job/socket.h"

/* As for the meeting: a fresh host's name may be unknown for a while. */
#define UNKNOWN_NAME (10 * AXLE__SECOND)

/* No answer is near as long; a server that never ends one is none. */
enum { LONGEST_ANSWER = 1 << 20 };

struct axle__redis {
    axle__redis_url url;
    char *name;
    int fd; /* -1: not connected */
    redisReader *reader;
    int64_t unknown_since; /* 0: the host's name is known */
};

/* Where a failure's words go. */
typedef struct failure {
    char *reason;
    size_t size;
} failure;

int axle__redis_open(const char *url, axle__redis **out)
{
    axle__redis_url place;
    int code = axle__redis_url_parse(url, &place);
    if (code)
        return code;
    axle__redis *redis = axle__alloc(1, sizeof(*redis));
    if (!redis)
        return AXLE_ERR_NOMEM;
    const char *format = strchr(place.host, ':') ? "redis://[%s]:%d/%s" : "redis://%s:%d/%s";
    redis->name = axle__format(format, place.host, place.port, place.database);
    redis->url = place;
    redis->fd = -1;
    if (!redis->name) {
        axle__free(redis);
        return AXLE_ERR_NOMEM;
    }
    *out = redis;
    return AXLE_OK;
}

const char *axle__redis_name(const axle__redis *redis)
{
    return redis->name;
}

static void disconnect(axle__redis *redis)
{
    axle__socket_close(redis->fd);
    redis->fd = -1;
    if (redis->reader)
        redisReaderFree(redis->reader);
    redis->reader = NULL;
}

void axle__redis_close(axle__redis *redis)
{
    if (!redis)
        return;
    disconnect(redis);
    axle__free(redis->name);
    axle__free(redis);
}

/* The connection is of no use any more. */
static int broken(axle__redis *redis, int code, const char *why, failure *failed)
{
    disconnect(redis);
    snprintf(failed->reason, failed->size, "%s %s", redis->name, why);
    return code;
}

static int no_memory(axle__redis *redis, failure *failed)
{
    return broken(redis, AXLE_ERR_NOMEM, "cannot be talked to: out of memory", failed);
}

static int stranger(axle__redis *redis, failure *failed)
{
    return broken(redis, AXLE_ERR_IO, "is no Redis server: it speaks another protocol", failed);
}

static int silent(axle__redis *redis, failure *failed)
{
    return broken(redis, AXLE_ERR_NOT_READY, "does not answer", failed);
}

static int connection_failed(axle__redis *redis, const char *why, failure *failed)
{
    char words[300];
    snprintf(words, sizeof(words), "cannot be reached: %s", why);
    return broken(redis, AXLE_ERR_NOT_READY, words, failed);
}

static int send_all(axle__redis *redis, int64_t deadline, const char *bytes, size_t size,
                    failure *failed)
{
    while (size > 0) {
        ssize_t sent = send(redis->fd, bytes, size, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes += sent;
            size -= (size_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!axle__socket_wait(redis->fd, POLLOUT, deadline))
                return silent(redis, failed);
        } else if (errno != EINTR) {
            return connection_failed(redis, strerror(errno), failed);
        }
    }
    return AXLE_OK;
}

/* Hand bytes that came to the reader. An answer to our commands begins with one of four signs;
 * arrays are not read, as an announced length alone would make the reader take memory. */
static int feed(axle__redis *redis, const char *bytes, size_t size, size_t *total, failure *failed)
{
    bool is_answer = *total > 0 || (bytes[0] && strchr("+-:$", bytes[0]));
    *total += size;
    if (!is_answer || *total > LONGEST_ANSWER)
        return stranger(redis, failed);
    if (redisReaderFeed(redis->reader, bytes, size) != REDIS_OK)
        return no_memory(redis, failed);
    return AXLE_OK;
}

/* Bytes as they come; AXLE_OK with none where there were none after all. */
static int receive(axle__redis *redis, int64_t deadline, size_t *total, failure *failed)
{
    char bytes[4096];
    if (axle__clock_ns() >= deadline || !axle__socket_wait(redis->fd, POLLIN, deadline))
        return silent(redis, failed);
    ssize_t got = recv(redis->fd, bytes, sizeof(bytes), 0);
    if (got > 0)
        return feed(redis, bytes, (size_t)got, total, failed);
    if (got == 0)
        return broken(redis, AXLE_ERR_NOT_READY, "closed the connection", failed);
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return AXLE_OK;
    return connection_failed(redis, strerror(errno), failed);
}

static int read_reply(axle__redis *redis, int64_t deadline, redisReply **out, failure *failed)
{
    size_t total = 0;
    void *reply = NULL;
    while (!reply) {
        int code = receive(redis, deadline, &total, failed);
        if (code)
            return code;
        if (redisReaderGetReply(redis->reader, &reply) != REDIS_OK)
            return redis->reader->err == REDIS_ERR_OOM ? no_memory(redis, failed)
                                                       : stranger(redis, failed);
    }
    *out = reply;
    return AXLE_OK;
}

/* What a server's refusal means. Others are final. */
static int code_of_refusal(const char *words)
{
    static const struct {
        const char *start;
        int code;
    } table[] = {
        {"LOADING", AXLE_ERR_NOT_READY},  {"BUSY ", AXLE_ERR_NOT_READY},
        {"TRYAGAIN", AXLE_ERR_NOT_READY}, {"MASTERDOWN", AXLE_ERR_NOT_READY},
        {"NOAUTH", AXLE_ERR_INVALID},     {"CLUSTERDOWN", AXLE_ERR_NOT_READY},
        {"WRONGPASS", AXLE_ERR_INVALID},
    };
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++)
        if (strncmp(words, table[k].start, strlen(table[k].start)) == 0)
            return table[k].code;
    return AXLE_ERR_IO;
}

static int take_answer(axle__redis *redis, const redisReply *reply, axle__redis_answer *answer,
                       failure *failed)
{
    if (reply->type == REDIS_REPLY_ERROR) {
        snprintf(failed->reason, failed->size, "%s refuses: %s", redis->name, reply->str);
        return code_of_refusal(reply->str);
    }
    bool is_text = reply->type == REDIS_REPLY_STATUS || reply->type == REDIS_REPLY_STRING;
    answer->is_set = is_text || (reply->type == REDIS_REPLY_INTEGER && reply->integer != 0);
    snprintf(answer->text, sizeof(answer->text), "%s", is_text ? reply->str : "");
    return AXLE_OK;
}

/* One command on an open connection. */
static int exchange(axle__redis *redis, int64_t deadline, const char **words, int count,
                    axle__redis_answer *answer, failure *failed)
{
    char *command = NULL;
    redisReply *reply;
    int length = redisFormatCommandArgv(&command, count, words, NULL);
    if (length < 0)
        return no_memory(redis, failed);
    int code = send_all(redis, deadline, command, (size_t)length, failed);
    redisFreeCommand(command);
    code = code ? code : read_reply(redis, deadline, &reply, failed);
    if (code)
        return code;
    code = take_answer(redis, reply, answer, failed);
    freeReplyObject(reply);
    return code;
}

/* Show the password and choose the database. A refusal of either is that of the URL. */
static int introduce(axle__redis *redis, int64_t deadline, failure *failed)
{
    const struct {
        const char *command, *word;
        bool is_needed;
    } steps[] = {
        {"AUTH", redis->url.password, redis->url.password[0] != '\0'},
        {"SELECT", redis->url.database, strcmp(redis->url.database, "0") != 0},
    };
    int code = AXLE_OK;
    for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]) && !code; k++) {
        axle__redis_answer answer;
        const char *words[] = {steps[k].command, steps[k].word};
        if (steps[k].is_needed)
            code = exchange(redis, deadline, words, 2, &answer, failed);
        if (code == AXLE_ERR_IO && redis->fd >= 0)
            code = AXLE_ERR_INVALID;
    }
    if (code)
        disconnect(redis);
    return code;
}

static int connect_to_server(axle__redis *redis, int64_t deadline, failure *failed)
{
    char why[256];
    bool unknown = false;
    redis->fd = axle__socket_connect(redis->url.host, redis->url.port, deadline, why, sizeof(why),
                                     &unknown);
    if (redis->fd < 0) {
        int64_t now = axle__clock_ns();
        redis->unknown_since = !unknown ? 0 : redis->unknown_since ? redis->unknown_since : now;
        int code = connection_failed(redis, why, failed);
        return unknown && now - redis->unknown_since > UNKNOWN_NAME ? AXLE_ERR_IO : code;
    }
    redis->reader = redisReaderCreate();
    return redis->reader ? introduce(redis, deadline, failed) : no_memory(redis, failed);
}

static int connect_and_exchange(axle__redis *redis, int64_t deadline, const char **words, int count,
                                axle__redis_answer *answer, failure *failed)
{
    int code = redis->fd < 0 ? connect_to_server(redis, deadline, failed) : AXLE_OK;
    return code ? code : exchange(redis, deadline, words, count, answer, failed);
}

int axle__redis_ask(axle__redis *redis, int64_t deadline, const char **words, int count,
                    axle__redis_answer *answer, char *reason, size_t size)
{
    failure failed = {reason, size};
    bool was_connected = redis->fd >= 0;
    int code = connect_and_exchange(redis, deadline, words, count, answer, &failed);
    /* Servers close connections that were idle for long. */
    if (code == AXLE_ERR_NOT_READY && was_connected && redis->fd < 0 && axle__clock_ns() < deadline)
        code = connect_and_exchange(redis, deadline, words, count, answer, &failed);
    return code;
}
