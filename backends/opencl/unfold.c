/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions as products for CPU devices. The packed right-hand matrix is filled straight from
 * the input: its columns are (sample, position) pairs and its rows (channel, tap) pairs, or the
 * other way round for the gradient of the weight.
 */
#include "conv.h"
#include "product.h"

#include <stdio.h>

enum { LOCAL = 64, PACK_LOCAL = 16, SPATIAL = AXLE_MAX_SPATIAL };

/* Below this many terms the direct kernels do; above this many numbers panels take too much
 * memory. Sums of more products than DEPTH are cut. Places are 32-bit numbers. */
enum { LEAST_TERMS = 4096, MOST_PANEL = 1 << 28, DEPTH = 1024, MOST_PLACE = 1 << 30, RUN = 64 };

/* One convolution seen as a product. `grid` is the tensor whose positions are counted, `read` the
 * one that is unfolded. */
typedef struct unfolding {
    const axle_view *grid, *read, *w;
    uint32_t read_operand;
    int64_t channels;         /* of a group of `read` */
    int64_t pairs, tap_pairs; /* (sample, position), (channel, tap) */
    int transposed, by_tap;
    uint64_t origins, taps;
    ocl_product product;
} unfolding;

static int64_t spatial(const axle_view *view, int d)
{
    const int added = SPATIAL - (int)view->rank + 2;
    return d < added ? 1 : view->dim[2 + d - added];
}

static int64_t spatial_stride(const axle_view *view, int d)
{
    const int added = SPATIAL - (int)view->rank + 2;
    return d < added ? 0 : view->stride[2 + d - added];
}

static int64_t attribute(const axle_conv_attrs *attrs, const int32_t *values, int d, int64_t added)
{
    const int first = SPATIAL - (int)attrs->n_spatial;
    return d < first ? added : values[d - first];
}

static int64_t plane(const axle_view *view)
{
    return spatial(view, 0) * spatial(view, 1) * spatial(view, 2);
}

/* Dims of a view behind the first two. */
static void map_space(ocl_map *map, const axle_view *view)
{
    ocl_map_views(map, &view, 1, 2, view->rank);
}

static void map_one(ocl_map *map, int64_t dim, int64_t stride)
{
    ocl_map_dim(map, dim, &stride, 1);
}

/* A table's rows are as long as its columns in whole panels. */
static int64_t pitch_of(const ocl_plan *plan, int64_t pairs)
{
    const int64_t width = ocl_panel_width(plan);
    return (pairs + width - 1) / width * width;
}

/* Elements from a view's first to behind its last. */
static int64_t extent(const axle_view *view)
{
    int64_t last = 1;
    for (uint32_t d = 0; d < view->rank; d++)
        last += (view->dim[d] - 1) * view->stride[d];
    return last;
}

static int unfolding_fill(ocl_plan *plan, unfolding *u, const conv *c)
{
    ocl_product *p = &u->product;
    u->pairs = u->grid->dim[0] * plane(u->grid);
    u->tap_pairs = u->channels * plane(c->w);
    p->batches = c->groups;
    p->n = u->by_tap ? u->tap_pairs : u->pairs;
    p->k = u->by_tap ? u->pairs : u->tap_pairs;
    p->chunks = 1;
    p->alpha = 1;
    p->bias_operand = -1;
    p->activation = "NONE";
    p->a_type = p->y_type = ocl_dtype(u->read);
    const int64_t terms = p->m * p->n * p->k;
    if (!ocl_on_cpu(plan) || u->pairs > MOST_PLACE || extent(u->read) > MOST_PLACE ||
        terms < LEAST_TERMS || p->n * p->k * c->groups > MOST_PANEL)
        return 0;
    ocl_product_widen(plan, terms * c->groups);
    p->panel_batch = ocl_panel_elements(plan, p->n, p->k);
    p->panel_size = ocl_panel_size(u->read);
    u->origins = ocl_work(plan, 4 * pitch_of(plan, u->pairs), 4);
    u->taps = ocl_work(plan, 4 * pitch_of(plan, u->tap_pairs), 4);
    p->places = ocl_work(plan, u->pairs, 8);
    p->panels = ocl_work(plan, p->panel_batch * c->groups, p->panel_size);
    return 1;
}

/* Whether tables hold what a strided gradient is at. Their places then leave coordinates out. */
static int is_strided(const ocl_plan *plan, const unfolding *u)
{
    const axle_conv_attrs *attrs = &plan->attrs.conv;
    int strided = 0;
    for (uint32_t d = 0; d < attrs->n_spatial; d++)
        strided |= attrs->stride[d] != 1;
    return u->transposed && strided;
}

static void begin(ocl_plan *plan, const unfolding *u, const char *kernel, int64_t items,
                  uint32_t local)
{
    char options[128];
    ocl_product_options(plan, u->read, options, sizeof(options));
    ocl_step_begin(plan, "prelude functions vectors product", kernel, items, local, "%s%s", options,
                   is_strided(plan, u) ? " -DSTRIDED" : "");
}

static void step_tables(ocl_plan *plan, const unfolding *u)
{
    const axle_conv_attrs *attrs = &plan->attrs.conv;
    const int64_t pitch = pitch_of(plan, u->pairs), tap_pitch = pitch_of(plan, u->tap_pairs);
    const int64_t sign = u->transposed ? -1 : 1;
    ocl_map places = {0};
    map_one(&places, u->grid->dim[0], u->grid->stride[0]);
    map_space(&places, u->grid);
    ocl_map_merge(&places);
    begin(plan, u, "conv_tables", pitch > tap_pitch ? pitch : tap_pitch, LOCAL);
    ocl_put(plan, u->pairs);
    ocl_put(plan, u->tap_pairs);
    for (int d = 0; d < SPATIAL; d++)
        ocl_put(plan, spatial(u->grid, d));
    for (int d = 0; d < SPATIAL; d++)
        ocl_put(plan, u->transposed ? 1 : attribute(attrs, attrs->stride, d, 1));
    for (int d = 0; d < SPATIAL; d++)
        ocl_put(plan, -sign * attribute(attrs, attrs->pad, d, 0));
    for (int d = 0; d < SPATIAL; d++)
        ocl_put(plan, spatial(u->w, d));
    for (int d = 0; d < SPATIAL; d++)
        ocl_put(plan, sign * attribute(attrs, attrs->dilation, d, 1));
    ocl_put(plan, u->read->stride[0]);
    ocl_put(plan, u->read->stride[1]);
    for (int d = 0; d < SPATIAL; d++)
        ocl_put(plan, is_strided(plan, u) ? 0 : spatial_stride(u->read, d));
    ocl_put(plan, pitch);
    ocl_put(plan, tap_pitch);
    ocl_put_map(plan, &places);
    ocl_arg_work(plan, u->origins, 4);
    ocl_arg_work(plan, u->taps, 4);
    ocl_arg_work(plan, u->product.places, 8);
}

static void step_pack(ocl_plan *plan, const unfolding *u)
{
    const axle_conv_attrs *attrs = &plan->attrs.conv;
    const ocl_product *p = &u->product;
    const int64_t width = ocl_panel_width(plan);
    begin(plan, u, "conv_pack", p->batches * ((p->n + width - 1) / width) * p->k, PACK_LOCAL);
    ocl_put(plan, p->batches);
    ocl_put(plan, p->n);
    ocl_put(plan, p->k);
    for (int d = 0; d < SPATIAL; d++)
        ocl_put(plan, spatial(u->read, d));
    ocl_put(plan, u->channels * u->read->stride[1]);
    ocl_put(plan, pitch_of(plan, p->n));
    ocl_put(plan, pitch_of(plan, p->k));
    for (int d = 0; d < SPATIAL; d++)
        ocl_put(plan, attribute(attrs, attrs->stride, d, 1));
    for (int d = 0; d < SPATIAL; d++)
        ocl_put(plan, spatial_stride(u->read, d));
    ocl_arg_in(plan, u->read_operand);
    ocl_arg_work(plan, u->by_tap ? u->taps : u->origins, 4);
    ocl_arg_work(plan, u->by_tap ? u->origins : u->taps, 4);
    ocl_arg_work(plan, p->panels, p->panel_size);
}

/* A dense copy of the left-hand matrix, (groups, m, k) in the map's order. */
static void step_flatten(ocl_plan *plan, unfolding *u, uint32_t operand, ocl_map *map)
{
    ocl_product *p = &u->product;
    const int64_t count = p->batches * p->m * p->k;
    ocl_map_merge(map);
    p->a_in_work = 1;
    p->a_type = ocl_real_size(plan) == 8 ? "f64" : "f32";
    p->a_work = ocl_work(plan, count, ocl_real_size(plan));
    p->a_row = p->k;
    p->a_column = 1;
    const int64_t row = map->rank > 0 ? map->dim[map->rank - 1] : 1;
    const int64_t runs = (row + RUN - 1) / RUN;
    begin(plan, u, "flatten", count / row * runs, LOCAL);
    ocl_put(plan, count / row * runs);
    ocl_put(plan, RUN);
    ocl_put(plan, runs);
    ocl_put(plan, row);
    ocl_put_map(plan, map);
    ocl_arg_in(plan, operand);
    ocl_arg_work(plan, p->a_work, ocl_real_size(plan));
}

/* The batches are groups; the result's channels and the bias go on from group to group. */
static void map_groups(ocl_product *p, int64_t a_group, const axle_view *bias, int64_t y_group)
{
    const int64_t strides[3] = {a_group, bias ? p->m * bias->stride[0] : 0, y_group};
    ocl_map_dim(&p->map, p->batches, strides, 3);
    ocl_map_merge(&p->map);
}

static void set_bias(ocl_product *p, const axle_view *bias)
{
    p->bias_operand = bias ? 2 : -1;
    p->bias_row = bias ? bias->stride[0] : 0;
}

int ocl_conv_unfolded(ocl_plan *plan, const conv *c)
{
    unfolding u = {.grid = c->y, .read = c->x, .w = c->w, .channels = c->inputs};
    ocl_product *p = &u.product;
    p->m = c->outputs;
    if (!unfolding_fill(plan, &u, c))
        return 0;
    ocl_map weights = {0};
    map_one(&weights, c->w->dim[0], c->w->stride[0]);
    map_one(&weights, c->w->dim[1], c->w->stride[1]);
    map_space(&weights, c->w);
    step_flatten(plan, &u, 1, &weights);
    step_tables(plan, &u);
    step_pack(plan, &u);
    p->activation = ocl_activation(plan->attrs.conv.activation);
    p->placed = 1;
    p->y_row = c->y->stride[1];
    set_bias(p, c->bias);
    map_groups(p, p->m * p->k, c->bias, p->m * c->y->stride[1]);
    plan->impl = "conv_unfolded";
    ocl_step_product(plan, p);
    return 1;
}

int ocl_conv_data_unfolded(ocl_plan *plan, const conv *c)
{
    unfolding u = {.grid = c->x, .read = c->y, .w = c->w, .channels = c->outputs, .transposed = 1};
    ocl_product *p = &u.product;
    p->m = c->inputs;
    if (!unfolding_fill(plan, &u, c))
        return 0;
    ocl_map weights = {0};
    map_one(&weights, c->groups, c->outputs * c->w->stride[0]);
    map_one(&weights, c->inputs, c->w->stride[1]);
    map_one(&weights, c->outputs, c->w->stride[0]);
    map_space(&weights, c->w);
    step_flatten(plan, &u, 1, &weights);
    step_tables(plan, &u);
    step_pack(plan, &u);
    p->placed = 1;
    p->y_row = c->x->stride[1];
    set_bias(p, c->bias);
    map_groups(p, p->m * p->k, c->bias, p->m * c->x->stride[1]);
    plan->impl = "conv_backward_data_unfolded";
    ocl_step_product(plan, p);
    return 1;
}

void ocl_step_join_weight(ocl_plan *plan, const conv *c, int64_t count, int64_t chunks,
                          uint64_t pieces)
{
    ocl_map weights = {0};
    char options[128];
    map_one(&weights, c->w->dim[0], c->w->stride[0]);
    map_one(&weights, c->w->dim[1], c->w->stride[1]);
    map_space(&weights, c->w);
    ocl_map_merge(&weights);
    ocl_product_options(plan, c->w, options, sizeof(options));
    ocl_step_begin(plan, "prelude functions vectors product", "join_pieces", count, LOCAL, "%s",
                   options);
    ocl_put(plan, count);
    ocl_put(plan, chunks);
    ocl_put_map(plan, &weights);
    ocl_arg_work(plan, pieces, ocl_real_size(plan));
    ocl_arg_out(plan, 0);
}

int ocl_conv_weight_unfolded(ocl_plan *plan, const conv *c)
{
    unfolding u = {.grid = c->y,
                   .read = c->x,
                   .w = c->w,
                   .read_operand = 1,
                   .channels = c->inputs,
                   .by_tap = 1};
    ocl_product *p = &u.product;
    p->m = c->outputs;
    if (!unfolding_fill(plan, &u, c))
        return 0;
    p->partial = 1;
    p->chunks = (p->k + DEPTH - 1) / DEPTH;
    p->pieces = ocl_work(plan, p->chunks * p->batches * p->m * p->n, ocl_real_size(plan));
    ocl_map gradient = {0};
    map_one(&gradient, c->y->dim[1], c->y->stride[1]);
    map_one(&gradient, c->y->dim[0], c->y->stride[0]);
    map_space(&gradient, c->y);
    step_flatten(plan, &u, 0, &gradient);
    step_tables(plan, &u);
    step_pack(plan, &u);
    map_groups(p, p->m * p->k, NULL, 0);
    plan->impl = "conv_backward_weight_unfolded";
    ocl_step_product(plan, p);
    ocl_step_join_weight(plan, c, p->batches * p->m * p->n, p->chunks, p->pieces);
    return 1;
}
