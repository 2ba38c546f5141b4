/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden vectors: tests/golden/README.md says what the files hold. Tensors are made on the current
 * device, floats in the element type that golden_dtype() names.
 *
 *     json_t *file = golden_load("unary"), *one;
 *     size_t k;
 *     json_array_foreach(file, k, one) {
 *         axle_tensor *x = golden_tensor(golden_input(one, 0));
 *         if (!golden_agrees(golden_output(one, 0), axle_neg(x), message, sizeof(message))) ...
 *     }
 *     json_decref(file);
 */
#ifndef AXLE_TESTS_GOLDEN_H
#define AXLE_TESTS_GOLDEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axle/tensor.h"

/* The cases of a family; NULL, and a line on standard error, where they cannot be read. The files
 * are looked for under top_srcdir, srcdir and the current folder. */
json_t *golden_load(const char *family);

/* f64 where the current device has it, else f32. */
int golden_dtype(void);

/* ------------------------------------------------------------------ parts of a case; borrowed */

const char *golden_op(const json_t *one);
const char *golden_name(const json_t *one);
/* JSON null, as a NULL pointer, is an absent operand. */
const json_t *golden_input(const json_t *one, size_t k);
const json_t *golden_input_named(const json_t *one, const char *name);
const json_t *golden_output(const json_t *one, size_t k);
const json_t *golden_grad_output(const json_t *one, size_t k);
const json_t *golden_grad(const json_t *one, size_t k);
size_t golden_input_count(const json_t *one);
size_t golden_output_count(const json_t *one);

/* ------------------------------------------------------------------ attributes */

/* `otherwise` where the attribute is null or missing. */
double golden_number(const json_t *one, const char *key, double otherwise);
int golden_integer(const json_t *one, const char *key, int otherwise);
bool golden_flag(const json_t *one, const char *key);
const char *golden_text(const json_t *one, const char *key);
bool golden_is_null(const json_t *one, const char *key);
/* Up to `room` numbers of a list; how many there are, 0 for null. */
int golden_list(const json_t *one, const char *key, int64_t *out, int room);
int golden_int_list(const json_t *one, const char *key, int *out, int room);

/* ------------------------------------------------------------------ tensors */

/* A tensor of the current scope that asks for a gradient where the file does; NULL for NULL. */
axle_tensor *golden_tensor(const json_t *tensor);
/* How far a number may be off. */
typedef struct golden_tolerance {
    double relative, absolute;
} golden_tolerance;
golden_tolerance golden_tolerance_for(int dtype);
/* Whether dims and values are those expected; else `message` says what differs. `got` may have
 * another element type; NULL counts as an error. */
bool golden_agrees(const json_t *expected, const axle_tensor *got, char *message, size_t size);
bool golden_agrees_within(golden_tolerance tolerance, const json_t *expected,
                          const axle_tensor *got, char *message, size_t size);
/* For gradients, where NULL counts as zeros. */
bool golden_agrees_grad(golden_tolerance tolerance, const json_t *expected, const axle_tensor *got,
                        char *message, size_t size);
/* Number `k` of a tensor's data. */
double golden_value(const json_t *tensor, size_t k);

#endif
