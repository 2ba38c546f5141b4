/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/random.h"

#include <pthread.h>

#include "tensors.h"

/* Known answers of the Random123 distribution, for a key and counter that fit our interface. */
static void philox_gives_the_published_numbers(void **state)
{
    (void)state;
    uint32_t out[4];
    const uint32_t zero[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    axle__philox(0, 0, out);
    assert_memory_equal(out, zero, sizeof(out));
}

static void equal_seeds_give_equal_draws(void **state)
{
    (void)state;
    axle_seed(5);
    axle_tensor *a = axle_rand(AXLE_DTYPE_F32, AXLE_DIMS(101));
    axle_tensor *an = axle_randn(AXLE_DTYPE_F64, AXLE_DIMS(101));
    axle_seed(5);
    axle_tensor *b = axle_rand(AXLE_DTYPE_F32, AXLE_DIMS(101));
    axle_tensor *bn = axle_randn(AXLE_DTYPE_F64, AXLE_DIMS(101));
    EXPECT(axle_all(axle_eq(a, b), 0, NULL, 0), 1);
    EXPECT(axle_all(axle_eq(an, bn), 0, NULL, 0), 1);
}

static void other_seeds_and_draws_differ(void **state)
{
    (void)state;
    axle_tensor *draw[4];
    axle_seed(5);
    draw[0] = axle_rand(AXLE_DTYPE_F32, AXLE_DIMS(64));
    draw[1] = axle_rand(AXLE_DTYPE_F32, AXLE_DIMS(64));
    axle_seed(6);
    draw[2] = axle_rand(AXLE_DTYPE_F32, AXLE_DIMS(64));
    axle_random_set((axle_random_state){.seed = 5, .update = 1});
    draw[3] = axle_rand(AXLE_DTYPE_F32, AXLE_DIMS(64));
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            EXPECT(axle_any(axle_eq(draw[i], draw[k]), 0, NULL, 0), 0);
}

static void the_state_can_be_kept_and_restored(void **state)
{
    (void)state;
    axle_seed(9);
    axle_rand(AXLE_DTYPE_F32, AXLE_DIMS(3));
    axle_random_state kept = axle_random_get();
    assert_int_equal(kept.seed, 9);
    assert_int_equal(kept.draw, 1);
    axle_tensor *a = axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(10));
    axle_random_set(kept);
    axle_tensor *b = axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(10));
    EXPECT(axle_all(axle_eq(a, b), 0, NULL, 0), 1);
}

/* The first elements of a draw do not depend on how many follow, nor on its dims. */
static void draws_are_numbered_by_element(void **state)
{
    (void)state;
    axle_seed(1);
    axle_tensor *a = axle_rand(AXLE_DTYPE_F64, AXLE_DIMS(3, 7));
    axle_seed(1);
    axle_tensor *b = axle_rand(AXLE_DTYPE_F64, AXLE_DIMS(1000));
    EXPECT(axle_all(axle_eq(axle_flatten(a, 0, 1), axle_slice(b, 0, 0, 21, 1)), 0, NULL, 0), 1);
    axle_seed(1);
    double uniform = axle__philox_uniform(axle__random_next_key(), 17), value;
    assert_int_equal(axle_tensor_item(axle_select(b, 0, 17), &value), AXLE_OK);
    assert_true(value == uniform);
}

static double mean_of(axle_tensor *x)
{
    double value;
    assert_int_equal(axle_tensor_item(axle_mean_all(x), &value), AXLE_OK);
    return value;
}

static void uniforms_fill_the_unit_interval(void **state)
{
    (void)state;
    axle_seed(2);
    axle_tensor *x = axle_rand(AXLE_DTYPE_F64, AXLE_DIMS(100000));
    axle_tensor *zero = axle_scalar(AXLE_DTYPE_F64, 0), *one = axle_scalar(AXLE_DTYPE_F64, 1);
    EXPECT(axle_all(axle_logical_and(axle_ge(x, zero), axle_lt(x, one)), 0, NULL, 0), 1);
    assert_true(fabs(mean_of(x) - 0.5) < 0.005);
    assert_true(fabs(mean_of(axle_square(axle_add_scalar(x, -0.5))) - 1.0 / 12) < 0.002);
}

static void normals_have_the_moments_of_a_normal(void **state)
{
    (void)state;
    axle_seed(2);
    axle_tensor *x = axle_randn(AXLE_DTYPE_F64, AXLE_DIMS(200001));
    axle_tensor *square = axle_square(x);
    assert_true(fabs(mean_of(x)) < 0.01);
    assert_true(fabs(mean_of(square) - 1) < 0.02);
    assert_true(fabs(mean_of(axle_mul(square, x))) < 0.05);
    assert_true(fabs(mean_of(axle_square(square)) - 3) < 0.1);
    axle_tensor *next = axle_mul(axle_slice(x, 0, 1, 200001, 1), axle_slice(x, 0, 0, 200000, 1));
    assert_true(fabs(mean_of(next)) < 0.01);
    EXPECT(axle_all(axle_is_finite(x), 0, NULL, 0), 1);
}

static void halves_round_the_same_draw(void **state)
{
    (void)state;
    axle_seed(4);
    axle_tensor *wide = axle_randn(AXLE_DTYPE_F64, AXLE_DIMS(50));
    axle_seed(4);
    axle_tensor *half = axle_randn(AXLE_DTYPE_BF16, AXLE_DIMS(50));
    EXPECT(axle_all(axle_eq(axle_cast(wide, AXLE_DTYPE_BF16), half), 0, NULL, 0), 1);
}

static void *draw_elsewhere(void *user)
{
    *(axle_random_state *)user = axle_random_get();
    axle_seed(77);
    axle_rand(AXLE_DTYPE_F32, AXLE_DIMS(4));
    return NULL;
}

static void each_thread_has_its_own_stream(void **state)
{
    (void)state;
    pthread_t thread;
    axle_random_state theirs;
    axle_seed(3);
    axle_rand(AXLE_DTYPE_F32, AXLE_DIMS(4));
    assert_int_equal(pthread_create(&thread, NULL, draw_elsewhere, &theirs), 0);
    pthread_join(thread, NULL);
    assert_int_equal(theirs.seed, 0);
    assert_int_equal(axle_random_get().seed, 3);
    assert_int_equal(axle_random_get().draw, 1);
}

static void empty_draws_are_fine(void **state)
{
    (void)state;
    assert_int_equal(axle_tensor_count(axle_rand(AXLE_DTYPE_F32, AXLE_DIMS(0, 3))), 0);
    assert_int_equal(axle_tensor_count(axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(0))), 0);
    assert_int_equal(axle_tensor_count(axle_dropout(axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(0)), 0.5)),
                     0);
}

static axle_tensor *drawn_from_row(axle_tensor *(*draw)(int, int, const int64_t *), int64_t row,
                                   int64_t rows)
{
    axle_random_set((axle_random_state){.seed = 5, .row = row});
    return draw(AXLE_DTYPE_F64, AXLE_DIMS(rows, 3));
}

static void parts_of_a_batch_draw_its_parts(void **state)
{
    (void)state;
    axle_tensor *(*const draws[])(int, int, const int64_t *) = {axle_rand, axle_randn};
    for (int k = 0; k < 2; k++) {
        axle_tensor *whole = drawn_from_row(draws[k], 0, 4);
        axle_tensor *part[] = {drawn_from_row(draws[k], 0, 1), drawn_from_row(draws[k], 1, 2),
                               drawn_from_row(draws[k], 3, 1)};
        EXPECT(axle_all(axle_eq(whole, axle_concat(part, 3, 0)), 0, NULL, 0), 1);
    }
    axle_seed(0);
}

/* Rows keep their mask when a batch begins at another row. */
static void dropout_is_keyed_by_the_global_row(void **state)
{
    (void)state;
    axle_tensor *x = axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(6, 5));
    axle_random_set((axle_random_state){.seed = 8});
    axle_tensor *whole = axle_dropout(x, 0.4);
    axle_random_set((axle_random_state){.seed = 8, .row = 2});
    axle_tensor *part = axle_dropout(axle_slice(x, 0, 2, 6, 1), 0.4);
    EXPECT(axle_all(axle_eq(axle_slice(whole, 0, 2, 6, 1), part), 0, NULL, 0), 1);
}

static const struct CMUnitTest tests[] = {
    TENSORS("Philox gives the published numbers", philox_gives_the_published_numbers),
    TENSORS("equal seeds give equal draws", equal_seeds_give_equal_draws),
    TENSORS("other seeds, updates and draws differ", other_seeds_and_draws_differ),
    TENSORS("the state can be kept and restored", the_state_can_be_kept_and_restored),
    TENSORS("draws are numbered by element", draws_are_numbered_by_element),
    TENSORS("uniforms fill the unit interval", uniforms_fill_the_unit_interval),
    TENSORS("normals have the moments of a normal", normals_have_the_moments_of_a_normal),
    TENSORS("halves round the same draw", halves_round_the_same_draw),
    TENSORS("each thread has a stream of its own", each_thread_has_its_own_stream),
    TENSORS("empty draws are fine", empty_draws_are_fine),
    TENSORS("parts of a batch draw their parts", parts_of_a_batch_draw_its_parts),
    TENSORS("dropout is keyed by the global row", dropout_is_keyed_by_the_global_row),
};

UNIT_MAIN(tests)
