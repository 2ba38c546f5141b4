/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A key of a Redis server holds the notice. It is set only where there is none (NX): of two
 * processes that claim to be rank 0, one sees the other's. It expires after the deadline, so that
 * nothing is left for ever of jobs that were killed.
 */
#include "job/rendezvous_kind.h"

#include <stdio.h>
#include <string.h>

#include "axle/status.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "job/notice.h"
#include "job/pause.h"
#include "job/redis.h"

/* One try to get an answer. */
#define TRY (5 * AXLE__SECOND)
/* Nobody waits longer than this only to tidy up: the key expires by itself. */
#define TIDYING (500 * AXLE__MILLISECOND)
#define LINE_EVERY (5 * AXLE__SECOND)

/* The key outlives the deadline by this, and that of who waits for ever by less than a year. */
enum { KEPT_SECONDS = 60, MOST_SECONDS = 30000000 };

enum { REASON = 512 };

typedef struct redis_rendezvous {
    axle__rendezvous base;
    axle__redis *redis;
    int64_t deadline;
    char *job, *key;
    char *where;     /* key and server, for messages */
    char *published; /* the key's value; NULL where this process published nothing */
} redis_rendezvous;

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Ask once; as axle__redis_ask. */
static int ask(redis_rendezvous *self, const char **words, int count, axle__redis_answer *answer,
               char *reason)
{
    int64_t until = earlier(self->deadline, axle__clock_after(axle__clock_ns(), TRY));
    return axle__redis_ask(self->redis, until, words, count, answer, reason, REASON);
}

/* Delete the key where it still has that value. */
static int remove_key(redis_rendezvous *self, int64_t until, const char *value, char *reason)
{
    static const char script[] = "if redis.call('get', KEYS[1]) == ARGV[1] then "
                                 "return redis.call('del', KEYS[1]) else return 0 end";
    axle__redis_answer answer;
    const char *words[] = {"EVAL", script, "1", self->key, value};
    return axle__redis_ask(self->redis, until, words, 5, &answer, reason, REASON);
}

static void close_redis(axle__rendezvous *rendezvous)
{
    char reason[REASON];
    redis_rendezvous *self = (redis_rendezvous *)rendezvous;
    if (self->published &&
        remove_key(self, axle__clock_ns() + TIDYING, self->published, reason) != AXLE_OK)
        axle__info("group", "the %s was not deleted, and will expire: %s", self->where, reason);
    axle__redis_close(self->redis);
    axle__free(self->job);
    axle__free(self->key);
    axle__free(self->where);
    axle__free(self->published);
    axle__free(self);
}

static int open_redis(const char *where, const char *job, int64_t deadline, axle__rendezvous **out)
{
    axle__redis *redis;
    int code = axle__redis_open(where, &redis);
    if (code)
        return code;
    redis_rendezvous *self = axle__alloc(1, sizeof(*self));
    if (!self) {
        axle__redis_close(redis);
        return AXLE_ERR_NOMEM;
    }
    self->base.kind = &axle__rendezvous_redis;
    self->redis = redis;
    self->deadline = deadline;
    self->job = axle__strdup(job);
    self->key = axle__format("axle:rendezvous:%s", job);
    self->where = axle__format("key '%s' of %s", self->key, axle__redis_name(redis));
    if (!self->job || !self->key || !self->where) {
        close_redis(&self->base);
        return AXLE_ERR_NOMEM;
    }
    *out = &self->base;
    return AXLE_OK;
}

/* Set the key where there is none; answer->is_set says whether it was. */
static int set_key(redis_rendezvous *self, const char *value, axle__redis_answer *answer,
                   char *reason)
{
    char expiry[32];
    int64_t left = (self->deadline - axle__clock_ns()) / AXLE__SECOND + KEPT_SECONDS;
    const char *words[] = {"SET", self->key, value, "NX", "EX", expiry};
    snprintf(expiry, sizeof(expiry), "%lld", (long long)earlier(left, MOST_SECONDS));
    return ask(self, words, 6, answer, reason);
}

static int get_key(redis_rendezvous *self, axle__redis_answer *answer, char *reason)
{
    const char *words[] = {"GET", self->key};
    return ask(self, words, 2, answer, reason);
}

/* What stands in the key: removed where the process that set it is dead. AXLE_ERR_NOT_READY: try
 * again; AXLE_ERR_BUSY is recorded. */
static int judge(redis_rendezvous *self, const char *own, char *reason)
{
    axle__redis_answer answer;
    axle__notice found;
    int code = get_key(self, &answer, reason);
    if (code)
        return code;
    snprintf(reason, REASON, "the %s is gone again", self->where);
    if (!answer.is_set)
        return AXLE_ERR_NOT_READY;
    /* An earlier try came through, and its answer was lost. */
    if (strcmp(answer.text, own) == 0)
        return AXLE_OK;
    if (!axle__notice_parse(answer.text, &found))
        return axle_error_set(AXLE_ERR_BUSY, "the %s belongs to no rank 0; delete it", self->where);
    axle__life life = axle__notice_life(&found, self->deadline);
    if (life != AXLE__LIFE_DEAD)
        return axle__notice_busy(&found, life, self->where);
    int64_t until = earlier(self->deadline, axle__clock_after(axle__clock_ns(), TRY));
    code = remove_key(self, until, answer.text, reason);
    if (!code)
        axle__info("group", "removed the %s, which a dead job left behind", self->where);
    return code ? code : AXLE_ERR_NOT_READY;
}

static int claim(redis_rendezvous *self, const char *text, char *reason)
{
    axle__redis_answer answer;
    int code = set_key(self, text, &answer, reason);
    return code || answer.is_set ? code : judge(self, text, reason);
}

/* The error of the last try becomes this process's; AXLE_ERR_BUSY is recorded already. */
static int give_up(int64_t started, int code, const char *reason)
{
    double waited = (double)(axle__clock_ns() - started) / 1e9;
    if (code == AXLE_ERR_BUSY)
        return code;
    if (code == AXLE_ERR_NOT_READY)
        return axle_error_set(AXLE_ERR_TIMEOUT, "rank 0 could not say for %.1f s where it is: %s",
                              waited, reason);
    return axle_error_set(code, "rank 0 cannot say where it is: %s", reason);
}

/* Try until it is said, or cannot be. */
static int publish_text(redis_rendezvous *self, const char *text)
{
    char reason[REASON] = "";
    int64_t started = axle__clock_ns(), next_line = started + LINE_EVERY;
    int64_t pause = AXLE__FIRST_PAUSE;
    for (;;) {
        int code = claim(self, text, reason);
        int64_t now = axle__clock_ns();
        if (!code)
            return AXLE_OK;
        if (code != AXLE_ERR_NOT_READY || now >= self->deadline)
            return give_up(started, code, reason);
        if (now >= next_line) {
            next_line = now + LINE_EVERY;
            axle__info("group", "waiting to say where rank 0 is, %.0f s so far: %s",
                       (double)(now - started) / 1e9, reason);
        }
        axle__pause(&pause, self->deadline);
    }
}

static int publish_redis(axle__rendezvous *rendezvous, int port)
{
    redis_rendezvous *self = (redis_rendezvous *)rendezvous;
    char *text = axle__notice_compose(self->job, port);
    if (!text)
        return AXLE_ERR_NOMEM;
    int code = publish_text(self, text);
    if (code)
        axle__free(text);
    else
        self->published = text;
    return code;
}

/* A try that the deadline cut off says less than the one before. */
static int not_yet(const redis_rendezvous *self, const char *words, char *reason, size_t size)
{
    if (!reason[0] || axle__clock_ns() < self->deadline)
        snprintf(reason, size, "%s", words);
    return AXLE_ERR_NOT_READY;
}

static int find_redis(axle__rendezvous *rendezvous, char *hosts, size_t hosts_size, int *port,
                      char *reason, size_t reason_size)
{
    redis_rendezvous *self = (redis_rendezvous *)rendezvous;
    axle__redis_answer answer;
    axle__notice found;
    char words[REASON];
    int code = get_key(self, &answer, words);
    if (code == AXLE_ERR_NOT_READY)
        return not_yet(self, words, reason, reason_size);
    if (code)
        return axle_error_set(code, "rank 0 cannot be found: %s", words);
    const char *why = answer.is_set ? axle__notice_read(answer.text, self->job, &found)
                                    : "rank 0 has not set it yet";
    if (why) {
        snprintf(words, sizeof(words), "%s: %s", self->where, why);
        return not_yet(self, words, reason, reason_size);
    }
    snprintf(hosts, hosts_size, "%s", axle__notice_hosts(&found));
    *port = found.port;
    return AXLE_OK;
}

const axle__rendezvous_kind axle__rendezvous_redis = {.scheme = "redis://",
                                                      .open = open_redis,
                                                      .publish = publish_redis,
                                                      .find = find_redis,
                                                      .close = close_redis};
