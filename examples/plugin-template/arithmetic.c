/* SPDX-License-Identifier: Apache-2.0 */
/* BINARY add and mul, with strides, so that broadcasting costs no copy: a stride of 0 repeats an
 * element. The core has merged dims where it could; most calls have one. */
#include "template.h"

static int accepts(const template_attrs *attrs)
{
    return attrs->binary.kind == AXLE_BINARY_ADD || attrs->binary.kind == AXLE_BINARY_MUL;
}

/* y = a + alpha * b or a * b, over the dims from `dim` on. Strides beyond a view's rank are 0. */
static void walk(const axle_binary_attrs *attrs, const axle_op_args *args, uint32_t dim, float *y,
                 const float *a, const float *b)
{
    const axle_view *out = args->out[0];
    const int64_t count = dim < out->rank ? out->dim[dim] : 1;
    const int64_t y_step = out->stride[dim];
    const int64_t a_step = args->in[0]->stride[dim], b_step = args->in[1]->stride[dim];
    for (int64_t k = 0; k < count; k++, y += y_step, a += a_step, b += b_step) {
        if (dim + 1 < out->rank)
            walk(attrs, args, dim + 1, y, a, b);
        else
            *y = attrs->kind == AXLE_BINARY_ADD ? (float)(*a + attrs->alpha * *b) : *a * *b;
    }
}

static void run(const template_attrs *attrs, const axle_op_args *args)
{
    walk(&attrs->binary, args, 0, template_data(args->out[0]), template_data(args->in[0]),
         template_data(args->in[1]));
}

const template_kernel template_arithmetic = {AXLE_OP_BINARY, AXLE_SUPPORT_YES, accepts, run};
