/* SPDX-License-Identifier: Apache-2.0 */
/* What a process asks rank 0's server, and tells it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "axle/status.h"
#include "base/clock.h"
#include "base/memory.h"
#include "job/control_state.h"

/* The server is told to answer earlier than the caller stops waiting. */
enum { SERVERS_SHARE = 4 }; /* of five parts */

static int64_t positive(int64_t timeout_ns)
{
    return timeout_ns > 0 ? timeout_ns : 0;
}

static void forget(axle__control *control, const axle__request *request)
{
    for (axle__request **link = &control->requests; *link; link = &(*link)->next)
        if (*link == request) {
            *link = request->next;
            return;
        }
}

/* Ask and wait. The payload, which is released, begins with the request's number, which is put into
 * its first four bytes. The result is the answer's code, its reason in request->reason. */
static int ask(axle__control *control, axle__request *request, int kind, axle__wire_writer *payload,
               int64_t timeout_ns)
{
    int64_t deadline = axle__clock_after(axle__clock_ns(), positive(timeout_ns));
    struct timespec until = axle__clock_timespec(deadline);
    request->code = AXLE_ERR_TIMEOUT;
    snprintf(request->reason, sizeof(request->reason), "rank 0 does not answer");
    pthread_mutex_lock(&control->lock);
    if (control->gone) {
        request->code = AXLE_ERR_IO;
        snprintf(request->reason, sizeof(request->reason), "rank %d was lost: %.400s",
                 control->first_lost, control->first_reason);
        request->done = true;
        axle__wire_free(payload);
    } else {
        request->id = ++control->last_request;
        for (int k = 0; k < 4 && payload->size >= 4; k++)
            payload->data[k] = (unsigned char)(request->id >> (8 * k));
        request->next = control->requests;
        control->requests = request;
        axle__listener_send(control, kind, payload);
    }
    while (!request->done &&
           pthread_cond_timedwait(&control->changed, &control->lock, &until) != ETIMEDOUT)
        continue;
    forget(control, request);
    pthread_mutex_unlock(&control->lock);
    return request->code;
}

static int check_key(const char *key)
{
    if (key[0] != '\0' && strlen(key) < AXLE__WIRE_KEY)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID, "a key has 1 to %d bytes, not %zu", AXLE__WIRE_KEY - 1,
                          strlen(key));
}

int axle__control_set(axle__control *control, const char *key, const void *value, size_t size)
{
    axle__request request = {0};
    axle__wire_writer payload = {0};
    int code = axle__control_check(control);
    code = code ? code : check_key(key);
    if (code)
        return code;
    if (size > AXLE__WIRE_VALUE)
        return axle_error_set(AXLE_ERR_INVALID, "key '%s': %zu bytes are more than %d", key, size,
                              AXLE__WIRE_VALUE);
    axle__wire_put_u32(&payload, 0);
    axle__wire_put_text(&payload, key);
    axle__wire_put_value(&payload, value, size);
    if (payload.failed) {
        axle__wire_free(&payload);
        return AXLE_ERR_NOMEM;
    }
    code = ask(control, &request, AXLE__WIRE_SET, &payload, control->timeout);
    if (code)
        axle_error_set(code, "setting '%s': %s", key, request.reason);
    return code;
}

int axle__control_get(axle__control *control, const char *key, int64_t timeout_ns, void **value,
                      size_t *size)
{
    axle__request request = {.needs_all = true};
    axle__wire_writer payload = {0};
    int code = axle__control_check(control);
    code = code ? code : check_key(key);
    if (code)
        return code;
    axle__wire_put_u32(&payload, 0);
    axle__wire_put_u64(&payload, (uint64_t)positive(timeout_ns));
    axle__wire_put_text(&payload, key);
    if (payload.failed) {
        axle__wire_free(&payload);
        return AXLE_ERR_NOMEM;
    }
    code = ask(control, &request, AXLE__WIRE_GET, &payload, timeout_ns);
    if (code) {
        axle__free(request.value);
        return axle_error_set(code, "'%s' in rank 0's store: %s, after up to %.1f s", key,
                              request.reason, (double)positive(timeout_ns) / 1e9);
    }
    *value = request.value;
    *size = request.size;
    return AXLE_OK;
}

void axle__control_report(axle__control *control, uint64_t sequence, const char *what)
{
    if (axle__control_check(control))
        return;
    pthread_mutex_lock(&control->lock);
    control->sequence = sequence;
    snprintf(control->what, sizeof(control->what), "%s", what);
    control->is_reported = false;
    pthread_mutex_unlock(&control->lock);
}

/* What this process knows by itself. */
static void fill_alone(axle__control *control, axle__peer *peers)
{
    pthread_mutex_lock(&control->lock);
    for (int rank = 0; rank < control->size; rank++)
        peers[rank] = (axle__peer){.lost = control->lost[rank], .silent_ns = -1};
    peers[0].silent_ns = axle__clock_ns() - control->heard;
    peers[control->rank].silent_ns = 0;
    peers[control->rank].sequence = control->sequence;
    memcpy(peers[control->rank].what, control->what, sizeof(control->what));
    pthread_mutex_unlock(&control->lock);
}

int axle__control_survey(axle__control *control, int64_t timeout_ns, axle__peer *peers)
{
    axle__request request = {.peers = peers};
    axle__wire_writer payload = {0};
    int code = axle__control_check(control);
    if (code)
        return code;
    int64_t share = positive(timeout_ns) / (SERVERS_SHARE + 1) * SERVERS_SHARE;
    axle__wire_put_u32(&payload, 0);
    axle__wire_put_u64(&payload, (uint64_t)share);
    if (payload.failed) {
        axle__wire_free(&payload);
        return AXLE_ERR_NOMEM;
    }
    code = ask(control, &request, AXLE__WIRE_SURVEY, &payload, timeout_ns);
    if (code == AXLE_ERR_IO || code == AXLE_ERR_TIMEOUT) {
        fill_alone(control, peers);
        return AXLE_OK;
    }
    return code ? axle_error_set(code, "asking rank 0 who is where: %s", request.reason) : code;
}

void axle__control_fail(axle__control *control, const char *reason)
{
    char text[AXLE__WIRE_REASON];
    axle__wire_writer payload = {0};
    if (axle__control_check(control))
        return;
    snprintf(text, sizeof(text), "%s", reason);
    axle__wire_put_u32(&payload, (uint32_t)-AXLE_ERR_IO);
    axle__wire_put_text(&payload, text);
    pthread_mutex_lock(&control->lock);
    axle__listener_send(control, AXLE__WIRE_FAIL, &payload);
    pthread_mutex_unlock(&control->lock);
}
