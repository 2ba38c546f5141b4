/* SPDX-License-Identifier: Apache-2.0 */
/* MATMUL: a (..., M, K), b (..., K, N), bias? (..., M, N) -> y (..., M, N), as dot products summed
 * in f64. Transposed operands have their strides swapped, a bias repeats over M by stride 0. */
#include "template.h"

/* The host runs products with other activations. */
static int accepts(const template_attrs *attrs)
{
    return attrs->matmul.activation == 0 || attrs->matmul.activation == AXLE_UNARY_RELU;
}

/* The first element of a row of matrix `batch`; leading dims count row-major. */
static float *row_of(const axle_view *view, int64_t batch, int64_t row)
{
    float *data = template_data(view);
    if (!data)
        return NULL;
    data += row * view->stride[view->rank - 2];
    for (uint32_t k = view->rank - 2; k-- > 0; batch /= view->dim[k])
        data += batch % view->dim[k] * view->stride[k];
    return data;
}

static void multiply_row(const axle_matmul_attrs *attrs, const axle_op_args *args, int64_t batch,
                         int64_t row)
{
    const axle_view *a = args->in[0], *b = args->in[1], *y = args->out[0];
    const axle_view *bias = args->n_in > 2 ? args->in[2] : NULL;
    const uint32_t r = y->rank - 2, c = y->rank - 1; /* the dims of rows and of columns */
    const float *left = row_of(a, batch, row), *right = row_of(b, batch, 0);
    const float *more = row_of(bias, batch, row);
    float *out = row_of(y, batch, row);
    for (int64_t n = 0; n < y->dim[c]; n++, out += y->stride[c]) {
        double sum = 0;
        for (int64_t k = 0; k < a->dim[c]; k++)
            sum += (double)left[k * a->stride[c]] * right[k * b->stride[r] + n * b->stride[c]];
        sum = attrs->alpha * sum + (more ? more[n * bias->stride[c]] : 0);
        if (attrs->activation == AXLE_UNARY_RELU && sum < 0)
            sum = 0;
        *out = (float)(attrs->accumulate ? *out + sum : sum);
    }
}

static void run(const template_attrs *attrs, const axle_op_args *args)
{
    const axle_view *y = args->out[0];
    const uint32_t r = y->rank - 2;
    int64_t count = 1; /* of the rows of all matrices */
    for (uint32_t k = 0; k <= r; k++)
        count *= y->dim[k];
    for (int64_t k = 0; k < count; k++)
        multiply_row(&attrs->matmul, args, k / y->dim[r], k % y->dim[r]);
}

const template_kernel template_matmul = {AXLE_OP_MATMUL, AXLE_SUPPORT_YES, accepts, run};
