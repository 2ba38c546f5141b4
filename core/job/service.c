/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What members get: the store, surveys, and word of who is lost. A connection that ends without
 * good-bye is a loss, and so is one on which nothing was heard for the timeout. The server's own
 * process may have been stopped meanwhile: silence counts until the last look at what had come, and
 * since there is a look every interval, one interval less is waited for.
 */
#include <stdio.h>
#include <string.h>

#include "axle/status.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "job/server_state.h"

/* A request may wait this long at most, whatever it says. */
#define LONGEST_WAIT (INT64_C(366) * 86400 * AXLE__SECOND)

static axle__channel *channel_of(axle__server *server, int rank)
{
    axle__connection *connection = server->seats[rank].connection;
    return connection ? &connection->channel : NULL;
}

static void answer(axle__server *server, int rank, uint32_t request, int code, const char *reason)
{
    axle__wire_writer payload = {0};
    axle__channel *channel = channel_of(server, rank);
    if (!channel)
        return;
    axle__wire_put_u32(&payload, request);
    axle__wire_put_u32(&payload, (uint32_t)-code);
    axle__wire_put_text(&payload, reason);
    axle__channel_send(channel, AXLE__WIRE_DONE, &payload);
}

static void answer_value(axle__server *server, int rank, uint32_t request,
                         const axle__store_entry *entry)
{
    axle__wire_writer payload = {0};
    axle__channel *channel = channel_of(server, rank);
    if (!channel)
        return;
    axle__wire_put_u32(&payload, request);
    axle__wire_put_value(&payload, entry->value, entry->size);
    axle__channel_send(channel, AXLE__WIRE_VALUE_IS, &payload);
}

static void answer_table(axle__server *server, const axle__wish *wish)
{
    axle__wire_writer payload = {0};
    axle__channel *channel = channel_of(server, wish->rank);
    if (!channel)
        return;
    axle__wire_put_u32(&payload, wish->request);
    axle__wire_put_u32(&payload, (uint32_t)server->size);
    for (int rank = 0; rank < server->size; rank++) {
        const axle__seat *seat = &server->seats[rank];
        axle__wire_put_u8(&payload, seat->lost);
        axle__wire_put_u64(&payload, seat->left ? 0 : (uint64_t)(server->now - seat->heard));
        axle__wire_put_u64(&payload, seat->sequence);
        axle__wire_put_text(&payload, seat->what);
    }
    axle__channel_send(channel, AXLE__WIRE_TABLE, &payload);
}

/* Note a wish; takes the key. */
static bool add_wish(axle__server *server, axle__wish wish)
{
    if (server->wish_count == server->wish_capacity) {
        size_t capacity = server->wish_capacity ? 2 * server->wish_capacity : 16;
        axle__wish *wishes = axle__resize(server->wishes, capacity, sizeof(*wishes));
        if (!wishes) {
            axle__free(wish.key);
            return false;
        }
        server->wishes = wishes;
        server->wish_capacity = capacity;
    }
    server->wishes[server->wish_count++] = wish;
    return true;
}

static void remove_wish(axle__server *server, size_t k)
{
    axle__free(server->wishes[k].key);
    server->wishes[k] = server->wishes[--server->wish_count];
}

static bool all_answered(const axle__server *server, uint64_t round)
{
    for (int rank = 0; rank < server->size; rank++)
        if (server->seats[rank].connection && server->seats[rank].answered < round)
            return false;
    return true;
}

/* Fulfil wishes for this key, and surveys that everyone has answered or that waited long enough.
 */
static void fulfil(axle__server *server, const char *key)
{
    for (size_t k = server->wish_count; k-- > 0;) {
        axle__wish *wish = &server->wishes[k];
        bool late = server->now >= wish->deadline;
        if (wish->round > 0 && (late || all_answered(server, wish->round))) {
            answer_table(server, wish);
        } else if (wish->key && key && strcmp(wish->key, key) == 0) {
            answer_value(server, wish->rank, wish->request, axle__store_find(&server->store, key));
        } else if (wish->key && late) {
            answer(server, wish->rank, wish->request, AXLE_ERR_TIMEOUT, "nobody has set it");
        } else {
            continue;
        }
        remove_wish(server, k);
    }
}

static int64_t deadline_of(const axle__server *server, uint64_t wait)
{
    return server->now + (wait > (uint64_t)LONGEST_WAIT ? LONGEST_WAIT : (int64_t)wait);
}

static bool take_set(axle__server *server, int rank, axle__wire_reader *said)
{
    char key[AXLE__WIRE_KEY];
    size_t size;
    uint32_t request = axle__wire_get_u32(said);
    axle__wire_get_text(said, key, sizeof(key));
    const unsigned char *value = axle__wire_get_value(said, &size);
    if (!axle__wire_done(said))
        return false;
    int code = axle__store_set(&server->store, key, value, size);
    answer(server, rank, request, code, axle_error_message());
    axle_error_clear();
    if (code == AXLE_OK)
        fulfil(server, key);
    return true;
}

static bool take_get(axle__server *server, int rank, axle__wire_reader *said)
{
    char key[AXLE__WIRE_KEY];
    uint32_t request = axle__wire_get_u32(said);
    uint64_t wait = axle__wire_get_u64(said);
    axle__wire_get_text(said, key, sizeof(key));
    if (!axle__wire_done(said))
        return false;
    const axle__store_entry *entry = axle__store_find(&server->store, key);
    if (entry) {
        answer_value(server, rank, request, entry);
        return true;
    }
    if (server->broken) {
        answer(server, rank, request, AXLE_ERR_IO, "nobody set it before a process was lost");
        return true;
    }
    axle__wish wish = {.rank = rank,
                       .request = request,
                       .deadline = deadline_of(server, wait),
                       .key = axle__strdup(key)};
    if (!wish.key || !add_wish(server, wish))
        answer(server, rank, request, AXLE_ERR_NOMEM, "no memory is left on rank 0");
    return true;
}

static bool take_survey(axle__server *server, int rank, axle__wire_reader *said)
{
    uint32_t request = axle__wire_get_u32(said);
    uint64_t wait = axle__wire_get_u64(said);
    if (!axle__wire_done(said))
        return false;
    axle__wish wish = {.rank = rank,
                       .request = request,
                       .deadline = deadline_of(server, wait),
                       .round = ++server->round};
    if (!add_wish(server, wish)) {
        answer(server, rank, request, AXLE_ERR_NOMEM, "no memory is left on rank 0");
        return true;
    }
    for (int other = 0; other < server->size; other++) {
        axle__wire_writer payload = {0};
        if (!server->seats[other].connection)
            continue;
        axle__wire_put_u64(&payload, wish.round);
        axle__channel_send(channel_of(server, other), AXLE__WIRE_ASK, &payload);
    }
    return true;
}

static bool take_report(axle__server *server, int rank, axle__wire_reader *said)
{
    axle__seat *seat = &server->seats[rank];
    uint64_t round = axle__wire_get_u64(said);
    seat->sequence = axle__wire_get_u64(said);
    axle__wire_get_text(said, seat->what, sizeof(seat->what));
    if (!axle__wire_done(said))
        return false;
    seat->answered = round > seat->answered ? round : seat->answered;
    fulfil(server, NULL);
    return true;
}

static bool take_ping(axle__server *server, int rank, axle__wire_reader *said)
{
    axle__seat *seat = &server->seats[rank];
    if (axle__wire_done(said))
        return true;
    seat->sequence = axle__wire_get_u64(said);
    axle__wire_get_text(said, seat->what, sizeof(seat->what));
    return axle__wire_done(said);
}

static void tell_loss(axle__server *server, int lost, const char *reason)
{
    for (int rank = 0; rank < server->size; rank++) {
        axle__wire_writer payload = {0};
        axle__channel *channel = channel_of(server, rank);
        if (!channel)
            continue;
        axle__wire_put_u32(&payload, (uint32_t)lost);
        axle__wire_put_text(&payload, reason);
        axle__channel_send(channel, AXLE__WIRE_LOST, &payload);
    }
}

/* The first reason counts. Who gave up keeps its connection, until it leaves. */
static void count_as_lost(axle__server *server, int rank, const char *reason)
{
    axle__seat *seat = &server->seats[rank];
    if (seat->lost)
        return;
    seat->lost = true;
    if (!server->broken)
        server->broken = server->now;
    axle__debug("group", "rank %d (%s) is lost: %s", rank, seat->who, reason);
    tell_loss(server, rank, reason);
}

static bool take_fail(axle__server *server, int rank, axle__wire_reader *said)
{
    char reason[AXLE__WIRE_REASON];
    int code = -(int)axle__wire_get_u32(said);
    axle__wire_get_text(said, reason, sizeof(reason));
    if (!axle__wire_done(said) || code >= AXLE_OK)
        return false;
    if (server->phase == AXLE__PHASE_MEETING)
        axle__meeting_fail(server, code, reason);
    else
        count_as_lost(server, rank, reason);
    return true;
}

static bool take_leave(axle__server *server, int rank, axle__wire_reader *said)
{
    axle__seat *seat = &server->seats[rank];
    if (!axle__wire_done(said))
        return false;
    seat->left = true;
    snprintf(seat->what, sizeof(seat->what), "has left the job");
    axle__channel_send(&seat->connection->channel, AXLE__WIRE_BYE, NULL);
    axle__connection_end(server, seat->connection);
    seat->connection = NULL;
    fulfil(server, NULL);
    return true;
}

void axle__service_take(axle__server *server, axle__connection *connection, axle__message *message)
{
    static bool (*const take[AXLE__WIRE_KINDS])(axle__server *, int, axle__wire_reader *) = {
        [AXLE__WIRE_PING] = take_ping,     [AXLE__WIRE_SET] = take_set,
        [AXLE__WIRE_GET] = take_get,       [AXLE__WIRE_SURVEY] = take_survey,
        [AXLE__WIRE_REPORT] = take_report, [AXLE__WIRE_FAIL] = take_fail,
        [AXLE__WIRE_LEAVE] = take_leave,
    };
    int rank = connection->rank;
    server->seats[rank].heard = server->now;
    if (!take[message->kind] || !take[message->kind](server, rank, &message->payload))
        axle__service_lose(server, rank, "what it sent makes no sense");
}

void axle__service_lose(axle__server *server, int rank, const char *reason)
{
    axle__seat *seat = &server->seats[rank];
    if (seat->left || !seat->connection)
        return;
    if (server->phase == AXLE__PHASE_MEETING) {
        char text[AXLE__WIRE_REASON];
        snprintf(text, sizeof(text), "rank %d (%s) was lost while the processes met: %.200s", rank,
                 seat->who, reason);
        axle__meeting_fail(server, AXLE_ERR_IO, text);
        return;
    }
    count_as_lost(server, rank, reason);
    axle__connection_end(server, seat->connection);
    seat->connection = NULL;
    fulfil(server, NULL);
}

static void judge_silence(axle__server *server)
{
    char reason[80];
    for (int rank = 0; rank < server->size; rank++) {
        const axle__seat *seat = &server->seats[rank];
        int64_t silent = server->looked - seat->heard;
        if (!seat->connection || silent <= server->timeout - server->interval)
            continue;
        snprintf(reason, sizeof(reason), "nothing was heard from it for %.1f s",
                 (double)silent / 1e9);
        axle__service_lose(server, rank, reason);
    }
}

static void ping(axle__server *server)
{
    char missing[200];
    bool meeting = server->phase == AXLE__PHASE_MEETING;
    if (meeting)
        axle__admission_missing(server, missing, sizeof(missing));
    for (int rank = 0; rank < server->size; rank++) {
        axle__wire_writer payload = {0};
        axle__channel *channel = channel_of(server, rank);
        if (!channel)
            continue;
        if (meeting)
            axle__wire_put_text(&payload, missing);
        axle__channel_send(channel, AXLE__WIRE_PING, &payload);
    }
}

void axle__service_tick(axle__server *server)
{
    judge_silence(server);
    fulfil(server, NULL);
    if (server->now >= server->next_ping) {
        server->next_ping = server->now + server->interval;
        ping(server);
    }
}

int64_t axle__service_next(const axle__server *server)
{
    int64_t next = server->next_ping;
    for (size_t k = 0; k < server->wish_count; k++)
        if (server->wishes[k].deadline < next)
            next = server->wishes[k].deadline;
    return next;
}

void axle__service_free(axle__server *server)
{
    while (server->wish_count > 0)
        remove_wish(server, server->wish_count - 1);
    axle__free(server->wishes);
    axle__store_free(&server->store);
}
