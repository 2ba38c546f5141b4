/* SPDX-License-Identifier: Apache-2.0 */
#include "nn.h"

/* ---- a module of one's own */

struct scale {
    axle_module base;
    axle_tensor *factor;
    int *destroyed;
};

static axle_tensor *scale_forward(axle_module *self, axle_tensor *x)
{
    return axle_mul(x, ((struct scale *)self)->factor);
}

static void scale_destroy(axle_module *self)
{
    int *destroyed = ((struct scale *)self)->destroyed;
    if (destroyed)
        ++*destroyed;
}

static const axle_module_class scale_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "scale",
    .instance_size = sizeof(struct scale),
    .forward = scale_forward,
    .destroy = scale_destroy,
};

static axle_module *new_scale(double factor)
{
    struct scale *scale;
    assert_ok(axle_module_new(&scale_class, (axle_module **)&scale));
    scale->factor = axle_tensor_retain(axle_full(AXLE_DTYPE_F32, AXLE_SCALAR, factor));
    assert_ok(axle_module_add_parameter(&scale->base, "factor", scale->factor));
    return &scale->base;
}

static axle_module *new_sequential(void)
{
    axle_module *module;
    assert_ok(axle_sequential_create(&module));
    return module;
}

static axle_module *new_linear(int64_t in, int64_t out)
{
    axle_module *module;
    assert_ok(axle_linear_create(in, out, 1, &module));
    return module;
}

static void a_module_of_ones_own_runs_and_is_destroyed_once(void **state)
{
    (void)state;
    int destroyed = 0;
    axle_module *scale = new_scale(3.0);
    ((struct scale *)scale)->destroyed = &destroyed;
    double value;
    assert_ok(axle_tensor_item(
        axle_module_forward(scale, axle_full(AXLE_DTYPE_F32, AXLE_SCALAR, 2.0)), &value));
    assert_true(value == 6.0);
    assert_ptr_equal(axle_module_retain(scale), scale);
    axle_module_release(scale);
    assert_int_equal(destroyed, 0);
    axle_module_release(scale);
    assert_int_equal(destroyed, 1);
    axle_module_release(NULL);
    axle_scope_pop();
}

static void a_class_without_room_for_the_base_is_refused(void **state)
{
    (void)state;
    axle_module_class small = scale_class;
    axle_module *module = NULL;
    small.instance_size = sizeof(axle_module) - 1;
    assert_int_equal(axle_module_new(&small, &module), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "instance_size");
    small = scale_class;
    small.struct_size = 8;
    assert_int_equal(axle_module_new(&small, &module), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "struct_size 8");
    assert_null(module);
}

/* ---- names */

/* {0: linear, block: {inner: scale}} with a buffer at the top. */
static axle_module *new_tree(void)
{
    axle_module *top = new_sequential(), *block = new_sequential();
    assert_ok(axle_module_add_child(top, NULL, new_linear(3, 2)));
    assert_ok(axle_module_add_child(block, "inner", new_scale(2.0)));
    assert_ok(axle_module_add_child(top, "block", block));
    assert_ok(axle_module_add_buffer(top, "steps",
                                     axle_tensor_retain(axle_zeros(AXLE_DTYPE_I64, AXLE_DIMS(1)))));
    assert_ok(axle_module_add_parameter(
        top, "own", axle_tensor_retain(axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(4)))));
    return top;
}

static void parameters_come_in_order_own_ones_first(void **state)
{
    (void)state;
    axle_module *top = new_tree();
    expect_parameters(top, "own(4) 0.weight(2,3) 0.bias(2) block.inner.factor()");
    expect_buffers(top, "steps(1)");
    assert_int_equal(axle_module_parameter_count(top), 4 + 6 + 2 + 1);
    assert_int_equal(axle_module_child_count(top), 2);
    axle_module_release(top);
    axle_scope_pop();
}

static void dotted_paths_find_children_parameters_and_buffers(void **state)
{
    (void)state;
    axle_module *top = new_tree();
    axle_module *inner = axle_module_child(top, "block.inner");
    assert_non_null(inner);
    assert_string_equal(inner->type->name, "scale");
    assert_ptr_equal(axle_module_parameter(top, "block.inner.factor"),
                     ((struct scale *)inner)->factor);
    assert_ptr_equal(axle_module_parameter(inner, "factor"), ((struct scale *)inner)->factor);
    assert_non_null(axle_module_parameter(top, "0.bias"));
    assert_non_null(axle_module_buffer(top, "steps"));
    axle_module_release(top);
    axle_scope_pop();
}

static void a_path_that_leads_nowhere_gives_null_without_an_error(void **state)
{
    (void)state;
    axle_module *top = new_tree();
    const char *const paths[] = {
        "",        ".",   "0.",     "0.weigh", "0.weights",   "block.weight",
        ".0.bias", "blo", "steps.", "1",       "block..inner"};
    for (size_t k = 0; k < sizeof(paths) / sizeof(paths[0]); k++) {
        assert_null(axle_module_parameter(top, paths[k]));
        assert_null(axle_module_child(top, paths[k]));
        assert_null(axle_module_buffer(top, paths[k]));
    }
    assert_null(axle_module_child(top, NULL));
    assert_int_equal(axle_error_code(), AXLE_OK);
    axle_module_release(top);
    axle_scope_pop();
}

static void bad_and_taken_names_are_refused_and_the_member_released(void **state)
{
    (void)state;
    int destroyed = 0;
    axle_module *top = new_tree();
    const char *const names[] = {"", "a.b", "0", "own", "steps"};
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        axle_module *child = new_scale(1.0);
        ((struct scale *)child)->destroyed = &destroyed;
        assert_int_equal(axle_module_add_child(top, names[k], child), AXLE_ERR_INVALID);
        unit_expect_error(AXLE_ERR_INVALID, names[k]);
        assert_int_equal(destroyed, (int)k + 1);
    }
    assert_int_equal(axle_module_child_count(top), 2);
    axle_module_release(top);
    axle_scope_pop();
}

static void a_number_is_the_name_of_a_child_without_one(void **state)
{
    (void)state;
    axle_module *top = new_sequential();
    for (int k = 0; k < 12; k++)
        assert_ok(axle_module_add_child(top, NULL, new_sequential()));
    assert_non_null(axle_module_child(top, "0"));
    assert_non_null(axle_module_child(top, "11"));
    assert_null(axle_module_child(top, "12"));
    axle_module_release(top);
}

static void a_module_cannot_hold_itself(void **state)
{
    (void)state;
    axle_module *outer = new_sequential(), *inner = new_sequential();
    assert_ok(axle_module_add_child(outer, "inner", axle_module_retain(inner)));
    assert_int_equal(axle_module_add_child(inner, "outer", axle_module_retain(outer)),
                     AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "'outer'");
    assert_int_equal(axle_module_add_child(outer, "outer", axle_module_retain(outer)),
                     AXLE_ERR_INVALID);
    axle_error_clear();
    axle_module_release(inner);
    axle_module_release(outer);
}

static void what_was_not_made_cannot_be_added(void **state)
{
    (void)state;
    axle_module *top = new_sequential(), *bad = NULL;
    assert_int_equal(axle_module_add_child(top, NULL, NULL), AXLE_ERR_INVALID);
    axle_error_clear();
    int status = axle_linear_create(-1, 2, 1, &bad);
    assert_int_equal(status, AXLE_ERR_INVALID);
    assert_int_equal(axle_module_add_child(top, NULL, bad), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "linear: in is -1");
    assert_int_equal(axle_module_add_parameter(top, "p", NULL), AXLE_ERR_INVALID);
    axle_error_clear();
    axle_module_release(top);
}

static void parameters_require_gradients_and_integers_cannot_be_parameters(void **state)
{
    (void)state;
    axle_module *top = new_tree();
    assert_true(axle_tensor_requires_grad(axle_module_parameter(top, "own")));
    assert_false(axle_tensor_requires_grad(axle_module_buffer(top, "steps")));
    axle_tensor *integers = axle_tensor_retain(axle_zeros(AXLE_DTYPE_I64, AXLE_DIMS(2)));
    assert_int_equal(axle_module_add_parameter(top, "ids", integers), AXLE_ERR_DTYPE);
    axle_error_clear();
    axle_module_release(top);
    axle_scope_pop();
}

/* ---- walks */

static int stop_at_bias(const char *path, axle_tensor *tensor, void *user)
{
    (void)tensor;
    ++*(int *)user;
    return strstr(path, "bias") ? 7 : 0;
}

static void a_walk_ends_with_the_first_result_that_is_not_zero(void **state)
{
    (void)state;
    int visits = 0;
    axle_module *top = new_tree();
    assert_int_equal(axle_module_each_parameter(top, stop_at_bias, &visits), 7);
    assert_int_equal(visits, 3);
    axle_module_release(top);
    axle_scope_pop();
}

static void tied_parameters_are_visited_once_under_their_first_name(void **state)
{
    (void)state;
    axle_module *top = new_sequential(), *decoder = new_sequential(), *shared = new_linear(2, 2);
    axle_module *embedding;
    assert_ok(axle_embedding_create(5, 2, -1, &embedding));
    assert_ok(axle_module_add_child(top, "encoder", embedding));
    axle_tensor *weight = axle_module_parameter(embedding, "weight");
    assert_ok(axle_module_add_parameter(decoder, "weight", axle_tensor_retain(weight)));
    assert_ok(axle_module_add_child(top, "decoder", decoder));
    assert_ok(axle_module_add_child(top, "a", axle_module_retain(shared)));
    assert_ok(axle_module_add_child(top, "b", shared));
    expect_parameters(top, "encoder.weight(5,2) a.weight(2,2) a.bias(2)");
    assert_int_equal(axle_module_parameter_count(top), 10 + 4 + 2);
    assert_ptr_equal(axle_module_parameter(top, "decoder.weight"), weight);
    assert_ptr_equal(axle_module_parameter(top, "b.bias"), axle_module_parameter(top, "a.bias"));
    axle_module_release(top);
}

/* ---- running */

static void forward_leaves_only_its_result_in_the_callers_scope(void **state)
{
    (void)state;
    axle_module *top = new_sequential();
    for (int k = 0; k < 4; k++)
        assert_ok(axle_module_add_child(top, NULL, new_linear(64, 64)));
    axle_tensor *x = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(16, 64));
    axle_no_grad_push();
    uint64_t before = bytes_in_use();
    made(axle_module_forward(top, x));
    uint64_t result = 16 * 64 * sizeof(float);
    assert_in_range(bytes_in_use() - before, result, 2 * result - 1);
    axle_no_grad_pop();
    axle_module_release(top);
    axle_scope_pop();
}

static void forward_of_nothing_is_nothing(void **state)
{
    (void)state;
    axle_module *linear = new_linear(2, 2);
    assert_null(axle_module_forward(linear, NULL));
    assert_int_equal(axle_error_code(), AXLE_OK);
    assert_null(axle_module_forward(NULL, axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(2))));
    unit_expect_error(AXLE_ERR_INVALID, "NULL");
    axle_module_release(linear);
    axle_scope_pop();
}

static axle_tensor *silent_forward(axle_module *self, axle_tensor *x)
{
    (void)self;
    (void)x;
    return NULL;
}

static void a_module_without_forward_or_with_a_silent_one_is_an_error(void **state)
{
    (void)state;
    axle_module_class type = scale_class;
    axle_module *module;
    type.forward = NULL;
    assert_ok(axle_module_new(&type, &module));
    axle_tensor *x = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(2));
    assert_null(axle_module_forward(module, x));
    unit_expect_error(AXLE_ERR_UNSUPPORTED, "scale");
    type.forward = silent_forward;
    assert_null(axle_module_forward(module, x));
    unit_expect_error(AXLE_ERR_INTERNAL, "scale");
    assert_int_equal(axle_scope_depth(), 0);
    axle_module_release(module);
    axle_scope_pop();
}

static void the_mode_goes_down_the_tree(void **state)
{
    (void)state;
    axle_module *top = new_tree();
    assert_true(top->training && axle_module_child(top, "block.inner")->training);
    axle_module_train(top, 0);
    assert_false(top->training || axle_module_child(top, "0")->training ||
                 axle_module_child(top, "block.inner")->training);
    axle_module_train(top, 1);
    assert_true(axle_module_child(top, "block.inner")->training);
    axle_module_release(top);
    axle_scope_pop();
}

static const struct CMUnitTest tests[] = {
    UNIT("a module of one's own runs and is destroyed once",
         a_module_of_ones_own_runs_and_is_destroyed_once),
    UNIT("a class without room for the base is refused",
         a_class_without_room_for_the_base_is_refused),
    UNIT("parameters come in order, own ones first", parameters_come_in_order_own_ones_first),
    UNIT("dotted paths find children, parameters and buffers",
         dotted_paths_find_children_parameters_and_buffers),
    UNIT("a path that leads nowhere gives NULL without an error",
         a_path_that_leads_nowhere_gives_null_without_an_error),
    UNIT("bad and taken names are refused, and the member released",
         bad_and_taken_names_are_refused_and_the_member_released),
    UNIT("a number is the name of a child without one",
         a_number_is_the_name_of_a_child_without_one),
    UNIT("a module cannot hold itself", a_module_cannot_hold_itself),
    UNIT("what was not made cannot be added", what_was_not_made_cannot_be_added),
    UNIT("parameters require gradients, and integers cannot be parameters",
         parameters_require_gradients_and_integers_cannot_be_parameters),
    UNIT("a walk ends with the first result that is not zero",
         a_walk_ends_with_the_first_result_that_is_not_zero),
    UNIT("tied parameters are visited once, under their first name",
         tied_parameters_are_visited_once_under_their_first_name),
    UNIT("forward leaves only its result in the caller's scope",
         forward_leaves_only_its_result_in_the_callers_scope),
    UNIT("forward of nothing is nothing", forward_of_nothing_is_nothing),
    UNIT("a module without forward, or with a silent one, is an error",
         a_module_without_forward_or_with_a_silent_one_is_an_error),
    UNIT("the mode goes down the tree", the_mode_goes_down_the_tree),
};
UNIT_MAIN(tests)
