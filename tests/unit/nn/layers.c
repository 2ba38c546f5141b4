/* SPDX-License-Identifier: Apache-2.0 */
#include "nn.h"

static axle_module *activation(const char *name)
{
    axle_module *module;
    assert_ok(axle_activation_create(name, &module));
    return module;
}

static axle_module *sequence(axle_module *first, axle_module *second)
{
    axle_module *module;
    assert_ok(axle_sequential_create(&module));
    assert_ok(axle_module_add_child(module, NULL, first));
    if (second)
        assert_ok(axle_module_add_child(module, NULL, second));
    return module;
}

static axle_tensor *random_input(int rank, const int64_t *dims)
{
    return made(axle_randn(axle_default_dtype(), rank, dims));
}

/* ---- names of parameters, and shapes */

static void linear_has_weight_and_bias(void **state)
{
    (void)state;
    axle_module *module;
    assert_ok(axle_linear_create(5, 3, 1, &module));
    expect_parameters(module, "weight(3,5) bias(3)");
    expect_dims(axle_module_forward(module, random_input(AXLE_DIMS(2, 4, 5))), AXLE_DIMS(2, 4, 3));
    assert_null(axle_module_forward(module, random_input(AXLE_DIMS(2, 4))));
    assert_int_equal(axle_error_code(), AXLE_ERR_SHAPE);
    axle_error_clear();
    axle_module_release(module);
    assert_ok(axle_linear_create(5, 3, 0, &module));
    expect_parameters(module, "weight(3,5)");
    axle_module_release(module);
    axle_scope_pop();
}

static void a_linear_layer_without_inputs_gives_its_bias(void **state)
{
    (void)state;
    axle_module *module;
    assert_ok(axle_linear_create(0, 2, 1, &module));
    assert_ok(axle_init_constant(axle_module_parameter(module, "bias"), 3.0));
    double *y = values_of(made(axle_module_forward(module, random_input(AXLE_DIMS(2, 0)))));
    for (int i = 0; i < 4; i++)
        assert_true(y[i] == 3.0);
    free(y);
    axle_module_release(module);
    axle_scope_pop();
}

static void convolutions_have_the_weights_of_pytorch(void **state)
{
    (void)state;
    axle_module *module;
    axle_conv_options options = AXLE_CONV_OPTIONS_INIT;
    options.in_channels = 4;
    options.out_channels = 6;
    options.kernel[1] = 2;
    options.params.groups = 2;
    options.params.padding[0] = 1;
    assert_ok(axle_conv_create(&options, &module));
    expect_parameters(module, "weight(6,2,3,2) bias(6)");
    expect_dims(axle_module_forward(module, random_input(AXLE_DIMS(1, 4, 5, 5))),
                AXLE_DIMS(1, 6, 5, 4));
    assert_null(axle_module_forward(module, random_input(AXLE_DIMS(1, 4, 5))));
    unit_expect_error(AXLE_ERR_SHAPE, "(1, 4, 5)");
    axle_module_release(module);
    options.transposed = 1;
    options.bias = 0;
    options.params.stride[0] = options.params.stride[1] = 2;
    options.params.output_padding[0] = 1;
    assert_ok(axle_conv_create(&options, &module));
    expect_parameters(module, "weight(4,3,3,2)");
    expect_dims(axle_module_forward(module, random_input(AXLE_DIMS(1, 4, 5, 5))),
                AXLE_DIMS(1, 6, 10, 10));
    axle_module_release(module);
    axle_conv_options line = AXLE_CONV_OPTIONS_INIT;
    line.dims = 1;
    assert_ok(axle_conv_create(&line, &module));
    expect_parameters(module, "weight(1,1,3) bias(1)");
    axle_module_release(module);
    assert_ok(axle_conv2d_create(3, 8, 5, 2, 2, 1, &module));
    expect_parameters(module, "weight(8,3,5,5) bias(8)");
    expect_dims(axle_module_forward(module, random_input(AXLE_DIMS(2, 3, 8, 8))),
                AXLE_DIMS(2, 8, 4, 4));
    axle_module_release(module);
    axle_scope_pop();
}

static void pools_have_no_parameters_and_shrink_pictures(void **state)
{
    (void)state;
    axle_module *max, *avg, *one;
    axle_pool_params params = AXLE_POOL_PARAMS_INIT;
    params.stride[0] = params.stride[1] = 1;
    axle_tensor *x = random_input(AXLE_DIMS(2, 3, 6, 4));
    assert_ok(axle_max_pool_create(NULL, &max));
    assert_ok(axle_avg_pool_create(&params, &avg));
    assert_ok(axle_adaptive_avg_pool_create(2, (const int64_t[]){1, 2}, &one));
    expect_parameters(max, "");
    expect_dims(axle_module_forward(max, x), AXLE_DIMS(2, 3, 3, 2));
    expect_dims(axle_module_forward(avg, x), AXLE_DIMS(2, 3, 5, 3));
    expect_dims(axle_module_forward(one, x), AXLE_DIMS(2, 3, 1, 2));
    assert_null(axle_module_forward(one, random_input(AXLE_DIMS(2, 3, 6))));
    unit_expect_error(AXLE_ERR_SHAPE, "wants 2 dims");
    axle_module_release(max);
    axle_module_release(avg);
    axle_module_release(one);
    axle_scope_pop();
}

static void norms_have_the_names_of_pytorch(void **state)
{
    (void)state;
    axle_module *layer, *rms, *batch, *group;
    assert_ok(axle_layer_norm_create(4, 1e-5, &layer));
    assert_ok(axle_rms_norm_create(4, 1e-6, &rms));
    assert_ok(axle_batch_norm_create(4, 1e-5, 0.1, &batch));
    assert_ok(axle_group_norm_create(2, 4, 1e-5, &group));
    expect_parameters(layer, "weight(4) bias(4)");
    expect_parameters(rms, "weight(4)");
    expect_parameters(batch, "weight(4) bias(4)");
    expect_buffers(batch, "running_mean(4) running_var(4) num_batches_tracked()");
    expect_parameters(group, "weight(4) bias(4)");
    expect_dims(axle_module_forward(layer, random_input(AXLE_DIMS(3, 2, 4))), AXLE_DIMS(3, 2, 4));
    expect_dims(axle_module_forward(rms, random_input(AXLE_DIMS(3, 4))), AXLE_DIMS(3, 4));
    expect_dims(axle_module_forward(batch, random_input(AXLE_DIMS(3, 4, 2))), AXLE_DIMS(3, 4, 2));
    expect_dims(axle_module_forward(group, random_input(AXLE_DIMS(3, 4))), AXLE_DIMS(3, 4));
    axle_module_release(layer);
    axle_module_release(rms);
    axle_module_release(batch);
    axle_module_release(group);
    axle_scope_pop();
}

static void batch_norm_counts_batches_and_moves_statistics_in_training_only(void **state)
{
    (void)state;
    axle_module *batch;
    double count;
    assert_ok(axle_batch_norm_create(2, 1e-5, 0.5, &batch));
    axle_tensor *x = made(axle_full(AXLE_DTYPE_F32, AXLE_DIMS(4, 2), 8.0));
    for (int k = 0; k < 3; k++)
        made(axle_module_forward(batch, x));
    axle_module_train(batch, 0);
    axle_tensor *y = made(axle_module_forward(batch, x));
    assert_ok(axle_tensor_item(axle_module_buffer(batch, "num_batches_tracked"), &count));
    assert_true(count == 3.0);
    double *mean = values_of(axle_module_buffer(batch, "running_mean"));
    assert_true(mean[0] == 7.0 && mean[1] == 7.0);
    double *value = values_of(y);
    /* The variance fell from 1 to 1/8, and the mean is 1 away. */
    assert_true(value[0] > 2.82 && value[0] < 2.83);
    free(mean);
    free(value);
    axle_module_release(batch);
    axle_scope_pop();
}

static void embedding_starts_with_a_zero_row_at_the_padding(void **state)
{
    (void)state;
    axle_module *module;
    assert_ok(axle_embedding_create(4, 3, 1, &module));
    expect_parameters(module, "weight(4,3)");
    double *weight = values_of(axle_module_parameter(module, "weight"));
    for (int k = 0; k < 3; k++)
        assert_true(weight[3 + k] == 0.0 && weight[k] != 0.0 && weight[6 + k] != 0.0);
    free(weight);
    axle_tensor *ids =
        axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(2, 2), (const int64_t[]){0, 1, 3, 1});
    axle_tensor *y = made(axle_module_forward(module, ids));
    expect_dims(y, AXLE_DIMS(2, 2, 3));
    assert_ok(axle_tensor_backward(axle_sum_all(y), NULL, 0));
    double *grad = values_of(axle_tensor_grad(axle_module_parameter(module, "weight")));
    assert_true(grad[0] == 1.0 && grad[3] == 0.0 && grad[6] == 0.0 && grad[9] == 1.0);
    free(grad);
    axle_module_release(module);
    axle_scope_pop();
}

static void dropout_drops_in_training_only(void **state)
{
    (void)state;
    axle_module *half, *none, *all;
    assert_ok(axle_dropout_create(0.5, &half));
    assert_ok(axle_dropout_create(0.0, &none));
    assert_ok(axle_dropout_create(1.0, &all));
    axle_tensor *x = made(axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(1000)));
    double *y = values_of(made(axle_module_forward(half, x)));
    int zeros = 0;
    for (int k = 0; k < 1000; k++) {
        assert_true(y[k] == 0.0 || y[k] == 2.0);
        zeros += y[k] == 0.0;
    }
    assert_in_range(zeros, 400, 600);
    free(y);
    assert_ptr_equal(axle_module_forward(none, x), x);
    y = values_of(made(axle_module_forward(all, x)));
    assert_true(y[0] == 0.0);
    free(y);
    axle_module_train(half, 0);
    assert_ptr_equal(axle_module_forward(half, x), x);
    axle_module_release(half);
    axle_module_release(none);
    axle_module_release(all);
    axle_scope_pop();
}

static void every_activation_runs_by_its_name(void **state)
{
    (void)state;
    const struct {
        const char *name;
        axle_tensor *(*fn)(axle_tensor *x);
    } table[] = {
        {"relu", axle_relu},          {"gelu", axle_gelu},
        {"gelu_new", axle_gelu_tanh}, {"gelu_pytorch_tanh", axle_gelu_tanh},
        {"silu", axle_silu},          {"gelu_tanh", axle_gelu_tanh},
        {"tanh", axle_tanh},          {"sigmoid", axle_sigmoid},
        {"mish", axle_mish},          {"hard_swish", axle_hard_swish},
        {"leaky_relu", NULL},         {"elu", NULL},
        {"softplus", NULL},           {"identity", NULL},
    };
    axle_tensor *x = random_input(AXLE_DIMS(7));
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
        axle_module *module = activation(table[k].name);
        axle_tensor *y = made(axle_module_forward(module, x));
        if (table[k].fn)
            expect_equal(y, table[k].fn(x));
        axle_module_release(module);
    }
    axle_module *module = activation("leaky_relu");
    expect_equal(axle_module_forward(module, x), axle_leaky_relu(x, 0.01));
    axle_module_release(module);
    module = activation("identity");
    assert_ptr_equal(axle_module_forward(module, x), x);
    axle_module_release(module);
    axle_scope_pop();
}

static void flatten_keeps_the_first_dim(void **state)
{
    (void)state;
    axle_module *module;
    assert_ok(axle_flatten_create(&module));
    expect_dims(axle_module_forward(module, random_input(AXLE_DIMS(2, 3, 4))), AXLE_DIMS(2, 12));
    axle_module_release(module);
    axle_scope_pop();
}

static void attention_and_encoder_layers_have_the_names_of_pytorch(void **state)
{
    (void)state;
    axle_module *attention, *layer;
    assert_ok(axle_multihead_attention_create(4, 2, 0.0, &attention));
    expect_parameters(attention, "in_proj_weight(12,4) in_proj_bias(12) out_proj.weight(4,4) "
                                 "out_proj.bias(4)");
    axle_encoder_layer_options options = AXLE_ENCODER_LAYER_OPTIONS_INIT;
    options.features = 4;
    options.hidden = 6;
    options.heads = 2;
    assert_ok(axle_encoder_layer_create(&options, &layer));
    expect_parameters(
        layer, "self_attn.in_proj_weight(12,4) self_attn.in_proj_bias(12) "
               "self_attn.out_proj.weight(4,4) self_attn.out_proj.bias(4) linear1.weight(6,4) "
               "linear1.bias(6) linear2.weight(4,6) linear2.bias(4) norm1.weight(4) "
               "norm1.bias(4) norm2.weight(4) norm2.bias(4)");
    axle_tensor *x = random_input(AXLE_DIMS(2, 3, 4));
    expect_dims(axle_module_forward(attention, x), AXLE_DIMS(2, 3, 4));
    expect_dims(axle_module_forward(layer, x), AXLE_DIMS(2, 3, 4));
    assert_null(axle_multihead_attention_forward(layer, x, x, x, NULL, 0));
    unit_expect_error(AXLE_ERR_INVALID, "encoder_layer");
    assert_null(axle_module_forward(attention, random_input(AXLE_DIMS(3, 4))));
    unit_expect_error(AXLE_ERR_SHAPE, "query is (3, 4)");
    axle_module_release(attention);
    axle_module_release(layer);
    axle_scope_pop();
}

static void dropout_inside_an_encoder_layer_acts_in_training_only(void **state)
{
    (void)state;
    axle_module *layer;
    axle_encoder_layer_options options = AXLE_ENCODER_LAYER_OPTIONS_INIT;
    options.features = 8;
    options.hidden = 16;
    options.heads = 2;
    options.dropout = 0.5;
    assert_ok(axle_encoder_layer_create(&options, &layer));
    axle_tensor *x = random_input(AXLE_DIMS(2, 5, 8));
    double *a = values_of(made(axle_module_forward(layer, x)));
    double *b = values_of(made(axle_module_forward(layer, x)));
    assert_int_not_equal(memcmp(a, b, 80 * sizeof(double)), 0);
    free(a);
    free(b);
    axle_module_train(layer, 0);
    expect_equal(axle_module_forward(layer, x), axle_module_forward(layer, x));
    axle_module_release(layer);
    axle_scope_pop();
}

static void recurrent_layers_have_the_names_of_pytorch(void **state)
{
    (void)state;
    axle_module *lstm, *gru;
    axle_rnn_options options = AXLE_RNN_OPTIONS_INIT;
    options.input = 3;
    options.hidden = 2;
    options.layers = 2;
    options.bidirectional = 1;
    assert_ok(axle_rnn_create(&options, &lstm));
    expect_parameters(lstm,
                      "weight_ih_l0(8,3) weight_hh_l0(8,2) bias_ih_l0(8) bias_hh_l0(8) "
                      "weight_ih_l0_reverse(8,3) weight_hh_l0_reverse(8,2) bias_ih_l0_reverse(8) "
                      "bias_hh_l0_reverse(8) weight_ih_l1(8,4) weight_hh_l1(8,2) bias_ih_l1(8) "
                      "bias_hh_l1(8) weight_ih_l1_reverse(8,4) weight_hh_l1_reverse(8,2) "
                      "bias_ih_l1_reverse(8) bias_hh_l1_reverse(8)");
    options.kind = AXLE_RNN_GRU;
    options.layers = 1;
    options.bidirectional = options.bias = 0;
    assert_ok(axle_rnn_create(&options, &gru));
    expect_parameters(gru, "weight_ih_l0(6,3) weight_hh_l0(6,2)");
    axle_tensor *h = NULL, *c = NULL, *x = random_input(AXLE_DIMS(5, 7, 3));
    expect_dims(axle_rnn_forward(lstm, x, NULL, NULL, &h, &c), AXLE_DIMS(5, 7, 4));
    expect_dims(h, AXLE_DIMS(4, 5, 2));
    expect_dims(c, AXLE_DIMS(4, 5, 2));
    expect_dims(axle_module_forward(gru, x), AXLE_DIMS(5, 7, 2));
    axle_module_release(lstm);
    axle_module_release(gru);
    axle_scope_pop();
}

static void recurrent_layers_say_what_does_not_fit(void **state)
{
    (void)state;
    axle_module *gru;
    axle_rnn_options options = AXLE_RNN_OPTIONS_INIT;
    options.kind = AXLE_RNN_GRU;
    options.input = 3;
    options.hidden = 2;
    assert_ok(axle_rnn_create(&options, &gru));
    axle_tensor *x = random_input(AXLE_DIMS(5, 7, 3)), *h0 = random_input(AXLE_DIMS(1, 4, 2));
    assert_null(axle_rnn_forward(gru, x, h0, NULL, NULL, NULL));
    unit_expect_error(AXLE_ERR_SHAPE, "h0 is (1, 4, 2), not (1, 5, 2)");
    assert_null(axle_rnn_forward(gru, x, NULL, h0, NULL, NULL));
    unit_expect_error(AXLE_ERR_INVALID, "c0");
    assert_null(axle_module_forward(gru, random_input(AXLE_DIMS(5, 0, 3))));
    unit_expect_error(AXLE_ERR_SHAPE, "(5, 0, 3)");
    assert_null(axle_module_forward(gru, random_input(AXLE_DIMS(5, 7, 2))));
    unit_expect_error(AXLE_ERR_SHAPE, "(5, 7, 2)");
    assert_int_equal(axle_scope_depth(), 0);
    axle_module_release(gru);
    axle_scope_pop();
}

static void a_recurrent_layer_drops_between_layers_in_training_only(void **state)
{
    (void)state;
    axle_module *lstm;
    axle_rnn_options options = AXLE_RNN_OPTIONS_INIT;
    options.input = 3;
    options.hidden = 8;
    options.layers = 2;
    options.dropout = 0.5;
    assert_ok(axle_rnn_create(&options, &lstm));
    axle_tensor *x = random_input(AXLE_DIMS(2, 3, 3));
    double *a = values_of(made(axle_module_forward(lstm, x)));
    double *b = values_of(made(axle_module_forward(lstm, x)));
    assert_int_not_equal(memcmp(a, b, 48 * sizeof(double)), 0);
    free(a);
    free(b);
    axle_module_train(lstm, 0);
    expect_equal(axle_module_forward(lstm, x), axle_module_forward(lstm, x));
    axle_module_release(lstm);
    axle_scope_pop();
}

/* ---- sequences */

static uint64_t runs(void)
{
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    assert_ok(axle_device_get_stats(axle_device_current(), &stats));
    return stats.op_runs;
}

/* Run the sequence, and its parts one by one; results are the same, operators are fewer. */
static void expect_fused(axle_module *pair, axle_tensor *x)
{
    axle_no_grad_push();
    uint64_t start = runs();
    axle_tensor *fused = made(axle_module_forward(pair, x));
    uint64_t middle = runs();
    axle_tensor *y = axle_module_forward(axle_module_child(pair, "0"), x);
    y = made(axle_module_forward(axle_module_child(pair, "1"), y));
    assert_true(middle - start < runs() - middle);
    expect_equal(fused, y);
    axle_no_grad_pop();
}

static void a_sequence_runs_linear_or_conv_and_relu_in_one_pass(void **state)
{
    (void)state;
    axle_module *linear, *conv;
    assert_ok(axle_linear_create(4, 3, 1, &linear));
    assert_ok(axle_conv2d_create(2, 3, 3, 1, 1, 1, &conv));
    axle_module *a = sequence(linear, activation("relu")), *b = sequence(conv, activation("relu"));
    expect_parameters(a, "0.weight(3,4) 0.bias(3)");
    expect_fused(a, random_input(AXLE_DIMS(2, 4)));
    expect_fused(b, random_input(AXLE_DIMS(2, 2, 4, 4)));
    axle_module_release(a);
    axle_module_release(b);
    axle_scope_pop();
}

static void a_sequence_runs_other_pairs_one_by_one(void **state)
{
    (void)state;
    axle_module *linear, *conv;
    axle_conv_options options = AXLE_CONV_OPTIONS_INIT;
    options.transposed = 1;
    assert_ok(axle_linear_create(4, 4, 1, &linear));
    assert_ok(axle_conv_create(&options, &conv));
    axle_module *a = sequence(axle_module_retain(linear), activation("tanh"));
    axle_module *b = sequence(conv, activation("relu"));
    axle_module *c = sequence(activation("relu"), axle_module_retain(linear));
    axle_tensor *x = random_input(AXLE_DIMS(2, 4)), *z = random_input(AXLE_DIMS(1, 1, 3, 3));
    expect_equal(axle_module_forward(a, x), axle_tanh(axle_module_forward(linear, x)));
    expect_equal(axle_module_forward(b, z), axle_relu(axle_module_forward(conv, z)));
    expect_equal(axle_module_forward(c, x), axle_module_forward(linear, axle_relu(x)));
    axle_module_release(a);
    axle_module_release(b);
    axle_module_release(c);
    axle_module_release(linear);
    axle_scope_pop();
}

static void an_empty_sequence_gives_its_input(void **state)
{
    (void)state;
    axle_module *module;
    axle_tensor *x = random_input(AXLE_DIMS(2));
    assert_ok(axle_sequential_create(&module));
    assert_ptr_equal(axle_module_forward(module, x), x);
    axle_module_release(module);
    axle_scope_pop();
}

/* ---- what cannot be */

static void convolutions_refuse_what_cannot_be(void **state)
{
    (void)state;
    axle_module *module = NULL;
    axle_conv_options good = AXLE_CONV_OPTIONS_INIT, bad;
#define REFUSED(change, words)                                                                     \
    bad = good;                                                                                    \
    change;                                                                                        \
    assert_int_equal(axle_conv_create(&bad, &module), AXLE_ERR_INVALID);                           \
    unit_expect_error(AXLE_ERR_INVALID, words)
    REFUSED(bad.dims = 4, "dims is 4");
    REFUSED(bad.dims = 0, "dims is 0");
    REFUSED(bad.in_channels = 0, "in_channels is 0");
    REFUSED(bad.out_channels = -2, "out_channels is -2");
    REFUSED(bad.in_channels = 3; bad.params.groups = 2, "groups 2 does not divide in_channels 3");
    REFUSED(bad.in_channels = 4; bad.out_channels = 3;
            bad.params.groups = 2, "groups 2 does not divide out_channels 3");
    REFUSED(bad.params.groups = 0, "groups is 0");
    REFUSED(bad.kernel[1] = 0, "kernel is 0");
    REFUSED(bad.params.stride[0] = 0, "stride is 0");
    REFUSED(bad.params.padding[1] = -1, "padding is -1");
    REFUSED(bad.params.dilation[0] = 0, "dilation is 0");
    REFUSED(bad.params.output_padding[0] = 1, "output_padding is 1");
    REFUSED(bad.transposed = 1; bad.params.output_padding[0] = 1, "output_padding is 1");
    REFUSED(bad.transposed = 1; bad.params.relu = 1, "relu");
    REFUSED(bad.struct_size = 0, "struct_size");
#undef REFUSED
    assert_null(module);
}

static void layers_refuse_what_cannot_be(void **state)
{
    (void)state;
    axle_module *module = NULL;
#define REFUSED(call, code, words)                                                                 \
    assert_int_equal(call, code);                                                                  \
    unit_expect_error(code, words)
    axle_pool_params pool = AXLE_POOL_PARAMS_INIT;
    pool.kernel[1] = -1;
    REFUSED(axle_linear_create(1, -3, 1, &module), AXLE_ERR_INVALID, "out is -3");
    REFUSED(axle_max_pool_create(&pool, &module), AXLE_ERR_INVALID, "max_pool: kernel is -1");
    REFUSED(axle_adaptive_avg_pool_create(0, NULL, &module), AXLE_ERR_INVALID, "dims is 0");
    REFUSED(axle_layer_norm_create(0, 1e-5, &module), AXLE_ERR_INVALID, "features is 0");
    REFUSED(axle_layer_norm_create(4, -1.0, &module), AXLE_ERR_INVALID, "eps is -1");
    REFUSED(axle_batch_norm_create(4, 1e-5, 1.5, &module), AXLE_ERR_INVALID, "momentum is 1.5");
    REFUSED(axle_group_norm_create(3, 4, 1e-5, &module), AXLE_ERR_INVALID,
            "groups 3 does not divide channels 4");
    REFUSED(axle_embedding_create(4, 2, 4, &module), AXLE_ERR_INDEX, "padding_idx is 4 of 4");
    REFUSED(axle_embedding_create(0, 2, -1, &module), AXLE_ERR_INVALID, "count is 0");
    REFUSED(axle_dropout_create(1.5, &module), AXLE_ERR_INVALID, "p is 1.5");
    REFUSED(axle_dropout_create(-0.1, &module), AXLE_ERR_INVALID, "p is -0.1");
    REFUSED(axle_dropout_create(0.0 / 0.0, &module), AXLE_ERR_INVALID, "nan");
    REFUSED(axle_activation_create("rilu", &module), AXLE_ERR_NOT_FOUND,
            "'rilu'; there are relu, ");
    REFUSED(axle_activation_create(NULL, &module), AXLE_ERR_NOT_FOUND, "identity");
    REFUSED(axle_multihead_attention_create(6, 4, 0.0, &module), AXLE_ERR_INVALID,
            "heads 4 does not divide features 6");
    axle_rnn_options rnn = AXLE_RNN_OPTIONS_INIT;
    rnn.kind = 3;
    REFUSED(axle_rnn_create(&rnn, &module), AXLE_ERR_INVALID, "kind 3");
    rnn.kind = AXLE_RNN_GRU;
    rnn.hidden = 0;
    REFUSED(axle_rnn_create(&rnn, &module), AXLE_ERR_INVALID, "gru: hidden is 0");
    axle_encoder_layer_options layer = AXLE_ENCODER_LAYER_OPTIONS_INIT;
    layer.activation = "geglu";
    REFUSED(axle_encoder_layer_create(&layer, &module), AXLE_ERR_NOT_FOUND, "geglu");
#undef REFUSED
    assert_null(module);
}

static void parameters_are_made_in_the_default_element_type(void **state)
{
    (void)state;
    axle_module *module;
    assert_int_equal(axle_default_dtype(), AXLE_DTYPE_F32);
    assert_ok(axle_set_default_dtype(AXLE_DTYPE_F64));
    assert_ok(axle_batch_norm_create(2, 1e-5, 0.1, &module));
    assert_ok(axle_set_default_dtype(AXLE_DTYPE_F32));
    assert_int_equal(axle_tensor_dtype(axle_module_parameter(module, "weight")), AXLE_DTYPE_F64);
    assert_int_equal(axle_tensor_dtype(axle_module_buffer(module, "running_var")), AXLE_DTYPE_F64);
    assert_int_equal(axle_set_default_dtype(AXLE_DTYPE_F16), AXLE_ERR_DTYPE);
    unit_expect_error(AXLE_ERR_DTYPE, "f16");
    assert_int_equal(axle_default_dtype(), AXLE_DTYPE_F32);
    axle_module_release(module);
}

static const struct CMUnitTest tests[] = {
    UNIT("linear has weight and bias", linear_has_weight_and_bias),
    UNIT("a linear layer without inputs gives its bias",
         a_linear_layer_without_inputs_gives_its_bias),
    UNIT("convolutions have the weights of PyTorch", convolutions_have_the_weights_of_pytorch),
    UNIT("pools have no parameters and shrink pictures",
         pools_have_no_parameters_and_shrink_pictures),
    UNIT("norms have the names of PyTorch", norms_have_the_names_of_pytorch),
    UNIT("batch norm counts batches and moves its statistics in training only",
         batch_norm_counts_batches_and_moves_statistics_in_training_only),
    UNIT("embedding starts with a zero row at the padding",
         embedding_starts_with_a_zero_row_at_the_padding),
    UNIT("dropout drops in training only", dropout_drops_in_training_only),
    UNIT("every activation runs by its name", every_activation_runs_by_its_name),
    UNIT("flatten keeps the first dim", flatten_keeps_the_first_dim),
    UNIT("attention and encoder layers have the names of PyTorch",
         attention_and_encoder_layers_have_the_names_of_pytorch),
    UNIT("dropout inside an encoder layer acts in training only",
         dropout_inside_an_encoder_layer_acts_in_training_only),
    UNIT("recurrent layers have the names of PyTorch", recurrent_layers_have_the_names_of_pytorch),
    UNIT("recurrent layers say what does not fit", recurrent_layers_say_what_does_not_fit),
    UNIT("a recurrent layer drops between its layers in training only",
         a_recurrent_layer_drops_between_layers_in_training_only),
    UNIT("a sequence runs linear or conv and relu in one pass",
         a_sequence_runs_linear_or_conv_and_relu_in_one_pass),
    UNIT("a sequence runs other pairs one by one", a_sequence_runs_other_pairs_one_by_one),
    UNIT("an empty sequence gives its input", an_empty_sequence_gives_its_input),
    UNIT("convolutions refuse what cannot be", convolutions_refuse_what_cannot_be),
    UNIT("layers refuse what cannot be", layers_refuse_what_cannot_be),
    UNIT("parameters are made in the default element type",
         parameters_are_made_in_the_default_element_type),
};
UNIT_MAIN(tests)
