/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker pool. A job is cut into contiguous pieces by its length, its grain and the number of
 * workers alone; who runs a piece does not matter. So results are the same whether the pool does a
 * job or, because the pool is taken, was left behind by fork() or got fewer threads than it asked
 * for, the caller does it piece by piece. The caller also does what sleeping workers are too late
 * for.
 *
 * A job has a number. Threads claim its pieces from a counter that holds the number, too, so that
 * one who is late claims nothing of the next job; and since the caller waits for all pieces that
 * were claimed, who holds a claim may look at the job. Who waits, spins for a moment, since work
 * comes in bursts, and sleeps then.
 */
#define _GNU_SOURCE 1
#include "base/threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"

enum { WORKERS_MAX = 1024, PIECE_BITS = 16, PIECE_MASK = (1 << PIECE_BITS) - 1, SPIN_NS = 30000 };

typedef struct job {
    int64_t n, pieces;
    axle_body body;
    void *arg;
} job;

static struct {
    pthread_mutex_t lock;          /* around sleeping and waking */
    pthread_cond_t wake, finished; /* for workers; for the caller */
    atomic_uint_fast64_t ticket;   /* of the last job: its number, then its pieces */
    atomic_uint_fast64_t claims;   /* its number, then the next piece to claim */
    atomic_int pending;            /* pieces that are not finished */
    atomic_int sleepers;           /* workers that sleep or are about to */
    atomic_bool caller_sleeps;
    atomic_bool busy; /* a job runs, or the pool starts or stops */
    atomic_bool stop;
    job job;
    bool started;
    int spin_ns;
    int helpers; /* threads beside the caller */
    pthread_t threads[WORKERS_MAX];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER,
          .finished = PTHREAD_COND_INITIALIZER};

static atomic_int worker_count;
static atomic_bool forked;        /* this is a child of fork(): the threads stayed behind */
static _Thread_local bool inside; /* this thread runs a piece */

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

/* The first number of OMP_NUM_THREADS, which may be a list with one for each level; 0 if none. */
static int64_t omp_threads(void)
{
    const char *text = getenv("OMP_NUM_THREADS");
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;
    return text && end != text && value > 0 ? value : 0;
}

static int wanted_workers(void)
{
    int64_t count = axle__setting_integer(AXLE_SETTING_THREADS);
    if (count < 0)
        axle__warn("threads", "AXLE_THREADS=%lld is negative; the usable cores are counted",
                   (long long)count);
    if (count <= 0)
        count = omp_threads();
    if (count <= 0)
        count = axle__usable_cores(NULL);
    return count < WORKERS_MAX ? (int)count : WORKERS_MAX;
}

int axle__worker_count(void)
{
    int count = atomic_load_explicit(&worker_count, memory_order_relaxed);
    if (count == 0) {
        count = wanted_workers();
        atomic_store(&worker_count, count);
    }
    return count;
}

/* Piece k of a job; the first n % pieces ones are longer by one. */
static void run_piece(const job *job, int64_t k)
{
    int64_t size = job->n / job->pieces, longer = job->n % job->pieces;
    int64_t begin = k * size + (k < longer ? k : longer);
    job->body(job->arg, begin, begin + size + (k < longer), (int32_t)k);
}

/* All pieces, on this thread. */
static void run_alone(const job *job)
{
    bool outer = inside;
    inside = true;
    for (int64_t k = 0; k < job->pieces; k++)
        run_piece(job, k);
    inside = outer;
}

/* Wait for a ticket that differs from `seen`. */
static uint_fast64_t next_ticket(uint_fast64_t seen)
{
    uint_fast64_t ticket = atomic_load_explicit(&pool.ticket, memory_order_acquire);
    for (int64_t end = 0; ticket == seen && pool.spin_ns > 0;) {
        for (int k = 0; k < 64 && ticket == seen; k++) {
            relax();
            ticket = atomic_load_explicit(&pool.ticket, memory_order_acquire);
        }
        int64_t now = axle__clock_ns();
        end = end ? end : now + pool.spin_ns;
        if (now >= end)
            break;
    }
    if (ticket != seen)
        return ticket;
    pthread_mutex_lock(&pool.lock);
    atomic_fetch_add(&pool.sleepers, 1);
    while ((ticket = atomic_load(&pool.ticket)) == seen)
        pthread_cond_wait(&pool.wake, &pool.lock);
    atomic_fetch_sub(&pool.sleepers, 1);
    pthread_mutex_unlock(&pool.lock);
    return ticket;
}

static void finish_piece(void)
{
    if (atomic_fetch_sub(&pool.pending, 1) != 1 || !atomic_load(&pool.caller_sleeps))
        return;
    pthread_mutex_lock(&pool.lock);
    pthread_cond_signal(&pool.finished);
    pthread_mutex_unlock(&pool.lock);
}

/* Claim and run pieces of the ticket's job until there are no more. */
static void work(uint_fast64_t ticket)
{
    uint_fast64_t claim = atomic_load(&pool.claims);
    while (claim >> PIECE_BITS == ticket >> PIECE_BITS &&
           (claim & PIECE_MASK) < (ticket & PIECE_MASK)) {
        if (!atomic_compare_exchange_weak(&pool.claims, &claim, claim + 1))
            continue;
        run_piece(&pool.job, (int64_t)(claim & PIECE_MASK));
        finish_piece();
        claim = atomic_load(&pool.claims);
    }
}

static void *worker_main(void *arg)
{
    (void)arg;
    inside = true;
    for (uint_fast64_t ticket = 0;;) {
        ticket = next_ticket(ticket);
        if (atomic_load_explicit(&pool.stop, memory_order_acquire))
            return NULL;
        work(ticket);
    }
}

/* Publish a job of some pieces; returns its ticket. */
static uint_fast64_t announce(int64_t pieces)
{
    uint_fast64_t number = (atomic_load(&pool.ticket) >> PIECE_BITS) + 1;
    uint_fast64_t ticket = number << PIECE_BITS | (uint_fast64_t)pieces;
    atomic_store(&pool.pending, (int)pieces);
    atomic_store(&pool.claims, number << PIECE_BITS);
    atomic_store(&pool.ticket, ticket);
    if (atomic_load(&pool.sleepers) > 0) {
        pthread_mutex_lock(&pool.lock);
        pthread_cond_broadcast(&pool.wake);
        pthread_mutex_unlock(&pool.lock);
    }
    return ticket;
}

static void wait_finished(void)
{
    int64_t end = 0;
    while (atomic_load_explicit(&pool.pending, memory_order_acquire) > 0) {
        for (int k = 0; k < 64 && atomic_load(&pool.pending) > 0; k++)
            relax();
        int64_t now = axle__clock_ns();
        end = end ? end : now + pool.spin_ns;
        if (now >= end)
            break;
    }
    if (atomic_load_explicit(&pool.pending, memory_order_acquire) == 0)
        return;
    pthread_mutex_lock(&pool.lock);
    atomic_store(&pool.caller_sleeps, true);
    while (atomic_load(&pool.pending) > 0)
        pthread_cond_wait(&pool.finished, &pool.lock);
    atomic_store(&pool.caller_sleeps, false);
    pthread_mutex_unlock(&pool.lock);
}

static void on_fork_child(void)
{
    atomic_store(&forked, true);
}

int axle__thread_start(pthread_t *out, void *(*body)(void *user), void *user)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(out, NULL, body, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

/* Fewer workers than wanted are only slower. */
static void start(void)
{
    static bool fork_watched;
    int count = axle__worker_count() - 1;
    if (!fork_watched)
        fork_watched = pthread_atfork(NULL, NULL, on_fork_child) == 0;
    atomic_store(&pool.stop, false);
    pool.spin_ns = count < axle__usable_cores(NULL) ? SPIN_NS : 0;
    pool.helpers = 0;
    pool.started = true;
    while (pool.helpers < count) {
        int k = pool.helpers;
        if (axle__thread_start(&pool.threads[k], worker_main, NULL) != 0)
            break;
        pthread_setname_np(pool.threads[k], "axle-worker");
        pool.helpers = k + 1;
    }
    if (pool.helpers < count)
        axle__warn("threads", "only %d of %d worker threads could be started", pool.helpers, count);
}

static void run_on_pool(const job *job)
{
    if (!pool.started)
        start();
    pool.job = *job;
    uint_fast64_t ticket = announce(job->pieces);
    inside = true;
    work(ticket);
    inside = false;
    wait_finished();
}

void axle__parallel_for(int64_t n, int64_t grain, axle_body body, void *arg)
{
    if (n <= 0)
        return;
    int64_t pieces = n / (grain > 0 ? grain : 1), workers = axle__worker_count();
    job job = {n, pieces < 1 ? 1 : pieces < workers ? pieces : workers, body, arg};
    if (job.pieces == 1 || inside || atomic_load_explicit(&forked, memory_order_relaxed) ||
        atomic_exchange_explicit(&pool.busy, true, memory_order_acquire)) {
        run_alone(&job);
        return;
    }
    run_on_pool(&job);
    atomic_store_explicit(&pool.busy, false, memory_order_release);
}

void axle__threads_stop(void)
{
    if (atomic_load(&forked))
        return;
    while (atomic_exchange_explicit(&pool.busy, true, memory_order_acquire))
        relax();
    if (pool.started) {
        atomic_store(&pool.stop, true);
        announce(0);
        for (int k = 0; k < pool.helpers; k++)
            pthread_join(pool.threads[k], NULL);
        pool.started = false;
        pool.helpers = 0;
    }
    atomic_store(&worker_count, 0);
    atomic_store_explicit(&pool.busy, false, memory_order_release);
}
