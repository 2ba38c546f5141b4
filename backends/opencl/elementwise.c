/* SPDX-License-Identifier: Apache-2.0 */
/* Planners of the operators that treat elements one by one. */
#include "planners.h"

#include <math.h>
#include <string.h>

/* CHUNK: elements of a work-item on CPU devices; RUN: of a block of random numbers. */
enum { LOCAL = 256, CHUNK = 2048, RUN = 4 };

/* Merge the operands' dims into a map; 0 where the dims differ. The first view is there. */
static int map_same(ocl_map *map, const axle_view *const *views, int n)
{
    for (int k = 1; k < n; k++)
        if (views[k] &&
            (views[k]->rank != views[0]->rank ||
             memcmp(views[k]->dim, views[0]->dim, views[0]->rank * sizeof(views[0]->dim[0])) != 0))
            return 0;
    *map = (ocl_map){0};
    ocl_map_views(map, views, n, 0, views[0]->rank);
    ocl_map_merge(map);
    return 1;
}

static int is_dense(const ocl_map *map)
{
    for (int k = 0; k < map->operands; k++)
        if (!ocl_map_is_dense(map, k))
            return 0;
    return 1;
}

/* How elements are dealt out: dense ones in runs on a CPU device. */
static const char *dense_option(const ocl_plan *plan, const ocl_map *map)
{
    return !is_dense(map) ? "" : ocl_on_cpu(plan) ? " -DDENSE -DCHUNK=2048" : " -DDENSE";
}
static uint32_t local_of(const ocl_plan *plan, const ocl_map *map)
{
    return is_dense(map) && ocl_on_cpu(plan) ? 1 : LOCAL;
}
static int64_t items_of(const ocl_plan *plan, const ocl_map *map)
{
    const int64_t n = ocl_map_count(map);
    return local_of(plan, map) == 1 ? (n + CHUNK - 1) / CHUNK : n;
}

static int64_t to_integer(double x)
{
    if (x >= 0x1p63)
        return INT64_MAX;
    if (x >= -0x1p63)
        return (int64_t)x;
    return x != x ? 0 : INT64_MIN;
}

static const char *cast_from(const axle_view *x)
{
    return ocl_is(x, OCL_FLOATS) ? "float_to_" : "integer_to_";
}

int ocl_plan_copy(ocl_plan *plan)
{
    const axle_view *x = plan->in[0], *y = plan->out[0];
    ocl_map map;
    if (!ocl_is(x, OCL_ANY) || !ocl_is(y, OCL_ANY) ||
        !map_same(&map, (const axle_view *[]){x, y}, 2))
        return 0;
    const int moves = x->dtype == y->dtype;
    if (!moves && !plan->device->about.has_f64 &&
        (x->dtype == AXLE_DTYPE_F64 || y->dtype == AXLE_DTYPE_F64))
        return 0;
    const int64_t n = ocl_map_count(&map);
    ocl_step_begin(plan, "prelude copy", "copy", items_of(plan, &map), local_of(plan, &map),
                   "-DTX=%s -DTY=%s -DCAST_FROM=%s%s", moves ? ocl_bits(x) : ocl_dtype(x),
                   moves ? ocl_bits(y) : ocl_dtype(y), moves ? "bits_to_" : cast_from(x),
                   dense_option(plan, &map));
    ocl_put(plan, n);
    ocl_put_map(plan, &map);
    ocl_arg_in(plan, 0);
    ocl_arg_out(plan, 0);
    return 1;
}

int ocl_plan_where(ocl_plan *plan)
{
    const axle_view *c = plan->in[0], *a = plan->in[1], *b = plan->in[2], *y = plan->out[0];
    ocl_map map;
    if (!ocl_is(c, OCL_BOOLEANS) || !ocl_is(y, OCL_ANY) || !ocl_same(y, a) || !ocl_same(y, b) ||
        !map_same(&map, (const axle_view *[]){c, a, b, y}, 4))
        return 0;
    const int64_t n = ocl_map_count(&map);
    ocl_step_begin(plan, "prelude copy", "where", items_of(plan, &map), local_of(plan, &map),
                   "-DTY=%s%s", ocl_bits(y), dense_option(plan, &map));
    ocl_put(plan, n);
    ocl_put_map(plan, &map);
    for (uint32_t k = 0; k < 3; k++)
        ocl_arg_in(plan, k);
    ocl_arg_out(plan, 0);
    return 1;
}

/* f32 to a half type's bits, to nearest even; the value was rounded to odd before. */
static uint16_t half_bits(float value, int bf16)
{
    union {
        float f;
        uint32_t u;
    } v = {value};
    const uint32_t sign = v.u >> 16 & 0x8000u;
    if (value != value)
        return (uint16_t)(sign | (bf16 ? 0x7fc0u : 0x7e00u));
    if (bf16)
        return (uint16_t)((v.u + 0x7fffu + (v.u >> 16 & 1u)) >> 16);
    v.u &= 0x7fffffffu;
    if (v.u >= 0x477ff000u)
        return (uint16_t)(sign | 0x7c00u);
    if (v.u < 0x38800000u) {
        v.f += 0.5f;
        return (uint16_t)(sign | (v.u - 0x3f000000u));
    }
    v.u += 0xfffu + (v.u >> 13 & 1u);
    return (uint16_t)(sign | (v.u - 0x38000000u) >> 13);
}

static float narrow_to_odd(double value)
{
    union {
        float f;
        uint32_t u;
    } v = {(float)value};
    if ((double)v.f == value || value != value)
        return v.f;
    if (fabs((double)v.f) > fabs(value))
        v.u--;
    v.u |= 1u;
    return v.f;
}

static uint64_t fill_bits(const axle_fill_attrs *attrs, uint32_t dtype)
{
    const float single = (float)attrs->value;
    uint32_t bits32;
    uint64_t bits64;
    switch (dtype) {
    case AXLE_DTYPE_F32:
        memcpy(&bits32, &single, sizeof(bits32));
        return bits32;
    case AXLE_DTYPE_F64:
        memcpy(&bits64, &attrs->value, sizeof(bits64));
        return bits64;
    case AXLE_DTYPE_F16:
    case AXLE_DTYPE_BF16:
        return half_bits(narrow_to_odd(attrs->value), dtype == AXLE_DTYPE_BF16);
    case AXLE_DTYPE_BOOL:
        return attrs->integer != 0;
    default:
        return (uint64_t)attrs->integer;
    }
}

int ocl_plan_fill(ocl_plan *plan)
{
    const axle_view *y = plan->out[0];
    ocl_map map;
    if (!ocl_is(y, OCL_ANY))
        return 0;
    map_same(&map, &y, 1);
    const int64_t n = ocl_map_count(&map);
    ocl_step_begin(plan, "prelude copy", "fill", items_of(plan, &map), local_of(plan, &map),
                   "-DTY=%s%s", ocl_bits(y), dense_option(plan, &map));
    ocl_put(plan, n);
    ocl_put(plan, (int64_t)fill_bits(&plan->attrs.fill, y->dtype));
    ocl_put_map(plan, &map);
    ocl_arg_out(plan, 0);
    return 1;
}

int ocl_plan_arange(ocl_plan *plan)
{
    const axle_view *y = plan->out[0];
    const axle_arange_attrs *attrs = &plan->attrs.arange;
    if (!ocl_is(y, OCL_NUMBERS) || y->rank > 1)
        return 0;
    ocl_step_begin(plan, "prelude copy", "arange", ocl_count(y), LOCAL, "-DTY=%s%s", ocl_dtype(y),
                   ocl_is(y, OCL_INTEGERS) ? " -DINTEGER" : "");
    ocl_put(plan, ocl_count(y));
    ocl_put(plan, to_integer(attrs->start));
    ocl_put(plan, to_integer(attrs->step));
    ocl_put(plan, y->rank ? y->stride[0] : 0);
    ocl_arg_out(plan, 0);
    ocl_arg_wide(plan, attrs->start);
    ocl_arg_wide(plan, attrs->step);
    return 1;
}

/* Runs of whole blocks of random numbers, the first of which may begin before the draw. */
static void begin_draw(ocl_plan *plan, const char *kernel, const ocl_map *map)
{
    const int64_t n = ocl_map_count(map), run = ocl_on_cpu(plan) ? CHUNK : RUN;
    ocl_step_begin(plan, "prelude draws random", kernel, n > 0 ? (n + RUN - 2) / run + 1 : 0,
                   ocl_on_cpu(plan) ? 1 : LOCAL, "-DTY=%s -DRUN=%d%s", ocl_dtype(plan->out[0]),
                   (int)run, is_dense(map) ? " -DDENSE" : "");
}

int ocl_plan_random(ocl_plan *plan)
{
    const axle_view *y = plan->out[0];
    const axle_random_attrs *attrs = &plan->attrs.random;
    ocl_map map;
    if (!ocl_is(y, OCL_FLOATS))
        return 0;
    map_same(&map, &y, 1);
    begin_draw(plan, "random", &map);
    ocl_put(plan, ocl_map_count(&map));
    ocl_put_map(plan, &map);
    ocl_arg_out(plan, 0);
    ocl_arg_real(plan, attrs->low);
    ocl_arg_real(plan, plan->real == AXLE_DTYPE_F64 ? attrs->high - attrs->low
                                                    : (float)attrs->high - (float)attrs->low);
    ocl_arg_random(plan);
    return 1;
}

/* u * 2^-24 >= p exactly where the integer u is at least this. */
static int64_t dropout_threshold(double p)
{
    return p > 0 ? (int64_t)ceil((p < 1 ? p : 1) * 0x1p24) : 0;
}

int ocl_plan_dropout(ocl_plan *plan)
{
    const axle_view *x = plan->in[0], *y = plan->out[0];
    const double p = plan->attrs.dropout.p;
    ocl_map map;
    if (!ocl_is(x, OCL_FLOATS) || !ocl_same(x, y) ||
        !map_same(&map, (const axle_view *[]){x, y}, 2))
        return 0;
    begin_draw(plan, "dropout", &map);
    ocl_put(plan, ocl_map_count(&map));
    ocl_put(plan, dropout_threshold(p));
    ocl_put_map(plan, &map);
    ocl_arg_in(plan, 0);
    ocl_arg_out(plan, 0);
    ocl_arg_wide(plan, 1 - p);
    ocl_arg_random(plan);
    return 1;
}

/* What is known of a kind: its name, and the letter of its list. */
typedef struct kind_row {
    const char *name;
    char letter;
} kind_row;

#define UNARY_ROW(number, name, text, saved) [number] = {#name, #saved[0]},
#define BINARY_ROW(number, name, text, result) [number] = {#name, #result[0]},
static const kind_row unary_kinds[AXLE_UNARY_LIMIT] = {AXLE_UNARY_LIST(UNARY_ROW)};
static const kind_row binary_kinds[AXLE_BINARY_LIMIT] = {AXLE_BINARY_LIST(BINARY_ROW)};

/* Kinds that take integers. */
#define BIT(name) | UINT64_C(1) << AXLE_UNARY_##name
static const uint64_t integer_unary = 0 BIT(NEG) BIT(ABS) BIT(SIGN) BIT(SQUARE) BIT(RELU) BIT(CLIP)
    BIT(AFFINE) BIT(FLOOR) BIT(CEIL) BIT(ROUND) BIT(TRUNC);
#undef BIT
#define BIT(name) | 1u << AXLE_BINARY_##name
static const uint32_t integer_binary = 0 BIT(ADD) BIT(SUB) BIT(MUL) BIT(DIV) BIT(POW) BIT(MAXIMUM)
    BIT(MINIMUM) BIT(REMAINDER) BIT(FMOD);
static const uint32_t boolean_binary = 0 BIT(MAXIMUM) BIT(MINIMUM);
#undef BIT

static const char *class_of(const axle_view *x, int truth)
{
    return truth ? "TRUTH_" : ocl_is(x, OCL_FLOATS) ? "FLOAT_" : "INTEGER_";
}

int ocl_plan_unary(ocl_plan *plan)
{
    const axle_unary_attrs *attrs = &plan->attrs.unary;
    const axle_view *x = plan->in[0], *y = plan->out[0];
    ocl_map map;
    if (attrs->kind == 0 || attrs->kind >= AXLE_UNARY_LIMIT || !ocl_is(x, OCL_ANY) || !y ||
        !map_same(&map, (const axle_view *[]){x, y}, 2))
        return 0;
    const kind_row *kind = &unary_kinds[attrs->kind];
    const int truth = kind->letter == 'B';
    if (y->dtype != (truth ? (uint32_t)AXLE_DTYPE_BOOL : x->dtype))
        return 0;
    if (!truth && !ocl_is(x, OCL_FLOATS) &&
        (!ocl_is(x, OCL_INTEGERS) || !(integer_unary >> attrs->kind & 1)))
        return 0;
    const int64_t n = ocl_map_count(&map);
    ocl_step_begin(plan, "prelude functions unary", "unary", items_of(plan, &map),
                   local_of(plan, &map), "-DTX=%s -DTY=%s -DCLASS=%s -DKIND=%s%s", ocl_dtype(x),
                   ocl_dtype(y), class_of(x, truth), kind->name, dense_option(plan, &map));
    ocl_put(plan, n);
    ocl_put(plan, to_integer(attrs->alpha));
    ocl_put(plan, to_integer(attrs->beta));
    ocl_put_map(plan, &map);
    ocl_arg_in(plan, 0);
    ocl_arg_out(plan, 0);
    ocl_arg_real(plan, attrs->alpha);
    ocl_arg_real(plan, attrs->beta);
    return 1;
}

int ocl_plan_unary_backward(ocl_plan *plan)
{
    const axle_unary_attrs *attrs = &plan->attrs.unary;
    const axle_view *dy = plan->in[0], *dx = plan->out[0];
    ocl_map map;
    if (attrs->kind == 0 || attrs->kind >= AXLE_UNARY_LIMIT || !ocl_is(dy, OCL_FLOATS) ||
        !ocl_same(dy, dx))
        return 0;
    const kind_row *kind = &unary_kinds[attrs->kind];
    const int needs = kind->letter == 'X' || kind->letter == 'Y';
    const axle_view *saved = needs ? plan->in[1] : NULL;
    if ((!needs && kind->letter != 'N') || (needs && !ocl_same(dy, saved)) ||
        !map_same(&map, (const axle_view *[]){dy, saved, dx}, 3))
        return 0;
    const int64_t n = ocl_map_count(&map);
    ocl_step_begin(plan, "prelude functions unary_backward", "unary_backward", items_of(plan, &map),
                   local_of(plan, &map), "-DTX=%s -DKIND=%s%s", ocl_dtype(dy), kind->name,
                   dense_option(plan, &map));
    ocl_put(plan, n);
    ocl_put(plan, needs);
    ocl_put_map(plan, &map);
    ocl_arg_in(plan, 0);
    ocl_arg_in(plan, 1);
    ocl_arg_out(plan, 0);
    ocl_arg_real(plan, attrs->alpha);
    ocl_arg_real(plan, attrs->beta);
    return 1;
}

static int binary_takes(uint32_t kind, const axle_view *x, int truth)
{
    if (truth || ocl_is(x, OCL_FLOATS))
        return 1;
    return (ocl_is(x, OCL_BOOLEANS) ? boolean_binary : integer_binary) >> kind & 1;
}

int ocl_plan_binary(ocl_plan *plan)
{
    const axle_binary_attrs *attrs = &plan->attrs.binary;
    const axle_view *a = plan->in[0], *b = plan->in[1], *y = plan->out[0];
    ocl_map map;
    if (attrs->kind == 0 || attrs->kind >= AXLE_BINARY_LIMIT || !ocl_is(a, OCL_ANY) ||
        !ocl_same(a, b) || !y || !map_same(&map, (const axle_view *[]){a, b, y}, 3))
        return 0;
    const kind_row *kind = &binary_kinds[attrs->kind];
    const int truth = kind->letter == 'B';
    if (y->dtype != (truth ? (uint32_t)AXLE_DTYPE_BOOL : a->dtype) ||
        !binary_takes(attrs->kind, a, truth))
        return 0;
    const int64_t n = ocl_map_count(&map);
    ocl_step_begin(plan, "prelude binary", "binary", items_of(plan, &map), local_of(plan, &map),
                   "-DTX=%s -DTY=%s -DCLASS=%s -DKIND=%s%s", ocl_dtype(a), ocl_dtype(y),
                   class_of(a, truth), kind->name, dense_option(plan, &map));
    ocl_put(plan, n);
    ocl_put(plan, to_integer(attrs->alpha));
    ocl_put_map(plan, &map);
    ocl_arg_in(plan, 0);
    ocl_arg_in(plan, 1);
    ocl_arg_out(plan, 0);
    ocl_arg_real(plan, attrs->alpha);
    return 1;
}
