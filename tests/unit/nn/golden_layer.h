/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of the golden files: parameters are set and compared by name. */
#ifndef AXLE_TESTS_UNIT_GOLDEN_LAYER_H
#define AXLE_TESTS_UNIT_GOLDEN_LAYER_H

#include "nn.h"
#include "support/golden.h"

/* Name and position of a failure. */
static inline void layer_fail(const json_t *one, const char *what, const char *message)
{
    fail_msg("%s, %s: %s: %s", golden_op(one), golden_name(one), what, message);
}

static inline const char *input_name(const json_t *one, size_t k)
{
    const json_t *input = golden_input(one, k);
    return input ? json_string_value(json_object_get(input, "name")) : NULL;
}

/* Give the module the parameters of the file; those that are not there become 0. */
static inline int set_from_file(const char *path, axle_tensor *parameter, void *user)
{
    const json_t *input = golden_input_named(user, path);
    return input ? axle_tensor_assign(parameter, golden_tensor(input))
                 : axle_init_constant(parameter, 0.0);
}

static inline void layer_load(axle_module *module, json_t *one)
{
    assert_ok(axle_module_each_parameter(module, set_from_file, one));
}

static inline void layer_expect_output(const json_t *one, size_t k, axle_tensor *got)
{
    char message[256];
    if (!golden_agrees(golden_output(one, k), got, message, sizeof(message)))
        layer_fail(one, "output", message);
}

static inline void layer_backward(const json_t *one, size_t k, axle_tensor *output)
{
    axle_tensor *gradient = golden_tensor(golden_grad_output(one, k));
    if (gradient)
        assert_ok(axle_tensor_backward(output, gradient, 1));
}

/* Compare the gradients of the module's parameters and of n named inputs. */
static inline void layer_expect_grads(const json_t *one, const axle_module *module,
                                      const char *const *names, axle_tensor *const *inputs, int n)
{
    char message[256];
    for (size_t k = 0; k < golden_input_count(one); k++) {
        const char *name = input_name(one, k);
        if (!name || !golden_grad(one, k))
            continue;
        const axle_tensor *tensor = axle_module_parameter(module, name);
        for (int i = 0; i < n; i++)
            if (strcmp(names[i], name) == 0)
                tensor = inputs[i];
        assert_non_null(tensor);
        if (!golden_agrees_grad(golden_tolerance_for(golden_dtype()), golden_grad(one, k),
                                axle_tensor_grad(tensor), message, sizeof(message)))
            layer_fail(one, name, message);
    }
}

/* Run a function over the cases of an operator, in the element type of the vectors. */
static inline void layer_each(const char *family, const char *op, void (*check)(json_t *one))
{
    json_t *file = golden_load(family), *one;
    size_t k, count = 0;
    assert_non_null(file);
    assert_ok(axle_set_default_dtype(golden_dtype()));
    json_array_foreach(file, k, one)
    {
        if (strcmp(golden_op(one), op) != 0)
            continue;
        assert_ok(axle_scope_push());
        check(one);
        axle_scope_pop();
        count++;
    }
    assert_ok(axle_set_default_dtype(AXLE_DTYPE_F32));
    assert_true(count > 0);
    json_decref(file);
}

#endif
