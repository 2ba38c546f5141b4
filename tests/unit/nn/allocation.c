/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of constructors, passes and files fails in turn: an error code, and nothing lost.
 */
#include "files.h"
#include "nn.h"

/* Run `call` with its first allocation failing, then its second, until it succeeds. Memory of the
 * device is back where it was after each failure. */
static void each_allocation_fails(int (*call)(void *user), void *user)
{
    assert_ok(call(user)); /* fills caches of prepared operators */
    for (long nth = 1;; nth++) {
        uint64_t before = bytes_in_use();
        int depth = axle_scope_depth();
        axle__alloc_fail_at(nth);
        int status = call(user);
        bool failed = axle__alloc_failed();
        axle__alloc_fail_at(0);
        assert_int_equal(bytes_in_use(), before);
        assert_int_equal(axle_scope_depth(), depth);
        if (!failed) {
            assert_ok(status);
            return;
        }
        if (status)
            unit_expect_error(AXLE_ERR_NOMEM, "");
    }
}

/* ---- constructors */

static int make_conv(axle_module **out)
{
    return axle_conv2d_create(2, 3, 3, 1, 1, 1, out);
}

static int make_batch_norm(axle_module **out)
{
    return axle_batch_norm_create(4, 1e-5, 0.1, out);
}

static int make_embedding(axle_module **out)
{
    return axle_embedding_create(4, 2, 1, out);
}

static int make_encoder_layer(axle_module **out)
{
    axle_encoder_layer_options options = AXLE_ENCODER_LAYER_OPTIONS_INIT;
    options.features = 4;
    options.hidden = 6;
    options.heads = 2;
    options.dropout = 0.0;
    return axle_encoder_layer_create(&options, out);
}

static int make_lstm(axle_module **out)
{
    axle_rnn_options options = AXLE_RNN_OPTIONS_INIT;
    options.input = 4;
    options.hidden = 2;
    options.bidirectional = 1;
    return axle_rnn_create(&options, out);
}

static int make_dropout(axle_module **out)
{
    return axle_dropout_create(0.5, out);
}

static int make_activation(axle_module **out)
{
    return axle_activation_create("relu", out);
}

static int make_pool(axle_module **out)
{
    return axle_max_pool_create(NULL, out);
}

typedef int (*make_fn)(axle_module **out);
static const make_fn makers[] = {make_conv, make_batch_norm, make_embedding,  make_encoder_layer,
                                 make_lstm, make_dropout,    make_activation, make_pool};

static int construct(void *user)
{
    axle_module *module;
    int status = (*(const make_fn *)user)(&module);
    if (!status)
        axle_module_release(module);
    return status;
}

static void constructors_lose_nothing(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(makers) / sizeof(makers[0]); k++) {
        make_fn make = makers[k];
        each_allocation_fails(construct, &make);
    }
}

/* Children and names: a sequence of twelve layers. */
static int build_tree(void *user)
{
    axle_module *top, *layer = NULL;
    (void)user;
    int status = axle_sequential_create(&top);
    if (status)
        return status;
    for (int k = 0; k < 12 && !status; k++) {
        status = axle_flatten_create(&layer);
        if (!status)
            status = axle_module_add_child(top, NULL, layer);
    }
    axle_module_release(top);
    return status;
}

static void trees_lose_nothing(void **state)
{
    (void)state;
    each_allocation_fails(build_tree, NULL);
}

/* ---- passes */

static int run(void *user)
{
    axle_module *module = user;
    if (axle_scope_push())
        return axle_error_code();
    axle_tensor *x = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(2, 3, 4));
    axle_tensor *loss = axle_sum_all(axle_module_forward(module, x));
    int status = loss ? axle_tensor_backward(loss, NULL, 0) : axle_error_code();
    axle_scope_pop();
    return status;
}

static void passes_lose_nothing(void **state)
{
    (void)state;
    const make_fn layers[] = {make_encoder_layer, make_lstm};
    for (size_t k = 0; k < sizeof(layers) / sizeof(layers[0]); k++) {
        axle_module *module;
        assert_ok(layers[k](&module));
        each_allocation_fails(run, module);
        axle_module_release(module);
    }
}

/* ---- walks and files */

static int walk(void *user)
{
    char text[NN_TEXT] = "";
    return axle_module_each_parameter(user, nn_append, text);
}

static int save(void *user)
{
    return axle_module_save(user, files_path("module"));
}

static int load(void *user)
{
    return axle_module_load(user, files_path("module"));
}

static void walks_and_files_lose_nothing(void **state)
{
    (void)state;
    axle_module *module;
    assert_ok(make_encoder_layer(&module));
    each_allocation_fails(walk, module);
    each_allocation_fails(save, module);
    assert_int_equal(files_count(0), 1);
    each_allocation_fails(load, module);
    axle_module_release(module);
}

static const struct CMUnitTest tests[] = {
    UNIT("constructors lose nothing when memory runs out", constructors_lose_nothing),
    UNIT("trees lose nothing when memory runs out", trees_lose_nothing),
    UNIT("passes lose nothing when memory runs out", passes_lose_nothing),
    {"walks and files lose nothing when memory runs out", walks_and_files_lose_nothing, files_setup,
     files_teardown, NULL},
};
UNIT_MAIN(tests)
