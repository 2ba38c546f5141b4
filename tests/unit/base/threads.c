/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "base/threads.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/settings.h"
#include "unit/unit.h"

enum { LENGTH = 10000, PIECES = 64 };

/* What a job saw: how often each item was done, and where pieces began. */
typedef struct record {
    unsigned char done[LENGTH];
    int64_t begin[PIECES], end[PIECES];
} record;

static void note(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    record *record = arg;
    record->begin[worker] = begin;
    record->end[worker] = end;
    for (int64_t k = begin; k < end; k++)
        record->done[k]++;
}

static void use_threads(const char *count)
{
    axle__threads_stop();
    setenv("AXLE_THREADS", count, 1);
    axle__settings_reset();
}

static void assert_done_once(const record *record, int64_t n)
{
    for (int64_t k = 0; k < LENGTH; k++)
        assert_int_equal(record->done[k], k < n);
}

static void every_item_is_done_once(void **state)
{
    (void)state;
    static const int64_t lengths[] = {0, 1, 2, 3, 4, 5, 63, 64, 1000, LENGTH};
    static const int64_t grains[] = {-1, 0, 1, 2, 7, 100000};
    use_threads("4");
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        for (size_t j = 0; j < sizeof(grains) / sizeof(grains[0]); j++) {
            record record = {{0}, {0}, {0}};
            axle__parallel_for(lengths[i], grains[j], note, &record);
            assert_done_once(&record, lengths[i]);
        }
}

static void pieces_are_always_the_same(void **state)
{
    (void)state;
    use_threads("4");
    record first = {{0}, {0}, {0}};
    axle__parallel_for(1003, 10, note, &first);
    assert_int_equal(first.begin[0], 0);
    assert_int_equal(first.end[0], 251);
    assert_int_equal(first.end[3], 1003);
    for (int k = 0; k < 200; k++) {
        record again = {{0}, {0}, {0}};
        axle__parallel_for(1003, 10, note, &again);
        assert_memory_equal(first.begin, again.begin, sizeof(first.begin));
        assert_memory_equal(first.end, again.end, sizeof(first.end));
    }
}

static void grain_bounds_pieces(void **state)
{
    (void)state;
    use_threads("4");
    record record = {{0}, {0}, {0}};
    axle__parallel_for(100, 40, note, &record);
    assert_int_equal(record.end[0], 50);
    assert_int_equal(record.end[1], 100);
    assert_int_equal(record.end[2], 0);
}

typedef struct nest {
    record inner[4];
} nest;

static void note_inner(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    nest *nest = arg;
    (void)worker;
    for (int64_t k = begin; k < end; k++)
        axle__parallel_for(1000, 1, note, &nest->inner[k]);
}

static void calls_nest(void **state)
{
    (void)state;
    static nest nest;
    use_threads("4");
    memset(&nest, 0, sizeof(nest));
    axle__parallel_for(4, 1, note_inner, &nest);
    for (int k = 0; k < 4; k++) {
        assert_done_once(&nest.inner[k], 1000);
        assert_int_equal(nest.inner[k].end[0], 250);
    }
}

static void *call_often(void *arg)
{
    record *record = arg;
    for (int k = 0; k < 200; k++)
        axle__parallel_for(1000, 1, note, record);
    return NULL;
}

static void callers_do_not_mix(void **state)
{
    (void)state;
    static record records[4];
    pthread_t threads[4];
    use_threads("3");
    memset(records, 0, sizeof(records));
    for (int k = 0; k < 4; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, call_often, &records[k]), 0);
    for (int k = 0; k < 4; k++)
        pthread_join(threads[k], NULL);
    for (int k = 0; k < 4; k++)
        for (int item = 0; item < 1000; item++)
            assert_int_equal(records[k].done[item], 200);
}

static void sleepers_wake(void **state)
{
    (void)state;
    use_threads("4");
    for (int k = 0; k < 30; k++) {
        record record = {{0}, {0}, {0}};
        axle__parallel_for(1000, 1, note, &record);
        assert_done_once(&record, 1000);
        usleep(200 * (unsigned)(k % 5));
    }
}

static void child_of_fork_works_alone(void **state)
{
    (void)state;
    use_threads("4");
    record record = {{0}, {0}, {0}};
    axle__parallel_for(1000, 1, note, &record);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        memset(&record, 0, sizeof(record));
        axle__parallel_for(1000, 1, note, &record);
        int good = record.end[3] == 1000 && record.begin[1] == 250;
        for (int k = 0; k < 1000; k++)
            good = good && record.done[k] == 1;
        axle__threads_stop();
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void count_is_the_users(void **state)
{
    (void)state;
    setenv("OMP_NUM_THREADS", "5,2", 1);
    use_threads("3");
    assert_int_equal(axle__worker_count(), 3);
    use_threads("0");
    assert_int_equal(axle__worker_count(), 5);
    setenv("OMP_NUM_THREADS", "nonsense", 1);
    use_threads("0");
    assert_int_equal(axle__worker_count(), axle__usable_cores(NULL));
    unsetenv("OMP_NUM_THREADS");
    use_threads("0");
    assert_int_equal(axle__worker_count(), axle__usable_cores(NULL));
    use_threads("100000");
    assert_true(axle__worker_count() <= 1024);
}

static void pool_starts_again(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        use_threads("3");
        record record = {{0}, {0}, {0}};
        axle__parallel_for(1000, 1, note, &record);
        assert_done_once(&record, 1000);
    }
    axle__threads_stop();
    axle__threads_stop();
}

static const struct CMUnitTest tests[] = {
    UNIT("every item is done once", every_item_is_done_once),
    UNIT("the pieces of a job are always the same", pieces_are_always_the_same),
    UNIT("no piece is smaller than the grain", grain_bounds_pieces),
    UNIT("a call inside a call is done by its thread, in the same pieces", calls_nest),
    UNIT("calls of several threads do not mix", callers_do_not_mix),
    UNIT("workers that fell asleep wake", sleepers_wake),
    UNIT("a child of fork works alone", child_of_fork_works_alone),
    UNIT("the user's number of threads is kept", count_is_the_users),
    UNIT("a pool that was stopped starts again", pool_starts_again),
};
UNIT_MAIN(tests)
