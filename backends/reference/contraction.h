/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one inner product behind the three convolution kernels:
 *
 *     out[g, m, j] = sum over k of a[g, m, k] * b[g, k, j]
 *
 * where k and j are not numbers but positions in lattices, so that unfolding an image, walking over
 * the taps of a kernel and skipping what a stride leaves out are all a matter of offsets.
 */
#ifndef AXLE_REFERENCE_CONTRACTION_H
#define AXLE_REFERENCE_CONTRACTION_H

#include "reference.h"

enum { REF_LATTICE_RANK = 4 };

/* Columns are taken in blocks of this many; fewer cost as much. */
enum { REF_CONTRACTION_WIDTH = 32 };

/* Positions base + sum(i_d * step_d) for all i_d in [0, count_d), in row-major order. */
typedef struct ref_lattice {
    int64_t count[REF_LATTICE_RANK];
    int64_t step[REF_LATTICE_RANK];
    int64_t base;
} ref_lattice;

int64_t ref_lattice_size(const ref_lattice *lattice);

typedef struct ref_contraction {
    int64_t groups, rows; /* G, M */
    const double *a;      /* at g * a_group + m * a_row + a_inner[k] */
    int64_t a_group, a_row;
    ref_lattice a_inner; /* K positions */
    const double *b;     /* at g * b_group + b_inner[k] + b_column[j] */
    int64_t b_group;
    ref_lattice b_inner;  /* K positions */
    ref_lattice b_column; /* J positions */
    double *out;          /* at part * out_part + g * out_group + m * out_row + out_column[j] */
    int64_t out_group, out_row;
    ref_lattice out_column; /* J positions */
    /* The sum over k is cut into `parts` pieces that are left unadded, for problems with too few
     * outputs to keep all workers busy. At least 1. */
    int64_t parts, out_part;
} ref_contraction;

/* What `out` held has no influence. The result does not depend on the number of workers. */
axle_status ref_contract(const ref_call *call, const ref_contraction *contraction);

#endif
