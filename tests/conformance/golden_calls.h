/* SPDX-License-Identifier: Apache-2.0 */
/* How each operator of the golden files is called through the public interface. */
#ifndef AXLE_TESTS_GOLDEN_CALLS_H
#define AXLE_TESTS_GOLDEN_CALLS_H

#include <jansson.h>

#include "axle/ops.h"

enum { GOLDEN_MAX_OUTPUTS = 3, GOLDEN_MAX_INPUTS = 24 };

/* What a call returns where the public operator has no such form, and nothing is to be compared. */
enum { GOLDEN_NO_SUCH_FORM = -1 };

typedef struct golden_call {
    const char *family, *op;
    /* Write the outputs, in the order of the file, and return how many there are; those after them
     * are not compared. NULL: there is no public function. */
    int (*call)(const struct golden_call *self, const json_t *one, axle_tensor **in,
                axle_tensor **out);
    union {
        axle_tensor *(*unary)(axle_tensor *x);
        axle_tensor *(*binary)(axle_tensor *a, axle_tensor *b);
        axle_tensor *(*reduce)(axle_tensor *x, int n, const int *dims, int keepdim);
        axle_tensor *(*along)(axle_tensor *x, int dim);
        axle_tensor *(*position)(axle_tensor *x, int dim, int keepdim);
        axle_tensor *(*loss)(axle_tensor *x, axle_tensor *target, int reduction);
        axle_tensor *(*take)(axle_tensor *x, int dim, axle_tensor *index);
        axle_tensor *(*put)(axle_tensor *x, int dim, axle_tensor *index, axle_tensor *src);
        axle_tensor *(*join)(axle_tensor *const *x, int n, int dim);
        axle_tensor *(*conv)(axle_tensor *x, axle_tensor *w, axle_tensor *b,
                             const axle_conv_params *p);
        axle_tensor *(*pool)(axle_tensor *x, const axle_pool_params *params);
        axle_tensor *(*resize)(axle_tensor *x, const int64_t *size);
        int norm; /* p */
    } fn;
    /* Tolerances, relative and absolute, that are wider than the usual ones; 0: none. */
    double grads;  /* of gradients, where PyTorch's own are less exact */
    double single; /* in f32, where rounding the inputs matters more than elsewhere */
} golden_call;

/* NULL where the table has no such operator. */
const golden_call *golden_call_find(const char *family, const char *op);

#endif
