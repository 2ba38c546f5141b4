/* SPDX-License-Identifier: Apache-2.0 */
/* What a loop does together with other processes, besides training. */
#include <math.h>
#include <sys/stat.h>

#include "axle/axle.h"
#include "group/processes.h"

#define I64 AXLE_DTYPE_I64

static int open_accelerator(axle_accelerator **out)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    o.backend = "reference";
    o.quiet = 1;
    CHECK(axle_accelerator_create(&o, out) == AXLE_OK);
    return 0;
}

/* ------------------------------------------------------------------ each sample once */

typedef struct epoch {
    int64_t n, batch;
    int drop_last, shuffle;
    int64_t steps;    /* expected */
    int64_t gathered; /* expected */
} epoch;

static int make_numbers(axle_accelerator *acc, const epoch *e, axle_loader **out)
{
    const char *names[] = {"input"};
    axle_dataset *set;
    axle_loader_options o = AXLE_LOADER_OPTIONS_INIT;
    o.batch_size = e->batch;
    o.drop_last = e->drop_last;
    o.shuffle = e->shuffle;
    CHECK(axle_scope_push() == AXLE_OK);
    axle_tensor *ids[] = {axle_arange(I64, 0, (double)e->n, 1)};
    CHECK(axle_tensor_dataset_create(names, ids, 1, &set) == AXLE_OK);
    axle_scope_pop();
    CHECK(axle_loader_create(set, &o, out) == AXLE_OK);
    axle_dataset_release(set);
    /* Twice: the second time changes nothing. */
    CHECK(axle_prepare(acc, *out, *out) == AXLE_OK && axle_prepare(acc, *out) == AXLE_OK);
    return 0;
}

/* Append what is gathered of the batch under way. */
static int gather_ids(axle_accelerator *acc, axle_batch *batch, int64_t *ids, int64_t *count)
{
    axle_tensor *all = axle_gather_for_metrics(acc, axle_batch_get(batch, "input"));
    CHECK(all && *count + axle_tensor_count(all) <= 1000);
    size_t bytes = (size_t)axle_tensor_count(all) * sizeof(*ids);
    CHECK(axle_tensor_read(all, ids + *count, bytes) == AXLE_OK);
    *count += axle_tensor_count(all);
    return 0;
}

static int goes_through(axle_group *unused, void *user)
{
    (void)unused;
    const epoch *e = user;
    int64_t ids[1000], count = 0, steps = 0;
    bool seen[1000] = {false};
    axle_accelerator *acc;
    axle_loader *loader;
    axle_batch *batch;
    if (open_accelerator(&acc) || make_numbers(acc, e, &loader))
        return JOB_FAILED;
    CHECK(axle_loader_length(loader) == e->steps);
    while (axle_loader_next(loader, &batch)) {
        steps++;
        CHECK(axle_batch_rows(batch) > 0);
        CHECK(axle_loader_is_last(loader) == (steps == e->steps));
        if (gather_ids(acc, batch, ids, &count))
            return JOB_FAILED;
    }
    CHECK(axle_loader_status(loader) == AXLE_OK);
    CHECK(steps == e->steps && count == e->gathered);
    for (int64_t k = 0; k < count; k++) {
        CHECK(ids[k] >= 0 && ids[k] < e->n && !seen[ids[k]]);
        CHECK(e->shuffle || ids[k] == k);
        seen[ids[k]] = true;
    }
    CHECK(axle_end_training(acc) == AXLE_OK);
    axle_accelerator_release(acc);
    axle_loader_release(loader);
    return 0;
}

static void every_sample_once(void **state)
{
    (void)state;
    static const struct {
        int size;
        epoch e;
    } cases[] = {
        {2, {11, 4, 0, 0, 2, 11}}, {2, {8, 4, 0, 0, 1, 8}},      {2, {9, 4, 0, 0, 2, 9}},
        {2, {12, 4, 0, 0, 2, 12}}, {3, {1, 4, 0, 0, 1, 1}},      {3, {2, 4, 0, 0, 1, 2}},
        {3, {0, 4, 0, 0, 0, 0}},   {2, {3, 1, 0, 0, 2, 3}},      {2, {7, 2, 0, 0, 2, 7}},
        {2, {11, 4, 1, 0, 1, 8}},  {2, {21, 5, 1, 0, 2, 20}},    {4, {22, 4, 0, 1, 2, 22}},
        {2, {99, 8, 0, 1, 7, 99}}, {4, {512, 16, 0, 0, 8, 512}}, {1, {11, 4, 0, 0, 3, 11}},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        epoch e = cases[k].e;
        job j = job_run_with(cases[k].size, 0.0, true, goes_through, &e);
        job_expect_good(&j);
    }
}

/* Rank 0 sees [0..3] and [8, 9], rank 1 [4..7] and [10]. */
static int sees_its_rows(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    static const int64_t rows[2][2][4] = {{{0, 1, 2, 3}, {8, 9}}, {{4, 5, 6, 7}, {10}}};
    static const int64_t counts[2][2] = {{4, 2}, {4, 1}};
    epoch e = {.n = 11, .batch = 4};
    int64_t got[4];
    axle_accelerator *acc;
    axle_loader *loader;
    axle_batch *batch;
    if (open_accelerator(&acc) || make_numbers(acc, &e, &loader))
        return JOB_FAILED;
    int rank = axle_process_index(acc);
    for (int k = 0; k < 2; k++) {
        int64_t n = counts[rank][k];
        CHECK(axle_loader_next(loader, &batch));
        CHECK(axle_batch_rows(batch) == n && axle_batch_weight(batch) == n);
        CHECK(axle_tensor_read(axle_batch_get(batch, "input"), got, (size_t)n * 8) == AXLE_OK);
        CHECK(memcmp(got, rows[rank][k], (size_t)n * 8) == 0);
    }
    CHECK(!axle_loader_next(loader, &batch));
    axle_accelerator_release(acc);
    axle_loader_release(loader);
    return 0;
}

static void rows_are_split_evenly(void **state)
{
    (void)state;
    job j = job_run_with(2, 0.0, true, sees_its_rows, NULL);
    job_expect_good(&j);
}

/* An evaluation inside training: metrics are of the inner loop, then of the outer again. */
static int evaluates(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    epoch outer = {.n = 9, .batch = 4}, inner = {.n = 3, .batch = 1};
    int64_t ids[1000], count, total = 0;
    axle_accelerator *acc;
    axle_loader *train, *eval;
    axle_batch *batch, *held;
    if (open_accelerator(&acc) || make_numbers(acc, &outer, &train) ||
        make_numbers(acc, &inner, &eval))
        return JOB_FAILED;
    while (axle_loader_next(train, &batch)) {
        count = 0;
        while (axle_loader_next(eval, &held))
            if (gather_ids(acc, held, ids, &count))
                return JOB_FAILED;
        CHECK(count == 3 && ids[2] == 2);
        if (gather_ids(acc, batch, ids + 100, &total))
            return JOB_FAILED;
    }
    CHECK(total == 9 && ids[108] == 8);
    axle_accelerator_release(acc);
    axle_loader_release(train);
    axle_loader_release(eval);
    return 0;
}

static void loops_nest(void **state)
{
    (void)state;
    job j = job_run_with(2, 0.0, true, evaluates, NULL);
    job_expect_good(&j);
}

/* ------------------------------------------------------------------ collectives */

static int reads(axle_tensor *x, const double *expected, int n)
{
    double got[64];
    axle_tensor *wide = x ? axle_cast(x, AXLE_DTYPE_F64) : NULL;
    CHECK(wide && axle_tensor_count(wide) == n);
    CHECK(axle_tensor_read(wide, got, (size_t)n * sizeof(double)) == AXLE_OK);
    for (int k = 0; k < n; k++)
        CHECK(got[k] == expected[k]);
    return 0;
}

#define READS(x, n, ...)                                                                           \
    do {                                                                                           \
        if (reads(x, (const double[]){__VA_ARGS__}, n))                                            \
            return JOB_FAILED;                                                                     \
    } while (0)

static int gathers_and_reduces(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    axle_accelerator *acc;
    if (open_accelerator(&acc))
        return JOB_FAILED;
    int rank = axle_process_index(acc);
    CHECK(axle_process_count(acc) == 2 && axle_local_process_index(acc) == rank);
    CHECK(axle_is_main_process(acc) == (rank == 0));
    CHECK(axle_scope_push() == AXLE_OK);
    axle_tensor *pair = axle_arange(AXLE_DTYPE_F32, 1 + 2 * rank, 3 + 2 * rank, 1);
    READS(axle_accelerator_gather(acc, pair), 4, 1, 2, 3, 4);
    READS(axle_accelerator_reduce(acc, pair, AXLE_REDUCE_SUM), 2, 4, 6);
    READS(axle_accelerator_reduce(acc, pair, AXLE_REDUCE_MEAN), 2, 2, 3);
    READS(axle_accelerator_reduce(acc, pair, AXLE_REDUCE_MAX), 2, 3, 4);
    READS(pair, 2, 1 + 2 * rank, 2 + 2 * rank);
    double mean;
    CHECK(axle_weighted_mean(acc, rank ? 5.0 : 2.0, rank ? 1.0 : 3.0, &mean) == AXLE_OK);
    CHECK(mean == 2.75);
    CHECK(axle_weighted_mean(acc, rank ? NAN : 2.0, rank ? 0.0 : 3.0, &mean) == AXLE_OK);
    CHECK(mean == 2.0);
    CHECK(axle_weighted_mean(acc, 7.0, 0.0, &mean) == AXLE_OK && mean == 0.0);
    axle_scope_pop();
    CHECK(axle_wait_for_everyone(acc) == AXLE_OK);
    CHECK(axle_end_training(acc) == AXLE_OK);
    CHECK(axle_wait_for_everyone(acc) == AXLE_ERR_STATE);
    axle_error_clear();
    CHECK(axle_process_count(acc) == 1 && axle_process_index(acc) == 0);
    axle_accelerator_release(acc);
    return 0;
}

static void gathering_and_reducing(void **state)
{
    (void)state;
    job j = job_run_with(2, 0.0, true, gathers_and_reduces, NULL);
    job_expect_good(&j);
}

/* Rows of unequal length are an error on both, and legal once padded. */
static int pads(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    axle_accelerator *acc;
    if (open_accelerator(&acc))
        return JOB_FAILED;
    int rank = axle_process_index(acc);
    CHECK(axle_scope_push() == AXLE_OK);
    for (int dtype = 0; dtype < 2; dtype++)
        for (int first = 0; first < 2; first++) {
            axle_tensor *x =
                axle_full(dtype ? I64 : AXLE_DTYPE_F32, AXLE_DIMS(2, rank ? 5 : 3), rank + 1);
            CHECK(!axle_accelerator_gather(acc, x) && axle_error_code() == AXLE_ERR_SHAPE);
            CHECK(strstr(axle_error_message(), "(2, 3)") && strstr(axle_error_message(), "(2, 5)"));
            axle_error_clear();
            axle_tensor *same = axle_pad_across_processes(acc, x, first ? -1 : 1, 0.0, first);
            axle_tensor *all = axle_accelerator_gather(acc, same);
            CHECK(all && axle_tensor_dim(all, 0) == 4 && axle_tensor_dim(all, 1) == 5);
            if (first)
                READS(axle_slice(all, 0, 0, 1, 1), 5, 0, 0, 1, 1, 1);
            else
                READS(axle_slice(all, 0, 0, 1, 1), 5, 1, 1, 1, 0, 0);
            READS(axle_slice(all, 0, 3, 4, 1), 5, 2, 2, 2, 2, 2);
        }
    CHECK(!axle_pad_across_processes(acc, axle_zeros(I64, AXLE_DIMS(2)), 1, 0.0, 0));
    axle_error_clear();
    axle_scope_pop();
    axle_accelerator_release(acc);
    return 0;
}

static void padding_makes_gathering_legal(void **state)
{
    (void)state;
    job j = job_run_with(2, 0.0, true, pads, NULL);
    job_expect_good(&j);
}

/* ------------------------------------------------------------------ shares, turns, triggers */

static int takes_its_share(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    axle_accelerator *acc;
    if (open_accelerator(&acc))
        return JOB_FAILED;
    int64_t size = axle_process_count(acc), rank = axle_process_index(acc);
    for (int64_t n = 0; n <= 17; n++) {
        int64_t first, count, before = 0;
        axle_split_between_processes(acc, n, &first, &count);
        for (int64_t r = 0; r < rank; r++)
            before += n / size + (r < n % size);
        CHECK(count == n / size + (rank < n % size) && first == before);
        CHECK(rank < size - 1 || first + count == n);
    }
    axle_accelerator_release(acc);
    return 0;
}

static void items_are_shared_out(void **state)
{
    (void)state;
    for (int size = 1; size <= 4; size++) {
        job j = job_run_with(size, 0.0, true, takes_its_share, NULL);
        job_expect_good(&j);
    }
}

/* All append a letter; the main process takes its time and yet is first. */
static int takes_its_turn(axle_group *unused, void *user)
{
    (void)unused;
    axle_accelerator *acc;
    if (open_accelerator(&acc))
        return JOB_FAILED;
    for (int local = 0; local < 2; local++) {
        CHECK(axle_main_process_first_begin(acc, local) == AXLE_OK);
        if (axle_is_main_process(acc))
            job_sleep(0.1);
        FILE *file = fopen(user, "a");
        CHECK(file && fputc(axle_is_main_process(acc) ? 'm' : 'o', file) > 0);
        CHECK(fclose(file) == 0);
        CHECK(axle_main_process_first_end(acc, local) == AXLE_OK);
        CHECK(axle_wait_for_everyone(acc) == AXLE_OK);
    }
    axle_accelerator_release(acc);
    return 0;
}

static void the_main_process_goes_first(void **state)
{
    (void)state;
    char path[] = "/tmp/axle-turns.XXXXXX", text[32] = "";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    job j = job_run_with(3, 0.0, true, takes_its_turn, path);
    ssize_t n = read(fd, text, sizeof(text) - 1);
    close(fd);
    unlink(path);
    job_expect_good(&j);
    assert_true(n == 6);
    assert_string_equal(text, "moomoo");
}

/* Set on one process: seen by all at the next check, and by none at the one after. */
static int pulls_the_trigger(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    axle_accelerator *acc;
    int is_set = -1;
    if (open_accelerator(&acc))
        return JOB_FAILED;
    for (int k = 0; k < 6; k++) {
        if (k % 2 && axle_process_index(acc) == k / 2)
            axle_set_trigger(acc);
        CHECK(axle_check_trigger(acc, &is_set) == AXLE_OK && is_set == k % 2);
    }
    axle_accelerator_release(acc);
    return 0;
}

static void triggers(void **state)
{
    (void)state;
    job j = job_run_with(3, 0.0, true, pulls_the_trigger, NULL);
    job_expect_good(&j);
}

/* The descriptor that all processes print to, with stdio's own buffers out of the way. */
static int prints(axle_group *unused, void *user)
{
    (void)unused;
    axle_accelerator *acc;
    CHECK(dup2(*(int *)user, STDOUT_FILENO) == STDOUT_FILENO);
    if (open_accelerator(&acc))
        return JOB_FAILED;
    axle_print(acc, "%d of %d\n", axle_process_index(acc), axle_process_count(acc));
    axle_accelerator_release(acc);
    return 0;
}

static void printing_once(void **state)
{
    (void)state;
    char path[] = "/tmp/axle-prints.XXXXXX", text[64] = "";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    job j = job_run_with(3, 0.0, true, prints, &fd);
    job_expect_good(&j);
    assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
    close(fd);
    assert_string_equal(text, "0 of 3\n");
}

/* ------------------------------------------------------------------ what goes wrong */

/* Rank 1's loss is not finite in step `at` of a window of two: an error on both in the backward
 * that ends the window, at once; the next window trains both again. */
static int loses_its_loss(axle_group *unused, void *user)
{
    (void)unused;
    int at = *(int *)user;
    axle_accelerator *acc;
    axle_module *net;
    axle_optimizer *opt;
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    o.backend = "reference";
    o.accumulate = 2;
    o.quiet = 1;
    CHECK(axle_accelerator_create(&o, &acc) == AXLE_OK);
    int rank = axle_process_index(acc), equal = 0;
    CHECK(axle_linear_create(2, 1, 0, &net) == AXLE_OK);
    CHECK(axle_sgd_create(net, NULL, &opt) == AXLE_OK && axle_prepare(acc, net, opt) == AXLE_OK);
    double begin = job_now();
    for (int k = 0; k < 4; k++) {
        axle_scope_push();
        double value = rank == 1 && k == at ? (at ? NAN : INFINITY) : 1.0;
        axle_tensor *x = axle_full(AXLE_DTYPE_F32, AXLE_DIMS(1, 2), value);
        axle_optimizer_zero_grad(opt);
        int status = axle_backward(acc, axle_mean(axle_module_forward(net, x), 0, NULL, 0));
        bool known = k == 1 || (rank == 1 && k == at);
        CHECK(status == (known ? AXLE_ERR_NONFINITE : AXLE_OK));
        CHECK(!known || strstr(axle_error_message(), "the loss of rank 1 is "));
        CHECK(k != 1 || !axle_tensor_grad(axle_module_parameter(net, "weight")));
        job_note_error();
        CHECK(axle_optimizer_step(opt) == AXLE_OK);
        CHECK(axle_optimizer_updates(opt) == (k == 3));
        axle_scope_pop();
    }
    CHECK(job_now() - begin < 5.0);
    uint64_t sum;
    CHECK(axle_module_checksum(net, &sum) == AXLE_OK);
    CHECK(axle_processes_agree(acc, sum, &equal) == AXLE_OK && equal);
    CHECK(axle_end_training(acc) == AXLE_OK);
    axle_accelerator_release(acc);
    axle_optimizer_release(opt);
    axle_module_release(net);
    return 0;
}

static void a_loss_that_is_no_number(void **state)
{
    (void)state;
    for (int at = 0; at < 2; at++) {
        job j = job_run_with(2, 30.0, true, loses_its_loss, &at);
        job_expect_good(&j);
    }
}

/* Rank 1 gives up after such a loss, inside a window: the others learn why it left. */
static int gives_up(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    axle_accelerator *acc;
    if (open_accelerator(&acc))
        return JOB_FAILED;
    CHECK(axle_no_sync_begin(acc) == AXLE_OK);
    axle_scope_push();
    int rank = axle_process_index(acc);
    axle_tensor *loss = axle_scalar(AXLE_DTYPE_F32, rank ? NAN : 0.0);
    int status = rank ? axle_backward(acc, loss) : axle_wait_for_everyone(acc);
    CHECK(status == AXLE_ERR_NONFINITE && strstr(axle_error_message(), "rank 1 is nan"));
    axle_error_clear();
    axle_scope_pop();
    CHECK(rank == 0 || axle_end_training(acc) == AXLE_ERR_NONFINITE);
    axle_error_clear();
    axle_accelerator_release(acc);
    axle_error_clear();
    return 0;
}

static void why_it_left(void **state)
{
    (void)state;
    job j = job_run_with(2, 30.0, true, gives_up, NULL);
    job_expect_good(&j);
}

/* Models of other shapes, or of fewer parameters. */
static int brings_another_model(axle_group *unused, void *user)
{
    (void)unused;
    int fewer = *(int *)user;
    axle_accelerator *acc;
    axle_module *net;
    if (open_accelerator(&acc))
        return JOB_FAILED;
    int rank = axle_process_index(acc);
    CHECK(axle_linear_create(3, rank && !fewer ? 5 : 4, !fewer || rank == 0, &net) == AXLE_OK);
    double begin = job_now();
    CHECK(axle_prepare(acc, net) != AXLE_OK);
    job_note_error();
    CHECK(job_now() - begin < 8.0);
    axle_accelerator_release(acc);
    axle_error_clear();
    axle_module_release(net);
    return 0;
}

static void models_that_differ(void **state)
{
    (void)state;
    for (int fewer = 0; fewer < 2; fewer++) {
        job j = job_run_with(2, 30.0, true, brings_another_model, &fewer);
        for (int rank = 0; rank < 2; rank++) {
            job_expect_exit(&j, rank, 0);
            job_expect_note(&j, rank, fewer ? "" : "(4, 3)");
            job_expect_note(&j, rank, fewer ? "" : "(5, 3)");
        }
        job_forget(&j);
    }
}

/* Rank 0's loop is longer, timeout 5 s: both end with an error that names the other. */
static int loops_longer(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    axle_accelerator *acc;
    axle_optimizer *opt;
    axle_module *net;
    int status = AXLE_OK;
    if (open_accelerator(&acc))
        return JOB_FAILED;
    int rank = axle_process_index(acc);
    CHECK(axle_linear_create(2, 1, 1, &net) == AXLE_OK);
    CHECK(axle_sgd_create(net, NULL, &opt) == AXLE_OK && axle_prepare(acc, net, opt) == AXLE_OK);
    for (int k = 0; k < (rank == 0 ? 3 : 2) && !status; k++) {
        axle_scope_push();
        axle_tensor *y = axle_module_forward(net, axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(1, 2)));
        axle_optimizer_zero_grad(opt);
        status = axle_backward(acc, axle_mean(y, 0, NULL, 0));
        if (!status)
            status = axle_optimizer_step(opt);
        axle_scope_pop();
    }
    if (!status)
        status = axle_end_training(acc);
    CHECK(status != AXLE_OK);
    job_note_error();
    axle_accelerator_release(acc);
    axle_error_clear();
    axle_optimizer_release(opt);
    axle_module_release(net);
    return 0;
}

static void loops_of_other_lengths(void **state)
{
    (void)state;
    job j = job_run_with(2, 5.0, true, loops_longer, NULL);
    for (int rank = 0; rank < 2; rank++) {
        job_expect_exit(&j, rank, 0);
        job_expect_note(&j, rank, rank ? "rank 0" : "rank 1");
        job_expect_note(&j, rank, "leave");
    }
    job_forget(&j);
}

/* Lines that a process wrote, by their text. */
static void count_line(int level, const char *component, const char *message, void *user)
{
    int *counts = user;
    if (level == 2 && strcmp(component, "program") == 0)
        counts[*message - 'a']++;
}

static int logs(axle_group *unused, void *user)
{
    (void)unused;
    (void)user;
    int counts[26] = {0};
    axle_accelerator *acc;
    if (open_accelerator(&acc))
        return JOB_FAILED;
    int rank = axle_process_index(acc);
    axle_log_redirect(count_line, counts);
    for (int k = 0; k < 3; k++) {
        axle_log_line(acc, 2, AXLE_LOG_PER_JOB, "a %d", k);
        axle_log_line(acc, 2, AXLE_LOG_PER_HOST, "b %d", k);
        axle_log_line(acc, 2, AXLE_LOG_PER_PROCESS, "c %d", k);
        axle_log_line_once(acc, 2, AXLE_LOG_PER_JOB, "d");
        axle_log_line_once(acc, 2, AXLE_LOG_PER_PROCESS, "e");
        axle_log_line_once(NULL, 2, AXLE_LOG_PER_JOB, "f %d", k);
    }
    axle_log_redirect(NULL, NULL);
    CHECK(counts[0] == (rank == 0 ? 3 : 0));
    CHECK(counts[1] == (axle_is_local_main_process(acc) ? 3 : 0));
    CHECK(counts[2] == 3 && counts[3] == (rank == 0) && counts[4] == 1 && counts[5] == 3);
    axle_accelerator_release(acc);
    return 0;
}

static void logging_once(void **state)
{
    (void)state;
    job j = job_run_with(2, 0.0, true, logs, NULL);
    job_expect_good(&j);
}

/* Rank 0 comes late, so rank 1 waits, and both know. */
static int waits(axle_group *group, void *user)
{
    (void)user;
    CHECK(axle_group_waited(group) < 0.25);
    if (axle_group_rank(group) == 0)
        job_sleep(0.5);
    CHECK(axle_barrier(group) == AXLE_OK);
    double waited = axle_group_waited(group);
    CHECK(axle_group_rank(group) == 0 || (waited >= 0.25 && waited < 60.0));
    return 0;
}

static void waiting_is_measured(void **state)
{
    (void)state;
    job j = job_run(2, waits, NULL);
    job_expect_good(&j);
}

static const struct CMUnitTest tests[] = {
    UNIT("lines are logged once a job, a host or a process, or once at all", logging_once),
    UNIT("the time spent waiting for other processes is known", waiting_is_measured),
    UNIT("every sample is gathered once, for every number of rows", every_sample_once),
    UNIT("a last batch is split as evenly as it goes", rows_are_split_evenly),
    UNIT("metrics are of the inner loop, then of the outer one again", loops_nest),
    UNIT("gathering, reducing and weighted means", gathering_and_reducing),
    UNIT("rows of other lengths are an error on all, and legal once padded",
         padding_makes_gathering_legal),
    UNIT("items are shared out, the first ranks first", items_are_shared_out),
    UNIT("the main process goes first", the_main_process_goes_first),
    UNIT("a trigger set on one process is seen by all, once", triggers),
    UNIT("what is printed is printed once", printing_once),
    UNIT("a loss that is no number on one process is an error on all", a_loss_that_is_no_number),
    UNIT("a process that leaves for such a loss says so", why_it_left),
    UNIT("models that differ are an error on all", models_that_differ),
    UNIT("loops of other lengths are an error on all", loops_of_other_lengths),
};
UNIT_MAIN(tests)
