/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may join. A stranger says hello with a nonce; the server proves that it knows the secret and
 * draws another nonce; the stranger proves the same over who it claims to be. Only then its claims
 * count: strangers disturb nobody, while members of the job who contradict each other end the
 * meeting for all.
 */
#include <stdio.h>
#include <string.h>

#include "axle/status.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "job/auth.h"
#include "job/server_state.h"
#include "job/socket.h"

/* From the connection to the proof. */
#define HANDSHAKE (10 * AXLE__SECOND)
#define LINE_EVERY (5 * AXLE__SECOND)

static void put_refusal(axle__wire_writer *payload, int code, const char *reason)
{
    axle__wire_put_u32(payload, (uint32_t)-code);
    axle__wire_put_text(payload, reason);
}

static void refuse(axle__server *server, axle__connection *connection, int code, const char *reason)
{
    axle__wire_writer payload = {0};
    put_refusal(&payload, code, reason);
    axle__channel_send(&connection->channel, AXLE__WIRE_REFUSE, &payload);
    axle__connection_end(server, connection);
}

void axle__admission_missing(const axle__server *server, char *text, size_t size)
{
    axle__text out;
    int missing = 0;
    axle__text_init(&out, text, size);
    for (int rank = 0; rank < server->size; rank++)
        missing += !server->seats[rank].joined;
    axle__text_add(&out, missing == 1 ? "rank" : "ranks");
    const char *separator = " ";
    for (int rank = 0; rank < server->size; rank++) {
        int last = rank;
        if (server->seats[rank].joined)
            continue;
        while (last + 1 < server->size && !server->seats[last + 1].joined)
            last++;
        axle__text_add(&out,
                       last > rank + 1 ? "%s%d-%d"
                       : last > rank   ? "%s%d, %d"
                                       : "%s%d",
                       separator, rank, last);
        separator = ", ";
        rank = last;
    }
}

void axle__meeting_fail(axle__server *server, int code, const char *reason)
{
    if (server->phase != AXLE__PHASE_MEETING)
        return;
    server->phase = AXLE__PHASE_FAILED;
    server->failure = code;
    snprintf(server->reason, sizeof(server->reason), "%s", reason);
    for (int rank = 0; rank < server->size; rank++) {
        axle__seat *seat = &server->seats[rank];
        if (seat->connection)
            refuse(server, seat->connection, code, reason);
        seat->connection = NULL;
        seat->left = true;
    }
}

/* Where rank 0's peers reached it: from another host, if any came from there. */
static void server_address(const axle__server *server, char *text, size_t size)
{
    snprintf(text, size, "127.0.0.1");
    bool found = false;
    for (int rank = 1; rank < server->size; rank++) {
        char address[AXLE__ADDRESS_TEXT];
        const axle__connection *connection = server->seats[rank].connection;
        if (!connection)
            continue;
        axle__socket_local(connection->channel.fd, address, sizeof(address));
        if (address[0] && (!found || !axle__address_is_loopback(address)))
            snprintf(text, size, "%s", address);
        found = found || address[0];
        if (found && !axle__address_is_loopback(text))
            return;
    }
}

static void meet_if_all_are_there(axle__server *server)
{
    char address[AXLE__ADDRESS_TEXT];
    for (int rank = 0; rank < server->size; rank++)
        if (!server->seats[rank].joined)
            return;
    server->phase = AXLE__PHASE_MET;
    server_address(server, address, sizeof(address));
    for (int rank = 0; rank < server->size; rank++) {
        axle__wire_writer payload = {0};
        axle__wire_put_text(&payload, address);
        axle__channel_send(&server->seats[rank].connection->channel, AXLE__WIRE_MET, &payload);
    }
    axle__debug("group", "all %d processes met at port %d after %.2f s", server->size, server->port,
                (double)(server->now - server->started) / 1e9);
}

/* What a stranger says of itself. */
typedef struct claim {
    uint32_t rank, size;
    char job[AXLE__JOB_TEXT], who[AXLE__WHO_TEXT];
} claim;

/* Why a claim cannot be granted, into `reason`; 0 where it can. *all says whether the job cannot go
 * on for it. */
static int judge(const axle__server *server, const claim *made, char *reason, size_t size,
                 bool *all)
{
    *all = false;
    if (strcmp(made->job, server->job) != 0) {
        snprintf(reason, size, "job '%s' meets here, and not job '%s' (AXLE_JOB)", server->job,
                 made->job);
        return AXLE_ERR_INVALID;
    }
    if (server->phase == AXLE__PHASE_FAILED) {
        snprintf(reason, size, "%s", server->reason);
        return server->failure;
    }
    *all = true;
    if (made->size != (uint32_t)server->size) {
        snprintf(reason, size, "rank %u (%s) counts %u processes, and rank 0 (%s) counts %d",
                 made->rank, made->who, made->size, server->seats[0].who, server->size);
        return AXLE_ERR_INVALID;
    }
    if (made->rank >= made->size) {
        snprintf(reason, size, "%s claims rank %u of %u", made->who, made->rank, made->size);
        return AXLE_ERR_INVALID;
    }
    if (server->seats[made->rank].joined) {
        snprintf(reason, size, "two processes claim rank %u: %s, and %s", made->rank,
                 server->seats[made->rank].who, made->who);
        return AXLE_ERR_INVALID;
    }
    return AXLE_OK;
}

static void grant(axle__server *server, axle__connection *connection, const claim *made)
{
    axle__seat *seat = &server->seats[made->rank];
    connection->stage = AXLE__STAGE_MEMBER;
    connection->since = server->now;
    connection->rank = (int)made->rank;
    connection->channel.limit = AXLE__WIRE_LONGEST;
    seat->connection = connection;
    seat->joined = true;
    seat->heard = server->now;
    snprintf(seat->who, sizeof(seat->who), "%s", made->who);
    axle__channel_send(&connection->channel, AXLE__WIRE_WELCOME, NULL);
    meet_if_all_are_there(server);
}

static void hello(axle__server *server, axle__connection *connection, axle__wire_reader *said)
{
    unsigned char proof[AXLE__WIRE_PROOF];
    axle__wire_writer payload = {0};
    const unsigned char *nonce = axle__wire_get(said, AXLE__WIRE_NONCE);
    if (!axle__wire_done(said) || axle__random_bytes(connection->server_nonce, AXLE__WIRE_NONCE)) {
        connection->stage = AXLE__STAGE_OVER;
        return;
    }
    memcpy(connection->client_nonce, nonce, AXLE__WIRE_NONCE);
    connection->stage = AXLE__STAGE_CHALLENGED;
    axle__proof_make(server->secret, 'S', connection->client_nonce, connection->server_nonce, "", 0,
                     proof);
    axle__wire_put(&payload, connection->server_nonce, AXLE__WIRE_NONCE);
    axle__wire_put(&payload, proof, sizeof(proof));
    axle__channel_send(&connection->channel, AXLE__WIRE_CHALLENGE, &payload);
}

static void join(axle__server *server, axle__connection *connection, axle__wire_reader *said)
{
    claim made = {0};
    unsigned char right[AXLE__WIRE_PROOF];
    char reason[AXLE__WIRE_REASON];
    bool all;
    const unsigned char *start = said->next;
    made.rank = axle__wire_get_u32(said);
    made.size = axle__wire_get_u32(said);
    axle__wire_get_text(said, made.job, sizeof(made.job));
    axle__wire_get_text(said, made.who, sizeof(made.who));
    size_t size = (size_t)(said->next - start);
    const unsigned char *proof = axle__wire_get(said, AXLE__WIRE_PROOF);
    if (!axle__wire_done(said)) {
        connection->stage = AXLE__STAGE_OVER;
        return;
    }
    axle__proof_make(server->secret, 'C', connection->client_nonce, connection->server_nonce, start,
                     size, right);
    if (!axle__proof_equal(proof, right)) {
        refuse(server, connection, AXLE_ERR_INVALID,
               "the secret of the job is another one (AXLE_SECRET)");
        return;
    }
    int code = judge(server, &made, reason, sizeof(reason), &all);
    if (code == AXLE_OK) {
        grant(server, connection, &made);
        return;
    }
    refuse(server, connection, code, reason);
    if (all)
        axle__meeting_fail(server, code, reason);
}

void axle__admission_take(axle__server *server, axle__connection *connection,
                          axle__message *message)
{
    if (connection->stage == AXLE__STAGE_NEW && message->kind == AXLE__WIRE_HELLO)
        hello(server, connection, &message->payload);
    else if (connection->stage == AXLE__STAGE_CHALLENGED && message->kind == AXLE__WIRE_JOIN)
        join(server, connection, &message->payload);
    else
        connection->stage = AXLE__STAGE_OVER;
}

static void drop_slow_strangers(axle__server *server)
{
    for (size_t k = 0; k < server->connection_count; k++) {
        axle__connection *connection = server->connections[k];
        if (axle__connection_is_stranger(connection) && server->now - connection->since > HANDSHAKE)
            connection->stage = AXLE__STAGE_OVER;
    }
}

void axle__admission_tick(axle__server *server)
{
    char missing[200], reason[AXLE__WIRE_REASON];
    drop_slow_strangers(server);
    if (server->phase != AXLE__PHASE_MEETING)
        return;
    double waited = (double)(server->now - server->started) / 1e9;
    if (server->now >= server->deadline) {
        axle__admission_missing(server, missing, sizeof(missing));
        snprintf(reason, sizeof(reason), "%s of %d had not come to port %d of rank 0 after %.1f s",
                 missing, server->size, server->port, waited);
        axle__meeting_fail(server, AXLE_ERR_TIMEOUT, reason);
    } else if (server->now >= server->next_line) {
        axle__admission_missing(server, missing, sizeof(missing));
        server->next_line = server->now + LINE_EVERY;
        axle__info("group", "waiting at port %d for %s of %d, %.0f s so far", server->port, missing,
                   server->size, waited);
    }
}
