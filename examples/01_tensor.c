/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tour of tensors: making them, operators, views, gradients, errors and scopes.
 *
 *     cc 01_tensor.c $(pkg-config --cflags --libs axle) && ./a.out
 */
#include <stdio.h>
#include <stdlib.h>

#include "axle/axle.h"

/* Print a tensor; NULL stands for an earlier error, whose message Axle has kept. */
static void show(const char *what, const axle_tensor *x)
{
    char *text;
    if (!x || axle_tensor_format(x, &text)) {
        fprintf(stderr, "%s: %s\n", what, axle_error_message());
        exit(EXIT_FAILURE);
    }
    printf("%-12s %s\n", what, text);
    axle_free(text);
}

static void make(void)
{
    const float values[] = {1, 2, 3, 4, 5, 6};
    axle_tensor *x = axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(2, 3), values);
    show("x", x);
    show("arange", axle_arange(AXLE_DTYPE_I64, 0, 10, 3));
    show("x + row", axle_add(x, axle_arange(AXLE_DTYPE_F32, 0, 3, 1)));

    /* Operators nest: those that get NULL give NULL, so one check at the end is enough. */
    show("softmax", axle_softmax(axle_mul_scalar(x, 0.5), -1));
    show("x x^T", axle_matmul(x, axle_transpose(x, 0, 1)));
}

/* Views share the memory of what they view. */
static void view(void)
{
    axle_tensor *x = axle_reshape(axle_arange(AXLE_DTYPE_F32, 0, 12, 1), AXLE_DIMS(3, 4));
    axle_tensor *column = axle_select(x, 1, 2);
    show("column 2", column);
    axle_tensor_assign(column, axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(3)));
    show("x without it", x);
}

/* d/dx sum(x^2) = 2x. */
static void differentiate(void)
{
    const float values[] = {1, -2, 3};
    axle_tensor *x = axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(3), values);
    axle_tensor_set_requires_grad(x, 1);
    axle_tensor *y = axle_sum_all(axle_square(x));
    show("sum(x^2)", y);
    if (axle_tensor_backward(y, NULL, 0))
        show("backward", NULL);
    show("gradient", axle_tensor_grad(x));
}

/* Nothing is printed by the library, and nobody dies: an error is a message to look at. */
static void fail(void)
{
    axle_tensor *a = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(2, 3));
    axle_tensor *b = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(4, 5));
    if (!axle_relu(axle_matmul(a, b))) {
        printf("%-12s %s\n", "an error", axle_error_message());
        axle_error_clear();
    }
}

int main(void)
{
    static void (*const chapters[])(void) = {make, view, differentiate, fail};
    printf("on %s\n", axle_device_name(axle_device_current()));
    for (size_t k = 0; k < sizeof(chapters) / sizeof(chapters[0]); k++) {
        /* What a chapter makes belongs to its scope and goes with it. */
        axle_scope_push();
        chapters[k]();
        axle_scope_pop();
    }
    return 0;
}
