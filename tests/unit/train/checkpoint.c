/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of one process. */
#include "tensors.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "train/checkpoint.h"
#include "train/folder.h"
#include "train/training.h"

enum { EPOCHS = 3, ALL = 1 << 20 };

static const training_plan usual = TRAINING_PLAN;

/* A run that nothing disturbs. */
static void run_whole(training *t)
{
    OK(training_open(&usual, t));
    OK(training_run(t, EPOCHS, ALL));
}

static void configure(training *t, int keep, int best, int asynchronous)
{
    axle_checkpoint_options o = AXLE_CHECKPOINT_OPTIONS_INIT;
    o.directory = folder;
    o.keep = keep;
    o.best = best;
    o.asynchronous = asynchronous;
    OK(axle_checkpoint_configure(t->acc, &o));
}

/* ------------------------------------------------------------------ coming back */

static void expect_same(const training *whole, const training *t, const int64_t *seen, int count)
{
    assert_int_equal(count, whole->count);
    assert_memory_equal(seen, whole->seen, (size_t)count * sizeof(*seen));
    assert_true(training_sum(whole) == training_sum(t));
    assert_int_equal(axle_optimizer_updates(t->opt), axle_optimizer_updates(whole->opt));
    assert_true(axle_optimizer_lr(t->opt, 0) == axle_optimizer_lr(whole->opt, 0));
    assert_int_equal(axle_scheduler_ticks(t->sched), axle_scheduler_ticks(whole->sched));
}

/* Runs of so many batches, each in new objects; 0 ends the list, and the last one goes to the end.
 */
static void resume(const int64_t *batches)
{
    training whole, t;
    int64_t seen[4096];
    int count = 0;
    run_whole(&whole);
    for (int k = 0; k == 0 || batches[k - 1]; k++) {
        OK(training_open(&usual, &t));
        if (k > 0)
            OK(axle_load_state(t.acc, in("state")));
        OK(training_run(&t, EPOCHS, batches[k] ? batches[k] : ALL));
        memcpy(seen + count, t.seen, (size_t)t.count * sizeof(*seen));
        count += t.count;
        if (batches[k]) {
            OK(axle_save_state(t.acc, in("state")));
            training_close(&t);
        }
    }
    expect_same(&whole, &t, seen, count);
    assert_int_equal(entries(folder), 1);
    training_close(&t);
    training_close(&whole);
}

static void resumed_twice_in_an_epoch(void **state)
{
    (void)state;
    resume((const int64_t[]){16 + 5, 3, 0});
    resume((const int64_t[]){2, 0});
    resume((const int64_t[]){16 + 2, 1, 1, 20, 0});
}

static void resumed_between_epochs(void **state)
{
    (void)state;
    resume((const int64_t[]){16, 0});
    resume((const int64_t[]){32, 16, 0});
}

static void rest_of_the_epoch_comes(void **state)
{
    (void)state;
    training t, u;
    bool given[64] = {false};
    axle_loader_state at;
    OK(training_open(&usual, &t));
    OK(training_run(&t, EPOCHS, 16 + 2));
    at = axle_loader_get_state(t.loader);
    assert_int_equal(at.epoch, 1);
    assert_int_equal(at.samples, 8);
    for (int k = 64; k < t.count; k++)
        given[t.seen[k]] = true;
    OK(training_open(&usual, &u));
    OK(axle_loader_set_state(u.loader, &at));
    OK(training_run(&u, 2, ALL));
    assert_int_equal(u.count, 56);
    for (int k = 0; k < u.count; k++) {
        assert_false(given[u.seen[k]]);
        given[u.seen[k]] = true;
    }
    training_close(&u);
    training_close(&t);
}

/* 3 batches of 4 were given; batches of 5 go on with sample 12. */
static void another_batch_size_goes_on(void **state)
{
    (void)state;
    training whole, t;
    training_plan fives = usual;
    fives.batch = 5;
    run_whole(&whole);
    OK(training_open(&usual, &t));
    OK(training_run(&t, 1, 3));
    OK(axle_save_state(t.acc, in("state")));
    training_close(&t);
    OK(training_open(&fives, &t));
    OK(axle_load_state(t.acc, in("state")));
    OK(training_run(&t, 2, ALL));
    assert_int_equal(t.count, 52 + 64);
    assert_memory_equal(t.seen, whole.seen + 12, (52 + 64) * sizeof(int64_t));
    training_close(&t);
    training_close(&whole);
}

static void foreign_loaders_are_refused(void **state)
{
    (void)state;
    training t;
    axle_loader_state s;
    OK(training_open(&usual, &t));
    s = axle_loader_get_state(t.loader);
    s.length = 63;
    assert_int_equal(axle_loader_set_state(t.loader, &s), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "63 samples");
    s = axle_loader_get_state(t.loader);
    s.shuffle = 0;
    assert_int_equal(axle_loader_set_state(t.loader, &s), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "shuffles not");
    s.shuffle = 1;
    s.samples = 65;
    assert_int_equal(axle_loader_set_state(t.loader, &s), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "65 of 64");
    training_close(&t);
}

/* An evaluation inside the loop, and a save inside the evaluation, change nothing. */
static void saved_inside_an_evaluation(void **state)
{
    (void)state;
    training whole, t;
    axle_loader *inner;
    axle_batch *batch;
    axle_loader_options l = AXLE_LOADER_OPTIONS_INIT;
    l.batch_size = 30;
    run_whole(&whole);
    for (int k = 0; k < 2; k++) {
        OK(training_open(&usual, &t));
        OK(axle_loader_create(t.set, &l, &inner));
        OK(axle_prepare(t.acc, inner));
        if (k == 1)
            OK(axle_load_state(t.acc, in("state")));
        OK(training_run(&t, EPOCHS, k ? ALL : 20));
        for (int j = 0; k == 0 && axle_loader_next(inner, &batch); j++)
            if (j == 1)
                OK(axle_save_state(t.acc, in("state")));
        axle_loader_release(inner);
        if (k == 0)
            training_close(&t);
    }
    assert_true(training_sum(&whole) == training_sum(&t));
    training_close(&t);
    training_close(&whole);
}

/* ------------------------------------------------------------------ when not to */

static void nothing_prepared_is_an_error(void **state)
{
    (void)state;
    axle_accelerator *acc;
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    o.backend = "reference";
    OK(axle_accelerator_create(&o, &acc));
    assert_int_equal(axle_load_state(acc, folder), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "nothing was prepared");
    assert_int_equal(axle_save_state(acc, in("state")), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "nothing was prepared");
    axle_accelerator_release(acc);
    assert_int_equal(entries(folder), 0);
}

static void windows_are_not_cut(void **state)
{
    (void)state;
    training t;
    training_plan p = usual;
    p.accumulate = 3;
    OK(training_open(&p, &t));
    OK(training_run(&t, 1, 4));
    assert_int_equal(axle_save_state(t.acc, in("state")), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "1 batches of a window of 3");
    OK(training_run(&t, 1, 2));
    OK(axle_save_state(t.acc, in("state")));
    training_close(&t);
}

static void absence_is_told(void **state)
{
    (void)state;
    training t;
    char *path = NULL;
    OK(training_open(&usual, &t));
    assert_int_equal(axle_load_state(t.acc, NULL), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "none was configured");
    assert_int_equal(axle_save_state(t.acc, NULL), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "none was configured");
    assert_int_equal(axle_load_state(t.acc, in("missing")), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "missing");
    assert_int_equal(axle_latest_checkpoint(folder, &path), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, folder);
    assert_null(path);
    training_close(&t);
}

static void other_folders_stay(void **state)
{
    (void)state;
    training t;
    assert_int_equal(mkdir(in("thesis"), 0777), 0);
    assert_int_equal(mkdir(in("thesis/chapter"), 0777), 0);
    OK(training_open(&usual, &t));
    assert_int_equal(axle_save_state(t.acc, in("thesis")), AXLE_ERR_IO);
    unit_expect_error(AXLE_ERR_IO, "is no checkpoint");
    assert_true(exists("thesis/chapter"));
    training_close(&t);
}

/* ------------------------------------------------------------------ the program's own */

static int save_number(axle_state_writer *writer, void *user)
{
    return axle_state_write(writer, user, sizeof(int));
}

static int load_number(const void *bytes, size_t size, void *user)
{
    if (size != sizeof(int))
        return AXLE_ERR_FORMAT;
    memcpy(user, bytes, size);
    return *(int *)user == 13 ? AXLE_ERR_INVALID : AXLE_OK;
}

static void registered_state_comes_back(void **state)
{
    (void)state;
    axle_state_callbacks both = AXLE_STATE_CALLBACKS_INIT, none = both;
    training t;
    int number = 42;
    both.save = save_number;
    both.load = load_number;
    OK(training_open(&usual, &t));
    assert_int_equal(axle_register_state(t.acc, "number", &none, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "'number' comes without save");
    none.save = save_number;
    assert_int_equal(axle_register_state(t.acc, "number", &none, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "'number' comes without load");
    assert_int_equal(axle_register_state(t.acc, "../number", &both, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "../number");
    OK(axle_register_state(t.acc, "number", &both, &number));
    assert_int_equal(axle_register_state(t.acc, "number", &both, &number), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "registered already");
    OK(axle_save_state(t.acc, in("state")));
    number = 0;
    OK(axle_load_state(t.acc, in("state")));
    assert_int_equal(number, 42);
    training_close(&t);
}

static void unknown_state_is_named(void **state)
{
    (void)state;
    axle_state_callbacks both = {sizeof(both), save_number, load_number};
    training with, without;
    int number = 1;
    OK(training_open(&usual, &with));
    OK(training_open(&usual, &without));
    OK(axle_register_state(with.acc, "number", &both, &number));
    OK(axle_save_state(with.acc, in("with")));
    OK(axle_save_state(without.acc, in("without")));
    assert_int_equal(axle_load_state(with.acc, in("without")), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "no state of 'number'");
    assert_int_equal(axle_load_state(without.acc, in("with")), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "'number', which is not registered");
    training_close(&with);
    training_close(&without);
}

static void state_that_is_refused_changes_nothing(void **state)
{
    (void)state;
    axle_state_callbacks both = {sizeof(both), save_number, load_number};
    training t;
    int number = 13;
    OK(training_open(&usual, &t));
    OK(axle_register_state(t.acc, "number", &both, &number));
    OK(axle_save_state(t.acc, in("state")));
    OK(training_run(&t, 1, 2));
    uint64_t before = training_sum(&t);
    assert_int_equal(axle_load_state(t.acc, in("state")), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "'number': its load returned");
    assert_true(training_sum(&t) == before);
    assert_int_equal(axle_optimizer_updates(t.opt), 2);
    training_close(&t);
}

/* ------------------------------------------------------------------ regular saving */

static void save_regularly(training *t, int64_t batches, const double *metric)
{
    axle_batch *batch;
    int saved;
    for (int64_t k = 0; k < batches; k++) {
        assert_true(axle_loader_next(t->loader, &batch));
        OK(training_batch(t, batch));
        OK(axle_checkpoint_step(t->acc, metric ? metric[k] : NAN, &saved));
        assert_int_equal(saved, (k + 1) % 2 == 0);
    }
}

static void the_last_are_kept(void **state)
{
    (void)state;
    training t;
    axle_checkpoint_options o = AXLE_CHECKPOINT_OPTIONS_INIT;
    char *latest;
    o.directory = folder;
    o.every = 2;
    o.keep = 1;
    OK(training_open(&usual, &t));
    OK(axle_checkpoint_configure(t.acc, &o));
    save_regularly(&t, 7, NULL);
    assert_int_equal(entries(folder), 1);
    assert_true(exists("step-00000006"));
    OK(axle_latest_checkpoint(folder, &latest));
    assert_string_equal(latest, in("step-00000006"));
    axle_free(latest);
    training_close(&t);
}

static void the_best_is_kept(void **state)
{
    (void)state;
    static const double metric[] = {0, 5, 0, 2, 0, 3, 0, 9, 0, 4};
    training t;
    axle_checkpoint_options o = AXLE_CHECKPOINT_OPTIONS_INIT;
    o.directory = folder;
    o.every = 2;
    o.keep = 1;
    for (int best = AXLE_BEST_MIN; best <= AXLE_BEST_MAX; best++) {
        o.best = best;
        OK(training_open(&usual, &t));
        OK(axle_checkpoint_configure(t.acc, &o));
        save_regularly(&t, 10, metric);
        assert_int_equal(entries(folder), 2);
        assert_true(exists("step-00000010"));
        assert_true(exists(best == AXLE_BEST_MIN ? "step-00000004" : "step-00000008"));
        training_close(&t);
        remove_all(in("step-00000004"));
        remove_all(in("step-00000008"));
        remove_all(in("step-00000010"));
    }
}

/* A training that begins anew, where an older one got further, is not confused with it. */
static void the_newest_need_not_be_the_furthest(void **state)
{
    (void)state;
    training t;
    char *latest;
    for (int run = 0; run < 2; run++) {
        OK(training_open(&usual, &t));
        configure(&t, 1, AXLE_BEST_NONE, 0);
        OK(training_run(&t, 1, run ? 2 : 9));
        OK(axle_save_state(t.acc, NULL));
        training_close(&t);
    }
    OK(axle_latest_checkpoint(folder, &latest));
    assert_string_equal(latest, in("step-00000002"));
    axle_free(latest);
    assert_int_equal(entries(folder), 1);
}

static void leftovers_of_the_dead_are_removed(void **state)
{
    (void)state;
    training t;
    char living[64], dead[64];
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    snprintf(dead, sizeof(dead), ".step-00000010.tmp-%ld", (long)pid);
    snprintf(living, sizeof(living), ".step-00000010.tmp-%ld", (long)getppid());
    assert_int_equal(mkdir(in(dead), 0777), 0);
    assert_int_equal(mkdir(in(living), 0777), 0);
    OK(training_open(&usual, &t));
    configure(&t, 0, AXLE_BEST_NONE, 0);
    assert_false(exists(dead));
    assert_true(exists(living));
    training_close(&t);
}

/* ------------------------------------------------------------------ asynchronous saving */

typedef struct heard {
    int count, status;
    char path[512];
} heard;

static void hear(const char *path, int status, const char *message, void *user)
{
    heard *h = user;
    (void)message;
    snprintf(h->path, sizeof(h->path), "%s", path);
    h->status = status;
    h->count++;
}

static void training_goes_on_meanwhile(void **state)
{
    (void)state;
    training whole, t;
    heard told = {0};
    axle_checkpoint_options o = AXLE_CHECKPOINT_OPTIONS_INIT;
    o.directory = folder;
    o.asynchronous = 1;
    o.committed = hear;
    o.user = &told;
    run_whole(&whole);
    OK(training_open(&usual, &t));
    OK(axle_checkpoint_configure(t.acc, &o));
    for (int k = 0; k < 4; k++) {
        OK(training_run(&t, EPOCHS, 5));
        OK(axle_save_state(t.acc, NULL));
    }
    OK(training_run(&t, EPOCHS, 5));
    OK(axle_checkpoint_wait(t.acc));
    assert_false(axle_checkpoint_pending(t.acc));
    assert_int_equal(told.count, 4);
    assert_int_equal(told.status, AXLE_OK);
    assert_string_equal(told.path, in("step-00000020"));
    training_close(&t);
    OK(training_open(&usual, &t));
    OK(axle_load_state(t.acc, folder));
    assert_int_equal(axle_optimizer_updates(t.opt), 20);
    OK(training_run(&t, EPOCHS, ALL));
    assert_true(training_sum(&t) == training_sum(&whole));
    training_close(&t);
    training_close(&whole);
}

/* The memory that was reserved is that which snapshots take, no less and no more. */
static void memory_waits_for_the_first(void **state)
{
    (void)state;
    training t;
    axle_checkpoint_options o = AXLE_CHECKPOINT_OPTIONS_INIT;
    o.directory = folder;
    o.every = 2;
    o.asynchronous = 1;
    OK(training_open(&usual, &t));
    OK(axle_checkpoint_configure(t.acc, &o));
    axle__rooms *rooms = &t.acc->checkpoints->rooms;
    assert_int_equal(rooms->count, 2);
    void *model = rooms->at[0].data, *moments = rooms->at[1].data;
    save_regularly(&t, 4, NULL);
    OK(axle_checkpoint_wait(t.acc));
    assert_int_equal(rooms->count, 2);
    assert_ptr_equal(rooms->at[0].data, model);
    assert_ptr_equal(rooms->at[1].data, moments);
    training_close(&t);
}

static void the_end_waits(void **state)
{
    (void)state;
    training t;
    OK(training_open(&usual, &t));
    configure(&t, 0, AXLE_BEST_NONE, 1);
    OK(training_run(&t, 1, 3));
    OK(axle_save_state(t.acc, NULL));
    OK(axle_end_training(t.acc));
    assert_true(exists("step-00000003/state.json"));
    training_close(&t);
}

/* ------------------------------------------------------------------ a disk that fails */

/* Files of more than so many bytes fail. */
static void limit_files(rlim_t most)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = most;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_failed_save_harms_nothing(void **state)
{
    (void)state;
    training whole, t;
    run_whole(&whole);
    for (int asynchronous = 0; asynchronous < 2; asynchronous++) {
        OK(training_open(&usual, &t));
        configure(&t, 1, AXLE_BEST_NONE, asynchronous);
        OK(training_run(&t, EPOCHS, 10));
        OK(axle_save_state(t.acc, NULL));
        OK(axle_checkpoint_wait(t.acc));
        OK(training_run(&t, EPOCHS, 5));
        limit_files(100);
        int status = axle_save_state(t.acc, NULL);
        if (asynchronous) {
            OK(status);
            status = axle_checkpoint_wait(t.acc);
        }
        limit_files(RLIM_INFINITY);
        assert_int_equal(status, AXLE_ERR_IO);
        unit_expect_error(AXLE_ERR_IO, "step-00000015");
        assert_int_equal(entries(folder), 1);
        assert_true(exists("step-00000010"));
        OK(training_run(&t, EPOCHS, ALL));
        assert_true(training_sum(&t) == training_sum(&whole));
        OK(axle_load_state(t.acc, NULL));
        assert_int_equal(axle_optimizer_updates(t.opt), 10);
        training_close(&t);
        remove_all(in("step-00000010"));
    }
    training_close(&whole);
}

/* ------------------------------------------------------------------ memory that runs out */

static void saving_survives_exhaustion(void **state)
{
    (void)state;
    training t;
    int failures = 0;
    OK(training_open(&usual, &t));
    OK(training_run(&t, 1, 2));
    OK(axle_save_state(t.acc, in("first")));
    for (long n = 1;; n++) {
        axle__alloc_fail_at(n);
        int status = axle_save_state(t.acc, in("state"));
        bool failed = axle__alloc_failed();
        axle__alloc_fail_at(0);
        if (!failed) {
            OK(status);
            break;
        }
        if (status) {
            failures++;
            assert_int_equal(status, AXLE_ERR_NOMEM);
            assert_int_equal(axle_error_code(), AXLE_ERR_NOMEM);
        }
        axle_error_clear();
        remove_all(in("state"));
    }
    assert_true(failures > 20);
    assert_int_equal(entries(folder), 2);
    OK(axle_load_state(t.acc, in("state")));
    training_close(&t);
}

static void loading_survives_exhaustion(void **state)
{
    (void)state;
    training t;
    int failures = 0;
    OK(training_open(&usual, &t));
    OK(training_run(&t, 1, 2));
    OK(axle_save_state(t.acc, in("step-00000002")));
    OK(training_run(&t, 1, 1));
    uint64_t before = training_sum(&t);
    for (long n = 1;; n++) {
        axle__alloc_fail_at(n);
        int status = axle_load_state(t.acc, folder);
        bool failed = axle__alloc_failed();
        axle__alloc_fail_at(0);
        if (!failed) {
            OK(status);
            break;
        }
        if (status) {
            failures++;
            assert_int_equal(status, AXLE_ERR_NOMEM);
            assert_true(training_sum(&t) == before);
            assert_int_equal(axle_optimizer_updates(t.opt), 3);
            axle_error_clear();
        } else {
            OK(training_run(&t, 1, 1));
        }
        axle_error_clear();
    }
    assert_true(failures > 20);
    assert_int_equal(axle_optimizer_updates(t.opt), 2);
    training_close(&t);
}

static const struct CMUnitTest tests[] = {
    CHECKPOINT("a training resumed twice in an epoch is the undisturbed one",
               resumed_twice_in_an_epoch),
    CHECKPOINT("so is one resumed between two epochs", resumed_between_epochs),
    CHECKPOINT("a loader's state in the second epoch gives what was not seen",
               rest_of_the_epoch_comes),
    CHECKPOINT("another batch size goes on with the next sample", another_batch_size_goes_on),
    CHECKPOINT("a state of another loader is refused", foreign_loaders_are_refused),
    CHECKPOINT("a save inside an evaluation inside the loop is as good",
               saved_inside_an_evaluation),
    CHECKPOINT("with nothing prepared there is nothing to save or load",
               nothing_prepared_is_an_error),
    CHECKPOINT("a save inside a window is an error", windows_are_not_cut),
    CHECKPOINT("what is not there is told", absence_is_told),
    CHECKPOINT("a folder with something else in it is not replaced", other_folders_stay),
    CHECKPOINT("registered state comes back", registered_state_comes_back),
    CHECKPOINT("state that only one side knows is named", unknown_state_is_named),
    CHECKPOINT("registered state that is refused changes nothing",
               state_that_is_refused_changes_nothing),
    CHECKPOINT("the last checkpoints are kept", the_last_are_kept),
    CHECKPOINT("the best is kept, too", the_best_is_kept),
    CHECKPOINT("the newest checkpoint need not be the furthest",
               the_newest_need_not_be_the_furthest),
    CHECKPOINT("what dead processes left is removed", leftovers_of_the_dead_are_removed),
    CHECKPOINT("training goes on while a checkpoint is written", training_goes_on_meanwhile),
    CHECKPOINT("memory for the first snapshot is looked for ahead", memory_waits_for_the_first),
    CHECKPOINT("the end of training waits for the writer", the_end_waits),
    CHECKPOINT("a save that fails leaves the last one, and training goes on",
               a_failed_save_harms_nothing),
    CHECKPOINT("saving survives each failed allocation", saving_survives_exhaustion),
    CHECKPOINT("loading survives each failed allocation, unchanged", loading_survives_exhaustion),
};

UNIT_MAIN(tests)
