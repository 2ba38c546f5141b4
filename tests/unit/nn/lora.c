/* SPDX-License-Identifier: Apache-2.0 */
/* Low-rank adapters: values against NumPy's, gradients, merging, and PEFT's files. */
#include <math.h>

#include "axle/axle.h"
#include "files.h"
#include "io/safetensors.h"
#include "optim/optimizer.h"
#include "tensors.h"

#define F64 AXLE_DTYPE_F64

static axle_module *linear_of(int64_t in, int64_t out)
{
    axle_module *linear;
    assert_ok(axle_set_default_dtype(F64));
    assert_ok(axle_linear_create(in, out, 1, &linear));
    assert_ok(axle_set_default_dtype(AXLE_DTYPE_F32));
    return linear;
}

/* "body" 4 to 5, relu, "head" 5 to 3. */
static axle_module *net_of(uint64_t seed)
{
    axle_module *net, *relu;
    axle_seed(seed);
    assert_ok(axle_sequential_create(&net));
    assert_ok(axle_module_add_child(net, "body", linear_of(4, 5)));
    assert_ok(axle_activation_create("relu", &relu));
    assert_ok(axle_module_add_child(net, "relu", relu));
    assert_ok(axle_module_add_child(net, "head", linear_of(5, 3)));
    return net;
}

static void apply(axle_module *module, int64_t rank, double alpha, const char *targets)
{
    axle_lora_options options = AXLE_LORA_OPTIONS_INIT;
    options.rank = rank;
    options.alpha = alpha;
    options.targets = targets;
    options.seed = 3;
    assert_ok(axle_lora_apply(module, &options));
}

static void put(axle_module *module, const char *name, int n, const double *values)
{
    axle_tensor *parameter = axle_module_parameter(module, name);
    assert_non_null(parameter);
    assert_ok(axle_tensor_write(parameter, values, (size_t)n * sizeof(*values)));
}

#define PUT(module, name, ...) put(module, name, DOUBLES(__VA_ARGS__))

/* Numbers that binary fractions hold exactly; results were computed with NumPy 2 as
 * x @ W.T + b + alpha / rank * (x @ A.T @ B.T), and derivatives of their sum by hand. */
static axle_module *known_layer(void)
{
    axle_module *linear = linear_of(4, 3);
    apply(linear, 2, 3.0, "*");
    PUT(linear, "weight", -0.5, 0, 0.5, -0.25, 0.25, -0.5, 0, 0.5, -0.25, 0.25, -0.5, 0);
    PUT(linear, "bias", 0.5, -0.25, 1);
    PUT(linear, "lora_A.weight", -0.375, 0, 0.375, -0.125, 0.25, -0.25, 0.125, -0.375);
    PUT(linear, "lora_B.weight", -0.5, 0, 0.5, 1, -0.5, 0);
    return linear;
}

static axle_tensor *known_input(void)
{
    double x[] = {-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75};
    return axle_from_data(F64, AXLE_DIMS(2, 4), x);
}

#define KNOWN_OUTPUT 0.6484375, -0.1328125, 1.1484375, 0.4921875, -0.3515625, 0.7421875

static void values_and_gradients_are_numpys(void **state)
{
    (void)state;
    axle_module *linear = known_layer();
    axle_tensor *y = axle_module_forward(linear, known_input());
    EXPECT(y, KNOWN_OUTPUT);
    assert_ok(axle_tensor_backward(axle_sum_all(y), NULL, 0));
    EXPECT(axle_tensor_grad(axle_module_parameter(linear, "lora_A.weight")), 0.75, 0.375, 0, -0.375,
           -1.5, -0.75, 0, 0.75);
    EXPECT(axle_tensor_grad(axle_module_parameter(linear, "lora_B.weight")), 0.46875, -0.46875,
           0.46875, -0.46875, 0.46875, -0.46875);
    assert_null(axle_tensor_grad(axle_module_parameter(linear, "weight")));
    axle_module_release(linear);
}

static void merging_moves_the_product_and_back(void **state)
{
    (void)state;
    axle_module *linear = known_layer();
    axle_tensor *weight = axle_module_parameter(linear, "weight");
    uint64_t sums[3];
    assert_ok(axle_module_checksum(linear, &sums[0]));
    assert_ok(axle_lora_merge(linear));
    assert_ok(axle_lora_merge(linear));
    EXPECT(weight, -0.21875, 0, 0.21875, -0.15625, 0.34375, -0.875, 0.46875, -0.15625, 0.03125,
           0.25, -0.78125, 0.09375);
    EXPECT(axle_module_forward(linear, known_input()), KNOWN_OUTPUT);
    assert_ok(axle_module_checksum(linear, &sums[1]));
    assert_true(sums[0] != sums[1]);
    assert_ok(axle_lora_unmerge(linear));
    assert_ok(axle_module_checksum(linear, &sums[2]));
    assert_true(sums[0] == sums[2]);
    EXPECT(axle_module_forward(linear, known_input()), KNOWN_OUTPUT);
    assert_ok(axle_lora_merge(linear));
    assert_ok(axle_lora_remove(linear));
    assert_int_equal(axle_lora_count(linear), 0);
    assert_null(axle_module_parameter(linear, "lora_A.weight"));
    EXPECT(axle_module_forward(linear, known_input()), KNOWN_OUTPUT);
    axle_module_release(linear);
}

static axle_tensor *run_net(axle_tensor *const *in, int n_in, void *user)
{
    (void)n_in;
    return axle_module_forward(user, in[0]);
}

/* Both factors and the input, through an adapted layer before a relu and one after it. */
static void gradients_are_differences(void **state)
{
    (void)state;
    axle_module *net = net_of(1);
    apply(net, 2, 5.0, "*");
    axle_init_normal(axle_module_parameter(net, "body.lora_B.weight"), 0.0, 0.5);
    axle_init_normal(axle_module_parameter(net, "head.lora_B.weight"), 0.0, 0.5);
    axle_tensor *in[] = {tensors_leaf(axle_randn(F64, AXLE_DIMS(3, 4))),
                         axle_module_parameter(net, "body.lora_A.weight"),
                         axle_module_parameter(net, "body.lora_B.weight"),
                         axle_module_parameter(net, "head.lora_A.weight"),
                         axle_module_parameter(net, "head.lora_B.weight")};
    assert_ok(axle_gradcheck(run_net, in, 5, net, NULL));
    axle_module_release(net);
}

static void nothing_changes_before_training(void **state)
{
    (void)state;
    axle_module *net = net_of(1);
    axle_tensor *x = axle_randn(F64, AXLE_DIMS(3, 4));
    double *before = tensors_read(axle_module_forward(net, x));
    axle_random_state random = axle_random_get();
    apply(net, 2, 5.0, "head");
    axle_random_state after = axle_random_get();
    assert_int_equal(random.draw, after.draw);
    tensors_expect(axle_module_forward(net, x), 0.0, 9, before);
    free(before);
    assert_int_equal(axle_lora_count(net), 1);
    double *a = tensors_read(axle_module_parameter(net, "head.lora_A.weight")), most = 0.0;
    for (int k = 0; k < 10; k++)
        most = fmax(most, fabs(a[k]));
    assert_true(most > 0.0 && most <= 1.0 / sqrt(5.0));
    free(a);
    EXPECT(axle_sum_all(axle_abs(axle_module_parameter(net, "head.lora_B.weight"))), 0);
    axle_module_release(net);
}

/* Everything but the adapters keeps its bits, and optimizers hold nothing for it. */
static void only_adapters_learn(void **state)
{
    (void)state;
    axle_module *net = net_of(1);
    apply(net, 2, 5.0, "*");
    axle_optimizer *optimizer;
    axle_adamw_options options = AXLE_ADAMW_OPTIONS_INIT;
    options.weight_decay = 0.1;
    assert_ok(axle_adamw_create(net, &options, &optimizer));
    assert_int_equal(optimizer->slot_count, 4);
    double *weight = tensors_read(axle_module_parameter(net, "body.weight"));
    axle_tensor *x = axle_randn(F64, AXLE_DIMS(3, 4));
    for (int k = 0; k < 2; k++) {
        axle_optimizer_zero_grad(optimizer);
        assert_ok(axle_tensor_backward(axle_sum_all(axle_module_forward(net, x)), NULL, 0));
        assert_ok(axle_optimizer_step(optimizer));
    }
    tensors_expect(axle_module_parameter(net, "body.weight"), 0.0, 20, weight);
    double moved;
    axle_tensor *b = axle_module_parameter(net, "head.lora_B.weight");
    assert_ok(axle_tensor_item(axle_sum_all(axle_abs(b)), &moved));
    assert_true(moved > 0.0);
    free(weight);
    axle_optimizer_release(optimizer);
    axle_module_release(net);
}

static void dropout_is_for_training_alone(void **state)
{
    (void)state;
    axle_module *net = net_of(1);
    axle_lora_options options = AXLE_LORA_OPTIONS_INIT;
    options.dropout = 0.5;
    assert_ok(axle_lora_apply(net, &options));
    axle_init_normal(axle_module_parameter(net, "head.lora_B.weight"), 0.0, 0.5);
    axle_tensor *x = axle_ones(F64, AXLE_DIMS(3, 4));
    double *first = tensors_read(axle_module_forward(net, x));
    double *second = tensors_read(axle_module_forward(net, x));
    assert_memory_not_equal(first, second, 9 * sizeof(double));
    free(first);
    free(second);
    axle_module_train(net, 0);
    first = tensors_read(axle_module_forward(net, x));
    tensors_expect(axle_module_forward(net, x), 0.0, 9, first);
    assert_ok(axle_lora_merge(net));
    tensors_expect(axle_module_forward(net, x), 1e-14, 9, first);
    free(first);
    axle_module_release(net);
}

static void targets_are_paths_or_their_ends(void **state)
{
    (void)state;
    axle_module *outer, *net = net_of(1);
    assert_ok(axle_sequential_create(&outer));
    assert_ok(axle_module_add_child(outer, "encoder", net));
    apply(outer, 1, 1.0, "head,encoder.bo*");
    assert_int_equal(axle_lora_count(outer), 2);
    assert_ok(axle_lora_remove(outer));
    apply(outer, 1, 1.0, "head,head");
    assert_int_equal(axle_lora_count(outer), 1);
    axle_module_release(outer);
}

static void wrong_wishes_change_nothing(void **state)
{
    (void)state;
    static const struct {
        int64_t rank;
        double alpha, dropout;
        const char *targets;
        int code;
        const char *part;
    } cases[] = {
        {0, 1.0, 0.0, "*", AXLE_ERR_INVALID, "rank is 0"},
        {1, NAN, 0.0, "*", AXLE_ERR_INVALID, "alpha nan"},
        {1, 1.0, 1.5, "*", AXLE_ERR_INVALID, "dropout is 1.5"},
        {1, 1.0, 0.0, "head,neck", AXLE_ERR_NOT_FOUND, "no linear layer matches 'neck'"},
        {1, 1.0, 0.0, "relu", AXLE_ERR_NOT_FOUND, "no linear layer matches 'relu'"},
    };
    axle_module *net = net_of(1);
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        axle_lora_options options = AXLE_LORA_OPTIONS_INIT;
        options.rank = cases[k].rank;
        options.alpha = cases[k].alpha;
        options.dropout = cases[k].dropout;
        options.targets = cases[k].targets;
        assert_int_equal(axle_lora_apply(net, &options), cases[k].code);
        unit_expect_error(cases[k].code, cases[k].part);
        assert_int_equal(axle_lora_count(net), 0);
        assert_true(axle_tensor_requires_grad(axle_module_parameter(net, "head.weight")));
    }
    apply(net, 1, 1.0, "*");
    assert_int_equal(axle_lora_apply(net, NULL), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "2 layers have adapters already");
    axle_module_release(net);
}

static void tied_weights_do_not_merge(void **state)
{
    (void)state;
    axle_module *net = net_of(1);
    axle_tensor *weight = axle_module_parameter(net, "head.weight");
    assert_ok(axle_module_add_parameter(net, "tied", axle_tensor_retain(weight)));
    apply(net, 1, 1.0, "head");
    assert_int_equal(axle_lora_merge(net), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "'head' is tied");
    axle_module_release(net);
}

/* ------------------------------------------------------------------ files */

static void files_are_pefts(void **state)
{
    (void)state;
    axle_module *net = net_of(1), *other = net_of(1);
    assert_int_equal(files_setup(NULL), 0);
    assert_int_equal(rmdir(files_folder), 0);
    apply(net, 2, 5.0, "*");
    axle_init_normal(axle_module_parameter(net, "head.lora_B.weight"), 0.0, 0.5);
    assert_ok(axle_lora_save(net, files_folder));
    axle__safetensors *file;
    assert_ok(axle__safetensors_open(files_path("adapter_model.safetensors"), &file));
    assert_int_equal(axle__safetensors_count(file), 4);
    assert_non_null(axle__safetensors_find(file, "base_model.model.body.lora_A.weight"));
    assert_non_null(axle__safetensors_find(file, "base_model.model.head.lora_B.weight"));
    assert_string_equal(axle__safetensors_metadata(file, "format"), "pt");
    axle__safetensors_close(file);
    axle_tensor *x = axle_randn(F64, AXLE_DIMS(3, 4));
    double *expected = tensors_read(axle_module_forward(net, x));
    for (int again = 0; again < 2; again++) {
        assert_ok(axle_lora_load(other, files_folder));
        tensors_expect(axle_module_forward(other, x), 0.0, 9, expected);
    }
    assert_false(axle_tensor_requires_grad(axle_module_parameter(other, "head.weight")));
    assert_true(axle_tensor_requires_grad(axle_module_parameter(other, "head.lora_A.weight")));
    free(expected);
    axle_module_release(net);
    axle_module_release(other);
    assert_int_equal(files_teardown(NULL), 0);
}

/* Each is refused by name, and the module stays without adapters. */
static void foreign_folders_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        int code;
        const char *part;
    } cases[] = {
        {"{", AXLE_ERR_FORMAT, "no JSON object"},
        {"[]", AXLE_ERR_FORMAT, "no JSON object"},
        {"{\"peft_type\": \"IA3\"}", AXLE_ERR_UNSUPPORTED, "peft_type is IA3"},
        {"{\"peft_type\": \"LORA\", \"lora_alpha\": 2}", AXLE_ERR_FORMAT, "'r' is missing"},
        {"{\"peft_type\": \"LORA\", \"r\": 2}", AXLE_ERR_FORMAT, "'lora_alpha' is missing"},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 2, \"use_dora\": true}",
         AXLE_ERR_UNSUPPORTED, "'use_dora'"},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 2, \"bias\": \"all\"}",
         AXLE_ERR_UNSUPPORTED, "'bias'"},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 2, \"rank_pattern\": {\"a\": 3}}",
         AXLE_ERR_UNSUPPORTED, "'rank_pattern'"},
        {"{\"peft_type\": \"LORA\", \"r\": 3, \"lora_alpha\": 2}", AXLE_ERR_SHAPE,
         "the layer's (3, 4)"},
    };
    const char *const config = "adapter_config.json";
    assert_int_equal(files_setup(NULL), 0);
    axle_module *net = net_of(1), *linear = linear_of(4, 5);
    apply(net, 2, 5.0, "*");
    assert_ok(axle_lora_save(net, files_folder));
    assert_ok(axle_lora_remove(net));
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        files_write_text(config, cases[k].config);
        assert_int_equal(axle_lora_load(net, files_folder), cases[k].code);
        unit_expect_error(cases[k].code, cases[k].part);
        assert_int_equal(axle_lora_count(net), 0);
    }
    files_write_text(config,
                     "{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 5, \"bias\": \"none\","
                     " \"lora_dropout\": 0.1, \"rank_pattern\": {}, \"use_rslora\": false}");
    assert_int_equal(axle_lora_load(linear, files_folder), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "has no linear layer 'body'");
    assert_int_equal(axle_lora_save(linear, files_folder), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "no layer has an adapter");
    assert_ok(axle_lora_load(net, files_folder));
    assert_int_equal(axle_lora_count(net), 2);
    axle_module_release(net);
    axle_module_release(linear);
    assert_int_equal(files_teardown(NULL), 0);
}

static const struct CMUnitTest tests[] = {
    TENSORS("values and gradients are NumPy's", values_and_gradients_are_numpys),
    TENSORS("merging moves the product into the weight, and back to the bit",
            merging_moves_the_product_and_back),
    TENSORS("gradients are those of finite differences", gradients_are_differences),
    TENSORS("a new adapter changes nothing, and draws from its own seed",
            nothing_changes_before_training),
    TENSORS("only adapters learn", only_adapters_learn),
    TENSORS("dropout is for training alone", dropout_is_for_training_alone),
    TENSORS("targets are patterns of paths or of their ends", targets_are_paths_or_their_ends),
    TENSORS("what cannot be adapted is refused, and nothing changes", wrong_wishes_change_nothing),
    TENSORS("a tied weight does not merge", tied_weights_do_not_merge),
    TENSORS("files are PEFT's, and load into a fresh model", files_are_pefts),
    TENSORS("foreign folders are refused by name", foreign_folders_are_refused),
};

UNIT_MAIN(tests)
