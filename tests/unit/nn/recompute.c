/* SPDX-License-Identifier: Apache-2.0 */
/* Computing again in backward: the same bits, running statistics that move once, less memory. */
#include "axle/axle.h"
#include "group/processes.h"
#include "tensors.h"

static void ok(int code)
{
    if (code)
        fail_msg("%d: %s", code, axle_error_message());
}

/* ------------------------------------------------------------------ networks */

static void add(axle_module *net, int code, axle_module **layer)
{
    ok(code);
    ok(axle_module_add_child(net, NULL, *layer));
}

/* Pictures (N, 2, 6, 6): convolution, norm, relu, dropout, twice, and a linear layer. */
static axle_module *pictures(void)
{
    axle_module *net, *layer = NULL;
    ok(axle_sequential_create(&net));
    for (int k = 0; k < 2; k++) {
        add(net, axle_conv2d_create(k ? 4 : 2, 4, 3, 1, 1, 1, &layer), &layer);
        add(net, axle_batch_norm_create(4, 1e-5, 0.1, &layer), &layer);
        add(net, axle_activation_create("relu", &layer), &layer);
        add(net, axle_dropout_create(0.3, &layer), &layer);
    }
    add(net, axle_flatten_create(&layer), &layer);
    add(net, axle_linear_create(144, 3, 1, &layer), &layer);
    return net;
}

static axle_tensor *picture_input(void)
{
    return axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(5, 2, 6, 6));
}

/* Three encoder layers over (N, 4, 8), with dropout. */
static axle_module *encoder(int norm_first)
{
    axle_module *net, *layer = NULL;
    axle_encoder_layer_options options = AXLE_ENCODER_LAYER_OPTIONS_INIT;
    options.features = 8;
    options.hidden = 16;
    options.heads = 2;
    options.norm_first = norm_first;
    ok(axle_sequential_create(&net));
    for (int k = 0; k < 3; k++)
        add(net, axle_encoder_layer_create(&options, &layer), &layer);
    return net;
}

static axle_module *encoder_after(void)
{
    return encoder(0);
}

static axle_module *encoder_before(void)
{
    return encoder(1);
}

static axle_tensor *sequence_input(void)
{
    return axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(3, 4, 8));
}

/* ------------------------------------------------------------------ the same bits */

/* Marks by depth: bit d for the modules d levels below the root. */
static int mark(const char *path, axle_module *module, void *user)
{
    int depth = *path != '\0';
    for (const char *at = path; *at; at++)
        depth += *at == '.';
    axle_module_checkpoint(module, *(int *)user >> depth & 1);
    return AXLE_OK;
}

/* Element type of the region in which forward runs; 0: none. */
static int precision;

typedef struct outcome {
    uint64_t parameters, gradients;
    double loss;
} outcome;

static int add_gradient(const char *path, axle_tensor *tensor, void *user)
{
    axle_tensor *grad = axle_tensor_grad(tensor);
    if (!grad)
        fail_msg("%s has no gradient", path);
    double *values = tensors_read(grad);
    for (int64_t k = 0; k < axle_tensor_count(grad); k++) {
        uint64_t bits;
        memcpy(&bits, &values[k], sizeof(bits));
        *(uint64_t *)user = (*(uint64_t *)user ^ bits) * UINT64_C(1099511628211);
    }
    free(values);
    return AXLE_OK;
}

/* Two updates, with the input asking for a gradient where `leaf` says so. */
static outcome train(axle_module *(*make)(void), axle_tensor *(*input)(void), int marks, bool leaf)
{
    bool inside = leaf; /* backward runs before the region of mixed precision ends */
    outcome out = {0};
    axle_optimizer *optimizer;
    axle_seed(7);
    axle_module *net = make();
    ok(axle_module_each_module(net, mark, &marks));
    ok(axle_adamw_create(net, NULL, &optimizer));
    for (int k = 0; k < 2; k++) {
        axle_scope_push();
        axle_tensor *x = input();
        if (leaf)
            tensors_leaf(x);
        axle_optimizer_zero_grad(optimizer);
        ok(precision ? axle_autocast_push(precision) : AXLE_OK);
        axle_tensor *loss = axle_mean_all(axle_square(axle_module_forward(net, x)));
        if (precision && !inside)
            axle_autocast_pop();
        axle_random_state before = axle_random_get();
        ok(axle_tensor_backward(loss, NULL, 0));
        axle_random_state after = axle_random_get();
        assert_memory_equal(&before, &after, sizeof(before));
        if (precision && inside)
            axle_autocast_pop();
        ok(axle_tensor_item(loss, &out.loss));
        ok(axle_module_each_parameter(net, add_gradient, &out.gradients));
        if (leaf)
            add_gradient("the input", x, &out.gradients);
        ok(axle_optimizer_step(optimizer));
        axle_scope_pop();
    }
    ok(axle_module_checksum(net, &out.parameters));
    axle_optimizer_release(optimizer);
    axle_module_release(net);
    return out;
}

/* The checksum of the parameters is one of the running statistics, too. */
static void compare(axle_module *(*make)(void), axle_tensor *(*input)(void))
{
    for (int leaf = 0; leaf < 2; leaf++) {
        outcome plain = train(make, input, 0, leaf);
        for (int marks = 1; marks < 8; marks++) {
            outcome again = train(make, input, marks, leaf);
            if (again.parameters != plain.parameters || again.gradients != plain.gradients ||
                again.loss != plain.loss)
                fail_msg("marks %d: loss %.9g and %.9g, gradients %s, parameters %s", marks,
                         plain.loss, again.loss,
                         again.gradients == plain.gradients ? "equal" : "differ",
                         again.parameters == plain.parameters ? "equal" : "differ");
        }
    }
}

static void mixed_precision_has_the_same_bits(void **state)
{
    (void)state;
    precision = AXLE_DTYPE_BF16;
    compare(encoder_after, sequence_input);
    compare(pictures, picture_input);
    precision = 0;
}

/* The weight was cast before, where that was recorded. */
static void casts_of_another_record_stay_out(void **state)
{
    (void)state;
    double *expected = NULL;
    for (int again = 0; again < 2; again++) {
        axle_module *layer;
        axle_seed(3);
        ok(axle_linear_create(4, 4, 0, &layer));
        axle_tensor *weight = axle_module_parameter(layer, "weight");
        axle_tensor *x = axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(3, 4));
        ok(axle_autocast_push(AXLE_DTYPE_BF16));
        axle_tensor *y = axle_module_forward(layer, x);
        axle_module_checkpoint(layer, again);
        y = axle_module_forward(layer, y);
        ok(axle_tensor_backward(axle_sum_all(axle_square(y)), NULL, 0));
        axle_autocast_pop();
        if (!again)
            expected = tensors_read(axle_tensor_grad(weight));
        else
            tensors_expect(axle_tensor_grad(weight), 0.5, 16, expected); /* in bf16 */
        axle_module_release(layer);
    }
    free(expected);
}

static void convolutions_have_the_same_bits(void **state)
{
    (void)state;
    compare(pictures, picture_input);
}

static void encoders_have_the_same_bits(void **state)
{
    (void)state;
    compare(encoder_after, sequence_input);
    compare(encoder_before, sequence_input);
}

/* Masks go through the functions of encoder layers and of attention. */
static void masks_are_inputs_too(void **state)
{
    (void)state;
    double *expected[2] = {NULL, NULL};
    for (int marks = 0; marks < 4; marks++) {
        axle_seed(5);
        axle_module *net = encoder(0), *layer = axle_module_child(net, "0");
        axle_module_checkpoint(layer, marks & 1);
        axle_module_checkpoint(axle_module_child(layer, "self_attn"), marks & 2);
        axle_tensor *x = tensors_leaf(sequence_input());
        unsigned char kept[] = {1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1};
        axle_tensor *mask = axle_from_data(AXLE_DTYPE_BOOL, AXLE_DIMS(3, 1, 1, 4), kept);
        axle_tensor *y = axle_encoder_layer_forward(layer, axle_mul_scalar(x, 2.0), mask, 0);
        ok(axle_tensor_backward(axle_sum_all(axle_square(y)), NULL, 0));
        axle_tensor *got[2] = {y, axle_tensor_grad(x)};
        for (int k = 0; k < 2; k++) {
            if (marks == 0)
                expected[k] = tensors_read(got[k]);
            else
                tensors_expect(got[k], 0.0, 96, expected[k]);
        }
        axle_module_release(net);
    }
    free(expected[0]);
    free(expected[1]);
}

/* ------------------------------------------------------------------ functions of one's own */

static axle_tensor *product(axle_tensor *const *in, int n_in, void *user)
{
    axle_tensor *w = user;
    (void)n_in;
    return axle_mul(axle_mul(in[0], in[1]), w);
}

/* x * x * w with x used outside before and after, and w, too. */
static void leaves_and_inputs_may_be_shared(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        axle_tensor *v = tensors_leaf(VECTOR(1.0, 2.0)), *w = tensors_leaf(VECTOR(3.0, 5.0));
        axle_tensor *x = axle_mul(v, w), *in[2] = {x, x};
        axle_tensor *y = again ? axle_checkpoint(product, in, 2, w, NULL) : product(in, 2, w);
        y = axle_add(axle_mul(y, x), axle_mul(w, v));
        ok(axle_tensor_backward(axle_sum_all(y), NULL, 0));
        /* v^3 w^4 + w v */
        EXPECT(axle_tensor_grad(v), 3 * 81 + 3, 12 * 625 + 5);
        EXPECT(axle_tensor_grad(w), 4 * 27 + 1, 8 * 4 * 125 + 2);
    }
}

typedef struct count {
    int made, completed;
} count;

static void count_ready(axle_tensor *leaf, void *user)
{
    (void)leaf;
    ((count *)user)->completed++;
}

/* A leaf inside two checkpointed calls and outside of them is complete once, at the end. */
static void leaves_are_complete_once(void **state)
{
    (void)state;
    count counts = {0};
    axle_hook *hook;
    axle_tensor *w = tensors_leaf(VECTOR(3.0)), *x = tensors_leaf(VECTOR(2.0)), *in[2] = {x, x};
    ok(axle_tensor_add_ready_hook(w, count_ready, &counts, &hook));
    axle_tensor *y = axle_checkpoint(product, in, 2, w, NULL);
    in[0] = y;
    y = axle_mul(axle_checkpoint(product, in, 2, w, NULL), w); /* x^3 w^3 */
    ok(axle_tensor_backward(axle_sum_all(y), NULL, 0));
    assert_int_equal(counts.completed, 1);
    EXPECT(axle_tensor_grad(w), 3 * 8 * 9);
    EXPECT(axle_tensor_grad(x), 3 * 4 * 27);
    axle_hook_remove(hook);
}

static axle_tensor *observe(axle_tensor *const *in, int n_in, void *user)
{
    int *calls = user;
    (void)n_in;
    calls[axle_recomputing()]++;
    return in[0];
}

static void forget(void *user)
{
    ((int *)user)[2]++;
}

static void functions_know_which_time_it_is(void **state)
{
    (void)state;
    int calls[3] = {0};
    axle_tensor *x = tensors_leaf(VECTOR(2.0)), *double_x = axle_mul_scalar(x, 2.0);
    axle_scope_push();
    axle_tensor *y = axle_checkpoint(observe, &double_x, 1, calls, forget);
    ok(axle_tensor_backward(y, NULL, 1));
    ok(axle_tensor_backward(y, NULL, 0));
    assert_true(calls[0] == 1 && calls[1] == 2 && calls[2] == 0);
    axle_scope_pop();
    assert_int_equal(calls[2], 1);
    EXPECT(axle_tensor_grad(x), 4);
    axle_no_grad_push();
    assert_ptr_equal(axle_checkpoint(observe, &x, 1, calls, forget), x);
    axle_no_grad_pop();
    assert_true(calls[0] == 2 && calls[2] == 2);
    axle_tensor *fixed = VECTOR(1.0);
    assert_false(axle_tensor_requires_grad(axle_checkpoint(observe, &fixed, 1, calls, forget)));
    assert_int_equal(calls[2], 3);
}

static void recorded_tensors_must_be_inputs(void **state)
{
    (void)state;
    axle_tensor *x = tensors_leaf(VECTOR(2.0)), *in[2] = {x, x};
    axle_tensor *hidden = axle_square(x);
    assert_null(axle_checkpoint(product, in, 2, hidden, NULL));
    unit_expect_error(AXLE_ERR_STATE, "none of its inputs");
}

static void overwritten_inputs_are_an_error(void **state)
{
    (void)state;
    axle_tensor *w = tensors_leaf(VECTOR(3.0)), *x = VECTOR(2.0), *in[2] = {x, x};
    axle_tensor *y = axle_checkpoint(product, in, 2, w, NULL);
    ok(axle_tensor_write(x, &(double){4.0}, sizeof(double)));
    assert_int_equal(axle_tensor_backward(y, NULL, 0), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "checkpoint saved was overwritten");
}

/* ------------------------------------------------------------------ memory */

static uint64_t peak(void)
{
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    ok(axle_device_get_stats(axle_device_host(), &stats));
    return stats.bytes_peak;
}

/* Twelve blocks of linear and tanh over (4096, 16). */
static uint64_t peak_of(int blocks, int pieces)
{
    axle_module *net, *block, *layer = NULL;
    ok(axle_sequential_create(&net));
    for (int k = 0; k < 12; k++) {
        ok(axle_sequential_create(&block));
        for (int j = 0; j < 3; j++) {
            add(block, axle_linear_create(16, 16, 1, &layer), &layer);
            add(block, axle_activation_create("tanh", &layer), &layer);
        }
        ok(axle_module_add_child(net, NULL, block));
        axle_module_checkpoint(block, blocks);
    }
    axle_module_checkpoint(net, pieces);
    axle_scope_push();
    axle_tensor *x = axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(4096, 16));
    ok(axle_tensor_backward(axle_mean_all(axle_square(axle_module_forward(net, x))), NULL, 0));
    axle_scope_pop();
    axle_module_release(net);
    return peak();
}

/* The peak only grows, so the thrifty come first. */
static void less_memory_is_needed(void **state)
{
    (void)state;
    uint64_t before = peak(), item = 4096 * 16 * 4;
    uint64_t both = peak_of(1, 1), pieces = peak_of(0, 1), plain = peak_of(0, 0);
    print_message(
        "# peaks: %llu before, %llu with pieces of pieces, %llu in pieces, %llu without\n",
        (unsigned long long)before, (unsigned long long)both, (unsigned long long)pieces,
        (unsigned long long)plain);
    /* 36 results of tanh without; of 3 pieces of 12 one at a time with them. */
    assert_true(both > before && pieces > both && plain > pieces);
    assert_true(plain >= 36 * item && pieces <= 24 * item);
}

/* ------------------------------------------------------------------ processes */

/* Ready hooks reach the reducer as without it: all processes have the bits of the plain run. */
static int trains_by_two(axle_group *unused, void *user)
{
    (void)unused;
    axle_accelerator_options options = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_accelerator *acc;
    axle_optimizer *optimizer;
    options.backend = "reference";
    options.quiet = 1;
    CHECK(axle_accelerator_create(&options, &acc) == AXLE_OK);
    axle_seed(4);
    axle_module *net = encoder(1);
    CHECK(axle_module_each_module(net, mark, user) == AXLE_OK);
    CHECK(axle_adamw_create(net, NULL, &optimizer) == AXLE_OK);
    CHECK(axle_prepare(acc, net, optimizer) == AXLE_OK);
    for (int k = 0; k < 3; k++) {
        axle_scope_push();
        axle_seed(10 + (uint64_t)axle_process_index(acc));
        axle_optimizer_zero_grad(optimizer);
        axle_tensor *y = axle_module_forward(net, sequence_input());
        CHECK(axle_backward(acc, axle_mean_all(axle_square(y))) == AXLE_OK);
        CHECK(axle_optimizer_step(optimizer) == AXLE_OK);
        axle_scope_pop();
    }
    uint64_t sum;
    CHECK(axle_module_checksum(net, &sum) == AXLE_OK);
    memcpy(job_own_note->numbers, &sum, sizeof(sum));
    CHECK(axle_end_training(acc) == AXLE_OK);
    axle_accelerator_release(acc);
    axle_optimizer_release(optimizer);
    axle_module_release(net);
    return 0;
}

static void processes_have_the_same_bits(void **state)
{
    (void)state;
    double sums[2];
    for (int k = 0; k < 2; k++) {
        job two = job_run_with(2, 0.0, true, trains_by_two, &(int){2 * k});
        job_expect_exit(&two, 0, 0);
        job_expect_exit(&two, 1, 0);
        assert_memory_equal(two.notes[0].numbers, two.notes[1].numbers, sizeof(double));
        sums[k] = two.notes[0].numbers[0];
        job_forget(&two);
    }
    assert_memory_equal(&sums[0], &sums[1], sizeof(double));
}

static const struct CMUnitTest tests[] = {
    TENSORS("less memory is needed", less_memory_is_needed),
    TENSORS("convolutions, norms and dropout have the same bits, however they are marked",
            convolutions_have_the_same_bits),
    TENSORS("so have encoder layers", encoders_have_the_same_bits),
    TENSORS("so has a region of mixed precision", mixed_precision_has_the_same_bits),
    TENSORS("casts of another record stay out", casts_of_another_record_stay_out),
    TENSORS("masks are inputs too", masks_are_inputs_too),
    TENSORS("leaves and inputs may be used outside and more than once",
            leaves_and_inputs_may_be_shared),
    TENSORS("a shared leaf's gradient is complete once", leaves_are_complete_once),
    TENSORS("a function knows whether it runs again, and its data goes with the record",
            functions_know_which_time_it_is),
    TENSORS("a recorded tensor that is no input is an error", recorded_tensors_must_be_inputs),
    TENSORS("an overwritten input is an error", overwritten_inputs_are_an_error),
    UNIT("two processes have the same bits as without", processes_have_the_same_bits),
};

UNIT_MAIN(tests)
