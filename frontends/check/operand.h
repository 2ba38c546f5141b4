/* SPDX-License-Identifier: Apache-2.0 */
/* Operands: elements in row-major order, and their places in buffers of a device. */
#ifndef AXLE_CHECK_OPERAND_H
#define AXLE_CHECK_OPERAND_H

#include "machine.h"
#include "values.h"

typedef struct operand {
    operand_spec spec;
    int64_t count;
    size_t size;             /* bytes of an element */
    unsigned char *elements; /* count * size bytes, and never NULL */
} operand;

/* Where the elements of an operand lie in its buffer. */
typedef enum operand_layout {
    LAYOUT_ROWS,     /* row-major */
    LAYOUT_SHIFTED,  /* row-major from one element behind an aligned address */
    LAYOUT_PADDED,   /* row-major with gaps between rows */
    LAYOUT_STEPPED,  /* every second element */
    LAYOUT_TURNED,   /* column-major */
    LAYOUT_CHANNELS, /* channels last */
} operand_layout;

/* An operand inside a buffer, with bytes around it that must stay as they are. */
typedef struct placed {
    const operand *of;
    axle_view view;
    unsigned char *image; /* of the whole buffer, as it was written */
    unsigned char *used;  /* whether a byte belongs to an element */
    uint64_t bytes;
} placed;

/* Make an operand that holds what its domain says. */
int operand_create(const operand_spec *spec, stream *s, operand *out, note *n);
/* A copy, with `widen` of floats as f64. */
int operand_copy(const operand *from, int widen, operand *out, note *n);
void operand_free(operand *o);

/* The view of an operand in a layout, without a buffer. With `expand` repeating dims are written
 * out. */
axle_view operand_view(const operand *o, operand_layout layout, int expand);

/* Put an operand into a buffer. Where not `filled`, its elements' bytes are all ones instead: NaN
 * in floats. */
int placed_create(const machine *m, axle_be_queue *queue, const operand *o, operand_layout layout,
                  int expand, int filled, placed *out, note *n);
/* Write the buffer again as it was at first. */
int placed_reset(const machine *m, axle_be_queue *queue, const placed *p, note *n);
/* Read its elements; notes bytes around them that changed. */
int placed_fetch(const machine *m, axle_be_queue *queue, const placed *p, unsigned char *elements,
                 note *n);
/* Whether nothing in the buffer changed. */
int placed_unchanged(const machine *m, axle_be_queue *queue, const placed *p, note *n);
void placed_free(const machine *m, placed *p);

#endif
