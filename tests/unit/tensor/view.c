/* SPDX-License-Identifier: Apache-2.0 */
#include "tensors.h"

static void expect_like(axle_tensor *x, const axle_tensor *y)
{
    assert_int_equal(axle_tensor_count(x), axle_tensor_count(y));
    double *a = tensors_read(x), *b = tensors_read((axle_tensor *)y);
    assert_memory_equal(a, b, (size_t)axle_tensor_count(x) * sizeof(double));
    free(a);
    free(b);
}

static void reshape_shares_where_strides_allow(void **state)
{
    (void)state;
    axle_tensor *x = tensors_count(AXLE_DIMS(2, 3, 4));
    axle_tensor *y = axle_reshape(x, AXLE_DIMS(6, -1));
    EXPECT_DIMS(y, 6, 4);
    assert_true(axle_tensor_shares_storage(x, y));
    axle_tensor *t = axle_transpose(x, 0, 1);
    assert_false(axle_tensor_shares_storage(x, axle_reshape(t, AXLE_DIMS(24))));
    axle_tensor *split = axle_reshape(t, AXLE_DIMS(3, 2, 2, 2));
    assert_true(axle_tensor_shares_storage(x, split));
    expect_like(axle_reshape(split, AXLE_DIMS(-1)), axle_reshape(t, AXLE_DIMS(-1)));
}

static void scalars_reshape_to_dims_of_1(void **state)
{
    (void)state;
    axle_tensor *x = axle_scalar(AXLE_DTYPE_F64, 3);
    EXPECT_DIMS(axle_reshape(x, AXLE_DIMS(1, 1, 1, 1, 1, 1, 1, 1)), 1, 1, 1, 1, 1, 1, 1, 1);
    axle_tensor *back = axle_reshape(axle_reshape(x, AXLE_DIMS(1, 1)), AXLE_SCALAR);
    assert_int_equal(axle_tensor_rank(back), 0);
    EXPECT(back, 3);
    EXPECT_DIMS(axle_flatten(x, 0, -1), 1);
}

static void empty_tensors_reshape(void **state)
{
    (void)state;
    axle_tensor *x = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(0, 4));
    EXPECT_DIMS(axle_reshape(x, AXLE_DIMS(2, 0, 3)), 2, 0, 3);
    EXPECT_DIMS(axle_reshape(x, AXLE_DIMS(-1, 7)), 0, 7);
    assert_null(axle_reshape(x, AXLE_DIMS(0, -1)));
    unit_expect_error(AXLE_ERR_SHAPE, "reshape: (0, 4) does not fit into (0, -1)");
    EXPECT_DIMS(axle_flatten(x, 0, 1), 0);
    assert_true(axle_tensor_is_contiguous(axle_transpose(x, 0, 1)));
}

/* Element (i, j, k) of a (2, 3, 4) count. */
static void permute_reorders(void **state)
{
    (void)state;
    axle_tensor *x = tensors_count(AXLE_DIMS(2, 3, 4));
    axle_tensor *y = axle_permute(x, (int[]){2, -3, 1});
    EXPECT_DIMS(y, 4, 2, 3);
    assert_true(axle_tensor_shares_storage(x, y));
    double *values = tensors_read(y);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                assert_true(values[(k * 2 + i) * 3 + j] == (i * 3 + j) * 4 + k);
    free(values);
    EXPECT(axle_permute(axle_scalar(AXLE_DTYPE_F64, 1), NULL), 1);
}

static void expand_repeats_without_a_copy(void **state)
{
    (void)state;
    axle_tensor *x = tensors_count(AXLE_DIMS(2, 1));
    axle_tensor *y = axle_expand(x, AXLE_DIMS(2, 2, 3));
    assert_true(axle_tensor_shares_storage(x, y));
    assert_int_equal(axle_tensor_strides(y)[0], 0);
    EXPECT(y, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1);
    EXPECT_DIMS(axle_expand(x, AXLE_DIMS(0, 2, 1)), 0, 2, 1);
    EXPECT_DIMS(axle_expand(axle_scalar(AXLE_DTYPE_F64, 1), AXLE_DIMS(INT64_C(1) << 40)),
                INT64_C(1) << 40);
    EXPECT(axle_reshape(y, AXLE_DIMS(12)), 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1);
}

static void slices_follow_pythons_rules(void **state)
{
    (void)state;
    axle_tensor *x = tensors_count(AXLE_DIMS(6));
    EXPECT(axle_slice(x, 0, 1, 4, 1), 1, 2, 3);
    EXPECT(axle_slice(x, 0, -3, -1, 1), 3, 4);
    EXPECT(axle_slice(x, -1, 0, INT64_MAX, 4), 0, 4);
    EXPECT(axle_slice(x, 0, INT64_MIN, 2, 1), 0, 1);
    EXPECT(axle_slice(x, 0, 1, 6, 2), 1, 3, 5);
    EXPECT(axle_slice(x, 0, 2, 3, INT64_MAX), 2);
    EXPECT(axle_slice(x, 0, 5, INT64_MAX, INT64_MAX), 5);
    EXPECT_DIMS(axle_slice(x, 0, 4, 2, 1), 0);
    EXPECT_DIMS(axle_slice(x, 0, 6, 9, 1), 0);
    EXPECT_DIMS(axle_slice(x, 0, 100, INT64_MAX, 1), 0);
    axle_tensor *m = tensors_count(AXLE_DIMS(3, 4));
    EXPECT(axle_slice(axle_slice(m, 0, 1, 3, 1), 1, -1, 4, 1), 7, 11);
    EXPECT(axle_slice(axle_slice(x, 0, 1, 6, 2), 0, 1, 3, 1), 3, 5);
}

static void slices_of_empty_tensors_are_empty(void **state)
{
    (void)state;
    axle_tensor *x = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(3, 0));
    EXPECT_DIMS(axle_slice(x, 0, 1, 3, 1), 2, 0);
    EXPECT_DIMS(axle_select(x, 0, 2), 0);
    axle_tensor *none = axle_slice(tensors_count(AXLE_DIMS(3)), 0, 3, 3, 1);
    void *address;
    assert_int_equal(axle_tensor_data(none, &address), AXLE_OK);
    EXPECT_DIMS(axle_reshape(axle_slice(axle_unsqueeze(none, 0), 1, 0, 9, 2), AXLE_DIMS(0)), 0);
}

static void select_drops_the_dim(void **state)
{
    (void)state;
    axle_tensor *x = tensors_count(AXLE_DIMS(2, 3));
    EXPECT(axle_select(x, 0, -1), 3, 4, 5);
    EXPECT(axle_select(x, 1, 1), 1, 4);
    axle_tensor *one = axle_select(axle_select(x, 0, 1), 0, 2);
    assert_int_equal(axle_tensor_rank(one), 0);
    EXPECT(one, 5);
    assert_null(axle_select(x, 1, 3));
    unit_expect_error(AXLE_ERR_INDEX, "select: index 3 is out of range for dim 1 of 3");
    assert_null(axle_select(x, 0, -3));
    unit_expect_error(AXLE_ERR_INDEX, "index -3");
    assert_null(axle_select(axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(0)), 0, 0));
    unit_expect_error(AXLE_ERR_INDEX, "dim 0 of 0");
}

static void dims_of_1_come_and_go(void **state)
{
    (void)state;
    axle_tensor *x = tensors_count(AXLE_DIMS(2, 3));
    EXPECT_DIMS(axle_unsqueeze(x, 0), 1, 2, 3);
    EXPECT_DIMS(axle_unsqueeze(x, -1), 2, 3, 1);
    EXPECT_DIMS(axle_unsqueeze(axle_transpose(x, 0, 1), 1), 3, 1, 2);
    EXPECT_DIMS(axle_squeeze(axle_unsqueeze(x, 1), -2), 2, 3);
    axle_tensor *wide = axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(1, 1, 1, 1, 1, 1, 1, 1));
    assert_null(axle_unsqueeze(wide, 0));
    unit_expect_error(AXLE_ERR_SHAPE, "unsqueeze: rank 9");
}

static void eight_dims_work(void **state)
{
    (void)state;
    axle_tensor *x = tensors_count(AXLE_DIMS(2, 1, 2, 1, 2, 1, 2, 2));
    axle_tensor *y = axle_permute(x, (int[]){7, 6, 5, 4, 3, 2, 1, 0});
    axle_tensor *z = axle_add(axle_contiguous(y), axle_neg(y));
    EXPECT_DIMS(z, 2, 2, 1, 2, 1, 2, 1, 2);
    EXPECT(axle_sum_all(axle_abs(z)), 0);
    EXPECT(axle_sum(x, 7, (int[]){0, 1, 2, 3, 4, 5, 6}, 0), 240, 256);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* Chains of random views read the same as after copying at every step. */
static void views_of_views_read_like_copies(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int round = 0; round < 400; round++) {
        axle_scope_push();
        axle_tensor *view = tensors_count(AXLE_DIMS(3, 4, 2, 5)), *copy = view;
        for (int step = 0; step < 5 && axle_tensor_count(view) > 0; step++) {
            int rank = axle_tensor_rank(view), a = (int)next_random(&seed) % rank;
            int b = (int)next_random(&seed) % rank;
            int64_t size = axle_tensor_dim(view, a), n = axle_tensor_count(view);
            int64_t start = next_random(&seed) % size, step_size = 1 + next_random(&seed) % 2;
            int64_t half[] = {n % 2 ? 1 : 2, n % 2 ? n : n / 2};
            int64_t wide[] = {2, axle_tensor_dim(view, 0), axle_tensor_dim(view, -1)};
            axle_tensor *in[] = {view, copy}, *out[2] = {NULL, NULL};
            uint32_t kind = next_random(&seed) % 5;
            for (int k = 0; k < 2; k++) {
                if (kind < 2)
                    out[k] = axle_transpose(in[k], a, b);
                else if (kind == 2)
                    out[k] = axle_slice(in[k], a, start, size, step_size);
                else if (kind == 3)
                    out[k] = axle_reshape(in[k], 2, half);
                else
                    out[k] = rank == 2 ? axle_expand(in[k], 3, wide) : in[k];
                if (!out[k])
                    fail_msg("%s", axle_error_message());
            }
            view = out[0];
            copy = axle_clone(out[1]);
        }
        expect_like(view, copy);
        axle_scope_pop();
    }
}

static const struct CMUnitTest tests[] = {
    TENSORS("reshape shares storage where strides allow", reshape_shares_where_strides_allow),
    TENSORS("scalars reshape to dims of 1 and back", scalars_reshape_to_dims_of_1),
    TENSORS("empty tensors reshape", empty_tensors_reshape),
    TENSORS("permute reorders dims, negative ones included", permute_reorders),
    TENSORS("expand repeats without a copy", expand_repeats_without_a_copy),
    TENSORS("slices follow Python's rules", slices_follow_pythons_rules),
    TENSORS("slices of empty tensors are empty", slices_of_empty_tensors_are_empty),
    TENSORS("select drops the dim and checks the index", select_drops_the_dim),
    TENSORS("dims of 1 come and go", dims_of_1_come_and_go),
    TENSORS("eight dims work, nine do not", eight_dims_work),
    TENSORS("views of views read like copies", views_of_views_read_like_copies),
};

UNIT_MAIN(tests)
