/* SPDX-License-Identifier: Apache-2.0 */
#include "operand.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dtype.h"

/* Bytes before and behind the elements: a multiple of the alignment that devices like. */
enum { MARGIN = 256, CANARY = 0xa5, UNWRITTEN = 0xff };

/* ------------------------------------------------------------------ operands */

static int allocate(const operand_spec *spec, operand *out, note *n)
{
    *out = (operand){.spec = *spec, .count = spec_count(spec), .size = dtype_size(spec->dtype)};
    out->elements = calloc((size_t)out->count + 1, out->size);
    return out->elements ? 1 : note_fail(n, "no memory for an operand");
}

int operand_create(const operand_spec *spec, stream *s, operand *out, note *n)
{
    if (!allocate(spec, out, n))
        return 0;
    if (values_fill(spec, s, out->elements))
        return 1;
    operand_free(out);
    return note_fail(n, "the case is malformed: there is no domain '%s'", spec->domain);
}

int operand_copy(const operand *from, int widen, operand *out, note *n)
{
    operand_spec spec = from->spec;
    if (widen && dtype_is_float(spec.dtype))
        spec.dtype = AXLE_DTYPE_F64;
    if (!allocate(&spec, out, n))
        return 0;
    for (int64_t i = 0; i < from->count && spec.dtype != from->spec.dtype; i++)
        dtype_set(spec.dtype, out->elements + (size_t)i * out->size,
                  dtype_get(from->spec.dtype, from->elements + (size_t)i * from->size));
    if (spec.dtype == from->spec.dtype)
        memcpy(out->elements, from->elements, (size_t)from->count * from->size);
    return 1;
}

void operand_free(operand *o)
{
    free(o->elements);
    *o = (operand){0};
}

/* ------------------------------------------------------------------ layouts */

/* Dims from the one whose elements are nearest to each other to the farthest. */
static void order_dims(uint32_t rank, operand_layout layout, uint32_t order[AXLE_MAX_RANK])
{
    for (uint32_t k = 0; k < rank; k++)
        order[k] = layout == LAYOUT_TURNED ? k : rank - 1 - k;
    if (layout != LAYOUT_CHANNELS || rank < 3)
        return;
    order[0] = 1;
    for (uint32_t k = 1; k < rank - 1; k++)
        order[k] = rank - k;
    order[rank - 1] = 0;
}

axle_view operand_view(const operand *o, operand_layout layout, int expand)
{
    const operand_spec *spec = &o->spec;
    axle_view view = {.dtype = spec->dtype, .rank = spec->rank};
    uint32_t order[AXLE_MAX_RANK];
    int64_t step = layout == LAYOUT_STEPPED ? 2 : 1;
    order_dims(spec->rank, layout, order);
    for (uint32_t k = 0; k < spec->rank; k++) {
        const uint32_t d = order[k];
        view.dim[d] = spec->dim[d];
        if (spec->repeats[d] && !expand)
            continue;
        view.stride[d] = step;
        step *= spec->dim[d] + (layout == LAYOUT_PADDED && k == 0 ? 3 : 0);
    }
    return view;
}

/* ------------------------------------------------------------------ places */

/* Byte at which element `i` of a view begins. */
static uint64_t place_of(const axle_view *view, size_t size, int64_t i)
{
    int64_t at = 0;
    for (uint32_t k = view->rank; k-- > 0;) {
        at += i % view->dim[k] * view->stride[k];
        i /= view->dim[k];
    }
    return view->offset + (uint64_t)at * size;
}

static uint64_t span_of(const axle_view *view, size_t size)
{
    int64_t last = 0;
    for (uint32_t k = 0; k < view->rank; k++)
        last += (view->dim[k] - 1) * view->stride[k];
    return view->offset + ((uint64_t)last + 1) * size;
}

static void draw_image(placed *p, int filled)
{
    const operand *o = p->of;
    memset(p->image, CANARY, (size_t)p->bytes);
    for (int64_t i = 0; i < o->count; i++) {
        const uint64_t at = place_of(&p->view, o->size, i);
        memset(p->used + at, 1, o->size);
        if (filled)
            memcpy(p->image + at, o->elements + (size_t)i * o->size, o->size);
        else
            memset(p->image + at, UNWRITTEN, o->size);
    }
}

int placed_create(const machine *m, axle_be_queue *queue, const operand *o, operand_layout layout,
                  int expand, int filled, placed *out, note *n)
{
    *out = (placed){.of = o, .view = operand_view(o, layout, expand)};
    if (o->count == 0)
        return 1;
    out->view.offset = MARGIN + (layout == LAYOUT_SHIFTED ? o->size : 0);
    out->bytes = span_of(&out->view, o->size) + MARGIN;
    out->image = malloc((size_t)out->bytes);
    out->used = calloc(1, (size_t)out->bytes);
    if (!out->image || !out->used) {
        placed_free(m, out);
        return note_fail(n, "no memory for an operand");
    }
    draw_image(out, filled);
    if (machine_buffer_create(m, AXLE_BUFFER_DEVICE, out->bytes, &out->view.buffer, n) &&
        placed_reset(m, queue, out, n))
        return 1;
    placed_free(m, out);
    return 0;
}

int placed_reset(const machine *m, axle_be_queue *queue, const placed *p, note *n)
{
    return p->bytes == 0 || machine_write(m, queue, p->view.buffer, 0, p->image, p->bytes, n);
}

static unsigned char *read_buffer(const machine *m, axle_be_queue *queue, const placed *p, note *n)
{
    unsigned char *now = malloc((size_t)p->bytes + 1);
    if (!now) {
        note_fail(n, "no memory to read an operand");
        return NULL;
    }
    if (p->bytes == 0 || machine_read(m, queue, p->view.buffer, 0, now, p->bytes, n))
        return now;
    free(now);
    return NULL;
}

/* The first byte that changed, of those outside elements or of all; p->bytes where none did. */
static uint64_t first_change(const placed *p, const unsigned char *now, int all)
{
    uint64_t k = 0;
    while (k < p->bytes && ((p->used[k] && !all) || now[k] == p->image[k]))
        k++;
    return k;
}

static int note_change(const placed *p, uint64_t at, note *n)
{
    const uint64_t begin = p->view.offset, end = p->bytes - MARGIN;
    if (at < begin)
        return note_fail(n, "%" PRIu64 " bytes before the first element were written to",
                         begin - at);
    if (at >= end)
        return note_fail(n, "bytes %" PRIu64 " behind the last element were written to", at - end);
    return note_fail(n, "bytes between elements were written to, %" PRIu64 " behind the first",
                     at - begin);
}

int placed_fetch(const machine *m, axle_be_queue *queue, const placed *p, unsigned char *elements,
                 note *n)
{
    const size_t size = p->of->size;
    unsigned char *now = read_buffer(m, queue, p, n);
    if (!now)
        return 0;
    const uint64_t at = first_change(p, now, 0);
    for (int64_t i = 0; i < p->of->count; i++)
        memcpy(elements + (size_t)i * size, now + place_of(&p->view, size, i), size);
    free(now);
    return at == p->bytes ? 1 : note_change(p, at, n);
}

int placed_unchanged(const machine *m, axle_be_queue *queue, const placed *p, note *n)
{
    unsigned char *now = read_buffer(m, queue, p, n);
    if (!now)
        return 0;
    const uint64_t at = first_change(p, now, 1);
    free(now);
    if (at == p->bytes)
        return 1;
    return p->used[at]
               ? note_fail(n, "its element at byte %" PRIu64 " was written to", at - p->view.offset)
               : note_change(p, at, n);
}

void placed_free(const machine *m, placed *p)
{
    machine_buffer_destroy(m, p->view.buffer);
    free(p->image);
    free(p->used);
    *p = (placed){0};
}
