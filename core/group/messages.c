/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over the transport, and the group thread's memory. */
#include "base/memory.h"
#include "group/group.h"

uint64_t axle__tag(const axle_group *group, uint32_t number)
{
    return group->sequence << 20 | number;
}

static struct axle__message *message_add(axle__messages *messages)
{
    if (messages->count == messages->capacity) {
        size_t capacity = messages->capacity ? 2 * messages->capacity : 32;
        void *item = axle__resize(messages->item, capacity, sizeof(*messages->item));
        if (!item)
            return NULL;
        messages->item = item;
        messages->capacity = capacity;
    }
    return &messages->item[messages->count];
}

/* Count a message that was started, or tell why it was not. */
static int started(axle_group *group, axle__messages *messages, struct axle__message *message,
                   int peer, axle_status status, const axle__error_buffer *error)
{
    if (status)
        return axle__group_failed(group, &group->headers[group->rank], peer, status, error->text);
    message->peer = peer;
    messages->count++;
    return AXLE_OK;
}

int axle__send_start(axle_group *group, axle__messages *messages, int peer, uint64_t tag,
                     const void *data, uint64_t size)
{
    struct axle__message *message = size ? message_add(messages) : NULL;
    if (!message)
        return size ? axle_error_code() : AXLE_OK;
    axle__error_buffer error;
    axle__error_buffer_init(&error);
    axle_status status =
        group->transport->send(group->link, peer, tag, data, size, &message->request, &error.error);
    return started(group, messages, message, peer, status, &error);
}

int axle__recv_start(axle_group *group, axle__messages *messages, int peer, uint64_t tag,
                     void *data, uint64_t size)
{
    struct axle__message *message = size ? message_add(messages) : NULL;
    if (!message)
        return size ? axle_error_code() : AXLE_OK;
    axle__error_buffer error;
    axle__error_buffer_init(&error);
    axle_status status =
        group->transport->recv(group->link, peer, tag, data, size, &message->request, &error.error);
    return started(group, messages, message, peer, status, &error);
}

int axle__messages_wait(axle_group *group, axle__messages *messages, size_t count)
{
    while (messages->waited < count) {
        const struct axle__message *message = &messages->item[messages->waited++];
        axle__error_buffer error;
        axle__error_buffer_init(&error);
        axle_status status =
            group->transport->wait(message->request, group->timeout_ns, &error.error);
        if (status)
            return axle__group_failed(group, &group->headers[group->rank], message->peer, status,
                                      error.text);
    }
    return AXLE_OK;
}

int axle__messages_finish(axle_group *group, axle__messages *messages, int status)
{
    if (!status)
        status = axle__messages_wait(group, messages, messages->count);
    axle__messages_drop(messages);
    return status;
}

void axle__messages_drop(axle__messages *messages)
{
    axle__free(messages->item);
    *messages = (axle__messages){0};
}

void *axle__scratch(axle_group *group, size_t size)
{
    if (group->scratch_size < size) {
        axle__free(group->scratch);
        group->scratch_size = 0;
        group->scratch = axle__alloc_aligned(size, 64);
        if (group->scratch)
            group->scratch_size = size;
    }
    return group->scratch;
}
