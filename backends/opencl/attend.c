/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention for CPU devices: what is read along columns is packed in panels as for products, and a
 * work-item treats some rows of a head from scores to sums (kernels/attend.cl).
 */
#include "attention.h"
#include "product.h"
#include "tune.h"

#include <stdio.h>

enum { ROWS = 8 };

/* More numbers take too much memory; fewer products than WIDE_TERMS are summed in f64. */
enum { MOST = 1 << 28, WIDE_TERMS = 1 << 20 };

/* Where things are in the workspace. */
typedef struct places {
    uint64_t keep, p, g;
    int64_t pitch, blocks; /* elements of a row of p; blocks of rows, of all heads */
} places;

static int64_t round_up(int64_t n, int64_t size)
{
    return (n + size - 1) / size * size;
}

/* Small ones are computed in f64 where the device has it, for the reason that products are. */
static int fill(ocl_plan *plan, const ocl_attention *a, places *at)
{
    const int64_t longer = a->depth > a->width ? a->depth : a->width;
    const int64_t pairs = a->heads * round_up(a->queries, ROWS) * round_up(a->keys, 32);
    const int64_t length = a->queries > a->keys ? a->queries : a->keys;
    if (!ocl_on_cpu(plan) || !(ocl_candidates(plan) >> OCL_VECTOR & 1) || pairs == 0 ||
        a->depth == 0 || a->width == 0 || pairs > MOST ||
        a->heads * round_up(length, 32) * round_up(longer, 32) > MOST)
        return 0;
    if (a->heads * a->queries * a->keys * (a->depth + a->width) <= WIDE_TERMS &&
        plan->device->about.has_f64)
        plan->real = AXLE_DTYPE_F64;
    at->pitch = round_up(a->keys, ocl_panel_width(plan));
    at->blocks = a->heads * (round_up(a->queries, ROWS) / ROWS);
    at->keep = ocl_work(plan, at->blocks * at->pitch, 1);
    at->p = ocl_work(plan, at->blocks * at->pitch * ROWS, ocl_real_size(plan));
    return 1;
}

/* The panels of an operand; turned: of its transpose. */
static uint64_t panels_of(ocl_plan *plan, const ocl_attention *a, int operand, int turned)
{
    axle_view view = *a->views[operand];
    if (turned) {
        view.dim[2] = a->views[operand]->dim[3];
        view.dim[3] = a->views[operand]->dim[2];
        view.stride[2] = a->views[operand]->stride[3];
        view.stride[3] = a->views[operand]->stride[2];
    }
    const int64_t elements = ocl_panel_elements(plan, view.dim[3], view.dim[2]);
    const uint64_t work = ocl_work(plan, a->heads * elements, ocl_panel_size(&view));
    ocl_step_pack(plan, a->number[operand], &view, a->heads, work);
    return work;
}

static void begin(ocl_plan *plan, const ocl_attention *a, const char *kernel, int64_t items)
{
    const int wide = plan->real == AXLE_DTYPE_F64, f64 = a->views[Q]->dtype == AXLE_DTYPE_F64;
    ocl_step_begin(plan, "prelude draws attention vectors attend", kernel, items, 1,
                   "%s -DPANEL=%s%s", a->options, f64 ? "f64" : "f32",
                   wide && !f64 ? " -DWIDEN" : "");
    ocl_attention_put(plan, a);
}

static void arg_panels(ocl_plan *plan, const ocl_attention *a, uint64_t work)
{
    ocl_arg_work(plan, work, ocl_panel_size(a->views[Q]));
}

static void arg_numbers(ocl_plan *plan, uint64_t work)
{
    ocl_arg_work(plan, work, ocl_real_size(plan));
}

static void arg_attributes(ocl_plan *plan)
{
    ocl_arg_real(plan, plan->attrs.attention.scale);
    ocl_arg_real(plan, ocl_attention_gain(plan));
    ocl_arg_random(plan);
}

int ocl_attend(ocl_plan *plan, const ocl_attention *a)
{
    places at;
    if (!fill(plan, a, &at))
        return 0;
    const uint64_t keys = panels_of(plan, a, K, 1), values = panels_of(plan, a, V, 0);
    begin(plan, a, "attend", at.blocks);
    ocl_arg_in(plan, a->number[Q]);
    arg_panels(plan, a, keys);
    arg_panels(plan, a, values);
    ocl_arg_in(plan, a->number[MASK]);
    ocl_arg_work(plan, at.keep, 1);
    arg_numbers(plan, at.p);
    ocl_arg_out(plan, 0);
    ocl_arg_out(plan, 1);
    ocl_arg_real(plan, plan->out[1] != NULL);
    arg_attributes(plan);
    plan->impl = "attention_vector";
    return 1;
}

static void step_slopes(ocl_plan *plan, const ocl_attention *a, const places *at)
{
    const uint64_t turned = panels_of(plan, a, K, 1), values = panels_of(plan, a, V, 1);
    const uint64_t keys = plan->out[0] ? panels_of(plan, a, K, 0) : turned;
    begin(plan, a, "attend_slopes", at->blocks);
    ocl_attention_put_output(plan, K, plan->out[0]);
    ocl_arg_in(plan, a->number[Q]);
    ocl_arg_in(plan, a->number[Y]);
    arg_panels(plan, a, keys);
    arg_panels(plan, a, turned);
    arg_panels(plan, a, values);
    ocl_arg_in(plan, a->number[MASK]);
    ocl_arg_work(plan, at->keep, 1);
    arg_numbers(plan, at->p);
    arg_numbers(plan, at->g);
    ocl_arg_out(plan, 0);
    arg_attributes(plan);
}

/* Output k: sums over rows of w times those of `operand`. */
static void step_keys(ocl_plan *plan, const ocl_attention *a, const places *at, uint32_t k,
                      int operand, uint64_t w)
{
    if (!plan->out[k])
        return;
    const uint64_t panels = panels_of(plan, a, operand, 0);
    begin(plan, a, "attend_keys", a->heads * (round_up(a->keys, ROWS) / ROWS));
    ocl_attention_put_output(plan, operand, plan->out[k]);
    arg_numbers(plan, w);
    ocl_arg_work(plan, at->keep, 1);
    arg_panels(plan, a, panels);
    ocl_arg_out(plan, k);
}

int ocl_attend_backward(ocl_plan *plan, const ocl_attention *a)
{
    places at;
    if (!fill(plan, a, &at))
        return 0;
    at.g = ocl_work(plan, at.blocks * at.pitch * ROWS, ocl_real_size(plan));
    step_slopes(plan, a, &at);
    step_keys(plan, a, &at, 1, Q, at.g);
    step_keys(plan, a, &at, 2, Y, at.p);
    plan->impl = "attention_backward_vector";
    return 1;
}
