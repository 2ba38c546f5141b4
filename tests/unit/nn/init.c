/* SPDX-License-Identifier: Apache-2.0 */
#include "golden_layer.h"

#include <math.h>

#include "axle/random.h"
#include "tensor/random.h"

enum { SEED = 17 };

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1.0, fabs(b));
}

/* The tensor holds what `draw` gives as draw number `skip` after the seed, times `scale`, plus
 * `shift`. */
static void expect_draw(axle_tensor *tensor,
                        void (*draw)(uint64_t key, uint64_t first, double *out, int64_t n),
                        int skip, double scale, double shift)
{
    int64_t n = axle_tensor_count(tensor);
    double *expected = malloc((size_t)n * sizeof(*expected)), *got = values_of(tensor);
    axle_seed(SEED);
    for (int k = 0; k < skip; k++)
        axle__random_next_key();
    draw(axle__random_next_key(), 0, expected, n);
    for (int64_t i = 0; i < n; i++)
        if (!near(got[i], shift + scale * expected[i]))
            fail_msg("element %d is %.17g, not %.17g", (int)i, got[i], shift + scale * expected[i]);
    free(expected);
    free(got);
}

static void expect_bound(axle_tensor *tensor, int skip, double bound)
{
    expect_draw(tensor, axle__random_uniform, skip, 2.0 * bound, -bound);
}

static void expect_std(axle_tensor *tensor, int skip, double std)
{
    expect_draw(tensor, axle__random_normal, skip, std, 0.0);
}

/* The number that a case expects. */
static double expected(const json_t *one, size_t k)
{
    return golden_value(golden_output(one, k), 0);
}

static axle_tensor *shaped(const json_t *one)
{
    int64_t dims[AXLE_MAX_RANK];
    int rank = golden_list(one, "shape", dims, AXLE_MAX_RANK);
    return made(axle_zeros(AXLE_DTYPE_F64, rank, dims));
}

/* ---- functions */

static void check_xavier_uniform(json_t *one)
{
    axle_tensor *x = shaped(one);
    axle_seed(SEED);
    assert_ok(axle_init_xavier_uniform(x, golden_number(one, "gain", 1.0)));
    expect_bound(x, 0, expected(one, 0));
}

static void check_xavier_normal(json_t *one)
{
    axle_tensor *x = shaped(one);
    axle_seed(SEED);
    assert_ok(axle_init_xavier_normal(x, golden_number(one, "gain", 1.0)));
    expect_std(x, 0, expected(one, 0));
}

/* A slope of 1 is what makes the gain 1, that of no nonlinearity. */
static double slope(const json_t *one)
{
    bool linear = strcmp(golden_text(one, "nonlinearity"), "linear") == 0;
    return linear ? 1.0 : golden_number(one, "a", 0.0);
}

static void check_kaiming_uniform(json_t *one)
{
    axle_tensor *x = shaped(one);
    if (strcmp(golden_text(one, "mode"), "fan_in") != 0)
        return; /* only the normal one takes the other fan */
    axle_seed(SEED);
    assert_ok(axle_init_kaiming_uniform(x, slope(one)));
    expect_bound(x, 0, expected(one, 0));
}

static void check_kaiming_normal(json_t *one)
{
    axle_tensor *x = shaped(one);
    axle_seed(SEED);
    assert_ok(
        axle_init_kaiming_normal(x, slope(one), strcmp(golden_text(one, "mode"), "fan_out") == 0));
    expect_std(x, 0, expected(one, 0));
}

static void initialisers_draw_within_the_bounds_of_pytorch(void **state)
{
    (void)state;
    layer_each("initializer", "xavier_uniform", check_xavier_uniform);
    layer_each("initializer", "xavier_normal", check_xavier_normal);
    layer_each("initializer", "kaiming_uniform", check_kaiming_uniform);
    layer_each("initializer", "kaiming_normal", check_kaiming_normal);
}

/* ---- layers */

static void check_linear(json_t *one)
{
    axle_module *module;
    axle_seed(SEED);
    assert_ok(axle_linear_create(golden_integer(one, "in_features", 0),
                                 golden_integer(one, "out_features", 0), 1, &module));
    expect_bound(axle_module_parameter(module, "weight"), 0, expected(one, 0));
    expect_bound(axle_module_parameter(module, "bias"), 1, expected(one, 1));
    axle_module_release(module);
}

static void check_conv(json_t *one)
{
    axle_module *module;
    axle_conv_options options = AXLE_CONV_OPTIONS_INIT;
    options.in_channels = golden_integer(one, "in_channels", 0);
    options.out_channels = golden_integer(one, "out_channels", 0);
    golden_list(one, "kernel", options.kernel, 3);
    options.params.groups = golden_integer(one, "groups", 1);
    options.transposed = strcmp(golden_op(one), "conv_transpose2d") == 0;
    axle_seed(SEED);
    assert_ok(axle_conv_create(&options, &module));
    expect_bound(axle_module_parameter(module, "weight"), 0, expected(one, 0));
    expect_bound(axle_module_parameter(module, "bias"), 1, expected(one, 1));
    axle_module_release(module);
}

static void check_embedding(json_t *one)
{
    axle_module *module;
    axle_seed(SEED);
    assert_ok(axle_embedding_create(golden_integer(one, "num_embeddings", 0),
                                    golden_integer(one, "embedding_dim", 0), -1, &module));
    expect_std(axle_module_parameter(module, "weight"), 0, expected(one, 0));
    axle_module_release(module);
}

static void check_rnn(json_t *one)
{
    static const char *const names[] = {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"};
    axle_module *module;
    axle_rnn_options options = AXLE_RNN_OPTIONS_INIT;
    options.kind = strcmp(golden_op(one), "lstm") == 0 ? AXLE_RNN_LSTM : AXLE_RNN_GRU;
    options.input = golden_integer(one, "input_size", 0);
    options.hidden = golden_integer(one, "hidden_size", 0);
    axle_seed(SEED);
    assert_ok(axle_rnn_create(&options, &module));
    for (int k = 0; k < 4; k++)
        expect_bound(axle_module_parameter(module, names[k]), k, expected(one, 0));
    axle_module_release(module);
}

static void expect_constant(axle_tensor *tensor, double value)
{
    double *values = values_of(tensor);
    for (int64_t i = 0; i < axle_tensor_count(tensor); i++)
        assert_true(values[i] == value);
    free(values);
}

static void check_attention(json_t *one)
{
    axle_module *module;
    int features = golden_integer(one, "embed_dim", 0);
    axle_seed(SEED);
    assert_ok(axle_multihead_attention_create(features, 2, 0.0, &module));
    expect_bound(axle_module_parameter(module, "in_proj_weight"), 0, expected(one, 0));
    expect_bound(axle_module_parameter(module, "out_proj.weight"), 1, 1.0 / sqrt(features));
    expect_constant(axle_module_parameter(module, "in_proj_bias"), 0.0);
    expect_constant(axle_module_parameter(module, "out_proj.bias"), 0.0);
    axle_module_release(module);
}

static void layers_start_as_those_of_pytorch(void **state)
{
    (void)state;
    layer_each("initializer", "linear", check_linear);
    layer_each("initializer", "conv2d", check_conv);
    layer_each("initializer", "conv_transpose2d", check_conv);
    layer_each("initializer", "embedding", check_embedding);
    layer_each("initializer", "lstm", check_rnn);
    layer_each("initializer", "gru", check_rnn);
    layer_each("initializer", "multihead_attention", check_attention);
}

static void norms_start_as_the_identity(void **state)
{
    (void)state;
    axle_module *module;
    assert_ok(axle_batch_norm_create(3, 1e-5, 0.1, &module));
    expect_constant(axle_module_parameter(module, "weight"), 1.0);
    expect_constant(axle_module_parameter(module, "bias"), 0.0);
    expect_constant(axle_module_buffer(module, "running_mean"), 0.0);
    expect_constant(axle_module_buffer(module, "running_var"), 1.0);
    expect_constant(axle_module_buffer(module, "num_batches_tracked"), 0.0);
    axle_module_release(module);
}

/* ---- properties */

static void equal_seeds_give_equal_parameters_and_each_draw_is_another(void **state)
{
    (void)state;
    axle_module *a, *b, *c;
    axle_seed(5);
    assert_ok(axle_linear_create(3, 2, 1, &a));
    axle_seed(5);
    assert_ok(axle_linear_create(3, 2, 1, &b));
    assert_ok(axle_linear_create(3, 2, 1, &c));
    expect_equal(axle_module_parameter(a, "weight"), axle_module_parameter(b, "weight"));
    expect_equal(axle_module_parameter(a, "bias"), axle_module_parameter(b, "bias"));
    double *x = values_of(axle_module_parameter(b, "weight"));
    double *y = values_of(axle_module_parameter(c, "weight"));
    assert_int_not_equal(memcmp(x, y, 6 * sizeof(double)), 0);
    free(x);
    free(y);
    axle_module_release(a);
    axle_module_release(b);
    axle_module_release(c);
}

static void views_and_halves_can_be_filled(void **state)
{
    (void)state;
    axle_tensor *x = made(axle_zeros(AXLE_DTYPE_F16, AXLE_DIMS(3, 4)));
    axle_seed(SEED);
    assert_ok(axle_init_uniform(axle_slice(x, 1, 1, 3, 1), 4.0, 5.0));
    double *values = values_of(x);
    for (int k = 0; k < 12; k++) {
        bool inside = k % 4 == 1 || k % 4 == 2;
        assert_true(inside ? values[k] >= 4.0 && values[k] <= 5.0 : values[k] == 0.0);
    }
    free(values);
    axle_scope_pop();
}

/* Rows of a number of elements that no block of random numbers divides. */
static void many_elements_are_one_draw(void **state)
{
    (void)state;
    axle_tensor *x = made(axle_zeros(AXLE_DTYPE_F64, AXLE_DIMS(5, 7, 4001)));
    axle_tensor *y = made(axle_zeros(AXLE_DTYPE_F64, AXLE_DIMS(2, 70001)));
    axle_seed(SEED);
    assert_ok(axle_init_uniform(x, -2.0, 2.0));
    assert_ok(axle_init_normal(y, 0.0, 3.0));
    expect_draw(x, axle__random_uniform, 0, 4.0, -2.0);
    expect_draw(y, axle__random_normal, 1, 3.0, 0.0);
    axle_scope_pop();
}

static void initialisers_refuse_what_cannot_be(void **state)
{
    (void)state;
    axle_tensor *x = made(axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(3)));
    axle_tensor *ids = made(axle_zeros(AXLE_DTYPE_I64, AXLE_DIMS(3, 3)));
    assert_int_equal(axle_init_kaiming_uniform(x, 0.0), AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "(3)");
    assert_int_equal(axle_init_xavier_normal(ids, 1.0), AXLE_ERR_DTYPE);
    axle_error_clear();
    assert_int_equal(axle_init_uniform(x, 1.0, 0.0), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "[1, 0)");
    assert_int_equal(axle_init_normal(x, 0.0, -1.0), AXLE_ERR_INVALID);
    axle_error_clear();
    assert_int_equal(axle_init_uniform(NULL, 0.0, 1.0), AXLE_ERR_INVALID);
    axle_error_clear();
    assert_ok(axle_init_kaiming_normal(axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(0, 4)), 0.0, 1));
    axle_scope_pop();
}

static const struct CMUnitTest tests[] = {
    UNIT("initialisers draw within the bounds of PyTorch",
         initialisers_draw_within_the_bounds_of_pytorch),
    UNIT("layers start as those of PyTorch", layers_start_as_those_of_pytorch),
    UNIT("norms start as the identity", norms_start_as_the_identity),
    UNIT("equal seeds give equal parameters, and each draw is another",
         equal_seeds_give_equal_parameters_and_each_draw_is_another),
    UNIT("views and halves can be filled", views_and_halves_can_be_filled),
    UNIT("many elements are one draw", many_elements_are_one_draw),
    UNIT("initialisers refuse what cannot be", initialisers_refuse_what_cannot_be),
};
UNIT_MAIN(tests)
