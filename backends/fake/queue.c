/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of the fake backend. A lazy one keeps every call until something waits for it, so that a
 * reader who forgets to wait sees memory that nothing was written to. An error is kept, too, and
 * reported by the next wait.
 */
#include "fake.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { OPERANDS = 4, MESSAGE = 160 };

typedef struct job {
    struct job *next;
    axle_be_op *op;
    axle_op_args args;
    axle_view view[OPERANDS];
    const axle_view *operand[OPERANDS];
} job;

struct axle_be_queue {
    axle_be_queue *next; /* in the list of all queues */
    job *first, **last;
    axle_status status; /* of the first job that failed since the last wait */
    int lost;
    char message[MESSAGE];
};

/* Guards all queues: what a buffer or an operator is released for may wait in any of them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static axle_be_queue *queues;

/* An event is reached when its queue has done what it held at the time. */
struct axle_be_event {
    axle_be_queue *queue;
};

axle_status fake_queue_create(axle_be_device *device, uint32_t role, axle_be_queue **out,
                              axle_error *error)
{
    (void)device, (void)role;
    axle_be_queue *queue = calloc(1, sizeof(*queue));
    if (!queue)
        return fake_fail(error, AXLE_ERR_NOMEM, "fake: no memory for a queue");
    queue->last = &queue->first;
    pthread_mutex_lock(&lock);
    queue->next = queues;
    queues = queue;
    pthread_mutex_unlock(&lock);
    *out = queue;
    return AXLE_OK;
}

static void run_job(axle_be_queue *queue, const job *next)
{
    char message[MESSAGE] = "";
    axle_error error = {
        .struct_size = sizeof(error), .message = message, .message_capacity = sizeof(message)};
    const axle_status status = fake_op_execute(next->op, &next->args, &error);
    if (status == AXLE_OK || queue->status != AXLE_OK)
        return;
    queue->status = status;
    queue->lost = (error.flags & AXLE_ERROR_STICKY) != 0;
    memcpy(queue->message, message, sizeof(message));
}

static void drain(axle_be_queue *queue)
{
    while (queue->first) {
        job *next = queue->first;
        queue->first = next->next;
        run_job(queue, next);
        free(next);
    }
    queue->last = &queue->first;
}

void fake_queues_drain(void)
{
    pthread_mutex_lock(&lock);
    for (axle_be_queue *queue = queues; queue; queue = queue->next)
        drain(queue);
    pthread_mutex_unlock(&lock);
}

void fake_queue_destroy(axle_be_queue *queue)
{
    if (!queue)
        return;
    pthread_mutex_lock(&lock);
    drain(queue);
    axle_be_queue **link = &queues;
    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    pthread_mutex_unlock(&lock);
    free(queue);
}

axle_status fake_queue_finish(axle_be_queue *queue, axle_error *error)
{
    if (!queue)
        return AXLE_OK;
    pthread_mutex_lock(&lock);
    drain(queue);
    const axle_status status = queue->status;
    if (!queue->lost)
        queue->status = AXLE_OK;
    pthread_mutex_unlock(&lock);
    if (status == AXLE_OK)
        return AXLE_OK;
    if (queue->lost && error)
        error->flags |= AXLE_ERROR_STICKY;
    return fake_fail(error, status, "%s", queue->message);
}

static void job_fill(job *added, axle_be_op *op, const axle_op_args *args)
{
    added->op = op;
    added->args = *args;
    for (uint32_t k = 0; k < args->n_in + args->n_out && k < OPERANDS; k++) {
        const axle_view *given = k < args->n_in ? args->in[k] : args->out[k - args->n_in];
        if (!given)
            continue;
        added->view[k] = *given;
        added->operand[k] = &added->view[k];
    }
    added->args.in = added->operand;
    added->args.out = added->operand + args->n_in;
}

axle_status fake_queue_push(axle_be_queue *queue, axle_be_op *op, const axle_op_args *args,
                            axle_error *error)
{
    if (!queue || !fake.lazy)
        return fake_op_execute(op, args, error);
    job *added = calloc(1, sizeof(*added));
    if (!added)
        return fake_fail(error, AXLE_ERR_NOMEM, "fake: no memory for a call");
    job_fill(added, op, args);
    pthread_mutex_lock(&lock);
    *queue->last = added;
    queue->last = &added->next;
    pthread_mutex_unlock(&lock);
    return AXLE_OK;
}

axle_status fake_event_create(axle_be_device *device, axle_be_event **out, axle_error *error)
{
    (void)device;
    axle_be_event *event = calloc(1, sizeof(*event));
    if (!event)
        return fake_fail(error, AXLE_ERR_NOMEM, "fake: no memory for an event");
    *out = event;
    return AXLE_OK;
}

void fake_event_destroy(axle_be_event *event)
{
    free(event);
}

axle_status fake_event_record(axle_be_queue *queue, axle_be_event *event, axle_error *error)
{
    (void)error;
    event->queue = queue;
    return AXLE_OK;
}

axle_status fake_queue_wait(axle_be_queue *queue, axle_be_event *event, axle_error *error)
{
    return event->queue == queue ? AXLE_OK : fake_queue_finish(event->queue, error);
}

axle_status fake_event_query(axle_be_event *event, axle_error *error)
{
    (void)error;
    return event->queue && event->queue->first ? AXLE_ERR_NOT_READY : AXLE_OK;
}

axle_status fake_event_wait(axle_be_event *event, int64_t timeout_ns, axle_error *error)
{
    (void)timeout_ns;
    return fake_queue_finish(event->queue, error);
}
