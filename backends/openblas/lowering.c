/* SPDX-License-Identifier: Apache-2.0 */
#include "lowering.h"
#include "run.h"

#include <string.h>

/* A row of the column matrix: which channel and tap it is. */
typedef struct tap {
    int64_t channel;
    int64_t shift[CONV_AXES]; /* what a position's stride * index is moved by to give x's */
    int64_t first, last;      /* columns [first, last) of y meet x rather than padding */
} tap;

/* A piece of one row of y: `count` columns from `column` on. */
typedef struct line {
    int64_t sample, place[2]; /* on the two outer axes */
    int64_t column, count;
} line;

/* ceil(a / b), but 0 for negative ones. */
static int64_t first_at_least(int64_t a, int64_t b)
{
    return a <= 0 ? 0 : blas_ceil_div(a, b);
}

static tap tap_of(const conv_shape *s, int64_t row)
{
    tap t = {.channel = row / s->taps};
    int64_t rest = row % s->taps;
    for (int d = CONV_AXES; d-- > 0; rest /= s->axis[d].kernel) {
        const conv_axis *a = &s->axis[d];
        t.shift[d] = rest % a->kernel * a->dilation - a->pad;
    }
    const conv_axis *a = &s->axis[2];
    t.first = blas_least(first_at_least(-t.shift[2], a->stride), a->out);
    t.last = blas_least(first_at_least(a->in - t.shift[2], a->stride), a->out);
    t.last = blas_most(t.first, t.last);
    return t;
}

static line line_at(const conv_shape *s, int64_t q, int64_t end)
{
    const int64_t columns = s->axis[2].out, rows = s->axis[1].out;
    const int64_t p = q % s->positions;
    line l = {.sample = q / s->positions,
              .place = {p / columns / rows, p / columns % rows},
              .column = p % columns};
    l.count = blas_least(columns - l.column, end - q);
    return l;
}

/* The line behind l, which ended where a row of y did. */
static void line_next(const conv_shape *s, line *l, int64_t left)
{
    l->column = 0;
    l->count = blas_least(s->axis[2].out, left);
    if (++l->place[1] < s->axis[1].out)
        return;
    l->place[1] = 0;
    if (++l->place[0] < s->axis[0].out)
        return;
    l->place[0] = 0;
    l->sample++;
}

/* Where on x's outer axes a line and a tap meet; 0: in the padding. */
static int meet(const conv_shape *s, const tap *t, const line *l, int64_t at[2])
{
    for (int d = 0; d < 2; d++) {
        const conv_axis *a = &s->axis[d];
        at[d] = l->place[d] * a->stride + t->shift[d];
        if (at[d] < 0 || at[d] >= a->in)
            return 0;
    }
    return 1;
}

/* ------------------------------------------------------------------ columns */

static void load_line(const conv_shape *s, const tap *t, const line *l, const void *x,
                      blas_load_fn load, void *to)
{
    const uint64_t size = blas_size(s->work);
    const int64_t end = l->column + l->count;
    const int64_t first = blas_least(blas_most(l->column, t->first), end);
    const int64_t last = blas_most(first, blas_least(end, t->last));
    int64_t at[2];
    if (first == last || !meet(s, t, l, at)) {
        memset(to, 0, (uint64_t)l->count * size);
        return;
    }
    const conv_axis *a = &s->axis[2];
    const int64_t from = l->sample * s->x_sample + t->channel * s->x_channel +
                         at[0] * s->axis[0].x + at[1] * s->axis[1].x +
                         (first * a->stride + t->shift[2]) * a->x;
    if (first > l->column)
        memset(to, 0, (uint64_t)(first - l->column) * size);
    load(blas_at(x, s->dtype, from), a->stride * a->x, last - first,
         blas_at(to, s->work, first - l->column));
    if (end > last)
        memset(blas_at(to, s->work, last - l->column), 0, (uint64_t)(end - last) * size);
}

void conv_columns_load(const conv_shape *s, const conv_block *b, const void *x, void *columns)
{
    const blas_load_fn load = blas_load(s->dtype, s->work);
    for (int64_t r = 0; r < b->rows; r++) {
        const tap t = tap_of(s, b->row + r);
        line l = line_at(s, b->first, b->first + b->count);
        for (int64_t done = 0; done < b->count; line_next(s, &l, b->count - done)) {
            load_line(s, &t, &l, x, load, blas_at(columns, s->work, r * b->count + done));
            done += l.count;
        }
    }
}

/* ------------------------------------------------------------------ planes */

static void add_f32(float *to, int64_t step, const float *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i * step] += from[i];
}

static void add_f64(double *to, int64_t step, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i * step] += from[i];
}

static void add_line(const conv_shape *s, const tap *t, const line *l, const void *from,
                     const conv_planes *planes)
{
    const int64_t end = l->column + l->count;
    const int64_t first = blas_most(l->column, t->first), last = blas_least(end, t->last);
    int64_t at[2];
    if (first >= last || !meet(s, t, l, at))
        return;
    const conv_axis *a = &s->axis[2];
    const int64_t plane =
        (l->sample - planes->sample) * planes->channels + t->channel - planes->channel;
    const int64_t to = plane * s->plane + (at[0] * s->axis[1].in + at[1]) * a->in +
                       first * a->stride + t->shift[2];
    const int64_t skipped = first - l->column;
    if (s->work == AXLE_DTYPE_F64)
        add_f64((double *)planes->data + to, a->stride, (const double *)from + skipped,
                last - first);
    else
        add_f32((float *)planes->data + to, a->stride, (const float *)from + skipped, last - first);
}

void conv_columns_add(const conv_shape *s, const conv_block *b, const void *columns,
                      const conv_planes *planes)
{
    for (int64_t r = 0; r < b->rows; r++) {
        const tap t = tap_of(s, b->row + r);
        line l = line_at(s, b->first, b->first + b->count);
        for (int64_t done = 0; done < b->count; line_next(s, &l, b->count - done)) {
            add_line(s, &t, &l, blas_at(columns, s->work, r * b->count + done), planes);
            done += l.count;
        }
    }
}

void conv_outputs_load(const conv_shape *s, int64_t first, int64_t count, const void *y, void *out)
{
    const blas_load_fn load = blas_load(s->dtype, s->work);
    const int64_t step = conv_run_step(s);
    for (int64_t o = 0; o < s->outputs; o++)
        for (int64_t done = 0; done < count;) {
            int64_t at;
            const int64_t run = conv_run(s, first + done, first + count, &at);
            load(blas_at(y, s->dtype, at + o * s->y_channel), step, run,
                 blas_at(out, s->work, o * count + done));
            done += run;
        }
}

/* ------------------------------------------------------------------ weights */

/* Where row `line` of w's innermost axis begins, in elements. */
static int64_t weights_at(const conv_shape *s, int64_t line)
{
    const int64_t k1 = line % s->axis[1].kernel, rest = line / s->axis[1].kernel;
    const int64_t k0 = rest % s->axis[0].kernel, channel = rest / s->axis[0].kernel;
    return k1 * s->axis[1].w + k0 * s->axis[0].w + channel % s->inputs * s->w_input +
           channel / s->inputs * s->w_output;
}

static int64_t weight_lines(const conv_shape *s)
{
    return s->groups * s->outputs * s->inputs * s->axis[0].kernel * s->axis[1].kernel;
}

void conv_weights_load(const conv_shape *s, const void *w, void *out)
{
    const blas_load_fn load = blas_load(s->dtype, s->work);
    const conv_axis *a = &s->axis[2];
    for (int64_t i = 0; i < weight_lines(s); i++)
        load(blas_at(w, s->dtype, weights_at(s, i)), a->w, a->kernel,
             blas_at(out, s->work, i * a->kernel));
}

void conv_weights_store(const conv_shape *s, const void *sums, void *w)
{
    const blas_finish finish = {.dtype = s->dtype, .work = s->work, .scale = 1};
    const conv_axis *a = &s->axis[2];
    for (int64_t i = 0; i < weight_lines(s); i++)
        blas_finish_run(&finish, blas_at(sums, s->work, i * a->kernel), NULL, 0,
                        blas_at(w, s->dtype, weights_at(s, i)), a->w, a->kernel);
}

int conv_weights_are_dense(const conv_shape *s)
{
    const int64_t channels = s->groups * s->outputs;
    const conv_axis *a = s->axis;
    if (s->dtype != s->work)
        return 0;
    return (a[2].kernel == 1 || a[2].w == 1) && (a[1].kernel == 1 || a[1].w == a[2].kernel) &&
           (a[0].kernel == 1 || a[0].w == a[1].kernel * a[2].kernel) &&
           (s->inputs == 1 || s->w_input == s->taps) && (channels == 1 || s->w_output == s->terms);
}
