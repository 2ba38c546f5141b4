/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/shape.h"

#include "device/dispatch.h"
#include "unit.h"

static axle_view row_major(int rank, const int64_t *dims)
{
    axle_view view = {.rank = (uint32_t)rank, .dtype = AXLE_DTYPE_F32};
    for (int k = 0; k < rank; k++)
        view.dim[k] = dims[k];
    axle__row_major_strides(rank, dims, view.stride);
    return view;
}

#define ROW_MAJOR(...)                                                                             \
    row_major((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static int64_t count_of(int rank, const int64_t *dims)
{
    int64_t count = axle__dims_count("test", rank, dims);
    if (count < 0)
        unit_expect_error(axle_error_code(), "test: ");
    return count;
}

#define COUNT(...)                                                                                 \
    count_of((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static void elements_are_counted(void **state)
{
    (void)state;
    assert_int_equal(count_of(0, NULL), 1);
    assert_int_equal(COUNT(3), 3);
    assert_int_equal(COUNT(3, 0, 5), 0);
    assert_int_equal(COUNT(1, 2, 1, 2, 1, 2, 1, 2), 16);
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    int64_t big = INT64_C(1) << 32;
    assert_int_equal(COUNT(big, big), -1);
    assert_int_equal(COUNT(INT64_MAX), -1);
    assert_int_equal(COUNT(big, 0, big), -1);
    assert_int_equal(COUNT(0, INT64_MAX), -1);
    assert_int_equal(COUNT(INT64_C(1) << 58), INT64_C(1) << 58);
    assert_int_equal(COUNT(2, -1), -1);
    assert_int_equal(COUNT(INT64_MIN), -1);
    assert_int_equal(count_of(9, (int64_t[9]){1}), -1);
    assert_int_equal(count_of(-1, NULL), -1);
    assert_int_equal(count_of(2, NULL), -1);
}

static bool broadcast_gives(int ra, const int64_t *a, int rb, const int64_t *b, int r,
                            const int64_t *expected)
{
    int rank;
    int64_t dims[AXLE_MAX_RANK];
    return axle__broadcast(ra, a, rb, b, &rank, dims) && axle__dims_equal(rank, dims, r, expected);
}

static void shapes_broadcast_as_in_numpy(void **state)
{
    (void)state;
    const int64_t a[] = {3, 1, 5}, b[] = {4, 1}, ab[] = {3, 4, 5}, none[] = {0}, one[] = {1};
    assert_true(broadcast_gives(3, a, 2, b, 3, ab));
    assert_true(broadcast_gives(2, b, 3, a, 3, ab));
    assert_true(broadcast_gives(0, NULL, 3, a, 3, a));
    assert_true(broadcast_gives(0, NULL, 0, NULL, 0, NULL));
    assert_true(broadcast_gives(1, none, 1, one, 1, none));
    int rank;
    int64_t dims[AXLE_MAX_RANK];
    assert_false(axle__broadcast(1, (int64_t[]){0}, 1, (int64_t[]){3}, &rank, dims));
    assert_false(axle__broadcast(2, (int64_t[]){2, 3}, 1, (int64_t[]){2}, &rank, dims));
}

static void row_major_views_are_known(void **state)
{
    (void)state;
    axle_view view = ROW_MAJOR(2, 3, 4);
    assert_true(axle__view_is_row_major(&view));
    view.stride[0] = 13;
    assert_false(axle__view_is_row_major(&view));
    view.dim[0] = 1;
    assert_true(axle__view_is_row_major(&view));
    view.dim[1] = 0;
    assert_true(axle__view_is_row_major(&view));
    view = ROW_MAJOR(4, 0);
    assert_true(axle__view_is_row_major(&view));
    view = (axle_view){.rank = 2, .dim = {0, 4}, .stride = {1, 7}};
    assert_true(axle__view_is_row_major(&view));
    view = (axle_view){.rank = 0};
    assert_true(axle__view_is_row_major(&view));
}

static void dense_views_have_no_gaps(void **state)
{
    (void)state;
    axle_view view = {.rank = 3, .dim = {2, 3, 4}, .stride = {12, 1, 3}};
    assert_true(axle__view_is_dense(&view));
    view.stride[0] = 24;
    assert_false(axle__view_is_dense(&view));
    view = (axle_view){.rank = 2, .dim = {2, 3}, .stride = {0, 1}};
    assert_false(axle__view_is_dense(&view));
    view = (axle_view){.rank = 2, .dim = {0, 3}, .stride = {5, 9}};
    assert_true(axle__view_is_dense(&view));
}

static void channels_last_puts_channels_last(void **state)
{
    (void)state;
    const int64_t dims[] = {2, 3, 4, 5};
    int64_t strides[4];
    axle__channels_last_strides(4, dims, strides);
    assert_int_equal(strides[0], 60);
    assert_int_equal(strides[1], 1);
    assert_int_equal(strides[2], 15);
    assert_int_equal(strides[3], 3);
}

/* ------------------------------------------------------------------ merging */

static void expect_cleared(const axle_view *view)
{
    for (uint32_t k = view->rank; k < AXLE_MAX_RANK; k++) {
        assert_int_equal(view->dim[k], 0);
        assert_int_equal(view->stride[k], 0);
    }
}

static void contiguous_dims_merge_to_one(void **state)
{
    (void)state;
    axle_view a = ROW_MAJOR(2, 3, 1, 4), b = a, *views[] = {&a, &b};
    axle__views_merge(views, 2, false);
    assert_int_equal(a.rank, 1);
    assert_int_equal(a.dim[0], 24);
    assert_int_equal(b.stride[0], 1);
    expect_cleared(&a);
    expect_cleared(&b);
}

static void scalars_merge_to_rank_0(void **state)
{
    (void)state;
    axle_view a = ROW_MAJOR(1, 1, 1), *views[] = {&a};
    axle__views_merge(views, 1, false);
    assert_int_equal(a.rank, 0);
    expect_cleared(&a);
    a = ROW_MAJOR(1, 1);
    axle__views_merge(views, 1, true);
    assert_int_equal(a.rank, 0);
    expect_cleared(&a);
}

static void what_one_view_repeats_stays_apart(void **state)
{
    (void)state;
    axle_view a = ROW_MAJOR(2, 3, 4), b = ROW_MAJOR(3, 4), *views[] = {&a, &b};
    axle__view_expand(&b, 3, a.dim);
    axle__views_merge(views, 2, true);
    assert_int_equal(a.rank, 2);
    assert_int_equal(a.dim[0], 2);
    assert_int_equal(a.dim[1], 12);
    assert_int_equal(b.stride[0], 0);
    assert_int_equal(b.stride[1], 1);
}

static void reordering_makes_transposed_views_one_row(void **state)
{
    (void)state;
    axle_view a = {.rank = 3, .dim = {4, 2, 3}, .stride = {1, 12, 4}}, b = a, *views[] = {&a, &b};
    axle__views_merge(views, 2, true);
    assert_int_equal(a.rank, 1);
    assert_int_equal(b.dim[0], 24);
    a = (axle_view){.rank = 2, .dim = {4, 2}, .stride = {1, 4}};
    axle__views_merge(views, 1, false);
    assert_int_equal(a.rank, 2);
}

/* Offsets of all elements in row-major order. */
static int offsets(const axle_view *view, int64_t *out)
{
    int n = (int)axle__view_count(view);
    for (int i = 0; i < n; i++) {
        int64_t rest = i;
        out[i] = 0;
        for (int k = (int)view->rank - 1; k >= 0; k--) {
            out[i] += rest % view->dim[k] * view->stride[k];
            rest /= view->dim[k];
        }
    }
    return n;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static int by_first(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Views of random dims, permuted, some dims repeated. Whatever is merged, pairs of offsets stay. */
static void merging_keeps_the_elements(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int round = 0; round < 3000; round++) {
        axle_view view[2] = {{.rank = next_random(&seed) % 6}, {.rank = 0}};
        view[1].rank = view[0].rank;
        axle_view *views[] = {&view[0], &view[1]};
        for (int v = 0; v < 2; v++) {
            uint32_t start = next_random(&seed);
            int64_t stride = 1;
            for (uint32_t i = 0; i < view[v].rank; i++) {
                uint32_t k = v && round % 2 ? (start + i) % view[v].rank : view[v].rank - 1 - i;
                if (v == 0)
                    view[0].dim[k] = 1 + next_random(&seed) % 3;
                view[1].dim[k] = view[0].dim[k];
                bool repeats = v && next_random(&seed) % 4 == 0;
                view[v].stride[k] = repeats ? 0 : stride;
                stride *= repeats ? 1 : view[0].dim[k] + (next_random(&seed) % 5 == 0);
            }
        }
        int64_t before[2][243], after[2][243], pair[2][243];
        int n = 0, m = 0;
        bool reorder = round % 3 == 0;
        for (int v = 0; v < 2; v++)
            n = offsets(&view[v], before[v]);
        axle__views_merge(views, 2, reorder);
        for (int v = 0; v < 2; v++)
            m = offsets(&view[v], after[v]);
        assert_int_equal(n, m);
        for (int i = 0; i < n; i++) {
            pair[0][i] = before[0][i] * 1000 + before[1][i];
            pair[1][i] = after[0][i] * 1000 + after[1][i];
        }
        for (int v = 0; v < 2 && reorder; v++)
            qsort(pair[v], (size_t)n, sizeof(pair[v][0]), by_first);
        assert_memory_equal(pair[0], pair[1], (size_t)n * sizeof(pair[0][0]));
        expect_cleared(&view[0]);
    }
}

/* ------------------------------------------------------------------ dims */

static void dims_count_from_both_ends(void **state)
{
    (void)state;
    assert_int_equal(axle__dim_index("test", 3, 2), 2);
    assert_int_equal(axle__dim_index("test", 3, -3), 0);
    assert_int_equal(axle__dim_index("test", 3, 3), -1);
    unit_expect_error(AXLE_ERR_SHAPE, "dim 3 is out of range for rank 3");
    assert_int_equal(axle__dim_index("test", 0, -1), -1);
    unit_expect_error(AXLE_ERR_SHAPE, "rank 0");
}

static void lists_of_dims_become_masks(void **state)
{
    (void)state;
    uint32_t mask;
    assert_true(axle__dims_mask("test", 3, 0, NULL, &mask));
    assert_int_equal(mask, 7);
    assert_true(axle__dims_mask("test", 0, 0, NULL, &mask));
    assert_int_equal(mask, 0);
    assert_true(axle__dims_mask("test", 4, 2, (int[]){-1, 0}, &mask));
    assert_int_equal(mask, 9);
    assert_false(axle__dims_mask("test", 3, 2, (int[]){2, -1}, &mask));
    unit_expect_error(AXLE_ERR_SHAPE, "dim 2 is listed twice");
    assert_false(axle__dims_mask("test", 3, -1, (int[]){0}, &mask));
    unit_expect_error(AXLE_ERR_INVALID, "-1");
    assert_false(axle__dims_mask("test", 3, 1, NULL, &mask));
    unit_expect_error(AXLE_ERR_INVALID, "1 dims");
}

static const struct CMUnitTest tests[] = {
    UNIT("elements are counted, none and one included", elements_are_counted),
    UNIT("sizes that overflow are refused", sizes_that_overflow_are_refused),
    UNIT("shapes broadcast as in NumPy", shapes_broadcast_as_in_numpy),
    UNIT("row-major views are known, empty ones included", row_major_views_are_known),
    UNIT("dense views have no gaps", dense_views_have_no_gaps),
    UNIT("channels-last strides put channels last", channels_last_puts_channels_last),
    UNIT("contiguous dims merge to one", contiguous_dims_merge_to_one),
    UNIT("dims of 1 merge away", scalars_merge_to_rank_0),
    UNIT("a dim that one view repeats stays apart", what_one_view_repeats_stays_apart),
    UNIT("reordering makes transposed views one row", reordering_makes_transposed_views_one_row),
    UNIT("merging keeps all elements together and in order", merging_keeps_the_elements),
    UNIT("dims count from both ends", dims_count_from_both_ends),
    UNIT("lists of dims become masks", lists_of_dims_become_masks),
};

UNIT_MAIN(tests)
