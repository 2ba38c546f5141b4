/* SPDX-License-Identifier: Apache-2.0 */
/* Every collective, with values that say whose they are. */
#include <math.h>

#include "axle/axle.h"
#include "group/processes.h"

static const int one_to_four[] = {1, 2, 3, 4, 0};

static double value_at(const axle_tensor *x, int64_t at)
{
    double value = NAN;
    axle_scope_push();
    axle_tensor *flat = axle_reshape((axle_tensor *)x, AXLE_DIMS(-1));
    axle_tensor *one = flat ? axle_slice(flat, 0, at, at + 1, 1) : NULL;
    if (one)
        axle_tensor_item(axle_cast(one, AXLE_DTYPE_F64), &value);
    axle_scope_pop();
    return value;
}

/* ------------------------------------------------------------------ all-reduce */

static const int dtypes[] = {AXLE_DTYPE_F32, AXLE_DTYPE_F64, AXLE_DTYPE_F16, AXLE_DTYPE_BF16,
                             AXLE_DTYPE_U8,  AXLE_DTYPE_I32, AXLE_DTYPE_I64};
enum { DTYPES = sizeof(dtypes) / sizeof(dtypes[0]) };

/* Element k of rank r is r + 1 + k % 5: small enough for every type. */
static axle_tensor *ranked(int dtype, int rank, int64_t n)
{
    axle_tensor *x = axle_zeros(AXLE_DTYPE_F64, AXLE_DIMS(n));
    double *values = malloc((size_t)n * sizeof(double) + 1);
    for (int64_t k = 0; k < n; k++)
        values[k] = rank + 1 + (double)(k % 5);
    int status = x ? axle_tensor_write(x, values, (size_t)n * sizeof(double)) : AXLE_ERR_NOMEM;
    free(values);
    return status ? NULL : axle_cast(x, dtype);
}

static double expected(int op, int size, int64_t k)
{
    double base = (double)(k % 5);
    if (op == AXLE_REDUCE_MAX)
        return base + size;
    if (op == AXLE_REDUCE_MIN)
        return base + 1;
    double sum = size * base + size * (size + 1) / 2.0;
    return op == AXLE_REDUCE_SUM ? sum : sum / size;
}

/* Whether the numbers are what they should be. Halves have 8 bits or more: sums below 256 are
 * exact in them, means are not. */
static bool holds(axle_tensor *x, int op, int size, int64_t n)
{
    double *values = malloc((size_t)n * sizeof(double) + 1);
    axle_tensor *wide = axle_cast(x, AXLE_DTYPE_F64);
    bool good = wide && axle_tensor_read(wide, values, (size_t)n * sizeof(double)) == AXLE_OK;
    double tolerance = op == AXLE_REDUCE_MEAN ? 1.0 / 64 : 0.0;
    for (int64_t k = 0; k < n && good; k++)
        good = fabs(values[k] - expected(op, size, k)) <= tolerance;
    free(values);
    return good;
}

static const int64_t counts[] = {0, 1, 2, 3, 5, 127, 1024, 4097};

static int reduces_everything(axle_group *group, void *user)
{
    (void)user;
    static const int ops[] = {AXLE_REDUCE_SUM, AXLE_REDUCE_MEAN, AXLE_REDUCE_MAX, AXLE_REDUCE_MIN};
    int size = axle_group_size(group);
    CHECK(axle_scope_push() == AXLE_OK);
    for (int d = 0; d < DTYPES; d++)
        for (int o = 0; o < 4; o++)
            for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
                if (ops[o] == AXLE_REDUCE_MEAN && !axle_dtype_is_float(dtypes[d]))
                    continue;
                axle_tensor *x = ranked(dtypes[d], axle_group_rank(group), counts[c]);
                CHECK(axle_all_reduce(group, x, ops[o]) == AXLE_OK);
                CHECK(holds(x, ops[o], size, counts[c]));
            }
    axle_scope_pop();
    return 0;
}

static void all_reduce_of_all_types(void **state)
{
    (void)state;
    job_run_sizes(one_to_four, reduces_everything, NULL);
}

/* Scalars, transposed and strided views, dims that no number of processes divides. */
static int reduces_views(axle_group *group, void *user)
{
    (void)user;
    int rank = axle_group_rank(group), size = axle_group_size(group);
    double sum = size * (size + 1) / 2.0;
    CHECK(axle_scope_push() == AXLE_OK);
    axle_tensor *scalar = axle_full(AXLE_DTYPE_F32, 0, NULL, rank + 1);
    CHECK(axle_all_reduce(group, scalar, AXLE_REDUCE_SUM) == AXLE_OK);
    CHECK(value_at(scalar, 0) == sum);
    axle_tensor *base = axle_mul_scalar(
        axle_reshape(axle_arange(AXLE_DTYPE_F32, 0, 35, 1), AXLE_DIMS(5, 7)), rank + 1);
    axle_tensor *turned = axle_transpose(base, 0, 1);
    CHECK(axle_all_reduce(group, turned, AXLE_REDUCE_SUM) == AXLE_OK);
    for (int k = 0; k < 35; k++)
        CHECK(value_at(base, k) == k * sum);
    axle_tensor *odd = axle_slice(base, 1, 1, 7, 2);
    CHECK(axle_all_reduce(group, odd, AXLE_REDUCE_MAX) == AXLE_OK);
    CHECK(axle_all_reduce(group, odd, AXLE_REDUCE_SUM) == AXLE_OK);
    for (int k = 0; k < 35; k++)
        CHECK(value_at(base, k) == k * sum * (k % 7 % 2 ? size : 1));
    axle_tensor *nothing = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(3, 0, 2));
    CHECK(axle_all_reduce(group, nothing, AXLE_REDUCE_MEAN) == AXLE_OK);
    axle_scope_pop();
    return 0;
}

static void all_reduce_of_views(void **state)
{
    (void)state;
    job_run_sizes(one_to_four, reduces_views, NULL);
}

/* Many segments, the last of them short; fractions that round differently in another order. */
static int reduces_long(axle_group *group, void *user)
{
    int64_t n = *(int64_t *)user;
    int rank = axle_group_rank(group), size = axle_group_size(group);
    CHECK(axle_scope_push() == AXLE_OK);
    axle_seed(7 + (uint64_t)rank);
    axle_tensor *x = axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(n));
    axle_tensor *all = axle_all_gather(group, axle_reshape(x, AXLE_DIMS(1, n)));
    CHECK(axle_all_reduce(group, x, AXLE_REDUCE_SUM) == AXLE_OK);
    float *sums = malloc((size_t)n * 4), *parts = malloc((size_t)n * 4 * (size_t)size);
    CHECK(axle_tensor_read(x, sums, (size_t)n * 4) == AXLE_OK);
    CHECK(axle_tensor_read(all, parts, (size_t)n * 4 * (size_t)size) == AXLE_OK);
    for (int64_t k = 0; k < n; k++) {
        double sum = 0.0;
        for (int r = 0; r < size; r++)
            sum += (double)parts[r * n + k];
        CHECK(sums[k] == (float)sum);
    }
    free(sums);
    free(parts);
    axle_scope_pop();
    return 0;
}

static void all_reduce_of_many_segments(void **state)
{
    (void)state;
    int64_t one = 262144 * 2 + 1, many = 262144 * 9 + 3;
    for (int size = 2; size <= 3; size++) {
        job a = job_run(size, reduces_long, &one);
        job_expect_good(&a);
        job b = job_run(size, reduces_long, &many);
        job_expect_good(&b);
    }
}

/* ------------------------------------------------------------------ the others */

static int scatters_sums(axle_group *group, void *user)
{
    (void)user;
    int rank = axle_group_rank(group), size = axle_group_size(group);
    double sum = size * (size + 1) / 2.0;
    CHECK(axle_scope_push() == AXLE_OK);
    axle_tensor *x =
        axle_reshape(axle_arange(AXLE_DTYPE_F64, 0, size * 6, 1), AXLE_DIMS(2 * size, 3));
    axle_tensor *part = axle_reduce_scatter(group, axle_mul_scalar(x, rank + 1), AXLE_REDUCE_SUM);
    CHECK(part && axle_tensor_dim(part, 0) == 2 && axle_tensor_dim(part, 1) == 3);
    for (int k = 0; k < 6; k++)
        CHECK(value_at(part, k) == (rank * 6 + k) * sum);
    axle_tensor *none =
        axle_reduce_scatter(group, axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(0, 3)), AXLE_REDUCE_MEAN);
    CHECK(none && axle_tensor_count(none) == 0);
    int64_t rows = (int64_t)size * (262144 + 5);
    axle_tensor *wide = axle_reduce_scatter(group, axle_arange(AXLE_DTYPE_F64, 0, (double)rows, 1),
                                            AXLE_REDUCE_MEAN);
    CHECK(wide && axle_tensor_count(wide) == 262144 + 5);
    for (int64_t k = 0; k < 262144 + 5; k += 131072)
        CHECK(fabs(value_at(wide, k) - (double)(rank * (262144 + 5) + k)) < 1e-6);
    axle_scope_pop();
    return 0;
}

static void reduce_scatter_gives_each_its_rows(void **state)
{
    (void)state;
    job_run_sizes(one_to_four, scatters_sums, NULL);
}

/* Rank r brings r rows of numbers of its own, so rank 0 none. */
static int gathers(axle_group *group, void *user)
{
    (void)user;
    int rank = axle_group_rank(group), size = axle_group_size(group);
    int64_t total = size * (size - 1) / 2;
    CHECK(axle_scope_push() == AXLE_OK);
    axle_tensor *own = axle_full(AXLE_DTYPE_I32, AXLE_DIMS(rank, 2), rank);
    axle_tensor *all = axle_all_gather(group, own);
    CHECK(all && axle_tensor_dim(all, 0) == total && axle_tensor_dim(all, 1) == 2);
    for (int r = 0, at = 0; r < size; r++)
        for (int k = 0; k < 2 * r; k++)
            CHECK(value_at(all, at++) == r);
    for (int root = 0; root < size; root++) {
        axle_tensor *got = axle_gather_to(group, own, root);
        CHECK(got && axle_tensor_dim(got, 0) == (rank == root ? total : rank));
    }
    axle_tensor *scalars = axle_all_gather(group, axle_full(AXLE_DTYPE_F64, 0, NULL, 10.0 * rank));
    CHECK(scalars && axle_tensor_rank(scalars) == 1 && axle_tensor_count(scalars) == size);
    for (int r = 0; r < size; r++)
        CHECK(value_at(scalars, r) == 10.0 * r);
    axle_tensor *turned = axle_transpose(
        axle_add_scalar(axle_reshape(axle_arange(AXLE_DTYPE_F32, 0, 6, 1), AXLE_DIMS(2, 3)),
                        100.0 * rank),
        0, 1);
    axle_tensor *both = axle_all_gather(group, turned);
    CHECK(both && axle_tensor_dim(both, 0) == 3 * size);
    for (int r = 0; r < size; r++)
        CHECK(value_at(both, r * 6 + 1) == 100.0 * r + 3);
    axle_scope_pop();
    return 0;
}

static void gathering_keeps_the_order_of_ranks(void **state)
{
    (void)state;
    job_run_sizes(one_to_four, gathers, NULL);
}

static int broadcasts(axle_group *group, void *user)
{
    (void)user;
    int rank = axle_group_rank(group), size = axle_group_size(group);
    CHECK(axle_scope_push() == AXLE_OK);
    for (int root = 0; root < size; root++) {
        axle_tensor *base = axle_full(AXLE_DTYPE_BF16, AXLE_DIMS(3, 4), rank + 1);
        axle_tensor *turned = axle_transpose(base, 0, 1);
        CHECK(axle_broadcast(group, turned, root) == AXLE_OK);
        for (int k = 0; k < 12; k++)
            CHECK(value_at(base, k) == root + 1);
        axle_tensor *truth = axle_full(AXLE_DTYPE_BOOL, AXLE_DIMS(5), rank == root);
        CHECK(axle_broadcast(group, truth, root) == AXLE_OK && value_at(truth, 4) == 1);
        axle_tensor *rows = axle_arange(AXLE_DTYPE_I64, 0, 3 * size, 1);
        axle_tensor *part = axle_scatter_from(group, rank == root ? rows : NULL, root);
        CHECK(part && axle_tensor_count(part) == 3 && value_at(part, 1) == rank * 3 + 1);
        axle_tensor *empty =
            axle_scatter_from(group, axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(0, 2)), root);
        CHECK(empty && axle_tensor_count(empty) == 0);
    }
    axle_tensor *nothing = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(0));
    CHECK(axle_broadcast(group, nothing, 0) == AXLE_OK);
    axle_scope_pop();
    return 0;
}

static void broadcasts_and_scatters(void **state)
{
    (void)state;
    job_run_sizes(one_to_four, broadcasts, NULL);
}

static int broadcasts_bytes(axle_group *group, void *user)
{
    (void)user;
    int rank = axle_group_rank(group), last = axle_group_size(group) - 1;
    char text[] = "an object of any kind";
    void *bytes = rank == last ? text : NULL;
    size_t size = rank == last ? sizeof(text) : 0;
    CHECK(axle_broadcast_bytes(group, &bytes, &size, last) == AXLE_OK);
    CHECK(size == sizeof(text) && memcmp(bytes, text, size) == 0);
    if (rank != last)
        axle_free(bytes);
    bytes = NULL;
    size = rank == 0 ? 0 : 77;
    CHECK(axle_broadcast_bytes(group, &bytes, &size, 0) == AXLE_OK && size == 0);
    if (rank != 0)
        axle_free(bytes);
    return 0;
}

static void bytes_of_any_length(void **state)
{
    (void)state;
    job_run_sizes(one_to_four, broadcasts_bytes, NULL);
}

/* Nobody leaves a barrier before the last has come: notes are seen by all. */
static int meets(axle_group *group, void *user)
{
    (void)user;
    int rank = axle_group_rank(group), size = axle_group_size(group);
    if (rank == size - 1)
        job_sleep(0.2);
    job_own_note->at = job_now();
    CHECK(axle_barrier(group) == AXLE_OK);
    double left = job_now();
    CHECK(axle_barrier(group) == AXLE_OK);
    for (int r = 0; r < size; r++)
        CHECK(job_all_notes[r].at <= left);
    for (int k = 0; k < 50; k++)
        CHECK(axle_barrier(group) == AXLE_OK);
    return 0;
}

static void barriers(void **state)
{
    (void)state;
    job_run_sizes((const int[]){1, 2, 3, 5, 8, 0}, meets, NULL);
}

/* Round a ring, both ways, and more messages than one under way. */
static int passes_on(axle_group *group, void *user)
{
    (void)user;
    int rank = axle_group_rank(group), size = axle_group_size(group);
    CHECK(axle_scope_push() == AXLE_OK);
    for (int round = 0; round < 5; round++) {
        axle_tensor *x = axle_transpose(
            axle_full(AXLE_DTYPE_F16, AXLE_DIMS(300, 4), rank == 0 ? round : -1), 0, 1);
        if (rank > 0)
            CHECK(axle_receive(group, x, rank - 1) == AXLE_OK && value_at(x, 7) == round);
        CHECK(axle_send(group, x, (rank + 1) % size) == AXLE_OK || size == 1);
        if (rank == 0)
            CHECK(axle_receive(group, x, size - 1) == AXLE_OK && value_at(x, 7) == round);
        axle_tensor *none = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(0));
        if (rank == 0)
            CHECK(axle_send(group, none, 1) == AXLE_OK);
        if (rank == 1)
            CHECK(axle_receive(group, none, 0) == AXLE_OK);
    }
    axle_scope_pop();
    return 0;
}

static void messages(void **state)
{
    (void)state;
    job_run_sizes((const int[]){2, 3, 0}, passes_on, NULL);
}

static int joins_twice(axle_group *group, void *user)
{
    (void)user;
    axle_group *again;
    CHECK(axle_group_join(&again) == AXLE_OK && again == group);
    CHECK(axle_group_leave(again) == AXLE_OK);
    CHECK(axle_barrier(group) == AXLE_OK);
    CHECK(axle_group_leave(NULL) == AXLE_OK);
    return 0;
}

static void joining_again(void **state)
{
    (void)state;
    job_run_sizes((const int[]){1, 2, 0}, joins_twice, NULL);
}

static const struct CMUnitTest tests[] = {
    UNIT("all-reduce of every type, operation and count", all_reduce_of_all_types),
    UNIT("all-reduce of scalars, views and nothing", all_reduce_of_views),
    UNIT("all-reduce of many segments has the bits of the sum in order of ranks",
         all_reduce_of_many_segments),
    UNIT("reduce-scatter gives each its rows", reduce_scatter_gives_each_its_rows),
    UNIT("gathering keeps the order of ranks, whoever has how many rows",
         gathering_keeps_the_order_of_ranks),
    UNIT("broadcasts and scatters from every root", broadcasts_and_scatters),
    UNIT("bytes of any length are broadcast", bytes_of_any_length),
    UNIT("nobody leaves a barrier before all have come", barriers),
    UNIT("messages go round a ring", messages),
    UNIT("joining again finds the same group", joining_again),
};
UNIT_MAIN(tests)
