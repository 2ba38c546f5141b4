/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding out who is to blame. The transport says that a message failed; who is lost, and who has
 * not arrived, the control connection knows.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "group/group.h"

/* A broken connection is noticed on both ways at about the same time; the news of it needs a
 * moment. */
enum { NEWS_MS = 1000, SURVEY_MS = 1000 };

/* Wait until someone was reported lost. */
static bool hear_of_loss(axle_group *group)
{
    struct timespec until = axle__clock_timespec(axle__clock_ns() + NEWS_MS * AXLE__MILLISECOND);
    pthread_mutex_lock(&group->mutex);
    while (group->lost_rank < 0 &&
           pthread_cond_timedwait(&group->changed, &group->mutex, &until) != ETIMEDOUT)
        ;
    bool lost = group->lost_rank >= 0;
    pthread_mutex_unlock(&group->mutex);
    return lost;
}

/* What is known of a process that everyone waits for; "" where that is nothing. */
static void describe(const axle__peer *peer, int rank, char *text, size_t size)
{
    text[0] = '\0';
    if (peer->lost)
        snprintf(text, size, "rank %d is lost", rank);
    else if (peer->silent_ns > SURVEY_MS * AXLE__MILLISECOND)
        snprintf(text, size, "rank %d has been silent for %.1f s", rank,
                 (double)peer->silent_ns * 1e-9);
    else if (peer->silent_ns < 0)
        return;
    else if (peer->sequence > 0)
        snprintf(text, size, "rank %d came last to number %llu: %s", rank,
                 (unsigned long long)peer->sequence, peer->what);
    else
        snprintf(text, size, "rank %d %s", rank,
                 peer->what[0] ? peer->what : "has not come to any");
}

/* Those whom everyone waits for: lost, silent, or not yet where this process is. */
static void name_absent(const axle_group *group, const axle__peer *peers, char *text, size_t size)
{
    char one[64 + AXLE__CONTROL_TEXT];
    size_t end = 0;
    for (int k = 0; k < group->size && end < size; k++) {
        const axle__peer *peer = &peers[k];
        bool arrived = !peer->lost && peer->sequence >= group->sequence;
        if (k == group->rank || arrived)
            continue;
        describe(peer, k, one, sizeof(one));
        if (one[0])
            end += (size_t)snprintf(text + end, size - end, "%s%s", end ? "; " : "", one);
    }
}

static void survey(axle_group *group, char *text, size_t size)
{
    axle__peer *peers = axle__alloc((size_t)group->size, sizeof(*peers));
    if (peers &&
        axle__control_survey(group->control, SURVEY_MS * AXLE__MILLISECOND, peers) == AXLE_OK)
        name_absent(group, peers, text, size);
    axle_error_clear();
    axle__free(peers);
}

static bool tell_loss(axle_group *group, char *text, size_t size)
{
    pthread_mutex_lock(&group->mutex);
    bool lost = group->lost_rank >= 0;
    if (lost)
        snprintf(text, size, "rank %d is lost: %s", group->lost_rank, group->lost_reason);
    pthread_mutex_unlock(&group->mutex);
    return lost;
}

bool axle__group_lost(axle_group *group, char *text, size_t size)
{
    return hear_of_loss(group) && tell_loss(group, text, size);
}

static void explain(axle_group *group, int peer, axle_status status, const char *transport_says,
                    char *text, size_t size)
{
    text[0] = '\0';
    if (status != AXLE_ERR_TIMEOUT && axle__group_lost(group, text, size))
        return;
    survey(group, text, size);
    if (!text[0] && !tell_loss(group, text, size))
        snprintf(text, size, "the message from or to rank %d failed: %s", peer, transport_says);
}

int axle__group_failed(axle_group *group, const axle__header *header, int peer, axle_status status,
                       const char *text)
{
    char what[256], why[AXLE__TASK_MESSAGE / 2], message[AXLE__TASK_MESSAGE];
    axle__error_record outer;
    axle__error_take(&outer);
    explain(group, peer, status, text, why, sizeof(why));
    axle__header_text(header, what, sizeof(what));
    if (status == AXLE_ERR_TIMEOUT)
        snprintf(message, sizeof(message), "%s (number %llu): not finished after %g s; %s", what,
                 (unsigned long long)group->sequence, (double)group->timeout_ns * 1e-9, why);
    else
        snprintf(message, sizeof(message), "%s (number %llu): %s", what,
                 (unsigned long long)group->sequence, why);
    axle__group_poison(group, message);
    axle__error_restore(&outer);
    return axle_error_set(status == AXLE_ERR_INTERRUPTED ? AXLE_ERR_IO : status, "%s", message);
}

void axle__group_poison(axle_group *group, const char *reason)
{
    pthread_mutex_lock(&group->mutex);
    bool first = !group->poisoned;
    if (first) {
        group->poisoned = true;
        snprintf(group->poison, sizeof(group->poison), "%s", reason);
    }
    pthread_mutex_unlock(&group->mutex);
    if (first && group->control)
        axle__control_fail(group->control, reason);
}
