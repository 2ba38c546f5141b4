/* SPDX-License-Identifier: Apache-2.0 */
/* Planners of ATTENTION and ATTENTION_BACKWARD. */
#include "attention.h"
#include "planners.h"

#include <math.h>
#include <stdio.h>

enum { LOCAL = 64, ROW_LOCAL = 16 };

static int ranks_fit(const ocl_attention *a)
{
    for (int k = Q; k <= Y; k++)
        if (a->views[k] && a->views[k]->rank != 4)
            return 0;
    const axle_view *q = a->views[Q], *k = a->views[K], *v = a->views[V];
    return q->dim[3] == k->dim[3] && k->dim[2] == v->dim[2];
}

static void attention_fill(ocl_plan *plan, ocl_attention *a)
{
    const axle_view *q = a->views[Q], *mask = a->views[MASK];
    const char *kind = !mask ? "NONE" : mask->dtype == AXLE_DTYPE_BOOL ? "BOOL" : "FLOAT";
    a->heads = q->dim[0] * q->dim[1];
    a->queries = q->dim[2];
    a->depth = q->dim[3];
    a->keys = a->views[K]->dim[2];
    a->width = a->views[V]->dim[3];
    snprintf(a->options, sizeof(a->options), "-DTX=%s -DTM=%s -DTS=%s -DWIDE=%s -DMASK=%s%s",
             ocl_dtype(q), ocl_dtype_or(mask, "bool"), q->dtype == AXLE_DTYPE_F64 ? "f64" : "f32",
             plan->device->about.has_f64 ? "f64" : "f32", kind,
             plan->attrs.attention.dropout > 0 ? " -DDROPOUT" : "");
}

void ocl_attention_put(ocl_plan *plan, const ocl_attention *a)
{
    const axle_attention_attrs *attrs = &plan->attrs.attention;
    const double drop = attrs->dropout < 1 ? attrs->dropout : 1;
    ocl_map heads = {0};
    ocl_put(plan, a->heads);
    ocl_put(plan, a->queries);
    ocl_put(plan, a->keys);
    ocl_put(plan, a->depth);
    ocl_put(plan, a->width);
    ocl_put(plan, attrs->causal != 0);
    ocl_put(plan, drop > 0 ? (int64_t)ceil(drop * 0x1p24) : 0);
    ocl_map_views(&heads, a->views, OCL_ATTENTION_OPERANDS, 0, 2);
    ocl_map_merge(&heads);
    ocl_put_map(plan, &heads);
    for (int k = 0; k < OCL_ATTENTION_OPERANDS; k++) {
        const axle_view *view = a->views[k];
        ocl_put(plan, view ? view->stride[2] : 0);
        ocl_put(plan, view && view->rank > 3 ? view->stride[3] : 0);
    }
}

void ocl_attention_put_output(ocl_plan *plan, int operand, const axle_view *out)
{
    ocl_put(plan, operand);
    ocl_put(plan, out ? out->dim[3] : 0);
    for (int d = 0; d < 4; d++)
        ocl_put(plan, out ? out->stride[d] : 0);
    ocl_put(plan, out ? out->dim[1] : 1);
}

double ocl_attention_gain(const ocl_plan *plan)
{
    return 1 / (1 - plan->attrs.attention.dropout);
}

static void begin(ocl_plan *plan, const ocl_attention *a, const char *kernel, int64_t items,
                  uint32_t local)
{
    ocl_step_begin(plan, "prelude draws attention", kernel, items, local, "%s", a->options);
    ocl_attention_put(plan, a);
}

static void arg(ocl_plan *plan, const ocl_attention *a, int operand)
{
    ocl_arg_in(plan, a->number[operand]);
}

static void arg_wide_work(ocl_plan *plan, uint64_t offset)
{
    ocl_arg_work(plan, offset, ocl_wide_size(plan));
}

static uint64_t wide_work(ocl_plan *plan, const ocl_attention *a)
{
    return ocl_work(plan, a->heads * a->queries * a->keys, ocl_wide_size(plan));
}

static void arg_dropout(ocl_plan *plan, double gain)
{
    ocl_arg_wide(plan, gain);
    ocl_arg_random(plan);
}

/* The probabilities of all rows; the forward pass drops some, and may want lse. */
static void steps_probabilities(ocl_plan *plan, const ocl_attention *a, int forward)
{
    begin(plan, a, "scores", a->heads * a->queries * a->keys, LOCAL);
    arg(plan, a, Q);
    arg(plan, a, K);
    arg(plan, a, MASK);
    arg_wide_work(plan, a->p);
    ocl_arg_wide(plan, plan->attrs.attention.scale);

    begin(plan, a, "rows", a->heads * a->queries, ROW_LOCAL);
    arg(plan, a, MASK);
    arg_wide_work(plan, a->p);
    ocl_arg_out(plan, 1);
    ocl_arg_wide(plan, forward && plan->out[1]);
    arg_dropout(plan, forward ? ocl_attention_gain(plan) : 0);
}

int ocl_plan_attention(ocl_plan *plan)
{
    ocl_attention a = {
        .views = {plan->in[0], plan->in[1], plan->in[2], plan->in[3], plan->out[0], plan->out[1]},
        .number = {0, 1, 2, 3}};
    if (!ocl_signature_fits(plan, "fffm?", "fs?") || !ranks_fit(&a))
        return 0;
    attention_fill(plan, &a);
    if (ocl_attend(plan, &a))
        return 1;
    a.p = wide_work(plan, &a);
    steps_probabilities(plan, &a, 1);
    begin(plan, &a, "values", a.heads * a.queries * a.width, LOCAL);
    arg(plan, &a, V);
    arg(plan, &a, MASK);
    arg_wide_work(plan, a.p);
    ocl_arg_out(plan, 0);
    return 1;
}

static void steps_slopes(ocl_plan *plan, const ocl_attention *a)
{
    begin(plan, a, "slopes", a->heads * a->queries * a->keys, LOCAL);
    arg(plan, a, Y);
    arg(plan, a, V);
    arg(plan, a, MASK);
    arg_wide_work(plan, a->g);
    arg_dropout(plan, ocl_attention_gain(plan));

    begin(plan, a, "row_slopes", a->heads * a->queries, ROW_LOCAL);
    arg(plan, a, MASK);
    arg_wide_work(plan, a->p);
    arg_wide_work(plan, a->g);
    ocl_arg_wide(plan, plan->attrs.attention.scale);
    arg_dropout(plan, ocl_attention_gain(plan));
}

/* Output k: sums of w times rows of `operand`. */
static void step_sums(ocl_plan *plan, const ocl_attention *a, uint32_t k, const char *kernel,
                      int operand, uint64_t w)
{
    const axle_view *out = plan->out[k];
    if (!out)
        return;
    begin(plan, a, kernel, ocl_count(out), LOCAL);
    ocl_attention_put_output(plan, operand, out);
    arg(plan, a, operand);
    arg(plan, a, MASK);
    arg_wide_work(plan, w);
    ocl_arg_out(plan, k);
}

/* The probabilities are computed anew rather than from lse, which was rounded. */
int ocl_plan_attention_backward(ocl_plan *plan)
{
    ocl_attention a = {.views = {plan->in[1], plan->in[2], plan->in[3], plan->in[4], plan->in[0]},
                       .number = {1, 2, 3, 4, 0}};
    if (!ocl_signature_fits(plan, "ffffm?fs", "f?f?f?") || !ranks_fit(&a))
        return 0;
    attention_fill(plan, &a);
    if (ocl_attend_backward(plan, &a))
        return 1;
    a.p = wide_work(plan, &a);
    a.g = wide_work(plan, &a);
    steps_probabilities(plan, &a, 0);
    steps_slopes(plan, &a);
    step_sums(plan, &a, 0, "sums_over_keys", K, a.g);
    step_sums(plan, &a, 1, "sums_over_queries", Q, a.g);
    step_sums(plan, &a, 2, "sums_over_queries", Y, a.p);
    return 1;
}
