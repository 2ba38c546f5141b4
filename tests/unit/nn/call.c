/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of several inputs, and what else modules of one's own are built with. */
#include "nn.h"

#include "axle/random.h"

/* in[0] times the factor, plus in[1] where there is one. */
struct mix {
    axle_module base;
    axle_tensor *factor;
    int calls;
};

static axle_tensor *mix_call(axle_module *self, axle_tensor *const *in, int n_in)
{
    struct mix *mix = (struct mix *)self;
    axle_tensor *y = axle_mul(in[0], mix->factor);
    mix->calls++;
    return n_in > 1 && in[1] ? axle_add(y, in[1]) : y;
}

static const axle_module_class mix_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "mix",
    .instance_size = sizeof(struct mix),
    .call = mix_call,
};

static axle_module *new_mix(void)
{
    struct mix *mix;
    assert_ok(axle_module_new(&mix_class, (axle_module **)&mix));
    mix->factor = axle_tensor_retain(made(axle_full(AXLE_DTYPE_F32, AXLE_SCALAR, 3.0)));
    assert_ok(axle_module_add_parameter(&mix->base, "factor", mix->factor));
    return &mix->base;
}

static double item(axle_tensor *x)
{
    double value;
    assert_ok(axle_tensor_item(made(x), &value));
    return value;
}

static axle_tensor *number(double value)
{
    return made(axle_scalar(AXLE_DTYPE_F32, value));
}

static void inputs_may_be_several_or_one(void **state)
{
    (void)state;
    axle_module *mix = new_mix();
    axle_tensor *x = number(2.0), *y = number(0.5);
    assert_true(item(axle_module_call(mix, (axle_tensor *[]){x, y}, 2)) == 6.5);
    assert_true(item(axle_module_call(mix, (axle_tensor *[]){x, NULL}, 2)) == 6.0);
    assert_true(item(axle_module_call(mix, &x, 1)) == 6.0);
    assert_true(item(axle_module_forward(mix, x)) == 6.0);
    assert_null(axle_module_call(mix, (axle_tensor *[]){NULL, y}, 2));
    assert_int_equal(axle_error_code(), AXLE_OK);
    axle_module_release(mix);
    axle_scope_pop();
}

static void modules_of_one_input_take_one(void **state)
{
    (void)state;
    axle_module *relu;
    axle_tensor *x = number(-2.0), *in[2] = {x, x};
    assert_ok(axle_activation_create("relu", &relu));
    assert_true(item(axle_module_call(relu, in, 1)) == 0.0);
    assert_null(axle_module_call(relu, in, 2));
    unit_expect_error(AXLE_ERR_UNSUPPORTED, "with 2 tensors");
    assert_null(axle_module_call(relu, in, 0));
    unit_expect_error(AXLE_ERR_INVALID, "no input");
    assert_null(axle_module_call(NULL, in, 1));
    unit_expect_error(AXLE_ERR_INVALID, "NULL");
    axle_module_release(relu);
    axle_scope_pop();
}

/* What is behind the end of an older class is not looked at. */
static void classes_of_the_first_version_still_do(void **state)
{
    (void)state;
    axle_module_class old = mix_class;
    axle_module *module;
    axle_tensor *x = number(2.0);
    old.struct_size = offsetof(axle_module_class, call);
    assert_ok(axle_module_new(&old, &module));
    assert_null(axle_module_call(module, &x, 1));
    unit_expect_error(AXLE_ERR_UNSUPPORTED, "mix");
    axle_module_release(module);
    axle_scope_pop();
}

static void several_inputs_are_computed_again(void **state)
{
    (void)state;
    axle_module *mix = new_mix();
    axle_tensor *x = number(2.0), *y = number(0.5);
    assert_ok(axle_tensor_set_requires_grad(x, 1));
    assert_ok(axle_tensor_set_requires_grad(y, 1));
    axle_module_checkpoint(mix, 1);
    axle_tensor *z = axle_module_call(mix, (axle_tensor *[]){x, y}, 2);
    assert_ok(axle_tensor_backward(made(z), NULL, 0));
    assert_int_equal(((struct mix *)mix)->calls, 2);
    assert_true(item(axle_tensor_grad(x)) == 3.0);
    assert_true(item(axle_tensor_grad(y)) == 1.0);
    assert_true(item(axle_tensor_grad(axle_module_parameter(mix, "factor"))) == 2.0);
    axle_module_release(mix);
    axle_scope_pop();
}

static void tied_parameters_have_several_names(void **state)
{
    (void)state;
    axle_module *top, *a = new_mix(), *b = new_mix();
    char text[NN_TEXT] = "";
    assert_ok(axle_sequential_create(&top));
    axle_tensor *factor = axle_module_parameter(a, "factor");
    assert_ok(axle_module_add_parameter(b, "other", axle_tensor_retain(factor)));
    assert_ok(axle_module_add_child(top, "a", a));
    assert_ok(axle_module_add_child(top, "b", b));
    assert_ok(axle_module_each_parameter_name(top, nn_append, text));
    assert_string_equal(text, "a.factor() b.factor() b.other()");
    expect_parameters(top, "a.factor() b.factor()");
    axle_module_release(top);
    axle_scope_pop();
}

static double weight_of(int skip)
{
    axle_module *linear;
    if (skip)
        axle_init_skip_push();
    assert_ok(axle_linear_create(1, 1, 1, &linear));
    if (skip)
        axle_init_skip_pop();
    double value = item(axle_module_parameter(linear, "weight"));
    axle_module_release(linear);
    return value;
}

static void initial_values_may_be_left_out(void **state)
{
    (void)state;
    axle_random_state before = axle_random_get();
    assert_true(weight_of(1) == 0.0);
    assert_int_equal(axle_random_get().draw, before.draw);
    assert_true(weight_of(0) != 0.0);
    axle_init_skip_pop(); /* without a push */
    assert_true(weight_of(0) != 0.0);
    axle_scope_pop();
}

static const struct CMUnitTest tests[] = {
    UNIT("inputs may be several, or one", inputs_may_be_several_or_one),
    UNIT("modules of one input take one", modules_of_one_input_take_one),
    UNIT("classes of the first version still do", classes_of_the_first_version_still_do),
    UNIT("several inputs are computed again", several_inputs_are_computed_again),
    UNIT("tied parameters have several names", tied_parameters_have_several_names),
    UNIT("initial values may be left out", initial_values_may_be_left_out),
};
UNIT_MAIN(tests)
