/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "axle/autograd.h"
#include "axle/models.h"
#include "axle/random.h"

static axle_module *create(const char *name, const axle_image_model_options *options)
{
    axle_module *module;
    if (axle_image_model_create(name, options, &module))
        fail_msg("%s: %s", name, axle_error_message());
    return module;
}

/* Run a batch of noise forward and backward; logits have that shape and all parameters a gradient.
 */
static int has_gradient(const char *path, axle_tensor *tensor, void *user)
{
    (void)user;
    if (!axle_tensor_grad(tensor))
        fail_msg("%s has no gradient", path);
    return 0;
}

static void expect_trains(axle_module *module, int rank, const int64_t *dims, int64_t classes)
{
    axle_tensor *y = axle_module_forward(module, axle_randn(AXLE_DTYPE_F32, rank, dims));
    if (!y)
        fail_msg("%s", axle_error_message());
    assert_int_equal(axle_tensor_rank(y), 2);
    assert_int_equal(axle_tensor_dim(y, 0), dims[0]);
    assert_int_equal(axle_tensor_dim(y, 1), classes);
    assert_int_equal(axle_tensor_backward(axle_sum_all(axle_square(y)), NULL, 0), AXLE_OK);
    assert_int_equal(axle_module_each_parameter(module, has_gradient, NULL), 0);
}

static void expect_shape(const axle_module *module, const char *path, const char *expected)
{
    char text[64] = "";
    const axle_tensor *tensor = axle_module_parameter(module, path);
    if (!tensor)
        fail_msg("no parameter %s", path);
    for (int k = 0; k < axle_tensor_rank(tensor); k++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", k ? "," : "",
                 (int)axle_tensor_dim(tensor, k));
    assert_string_equal(text, expected);
}

static void mlp_has_one_hidden_layer(void **state)
{
    (void)state;
    axle_module *module = create("mlp", NULL);
    expect_shape(module, "1.weight", "32,784");
    expect_shape(module, "3.weight", "10,32");
    assert_int_equal(axle_module_parameter_count(module), 784 * 32 + 32 + 320 + 10);
    expect_trains(module, AXLE_DIMS(3, 1, 28, 28), 10);
    axle_module_release(module);
    axle_scope_pop();
}

static void lenet_has_the_sizes_it_says(void **state)
{
    (void)state;
    axle_module *module = create("lenet", NULL);
    expect_shape(module, "0.weight", "8,1,5,5");
    expect_shape(module, "3.weight", "16,8,5,5");
    expect_shape(module, "7.weight", "128,784");
    expect_shape(module, "9.weight", "10,128");
    expect_trains(module, AXLE_DIMS(2, 1, 28, 28), 10);
    axle_module_release(module);
    axle_scope_pop();
}

static void lenet_takes_other_pictures(void **state)
{
    (void)state;
    axle_image_model_options options = AXLE_IMAGE_MODEL_OPTIONS_INIT;
    options.channels = 3;
    options.height = 13;
    options.width = 21;
    options.classes = 4;
    axle_module *module = create("lenet", &options);
    expect_trains(module, AXLE_DIMS(2, 3, 13, 21), 4);
    axle_module_release(module);
    axle_scope_pop();
}

static void dropout_is_there_when_asked_for(void **state)
{
    (void)state;
    axle_image_model_options options = AXLE_IMAGE_MODEL_OPTIONS_INIT;
    options.dropout = 0.25;
    axle_module *module = create("mlp", &options);
    assert_string_equal(axle_module_child(module, "3")->type->name, "dropout");
    expect_shape(module, "4.weight", "10,32");
    axle_module_release(module);
    module = create("lenet", &options);
    assert_string_equal(axle_module_child(module, "9")->type->name, "dropout");
    axle_module_release(module);
}

static void resnet18_has_the_parameters_of_torchvision(void **state)
{
    (void)state;
    axle_image_model_options options = AXLE_IMAGE_MODEL_OPTIONS_INIT;
    options.channels = 3;
    options.height = options.width = 8;
    axle_module *module = create("resnet18", &options);
    expect_shape(module, "conv1.weight", "64,3,3,3");
    expect_shape(module, "layer1.1.bn2.weight", "64");
    expect_shape(module, "layer2.0.downsample.0.weight", "128,64,1,1");
    expect_shape(module, "layer4.0.downsample.1.bias", "512");
    expect_shape(module, "fc.weight", "10,512");
    assert_null(axle_module_parameter(module, "layer1.0.downsample.0.weight"));
    assert_non_null(axle_module_buffer(module, "layer3.1.bn1.running_mean"));
    /* 11,689,512 with a 7x7 stem and 1000 classes. */
    assert_int_equal(axle_module_parameter_count(module), 11689512 - 64 * 3 * (49 - 9) - 990 * 513);
    expect_trains(module, AXLE_DIMS(2, 3, 8, 8), 10);
    axle_module_release(module);
    axle_scope_pop();
}

static void equal_seeds_give_equal_models(void **state)
{
    (void)state;
    double a, b;
    axle_seed(3);
    axle_module *one = create("mlp", NULL);
    axle_seed(3);
    axle_module *two = create("mlp", NULL);
    axle_no_grad_push();
    assert_int_equal(axle_tensor_item(axle_sum_all(axle_module_parameter(one, "1.weight")), &a), 0);
    assert_int_equal(axle_tensor_item(axle_sum_all(axle_module_parameter(two, "1.weight")), &b), 0);
    axle_no_grad_pop();
    assert_true(a == b && a != 0.0);
    axle_module_release(one);
    axle_module_release(two);
    axle_scope_pop();
}

static void an_unknown_model_is_an_error_that_names_what_there_is(void **state)
{
    (void)state;
    axle_module *module = NULL;
    assert_int_equal(axle_image_model_create("lenin", NULL, &module), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "'lenin'; there are mlp, lenet, resnet18");
    assert_int_equal(axle_image_model_create(NULL, NULL, &module), AXLE_ERR_NOT_FOUND);
    axle_error_clear();
    assert_null(module);
    assert_string_equal(axle_image_model_names()[0], "mlp");
    assert_null(axle_image_model_names()[3]);
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    axle_module *module = NULL;
    axle_image_model_options options = AXLE_IMAGE_MODEL_OPTIONS_INIT;
    options.classes = 0;
    assert_int_equal(axle_image_model_create("mlp", &options, &module), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "mlp: classes is 0");
    options.classes = 2;
    options.height = 3;
    assert_int_equal(axle_image_model_create("lenet", &options, &module), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "3 x 28");
    options.height = 28;
    options.dropout = 2.0;
    assert_int_equal(axle_image_model_create("mlp", &options, &module), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "dropout is 2");
    options.struct_size = 0;
    assert_int_equal(axle_image_model_create("mlp", &options, &module), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "struct_size");
    assert_null(module);
}

static const struct CMUnitTest tests[] = {
    UNIT("mlp has one hidden layer", mlp_has_one_hidden_layer),
    UNIT("lenet has the sizes it says", lenet_has_the_sizes_it_says),
    UNIT("lenet takes other pictures", lenet_takes_other_pictures),
    UNIT("dropout is there when asked for", dropout_is_there_when_asked_for),
    UNIT("resnet18 has the parameters of torchvision", resnet18_has_the_parameters_of_torchvision),
    UNIT("equal seeds give equal models", equal_seeds_give_equal_models),
    UNIT("an unknown model is an error that names what there is",
         an_unknown_model_is_an_error_that_names_what_there_is),
    UNIT("sizes that cannot be are refused", sizes_that_cannot_be_are_refused),
};
UNIT_MAIN(tests)
