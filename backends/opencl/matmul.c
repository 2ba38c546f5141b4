/* SPDX-License-Identifier: Apache-2.0 */
/* Planner of MATMUL. */
#include "planners.h"
#include "product.h"

#include <string.h>

/* PACK_DEPTH: how much of K a work-item packs. */
enum { LOCAL = 64, PACK_DEPTH = 64 };

/* Products below this many terms are not worth packing; panels above this size take too much
 * memory. */
enum { LEAST_TERMS = 4096, MOST_PANEL = 1 << 28 };

const char *ocl_activation(uint32_t kind)
{
    static const char *const names[AXLE_UNARY_LIMIT] = {
        [0] = "NONE",
        [AXLE_UNARY_RELU] = "RELU",
        [AXLE_UNARY_GELU] = "GELU",
        [AXLE_UNARY_GELU_TANH] = "GELU_TANH",
        [AXLE_UNARY_SIGMOID] = "SIGMOID",
        [AXLE_UNARY_TANH] = "TANH",
        [AXLE_UNARY_SILU] = "SILU",
    };
    return kind < AXLE_UNARY_LIMIT ? names[kind] : NULL;
}

static int leading_dims_fit(const axle_view *view, const axle_view *y)
{
    return view->rank == y->rank &&
           memcmp(view->dim, y->dim, (y->rank - 2) * sizeof(y->dim[0])) == 0;
}

static int accepts(const ocl_plan *plan)
{
    const axle_view *a = plan->in[0], *b = plan->in[1], *bias = plan->in[2], *y = plan->out[0];
    if (!ocl_signature_fits(plan, "fff?", "f") || y->rank < 2)
        return 0;
    const uint32_t row = y->rank - 2, column = y->rank - 1;
    return leading_dims_fit(a, y) && leading_dims_fit(b, y) &&
           (!bias || (leading_dims_fit(bias, y) && bias->dim[row] == y->dim[row] &&
                      bias->dim[column] == y->dim[column])) &&
           a->dim[row] == y->dim[row] && b->dim[column] == y->dim[column] &&
           a->dim[column] == b->dim[row] && ocl_activation(plan->attrs.matmul.activation);
}

/* Whether all batches share b. */
static int b_is_shared(const axle_view *b)
{
    for (uint32_t d = 0; d + 2 < b->rank; d++)
        if (b->dim[d] != 1 && b->stride[d] != 0)
            return 0;
    return 1;
}

static void step_pack(ocl_plan *plan, const axle_view *b, int64_t batches, uint64_t panels)
{
    const uint32_t row = b->rank - 2, column = b->rank - 1;
    const int64_t n = b->dim[column], k = b->dim[row], width = ocl_panel_width(plan);
    ocl_map map = {0};
    char options[128];
    ocl_product_options(plan, b, options, sizeof(options));
    ocl_map_views(&map, &b, 1, 0, row);
    ocl_map_merge(&map);
    ocl_step_begin(plan, "prelude functions product", "pack",
                   batches * ((n + width - 1) / width) * ((k + PACK_DEPTH - 1) / PACK_DEPTH), 1,
                   "%s", options);
    ocl_put(plan, batches);
    ocl_put(plan, n);
    ocl_put(plan, k);
    ocl_put(plan, b->stride[row]);
    ocl_put(plan, b->stride[column]);
    ocl_put(plan, PACK_DEPTH);
    ocl_put_map(plan, &map);
    ocl_arg_in(plan, 1);
    ocl_arg_work(plan, panels, ocl_panel_size(b));
}

/* Elements of a batch of the packed left-hand matrix. */
static int64_t left_elements(const ocl_product *p)
{
    return (p->m + OCL_PRODUCT_ROWS - 1) / OCL_PRODUCT_ROWS * OCL_PRODUCT_ROWS * p->k;
}

/* a in blocks of rows, as the product reads it. */
static void step_pack_left(ocl_plan *plan, ocl_product *p, const axle_view *a,
                           const axle_view *bias, const axle_view *y)
{
    const uint32_t row = a->rank - 2, column = a->rank - 1;
    const int64_t pieces = (p->k + PACK_DEPTH - 1) / PACK_DEPTH, elements = left_elements(p);
    ocl_map map = {0};
    char options[128];
    ocl_product_options(plan, a, options, sizeof(options));
    ocl_map_views(&map, &a, 1, 0, row);
    ocl_map_merge(&map);
    p->a_work = ocl_work(plan, p->batches * elements, ocl_real_size(plan));
    ocl_step_begin(plan, "prelude functions product", "pack_left",
                   p->batches * (elements / OCL_PRODUCT_ROWS / p->k) * pieces, 1, "%s", options);
    ocl_put(plan, p->batches);
    ocl_put(plan, p->m);
    ocl_put(plan, p->k);
    ocl_put(plan, a->stride[row]);
    ocl_put(plan, a->stride[column]);
    ocl_put(plan, PACK_DEPTH);
    ocl_put_map(plan, &map);
    ocl_arg_in(plan, 0);
    ocl_arg_work(plan, p->a_work, ocl_real_size(plan));
    p->a_in_work = p->a_packed = 1;
    p->a_type = ocl_real_size(plan) == 8 ? "f64" : "f32";
    axle_view packed = *a;
    int64_t stride = elements;
    for (uint32_t d = row; d-- > 0;) {
        packed.stride[d] = stride;
        stride *= packed.dim[d];
    }
    p->map = (ocl_map){0};
    ocl_map_views(&p->map, (const axle_view *[]){&packed, bias, y}, 3, 0, row);
    ocl_map_merge(&p->map);
}

/* The blocked product of CPU devices; 0 where the plain one is the better choice. */
static int plan_blocked(ocl_plan *plan)
{
    const axle_matmul_attrs *attrs = &plan->attrs.matmul;
    const axle_view *a = plan->in[0], *b = plan->in[1], *bias = plan->in[2], *y = plan->out[0];
    const uint32_t row = y->rank - 2, column = y->rank - 1;
    ocl_product p = {.m = y->dim[row], .n = y->dim[column], .k = a->dim[column], .chunks = 1};
    ocl_map_views(&p.map, (const axle_view *[]){a, bias, y}, 3, 0, row);
    ocl_map_merge(&p.map);
    p.batches = ocl_map_count(&p.map);
    const int64_t packed = b_is_shared(b) ? 1 : p.batches, terms = p.m * p.n * p.k;
    if (!ocl_on_cpu(plan) || terms < LEAST_TERMS || p.n * p.k * packed > MOST_PANEL)
        return 0;
    ocl_product_widen(plan, terms * p.batches);
    const int64_t panel = ocl_panel_elements(plan, p.n, p.k);
    p.a_row = a->stride[row], p.a_column = a->stride[column];
    p.y_row = y->stride[row], p.y_column = y->stride[column];
    p.bias_operand = bias ? 2 : -1;
    p.bias_row = bias ? bias->stride[row] : 0;
    p.bias_column = bias ? bias->stride[column] : 0;
    p.a_type = p.y_type = ocl_dtype(y);
    p.activation = ocl_activation(attrs->activation);
    p.accumulate = attrs->accumulate != 0;
    p.alpha = attrs->alpha;
    p.panel_batch = packed > 1 ? panel : 0;
    p.panel_size = ocl_panel_size(b);
    p.panels = ocl_work(plan, panel * packed, p.panel_size);
    plan->impl = "matmul_blocked";
    if (p.n > ocl_panel_width(plan) && p.batches * left_elements(&p) <= MOST_PANEL)
        step_pack_left(plan, &p, a, bias, y);
    step_pack(plan, b, packed, p.panels);
    ocl_step_product(plan, &p);
    return 1;
}

int ocl_plan_matmul(ocl_plan *plan)
{
    const axle_matmul_attrs *attrs = &plan->attrs.matmul;
    if (!accepts(plan))
        return 0;
    if (plan_blocked(plan))
        return 1;
    const axle_view *a = plan->in[0], *y = plan->out[0];
    const axle_view *views[] = {a, plan->in[1], plan->in[2], y};
    const uint32_t row = y->rank - 2, column = y->rank - 1;
    ocl_map batches = {0};
    ocl_map_views(&batches, views, 4, 0, row);
    ocl_map_merge(&batches);
    const int64_t count = ocl_map_count(&batches);
    ocl_step_begin(plan, "prelude functions matmul", "matmul", count * y->dim[row] * y->dim[column],
                   LOCAL, "-DT=%s -DACTIVATION=%s%s", ocl_dtype(y),
                   ocl_activation(attrs->activation), attrs->accumulate ? " -DACCUMULATE" : "");
    ocl_put(plan, count);
    ocl_put(plan, y->dim[row]);
    ocl_put(plan, y->dim[column]);
    ocl_put(plan, a->dim[column]);
    for (int k = 0; k < 4; k++) {
        ocl_put(plan, views[k] ? views[k]->stride[row] : 0);
        ocl_put(plan, views[k] ? views[k]->stride[column] : 0);
    }
    ocl_put(plan, views[2] != NULL);
    ocl_put_map(plan, &batches);
    for (uint32_t k = 0; k < 3; k++)
        ocl_arg_in(plan, k);
    ocl_arg_out(plan, 0);
    ocl_arg_real(plan, attrs->alpha);
    return 1;
}
