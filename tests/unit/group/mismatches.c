/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that do not ask for the same: an error on each that names both, no data changed, and
 * the group goes on where all are still in step.
 */
#include "axle/axle.h"
#include "group/processes.h"

/* What a process asks for. */
typedef struct request {
    enum { ALL_REDUCE, BROADCAST, GATHER, ALL_GATHER, SCATTER, REDUCE_SCATTER, BARRIER } kind;
    int dtype;
    int64_t dims[2];
    int op_or_root;
} request;

typedef struct mismatch {
    request first, other; /* of rank 0, and of the last */
    int code;
    const char *words[2]; /* in every process's message */
} mismatch;

#define F32 AXLE_DTYPE_F32
#define SUM AXLE_REDUCE_SUM

static const mismatch mismatches[] = {
    {{ALL_REDUCE, F32, {10, 1}, SUM},
     {ALL_REDUCE, F32, {12, 1}, SUM},
     AXLE_ERR_SHAPE,
     {"(10, 1) f32", "(12, 1) f32"}},
    {{ALL_REDUCE, F32, {12, 1}, SUM},
     {ALL_REDUCE, F32, {10, 1}, SUM},
     AXLE_ERR_SHAPE,
     {"(12, 1) f32", "(10, 1) f32"}},
    {{ALL_REDUCE, F32, {2, 3}, SUM},
     {ALL_REDUCE, F32, {3, 2}, SUM},
     AXLE_ERR_SHAPE,
     {"(2, 3)", "(3, 2)"}},
    {{ALL_REDUCE, F32, {2, 3}, SUM},
     {ALL_REDUCE, AXLE_DTYPE_I32, {2, 3}, SUM},
     AXLE_ERR_SHAPE,
     {"f32", "i32"}},
    {{ALL_REDUCE, F32, {2, 3}, AXLE_REDUCE_MEAN},
     {ALL_REDUCE, AXLE_DTYPE_I32, {2, 3}, AXLE_REDUCE_MEAN},
     AXLE_ERR_SHAPE,
     {"f32", "i32"}},
    {{ALL_REDUCE, F32, {2, 3}, SUM},
     {ALL_REDUCE, F32, {2, 3}, AXLE_REDUCE_MAX},
     AXLE_ERR_SHAPE,
     {"sum", "max"}},
    {{ALL_REDUCE, F32, {2, 3}, SUM},
     {BROADCAST, F32, {2, 3}, 0},
     AXLE_ERR_STATE,
     {"all_reduce", "broadcast"}},
    {{BROADCAST, F32, {2, 3}, 0},
     {BROADCAST, F32, {2, 3}, 1},
     AXLE_ERR_SHAPE,
     {"root 0", "root 1"}},
    {{GATHER, F32, {2, 3}, 1}, {GATHER, F32, {2, 3}, 0}, AXLE_ERR_SHAPE, {"root 1", "root 0"}},
    {{SCATTER, F32, {4, 3}, 0}, {SCATTER, F32, {4, 3}, 1}, AXLE_ERR_SHAPE, {"root 0", "root 1"}},
    {{ALL_GATHER, F32, {2, 3}, 0},
     {ALL_GATHER, F32, {2, 5}, 0},
     AXLE_ERR_SHAPE,
     {"(2, 3)", "(2, 5)"}},
    {{ALL_GATHER, F32, {2, 3}, 0},
     {GATHER, F32, {2, 3}, 0},
     AXLE_ERR_STATE,
     {"all_gather", "gather"}},
    {{REDUCE_SCATTER, F32, {12, 1}, SUM},
     {REDUCE_SCATTER, F32, {13, 1}, SUM},
     AXLE_ERR_SHAPE,
     {"(12, 1)", "(13, 1)"}},
    {{BARRIER, 0, {1, 1}, 0},
     {ALL_REDUCE, F32, {1, 1}, SUM},
     AXLE_ERR_STATE,
     {"barrier", "all_reduce"}},
    /* These all ask for the same, which makes no sense. */
    {{REDUCE_SCATTER, F32, {13, 1}, SUM},
     {REDUCE_SCATTER, F32, {13, 1}, SUM},
     AXLE_ERR_SHAPE,
     {"13 rows", "processes"}},
    {{SCATTER, F32, {13, 1}, 0},
     {SCATTER, F32, {13, 1}, 0},
     AXLE_ERR_SHAPE,
     {"13 rows", "processes"}},
    {{ALL_REDUCE, AXLE_DTYPE_I32, {2, 3}, AXLE_REDUCE_MEAN},
     {ALL_REDUCE, AXLE_DTYPE_I32, {2, 3}, AXLE_REDUCE_MEAN},
     AXLE_ERR_DTYPE,
     {"mean", "i32"}},
    {{ALL_REDUCE, F32, {2, 3}, 300},
     {ALL_REDUCE, F32, {2, 3}, 300},
     AXLE_ERR_INVALID,
     {"reduction", ""}},
};
enum { MISMATCHES = sizeof(mismatches) / sizeof(mismatches[0]) };

static int ask(axle_group *group, const request *r, axle_tensor *x)
{
    axle_error_clear();
    switch (r->kind) {
    case ALL_REDUCE:
        return axle_all_reduce(group, x, r->op_or_root);
    case BROADCAST:
        return axle_broadcast(group, x, r->op_or_root);
    case GATHER:
        return axle_gather_to(group, x, r->op_or_root) ? AXLE_OK : axle_error_code();
    case ALL_GATHER:
        return axle_all_gather(group, x) ? AXLE_OK : axle_error_code();
    case SCATTER:
        return axle_scatter_from(group, x, r->op_or_root) ? AXLE_OK : axle_error_code();
    case REDUCE_SCATTER:
        return axle_reduce_scatter(group, x, r->op_or_root) ? AXLE_OK : axle_error_code();
    default:
        return axle_barrier(group);
    }
}

/* All elements are still the rank's number. */
static bool is_unchanged(axle_tensor *x, int rank)
{
    double least = -1, most = -1;
    axle_tensor *wide = axle_cast(x, AXLE_DTYPE_F64);
    axle_tensor_item(axle_min(wide, 0, NULL, 0), &least);
    axle_tensor_item(axle_max(wide, 0, NULL, 0), &most);
    return least == rank + 1 && most == rank + 1;
}

static int still_adds(axle_group *group)
{
    int size = axle_group_size(group);
    double sum;
    axle_tensor *x = axle_full(F32, 0, NULL, axle_group_rank(group) + 1);
    CHECK(axle_all_reduce(group, x, SUM) == AXLE_OK);
    CHECK(axle_tensor_item(x, &sum) == AXLE_OK && sum == size * (size + 1) / 2);
    return 0;
}

static int disagrees(axle_group *group, void *user)
{
    (void)user;
    int rank = axle_group_rank(group), last = axle_group_size(group) - 1;
    for (int k = 0; k < MISMATCHES; k++) {
        const mismatch *m = &mismatches[k];
        const request *r = rank == last ? &m->other : &m->first;
        CHECK(axle_scope_push() == AXLE_OK);
        axle_tensor *x =
            axle_full(r->dtype ? r->dtype : F32, AXLE_DIMS(r->dims[0], r->dims[1]), rank + 1);
        int code = ask(group, r, x);
        snprintf(job_own_note->text, sizeof(job_own_note->text), "case %d", k);
        CHECK(code == m->code);
        CHECK(strstr(axle_error_message(), m->words[0]));
        CHECK(strstr(axle_error_message(), m->words[1]));
        axle_error_clear();
        CHECK(is_unchanged(x, rank));
        if (still_adds(group))
            return JOB_FAILED;
        axle_scope_pop();
    }
    return 0;
}

static void differences_are_errors_everywhere(void **state)
{
    (void)state;
    job_run_sizes((const int[]){2, 3, 4, 0}, disagrees, NULL);
}

/* The message says the call sites, and which ranks agree. */
static int names_places(axle_group *group, void *user)
{
    (void)user;
    int rank = axle_group_rank(group);
    CHECK(axle_scope_push() == AXLE_OK);
    axle_tensor *x = axle_zeros(F32, AXLE_DIMS(2, rank == 3 ? 5 : 3));
    CHECK(axle_all_reduce(group, x, SUM) == AXLE_ERR_SHAPE);
    CHECK(strstr(axle_error_message(), "ranks 0 to 2 ask for all_reduce (sum) of (2, 3) f32"));
    CHECK(strstr(axle_error_message(), "rank 3 asks for all_reduce (sum) of (2, 5) f32"));
    CHECK(strstr(axle_error_message(), "mismatches.c:"));
    axle_error_clear();
    axle_scope_pop();
    return 0;
}

static void messages_name_places(void **state)
{
    (void)state;
    job_run_sizes((const int[]){4, 0}, names_places, NULL);
}

/* Sender and receiver differ; then they do not. */
static int misunderstands(axle_group *group, void *user)
{
    (void)user;
    int rank = axle_group_rank(group);
    CHECK(axle_scope_push() == AXLE_OK);
    axle_tensor *x = axle_full(F32, AXLE_DIMS(rank ? 5 : 4), rank + 1);
    CHECK((rank ? axle_receive(group, x, 0) : axle_send(group, x, 1)) == AXLE_ERR_SHAPE);
    CHECK(strstr(axle_error_message(), "(4) f32") && strstr(axle_error_message(), "(5) f32"));
    axle_error_clear();
    CHECK(is_unchanged(x, rank));
    x = axle_full(rank ? AXLE_DTYPE_I32 : F32, AXLE_DIMS(4), rank + 1);
    CHECK((rank ? axle_send(group, x, 0) : axle_receive(group, x, 1)) == AXLE_ERR_SHAPE);
    axle_error_clear();
    x = axle_full(F32, AXLE_DIMS(4), rank + 1);
    CHECK((rank ? axle_receive(group, x, 0) : axle_send(group, x, 1)) == AXLE_OK);
    CHECK(is_unchanged(x, 0));
    axle_scope_pop();
    return still_adds(group);
}

static void messages_agree(void **state)
{
    (void)state;
    job_run_sizes((const int[]){2, 0}, misunderstands, NULL);
}

/* What one process can see by itself moves nothing anywhere. */
static int errs_alone(axle_group *group, void *user)
{
    (void)user;
    int rank = axle_group_rank(group), size = axle_group_size(group);
    CHECK(axle_scope_push() == AXLE_OK);
    axle_tensor *x = axle_zeros(F32, AXLE_DIMS(2));
    CHECK(axle_broadcast(group, x, size) == AXLE_ERR_INDEX);
    CHECK(axle_send(group, x, -1) != AXLE_OK);
    axle_error_clear();
    CHECK(axle_send(group, x, rank) == AXLE_ERR_INVALID);
    axle_error_clear();
    axle_tensor *spread = axle_expand(axle_zeros(F32, AXLE_DIMS(1)), AXLE_DIMS(4));
    CHECK(axle_all_reduce(group, spread, SUM) != AXLE_OK);
    axle_error_clear();
    CHECK(axle_receive(group, spread, (rank + 1) % size) != AXLE_OK);
    axle_error_clear();
    CHECK(!axle_all_gather(group, NULL) && !axle_gather_to(group, x, 99));
    axle_error_clear();
    axle_scope_pop();
    return still_adds(group);
}

static void errors_of_one_process(void **state)
{
    (void)state;
    job_run_sizes((const int[]){2, 0}, errs_alone, NULL);
}

static const struct CMUnitTest tests[] = {
    UNIT("whatever differs is an error everywhere, changes nothing, and the group goes on",
         differences_are_errors_everywhere),
    UNIT("the message names ranks, shapes and call sites", messages_name_places),
    UNIT("sender and receiver agree or both fail", messages_agree),
    UNIT("arguments that make no sense are refused before anything is sent", errors_of_one_process),
};
UNIT_MAIN(tests)
