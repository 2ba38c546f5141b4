/* SPDX-License-Identifier: Apache-2.0 */
/* Planners of REDUCE and ARG_REDUCE. */
#include "planners.h"

#include <math.h>
#include <stdio.h>

enum { LOCAL = 64, LEAST_CHUNK = 64 };

/* How a kind folds: for floats and integers (NULL: not taken), what finishes it, and whether
 * pieces are kept as sums. */
typedef struct fold_row {
    const char *floats, *integers, *finish;
    int totals;
} fold_row;

static const fold_row folds[AXLE_REDUCE_LIMIT] = {
    [AXLE_REDUCE_SUM] = {"SUM", "WRAP", "NONE", 1},
    [AXLE_REDUCE_MEAN] = {"SUM", NULL, "MEAN", 1},
    [AXLE_REDUCE_PROD] = {"PROD", "PROD", "NONE", 0},
    [AXLE_REDUCE_MAX] = {"MAX", "MAX", "NONE", 0},
    [AXLE_REDUCE_MIN] = {"MIN", "MIN", "NONE", 0},
    [AXLE_REDUCE_VAR] = {"SUM", NULL, "VAR", 1},
    [AXLE_REDUCE_NORM1] = {"ABS", NULL, "NONE", 1},
    [AXLE_REDUCE_NORM2] = {"SQUARE", NULL, "NORM", 1},
    [AXLE_REDUCE_SUM_SQUARES] = {"SQUARE", NULL, "NONE", 1},
    [AXLE_REDUCE_ANY] = {"ANY", "ANY", "NONE", 0},
    [AXLE_REDUCE_ALL] = {"ALL", "ALL", "NONE", 0},
};

typedef struct reduction {
    const fold_row *row;
    const axle_view *x, *y;
    ocl_map kept, folded;
    int64_t outputs, n, chunks, each;
    char types[160]; /* options of both kernels */
    uint32_t piece_size;
    uint64_t pieces, centers;
    double divisor;
} reduction;

static int is_truth(uint32_t kind)
{
    return kind == AXLE_REDUCE_ANY || kind == AXLE_REDUCE_ALL;
}

/* Where a fold begins. */
static const char *identity(uint32_t kind, uint32_t dtype, int integer)
{
    const int most = kind == AXLE_REDUCE_MIN;
    if (kind != AXLE_REDUCE_MAX && kind != AXLE_REDUCE_MIN)
        return kind == AXLE_REDUCE_PROD || kind == AXLE_REDUCE_ALL ? "1" : "0";
    if (!integer)
        return most ? "INFINITY" : "-INFINITY";
    switch (dtype) {
    case AXLE_DTYPE_I64:
        return most ? "LONG_MAX" : "LONG_MIN";
    case AXLE_DTYPE_I32:
        return most ? "INT_MAX" : "INT_MIN";
    default:
        return most ? "UCHAR_MAX" : "0";
    }
}

static int accepts(const axle_reduce_attrs *attrs, const axle_view *x, const axle_view *y)
{
    if (!ocl_is(x, OCL_ANY) || !y || y->rank != x->rank || attrs->kind == 0 ||
        attrs->kind >= AXLE_REDUCE_LIMIT)
        return 0;
    for (uint32_t d = 0; d < x->rank; d++)
        if (y->dim[d] != (attrs->axes >> d & 1 ? 1 : x->dim[d]))
            return 0;
    if (is_truth(attrs->kind))
        return y->dtype == AXLE_DTYPE_BOOL;
    if (y->dtype != x->dtype)
        return 0;
    return ocl_is(x, OCL_FLOATS) || (ocl_is(x, OCL_INTEGERS) && folds[attrs->kind].integers);
}

static void split_dims(reduction *r, uint32_t axes)
{
    for (uint32_t d = 0; d < r->x->rank; d++)
        if (axes >> d & 1)
            ocl_map_views(&r->folded, &r->x, 1, d, d + 1);
        else
            ocl_map_views(&r->kept, (const axle_view *[]){r->y, r->x}, 2, d, d + 1);
    r->kept.operands = 2;
    r->folded.operands = 1;
    ocl_map_merge(&r->kept);
    ocl_map_merge(&r->folded);
    r->outputs = ocl_map_count(&r->kept);
    r->n = ocl_map_count(&r->folded);
}

static void choose_chunks(const ocl_plan *plan, reduction *r)
{
    const int64_t busy = ocl_busy(plan), most = r->n / LEAST_CHUNK + 1;
    r->chunks = r->outputs > 0 ? (busy + r->outputs - 1) / r->outputs : 1;
    if (r->chunks > most)
        r->chunks = most;
    r->each = (r->n + r->chunks - 1) / r->chunks;
}

static void choose_types(const ocl_plan *plan, reduction *r, uint32_t kind)
{
    const int integer = !ocl_is(r->x, OCL_FLOATS) || is_truth(kind);
    const int wide = r->row->totals || kind == AXLE_REDUCE_PROD;
    const uint32_t size = integer ? 8 : wide ? ocl_wide_size(plan) : ocl_real_size(plan);
    r->piece_size = size;
    snprintf(r->types, sizeof(r->types), "-DTX=%s -DPIECE_TYPE=%s -DIDENTITY=%s%s%s",
             ocl_dtype(r->x),
             integer     ? "i64"
             : size == 8 ? "f64"
                         : "f32",
             identity(kind, r->x->dtype, integer), r->row->totals && !integer ? " -DTOTALS" : "",
             plan->real == AXLE_DTYPE_F64 ? " -DCOMPENSATE" : "");
}

static void put_numbers(ocl_plan *plan, const reduction *r)
{
    ocl_put(plan, r->outputs);
    ocl_put(plan, r->chunks);
    ocl_put(plan, r->n);
    ocl_put(plan, r->each);
    ocl_put_map(plan, &r->kept);
    ocl_put_map(plan, &r->folded);
}

static void step_fold(ocl_plan *plan, const reduction *r, const char *fold, int centered)
{
    ocl_step_begin(plan, "prelude reduce", "fold", r->outputs * r->chunks, LOCAL,
                   "%s -DTY=%s -DFOLD=%s -DFINISH=NONE%s%s", r->types, ocl_dtype(r->y), fold,
                   centered ? " -DCENTERED" : "", r->folded.rank <= 1 ? " -DFLAT" : "");
    put_numbers(plan, r);
    ocl_arg_in(plan, 0);
    ocl_arg_work(plan, r->pieces, r->piece_size);
    ocl_arg_work(plan, r->centers, r->piece_size);
}

static void step_join(ocl_plan *plan, const reduction *r, const char *fold, const char *finish,
                      int to_centers)
{
    ocl_step_begin(plan, "prelude reduce", "join", r->outputs, LOCAL,
                   "%s -DTY=%s -DFOLD=%s -DFINISH=%s%s", r->types,
                   to_centers ? (r->piece_size == 8 ? "f64" : "f32") : ocl_dtype(r->y), fold,
                   finish, to_centers ? " -DTO_CENTERS" : "");
    put_numbers(plan, r);
    ocl_arg_work(plan, r->pieces, r->piece_size);
    if (to_centers)
        ocl_arg_work(plan, r->centers, r->piece_size);
    else
        ocl_arg_out(plan, 0);
    ocl_arg_wide(plan, r->divisor);
}

int ocl_plan_reduce(ocl_plan *plan)
{
    const axle_reduce_attrs *attrs = &plan->attrs.reduce;
    reduction r = {.x = plan->in[0], .y = plan->out[0]};
    if (!accepts(attrs, r.x, r.y))
        return 0;
    r.row = &folds[attrs->kind];
    const int integer = !ocl_is(r.x, OCL_FLOATS);
    const char *fold = integer ? r.row->integers : r.row->floats;
    split_dims(&r, attrs->axes);
    choose_chunks(plan, &r);
    choose_types(plan, &r, attrs->kind);
    r.divisor = fmax(0, (double)r.n - attrs->parameter);
    r.pieces = ocl_work(plan, r.outputs * r.chunks, r.piece_size);
    r.centers = ocl_work(plan, r.outputs, r.piece_size);
    step_fold(plan, &r, fold, 0);
    if (attrs->kind == AXLE_REDUCE_VAR) {
        step_join(plan, &r, fold, "MEAN", 1);
        fold = "DEVIATION";
        step_fold(plan, &r, fold, 1);
    }
    step_join(plan, &r, attrs->kind == AXLE_REDUCE_VAR ? "SUM" : fold, r.row->finish, 0);
    return 1;
}

int ocl_plan_arg_reduce(ocl_plan *plan)
{
    const axle_arg_reduce_attrs *attrs = &plan->attrs.arg_reduce;
    const axle_view *x = plan->in[0], *y = plan->out[0];
    ocl_map map = {0};
    if (!ocl_is(x, OCL_ANY) || !ocl_is(y, 1 << AXLE_DTYPE_I64) || x->rank != y->rank ||
        attrs->axis >= x->rank || x->dim[attrs->axis] == 0 ||
        (attrs->kind != AXLE_REDUCE_MAX && attrs->kind != AXLE_REDUCE_MIN))
        return 0;
    for (uint32_t d = 0; d < x->rank; d++)
        if (y->dim[d] != (d == attrs->axis ? 1 : x->dim[d]))
            return 0;
    for (uint32_t d = 0; d < x->rank; d++)
        if (d != attrs->axis)
            ocl_map_views(&map, (const axle_view *[]){y, x}, 2, d, d + 1);
    map.operands = 2;
    ocl_map_merge(&map);
    const int64_t n = ocl_map_count(&map);
    ocl_step_begin(plan, "prelude arg_reduce", "arg_reduce", n, LOCAL, "-DTX=%s -DWORSE=%s",
                   ocl_dtype(x), attrs->kind == AXLE_REDUCE_MAX ? "<=" : ">=");
    ocl_put(plan, n);
    ocl_put(plan, x->dim[attrs->axis]);
    ocl_put(plan, x->stride[attrs->axis]);
    ocl_put_map(plan, &map);
    ocl_arg_in(plan, 0);
    ocl_arg_out(plan, 0);
    return 1;
}
