/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over any set of dims: how they are cut, folded and combined. */
#include "reduction.h"

#include <math.h>
#include <string.h>

/* Elements of a part where there are few outputs; rows of a block whose moments are taken at once;
 * elements brought into the cache at a time; elements of a row folded by one call. */
enum { PART = 32768, MOMENT_ROWS = 32, STAGE = 1024, SEGMENT = 4096 };
/* Rows shorter than this cost more to begin than to fold. */
enum { SHORT_ROW = 32 };
/* Enough items to keep any number of cores busy. */
enum { ENOUGH_ITEMS = 64 };

/* ------------------------------------------------------------------ planning */

typedef struct any_dim {
    reduce_dim dim;
    int reduced;
} any_dim;

/* A repeated dim is no place to read memory along: it goes outside. */
static int64_t order_of(const any_dim *d)
{
    return d->dim.x == 0 ? INT64_MAX : d->dim.x;
}

static int32_t take_dims(any_dim *dims, uint32_t axes, const axle_view *x, const axle_view *dy,
                         const axle_view *y)
{
    int32_t n = 0;
    int64_t dense = 1;
    int64_t place[AXLE_MAX_RANK] = {0};
    for (uint32_t d = x->rank; d-- > 0;) {
        place[d] = (axes >> d & 1) ? 0 : dense;
        dense *= (axes >> d & 1) ? 1 : x->dim[d];
    }
    for (uint32_t d = 0; d < x->rank; d++) {
        if (x->dim[d] == 1)
            continue;
        dims[n++] = (any_dim){
            .dim = {x->dim[d], x->stride[d], dy ? dy->stride[d] : 0, y ? y->stride[d] : place[d]},
            .reduced = axes >> d & 1,
        };
    }
    return n;
}

static void sort_dims(any_dim *dims, int32_t n)
{
    for (int32_t i = 1; i < n; i++) {
        for (int32_t j = i; j > 0 && order_of(&dims[j - 1]) < order_of(&dims[j]); j--) {
            const any_dim kept = dims[j];
            dims[j] = dims[j - 1];
            dims[j - 1] = kept;
        }
    }
}

static int can_merge(const any_dim *outer, const any_dim *inner)
{
    const int64_t size = inner->dim.size;
    return outer->reduced == inner->reduced && outer->dim.x == inner->dim.x * size &&
           outer->dim.dy == inner->dim.dy * size &&
           (inner->reduced || outer->dim.y == inner->dim.y * size);
}

static int32_t merge_dims(any_dim *dims, int32_t n)
{
    int32_t last = 0;
    for (int32_t k = 1; k < n; k++) {
        if (can_merge(&dims[last], &dims[k])) {
            const int64_t size = dims[last].dim.size * dims[k].dim.size;
            dims[last] = dims[k];
            dims[last].dim.size = size;
        } else {
            dims[++last] = dims[k];
        }
    }
    return n > 0 ? last + 1 : 0;
}

/* Rows of a few elements are folded side by side: a kept dim comes inside of them. */
static void avoid_short_rows(any_dim *dims, int32_t n)
{
    if (n < 2 || !dims[n - 1].reduced || dims[n - 1].dim.size >= SHORT_ROW)
        return;
    for (int32_t k = n - 2; k >= 0; k--) {
        const any_dim kept = dims[k];
        if (kept.reduced || kept.dim.size < SHORT_ROW)
            continue;
        memmove(&dims[k], &dims[k + 1], sizeof(*dims) * (size_t)(n - 1 - k));
        dims[n - 1] = kept;
        return;
    }
}

static void split_dims(reduce_plan *plan, const any_dim *dims, int32_t n)
{
    plan->inner = (reduce_dim){1, 1, 1, 1};
    plan->columns = n > 0 && !dims[n - 1].reduced;
    if (n > 0)
        plan->inner = dims[n - 1].dim;
    plan->rows = plan->outer = 1;
    for (int32_t k = 0; k < n - 1; k++) {
        if (dims[k].reduced) {
            plan->reduced[plan->n_reduced++] = dims[k].dim;
            plan->rows *= dims[k].dim.size;
        } else {
            plan->kept[plan->n_kept++] = dims[k].dim;
            plan->outer *= dims[k].dim.size;
        }
    }
}

static void cut(reduce_plan *plan)
{
    const int64_t n = plan->inner.size;
    plan->tile = plan->columns ? cpu_min(n, REDUCE_TILE) : 1;
    plan->tiles = plan->columns ? cpu_ceil_div(n, plan->tile > 0 ? plan->tile : 1) : 1;
    plan->reduced_count = plan->rows * (plan->columns ? 1 : n);
    const int64_t outputs = plan->outer * plan->tiles;
    const int64_t elements = plan->reduced_count * plan->tile;
    plan->parts = 1;
    if (outputs < ENOUGH_ITEMS && elements > PART)
        plan->parts = cpu_min(cpu_ceil_div(elements, PART), ENOUGH_ITEMS);
    plan->items = outputs * plan->parts;
    plan->work = plan->outer * plan->rows * n;
}

static int is_native(uint32_t dtype)
{
    return dtype == AXLE_DTYPE_F32 || dtype == AXLE_DTYPE_F64 || dtype == AXLE_DTYPE_I64;
}

static load_loop load_of(const cpu_loops *loops, uint32_t dtype)
{
    return is_native(dtype) ? loops->convert->load_raw[cpu_dtype_log2(dtype)]
                            : loops->convert->load[dtype];
}

void reduce_plan_init(reduce_plan *plan, const cpu_loops *loops, int form, uint32_t kind,
                      double parameter, uint32_t axes, const axle_view *x, const axle_view *dy,
                      const axle_view *y)
{
    any_dim dims[AXLE_MAX_RANK];
    memset(plan, 0, sizeof(*plan));
    plan->loops = loops;
    plan->form = form;
    plan->kind = kind;
    plan->parameter = parameter;
    plan->domain = cpu_dtype_domain(x->dtype);
    plan->y_dtype = y ? y->dtype : (uint32_t)AXLE_DTYPE_F64;
    plan->x_size = cpu_dtype_size(x->dtype);
    plan->x_native = is_native(x->dtype);
    plan->load_x = load_of(loops, x->dtype);
    if (dy) {
        plan->dy_size = cpu_dtype_size(dy->dtype);
        plan->dy_native = is_native(dy->dtype);
        plan->load_dy = load_of(loops, dy->dtype);
    }
    int32_t n = take_dims(dims, axes, x, dy, y);
    sort_dims(dims, n);
    n = merge_dims(dims, n);
    avoid_short_rows(dims, n);
    split_dims(plan, dims, n);
    cut(plan);
}

/* ------------------------------------------------------------------ states */

/* What an item has folded so far: one or two accumulators for each of its columns. Integers use the
 * same storage as i64. */
typedef struct reduce_state {
    double count; /* elements behind each column; kept for moments alone */
    double acc[2 * REDUCE_TILE];
} reduce_state;

static int is_moments(const reduce_plan *plan)
{
    return plan->form == REDUCE_MOMENTS ||
           (plan->form == REDUCE_VALUES && plan->kind == AXLE_REDUCE_VAR);
}

static int64_t accumulators(const reduce_plan *plan)
{
    return is_moments(plan) || plan->form == REDUCE_PAIRS ? 2 : 1;
}

/* Partial states are stored with as many columns as a tile has. */
static size_t state_size(const reduce_plan *plan)
{
    return cpu_round_up(sizeof(double) * (size_t)(1 + accumulators(plan) * plan->tile), CPU_LINE);
}

size_t reduce_plan_workspace(const reduce_plan *plan)
{
    return plan->parts > 1 ? state_size(plan) * (size_t)plan->items : 0;
}

typedef union reduce_value {
    double real;
    int64_t integer;
} reduce_value;

/* The largest and smallest values of the integers; booleans have none. */
static int64_t integer_limit(uint32_t dtype, int largest)
{
    if (dtype == AXLE_DTYPE_U8)
        return largest ? UINT8_MAX : 0;
    if (dtype == AXLE_DTYPE_I32)
        return largest ? INT32_MAX : INT32_MIN;
    return largest ? INT64_MAX : INT64_MIN;
}

/* What folding nothing gives. */
static reduce_value identity(const reduce_plan *plan)
{
    const int extreme = plan->kind == AXLE_REDUCE_MAX || plan->kind == AXLE_REDUCE_MIN;
    const int one = plan->kind == AXLE_REDUCE_PROD || plan->kind == AXLE_REDUCE_ALL;
    const int largest = plan->kind == AXLE_REDUCE_MIN;
    if (plan->form != REDUCE_VALUES)
        return (reduce_value){.real = 0};
    if (plan->domain == DOMAIN_I64)
        return (reduce_value){.integer = extreme ? integer_limit(plan->y_dtype, largest) : one};
    return (reduce_value){.real = extreme ? (largest ? INFINITY : -INFINITY) : one};
}

static void state_start(const reduce_plan *plan, reduce_state *state, int64_t columns)
{
    const reduce_value value = identity(plan);
    state->count = 0;
    for (int64_t k = 0; k < accumulators(plan) * columns; k++)
        memcpy(&state->acc[k], &value, sizeof(value));
}

/* Moments of two sets of elements make those of both (Chan, Golub, LeVeque, 1979). */
static void join_moments(double *mean, double *spread, double count, double mean2, double spread2,
                         double count2)
{
    const double total = count + count2;
    if (count2 == 0)
        return;
    const double shift = mean2 - *mean;
    *mean += shift * (count2 / total);
    *spread += spread2 + shift * shift * (count * count2 / total);
}

/* Add the columns of `from`, which begin at `first` of it, to those of `to`. */
static void state_join(const reduce_plan *plan, reduce_state *to, int64_t columns,
                       const reduce_state *from, int64_t first, int64_t stride)
{
    if (is_moments(plan)) {
        for (int64_t k = 0; k < columns; k++)
            join_moments(&to->acc[k], &to->acc[columns + k], to->count, from->acc[first + k],
                         from->acc[first + stride + k], from->count);
        to->count += from->count;
        return;
    }
    /* A state is one row of accumulators to the loop that folds them; NORM kinds add up. */
    static const unsigned char as[AXLE_REDUCE_LIMIT] = {
        [AXLE_REDUCE_PROD] = AXLE_REDUCE_PROD, [AXLE_REDUCE_MAX] = AXLE_REDUCE_MAX,
        [AXLE_REDUCE_MIN] = AXLE_REDUCE_MIN,   [AXLE_REDUCE_ANY] = AXLE_REDUCE_ANY,
        [AXLE_REDUCE_ALL] = AXLE_REDUCE_ALL,
    };
    const uint32_t kind =
        plan->form == REDUCE_VALUES && as[plan->kind] ? as[plan->kind] : AXLE_REDUCE_SUM;
    const int32_t domain = plan->domain == DOMAIN_I64 ? DOMAIN_I64 : DOMAIN_F64;
    const reduce_cols fold = plan->loops->reduce->cols[domain][kind];
    for (int64_t a = 0; a < accumulators(plan); a++)
        fold(from->acc + first + a * stride, columns, 1, columns, NULL, to->acc + a * columns);
}

/* ------------------------------------------------------------------ folding */

typedef struct reduce_call {
    const reduce_plan *plan;
    const reduce_arrays *arrays;
    unsigned char *partial;
} reduce_call;

/* One item under way: where its elements begin and the means of its columns. */
typedef struct reduce_item {
    const reduce_plan *plan;
    const unsigned char *x, *dy;
    int64_t columns;
    double mean[REDUCE_TILE];
    reduce_state state;
    /* Columns repeated `fold` times, where several short rows make one row for the loops. */
    int64_t fold;
    reduce_state folded;
    double repeated_mean[REDUCE_TILE];
    _Alignas(CPU_LINE) unsigned char stage_x[STAGE * 8];
    _Alignas(CPU_LINE) unsigned char stage_dy[STAGE * 8];
} reduce_item;

static void fold_moments(const reduce_plan *plan, reduce_state *state, const void *x, int64_t ld,
                         int64_t rows, int64_t columns)
{
    double mean[REDUCE_TILE], spread[REDUCE_TILE];
    for (int64_t r = 0; r < rows; r += MOMENT_ROWS) {
        const int64_t n = cpu_min(rows - r, MOMENT_ROWS);
        const unsigned char *block =
            (const unsigned char *)x + r * ld * (plan->domain == DOMAIN_F64 ? 8 : 4);
        memset(mean, 0, sizeof(double) * (size_t)columns);
        memset(spread, 0, sizeof(double) * (size_t)columns);
        plan->loops->reduce->cols[plan->domain][AXLE_REDUCE_SUM](block, ld, n, columns, NULL, mean);
        for (int64_t k = 0; k < columns; k++)
            mean[k] /= (double)n;
        plan->loops->reduce->cols[plan->domain][REDUCE_SPREAD](block, ld, n, columns, mean, spread);
        for (int64_t k = 0; k < columns; k++)
            join_moments(&state->acc[k], &state->acc[columns + k], state->count, mean[k], spread[k],
                         (double)n);
        state->count += (double)n;
    }
}

static void fold_into(const reduce_item *item, reduce_state *state, const double *mean,
                      const void *x, int64_t ldx, const void *dy, int64_t ldy, int64_t rows,
                      int64_t columns)
{
    const reduce_plan *plan = item->plan;
    if (plan->form == REDUCE_PAIRS)
        plan->loops->reduce->pair_cols(x, ldx, dy, ldy, rows, columns, mean, state->acc);
    else if (is_moments(plan))
        fold_moments(plan, state, x, ldx, rows, columns);
    else
        plan->loops->reduce->cols[plan->domain][plan->kind](x, ldx, rows, columns, NULL,
                                                            state->acc);
}

/* Rows of columns, `ld` apart. Dense short rows are taken several at a time. */
static void fold_columns(reduce_item *item, const void *x, int64_t ldx, const void *dy, int64_t ldy,
                         int64_t rows)
{
    const reduce_plan *plan = item->plan;
    const int64_t columns = item->columns, width = plan->domain == DOMAIN_F32 ? 4 : 8;
    const int dense = ldx == columns && (plan->form != REDUCE_PAIRS || ldy == columns);
    if (item->fold > 1 && dense) {
        const int64_t blocks = rows / item->fold, wide = columns * item->fold;
        fold_into(item, &item->folded, item->repeated_mean, x, wide, dy, wide, blocks, wide);
        x = (const unsigned char *)x + blocks * wide * width;
        dy = dy ? (const unsigned char *)dy + blocks * wide * width : NULL;
        rows -= blocks * item->fold;
    }
    if (rows > 0)
        fold_into(item, &item->state, item->mean, x, ldx, dy, ldy, rows, columns);
}

static void fold_row_segment(reduce_item *item, const void *x, const void *dy, int64_t n)
{
    const reduce_plan *plan = item->plan;
    const struct reduce_loops *loops = plan->loops->reduce;
    double mean = 0, spread = 0;
    if (plan->form == REDUCE_PAIRS) {
        loops->pair_row(x, dy, n, item->mean[0], item->state.acc);
    } else if (is_moments(plan)) {
        loops->row[plan->domain][AXLE_REDUCE_SUM](x, n, NULL, &mean);
        mean /= (double)n;
        loops->row[plan->domain][REDUCE_SPREAD](x, n, &mean, &spread);
        join_moments(&item->state.acc[0], &item->state.acc[1], item->state.count, mean, spread,
                     (double)n);
        item->state.count += (double)n;
    } else {
        loops->row[plan->domain][plan->kind](x, n, NULL, item->state.acc);
    }
}

/* Elements [begin, end) of a row that starts at x. */
static void fold_row(reduce_item *item, const unsigned char *x, const unsigned char *dy,
                     int64_t begin, int64_t end)
{
    const reduce_plan *plan = item->plan;
    const reduce_dim *inner = &plan->inner;
    const int x_direct = plan->x_native && (inner->x == 1 || end - begin == 1);
    const int dy_direct = !dy || (plan->dy_native && (inner->dy == 1 || end - begin == 1));
    const int64_t step = x_direct && dy_direct ? SEGMENT : STAGE;
    for (int64_t i = begin; i < end; i += step) {
        const int64_t n = cpu_min(end - i, step);
        const void *xs = x + i * inner->x * plan->x_size;
        const void *ds = dy ? dy + i * inner->dy * plan->dy_size : NULL;
        if (!x_direct) {
            plan->load_x(xs, inner->x, item->stage_x, n);
            xs = item->stage_x;
        }
        if (!dy_direct) {
            plan->load_dy(ds, inner->dy, item->stage_dy, n);
            ds = item->stage_dy;
        }
        fold_row_segment(item, xs, ds, n);
    }
}

static int64_t bring_rows(load_loop load, int64_t stride, int64_t row_step, int64_t width,
                          const unsigned char *from, unsigned char *to, int64_t rows,
                          int64_t columns)
{
    for (int64_t r = 0; r < rows; r++)
        load(from + r * row_step, stride, to + r * columns * width, columns);
    return columns;
}

/* `rows` rows that follow each other along the innermost reduced dim. */
static void fold_run(reduce_item *item, const unsigned char *x, const unsigned char *dy,
                     const reduce_dim *along, int64_t rows)
{
    const reduce_plan *plan = item->plan;
    const int64_t columns = item->columns, width = plan->domain == DOMAIN_F32 ? 4 : 8;
    const int x_direct = plan->x_native && (plan->inner.x == 1 || columns == 1);
    const int dy_direct = !dy || (plan->dy_native && (plan->inner.dy == 1 || columns == 1));
    const int64_t step = x_direct && dy_direct ? rows : cpu_min(rows, STAGE / columns);
    for (int64_t r = 0; r < rows; r += step) {
        const int64_t n = cpu_min(rows - r, step);
        const unsigned char *xs = x + r * along->x * plan->x_size;
        const unsigned char *ds = dy ? dy + r * along->dy * plan->dy_size : NULL;
        int64_t ldx = along->x, ldy = along->dy;
        if (!x_direct) {
            ldx = bring_rows(plan->load_x, plan->inner.x, along->x * plan->x_size, width, xs,
                             item->stage_x, n, columns);
            xs = item->stage_x;
        }
        if (!dy_direct) {
            ldy = bring_rows(plan->load_dy, plan->inner.dy, along->dy * plan->dy_size, width, ds,
                             item->stage_dy, n, columns);
            ds = item->stage_dy;
        }
        fold_columns(item, xs, ldx, ds, ldy, n);
    }
}

/* Offsets in x and dy of combination `index` of a list of dims. */
static void locate(const reduce_dim *dims, int32_t n, int64_t index, int64_t *x, int64_t *dy,
                   int64_t *y)
{
    for (int32_t k = n - 1; k >= 0; k--) {
        const int64_t i = index % dims[k].size;
        index /= dims[k].size;
        *x += i * dims[k].x;
        *dy += i * dims[k].dy;
        *y += i * dims[k].y;
    }
}

/* Rows [begin, end) of the item's elements. */
static void fold_rows(reduce_item *item, int64_t begin, int64_t end)
{
    const reduce_plan *plan = item->plan;
    static const reduce_dim none = {.size = 1};
    const reduce_dim *along = plan->n_reduced > 0 ? &plan->reduced[plan->n_reduced - 1] : &none;
    for (int64_t r = begin; r < end;) {
        const int64_t run = cpu_min(end - r, along->size - r % along->size);
        int64_t x = 0, dy = 0, y = 0;
        locate(plan->reduced, plan->n_reduced, r, &x, &dy, &y);
        fold_run(item, item->x + x * plan->x_size, item->dy ? item->dy + dy * plan->dy_size : NULL,
                 along, run);
        r += run;
    }
}

/* Elements [begin, end) of the item's one output. */
static void fold_elements(reduce_item *item, int64_t begin, int64_t end)
{
    const reduce_plan *plan = item->plan;
    const int64_t n = plan->inner.size;
    for (int64_t i = begin; i < end;) {
        const int64_t start = i % n, count = cpu_min(end - i, n - start);
        int64_t x = 0, dy = 0, y = 0;
        locate(plan->reduced, plan->n_reduced, i / n, &x, &dy, &y);
        fold_row(item, item->x + x * plan->x_size, item->dy ? item->dy + dy * plan->dy_size : NULL,
                 start, start + count);
        i += count;
    }
}

/* ------------------------------------------------------------------ results */

static double finish(const reduce_plan *plan, double value)
{
    const double n = (double)plan->reduced_count;
    if (plan->form == REDUCE_VALUES && plan->kind == AXLE_REDUCE_MEAN)
        return value / n;
    if (plan->form == REDUCE_VALUES && plan->kind == AXLE_REDUCE_NORM2)
        return sqrt(value);
    return value;
}

static double variance(const reduce_plan *plan, double spread)
{
    const double freedom = (double)plan->reduced_count - plan->parameter;
    return plan->reduced_count == 0 ? (double)NAN : spread / (freedom > 0 ? freedom : 0);
}

static void store_values(const reduce_plan *plan, const reduce_state *state, int64_t columns,
                         unsigned char *out)
{
    _Alignas(CPU_LINE) unsigned char dense[REDUCE_TILE * 8];
    double values[REDUCE_TILE];
    const void *from = state->acc;
    if (plan->domain != DOMAIN_I64) {
        for (int64_t k = 0; k < columns; k++)
            values[k] = is_moments(plan) ? variance(plan, state->acc[columns + k])
                                         : finish(plan, state->acc[k]);
        from = values;
    }
    const struct convert_loops *convert = plan->loops->convert;
    const uint32_t wide =
        plan->domain == DOMAIN_I64 ? (uint32_t)AXLE_DTYPE_I64 : (uint32_t)AXLE_DTYPE_F64;
    convert->cast[wide][plan->y_dtype](&from, dense, columns, NULL);
    convert->store_raw[cpu_dtype_log2(plan->y_dtype)](dense, out, plan->inner.y, columns);
}

static void store_pair(const reduce_plan *plan, const reduce_state *state, int64_t columns,
                       double *first, double *second)
{
    for (int64_t k = 0; k < columns; k++) {
        first[k * plan->inner.y] = state->acc[k];
        second[k * plan->inner.y] = state->acc[columns + k];
    }
}

typedef struct reduce_place {
    int64_t x, dy, y, columns, part;
} reduce_place;

static reduce_place place_of(const reduce_plan *plan, int64_t item)
{
    reduce_place place = {.part = item % plan->parts};
    const int64_t tile = item / plan->parts % plan->tiles;
    const int64_t first = tile * plan->tile;
    locate(plan->kept, plan->n_kept, item / plan->parts / plan->tiles, &place.x, &place.dy,
           &place.y);
    place.columns = 1;
    if (plan->columns) {
        place.columns = cpu_min(plan->tile, plan->inner.size - first);
        place.x += first * plan->inner.x;
        place.dy += first * plan->inner.dy;
        place.y += first * plan->inner.y;
    }
    return place;
}

static void store(const reduce_call *call, const reduce_place *place, const reduce_state *state)
{
    const reduce_plan *plan = call->plan;
    const reduce_arrays *arrays = call->arrays;
    if (plan->form == REDUCE_VALUES)
        store_values(plan, state, place->columns,
                     (unsigned char *)arrays->out + place->y * cpu_dtype_size(plan->y_dtype));
    else
        store_pair(plan, state, place->columns, (double *)arrays->out + place->y,
                   arrays->second + place->y);
}

/* ------------------------------------------------------------------ running */

/* How many rows of the item are worth taking as one. */
static int64_t fold_factor(const reduce_plan *plan, int64_t columns)
{
    return plan->columns && columns <= REDUCE_TILE / 4 ? REDUCE_TILE / columns : 1;
}

static void begin_item(reduce_item *item, const reduce_call *call, const reduce_place *place)
{
    const reduce_plan *plan = call->plan;
    item->plan = plan;
    item->columns = place->columns;
    item->x = (const unsigned char *)call->arrays->x + place->x * plan->x_size;
    item->dy = NULL;
    if (plan->form == REDUCE_PAIRS) {
        item->dy = (const unsigned char *)call->arrays->dy + place->dy * plan->dy_size;
        for (int64_t k = 0; k < place->columns; k++)
            item->mean[k] = call->arrays->mean[place->y + k * plan->inner.y];
    }
    item->fold = fold_factor(plan, place->columns);
    state_start(plan, &item->state, place->columns);
    if (item->fold > 1) {
        state_start(plan, &item->folded, place->columns * item->fold);
        for (int64_t k = 0; item->dy && k < item->fold * place->columns; k++)
            item->repeated_mean[k] = item->mean[k % place->columns];
    }
}

static void fold_item(reduce_item *item, int64_t part)
{
    const reduce_plan *plan = item->plan;
    const int64_t units = plan->columns ? plan->rows : plan->reduced_count;
    const int64_t begin = units * part / plan->parts, end = units * (part + 1) / plan->parts;
    if (plan->columns)
        fold_rows(item, begin, end);
    else
        fold_elements(item, begin, end);
    for (int64_t k = 0; item->fold > 1 && k < item->fold; k++)
        state_join(plan, &item->state, item->columns, &item->folded, k * item->columns,
                   item->fold * item->columns);
}

/* A state in the workspace is its count and its accumulators, those of the second kind right after
 * those of the first. */
static void save_state(const reduce_call *call, int64_t index, const reduce_state *state,
                       int64_t columns)
{
    memcpy(call->partial + (size_t)index * state_size(call->plan), state,
           sizeof(double) * (size_t)(1 + accumulators(call->plan) * columns));
}

static void load_state(const reduce_call *call, int64_t index, reduce_state *state, int64_t columns)
{
    memcpy(state, call->partial + (size_t)index * state_size(call->plan),
           sizeof(double) * (size_t)(1 + accumulators(call->plan) * columns));
}

static void run_items(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const reduce_call *call = arg;
    reduce_item item;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const reduce_place place = place_of(call->plan, i);
        begin_item(&item, call, &place);
        fold_item(&item, place.part);
        if (call->plan->parts > 1)
            save_state(call, i, &item.state, place.columns);
        else
            store(call, &place, &item.state);
    }
}

static void combine_parts(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const reduce_call *call = arg;
    const reduce_plan *plan = call->plan;
    reduce_state total, part;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const reduce_place place = place_of(plan, i * plan->parts);
        load_state(call, i * plan->parts, &total, place.columns);
        for (int64_t k = 1; k < plan->parts; k++) {
            load_state(call, i * plan->parts + k, &part, place.columns);
            state_join(plan, &total, place.columns, &part, 0, place.columns);
        }
        store(call, &place, &total);
    }
}

void reduce_plan_run(const reduce_plan *plan, const reduce_arrays *arrays, void *workspace)
{
    reduce_call call = {.plan = plan, .arrays = arrays, .partial = workspace};
    cpu_parallel(plan->items, plan->work, run_items, &call);
    if (plan->parts > 1)
        cpu_parallel(plan->items / plan->parts, plan->items * plan->tile, combine_parts, &call);
}
