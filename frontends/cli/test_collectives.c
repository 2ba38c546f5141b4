/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of axle test: each collective, in every element type, with numbers that depend on the rank.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static const int dtypes[] = {AXLE_DTYPE_F32, AXLE_DTYPE_F64, AXLE_DTYPE_F16, AXLE_DTYPE_BF16,
                             AXLE_DTYPE_U8,  AXLE_DTYPE_I32, AXLE_DTYPE_I64};
enum { DTYPES = sizeof(dtypes) / sizeof(dtypes[0]) };

/* Rows of tensors: one, an odd number, more than a block, and in f32 more than a segment. */
static const int64_t sizes[] = {1, 13, 4099, 300007};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

/* What process `rank` has at place `i`: small enough for every type, also summed up. */
static double value(int rank, int64_t i)
{
    return (double)((i + 3 * rank) % 4);
}

/* `count` values of a process from place `first` on, for free(). */
static double *values(int rank, int64_t first, int64_t count)
{
    double *out = malloc((size_t)(count + 1) * sizeof(*out));
    for (int64_t i = 0; i < count && out; i++)
        out[i] = value(rank, first + i);
    if (!out)
        axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    return out;
}

static axle_tensor *own_tensor(const self_test *test, int dtype, int64_t count)
{
    double *own = values(test->rank, 0, count);
    axle_tensor *tensor = own ? test_tensor(test, dtype, 1, &count, own) : NULL;
    free(own);
    return tensor;
}

/* "f16 x 13 max from 2" */
typedef struct label {
    char text[TEST_NAME];
} label;

static label name(int dtype, int64_t count, const char *more, int root)
{
    label out;
    int end = snprintf(out.text, sizeof(out.text), "%s x %lld%s%s", axle_dtype_name(dtype),
                       (long long)count, *more ? " " : "", more);
    if (root >= 0)
        snprintf(out.text + end, sizeof(out.text) - (size_t)end, " root %d", root);
    return out;
}

typedef int (*kind_fn)(self_test *test, int dtype, int64_t count);

static int each_kind(self_test *test, kind_fn fn)
{
    int code = AXLE_OK;
    for (int s = 0; s < SIZES; s++)
        for (int d = 0; d < DTYPES && !code; d++) {
            if (s == SIZES - 1 && dtypes[d] != AXLE_DTYPE_F32)
                continue;
            code = axle_scope_push();
            if (code)
                break;
            code = fn(test, dtypes[d], sizes[s]);
            axle_scope_pop();
        }
    test_detail(test, "%d element types, up to %lld elements", DTYPES, (long long)sizes[SIZES - 1]);
    return code;
}

/* ------------------------------------------------------------------ reductions */

static const struct reduction {
    int op;
    const char *name;
    int floats_only;
} reductions[] = {
    {AXLE_REDUCE_SUM, "sum", 0},
    {AXLE_REDUCE_MEAN, "mean", 1},
    {AXLE_REDUCE_MAX, "max", 0},
    {AXLE_REDUCE_MIN, "min", 0},
};
enum { REDUCTIONS = sizeof(reductions) / sizeof(reductions[0]) };

static double combined(int op, int size, int64_t i)
{
    double result = value(0, i);
    for (int rank = 1; rank < size; rank++) {
        double v = value(rank, i);
        if (op == AXLE_REDUCE_MAX)
            result = v > result ? v : result;
        else if (op == AXLE_REDUCE_MIN)
            result = v < result ? v : result;
        else
            result += v;
    }
    return op == AXLE_REDUCE_MEAN ? result / size : result;
}

/* The half types keep 8 bits of a mean, or 11; sums of u8 wrap around. */
static double tolerance_of(int op, int dtype)
{
    if (op != AXLE_REDUCE_MEAN)
        return 0.0;
    return dtype == AXLE_DTYPE_BF16  ? 8e-3
           : dtype == AXLE_DTYPE_F16 ? 1e-3
           : dtype == AXLE_DTYPE_F32 ? 2e-7
                                     : 4e-16;
}

static int expect_combined(self_test *test, const struct reduction *r, int dtype, axle_tensor *got,
                           int64_t first, int64_t count)
{
    double *expected = malloc((size_t)count * sizeof(*expected));
    if (!expected)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int64_t i = 0; i < count; i++) {
        expected[i] = combined(r->op, test->size, first + i);
        if (dtype == AXLE_DTYPE_U8)
            expected[i] = fmod(expected[i], 256.0);
    }
    label what = name(dtype, count, r->name, -1);
    int code = test_expect(test, what.text, got, expected, count, tolerance_of(r->op, dtype));
    free(expected);
    return code;
}

static int all_reduce_kind(self_test *test, int dtype, int64_t count)
{
    int code = AXLE_OK;
    for (int k = 0; k < REDUCTIONS && !code; k++) {
        const struct reduction *r = &reductions[k];
        if (r->floats_only && !axle_dtype_is_float(dtype))
            continue;
        axle_tensor *tensor = own_tensor(test, dtype, count);
        code = tensor ? axle_all_reduce(test->group, tensor, r->op) : axle_error_code();
        if (!code)
            code = expect_combined(test, r, dtype, tensor, 0, count);
    }
    return code;
}

/* A view whose elements do not lie side by side. */
static int all_reduce_strided(self_test *test)
{
    enum { ROWS = 3, COLUMNS = 5 };
    double expected[ROWS * COLUMNS], own[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        own[i] = value(test->rank, i);
        expected[i] = combined(AXLE_REDUCE_SUM, test->size, i);
    }
    axle_tensor *tensor = test_tensor(test, AXLE_DTYPE_F32, AXLE_DIMS(ROWS, COLUMNS), own);
    axle_tensor *view = axle_transpose(tensor, 0, 1);
    int code = view ? axle_all_reduce(test->group, view, AXLE_REDUCE_SUM) : axle_error_code();
    return code ? code
                : test_expect(test, "a transposed tensor", tensor, expected, ROWS * COLUMNS, 0.0);
}

int test_all_reduce(self_test *test)
{
    int code = each_kind(test, all_reduce_kind);
    return code ? code : all_reduce_strided(test);
}

static int reduce_scatter_kind(self_test *test, int dtype, int64_t count)
{
    axle_tensor *tensor = own_tensor(test, dtype, count * test->size);
    axle_tensor *part = axle_reduce_scatter(test->group, tensor, AXLE_REDUCE_SUM);
    return part ? expect_combined(test, &reductions[0], dtype, part, count * test->rank, count)
                : axle_error_code();
}

int test_reduce_scatter(self_test *test)
{
    return each_kind(test, reduce_scatter_kind);
}

/* ------------------------------------------------------------------ gathering */

/* Numbers of rows differ. */
static int64_t rows_of(int rank, int64_t count)
{
    return count + rank % 3;
}

static int expect_gathered(self_test *test, const char *what, axle_tensor *got, int64_t count)
{
    int64_t total = 0, at = 0;
    for (int rank = 0; rank < test->size; rank++)
        total += rows_of(rank, count);
    double *expected = malloc((size_t)total * sizeof(*expected));
    if (!expected)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int rank = 0; rank < test->size; rank++)
        for (int64_t i = 0; i < rows_of(rank, count); i++)
            expected[at++] = value(rank, i);
    int code = test_expect(test, what, got, expected, total, 0.0);
    free(expected);
    return code;
}

/* `count` values of a process from a place on. */
static int expect_values(self_test *test, const char *what, axle_tensor *got, int rank,
                         int64_t first, int64_t count)
{
    double *expected = got ? values(rank, first, count) : NULL;
    if (!expected)
        return axle_error_code();
    int code = test_expect(test, what, got, expected, count, 0.0);
    free(expected);
    return code;
}

static int all_gather_kind(self_test *test, int dtype, int64_t count)
{
    axle_tensor *own = own_tensor(test, dtype, rows_of(test->rank, count));
    axle_tensor *all = axle_all_gather(test->group, own);
    return all ? expect_gathered(test, name(dtype, count, "", -1).text, all, count)
               : axle_error_code();
}

int test_all_gather(self_test *test)
{
    return each_kind(test, all_gather_kind);
}

static int root_of(const self_test *test, int64_t count)
{
    return (int)(count % test->size);
}

static int gather_kind(self_test *test, int dtype, int64_t count)
{
    int root = root_of(test, count);
    int64_t rows = rows_of(test->rank, count);
    label what = name(dtype, count, "", root);
    axle_tensor *own = own_tensor(test, dtype, rows);
    axle_tensor *all = axle_gather_to(test->group, own, root);
    if (!all)
        return axle_error_code();
    return test->rank == root ? expect_gathered(test, what.text, all, count)
                              : expect_values(test, what.text, all, test->rank, 0, rows);
}

int test_gather(self_test *test)
{
    return each_kind(test, gather_kind);
}

/* ------------------------------------------------------------------ spreading */

static int broadcast_kind(self_test *test, int dtype, int64_t count)
{
    int root = root_of(test, count);
    axle_tensor *tensor = own_tensor(test, dtype, count);
    int code = tensor ? axle_broadcast(test->group, tensor, root) : axle_error_code();
    return code ? code
                : expect_values(test, name(dtype, count, "", root).text, tensor, root, 0, count);
}

int test_broadcast(self_test *test)
{
    return each_kind(test, broadcast_kind);
}

static int scatter_kind(self_test *test, int dtype, int64_t count)
{
    int root = root_of(test, count);
    axle_tensor *all = test->rank == root ? own_tensor(test, dtype, count * test->size) : NULL;
    if (test->rank == root && !all)
        return axle_error_code();
    axle_tensor *part = axle_scatter_from(test->group, all, root);
    return expect_values(test, name(dtype, count, "", root).text, part, root, test->rank * count,
                         count);
}

int test_scatter(self_test *test)
{
    return each_kind(test, scatter_kind);
}

static int bytes_from(self_test *test, int root)
{
    char own[TEST_NAME];
    size_t size = (size_t)snprintf(own, sizeof(own), "%*d", 3 + root % 32, root);
    size_t right = size;
    void *bytes = test->rank == root ? own : NULL;
    int code = axle_broadcast_bytes(test->group, &bytes, &size, root);
    if (code)
        return code;
    if (size != right || memcmp(bytes, own, right) != 0)
        test_wrong(test, "%zu bytes of rank %d are '%.*s' instead of '%s'", size, root,
                   (int)(size < TEST_NAME ? size : TEST_NAME), (const char *)bytes, own);
    if (test->rank != root)
        axle_free(bytes);
    return AXLE_OK;
}

int test_bytes(self_test *test)
{
    int code = AXLE_OK;
    for (int root = 0; root < test->size && !code; root++)
        code = bytes_from(test, root);
    test_detail(test, "from each process");
    return code;
}

/* ------------------------------------------------------------------ agreement */

/* Thirds and the like, whose sums depend on the order of adding. */
int test_equal_bits(self_test *test)
{
    enum { COUNT = 10007 };
    const int64_t count = COUNT;
    float *sums = malloc(COUNT * sizeof(*sums));
    double *own = malloc(COUNT * sizeof(*own));
    uint64_t hash = 14695981039346656037u;
    int code = sums && own ? AXLE_OK : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int i = 0; i < COUNT && !code; i++)
        own[i] = pow(1.5, i % 40 - 20) / (i + 3.0 * test->rank + 1.0);
    axle_tensor *tensor = code ? NULL : test_tensor(test, AXLE_DTYPE_F32, 1, &count, own);
    if (!code)
        code = tensor ? axle_all_reduce(test->group, tensor, AXLE_REDUCE_SUM) : axle_error_code();
    if (!code)
        code = axle_tensor_read(tensor, sums, COUNT * sizeof(*sums));
    for (size_t k = 0; k < COUNT * sizeof(*sums) && !code; k++)
        hash = (hash ^ ((const unsigned char *)sums)[k]) * 1099511628211u;
    free(sums);
    free(own);
    test_detail(test, "sums of %d fractions", COUNT);
    return code ? code : test_same(test, "hash of the sums", hash);
}

/* The last process asks for another shape: an error on all, and nothing has changed. */
int test_differences(self_test *test)
{
    double own[3] = {5.0, 6.0, 7.0};
    int64_t count = test->rank == test->size - 1 ? 3 : 2;
    axle_tensor *tensor = test_tensor(test, AXLE_DTYPE_F32, 1, &count, own);
    if (!tensor)
        return axle_error_code();
    int code = axle_all_reduce(test->group, tensor, AXLE_REDUCE_SUM);
    char expected[TEST_NAME];
    snprintf(expected, sizeof(expected), "rank %d asks for", test->size - 1);
    if (code != AXLE_ERR_SHAPE)
        test_wrong(test, "tensors of (2) and (3): status %d instead of %d; %s", code,
                   AXLE_ERR_SHAPE, axle_error_message());
    else if (!strstr(axle_error_message(), expected))
        test_wrong(test, "the message does not say '%s': %s", expected, axle_error_message());
    axle_error_clear();
    code = test_expect(test, "the tensor after the error", tensor, own, count, 0.0);
    if (!code)
        code = axle_barrier(test->group);
    test_detail(test, "a wrong shape is an error on all that names both");
    return code;
}
