/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions for CPU devices that read what they multiply in place, from padded copies of the
 * input that are small enough for a cache (kernels/flat.cl).
 */
#include "conv.h"
#include "product.h"

#include <string.h>

enum {
    SPATIAL = AXLE_MAX_SPATIAL,
    LOCAL = 64,
    ITEM = 512,
    MOST_ROWS = 8,
    WEIGHT_ROWS = 4,
    WEIGHT_TAPS = 5
};

/* Fewer terms are not worth the copies; offsets and items are 32-bit numbers. */
enum { LEAST_TERMS = 4096, MOST_TAPS = 400, MOST = 1 << 30 };

/* Planes that a tensor is spread out to. */
typedef struct planes {
    const axle_view *view;
    int64_t phases[SPATIAL], size[SPATIAL], elements, sample;
    int64_t step[SPATIAL], pad[SPATIAL];
    uint64_t work;
} planes;

typedef struct flat {
    const conv *c;
    const axle_view *grid, *read; /* positions are those of `grid`, `read` is spread out */
    int64_t m, channels, taps, positions;
    int64_t stride[SPATIAL], dilation[SPATIAL], kernel[SPATIAL];
    int64_t offset[MOST_TAPS];
    planes in;
} flat;

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

static int64_t blocks(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/* Kernels read two vectors at once. */
static int64_t lanes(const ocl_plan *plan)
{
    return ocl_panel_width(plan) / 2;
}

static void set_offsets(flat *f)
{
    const int64_t *phases = f->in.phases, *size = f->in.size;
    const int64_t plane = size[0] * size[1] * size[2];
    for (int64_t t = 0; t < f->taps; t++) {
        const int64_t at[SPATIAL] = {t / f->kernel[2] / f->kernel[1],
                                     t / f->kernel[2] % f->kernel[1], t % f->kernel[2]};
        int64_t phase = 0, place = 0;
        for (int d = 0; d < SPATIAL; d++) {
            const int64_t reach = at[d] * f->dilation[d];
            phase = phase * phases[d] + reach % f->stride[d];
            place = place * size[d] + reach / f->stride[d];
        }
        f->offset[t] = phase * plane + place;
    }
}

/* Fills what follows from grid, read and the attributes; 0 where other kernels are the better
 * choice. `turned`: the gradient of the input, whose taps are turned round. */
static int flat_fill(ocl_plan *plan, flat *f, int turned)
{
    const axle_conv_attrs *attrs = &plan->attrs.conv;
    const axle_view *w = f->c->w;
    int64_t elements = 1, outputs = 1;
    f->taps = 1;
    f->positions = 0;
    for (int d = 0; d < SPATIAL; d++) {
        const int64_t reach = (spatial(w, d) - 1) * attribute(attrs, attrs->dilation, d, 1);
        const int64_t pad = attribute(attrs, attrs->pad, d, 0);
        f->kernel[d] = spatial(w, d);
        f->stride[d] = attribute(attrs, attrs->stride, d, 1);
        f->dilation[d] = attribute(attrs, attrs->dilation, d, 1);
        if (f->kernel[d] > MOST_TAPS || reach > MOST || (turned && f->stride[d] != 1))
            return 0;
        f->in.phases[d] = f->stride[d] < reach + 1 ? f->stride[d] : reach + 1;
        f->in.size[d] = spatial(f->grid, d) + reach / f->stride[d];
        f->in.step[d] = f->stride[d];
        f->in.pad[d] = turned ? reach - pad : pad;
        elements *= f->in.phases[d] * f->in.size[d];
        outputs *= spatial(f->grid, d);
        f->taps *= f->kernel[d];
        f->positions = f->positions * f->in.size[d] + spatial(f->grid, d) - 1;
        if (elements > MOST || f->taps > MOST_TAPS)
            return 0;
    }
    f->positions++;
    const int64_t terms = f->grid->dim[0] * outputs * f->m * f->channels * f->taps * f->c->groups;
    if (!ocl_on_cpu(plan) || terms < LEAST_TERMS ||
        f->read->dim[0] * f->read->dim[1] * elements > MOST)
        return 0;
    ocl_product_widen(plan, terms);
    f->in.elements = blocks(elements, lanes(plan)) * lanes(plan);
    set_offsets(f);
    return blocks(f->positions, 2 * lanes(plan)) * 2 * lanes(plan) <= 2 * outputs;
}

static void begin(ocl_plan *plan, const flat *f, const char *kernel, int64_t items, int64_t rows,
                  uint32_t local)
{
    ocl_step_begin(plan, "prelude functions vectors flat", kernel, items, local,
                   "-DTX=%s -DROWS=%d -DACTIVATION=%s", ocl_dtype(f->read), (int)rows,
                   ocl_activation(plan->attrs.conv.activation));
}

static void put_all(ocl_plan *plan, const int64_t *numbers, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        ocl_put(plan, numbers[k]);
}

/* Room for what a view is spread out to, with vectors that begin in its last element. */
static void take_work(ocl_plan *plan, planes *p, const axle_view *view)
{
    p->view = view;
    p->sample = p->elements * view->dim[1] + 2 * lanes(plan);
    p->work = ocl_work(plan, p->sample * view->dim[0], ocl_real_size(plan));
}

static int64_t rows_of_planes(const planes *p)
{
    return p->phases[0] * p->phases[1] * p->phases[2] * p->size[0] * p->size[1];
}

static void put_spread(ocl_plan *plan, const planes *p)
{
    ocl_put(plan, p->view->dim[0] * p->view->dim[1]);
    ocl_put(plan, p->view->dim[1]);
    put_all(plan, p->phases, SPATIAL);
    put_all(plan, p->size, SPATIAL);
    ocl_put(plan, p->elements);
    put_all(plan, p->step, SPATIAL);
    put_all(plan, p->pad, SPATIAL);
    for (int d = 0; d < SPATIAL; d++)
        ocl_put(plan, spatial(p->view, d));
    ocl_put(plan, p->view->stride[0]);
    ocl_put(plan, p->view->stride[1]);
    for (int d = 0; d < SPATIAL; d++)
        ocl_put(plan, spatial_stride(p->view, d));
    ocl_put(plan, p->sample);
    ocl_put(plan, ITEM / p->size[2] + 1);
}

static void step_spread(ocl_plan *plan, const planes *p, uint32_t operand)
{
    const int64_t images = p->view->dim[0] * p->view->dim[1];
    ocl_step_begin(plan, "prelude functions vectors flat", "spread",
                   images * blocks(rows_of_planes(p), ITEM / p->size[2] + 1), 1, "-DTX=%s",
                   ocl_dtype(p->view));
    put_spread(plan, p);
    ocl_arg_in(plan, operand);
    ocl_arg_work(plan, p->work, ocl_real_size(plan));
}

/* Rows of a block: as many as leave the fewest unused. */
static int64_t rows_of(int64_t m, int64_t most)
{
    return m > 0 ? blocks(m, blocks(m, most)) : 1;
}

/* w in the order in which the product reads it: its offset in the workspace. */
static uint64_t step_weights(ocl_plan *plan, const flat *f, int turned)
{
    const axle_view *w = f->c->w;
    const int64_t rows = rows_of(f->m, MOST_ROWS), groups = f->c->groups;
    const int64_t items = groups * blocks(f->m, rows) * f->channels * f->taps;
    const int64_t numbers[] = {groups,
                               f->m,
                               f->channels,
                               f->taps,
                               f->kernel[1],
                               f->kernel[2],
                               turned,
                               f->c->outputs * w->stride[0],
                               w->stride[turned],
                               w->stride[!turned],
                               spatial_stride(w, 0),
                               spatial_stride(w, 1),
                               spatial_stride(w, 2)};
    const uint64_t work = ocl_work(plan, items * rows, ocl_real_size(plan));
    begin(plan, f, "turn_weights", items, rows, LOCAL);
    put_all(plan, numbers, sizeof(numbers) / sizeof(numbers[0]));
    ocl_arg_in(plan, 1);
    ocl_arg_work(plan, work, ocl_real_size(plan));
    return work;
}

/* Whether there are samples enough that each work-item spreads out its own. */
static int by_samples(const ocl_plan *plan, int64_t samples)
{
    return samples >= 2 * (int64_t)plan->device->about.units;
}

static int64_t samples_of_item(const ocl_plan *plan, int64_t samples)
{
    return blocks(samples, ocl_busy(plan));
}

static void step_product(ocl_plan *plan, const flat *f, uint64_t weights)
{
    const axle_view *y = f->grid, *bias = f->c->bias;
    const int64_t rows = rows_of(f->m, MOST_ROWS), width = 2 * lanes(plan), samples = y->dim[0];
    const int64_t tiles = f->c->groups * blocks(f->m, rows) * blocks(f->positions, width);
    const int64_t head[] = {samples, f->c->groups, f->m, f->channels, f->taps, f->positions};
    const int64_t each = samples_of_item(plan, samples);
    const int fused = by_samples(plan, samples);
    begin(plan, f, fused ? "flat_samples" : "flat_product",
          fused ? blocks(samples, each) : samples * tiles, rows, 1);
    put_spread(plan, &f->in);
    put_all(plan, head, sizeof(head) / sizeof(head[0]));
    for (int d = 0; d < SPATIAL; d++)
        ocl_put(plan, spatial(y, d));
    put_all(plan, f->in.size, SPATIAL);
    ocl_put(plan, f->in.elements);
    ocl_put(plan, f->in.sample);
    ocl_put(plan, y->stride[0]);
    ocl_put(plan, y->stride[1]);
    for (int d = 0; d < SPATIAL; d++)
        ocl_put(plan, spatial_stride(y, d));
    ocl_put(plan, bias != NULL);
    ocl_put(plan, bias ? bias->stride[0] : 0);
    ocl_put(plan, each);
    put_all(plan, f->offset, f->taps);
    if (fused)
        ocl_arg_in(plan, 0);
    ocl_arg_work(plan, weights, ocl_real_size(plan));
    ocl_arg_work(plan, f->in.work, ocl_real_size(plan));
    ocl_arg_in(plan, 2);
    ocl_arg_out(plan, 0);
}

static int product(ocl_plan *plan, flat *f, int turned, const char *impl)
{
    const uint32_t real = plan->real;
    if (!flat_fill(plan, f, turned)) {
        plan->real = real;
        return 0;
    }
    take_work(plan, &f->in, f->read);
    if (!by_samples(plan, f->grid->dim[0]))
        step_spread(plan, &f->in, 0);
    const uint64_t weights = step_weights(plan, f, turned);
    step_product(plan, f, weights);
    plan->impl = impl;
    return 1;
}

int ocl_conv_flat(ocl_plan *plan, const conv *c)
{
    flat f = {.c = c, .grid = c->y, .read = c->x, .m = c->outputs, .channels = c->inputs};
    return product(plan, &f, 0, "conv_flat");
}

int ocl_conv_data_flat(ocl_plan *plan, const conv *c)
{
    flat f = {.c = c, .grid = c->x, .read = c->y, .m = c->inputs, .channels = c->outputs};
    return product(plan, &f, 1, "conv_backward_data_flat");
}

/* dy in rows as long as those of x's planes, so that one position serves both. */
static planes gradient_planes(const ocl_plan *plan, const flat *f)
{
    planes p = {.phases = {1, 1, 1}, .step = {1, 1, 1}};
    p.size[0] = spatial(f->c->y, 0);
    p.size[1] = p.size[0] == 1 ? spatial(f->c->y, 1) : f->in.size[1];
    p.size[2] = f->in.size[2];
    p.elements = blocks(p.size[0] * p.size[1] * p.size[2], lanes(plan)) * lanes(plan);
    return p;
}

/* Chunks of samples: as many as keep the device busy. */
static int64_t chunks_of(const ocl_plan *plan, const flat *f, int64_t tiles)
{
    const int64_t samples = f->c->samples;
    const int64_t wanted =
        by_samples(plan, samples) ? ocl_busy(plan) : blocks(ocl_busy(plan), tiles);
    const int64_t chunks = wanted < samples ? wanted : samples;
    return blocks(samples, blocks(samples, chunks));
}

static void step_pieces(ocl_plan *plan, const flat *f, const planes *dy, int64_t tiles,
                        int64_t chunks, uint64_t pieces)
{
    const int64_t samples = f->c->samples;
    const int64_t numbers[] = {
        samples,      f->c->groups,   f->m,
        f->channels,  f->taps,        blocks(f->positions, lanes(plan)) * lanes(plan),
        dy->elements, f->in.elements, dy->sample,
        f->in.sample, chunks,         blocks(samples, chunks)};
    const int fused = by_samples(plan, samples);
    ocl_step_begin(plan, "prelude functions vectors flat",
                   fused ? "flat_weight_samples" : "flat_weight", fused ? chunks : chunks * tiles,
                   1, "-DTX=%s -DROWS=%d -DTAPS=%d -DACTIVATION=NONE", ocl_dtype(f->read),
                   (int)rows_of(f->m, WEIGHT_ROWS), WEIGHT_TAPS);
    put_spread(plan, dy);
    put_spread(plan, &f->in);
    put_all(plan, numbers, sizeof(numbers) / sizeof(numbers[0]));
    put_all(plan, f->offset, f->taps);
    for (uint32_t k = 0; k < 2 && fused; k++)
        ocl_arg_in(plan, k);
    ocl_arg_work(plan, dy->work, ocl_real_size(plan));
    ocl_arg_work(plan, f->in.work, ocl_real_size(plan));
    ocl_arg_work(plan, pieces, ocl_real_size(plan));
}

int ocl_conv_weight_flat(ocl_plan *plan, const conv *c)
{
    flat f = {.c = c, .grid = c->y, .read = c->x, .m = c->outputs, .channels = c->inputs};
    const uint32_t real = plan->real;
    if (c->samples == 0 || !flat_fill(plan, &f, 0)) {
        plan->real = real;
        return 0;
    }
    planes dy = gradient_planes(plan, &f);
    const int64_t count = c->groups * f.m * f.channels * f.taps;
    const int64_t tiles = c->groups * blocks(f.m, rows_of(f.m, WEIGHT_ROWS)) *
                          blocks(f.channels * f.taps, WEIGHT_TAPS);
    const int64_t chunks = chunks_of(plan, &f, tiles);
    const uint64_t pieces = ocl_work(plan, chunks * count, ocl_real_size(plan));
    take_work(plan, &dy, c->y);
    take_work(plan, &f.in, c->x);
    if (!by_samples(plan, c->samples)) {
        step_spread(plan, &dy, 0);
        step_spread(plan, &f.in, 1);
    }
    step_pieces(plan, &f, &dy, tiles, chunks, pieces);
    ocl_step_join_weight(plan, c, count, chunks, pieces);
    plan->impl = "conv_backward_weight_flat";
    return 1;
}
