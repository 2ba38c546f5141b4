/* SPDX-License-Identifier: Apache-2.0 */
/* Planner of MATMUL. */
#include "planners.h"
#include "product.h"
#include "tune.h"

#include <string.h>

enum { LOCAL = 64 };

/* Products below this many terms are not worth packing; panels above this size take too much
 * memory. */
enum { LEAST_TERMS = 4096, MOST_PANEL = 1 << 28, LEAST_GEMM = 1 << 20 };

/* Of kernels/tiled.cl. */
enum { MOST_SIDE = 16, TILE_STEP = 8 };

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
    const int64_t pieces = (p->k + OCL_PACK_DEPTH - 1) / OCL_PACK_DEPTH,
                  elements = left_elements(p);
    ocl_map map = {0};
    char options[128];
    ocl_product_options(plan, a, options, sizeof(options));
    ocl_map_views(&map, &a, 1, 0, row);
    ocl_map_merge(&map);
    p->a_work = ocl_work(plan, p->batches * elements, ocl_real_size(plan));
    ocl_step_begin(plan, "prelude functions vectors product", "pack_left",
                   p->batches * (elements / OCL_PRODUCT_ROWS / p->k) * pieces, 1, "%s", options);
    ocl_put(plan, p->batches);
    ocl_put(plan, p->m);
    ocl_put(plan, p->k);
    ocl_put(plan, a->stride[row]);
    ocl_put(plan, a->stride[column]);
    ocl_put(plan, OCL_PACK_DEPTH);
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

/* What the candidates are told of a product. */
typedef struct shape {
    const axle_view *a, *b, *bias, *y;
    int64_t batches, m, n, k, terms; /* terms of a batch */
} shape;

static shape shape_of(const ocl_plan *plan)
{
    shape s = {.a = plan->in[0], .b = plan->in[1], .bias = plan->in[2], .y = plan->out[0]};
    s.m = s.y->dim[s.y->rank - 2];
    s.n = s.y->dim[s.y->rank - 1];
    s.k = s.a->dim[s.a->rank - 1];
    s.batches = 1;
    for (uint32_t d = 0; d + 2 < s.y->rank; d++)
        s.batches *= s.y->dim[d];
    s.terms = s.m * s.n * s.k;
    return s;
}

static int vector_fits(const shape *s)
{
    const int64_t packed = b_is_shared(s->b) ? 1 : s->batches;
    return s->terms >= LEAST_TERMS && s->n * s->k * packed <= MOST_PANEL;
}

static void plan_vector(ocl_plan *plan, const shape *s)
{
    const axle_matmul_attrs *attrs = &plan->attrs.matmul;
    const axle_view *a = s->a, *bias = s->bias, *y = s->y;
    const uint32_t row = y->rank - 2, column = y->rank - 1;
    const int64_t packed = b_is_shared(s->b) ? 1 : s->batches;
    ocl_product p = {.batches = s->batches, .m = s->m, .n = s->n, .k = s->k, .chunks = 1};
    ocl_map_views(&p.map, (const axle_view *[]){a, bias, y}, 3, 0, row);
    ocl_map_merge(&p.map);
    ocl_product_widen(plan, s->terms * s->batches);
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
    p.panel_size = ocl_panel_size(s->b);
    p.panels = ocl_work(plan, panel * packed, p.panel_size);
    plan->impl = "matmul_vector";
    if (p.n > ocl_panel_width(plan) && p.batches * left_elements(&p) <= MOST_PANEL)
        step_pack_left(plan, &p, a, bias, y);
    ocl_step_pack(plan, 1, s->b, packed, p.panels);
    ocl_step_product(plan, &p);
}

/* The bytes that trials need. */
static uint64_t vector_workspace(const ocl_plan *plan, const shape *s, uint32_t mask)
{
    axle_be_op none = {.device = plan->device};
    ocl_plan dry = {.device = plan->device, .dry = 1, .real = plan->real, .prepared = &none};
    dry.attrs = plan->attrs;
    if (mask >> OCL_VECTOR & 1)
        plan_vector(&dry, s);
    return dry.workspace;
}

/* Work-items along a side of a tile: as many as a group and local memory may hold. */
static int64_t tile_side(const ocl_plan *plan)
{
    const ocl_description *about = &plan->device->about;
    int64_t side = MOST_SIDE;
    while (side > 1 && ((size_t)(side * side) > about->max_local ||
                        (uint64_t)(2 * TILE_STEP * 4 * side * 8) > about->local_memory))
        side /= 2;
    return side;
}

/* The kernels plain and tiled get the same numbers and operands. */
static void plan_simple(ocl_plan *plan, const shape *s, int tiled)
{
    const axle_matmul_attrs *attrs = &plan->attrs.matmul;
    const axle_view *views[] = {s->a, s->b, s->bias, s->y};
    const uint32_t row = s->y->rank - 2, column = s->y->rank - 1;
    const int64_t side = tile_side(plan), tile = 4 * side;
    ocl_map batches = {0};
    ocl_map_views(&batches, views, 4, 0, row);
    ocl_map_merge(&batches);
    plan->impl = tiled ? "matmul_tiled" : "matmul";
    if (tiled) {
        ocl_product_widen(plan, s->terms * s->batches);
        ocl_step_begin(
            plan, "prelude functions tiled", "tiled",
            s->batches * ((s->m + tile - 1) / tile) * ((s->n + tile - 1) / tile) * side * side,
            (uint32_t)(side * side), "-DT=%s -DACTIVATION=%s -DSIDE=%d%s", ocl_dtype(s->y),
            ocl_activation(attrs->activation), (int)side, attrs->accumulate ? " -DACCUMULATE" : "");
    } else {
        ocl_step_begin(plan, "prelude functions matmul", "matmul", s->batches * s->m * s->n, LOCAL,
                       "-DT=%s -DACTIVATION=%s%s", ocl_dtype(s->y),
                       ocl_activation(attrs->activation), attrs->accumulate ? " -DACCUMULATE" : "");
    }
    ocl_put(plan, s->batches);
    ocl_put(plan, s->m);
    ocl_put(plan, s->n);
    ocl_put(plan, s->k);
    for (int k = 0; k < 4; k++) {
        ocl_put(plan, views[k] ? views[k]->stride[row] : 0);
        ocl_put(plan, views[k] ? views[k]->stride[column] : 0);
    }
    ocl_put(plan, s->bias != NULL);
    ocl_put_map(plan, &batches);
    for (uint32_t k = 0; k < 3; k++)
        ocl_arg_in(plan, k);
    ocl_arg_out(plan, 0);
    ocl_arg_real(plan, attrs->alpha);
}

/* How a matrix lies, as BLAS says it: `turned` where columns are the dense ones. */
static int blas_fits(const axle_view *view, int may_turn, int *turned, size_t *row_stride)
{
    const uint32_t row = view->rank - 2, column = view->rank - 1;
    const int64_t down = view->stride[row], along = view->stride[column];
    *turned = !(along == 1 && down >= view->dim[column]);
    *row_stride = (size_t)(*turned ? along : down);
    return !*turned || (may_turn && down == 1 && along >= view->dim[row]);
}

static int gemm_fits(const ocl_plan *plan, const shape *s, ocl_gemm *g)
{
    const axle_matmul_attrs *attrs = &plan->attrs.matmul;
    int y_turned;
    *g = (ocl_gemm){.there = 1,
                    .f64 = s->y->dtype == AXLE_DTYPE_F64,
                    .m = (size_t)s->m,
                    .n = (size_t)s->n,
                    .k = (size_t)s->k,
                    .alpha = attrs->alpha,
                    .beta = attrs->accumulate ? 1 : 0};
    return ocl_is(s->y, 1 << AXLE_DTYPE_F32 | 1 << AXLE_DTYPE_F64) && s->batches == 1 &&
           (g->f64 || !ocl_product_is_wide(plan, s->terms)) && s->terms >= LEAST_GEMM && !s->bias &&
           attrs->activation == 0 && blas_fits(s->a, 1, &g->a_turned, &g->a_row) &&
           blas_fits(s->b, 1, &g->b_turned, &g->b_row) &&
           blas_fits(s->y, 0, &y_turned, &g->y_row) && ocl_clblast_is_there();
}

int ocl_plan_matmul(ocl_plan *plan)
{
    if (!accepts(plan))
        return 0;
    const shape s = shape_of(plan);
    uint32_t mask = plan->only ? plan->only : ocl_candidates(plan);
    ocl_gemm gemm;
    if (!vector_fits(&s))
        mask &= ~(1u << OCL_VECTOR);
    if (s.terms < LEAST_TERMS)
        mask &= ~(1u << OCL_TILED);
    if (mask >> OCL_CLBLAST & 1 && !gemm_fits(plan, &s, &gemm))
        mask &= ~(1u << OCL_CLBLAST);
    if (!mask && s.terms >= LEAST_TERMS)
        mask = ocl_on_cpu(plan) && vector_fits(&s) ? 1u << OCL_VECTOR : 1u << OCL_TILED;
    /* The workspace has to do for whichever is chosen later: only one of them needs any. */
    if (mask >> OCL_VECTOR & 1 && plan->dry) {
        plan_vector(plan, &s);
        return 1;
    }
    if (mask & (mask - 1) && !plan->dry)
        plan->workspace = vector_workspace(plan, &s, mask);
    const ocl_candidate chosen = mask ? ocl_tune(plan, mask, s.m, s.n, s.k) : OCL_PLAIN;
    plan->workspace = 0;
    if (chosen == OCL_VECTOR)
        plan_vector(plan, &s);
    else if (chosen == OCL_CLBLAST)
        ocl_step_gemm(plan, &gemm);
    else
        plan_simple(plan, &s, chosen == OCL_TILED);
    return 1;
}
