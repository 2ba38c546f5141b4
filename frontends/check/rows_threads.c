/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about threads: prepared operators are shared, queues and buffers are not. */
#include <pthread.h>

#include "probe_op.h"
#include "trial.h"

enum { THREADS = 4, ROUNDS = 1000, QUICK_ROUNDS = 100 };

typedef struct worker {
    const machine *m;
    const probe_op *op;
    axle_be_queue *queue;
    pthread_mutex_t *turn; /* where one queue is all that there is */
    int rounds, good;
    note n;
} worker;

static int run_round(worker *w, axle_be_buffer *x, axle_be_buffer *y)
{
    if (w->turn)
        pthread_mutex_lock(w->turn);
    const int good = probe_op_run(w->m, w->queue, w->op, x, y, &w->n) &&
                     probe_result_holds(w->m, w->queue, y, w->op->factor, &w->n);
    if (w->turn)
        pthread_mutex_unlock(w->turn);
    return good;
}

static void *work(void *arg)
{
    worker *w = arg;
    axle_be_buffer *x, *y;
    if (w->turn)
        pthread_mutex_lock(w->turn);
    w->good = probe_buffers_create(w->m, w->queue, &x, &y, &w->n);
    if (w->turn)
        pthread_mutex_unlock(w->turn);
    if (!w->good)
        return NULL;
    for (int k = 0; k < w->rounds && w->good; k++)
        w->good = run_round(w, x, y) || note_prefix(&w->n, "round %d: ", k);
    machine_buffer_destroy(w->m, x);
    machine_buffer_destroy(w->m, y);
    return NULL;
}

/* Without queues op_run may be called by several threads at once; with one queue calls take turns.
 */
static int run_workers(const machine *m, const probe_op ops[2], int rounds, note *n)
{
    pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    const int queues = MACHINE_HAS(m, queue_create);
    const int many = queues && m->info.caps & AXLE_CAP_MULTI_QUEUE;
    worker workers[THREADS];
    pthread_t threads[THREADS];
    int started = 0, good = 1;
    for (int k = 0; k < THREADS && good; k++) {
        workers[k] = (worker){.m = m,
                              .op = &ops[k % 2],
                              .queue = m->queue,
                              .turn = queues && !many ? &turn : NULL,
                              .rounds = rounds};
        good = (!many || machine_queue_create(m, &workers[k].queue, n)) &&
               (pthread_create(&threads[k], NULL, work, &workers[k]) == 0 ||
                note_fail(n, "no thread"));
        started += good;
    }
    for (int k = 0; k < started; k++) {
        pthread_join(threads[k], NULL);
        if (many)
            machine_queue_destroy(m, workers[k].queue);
        if (good && !workers[k].good) {
            *n = workers[k].n;
            good = note_prefix(n, "thread %d, ", k);
        }
    }
    return good;
}

static check_status shared_operators(trial *t, note *n)
{
    probe_op ops[2] = {{.factor = 0}, {.factor = 0}};
    if (!trial_open(t, n))
        return CHECK_FAILED;
    const machine *m = &t->subject;
    if (!probe_op_offered(m))
        return CHECK_HOST;
    int good = probe_op_prepare(m, &ops[0], 2.0, n) && probe_op_prepare(m, &ops[1], 3.0, n);
    if (good && (ops[0].workspace || ops[1].workspace))
        good = note_fail(n, "a scaling of %d numbers asks for workspace", PROBE_COUNT);
    good = good && run_workers(m, ops, t->options->quick ? QUICK_ROUNDS : ROUNDS, n);
    for (int k = 0; k < 2; k++)
        if (ops[k].op)
            probe_op_release(m, &ops[k]);
    return good ? CHECK_PASSED : CHECK_FAILED;
}

static void *prepare_often(void *arg)
{
    worker *w = arg;
    w->good = 1;
    for (int k = 0; k < w->rounds && w->good; k++) {
        probe_op p;
        w->good = probe_op_prepare(w->m, &p, (double)k, &w->n);
        if (w->good)
            probe_op_release(w->m, &p);
    }
    return NULL;
}

static check_status prepared_at_once(trial *t, note *n)
{
    worker workers[THREADS];
    pthread_t threads[THREADS];
    int started = 0, good = 1;
    if (!trial_open(t, n))
        return CHECK_FAILED;
    if (!probe_op_offered(&t->subject))
        return CHECK_HOST;
    for (; started < THREADS; started++) {
        workers[started] = (worker){.m = &t->subject, .rounds = 50};
        if (pthread_create(&threads[started], NULL, prepare_often, &workers[started]) != 0)
            break;
    }
    for (int k = 0; k < started; k++) {
        pthread_join(threads[k], NULL);
        if (good && !workers[k].good)
            *n = workers[k].n;
        good = good && workers[k].good;
    }
    return good ? CHECK_PASSED : CHECK_FAILED;
}

const behaviour behaviours_threads[] = {
    {"threads", "share prepared operators that scale by 2 and 3", shared_operators, 0},
    {"threads", "prepare operators at once", prepared_at_once, 0},
    {NULL, NULL, NULL, 0}};
