/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots form a ring: ticket t lies in slot t % depth, and a worker draws it only when the batch
 * `depth` tickets before was taken. Where the workers are ahead, taking a batch is one atomic load
 * of the slot and one store of the count; locks are for those who sleep.
 *
 * A worker does not sleep past its signal, since both sides write first and look then (sequentially
 * consistent): it sets `idle` and looks at `taken`, while the consumer raises `taken` and looks at
 * `idle`. The consumer, when it has to sleep, does so with the lock that workers take after each
 * batch.
 */
#include <config.h>

#include "data/prefetch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "axle/status.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/threads.h"

/* Waking a thread costs ten microseconds. With few slots, where making a batch may take long,
 * workers are woken at once; with as many as this, when most are free. */
enum { WAKE_LATE_FROM = 16 };

/* Looks at a slot before going to sleep: some ten microseconds, less than being woken takes. */
enum { SPIN = 400 };

typedef struct slot {
    _Atomic int64_t full;      /* ticket + 1 once the rest is there; 0: empty */
    axle_batch *batch;         /* NULL on error */
    axle__error_record *error; /* NULL with an error means that memory ran out */
} slot;

struct axle__prefetch {
    axle__make_fn make;
    void *user;
    int depth;
    int wake_every; /* tickets: sleeping workers are woken at their multiples */
    bool spin;      /* there is another core that may work meanwhile */
    slot *slots;
    unsigned generation; /* of the process */

    _Atomic int64_t taken; /* tickets below it were taken */
    atomic_bool idle;      /* some worker sleeps for want of a free slot */

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t work, ready, calm;
    int64_t next, end; /* tickets not yet drawn */
    int busy;          /* workers in the middle of a batch */
    bool waiting;      /* the consumer sleeps */
    bool quit;
    int workers;
    pthread_t threads[];
};

/* ---- fork */

/* How many forks lie between the first process and this one. */
static atomic_uint generation;

static void count_fork(void)
{
    atomic_fetch_add(&generation, 1);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

bool axle__prefetch_is_lost(const axle__prefetch *prefetch)
{
    return prefetch->generation != atomic_load(&generation);
}

/* ---- workers */

static bool may_draw(axle__prefetch *p)
{
    return p->next < p->end && p->next < atomic_load(&p->taken) + p->depth;
}

/* Wait until there is a ticket to draw; with the lock. False: it is time to go. */
static bool wait_for_work(axle__prefetch *p)
{
    while (!p->quit && !may_draw(p)) {
        atomic_store(&p->idle, p->next < p->end);
        if (may_draw(p))
            break;
        pthread_cond_wait(&p->work, &p->lock);
    }
    return !p->quit;
}

/* This thread's error, moved to memory of its own. */
static axle__error_record *take_error(int code)
{
    axle__error_record *error = axle__alloc(1, sizeof(*error));
    axle__error_record record;
    axle__error_take(&record);
    if (!error)
        return NULL;
    *error = record;
    if (!error->code)
        error->code = code;
    return error;
}

static void fill_slot(axle__prefetch *p, int64_t ticket)
{
    slot *s = &p->slots[ticket % p->depth];
    axle_batch *batch = NULL;
    axle_error_clear();
    int code = p->make(p->user, ticket, &batch);
    s->batch = code ? NULL : batch;
    s->error = code ? take_error(code) : NULL;
    atomic_store(&s->full, ticket + 1);
}

static void *work(void *argument)
{
    axle__prefetch *p = argument;
    pthread_mutex_lock(&p->lock);
    while (wait_for_work(p)) {
        int64_t ticket = p->next++;
        p->busy++;
        pthread_mutex_unlock(&p->lock);
        fill_slot(p, ticket);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0)
            pthread_cond_signal(&p->calm);
        if (p->waiting)
            pthread_cond_signal(&p->ready);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static int start_threads(axle__prefetch *p, int wanted)
{
    while (p->workers < wanted) {
        int failure = axle__thread_start(&p->threads[p->workers], work, p);
        p->workers += failure == 0;
        if (!failure)
            continue;
        if (p->workers == 0)
            return axle_error_set(AXLE_ERR_NOMEM, "loader: cannot start a thread: %s",
                                  strerror(failure));
        axle__warn("loader", "%d of %d threads started: %s", p->workers, wanted, strerror(failure));
        break;
    }
    return AXLE_OK;
}

/* ---- life time */

int axle__prefetch_create(int workers, int depth, axle__make_fn make, void *user,
                          axle__prefetch **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    axle__prefetch *p = axle__alloc(1, sizeof(*p) + (size_t)workers * sizeof(pthread_t));
    if (!p)
        return AXLE_ERR_NOMEM;
    p->slots = axle__alloc((size_t)depth, sizeof(*p->slots));
    if (!p->slots) {
        axle__free(p);
        return AXLE_ERR_NOMEM;
    }
    p->make = make;
    p->user = user;
    p->depth = depth;
    p->wake_every = depth >= WAKE_LATE_FROM ? depth * 3 / 4 : 1;
    p->spin = axle__usable_cores(NULL) > 1;
    p->generation = atomic_load(&generation);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->ready, NULL);
    pthread_cond_init(&p->calm, NULL);
    int code = start_threads(p, workers);
    if (code) {
        axle__prefetch_destroy(p);
        return code;
    }
    *out = p;
    return AXLE_OK;
}

void axle__prefetch_destroy(axle__prefetch *p)
{
    if (!p)
        return;
    axle__prefetch_stop(p);
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int k = 0; k < p->workers; k++)
        pthread_join(p->threads[k], NULL);
    pthread_cond_destroy(&p->calm);
    pthread_cond_destroy(&p->ready);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    axle__free(p->slots);
    axle__free(p);
}

/* ---- the consumer */

static void wake_workers(axle__prefetch *p)
{
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->idle, false);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
}

void axle__prefetch_start(axle__prefetch *p, int64_t first, int64_t end)
{
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->taken, first);
    atomic_store(&p->idle, false);
    p->next = first;
    p->end = end;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
}

static void empty_slot(slot *s)
{
    axle_batch_release(s->batch);
    axle__free(s->error);
    s->batch = NULL;
    s->error = NULL;
    atomic_store(&s->full, 0);
}

void axle__prefetch_stop(axle__prefetch *p)
{
    pthread_mutex_lock(&p->lock);
    p->end = p->next;
    while (p->busy)
        pthread_cond_wait(&p->calm, &p->lock);
    for (int k = 0; k < p->depth; k++)
        empty_slot(&p->slots[k]);
    pthread_mutex_unlock(&p->lock);
}

static bool is_full(const slot *s, int64_t ticket)
{
    return atomic_load(&s->full) == ticket + 1;
}

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void wait_for_slot(axle__prefetch *p, const slot *s, int64_t ticket)
{
    for (int k = 0; p->spin && k < SPIN; k++) {
        if (is_full(s, ticket))
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&p->lock);
    p->waiting = true;
    while (!is_full(s, ticket))
        pthread_cond_wait(&p->ready, &p->lock);
    p->waiting = false;
    pthread_mutex_unlock(&p->lock);
}

/* Make a worker's error this thread's. */
static int pass_error_on(slot *s)
{
    if (!s->error)
        return axle_error_set(AXLE_ERR_NOMEM, "loader: no memory for a worker's error");
    return axle_error_set(s->error->code, "%s", s->error->message);
}

int axle__prefetch_take(axle__prefetch *p, axle_batch **out)
{
    int64_t ticket = atomic_load(&p->taken);
    slot *s = &p->slots[ticket % p->depth];
    if (!is_full(s, ticket))
        wait_for_slot(p, s, ticket);
    int code = s->batch ? AXLE_OK : pass_error_on(s);
    if (!code) {
        *out = s->batch;
        s->batch = NULL;
    }
    empty_slot(s);
    atomic_store(&p->taken, ticket + 1);
    if (atomic_load(&p->idle) && (ticket + 1) % p->wake_every == 0)
        wake_workers(p);
    return code;
}
