/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about queues and events. */
#include <string.h>

#include "axle/status.h"
#include "probe_op.h"
#include "trial.h"

/* x, 3x and 6x on two queues. */
typedef struct bench {
    const machine *m;
    axle_be_queue *queue[2];
    axle_be_buffer *x, *y, *z, *spare;
    probe_op by_3, by_2;
    axle_be_event *event;
} bench;

static int bench_create(const machine *m, int queues, bench *b, note *n)
{
    *b = (bench){.m = m, .queue = {m->queue, m->queue}};
    for (int k = 1; k < queues; k++)
        if (!machine_queue_create(m, &b->queue[k], n))
            return 0;
    return probe_op_prepare(m, &b->by_3, 3.0, n) && probe_op_prepare(m, &b->by_2, 2.0, n) &&
           probe_buffers_create(m, m->queue, &b->x, &b->y, n) &&
           probe_buffers_create(m, m->queue, &b->z, &b->spare, n) && machine_finish(m, m->queue, n);
}

static void bench_free(bench *b)
{
    const machine *m = b->m;
    if (b->event)
        m->api->event_destroy(b->event);
    machine_buffer_destroy(m, b->x);
    machine_buffer_destroy(m, b->y);
    machine_buffer_destroy(m, b->z);
    machine_buffer_destroy(m, b->spare);
    if (b->by_3.op)
        probe_op_release(m, &b->by_3);
    if (b->by_2.op)
        probe_op_release(m, &b->by_2);
    if (b->queue[1] != m->queue)
        machine_queue_destroy(m, b->queue[1]);
}

static int has_queues(const machine *m)
{
    return MACHINE_HAS(m, queue_create) && probe_op_offered(m);
}

static int has_events(const machine *m)
{
    return has_queues(m) && m->info.caps & AXLE_CAP_EVENTS && MACHINE_HAS(m, event_create) &&
           MACHINE_HAS(m, event_record) && MACHINE_HAS(m, event_wait) && MACHINE_HAS(m, queue_wait);
}

typedef int (*bench_fn)(bench *b, note *n);

/* Open what a row needs, and run it; queues are counted, 2 of them only where that is claimed. */
static check_status on_bench(trial *t, int queues, int events, bench_fn fn, note *n)
{
    bench b;
    if (!trial_open(t, n))
        return CHECK_FAILED;
    const machine *m = &t->subject;
    if (!probe_op_offered(m) || (events && !has_events(m)) ||
        (queues > 1 && !(has_queues(m) && m->info.caps & AXLE_CAP_MULTI_QUEUE)))
        return CHECK_HOST;
    const int good = bench_create(m, queues, &b, n) && fn(&b, n);
    bench_free(&b);
    return good ? CHECK_PASSED : CHECK_FAILED;
}

static int chain(bench *b, note *n)
{
    for (int k = 0; k < 20; k++)
        if (!probe_op_run(b->m, b->queue[0], &b->by_3, b->x, b->y, n) ||
            !probe_op_run(b->m, b->queue[0], &b->by_2, b->y, b->z, n))
            return 0;
    return probe_result_holds(b->m, b->queue[0], b->z, 6.0, n);
}

static check_status runs_in_order(trial *t, note *n)
{
    return on_bench(t, 1, 0, chain, n);
}

static int flush_then_read(bench *b, note *n)
{
    error_room room;
    if (!probe_op_run(b->m, b->queue[0], &b->by_3, b->x, b->y, n))
        return 0;
    if (MACHINE_HAS(b->m, queue_flush)) {
        const axle_status status = b->m->api->queue_flush(b->queue[0], error_room_init(&room));
        if (status != AXLE_OK)
            return error_room_fail(n, &room, "queue_flush", status);
    }
    return machine_finish(b->m, b->queue[0], n) && machine_finish(b->m, b->queue[0], n) &&
           probe_result_holds(b->m, b->queue[0], b->y, 3.0, n);
}

static check_status flushes_and_finishes(trial *t, note *n)
{
    return on_bench(t, 1, 0, flush_then_read, n);
}

/* Destruction of a buffer waits for the work that uses it. */
static int destroy_while_running(bench *b, note *n)
{
    if (!probe_op_run(b->m, b->queue[0], &b->by_3, b->x, b->y, n) ||
        !probe_op_run(b->m, b->queue[0], &b->by_2, b->y, b->z, n))
        return 0;
    machine_buffer_destroy(b->m, b->y);
    b->y = NULL;
    probe_op_release(b->m, &b->by_2);
    return probe_result_holds(b->m, b->queue[0], b->z, 6.0, n);
}

static check_status releases_what_runs(trial *t, note *n)
{
    return on_bench(t, 1, 0, destroy_while_running, n);
}

static int both_queues(bench *b, note *n)
{
    for (int k = 0; k < 20; k++)
        if (!probe_op_run(b->m, b->queue[0], &b->by_3, b->x, b->y, n) ||
            !probe_op_run(b->m, b->queue[1], &b->by_3, b->z, b->spare, n))
            return 0;
    return probe_result_holds(b->m, b->queue[0], b->y, 3.0, n) &&
           probe_result_holds(b->m, b->queue[1], b->spare, 3.0, n);
}

static check_status two_queues_at_once(trial *t, note *n)
{
    return on_bench(t, 2, 0, both_queues, n);
}

static int event_step(const bench *b, const char *doing, axle_status status, const error_room *room,
                      note *n)
{
    (void)b;
    return status == AXLE_OK ? 1 : error_room_fail(n, room, doing, status);
}

static int wait_across(bench *b, note *n)
{
    const axle_device_api *api = b->m->api;
    error_room room;
    return event_step(b, "event_create",
                      api->event_create(b->m->device, &b->event, error_room_init(&room)), &room,
                      n) &&
           probe_op_run(b->m, b->queue[0], &b->by_3, b->x, b->y, n) &&
           event_step(b, "event_record",
                      api->event_record(b->queue[0], b->event, error_room_init(&room)), &room, n) &&
           event_step(b, "queue_wait",
                      api->queue_wait(b->queue[1], b->event, error_room_init(&room)), &room, n) &&
           probe_op_run(b->m, b->queue[1], &b->by_2, b->y, b->z, n) &&
           probe_result_holds(b->m, b->queue[1], b->z, 6.0, n);
}

static check_status queues_wait_for_events(trial *t, note *n)
{
    return on_bench(t, 2, 1, wait_across, n);
}

static int wait_on_host(bench *b, note *n)
{
    const axle_device_api *api = b->m->api;
    error_room room;
    if (!event_step(b, "event_create",
                    api->event_create(b->m->device, &b->event, error_room_init(&room)), &room, n) ||
        !probe_op_run(b->m, b->queue[0], &b->by_3, b->x, b->y, n) ||
        !event_step(b, "event_record",
                    api->event_record(b->queue[0], b->event, error_room_init(&room)), &room, n) ||
        !event_step(b, "event_wait", api->event_wait(b->event, -1, error_room_init(&room)), &room,
                    n))
        return 0;
    if (MACHINE_HAS(b->m, event_query)) {
        const axle_status status = api->event_query(b->event, error_room_init(&room));
        if (status != AXLE_OK)
            return note_fail(n, "event_query gives '%s' for an event that was waited for",
                             axle_status_text(status));
    }
    return probe_result_holds(b->m, b->queue[0], b->y, 3.0, n);
}

static check_status host_waits_for_events(trial *t, note *n)
{
    return on_bench(t, 1, 1, wait_on_host, n);
}

const behaviour behaviours_queue[] = {
    {"queues", "a queue runs in order", runs_in_order, 0},
    {"queues", "flush and finish, and finish again", flushes_and_finishes, 0},
    {"queues", "what runs can be released", releases_what_runs, 0},
    {"queues", "two queues at once", two_queues_at_once, 0},
    {"queues", "a queue waits for another's event", queues_wait_for_events, 0},
    {"queues", "the host waits for an event", host_waits_for_events, 0},
    {NULL, NULL, NULL, 0}};
