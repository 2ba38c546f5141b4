/* SPDX-License-Identifier: Apache-2.0 */
#include "golden_layer.h"

/* (B, S), true where a key is kept, as a mask (B, 1, 1, S). */
static axle_tensor *key_mask(const json_t *one)
{
    axle_tensor *keep = golden_tensor(golden_input_named(one, "key_mask"));
    return keep ? made(axle_unsqueeze(axle_unsqueeze(keep, 1), 1)) : NULL;
}

static void check_attention(json_t *one)
{
    static const char *const names[] = {"query", "key", "value"};
    axle_module *module;
    axle_tensor *in[3], *mask = key_mask(one);
    assert_ok(axle_multihead_attention_create(golden_integer(one, "embed_dim", 0),
                                              golden_integer(one, "num_heads", 0), 0.0, &module));
    layer_load(module, one);
    for (int k = 0; k < 3; k++)
        in[k] = golden_tensor(golden_input_named(one, names[k]));
    if (!mask)
        mask = golden_tensor(golden_input_named(one, "attn_mask"));
    axle_tensor *key = in[1] ? in[1] : in[0], *value = in[2] ? in[2] : in[0];
    axle_tensor *y = made(axle_multihead_attention_forward(module, in[0], key, value, mask,
                                                           golden_flag(one, "causal")));
    layer_expect_output(one, 0, y);
    layer_backward(one, 0, y);
    layer_expect_grads(one, module, names, in, 3);
    axle_module_release(module);
}

static void check_encoder_layer(json_t *one)
{
    static const char *const names[] = {"x"};
    axle_module *module;
    axle_encoder_layer_options options = AXLE_ENCODER_LAYER_OPTIONS_INIT;
    options.features = golden_integer(one, "d_model", 0);
    options.heads = golden_integer(one, "nhead", 0);
    options.hidden = golden_integer(one, "dim_feedforward", 0);
    options.activation = golden_text(one, "activation");
    options.norm_first = golden_flag(one, "norm_first");
    options.eps = golden_number(one, "layer_norm_eps", 0.0);
    options.dropout = 0.0;
    assert_ok(axle_encoder_layer_create(&options, &module));
    layer_load(module, one);
    axle_tensor *x = golden_tensor(golden_input_named(one, "x"));
    axle_tensor *y =
        made(axle_encoder_layer_forward(module, x, key_mask(one), golden_flag(one, "causal")));
    layer_expect_output(one, 0, y);
    layer_backward(one, 0, y);
    layer_expect_grads(one, module, names, &x, 1);
    axle_module_release(module);
}

static void multihead_attention_agrees_with_pytorch(void **state)
{
    (void)state;
    layer_each("transformer", "multihead_attention", check_attention);
}

static void the_encoder_layer_agrees_with_pytorch(void **state)
{
    (void)state;
    layer_each("transformer", "transformer_encoder_layer", check_encoder_layer);
}

static void one_tensor_as_key_and_value_gives_what_two_equal_ones_give(void **state)
{
    (void)state;
    axle_module *module;
    assert_ok(axle_set_default_dtype(AXLE_DTYPE_F64));
    assert_ok(axle_multihead_attention_create(4, 2, 0.0, &module));
    assert_ok(axle_set_default_dtype(AXLE_DTYPE_F32));
    axle_tensor *query = made(axle_randn(AXLE_DTYPE_F64, AXLE_DIMS(2, 3, 4)));
    axle_tensor *key = made(axle_randn(AXLE_DTYPE_F64, AXLE_DIMS(2, 5, 4)));
    axle_tensor *one = axle_multihead_attention_forward(module, query, key, key, NULL, 0);
    axle_tensor *two =
        axle_multihead_attention_forward(module, query, key, made(axle_clone(key)), NULL, 0);
    double *a = values_of(made(one)), *b = values_of(made(two));
    for (int k = 0; k < 24; k++)
        assert_true(a[k] - b[k] < 1e-12 && b[k] - a[k] < 1e-12);
    free(a);
    free(b);
    axle_module_release(module);
    axle_scope_pop();
}

static const struct CMUnitTest tests[] = {
    UNIT("multi-head attention agrees with PyTorch", multihead_attention_agrees_with_pytorch),
    UNIT("the encoder layer agrees with PyTorch", the_encoder_layer_agrees_with_pytorch),
    UNIT("one tensor as key and value gives what two equal ones give",
         one_tensor_as_key_and_value_gives_what_two_equal_ones_give),
};
UNIT_MAIN(tests)
