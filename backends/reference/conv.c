/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions of 1 to 3 spatial dims, all of them seen as 3 (leading dims of size 1 are added).
 *
 * Each kernel copies what it slides over into a frame, a dense array in double with the padding
 * written out, and leaves the sums to ref_contract. Samples are taken in chunks, so that frames
 * stay small however large the batch is.
 */
#include "contraction.h"
#include "conv_planes.h"
#include "operand.h"

#include <string.h>

enum { SPATIAL = AXLE_MAX_SPATIAL };

/* Numbers that the frame and the result of a chunk of samples may take together. */
enum { CHUNK_NUMBERS = 1 << 21 };

typedef struct conv_shape {
    int64_t samples, channels, outputs, groups; /* N, C, O, G */
    int64_t in[SPATIAL], out[SPATIAL], kernel[SPATIAL];
    int64_t stride[SPATIAL], pad[SPATIAL], dilation[SPATIAL];
    int64_t inputs_each, outputs_each;         /* C/G, O/G */
    int64_t in_plane, out_plane, kernel_plane; /* elements of a plane of x, y, w */
} conv_shape;

static conv_shape conv_shape_of(const axle_conv_attrs *attrs, const axle_view *x,
                                const axle_view *w, const axle_view *y)
{
    conv_shape s = {x->dim[0],     x->dim[1],      y->dim[1],        attrs->groups,
                    .in_plane = 1, .out_plane = 1, .kernel_plane = 1};
    for (uint32_t d = 0; d < SPATIAL; d++) {
        uint32_t added = SPATIAL - attrs->n_spatial;
        int real = d >= added;
        s.in[d] = x->dim[2 + d];
        s.out[d] = y->dim[2 + d];
        s.kernel[d] = w->dim[2 + d];
        s.stride[d] = real ? attrs->stride[d - added] : 1;
        s.pad[d] = real ? attrs->pad[d - added] : 0;
        s.dilation[d] = real ? attrs->dilation[d - added] : 1;
        s.in_plane *= s.in[d];
        s.out_plane *= s.out[d];
        s.kernel_plane *= s.kernel[d];
    }
    s.inputs_each = s.channels / s.groups;
    s.outputs_each = s.outputs / s.groups;
    return s;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* (count0, kernel or plane dims...) where the last three dims lie densely. */
static ref_lattice dense_lattice(int64_t count, int64_t step, const int64_t dim[SPATIAL])
{
    return (ref_lattice){{count, dim[0], dim[1], dim[2]}, {step, dim[1] * dim[2], dim[2], 1}, 0};
}

/* The same inside a frame, `pace` frame elements from one position to the next. */
static ref_lattice frame_lattice(int64_t count, int64_t step, const int64_t dim[SPATIAL],
                                 const conv_frame *f, const int64_t pace[SPATIAL])
{
    return (ref_lattice){{count, dim[0], dim[1], dim[2]},
                         {step, f->step[0] * pace[0], f->step[1] * pace[1], f->step[2] * pace[2]},
                         0};
}

/* Memory of a kernel: weights, bias, and for a chunk of samples the frame and the dense result. */
typedef struct conv_memory {
    double *weight, *bias, *frame, *dense;
    int64_t chunk; /* samples */
} conv_memory;

static void memory_release(const ref_call *call, conv_memory *m)
{
    ref_scratch_free(call, m->weight);
    ref_scratch_free(call, m->bias);
    ref_scratch_free(call, m->frame);
    ref_scratch_free(call, m->dense);
}

/* frame and dense: numbers that one sample takes. */
static axle_status memory_take(const ref_call *call, int64_t samples, int64_t weight, int64_t bias,
                               int64_t frame, int64_t dense, conv_memory *m)
{
    int64_t each = ref_count_plus(frame, dense);
    m->chunk = least(samples, each < CHUNK_NUMBERS ? CHUNK_NUMBERS / (each + 1) : 1);
    if (m->chunk < 1)
        m->chunk = 1;
    m->weight = ref_reals(call, weight);
    m->bias = m->weight ? ref_reals(call, bias) : NULL;
    m->frame = m->bias ? ref_reals(call, ref_count_times(m->chunk, frame)) : NULL;
    m->dense = m->frame ? ref_reals(call, ref_count_times(m->chunk, dense)) : NULL;
    return m->dense ? AXLE_OK : AXLE_ERR_NOMEM;
}

/* The frame of x in which output i and tap k meet at i * stride + k * dilation. */
static conv_frame input_frame(const conv_shape *s)
{
    conv_frame f = {0};
    for (int d = 0; d < SPATIAL; d++) {
        f.lead[d] = s->pad[d];
        f.extent[d] =
            ref_count_plus((s->out[d] - 1) * s->stride[d], (s->kernel[d] - 1) * s->dilation[d] + 1);
    }
    ref_conv_frame_finish(&f);
    return f;
}

static ref_contraction forward_sums(const conv_shape *s, const conv_frame *f, const conv_memory *m,
                                    int64_t samples)
{
    int64_t inner = s->inputs_each * s->kernel_plane;
    return (ref_contraction){
        .groups = s->groups,
        .rows = s->outputs_each,
        .a = m->weight,
        .a_group = s->outputs_each * inner,
        .a_row = inner,
        .a_inner = dense_lattice(s->inputs_each, s->kernel_plane, s->kernel),
        .b = m->frame,
        .b_group = s->inputs_each * f->plane,
        .b_inner = frame_lattice(s->inputs_each, f->plane, s->kernel, f, s->dilation),
        .b_column = frame_lattice(samples, s->channels * f->plane, s->out, f, s->stride),
        .out = m->dense,
        .out_group = s->outputs_each * s->out_plane,
        .out_row = s->out_plane,
        .out_column = dense_lattice(samples, s->outputs * s->out_plane, s->out),
        .parts = 1,
    };
}

static axle_status conv(const ref_call *call)
{
    const axle_conv_attrs *attrs = call->attrs;
    const axle_view *bias = ref_operand_in(call, 2);
    axle_view x = ref_conv_view(ref_operand_in(call, 0));
    axle_view w = ref_conv_view(ref_operand_in(call, 1));
    axle_view y = ref_conv_view(ref_operand_out(call, 0));
    conv_shape s = conv_shape_of(attrs, &x, &w, &y);
    conv_memory m = {0};
    if (ref_count(&y) == 0)
        return AXLE_OK;

    conv_frame f = input_frame(&s);
    axle_status status =
        memory_take(call, s.samples, ref_count(&w), s.outputs, ref_count_times(s.channels, f.plane),
                    s.outputs * s.out_plane, &m);
    if (status == AXLE_OK) {
        ref_box_load(&w, 0, 0, m.weight);
        ref_vector_load(bias, s.outputs, 0, m.bias);
    }
    for (int64_t n = 0; n < s.samples && status == AXLE_OK; n += m.chunk) {
        int64_t samples = least(m.chunk, s.samples - n);
        conv_copy load = {.view = &x, .frame = &f, .dense = m.frame, .first = n};
        conv_copy store = {.view = &y, .bias = m.bias, .dense = m.dense, .first = n};
        store.relu = attrs->activation == AXLE_UNARY_RELU;
        ref_contraction sums = forward_sums(&s, &f, &m, samples);
        ref_parallel(call, samples * s.channels, 1, ref_conv_frame_planes, &load);
        status = ref_contract(call, &sums);
        if (status == AXLE_OK)
            ref_parallel(call, samples * s.outputs, 1, ref_conv_store_planes, &store);
    }
    memory_release(call, &m);
    return status;
}

/*
 * Input q of a dim meets output p through tap k where p * stride = q + pad - k * dilation. The
 * inputs q = phase + t * stride share their taps; with those, p is t plus a constant. So the
 * gradient is, phase by phase, a convolution without stride over a frame of dy.
 */
typedef struct conv_phase {
    int64_t inputs;            /* how many q have this phase */
    int64_t taps, first, pace; /* the taps first, first + pace, ... */
    int64_t base, step;        /* frame position of t = 0 at the first tap, and from tap to tap */
} conv_phase;

static conv_phase phase_of(const conv_shape *s, const conv_frame *f, int d, int64_t phase)
{
    conv_phase p = {.pace = 1};
    p.inputs = s->in[d] > phase ? (s->in[d] - phase - 1) / s->stride[d] + 1 : 0;
    for (int64_t k = 0; k < s->kernel[d]; k++) {
        if ((phase + s->pad[d] - k * s->dilation[d]) % s->stride[d] != 0)
            continue;
        if (p.taps == 0)
            p.first = k;
        else if (p.taps == 1)
            p.pace = k - p.first;
        p.taps++;
    }
    p.base = (phase + s->pad[d] - p.first * s->dilation[d]) / s->stride[d] + f->lead[d];
    p.step = -(p.pace * s->dilation[d]) / s->stride[d];
    return p;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* The frame of dy with room for every p that any input and tap ask for. */
static conv_frame gradient_frame(const conv_shape *s)
{
    conv_frame f = {0};
    for (int d = 0; d < SPATIAL; d++) {
        int64_t lowest =
            floor_divide(s->pad[d] - (s->kernel[d] - 1) * s->dilation[d], s->stride[d]);
        f.lead[d] = lowest < 0 ? -lowest : 0;
        f.extent[d] = f.lead[d] + (s->in[d] - 1 + s->pad[d]) / s->stride[d] + 1;
    }
    ref_conv_frame_finish(&f);
    return f;
}

static ref_contraction phase_sums(const conv_shape *s, const conv_frame *f, const conv_memory *m,
                                  int64_t samples, const int64_t phase[SPATIAL])
{
    int64_t each = s->inputs_each * s->kernel_plane;
    ref_contraction c = {
        .groups = s->groups,
        .rows = s->inputs_each,
        .a = m->weight,
        .a_group = s->outputs_each * each,
        .a_row = s->kernel_plane,
        .a_inner = dense_lattice(s->outputs_each, each, s->kernel),
        .b = m->frame,
        .b_group = s->outputs_each * f->plane,
        .b_inner = dense_lattice(s->outputs_each, f->plane, f->extent),
        .b_column = dense_lattice(samples, s->outputs * f->plane, f->extent),
        .out = m->dense,
        .out_group = s->inputs_each * s->in_plane,
        .out_row = s->in_plane,
        .out_column = dense_lattice(samples, s->channels * s->in_plane, s->in),
        .parts = 1,
    };
    for (int d = 0; d < SPATIAL; d++) {
        conv_phase p = phase_of(s, f, d, phase[d]);
        c.a_inner.count[1 + d] = c.b_inner.count[1 + d] = p.taps;
        c.a_inner.base += p.first * c.a_inner.step[1 + d];
        c.a_inner.step[1 + d] *= p.pace;
        c.b_inner.step[1 + d] *= p.step;
        c.b_column.count[1 + d] = c.out_column.count[1 + d] = p.inputs;
        c.b_column.base += p.base * c.b_column.step[1 + d];
        c.out_column.base += phase[d] * c.out_column.step[1 + d];
        c.out_column.step[1 + d] *= s->stride[d];
    }
    return c;
}

static axle_status all_phases(const ref_call *call, const conv_shape *s, const conv_frame *f,
                              const conv_memory *m, int64_t samples)
{
    int64_t phases[SPATIAL];
    for (int d = 0; d < SPATIAL; d++)
        phases[d] = least(s->stride[d], s->in[d]);
    for (int64_t i = 0; i < phases[0] * phases[1] * phases[2]; i++) {
        int64_t phase[SPATIAL] = {i / phases[2] / phases[1], i / phases[2] % phases[1],
                                  i % phases[2]};
        ref_contraction sums = phase_sums(s, f, m, samples, phase);
        axle_status status = ref_contract(call, &sums);
        if (status != AXLE_OK)
            return status;
    }
    return AXLE_OK;
}

static axle_status conv_backward_data(const ref_call *call)
{
    const axle_view *bias = ref_operand_in(call, 2);
    axle_view dy = ref_conv_view(ref_operand_in(call, 0));
    axle_view w = ref_conv_view(ref_operand_in(call, 1));
    axle_view dx = ref_conv_view(ref_operand_out(call, 0));
    conv_shape s = conv_shape_of(call->attrs, &dx, &w, &dy);
    conv_memory m = {0};
    if (ref_count(&dx) == 0)
        return AXLE_OK;

    conv_frame f = gradient_frame(&s);
    axle_status status =
        memory_take(call, s.samples, ref_count(&w), s.channels, ref_count_times(s.outputs, f.plane),
                    s.channels * s.in_plane, &m);
    if (status == AXLE_OK) {
        ref_box_load(&w, 0, 0, m.weight);
        ref_vector_load(bias, s.channels, 0, m.bias);
    }
    for (int64_t n = 0; n < s.samples && status == AXLE_OK; n += m.chunk) {
        int64_t samples = least(m.chunk, s.samples - n);
        conv_copy load = {.view = &dy, .frame = &f, .dense = m.frame, .first = n};
        conv_copy store = {.view = &dx, .bias = m.bias, .dense = m.dense, .first = n};
        ref_parallel(call, samples * s.outputs, 1, ref_conv_frame_planes, &load);
        status = all_phases(call, &s, &f, &m, samples);
        if (status == AXLE_OK)
            ref_parallel(call, samples * s.channels, 1, ref_conv_store_planes, &store);
    }
    memory_release(call, &m);
    return status;
}

/* Pieces that the sum over samples and positions is cut into: few weights leave workers idle, and
 * the number may depend on the problem alone, lest results depend on the machine. */
enum { WEIGHT_ITEMS = 16 };

static int64_t weight_parts(const conv_shape *s)
{
    int64_t columns = s->inputs_each * s->kernel_plane;
    int64_t blocks = s->groups * ((columns + REF_CONTRACTION_WIDTH - 1) / REF_CONTRACTION_WIDTH);
    return blocks < WEIGHT_ITEMS ? WEIGHT_ITEMS / (blocks ? blocks : 1) : 1;
}

static ref_contraction weight_sums(const conv_shape *s, const conv_frame *f, const conv_memory *m,
                                   double *parts, int64_t samples)
{
    int64_t each = s->inputs_each * s->kernel_plane;
    return (ref_contraction){
        .groups = s->groups,
        .rows = s->outputs_each,
        .a = m->dense,
        .a_group = s->outputs_each * s->out_plane,
        .a_row = s->out_plane,
        .a_inner = dense_lattice(samples, s->outputs * s->out_plane, s->out),
        .b = m->frame,
        .b_group = s->inputs_each * f->plane,
        .b_inner = frame_lattice(samples, s->channels * f->plane, s->out, f, s->stride),
        .b_column = frame_lattice(s->inputs_each, f->plane, s->kernel, f, s->dilation),
        .out = parts,
        .out_group = s->outputs_each * each,
        .out_row = each,
        .out_column = dense_lattice(s->inputs_each, s->kernel_plane, s->kernel),
        .parts = weight_parts(s),
        .out_part = s->outputs * each,
    };
}

/* db (O) += dy (N, O, P) summed over all but O */
static void add_bias_gradient(const conv_shape *s, const double *dy, int64_t samples, double *db)
{
    for (int64_t i = 0; i < samples * s->outputs; i++) {
        double sum = 0;
        for (int64_t p = 0; p < s->out_plane; p++)
            sum += dy[i * s->out_plane + p];
        db[i % s->outputs] += sum;
    }
}

static void add_parts(double *sum, const double *parts, int64_t count, int64_t n)
{
    for (int64_t part = 0; part < count; part++)
        for (int64_t i = 0; i < n; i++)
            sum[i] += parts[part * n + i];
}

/* One chunk of samples, added to the gradients in m->weight (O, C/G, kernel...) and m->bias (O). */
static axle_status add_chunk(const ref_call *call, const conv_shape *s, const conv_frame *f,
                             const conv_memory *m, double *parts, const axle_view *dy,
                             const axle_view *x, int64_t first)
{
    int64_t samples = least(m->chunk, s->samples - first);
    int64_t weights = s->outputs * s->inputs_each * s->kernel_plane;
    conv_copy load_dy = {.view = dy, .dense = m->dense, .first = first};
    conv_copy load_x = {.view = x, .frame = f, .dense = m->frame, .first = first};
    ref_contraction sums = weight_sums(s, f, m, parts, samples);

    ref_parallel(call, samples * s->outputs, 1, ref_conv_load_planes, &load_dy);
    add_bias_gradient(s, m->dense, samples, m->bias);
    if (weights == 0)
        return AXLE_OK;
    ref_parallel(call, samples * s->channels, 1, ref_conv_frame_planes, &load_x);
    axle_status status = ref_contract(call, &sums);
    if (status == AXLE_OK)
        add_parts(m->weight, parts, sums.parts, weights);
    return status;
}

static axle_status conv_backward_weight(const ref_call *call)
{
    const axle_conv_attrs *attrs = call->attrs;
    const axle_view *dw = ref_operand_out(call, 0), *db = ref_operand_out(call, 1);
    axle_view dy = ref_conv_view(ref_operand_in(call, 0));
    axle_view x = ref_conv_view(ref_operand_in(call, 1));
    /* Without dw the kernel's size is not known, nor of interest: one tap stands for it. */
    axle_view none = {.rank = SPATIAL + 2, .dim = {0, 0, 1, 1, 1}};
    axle_view w = dw ? ref_conv_view(dw) : none;
    conv_shape s = conv_shape_of(attrs, &x, &w, &dy);
    int64_t weights = dw ? ref_count(&w) : 0;
    conv_memory m = {0};
    if (!dw)
        s.inputs_each = 0;

    conv_frame f = {0};
    if (weights && ref_count(&dy))
        f = input_frame(&s);
    axle_status status =
        memory_take(call, s.samples, weights, s.outputs, ref_count_times(s.channels, f.plane),
                    s.outputs * s.out_plane, &m);
    double *parts = NULL;
    if (status == AXLE_OK) {
        memset(m.weight, 0, (size_t)weights * sizeof(double));
        memset(m.bias, 0, (size_t)s.outputs * sizeof(double));
        parts = ref_reals(call, ref_count_times(weight_parts(&s), weights));
        status = parts ? AXLE_OK : AXLE_ERR_NOMEM;
    }
    int64_t samples = ref_count(&dy) ? s.samples : 0;
    for (int64_t n = 0; n < samples && status == AXLE_OK; n += m.chunk)
        status = add_chunk(call, &s, &f, &m, parts, &dy, &x, n);
    if (status == AXLE_OK && dw)
        ref_box_store(&w, 0, 0, m.weight);
    if (status == AXLE_OK && db)
        ref_run_store(db, 0, s.outputs, db->stride[0], m.bias);
    ref_scratch_free(call, parts);
    memory_release(call, &m);
    return status;
}

static int attrs_fit(const axle_conv_attrs *attrs)
{
    if (!attrs || attrs->n_spatial < 1 || attrs->n_spatial > SPATIAL || attrs->groups < 1)
        return 0;
    for (uint32_t d = 0; d < attrs->n_spatial; d++)
        if (attrs->stride[d] < 1 || attrs->pad[d] < 0 || attrs->dilation[d] < 1)
            return 0;
    return attrs->activation == 0 || attrs->activation == AXLE_UNARY_RELU;
}

static int ranks_fit(const axle_op_desc *desc, const axle_view *big, const axle_view *other)
{
    const axle_conv_attrs *attrs = desc->attrs;
    uint32_t rank = attrs->n_spatial + 2;
    return desc->in[0]->rank == rank && big->rank == rank && (!other || other->rank == rank) &&
           desc->in[0]->dim[1] % attrs->groups == 0 && big->dim[1] % attrs->groups == 0;
}

static int accepts_conv(const axle_op_desc *desc)
{
    return attrs_fit(desc->attrs) && ref_signature_fits(desc, "ffr?", "f") &&
           ranks_fit(desc, desc->out[0], desc->in[1]);
}

static int accepts_backward_data(const axle_op_desc *desc)
{
    return accepts_conv(desc) && ((const axle_conv_attrs *)desc->attrs)->activation == 0;
}

static int accepts_backward_weight(const axle_op_desc *desc)
{
    return attrs_fit(desc->attrs) && ref_signature_fits(desc, "ff", "r?r?") &&
           ranks_fit(desc, desc->in[1], desc->n_out ? desc->out[0] : NULL);
}

const ref_entry ref_entries_conv[] = {
    {AXLE_OP_CONV, conv, accepts_conv},
    {AXLE_OP_CONV_BACKWARD_DATA, conv_backward_data, accepts_backward_data},
    {AXLE_OP_CONV_BACKWARD_WEIGHT, conv_backward_weight, accepts_backward_weight},
    {0},
};
