/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of a Redis server as a rendezvous needs, as a thread of the test, with the ways in which
 * servers fail.
 */
#ifndef AXLE_TESTS_UNIT_JOB_REDIS_SERVER_H
#define AXLE_TESTS_UNIT_JOB_REDIS_SERVER_H

#include <poll.h>
#include <pthread.h>
#include <strings.h>
#include <sys/socket.h>

#include <hiredis.h>

#include "base/clock.h"
#include "job/socket.h"
#include "unit/unit.h"

enum { REDIS_CLIENTS = 16, REDIS_KEYS = 8 };

typedef struct redis_client {
    int fd;
    redisReader *reader;
    bool is_admitted;
    char database[16];
} redis_client;

typedef struct redis_key {
    char database[16], key[256], value[4096];
    int expiry;
} redis_key;

typedef struct redis_server {
    /* How it behaves, to be set before it starts. */
    const char *password;
    const char *greeting; /* sent in place of the first answer, and nothing after it */
    bool trickles;        /* answers are long, and come a byte at a time */
    bool hangs_up;        /* after each answer */
    int silent_from;      /* it answers as many commands; -1: all */
    int loading;          /* as many are refused at first */

    int port, listener, wake[2];
    pthread_t thread;
    int commands;
    redis_client clients[REDIS_CLIENTS];
    redis_key keys[REDIS_KEYS];
} redis_server;

static inline redis_key *redis_find(redis_server *server, const char *database, const char *key)
{
    for (int k = 0; k < REDIS_KEYS; k++)
        if (strcmp(server->keys[k].key, key) == 0 &&
            strcmp(server->keys[k].database, database) == 0)
            return &server->keys[k];
    return NULL;
}

static inline const char *redis_set(redis_server *server, const redis_client *client,
                                    const redisReply *words)
{
    const char *name = words->element[1]->str;
    bool is_new = false;
    int expiry = 0;
    for (size_t k = 3; k < words->elements; k++) {
        is_new = is_new || strcasecmp(words->element[k]->str, "NX") == 0;
        if (strcasecmp(words->element[k]->str, "EX") == 0)
            expiry = atoi(words->element[k + 1]->str);
    }
    redis_key *key = redis_find(server, client->database, name);
    if (key && is_new)
        return "$-1\r\n";
    for (int k = 0; k < REDIS_KEYS && !key; k++)
        key = server->keys[k].key[0] ? NULL : &server->keys[k];
    if (!key)
        return "-OOM no place\r\n";
    snprintf(key->database, sizeof(key->database), "%s", client->database);
    snprintf(key->key, sizeof(key->key), "%s", name);
    snprintf(key->value, sizeof(key->value), "%s", words->element[2]->str);
    key->expiry = expiry;
    return "+OK\r\n";
}

static inline const char *redis_select(redis_client *client, const char *database)
{
    if (atoi(database) > 15)
        return "-ERR DB index is out of range\r\n";
    snprintf(client->database, sizeof(client->database), "%s", database);
    return "+OK\r\n";
}

static inline const char *redis_admit(const redis_server *server, redis_client *client,
                                      const char *password)
{
    if (!server->password)
        return "-ERR AUTH called without any password configured\r\n";
    if (strcmp(server->password, password) != 0)
        return "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    client->is_admitted = true;
    return "+OK\r\n";
}

/* Of scripts it knows one: delete KEYS[1] where it has the value ARGV[1]. */
static inline const char *redis_delete(redis_server *server, const redis_client *client,
                                       const char *name, const char *value)
{
    redis_key *key = redis_find(server, client->database, name);
    if (!key || strcmp(key->value, value) != 0)
        return ":0\r\n";
    memset(key, 0, sizeof(*key));
    return ":1\r\n";
}

static inline const char *redis_get(redis_server *server, const redis_client *client,
                                    const char *name)
{
    static char text[sizeof(server->keys[0].value) + 32];
    const redis_key *key = redis_find(server, client->database, name);
    if (!key)
        return "$-1\r\n";
    snprintf(text, sizeof(text), "$%zu\r\n%s\r\n", strlen(key->value), key->value);
    return text;
}

static inline const char *redis_answer(redis_server *server, redis_client *client,
                                       const redisReply *words)
{
    const char *verb = words->element[0]->str;
    if (strcmp(verb, "AUTH") == 0)
        return redis_admit(server, client, words->element[1]->str);
    if (server->password && !client->is_admitted)
        return "-NOAUTH Authentication required.\r\n";
    if (server->loading-- > 0)
        return "-LOADING Redis is loading the dataset in memory\r\n";
    if (strcmp(verb, "SELECT") == 0)
        return redis_select(client, words->element[1]->str);
    if (strcmp(verb, "SET") == 0)
        return redis_set(server, client, words);
    if (strcmp(verb, "GET") == 0)
        return redis_get(server, client, words->element[1]->str);
    if (strcmp(verb, "EVAL") == 0)
        return redis_delete(server, client, words->element[3]->str, words->element[4]->str);
    return "-ERR unknown command\r\n";
}

static inline void redis_drop(redis_client *client)
{
    axle__socket_close(client->fd);
    redisReaderFree(client->reader);
    memset(client, 0, sizeof(*client));
    client->fd = -1;
}

/* Bytes until the client gives up. */
static inline void redis_trickle(const redis_client *client)
{
    struct timespec pause = axle__clock_timespec(20 * AXLE__MILLISECOND);
    const char *next = "$5000\r\n";
    while (send(client->fd, *next ? next : ".", 1, MSG_NOSIGNAL) == 1) {
        next += *next != '\0';
        nanosleep(&pause, NULL);
    }
}

static inline void redis_obey(redis_server *server, redis_client *client, const redisReply *words)
{
    int number = server->commands++;
    const char *answer = server->greeting;
    if (server->silent_from >= 0 && number >= server->silent_from)
        return;
    if (server->trickles) {
        redis_trickle(client);
        return;
    }
    if (!answer)
        answer = redis_answer(server, client, words);
    (void)!send(client->fd, answer, strlen(answer), MSG_NOSIGNAL);
    if (server->hangs_up)
        redis_drop(client);
}

static inline void redis_serve(redis_server *server, redis_client *client)
{
    char bytes[4096];
    void *words = NULL;
    ssize_t got = recv(client->fd, bytes, sizeof(bytes), 0);
    if (got <= 0) {
        redis_drop(client);
        return;
    }
    redisReaderFeed(client->reader, bytes, (size_t)got);
    if (redisReaderGetReply(client->reader, &words) != REDIS_OK || !words)
        return;
    redis_obey(server, client, words);
    freeReplyObject(words);
}

static inline void redis_accept(redis_server *server)
{
    int fd = axle__socket_accept(server->listener);
    for (int k = 0; k < REDIS_CLIENTS && fd >= 0; k++) {
        if (server->clients[k].fd >= 0)
            continue;
        server->clients[k] = (redis_client){fd, redisReaderCreate(), false, "0"};
        return;
    }
    axle__socket_close(fd);
}

static inline void *redis_run(void *arg)
{
    redis_server *server = arg;
    for (;;) {
        struct pollfd items[REDIS_CLIENTS + 2] = {{server->wake[0], POLLIN, 0},
                                                  {server->listener, POLLIN, 0}};
        for (int k = 0; k < REDIS_CLIENTS; k++)
            items[k + 2] = (struct pollfd){server->clients[k].fd, POLLIN, 0};
        poll(items, REDIS_CLIENTS + 2, -1);
        if (items[0].revents)
            return NULL;
        for (int k = 0; k < REDIS_CLIENTS; k++)
            if (items[k + 2].revents)
                redis_serve(server, &server->clients[k]);
        if (items[1].revents)
            redis_accept(server);
    }
}

static inline void redis_init(redis_server *server)
{
    memset(server, 0, sizeof(*server));
    server->silent_from = -1;
    for (int k = 0; k < REDIS_CLIENTS; k++)
        server->clients[k].fd = -1;
}

static inline void redis_start(redis_server *server)
{
    assert_int_equal(axle__socket_listen("127.0.0.1", 0, &server->listener, &server->port), 0);
    assert_int_equal(axle__socket_pair(server->wake), 0);
    assert_int_equal(pthread_create(&server->thread, NULL, redis_run, server), 0);
}

/* Its keys can be looked at afterwards. */
static inline void redis_stop(redis_server *server)
{
    assert_int_equal(send(server->wake[1], "", 1, MSG_NOSIGNAL), 1);
    pthread_join(server->thread, NULL);
    for (int k = 0; k < REDIS_CLIENTS; k++)
        if (server->clients[k].fd >= 0)
            redis_drop(&server->clients[k]);
    axle__socket_close(server->listener);
    axle__socket_close(server->wake[0]);
    axle__socket_close(server->wake[1]);
}

#endif
