/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the hook "check" judges results: hook_check.c runs a call on the host beside the device's,
 * tolerance.c says how far its results may lie from the reference's, compare.c compares.
 */
#ifndef AXLE_DEVICE_CHECK_H
#define AXLE_DEVICE_CHECK_H

#include "device/dispatch.h"

/* How near a result must be. Each widens what the one before it allows. */
typedef enum axle__closeness {
    AXLE__CLOSE_EQUAL,   /* equal values, NaN being equal to NaN */
    AXLE__CLOSE_ROUNDED, /* a rounding or two, relative to the element */
    AXLE__CLOSE_NATURAL, /* of a function whose values are of the order of 1 */
    AXLE__CLOSE_SUMMED,  /* relative to the sum of the terms' absolute values */
    AXLE__CLOSE_WHOLE    /* relative to the largest element */
} axle__closeness;

/* How far an element may be off: relative * (scale of its kind) + smallest. */
typedef struct axle__tolerance {
    double rounded, natural, summed, whole;
    double smallest; /* least normal number: devices may take less for 0 */
} axle__tolerance;

axle__closeness axle__call_closeness(const axle__call *call);
/* NULL for types without rounding. */
const axle__tolerance *axle__dtype_tolerance(uint32_t dtype);

/* Whether the operator reads what output k held before. */
bool axle__call_reads_output(const axle__call *call, uint32_t k);

/* WHOLE: whether elements are measured by the largest of operand 0 as well, as sums of its elements
 * are; what an optimizer changes is not, gradients being of another size. And whether they are
 * divided by a deviation, whose reciprocal is the last operand. */
bool axle__call_scales_by_operand(const axle__call *call);
bool axle__call_divides_by_deviation(const axle__call *call);

/* The same call with attributes, kept in `attrs`, that make each element of its outputs the sum of
 * the absolute values of its terms, given operands that are absolute values. */
enum { AXLE__ATTRS_MOST = 192 };
void axle__call_of_magnitudes(const axle__call *call, void *attrs, axle__call *out);

/* One output of a call, its elements in row-major order as f64, or as i64 where it is no float. */
typedef struct axle__comparison {
    const axle__call *call;
    uint32_t dtype;
    uint64_t count;
    const void *expected, *got;
    const double *magnitude; /* SUMMED: of each element; else NULL */
    const double *source;    /* COPY of floats: what was copied; else NULL */
    double scale;            /* WHOLE: largest magnitude around */
} axle__comparison;

typedef struct axle__difference {
    uint64_t wrong, worst; /* number of elements, and the place of that which is off most */
    double allowed;
} axle__difference;

void axle__compare(const axle__comparison *c, axle__difference *out);

/* Largest absolute value among those that are finite. */
double axle__largest(const double *value, uint64_t count);

#endif
