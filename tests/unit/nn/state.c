/* SPDX-License-Identifier: Apache-2.0 */
/* Saving and loading of modules; the code is in core/io. */
#include "files.h"
#include "nn.h"

#include "io/safetensors.h"

static axle_module *new_net(void)
{
    axle_module *net, *layer;
    assert_ok(axle_sequential_create(&net));
    assert_ok(axle_linear_create(3, 4, 1, &layer));
    assert_ok(axle_module_add_child(net, NULL, layer));
    assert_ok(axle_batch_norm_create(4, 1e-5, 0.1, &layer));
    assert_ok(axle_module_add_child(net, "norm", layer));
    return net;
}

static int compare_with(const char *path, axle_tensor *tensor, void *other)
{
    axle_tensor *same = axle_module_parameter(other, path);
    if (!same)
        same = axle_module_buffer(other, path);
    assert_non_null(same);
    expect_equal(tensor, same);
    return 0;
}

static void expect_equal_modules(const axle_module *a, axle_module *b)
{
    assert_ok(axle_module_each_parameter(a, compare_with, b));
    assert_ok(axle_module_each_buffer(a, compare_with, b));
}

/* Write a file of n tensors of zeros, named and shaped as told. */
static const char *zeros_file(const char *name, const char *const *names, axle_tensor *const *like,
                              size_t n)
{
    axle__named_tensor named[16];
    for (size_t k = 0; k < n; k++)
        named[k] = (axle__named_tensor){names[k], like[k]};
    assert_ok(axle__safetensors_write(files_path(name), named, n, NULL, 0));
    return files_path(name);
}

static axle_tensor *zeros(int rank, const int64_t *dims)
{
    return made(axle_zeros(AXLE_DTYPE_F32, rank, dims));
}

static void what_was_saved_is_loaded(void **state)
{
    (void)state;
    axle_module *a = new_net(), *b = new_net();
    made(axle_module_forward(a, axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(5, 3))));
    assert_ok(axle_module_save(a, files_path("net")));
    axle_tensor *weight = axle_module_parameter(b, "0.weight");
    assert_ok(axle_module_load(b, files_path("net")));
    expect_equal_modules(a, b);
    assert_ptr_equal(axle_module_parameter(b, "0.weight"), weight);
    assert_true(axle_tensor_requires_grad(weight));
    assert_int_equal(files_count(1), 1);
    axle_module_release(a);
    axle_module_release(b);
    axle_scope_pop();
}

static void element_types_are_converted(void **state)
{
    (void)state;
    axle_module *a = new_net(), *b = new_net();
    assert_ok(axle_module_to_dtype(a, AXLE_DTYPE_BF16));
    assert_ok(axle_module_save(a, files_path("net")));
    assert_ok(axle_module_load(b, files_path("net")));
    assert_int_equal(axle_tensor_dtype(axle_module_parameter(b, "0.weight")), AXLE_DTYPE_F32);
    expect_equal_modules(a, b);
    axle_module_release(a);
    axle_module_release(b);
    axle_scope_pop();
}

/* Load a file that is refused; the module keeps its values. */
static void expect_refused(axle_module *net, const char *path, int code, const char *words)
{
    assert_ok(axle_module_save(net, files_path("before")));
    axle_module *before = new_net();
    assert_ok(axle_module_load(before, files_path("before")));
    assert_int_equal(axle_module_load(net, path), code);
    unit_expect_error(code, words);
    expect_equal_modules(before, net);
    axle_module_release(before);
}

static const char *const net_names[] = {"0.weight",
                                        "0.bias",
                                        "norm.weight",
                                        "norm.bias",
                                        "norm.running_mean",
                                        "norm.running_var",
                                        "norm.num_batches_tracked"};

static void net_tensors(axle_tensor **out)
{
    out[0] = zeros(AXLE_DIMS(4, 3));
    for (int k = 1; k < 6; k++)
        out[k] = zeros(AXLE_DIMS(4));
    out[6] = made(axle_zeros(AXLE_DTYPE_I64, AXLE_SCALAR));
}

static void a_missing_tensor_is_named_and_nothing_changes(void **state)
{
    (void)state;
    axle_module *net = new_net();
    axle_tensor *like[7];
    net_tensors(like);
    expect_refused(net, zeros_file("less", net_names, like, 6), AXLE_ERR_NOT_FOUND,
                   "'norm.num_batches_tracked'");
    axle_module_release(net);
    axle_scope_pop();
}

static void a_tensor_too_many_is_named_and_nothing_changes(void **state)
{
    (void)state;
    axle_module *net = new_net();
    axle_tensor *like[8];
    const char *names[8];
    net_tensors(like);
    memcpy(names, net_names, sizeof(net_names));
    names[7] = "1.weight";
    like[7] = zeros(AXLE_DIMS(1));
    expect_refused(net, zeros_file("more", names, like, 8), AXLE_ERR_NOT_FOUND, "'1.weight'");
    axle_module_release(net);
    axle_scope_pop();
}

static void other_dims_are_told_and_nothing_changes(void **state)
{
    (void)state;
    axle_module *net = new_net();
    axle_tensor *like[7];
    net_tensors(like);
    like[5] = zeros(AXLE_DIMS(4, 1));
    expect_refused(net, zeros_file("dims", net_names, like, 7), AXLE_ERR_SHAPE,
                   "'norm.running_var' is (4, 1), the module's (4)");
    axle_module_release(net);
    axle_scope_pop();
}

static void integers_do_not_become_parameters(void **state)
{
    (void)state;
    axle_module *net = new_net();
    axle_tensor *like[7];
    net_tensors(like);
    like[1] = made(axle_zeros(AXLE_DTYPE_I64, AXLE_DIMS(4)));
    expect_refused(net, zeros_file("ints", net_names, like, 7), AXLE_ERR_DTYPE, "'0.bias' is i64");
    axle_module_release(net);
    axle_scope_pop();
}

static void a_file_that_is_not_there_or_broken_changes_nothing(void **state)
{
    (void)state;
    axle_module *net = new_net();
    expect_refused(net, files_path("nowhere"), AXLE_ERR_NOT_FOUND, "nowhere");
    expect_refused(net, files_write_text("broken", "no tensors here"), AXLE_ERR_FORMAT, "broken");
    axle_module_release(net);
    axle_scope_pop();
}

static void a_folder_that_is_not_there_is_an_error_of_saving(void **state)
{
    (void)state;
    axle_module *net = new_net();
    assert_int_equal(axle_module_save(net, files_path("no/such/folder")), AXLE_ERR_IO);
    unit_expect_error(AXLE_ERR_IO, "no/such/folder");
    axle_module_release(net);
}

/* ---- tied tensors */

/* {emb: embedding, out: {weight: the same}} */
static axle_module *new_tied(void)
{
    axle_module *top, *out, *embedding;
    assert_ok(axle_sequential_create(&top));
    assert_ok(axle_sequential_create(&out));
    assert_ok(axle_embedding_create(4, 2, -1, &embedding));
    assert_ok(axle_module_add_parameter(
        out, "weight", axle_tensor_retain(axle_module_parameter(embedding, "weight"))));
    assert_ok(axle_module_add_child(top, "emb", embedding));
    assert_ok(axle_module_add_child(top, "out", out));
    return top;
}

static void a_tied_tensor_is_written_once_and_stays_tied(void **state)
{
    (void)state;
    axle_module *a = new_tied(), *b = new_tied();
    axle__safetensors *file;
    assert_ok(axle_module_save(a, files_path("tied")));
    assert_ok(axle__safetensors_open(files_path("tied"), &file));
    assert_int_equal(axle__safetensors_count(file), 1);
    assert_non_null(axle__safetensors_find(file, "emb.weight"));
    assert_string_equal(axle__safetensors_metadata(file, "out.weight"), "emb.weight");
    axle__safetensors_close(file);
    assert_ok(axle_module_load(b, files_path("tied")));
    expect_equal_modules(a, b);
    assert_ptr_equal(axle_module_parameter(b, "out.weight"),
                     axle_module_parameter(b, "emb.weight"));
    axle_module_release(a);
    axle_module_release(b);
}

static void any_name_of_a_tied_tensor_will_do(void **state)
{
    (void)state;
    axle_module *net = new_tied();
    axle_tensor *weight = made(axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(4, 2)));
    axle_tensor *both[] = {weight, weight};
    const char *const names[] = {"out.weight", "emb.weight"};
    assert_ok(axle_module_load(net, zeros_file("one", names, both, 1)));
    expect_equal(axle_module_parameter(net, "emb.weight"), weight);
    assert_ok(axle_module_load(net, zeros_file("both", names, both, 2)));
    axle_module_release(net);
    axle_scope_pop();
}

static void names_of_one_tensor_that_differ_are_refused(void **state)
{
    (void)state;
    axle_module *net = new_tied();
    axle_tensor *ones = made(axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(4, 2)));
    axle_tensor *both[] = {ones, zeros(AXLE_DIMS(4, 2))};
    const char *const names[] = {"out.weight", "emb.weight"};
    assert_int_equal(axle_module_load(net, zeros_file("differ", names, both, 2)), AXLE_ERR_FORMAT);
    unit_expect_error(AXLE_ERR_FORMAT, "'emb.weight' and 'out.weight'");
    axle_module_release(net);
    axle_scope_pop();
}

#define FILES_UNIT(sentence, function)                                                             \
    {                                                                                              \
        sentence, function, files_setup, files_teardown, NULL                                      \
    }
static const struct CMUnitTest tests[] = {
    FILES_UNIT("what was saved is loaded", what_was_saved_is_loaded),
    FILES_UNIT("element types are converted", element_types_are_converted),
    FILES_UNIT("a missing tensor is named, and nothing changes",
               a_missing_tensor_is_named_and_nothing_changes),
    FILES_UNIT("a tensor too many is named, and nothing changes",
               a_tensor_too_many_is_named_and_nothing_changes),
    FILES_UNIT("other dims are told, and nothing changes", other_dims_are_told_and_nothing_changes),
    FILES_UNIT("integers do not become parameters", integers_do_not_become_parameters),
    FILES_UNIT("a file that is not there, or broken, changes nothing",
               a_file_that_is_not_there_or_broken_changes_nothing),
    FILES_UNIT("a folder that is not there is an error of saving",
               a_folder_that_is_not_there_is_an_error_of_saving),
    FILES_UNIT("a tied tensor is written once and stays tied",
               a_tied_tensor_is_written_once_and_stays_tied),
    FILES_UNIT("any name of a tied tensor will do", any_name_of_a_tied_tensor_will_do),
    FILES_UNIT("names of one tensor that differ are refused",
               names_of_one_tensor_that_differ_are_refused),
};
UNIT_MAIN(tests)
