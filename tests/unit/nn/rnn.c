/* SPDX-License-Identifier: Apache-2.0 */
#include "golden_layer.h"

static axle_module *create(const json_t *one)
{
    axle_module *module;
    axle_rnn_options options = AXLE_RNN_OPTIONS_INIT;
    options.kind = strcmp(golden_op(one), "lstm") == 0 ? AXLE_RNN_LSTM : AXLE_RNN_GRU;
    options.input = golden_integer(one, "input_size", 0);
    options.hidden = golden_integer(one, "hidden_size", 0);
    options.layers = golden_integer(one, "num_layers", 0);
    options.bidirectional = golden_flag(one, "bidirectional");
    options.bias = golden_flag(one, "bias");
    assert_ok(axle_rnn_create(&options, &module));
    return module;
}

/* The layer wants batches first; some cases have time first. */
static axle_tensor *turned(const json_t *one, axle_tensor *x)
{
    return golden_flag(one, "batch_first") ? x : axle_transpose(x, 0, 1);
}

static void check(json_t *one)
{
    static const char *const names[] = {"x", "h0", "c0"};
    axle_module *module = create(one);
    axle_tensor *in[3], *out[3] = {NULL, NULL, NULL};
    bool is_lstm = strcmp(golden_op(one), "lstm") == 0;
    layer_load(module, one);
    for (int k = 0; k < 3; k++)
        in[k] = golden_tensor(golden_input_named(one, names[k]));
    axle_tensor *y = axle_rnn_forward(module, turned(one, in[0]), in[1], in[2], &out[1], &out[2]);
    out[0] = turned(one, made(y));
    for (size_t k = 0; k < golden_output_count(one); k++) {
        layer_expect_output(one, k, out[k]);
        layer_backward(one, k, out[k]);
    }
    assert_true((out[2] != NULL) == is_lstm);
    layer_expect_grads(one, module, names, in, 3);
    axle_module_release(module);
}

static void lstm_agrees_with_pytorch(void **state)
{
    (void)state;
    layer_each("recurrent", "lstm", check);
}

static void gru_agrees_with_pytorch(void **state)
{
    (void)state;
    layer_each("recurrent", "gru", check);
}

static void a_gradient_of_the_last_state_alone_reaches_all_steps(void **state)
{
    (void)state;
    axle_module *module;
    axle_rnn_options options = AXLE_RNN_OPTIONS_INIT;
    axle_tensor *h = NULL;
    options.input = 2;
    options.hidden = 3;
    options.bidirectional = 1;
    assert_ok(axle_rnn_create(&options, &module));
    axle_tensor *x = made(axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(1, 4, 2)));
    assert_ok(axle_tensor_set_requires_grad(x, 1));
    made(axle_rnn_forward(module, x, NULL, NULL, &h, NULL));
    assert_ok(axle_tensor_backward(axle_sum_all(axle_select(h, 0, 0)), NULL, 0));
    double *grad = values_of(made(axle_tensor_grad(x)));
    for (int k = 0; k < 8; k++)
        assert_true(grad[k] != 0.0);
    free(grad);
    axle_module_release(module);
    axle_scope_pop();
}

static void without_recording_steps_leave_only_their_states(void **state)
{
    (void)state;
    axle_module *module;
    axle_rnn_options options = AXLE_RNN_OPTIONS_INIT;
    options.input = options.hidden = 16;
    assert_ok(axle_rnn_create(&options, &module));
    axle_tensor *x = made(axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(4, 50, 16)));
    axle_no_grad_push();
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    uint64_t before = bytes_in_use();
    made(axle_module_forward(module, x));
    assert_ok(axle_device_get_stats(axle_device_current(), &stats));
    uint64_t sequence = 4 * 50 * 16 * sizeof(float);
    /* Blocks are somewhat larger than what they hold. */
    assert_in_range(bytes_in_use() - before, sequence, 2 * sequence);
    /* Four gates, h and c of each step, the result, and a little. */
    assert_in_range(stats.bytes_peak, before, before + 12 * sequence);
    axle_no_grad_pop();
    axle_module_release(module);
    axle_scope_pop();
}

static const struct CMUnitTest tests[] = {
    UNIT("LSTM agrees with PyTorch", lstm_agrees_with_pytorch),
    UNIT("GRU agrees with PyTorch", gru_agrees_with_pytorch),
    UNIT("a gradient of the last state alone reaches all steps",
         a_gradient_of_the_last_state_alone_reaches_all_steps),
    UNIT("without recording, steps leave only their states",
         without_recording_steps_leave_only_their_states),
};
UNIT_MAIN(tests)
