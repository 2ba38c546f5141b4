/* SPDX-License-Identifier: Apache-2.0 */
#include "tiny.h"

#include "axle/autograd.h"
#include "axle/random.h"

static const char *const tasks[] = {"base", "sequence-classification", "token-classification",
                                    "masked-lm", "causal-lm"};
enum { TASKS = 4, CAUSAL = TASKS };

/* ------------------------------------------------------------------ shapes and gradients */

static void add_labels(axle_batch *batch, int task)
{
    const int64_t *labels = TINY_INTEGERS(0, 1, 1, 0, -100, 1, 0, 1, 0, 1);
    if (task == 1)
        tiny_set(batch, "labels", axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(2), labels));
    else if (task > 1)
        tiny_set(batch, "labels", axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(2, 5), labels));
}

static int has_gradient(const char *path, axle_tensor *tensor, void *user)
{
    (void)user;
    if (!axle_tensor_grad(tensor))
        fail_msg("'%s' has no gradient", path);
    return 0;
}

static void check_task(const char *type, int task)
{
    axle_model *model = tiny_model(type, tasks[task]);
    axle_batch *batch = tiny_batch(2, 5);
    add_labels(batch, task);
    axle_output out = axle_model_forward(model, batch);
    if (!out.logits)
        fail_msg("%s, %s: %s", type, tasks[task], axle_error_message());
    if (task == 1)
        EXPECT_DIMS(out.logits, 2, 2);
    else
        EXPECT_DIMS(out.logits, 2, 5, task == 0 ? TINY_WIDTH : task == 2 ? 2 : TINY_VOCABULARY);
    assert_int_equal(out.loss != NULL, task > 0);
    if (out.loss) {
        tiny_ok(axle_tensor_backward(out.loss, NULL, 0));
        axle_module_each_parameter(axle_model_module(model), has_gradient, NULL);
    }
    assert_string_equal(axle_transformer_task_of(model), tasks[task]);
    axle_batch_release(batch);
    axle_model_release(model);
    axle_scope_pop();
    tiny_ok(axle_scope_push());
}

static void every_model_has_its_tasks(void **state)
{
    (void)state;
    for (const char *const *type = axle_transformer_model_types(); *type; type++)
        for (int task = 0; task < TASKS; task++)
            if (strcmp(*type, "gpt2") != 0)
                check_task(*type, task);
    check_task("gpt2", 0);
    check_task("gpt2", CAUSAL);
}

/* The logits of each place are for the next token's label, and what comes later changes none. */
static void next_tokens_are_told(void **state)
{
    (void)state;
    axle_model *model = tiny_model("gpt2", "causal-lm");
    axle_batch *batch = tiny_batch(2, 5), *shorter = tiny_batch(1, 3);
    double weight, loss;
    axle_module_train(axle_model_module(model), 0);
    add_labels(batch, CAUSAL);
    tiny_ok(axle_transformer_loss_weight(model, batch, &weight));
    assert_true(weight == 7.0);
    axle_output out = axle_model_forward(model, batch);
    axle_tensor *labels = axle_slice(axle_batch_get(batch, "labels"), 1, 1, 5, 1);
    axle_tensor *expected = axle_cross_entropy(
        axle_flatten(axle_slice(out.logits, 1, 0, 4, 1), 0, 1), axle_flatten(labels, 0, 1), NULL);
    tiny_ok(axle_tensor_item(out.loss, &loss));
    EXPECT_NEAR(expected, 1e-6, loss);
    double *all = tensors_read(out.logits), *first = tensors_read(tiny_logits(model, shorter));
    for (int k = 0; k < 3 * TINY_VOCABULARY; k++)
        assert_true(fabs(all[k] - first[k]) < 1e-6);
    free(all);
    free(first);
    axle_batch_release(shorter);
    axle_batch_release(batch);
    axle_model_release(model);
}

static void unknown_tasks_are_refused(void **state)
{
    (void)state;
    axle_transformer_config *config = tiny_config("bert");
    axle_model *model;
    assert_int_equal(axle_transformer_create(config, "causal-lm", &model), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "masked-lm");
    axle_transformer_config_release(config);
}

/* ------------------------------------------------------------------ initial values */

static void initial_values_are_those_of_the_original(void **state)
{
    (void)state;
    axle_seed(3);
    axle_model *model = tiny_model("roberta", "masked-lm");
    double *words =
        tensors_read(tiny_parameter(model, "roberta.embeddings.word_embeddings.weight"));
    double sum = 0.0;
    for (int k = 0; k < TINY_VOCABULARY * TINY_WIDTH; k++)
        sum += words[k] * words[k];
    double deviation = sqrt(sum / ((TINY_VOCABULARY - 1) * TINY_WIDTH));
    assert_true(deviation > 0.017 && deviation < 0.023);
    for (int k = 0; k < TINY_WIDTH; k++)
        assert_true(words[TINY_WIDTH + k] == 0.0); /* token 1 is the padding */
    free(words);
    double *norm = tensors_read(tiny_parameter(model, "lm_head.layer_norm.weight"));
    double *bias = tensors_read(tiny_parameter(model, "lm_head.dense.bias"));
    for (int k = 0; k < TINY_WIDTH; k++)
        assert_true(norm[k] == 1.0 && bias[k] == 0.0);
    free(norm);
    free(bias);
    axle_model_release(model);
}

/* ------------------------------------------------------------------ what counts as input */

static void padding_does_not_matter(void **state)
{
    (void)state;
    for (const char *const *type = axle_transformer_model_types(); *type; type++) {
        axle_model *model = tiny_model(*type, tiny_task(*type, "sequence-classification"));
        axle_batch *longer = tiny_batch(1, 7), *shorter = tiny_batch(1, 4);
        axle_module_train(axle_model_module(model), 0);
        tiny_set(
            longer, "attention_mask",
            axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(1, 7), TINY_INTEGERS(1, 1, 1, 1, 0, 0, 0)));
        double *a = tensors_read(tiny_logits(model, longer));
        double *b = tensors_read(tiny_logits(model, shorter));
        for (int k = 0; k < 2; k++)
            assert_true(fabs(a[k] - b[k]) < 1e-6);
        free(a);
        free(b);
        axle_batch_release(longer);
        axle_batch_release(shorter);
        axle_model_release(model);
    }
}

static void wrong_batches_are_refused(void **state)
{
    (void)state;
    axle_model *model = tiny_model("bert", "sequence-classification");
    axle_model *counting = tiny_model("roberta", "sequence-classification");
    axle_batch *longest = tiny_batch(1, TINY_POSITIONS),
               *longer = tiny_batch(1, TINY_POSITIONS + 1);
    tiny_logits(model, longest);
    assert_null(axle_model_forward(model, longer).logits);
    unit_expect_error(AXLE_ERR_SHAPE, "13 tokens; bert takes 1 to 12");
    assert_null(axle_model_forward(counting, longest).logits);
    unit_expect_error(AXLE_ERR_SHAPE, "12 tokens; roberta takes 1 to 10");
    tiny_set(longest, "attention_mask", axle_ones(AXLE_DTYPE_I64, AXLE_DIMS(1, 3)));
    assert_null(axle_model_forward(model, longest).logits);
    unit_expect_error(AXLE_ERR_SHAPE, "attention_mask");
    tiny_set(longest, "input_ids", axle_full(AXLE_DTYPE_I64, AXLE_DIMS(1, 3), 1000.0));
    assert_null(axle_model_forward(model, longest).logits);
    unit_expect_error(AXLE_ERR_INDEX, "1000");
    axle_batch_release(longest);
    axle_batch_release(longer);
    axle_model_release(model);
    axle_model_release(counting);
}

/* ------------------------------------------------------------------ dropout */

static void dropout_is_for_training(void **state)
{
    (void)state;
    for (const char *const *type = axle_transformer_model_types(); *type; type++) {
        axle_model *model = tiny_model(*type, tiny_task(*type, "sequence-classification"));
        axle_batch *batch = tiny_batch(1, 4);
        double *a = tensors_read(tiny_logits(model, batch));
        double *b = tensors_read(tiny_logits(model, batch));
        assert_true(a[0] != b[0]);
        axle_module_train(axle_model_module(model), 0);
        free(a);
        free(b);
        a = tensors_read(tiny_logits(model, batch));
        b = tensors_read(tiny_logits(model, batch));
        assert_true(a[0] == b[0]);
        free(a);
        free(b);
        axle_batch_release(batch);
        axle_model_release(model);
    }
}

/* ------------------------------------------------------------------ losses */

static double loss_of(const char *problem, int64_t labels, axle_tensor *target)
{
    double value;
    axle_transformer_config *config = tiny_config("distilbert");
    tiny_ok(axle_transformer_config_set_labels(config, NULL, labels));
    tiny_ok(axle_transformer_config_set_string(config, "problem_type", problem));
    axle_model *model = tiny_of(config, "sequence-classification");
    axle_module_train(axle_model_module(model), 0);
    tiny_ok(axle_init_constant(tiny_parameter(model, "classifier.weight"), 0.0));
    tiny_ok(axle_init_constant(tiny_parameter(model, "classifier.bias"), 0.5));
    axle_batch *batch = tiny_batch(2, 4);
    tiny_set(batch, "labels", target);
    axle_output out = axle_model_forward(model, batch);
    if (!out.loss)
        fail_msg("%s", axle_error_message());
    tiny_ok(axle_tensor_item(out.loss, &value));
    axle_batch_release(batch);
    axle_model_release(model);
    return value;
}

/* All logits are 0.5. */
static void the_problem_decides_on_the_loss(void **state)
{
    (void)state;
    axle_tensor *classes = axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(2), TINY_INTEGERS(0, 2));
    axle_tensor *numbers =
        axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(2), (const float[]){1.5F, 2.5F});
    axle_tensor *column = axle_reshape(numbers, AXLE_DIMS(2, 1));
    axle_tensor *several = axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(2, 3));
    axle_tensor *whole = axle_ones(AXLE_DTYPE_I64, AXLE_DIMS(2, 3));
    double binary = log1p(exp(-0.5));
    assert_true(fabs(loss_of(NULL, 3, classes) - log(3.0)) < 1e-6);
    assert_true(fabs(loss_of(NULL, 1, numbers) - 2.5) < 1e-6);
    assert_true(fabs(loss_of(NULL, 1, column) - 2.5) < 1e-6);
    assert_true(fabs(loss_of(NULL, 3, several) - binary) < 1e-6);
    assert_true(fabs(loss_of("multi_label_classification", 3, whole) - binary) < 1e-6);
    assert_true(fabs(loss_of("regression", 3, several) - 0.25) < 1e-6);
}

static void weights_of_losses_count_labels(void **state)
{
    (void)state;
    static const double expected[] = {0, 2, 9, 9};
    for (int task = 1; task < TASKS; task++) {
        axle_model *model = tiny_model("bert", tasks[task]);
        axle_batch *batch = tiny_batch(2, 5);
        double weight = -1.0;
        add_labels(batch, task);
        tiny_ok(axle_transformer_loss_weight(model, batch, &weight));
        assert_true(weight == expected[task]);
        axle_batch_release(batch);
        axle_model_release(model);
    }
}

/* ------------------------------------------------------------------ activations */

static double first_logit(const char *activation)
{
    axle_transformer_config *config = tiny_config("bert");
    tiny_ok(axle_transformer_config_set_string(config, "hidden_act", activation));
    tiny_ok(axle_transformer_config_set_double(config, "initializer_range", 0.5));
    axle_seed(1);
    axle_model *model = tiny_of(config, "sequence-classification");
    axle_batch *batch = tiny_batch(1, 4);
    axle_module_train(axle_model_module(model), 0);
    double *value = tensors_read(tiny_logits(model, batch)), first = value[0];
    free(value);
    axle_batch_release(batch);
    axle_model_release(model);
    return first;
}

static void gelu_is_the_exact_one(void **state)
{
    (void)state;
    EXPECT_NEAR(axle_gelu(VECTOR(-2.7, 1.0)), 1e-8, -0.00936083, 0.84134475);
    EXPECT_NEAR(axle_gelu_tanh(VECTOR(-2.7, 1.0)), 1e-8, -0.00888759, 0.84119199);
    double exact = first_logit("gelu"), rough = first_logit("gelu_new");
    assert_true(exact != rough && fabs(exact - rough) < 0.05);
    assert_true(rough == first_logit("gelu_pytorch_tanh"));
    assert_true(first_logit("relu") != exact);
    assert_true(first_logit("silu") == first_logit("swish"));
}

/* ------------------------------------------------------------------ with the rest of Axle */

static int copy_gradient(const char *path, axle_tensor *tensor, void *user)
{
    axle_tensor *grad = axle_tensor_grad(tensor);
    if (!grad)
        fail_msg("'%s' has no gradient", path);
    return axle_batch_set(user, path, axle_clone(grad));
}

static int same_gradient(const char *path, axle_tensor *tensor, void *user)
{
    double *a = tensors_read(axle_tensor_grad(tensor));
    double *b = tensors_read(axle_batch_get(user, path));
    for (int64_t k = 0; k < axle_tensor_count(tensor); k++)
        if (a[k] != b[k])
            fail_msg("the gradient of '%s' differs", path);
    free(a);
    free(b);
    return 0;
}

static int clear_gradient(const char *path, axle_tensor *tensor, void *user)
{
    (void)path, (void)user;
    return axle_tensor_set_grad(tensor, NULL);
}

static int mark(const char *path, axle_module *module, void *user)
{
    if (*path && axle_module_child_count(module) > 0)
        axle_module_checkpoint(module, 1);
    (void)user;
    return 0;
}

static void run_once(axle_model *model, axle_batch *batch)
{
    axle_seed(9);
    axle_output out = axle_model_forward(model, batch);
    if (!out.loss)
        fail_msg("%s", axle_error_message());
    tiny_ok(axle_tensor_backward(out.loss, NULL, 0));
}

static void layers_are_computed_again(void **state)
{
    (void)state;
    for (const char *const *type = axle_transformer_model_types(); *type; type++) {
        axle_model *model = tiny_model(*type, tiny_task(*type, "sequence-classification"));
        axle_module *module = axle_model_module(model);
        axle_batch *batch = tiny_batch(2, 5), *gradients;
        add_labels(batch, strcmp(*type, "gpt2") == 0 ? CAUSAL : 1);
        tiny_set(batch, "attention_mask",
                 axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(2, 5),
                                TINY_INTEGERS(1, 1, 1, 1, 0, 1, 1, 1, 0, 0)));
        tiny_ok(axle_batch_create(&gradients));
        run_once(model, batch);
        tiny_ok(axle_module_each_parameter(module, copy_gradient, gradients));
        tiny_ok(axle_module_each_module(module, mark, NULL));
        tiny_ok(axle_module_each_parameter(module, clear_gradient, NULL));
        run_once(model, batch);
        tiny_ok(axle_module_each_parameter(module, same_gradient, gradients));
        axle_batch_release(gradients);
        axle_batch_release(batch);
        axle_model_release(model);
    }
}

static void adapters_find_attention(void **state)
{
    static const char *const targets[][2] = {{"bert", "query,value"},
                                             {"roberta", "query,value"},
                                             {"electra", "query,value"},
                                             {"distilbert", "q_lin,v_lin"}};
    (void)state;
    for (size_t k = 0; k < sizeof(targets) / sizeof(targets[0]); k++) {
        axle_model *model = tiny_model(targets[k][0], "sequence-classification");
        axle_lora_options options = AXLE_LORA_OPTIONS_INIT;
        options.targets = targets[k][1];
        options.rank = 2;
        tiny_ok(axle_lora_apply(axle_model_module(model), &options));
        assert_int_equal(axle_lora_count(axle_model_module(model)), 2 * TINY_LAYERS);
        axle_batch *batch = tiny_batch(2, 5);
        add_labels(batch, 1);
        run_once(model, batch);
        axle_batch_release(batch);
        axle_model_release(model);
    }
}

/* ------------------------------------------------------------------ tied weights */

static void tied_weights_are_one(void **state)
{
    (void)state;
    axle_model *model = tiny_model("bert", "masked-lm");
    axle_tensor *words = tiny_parameter(model, "bert.embeddings.word_embeddings.weight");
    assert_ptr_equal(words, tiny_parameter(model, "cls.predictions.decoder.weight"));
    assert_ptr_equal(tiny_parameter(model, "cls.predictions.bias"),
                     tiny_parameter(model, "cls.predictions.decoder.bias"));
    axle_batch *batch = tiny_batch(2, 5);
    add_labels(batch, 3);
    axle_optimizer *optimizer;
    tiny_ok(axle_sgd_create(axle_model_module(model), NULL, &optimizer));
    run_once(model, batch);
    double *before = tensors_read(words);
    tiny_ok(axle_optimizer_step(optimizer));
    double *after = tensors_read(tiny_parameter(model, "cls.predictions.decoder.weight"));
    assert_true(before[5 * TINY_WIDTH] != after[5 * TINY_WIDTH]);
    assert_ptr_equal(words, tiny_parameter(model, "cls.predictions.decoder.weight"));
    free(before);
    free(after);
    axle_optimizer_release(optimizer);
    axle_batch_release(batch);
    axle_model_release(model);
}

static void weights_need_not_be_tied(void **state)
{
    (void)state;
    int64_t tied[2];
    for (int on = 0; on < 2; on++) {
        axle_transformer_config *config = tiny_config("electra");
        tiny_ok(axle_transformer_config_set_bool(config, "tie_word_embeddings", on));
        axle_model *model = tiny_of(config, "masked-lm");
        tied[on] = axle_module_parameter_count(axle_model_module(model));
        axle_model_release(model);
    }
    assert_int_equal(tied[0] - tied[1], TINY_VOCABULARY * TINY_WIDTH / 2);
}

static const struct CMUnitTest tests[] = {
    TINY("every model has its tasks", every_model_has_its_tasks),
    TINY("the next token is told from those before it", next_tokens_are_told),
    TINY("unknown tasks are refused", unknown_tasks_are_refused),
    TINY("initial values are those of the original", initial_values_are_those_of_the_original),
    TINY("padding does not matter", padding_does_not_matter),
    TINY("wrong batches are refused", wrong_batches_are_refused),
    TINY("dropout is for training", dropout_is_for_training),
    TINY("the problem decides on the loss", the_problem_decides_on_the_loss),
    TINY("weights of losses count labels", weights_of_losses_count_labels),
    TINY("gelu is the exact one, and gelu_new the other", gelu_is_the_exact_one),
    TINY("layers are computed again with the same gradients", layers_are_computed_again),
    TINY("adapters find the products of attention", adapters_find_attention),
    TINY("tied weights are one", tied_weights_are_one),
    TINY("weights need not be tied", weights_need_not_be_tied),
};
UNIT_MAIN(tests)
